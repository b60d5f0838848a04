/* The same bottleneck with any discipline of aqmlab. A packet's cookie is its address. */

#include "aqmlab.h"
#include "bottleneck.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static aqmlab_queue *queue;

static void check(aqmlab_status status)
{
    if (status < 0) {
        fprintf(stderr, "%s\n", aqmlab_message());
        exit(2);
    }
}

/* Gives back what the last call dropped. */
static void fetch(void)
{
    aqmlab_event event;
    while (aqmlab_next_event(queue, &event) == AQMLAB_OK)
        if (event.kind == AQMLAB_DROPPED)
            lost((struct packet *)(uintptr_t)event.cookie);
}

/* Lets the discipline do what is due before `now_ns`, as PIE's timer. */
static void wake(uint64_t now_ns)
{
    uint64_t due;
    while (aqmlab_next_wakeup(queue, &due) == AQMLAB_OK && due <= now_ns) {
        check(aqmlab_wake(queue, due));
        fetch();
    }
}

void bottleneck_open(const char *discipline)
{
    char rate[32];
    snprintf(rate, sizeof rate, "%ubit", RATE_BPS);
    check(aqmlab_new(discipline, rate, 0, 1, &queue));
}

void bottleneck_send(struct packet *packet, uint64_t now_ns)
{
    aqmlab_packet seen;
    memset(&seen, 0, sizeof seen);
    seen.cookie = (uintptr_t)packet;
    seen.flow = aqmlab_hash(&packet->flow, sizeof packet->flow);
    seen.length = PACKET_BYTES;
    seen.ecn = 2;
    wake(now_ns);
    check(aqmlab_enqueue(queue, &seen, now_ns));
    fetch();
}

struct packet *bottleneck_leave(uint64_t now_ns)
{
    aqmlab_departure departure;
    struct packet *packet;
    aqmlab_status status;
    wake(now_ns);
    status = aqmlab_dequeue(queue, now_ns, &departure);
    check(status);
    fetch();
    if (status == AQMLAB_NONE)
        return NULL;
    packet = (struct packet *)(uintptr_t)departure.cookie;
    packet->is_marked = departure.ecn == 3;
    return packet;
}

void bottleneck_close(void)
{
    aqmlab_event event;
    aqmlab_counters counters;
    check(aqmlab_get_counters(queue, &counters));
    fprintf(stderr, "%llu packets arrived, %llu dropped, %llu marked\n", (unsigned long long)counters.arrived,
            (unsigned long long)counters.dropped, (unsigned long long)counters.marked);
    check(aqmlab_reset(queue, UINT64_MAX));
    while (aqmlab_next_event(queue, &event) == AQMLAB_OK)
        free((struct packet *)(uintptr_t)event.cookie);
    check(aqmlab_free(queue));
}
