/* A test of a toy transport: flows that add one packet a round trip to their window and halve it when a packet is lost
 * or marked, over 10 Mbit/s and 40 ms. Build it with either bottleneck:
 *
 *     cc transport.c toy_bottleneck.c -o transport && ./transport "fifo limit 50p"
 *     cc transport.c aqmlab_bottleneck.c $(pkg-config --cflags --libs aqmlab) -o transport && ./transport "codel ecn"
 */

#include "bottleneck.h"

#include <stdio.h>
#include <stdlib.h>

#define FLOWS 4
#define SLOT_NS 1000000u /* the link sends a packet of 1250 bytes in this time */
#define RTT_SLOTS 40     /* without queueing */
#define SLOTS 20000

static struct {
    double window;
    unsigned flying;
    long quiet_until; /* it reduces its window once in a round trip */
} flows[FLOWS];

/* What the sender hears of in each slot: an acknowledgment, and losses. */
static struct packet *acknowledged[RTT_SLOTS];
static unsigned losses[RTT_SLOTS][FLOWS];
static long slot;
static unsigned long delivered, dropped, marked;
static double delay_ns;

static void reduce(int flow)
{
    if (slot >= flows[flow].quiet_until) {
        flows[flow].window = flows[flow].window > 2 ? flows[flow].window / 2 : 1;
        flows[flow].quiet_until = slot + RTT_SLOTS;
    }
}

void lost(struct packet *packet)
{
    losses[(slot + RTT_SLOTS - 1) % RTT_SLOTS][packet->flow]++;
    dropped++;
    free(packet);
}

static void hear(void)
{
    struct packet *packet = acknowledged[slot % RTT_SLOTS];
    int flow;
    acknowledged[slot % RTT_SLOTS] = NULL;
    for (flow = 0; flow < FLOWS; flow++) {
        if (losses[slot % RTT_SLOTS][flow] > 0) {
            flows[flow].flying -= losses[slot % RTT_SLOTS][flow];
            losses[slot % RTT_SLOTS][flow] = 0;
            reduce(flow);
        }
    }
    if (packet != NULL) {
        flows[packet->flow].flying--;
        flows[packet->flow].window += 1 / flows[packet->flow].window;
        if (packet->is_marked)
            reduce(packet->flow);
        free(packet);
    }
}

static void send(int flow, uint64_t now_ns)
{
    struct packet *packet = (struct packet *)malloc(sizeof *packet);
    if (packet == NULL)
        exit(1);
    packet->flow = flow;
    packet->is_marked = 0;
    packet->sent_ns = now_ns;
    flows[flow].flying++;
    bottleneck_send(packet, now_ns);
}

int main(int argc, char **argv)
{
    int flow;
    bottleneck_open(argc > 1 ? argv[1] : "fifo limit 50p");
    for (flow = 0; flow < FLOWS; flow++)
        flows[flow].window = 1;
    for (slot = 0; slot < SLOTS; slot++) {
        uint64_t now_ns = (uint64_t)slot * SLOT_NS;
        struct packet *packet;
        hear();
        for (flow = 0; flow < FLOWS; flow++)
            while (flows[flow].flying < (unsigned)flows[flow].window)
                send(flow, now_ns);
        packet = bottleneck_leave(now_ns);
        if (packet != NULL) {
            delivered++;
            marked += packet->is_marked != 0;
            delay_ns += (double)(now_ns - packet->sent_ns);
            acknowledged[(slot + RTT_SLOTS - 1) % RTT_SLOTS] = packet;
        }
    }
    printf("%.1f%% of the link used, %.1f ms of queue, %lu lost, %lu marked\n", 100.0 * (double)delivered / SLOTS,
           delay_ns / 1e6 / (double)delivered, dropped, marked);
    for (slot = 0; slot < RTT_SLOTS; slot++)
        free(acknowledged[slot]);
    bottleneck_close();
    return 0;
}
