// The case of benches/README.md for csg-htsim: TCP flows over a dumbbell, six links on a round trip of 20 ms.
#include "clock.h"
#include "config.h"
#include "eventlist.h"
#include "network.h"
#include "pipe.h"
#include "queue.h"
#include "tcp.h"
#include <iostream>
#include <list>
#include <sys/resource.h>

class Counted : public Queue {
public:
    Counted(linkspeed_bps rate, mem_b size, EventList& events) : Queue(rate, size, events, NULL) {}
    uint64_t sent = 0;
protected:
    void completeService() override { sent++; Queue::completeService(); }
};

int main(int argc, char** argv) {
    int flows = atoi(argv[1]), seconds = atoi(argv[3]);
    uint64_t mbit = atoll(argv[2]);
    srand(1);
    srand48(1);
    EventList events;
    events.setEndtime(timeFromSec(seconds));
    Packet::set_packet_size(1500);
    linkspeed_bps slow = speedFromMbps(mbit), fast = speedFromMbps(10 * mbit);
    mem_b product = mbit * 1000000 / 8 * 20 / 1000, roomy = memFromPkt(1000000);
    Pipe near1(timeFromUs((uint32_t)2500), events), middle(timeFromUs((uint32_t)5000), events), far1(timeFromUs((uint32_t)2500), events);
    Pipe near2(timeFromUs((uint32_t)2500), events), back(timeFromUs((uint32_t)5000), events), far2(timeFromUs((uint32_t)2500), events);
    Counted bottleneck(slow, product, events);
    Queue reverse(slow, roomy, events, NULL);
    TcpRtxTimerScanner scanner(timeFromMs(10), events);
    for (int i = 0; i < flows; i++) {
        TcpSrc* source = new TcpSrc(NULL, NULL, events);
        TcpSink* sink = new TcpSink();
        source->setName("source");
        sink->setName("sink");
        source->_maxcwnd = 0xffffffff;
        scanner.registerTcp(*source);
        route_t *out = new route_t(), *in = new route_t();
        auto access = [&] { return new Queue(fast, roomy, events, NULL); };
        out->push_back(access()); out->push_back(&near1);
        out->push_back(&bottleneck); out->push_back(&middle);
        out->push_back(access()); out->push_back(&far1);
        out->push_back(sink);
        in->push_back(access()); in->push_back(&near2);
        in->push_back(&reverse); in->push_back(&back);
        in->push_back(access()); in->push_back(&far2);
        in->push_back(source);
        source->connect(*out, *in, *sink, (simtime_picosec)(drand48() * timeFromSec(1)));
    }
    while (events.doNextEvent()) {}
    rusage used;
    getrusage(RUSAGE_SELF, &used);
    double cpu = used.ru_utime.tv_sec + used.ru_utime.tv_usec / 1e6;
    std::cerr << "{\"packets\": " << bottleneck.sent << ", \"cpu_s\": " << cpu << "}" << std::endl;
}
