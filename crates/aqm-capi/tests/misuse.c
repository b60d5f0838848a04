/* Everything that a caller can do wrong and the library can tell: each has its status and its message. */

#include "aqmlab.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static aqmlab_queue *queue;

static void fail(int line)
{
    fprintf(stderr, "line %d, message '%s'\n", line, aqmlab_message());
    exit(1);
}

static void expect(aqmlab_status status, aqmlab_status expected, const char *part, int line)
{
    if (status != expected || (part != NULL && strstr(aqmlab_message(), part) == NULL)) {
        fprintf(stderr, "line %d: status %d, message '%s'\n", line, (int)status, aqmlab_message());
        exit(1);
    }
}

#define EXPECT(call, expected, part) expect(call, expected, part, __LINE__)

static aqmlab_packet packet(uint64_t cookie)
{
    aqmlab_packet made;
    memset(&made, 0, sizeof made);
    made.cookie = cookie;
    made.length = 1000;
    return made;
}

static void wrong_texts(void)
{
    aqmlab_queue *none = (aqmlab_queue *)&queue;
    const char *message = aqmlab_message();
    if (*message != '\0')
        fail(__LINE__);
    EXPECT(aqmlab_new(NULL, "1mbit", 0, 1, &none), AQMLAB_NULL, "discipline is null");
    if (none != NULL)
        fail(__LINE__);
    EXPECT(aqmlab_new("codel", NULL, 0, 1, &none), AQMLAB_NULL, "rate is null");
    EXPECT(aqmlab_new("codel", "1mbit", 0, 1, NULL), AQMLAB_NULL, "queue is null");
    EXPECT(aqmlab_new("codle", "1mbit", 0, 1, &none), AQMLAB_INPUT, "aqm: unknown discipline 'codle', did you mean 'codel'");
    EXPECT(aqmlab_new("codel targte 5ms", "1mbit", 0, 1, &none), AQMLAB_INPUT, "did you mean 'target'");
    EXPECT(aqmlab_new("\xff", "1mbit", 0, 1, &none), AQMLAB_INPUT, "not UTF-8");
    EXPECT(aqmlab_new("codel", "fast", 0, 1, &none), AQMLAB_INPUT, "rate: ");
    EXPECT(aqmlab_new("codel", "0bit", 0, 1, &none), AQMLAB_INPUT, "rate");
    EXPECT(aqmlab_new("codel", "1mbit", 0xffffffffu, 1, &none), AQMLAB_INPUT, "overhead");
    /* A pointer to an earlier message has the last one, as if both were arguments of one call. */
    if (strstr(message, "overhead: '4294967295b'") == NULL)
        fail(__LINE__);
}

static void wrong_pointers(void)
{
    aqmlab_packet one = packet(1);
    aqmlab_queue *none = NULL;
    EXPECT(aqmlab_enqueue(none, &one, 0), AQMLAB_NULL, "the queue is null");
    EXPECT(aqmlab_enqueue(queue, NULL, 0), AQMLAB_NULL, "packet is null");
    EXPECT(aqmlab_dequeue(queue, 0, NULL), AQMLAB_NULL, "departure is null");
    EXPECT(aqmlab_next_event(queue, NULL), AQMLAB_NULL, "event is null");
    EXPECT(aqmlab_next_wakeup(queue, NULL), AQMLAB_NULL, "time_ns is null");
    EXPECT(aqmlab_get_counters(queue, NULL), AQMLAB_NULL, "counters is null");
    EXPECT(aqmlab_change(queue, NULL, "1p", 0), AQMLAB_NULL, "name is null");
    EXPECT(aqmlab_free(none), AQMLAB_OK, NULL);
    if (aqmlab_reason(NULL) != NULL || aqmlab_hash(NULL, 3) != 0)
        fail(__LINE__);
}

/* Every byte that a caller may have written into an event. */
static void wrong_events(void)
{
    aqmlab_event event = {0, AQMLAB_DROPPED, 0};
    for (unsigned reason = 0; reason < 256; reason++) {
        event.reason = (uint8_t)reason;
        for (unsigned kind = 0; kind < 1000; kind++) {
            memcpy(&event.kind, &kind, sizeof event.kind);
            const char *name = aqmlab_reason(&event);
            if ((name != NULL) != (kind < 2) || (name != NULL && reason > 100 && strcmp(name, "unspecified") != 0))
                fail(__LINE__);
        }
        memset(&event.kind, 0xff, sizeof event.kind);
        if (aqmlab_reason(&event) != NULL)
            fail(__LINE__);
    }
}

static void wrong_fields(void)
{
    aqmlab_packet one = packet(1);
    one.ecn = 4;
    EXPECT(aqmlab_enqueue(queue, &one, 0), AQMLAB_INPUT, "ecn is 4");
    one = packet(1);
    one.dscp = 64;
    EXPECT(aqmlab_enqueue(queue, &one, 0), AQMLAB_INPUT, "dscp is 64");
    one = packet(1);
    one.length = 0;
    EXPECT(aqmlab_enqueue(queue, &one, 0), AQMLAB_INPUT, "length is 0");
    /* Refused calls are not made: their time is not reached. */
    EXPECT(aqmlab_change(queue, "limt", "1p", 5), AQMLAB_INPUT, "did you mean 'limit'");
    EXPECT(aqmlab_change(queue, "limit", "many", 5), AQMLAB_INPUT, NULL);
    EXPECT(aqmlab_wake(queue, 4), AQMLAB_OK, NULL);
}

static void forgotten_events_and_time(void)
{
    aqmlab_packet one = packet(7);
    aqmlab_departure departure;
    aqmlab_event event;
    aqmlab_counters counters;
    EXPECT(aqmlab_enqueue(queue, &one, 10), AQMLAB_OK, NULL);
    EXPECT(aqmlab_next_event(queue, &event), AQMLAB_NONE, NULL);
    EXPECT(aqmlab_dequeue(queue, 9, &departure), AQMLAB_TIME, "9 ns is before 10 ns");
    one.cookie = 8;
    EXPECT(aqmlab_enqueue(queue, &one, 11), AQMLAB_OK, NULL);
    EXPECT(aqmlab_dequeue(queue, 12, &departure), AQMLAB_UNFETCHED, "1 events");
    EXPECT(aqmlab_next_event(queue, &event), AQMLAB_OK, NULL);
    if (event.cookie != 8 || event.kind != AQMLAB_DROPPED || strcmp(aqmlab_reason(&event), "overlimit") != 0)
        fail(__LINE__);
    EXPECT(aqmlab_dequeue(queue, 12, &departure), AQMLAB_OK, NULL);
    if (departure.cookie != 7 || departure.sojourn_ns != 2 || departure.ecn != 0)
        fail(__LINE__);
    EXPECT(aqmlab_dequeue(queue, 12, &departure), AQMLAB_NONE, NULL);
    EXPECT(aqmlab_enqueue(queue, &one, 12), AQMLAB_OK, NULL);
    EXPECT(aqmlab_reset(queue, 13), AQMLAB_OK, NULL);
    EXPECT(aqmlab_next_event(queue, &event), AQMLAB_OK, NULL);
    if (event.cookie != 8 || strcmp(aqmlab_reason(&event), "reconfigured") != 0)
        fail(__LINE__);
    EXPECT(aqmlab_get_counters(queue, &counters), AQMLAB_OK, NULL);
    if (counters.arrived != 0)
        fail(__LINE__);
    EXPECT(aqmlab_dequeue(queue, 0, &departure), AQMLAB_NONE, NULL);
}

/* Whether a thread has found another using the queue. */
static int met;

static void *ask(void *began)
{
    aqmlab_counters counters;
    while (!__atomic_load_n(&met, __ATOMIC_RELAXED)) {
        aqmlab_status status = aqmlab_get_counters(queue, &counters);
        if (status == AQMLAB_BUSY && strcmp(aqmlab_message(), "another thread is using the queue") == 0)
            __atomic_store_n(&met, 1, __ATOMIC_RELAXED);
        else if (status != AQMLAB_OK || time(NULL) - *(time_t *)began > 60)
            fail(__LINE__);
    }
    return NULL;
}

static void two_threads(void)
{
    pthread_t threads[2];
    time_t began = time(NULL);
    int i;
    for (i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, ask, &began) != 0)
            fail(__LINE__);
    for (i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
}

static void wrong_paths(void)
{
    const char *text = "rate 10mbit; rtt 40ms; aqm pie; flows 1*cubic:start=0s..100ms; duration 500ms";
    unsigned char bytes[2000] = {0};
    aqmlab_path *path = (aqmlab_path *)&queue, *old;
    aqmlab_datagram datagram;
    aqmlab_counters counters;
    uint64_t time_ns;
    EXPECT(aqmlab_path_new(NULL, 1, 1, &path), AQMLAB_NULL, "description is null");
    if (path != NULL)
        fail(__LINE__);
    EXPECT(aqmlab_path_new(text, 1, 1, NULL), AQMLAB_NULL, "path is null");
    EXPECT(aqmlab_path_new(text, 0, 1, &path), AQMLAB_INPUT, "pairs is 0");
    EXPECT(aqmlab_path_new("rate 10mbit", 1, 1, &path), AQMLAB_INPUT, "rtt: is missing");
    EXPECT(aqmlab_path_new("rate 10mbit; rtt soon", 1, 1, &path), AQMLAB_INPUT, "rtt: 'soon'");
    EXPECT(aqmlab_path_new("rate 10mbit; rtt 40ms; amq pie", 1, 1, &path), AQMLAB_INPUT, "did you mean 'aqm'");
    EXPECT(aqmlab_path_new("rate 10mbit; rtt 40ms; aqm piee", 1, 1, &path), AQMLAB_INPUT, "did you mean 'pie'");
    EXPECT(aqmlab_path_new("rate 10mbit; rtt 40ms; flows 1*cubik", 1, 1, &path), AQMLAB_INPUT, "did you mean 'cubic'");
    EXPECT(aqmlab_path_new("rate 10mbit; rtt 40ms; loss 100%", 1, 1, &path), AQMLAB_INPUT, "loss");
    EXPECT(aqmlab_path_send(path, 0, bytes, 9, 0, 0), AQMLAB_NULL, "the path is null");

    EXPECT(aqmlab_path_new(text, 1, 1, &path), AQMLAB_OK, NULL);
    EXPECT(aqmlab_path_send(path, 0, NULL, 9, 0, 0), AQMLAB_NULL, "bytes is null");
    EXPECT(aqmlab_path_send(path, 0, bytes, 0, 0, 0), AQMLAB_INPUT, "0 bytes: it must have 1 to 65507");
    EXPECT(aqmlab_path_send(path, 0, bytes, 65508, 0, 0), AQMLAB_INPUT, "65508 bytes: it must have 1 to 65507");
    EXPECT(aqmlab_path_send(path, 0, bytes, (size_t)-1, 0, 0), AQMLAB_INPUT, "bytes: it must have 1 to 65507");
    EXPECT(aqmlab_path_send(path, 2, bytes, 9, 0, 0), AQMLAB_INPUT, "there is no end 2: there are 2");
    EXPECT(aqmlab_path_send(path, 0, bytes, 9, 3, 0), AQMLAB_INPUT, "ecn is 3");
    EXPECT(aqmlab_path_send(path, 0, bytes, 9, 4, 0), AQMLAB_INPUT, "ecn is 4");
    EXPECT(aqmlab_path_send(path, 0, bytes, 9, 0, UINT64_MAX), AQMLAB_INPUT, "behind the path's duration");
    EXPECT(aqmlab_path_next_wakeup(path, NULL), AQMLAB_NULL, "time_ns is null");
    EXPECT(aqmlab_path_get_counters(path, NULL), AQMLAB_NULL, "counters is null");
    EXPECT(aqmlab_path_deliver(path, 0, NULL, 9, &datagram), AQMLAB_NULL, "bytes is null");
    EXPECT(aqmlab_path_deliver(path, 0, bytes, 9, NULL), AQMLAB_NULL, "datagram is null");
    bytes[8] = 7;
    EXPECT(aqmlab_path_send(path, 0, bytes, 9, 2, 1000), AQMLAB_OK, NULL);
    EXPECT(aqmlab_path_send(path, 0, bytes, 9, 2, 999), AQMLAB_TIME, "999 ns is before 1000 ns");
    EXPECT(aqmlab_path_next_wakeup(path, &time_ns), AQMLAB_OK, NULL);
    if (time_ns < 1000 || time_ns > 20000000)
        fail(__LINE__);
    EXPECT(aqmlab_path_deliver(path, 10000000, bytes, 9, &datagram), AQMLAB_NONE, NULL);
    EXPECT(aqmlab_path_deliver(path, 100000000, bytes, 8, &datagram), AQMLAB_INPUT, "9 bytes has arrived, and there is room for 8");
    /* The only refused call that fills its answer and moves time. */
    if (datagram.end != 1 || datagram.length != 9 || datagram.time_ns < 20000000)
        fail(__LINE__);
    EXPECT(aqmlab_path_send(path, 0, bytes, 9, 2, datagram.time_ns - 1), AQMLAB_TIME, NULL);
    memset(&datagram, 0, sizeof datagram);
    bytes[8] = 0;
    EXPECT(aqmlab_path_deliver(path, 100000000, bytes, 9, &datagram), AQMLAB_OK, NULL);
    if (datagram.end != 1 || datagram.length != 9 || datagram.ecn != 2 || datagram.time_ns < 20000000 || bytes[8] != 7)
        fail(__LINE__);
    EXPECT(aqmlab_path_deliver(path, 500000000, bytes, 9, &datagram), AQMLAB_NONE, NULL);
    EXPECT(aqmlab_path_next_wakeup(path, &time_ns), AQMLAB_NONE, NULL);
    EXPECT(aqmlab_path_get_counters(path, &counters), AQMLAB_OK, NULL);
    if (counters.arrived < 20)
        fail(__LINE__);

    /* Handles of the other kind, and old ones. */
    EXPECT(aqmlab_get_counters((aqmlab_queue *)path, &counters), AQMLAB_FREED, "the queue was freed, or never was one");
    EXPECT(aqmlab_path_get_counters((aqmlab_path *)queue, &counters), AQMLAB_FREED, "the path was freed, or never was one");
    EXPECT(aqmlab_free((aqmlab_queue *)path), AQMLAB_FREED, NULL);
    old = path;
    EXPECT(aqmlab_path_free(path), AQMLAB_OK, NULL);
    EXPECT(aqmlab_path_new(text, 1, 1, &path), AQMLAB_OK, NULL);
    EXPECT(aqmlab_path_send(old, 0, bytes, 9, 0, 0), AQMLAB_FREED, "the path was freed, or never was one");
    EXPECT(aqmlab_path_free(old), AQMLAB_FREED, NULL);
    EXPECT(aqmlab_path_free(path), AQMLAB_OK, NULL);
    EXPECT(aqmlab_path_free(NULL), AQMLAB_OK, NULL);
}

static void freed(void)
{
    aqmlab_packet one = packet(1);
    aqmlab_queue *old = queue;
    EXPECT(aqmlab_free(queue), AQMLAB_OK, NULL);
    EXPECT(aqmlab_enqueue(old, &one, 0), AQMLAB_FREED, "was freed, or never was one");
    EXPECT(aqmlab_new("fifo", "1mbit", 0, 1, &queue), AQMLAB_OK, NULL);
    EXPECT(aqmlab_enqueue(old, &one, 0), AQMLAB_FREED, NULL);
    EXPECT(aqmlab_free(old), AQMLAB_FREED, NULL);
    EXPECT(aqmlab_enqueue((aqmlab_queue *)&one, &one, 0), AQMLAB_FREED, NULL);
    EXPECT(aqmlab_enqueue((aqmlab_queue *)(uintptr_t)1, &one, 0), AQMLAB_FREED, NULL);
    EXPECT(aqmlab_enqueue((aqmlab_queue *)UINTPTR_MAX, &one, 0), AQMLAB_FREED, NULL);
    EXPECT(aqmlab_enqueue(queue, &one, 0), AQMLAB_OK, NULL);
    EXPECT(aqmlab_free(queue), AQMLAB_OK, NULL);
}

int main(void)
{
    wrong_texts();
    EXPECT(aqmlab_new("fifo limit 1p", "1mbit", 0, 1, &queue), AQMLAB_OK, NULL);
    wrong_pointers();
    wrong_events();
    wrong_fields();
    forgotten_events_and_time();
    two_threads();
    wrong_paths();
    freed();
    printf("aqmlab %s\n", aqmlab_version());
    return 0;
}
