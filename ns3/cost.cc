// What a packet costs in a queue disc: a packet arrives and one leaves, again and again, while twenty wait.
//
//     cost --disc=ns3::CoDelQueueDisc
//     cost --ns3::AqmlabQueueDisc::Discipline=codel
//
// Prints nanoseconds of processor time for an arrival with a departure, without the event in which they happen, which is
// measured first. The rate is so high that nothing is dropped: the discs do the same work.

#include "aqmlab-queue-disc.h"

#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/traffic-control-module.h"

#include <ctime>
#include <iostream>

using namespace ns3;

namespace
{

constexpr uint32_t WAITING = 20;
/// Longer than any packet waits, so that none is in the queue twice.
constexpr uint32_t ITEMS = 64;

struct Load
{
    Ptr<QueueDisc> disc;
    std::vector<Ptr<QueueDiscItem>> items;
    uint32_t left;

    void Step()
    {
        if (disc)
        {
            disc->Enqueue(items[left % ITEMS]);
            disc->Dequeue();
        }
        if (left-- > 0)
        {
            Simulator::Schedule(MicroSeconds(1), &Load::Step, this);
        }
    }
};

/// Nanoseconds of processor time for each of `count` steps.
double
Measure(Load& load, uint32_t count)
{
    load.left = count;
    Simulator::ScheduleNow(&Load::Step, &load);
    const std::clock_t before = std::clock();
    // A timer of the discipline's may go on for ever.
    Simulator::Stop(MicroSeconds(count));
    Simulator::Run();
    return 1e9 * static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC / count;
}

} // namespace

int
main(int argc, char* argv[])
{
    std::string disc = "ns3::AqmlabQueueDisc";
    uint32_t packets = 1000000;
    Config::SetDefault("ns3::AqmlabQueueDisc::Rate", StringValue("10Gbps"));
    CommandLine command(__FILE__);
    command.AddValue("disc", "the type of the queue disc", disc);
    command.AddValue("packets", "how many", packets);
    command.Parse(argc, argv);

    Load load;
    const double event = Measure(load, packets);

    load.disc = ObjectFactory(disc).Create<QueueDisc>();
    load.disc->Initialize();
    for (uint32_t i = 0; i < ITEMS; ++i)
    {
        TcpHeader tcp;
        tcp.SetSourcePort(static_cast<uint16_t>(i));
        Ptr<Packet> packet = Create<Packet>(1000);
        packet->AddHeader(tcp);
        Ipv4Header header;
        header.SetSource(Ipv4Address(0x0a000001));
        header.SetDestination(Ipv4Address(0x0a000101));
        header.SetProtocol(6);
        header.SetPayloadSize(1020);
        load.items.push_back(Create<Ipv4QueueDiscItem>(packet, Address(), 0x0800, header));
    }
    for (uint32_t i = 0; i < WAITING; ++i)
    {
        load.disc->Enqueue(load.items[(packets + WAITING - i) % ITEMS]);
    }
    const double both = Measure(load, packets);
    NS_ABORT_MSG_UNLESS(load.disc->GetStats().nTotalDroppedPackets == 0, "packets were dropped");
    std::cout << both - event << "\n";
    load.disc->Dispose();
    Simulator::Destroy();
    return 0;
}
