/* The toy that aqmlab_bottleneck.c replaces: a ring of packets that drops at its tail, and can do nothing else. */

#include "bottleneck.h"

#include <stdio.h>
#include <stdlib.h>

static struct packet **ring;
static unsigned long limit, head, count;

void bottleneck_open(const char *discipline)
{
    char after;
    if (sscanf(discipline, "fifo limit %lu%c", &limit, &after) != 2 || after != 'p' || limit == 0) {
        fprintf(stderr, "unknown discipline '%s': the toy has 'fifo limit Np'\n", discipline);
        exit(2);
    }
    ring = (struct packet **)calloc(limit, sizeof *ring);
    if (ring == NULL) {
        fprintf(stderr, "no memory for %lu packets\n", limit);
        exit(1);
    }
    head = count = 0;
}

void bottleneck_send(struct packet *packet, uint64_t now_ns)
{
    (void)now_ns;
    if (count == limit) {
        lost(packet);
        return;
    }
    ring[(head + count) % limit] = packet;
    count++;
}

struct packet *bottleneck_leave(uint64_t now_ns)
{
    struct packet *packet;
    (void)now_ns;
    if (count == 0)
        return NULL;
    packet = ring[head];
    head = (head + 1) % limit;
    count--;
    return packet;
}

void bottleneck_close(void)
{
    for (; count > 0; count--, head = (head + 1) % limit)
        free(ring[head]);
    free(ring);
}
