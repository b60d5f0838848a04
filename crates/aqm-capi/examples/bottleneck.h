/* A bottleneck as the tests of many transports have one: a queue before a link that takes a packet at a time. */

#ifndef BOTTLENECK_H
#define BOTTLENECK_H

#include <stdint.h>

struct packet {
    int flow;
    int is_marked;
    uint64_t sent_ns;
};

/* Bytes of every packet, and the rate of the link. */
#define PACKET_BYTES 1250u
#define RATE_BPS 10000000u

/* Says what is wrong and ends the program unless the queue can be made. */
void bottleneck_open(const char *discipline);

/* A packet arrives. It is the bottleneck's until it leaves, or is lost. */
void bottleneck_send(struct packet *packet, uint64_t now_ns);

/* The link is free: the packet that leaves, or null. */
struct packet *bottleneck_leave(uint64_t now_ns);

void bottleneck_close(void);

/* Given by the test: the bottleneck has dropped a packet. */
void lost(struct packet *packet);

#endif
