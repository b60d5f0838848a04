/* The test of transport.c with datagrams over a whole path in place of a bottleneck: delays, losses, cross traffic and time are
 * the path's, and what is left is the transport.
 *
 *     cc over_a_path.c $(pkg-config --cflags --libs aqmlab) -o over_a_path
 *     ./over_a_path "aqm codel ecn; buffer 50p"
 */

#include "aqmlab.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FLOWS 4
#define BYTES 1222 /* with the headers of IP and UDP 1250 */
#define RATE_BPS 10000000.0
#define SECOND UINT64_C(1000000000)
#ifndef SECONDS
#define SECONDS 20
#endif
#define END (SECONDS * SECOND)

static aqmlab_path *path;

/* Datagrams have numbers, and the path keeps their order: what an answer leaves out is lost. */
static struct {
    double window;
    uint32_t next, expected;
    uint32_t reduced_at; /* it reduces its window once in a round trip */
    uint64_t patience;
} flows[FLOWS];

static void check(aqmlab_status status)
{
    if (status < 0) {
        fprintf(stderr, "%s\n", aqmlab_message());
        exit(2);
    }
}

/* Sends what the window lets through. Flow n has the ends 2n, which sends, and 2n + 1, which answers. */
static void send_more(uint32_t flow, uint64_t now_ns)
{
    while (flows[flow].next - flows[flow].expected < (uint32_t)flows[flow].window) {
        unsigned char bytes[BYTES] = {0};
        memcpy(bytes, &flows[flow].next, sizeof flows[flow].next);
        check(aqmlab_path_send(path, 2 * flow, bytes, sizeof bytes, 2, now_ns));
        flows[flow].next++;
    }
}

static void on_answer(uint32_t flow, uint32_t number, int is_marked, uint64_t now_ns)
{
    int is_lossy = number > flows[flow].expected;
    if (number < flows[flow].expected)
        return;
    flows[flow].expected = number + 1;
    flows[flow].patience = now_ns + SECOND;
    flows[flow].window += 1 / flows[flow].window;
    if ((is_lossy || is_marked) && number >= flows[flow].reduced_at) {
        flows[flow].window = flows[flow].window > 2 ? flows[flow].window / 2 : 1;
        flows[flow].reduced_at = flows[flow].next;
    }
}

/* Gives up what nobody has answered. */
static void on_timer(uint32_t flow, uint64_t now_ns)
{
    if (flows[flow].patience <= now_ns) {
        flows[flow].expected = flows[flow].next;
        flows[flow].window = 1;
        flows[flow].patience = now_ns + SECOND;
    }
}

int main(int argc, char **argv)
{
    char description[256];
    unsigned char bytes[BYTES];
    aqmlab_counters counters;
    uint64_t now_ns = 0;
    uint32_t flow;
    snprintf(description, sizeof description, "rate 10mbit; rtt 40ms; duration %ds; %s", SECONDS,
             argc > 1 ? argv[1] : "buffer 50p");
    check(aqmlab_path_new(description, FLOWS, 1, &path));
    for (flow = 0; flow < FLOWS; flow++) {
        flows[flow].window = 1;
        flows[flow].patience = SECOND;
    }
    while (now_ns < END) {
        aqmlab_datagram datagram;
        aqmlab_status status;
        uint64_t until = END;
        for (flow = 0; flow < FLOWS; flow++) {
            send_more(flow, now_ns);
            if (flows[flow].patience < until)
                until = flows[flow].patience;
        }
        status = aqmlab_path_deliver(path, until, bytes, sizeof bytes, &datagram);
        check(status);
        if (status == AQMLAB_NONE) {
            now_ns = until;
            for (flow = 0; flow < FLOWS; flow++)
                on_timer(flow, now_ns);
        } else if (datagram.end % 2 == 1) {
            now_ns = datagram.time_ns;
            bytes[4] = datagram.ecn == 3;
            check(aqmlab_path_send(path, datagram.end, bytes, 5, 0, now_ns));
        } else {
            uint32_t number;
            now_ns = datagram.time_ns;
            memcpy(&number, bytes, sizeof number);
            on_answer(datagram.end / 2, number, bytes[4], now_ns);
        }
    }
    check(aqmlab_path_get_counters(path, &counters));
    printf("%.1f%% of the link used, %.1f ms of queue, %lu lost, %lu marked\n",
           100.0 * 8 * (double)counters.departed_bytes / (RATE_BPS * SECONDS),
           (double)counters.sojourn_sum_ns / 1e6 / (double)counters.departed, (unsigned long)counters.dropped,
           (unsigned long)counters.marked);
    check(aqmlab_path_free(path));
    return 0;
}
