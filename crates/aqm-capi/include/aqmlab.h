/*
 * libaqmlab: the queue disciplines of aqmlab for C and C++. It has no clock, no thread, no I/O (but for a defect of its own,
 * which says where it is on standard error), and the same calls with the same seed give the same decisions.
 *
 * One queue: packets go in with the time, and come out when the link asks for one; the discipline decides which are dropped or
 * marked.
 *
 *     aqmlab_queue *queue;
 *     if (aqmlab_new("fq_codel limit 1000p", "10mbit", 14, 1, &queue) < 0)
 *         fprintf(stderr, "%s\n", aqmlab_message());
 *
 *     aqmlab_enqueue(queue, &packet, now_ns);                 a packet arrives
 *     aqmlab_dequeue(queue, now_ns, &departure);              the link is free
 *     while (aqmlab_next_event(queue, &event) == AQMLAB_OK)   after either: what became of packets
 *         if (event.kind == AQMLAB_DROPPED) ...
 *
 * The packets stay yours: the library sees lengths and header fields, and a cookie by which you know the packet again.
 * Each cookie comes back once, from aqmlab_dequeue or in an event that says the packet was dropped.
 *
 * A whole path: datagrams go in at one end, and come out at the other in their time, or not at all. Bottleneck, delays, loss and
 * cross traffic are the simulator's.
 *
 *     aqmlab_path *path;
 *     if (aqmlab_path_new("rate 10mbit; rtt 40ms; aqm pie; flows 2*cubic", 1, 1, &path) < 0)
 *         fprintf(stderr, "%s\n", aqmlab_message());
 *
 *     aqmlab_path_send(path, 0, bytes, length, 0, now_ns);
 *     if (aqmlab_path_deliver(path, next_timer_ns, buffer, sizeof buffer, &datagram) == AQMLAB_OK)
 *         now_ns = datagram.time_ns, ...                      a datagram has come to datagram.end
 *     else
 *         now_ns = next_timer_ns;                             none has until then
 *
 * Times are nanoseconds from any origin (of a path: from its beginning), and never decrease. Sizes are bytes.
 *
 * Errors. Every function that can fail returns a status; below zero it is an error, aqmlab_message() says what is wrong,
 * and nothing has happened, but for aqmlab_path_deliver without room for a datagram: the path has reached its time. No panic
 * leaves the library. What can be detected, and is:
 *   - a null pointer; a text that is not UTF-8, or that aqmlab does not know (the message is that of the command line, with
 *     the nearest names); a field out of its range; a time before that of an earlier call;
 *   - a queue or path that was freed, also if others were made since, and a value that never was one: a handle is a number that
 *     is looked up, not an address. Where pointers have 32 bits, a handle is another's again once its place was given
 *     away 4096 times;
 *   - a queue or path that another thread is using. It may move between threads, but has one call at a time;
 *   - events that were not fetched: the next call is refused, so that no packet is forgotten.
 * What cannot be detected: pointers to memory that is not yours or too small, texts without a final zero, and a handle made up
 * so that it is the number of one. Memory that the system does not give ends the process.
 */


#ifndef AQMLAB_H
#define AQMLAB_H

#include <stddef.h>
#include <stdint.h>

// How a call ended; below zero it is an error, which aqmlab_message() explains.
typedef enum {
    // It was done.
    AQMLAB_OK = 0,
    // It was done, and there is nothing: no packet may leave now, no event waits, no wake-up is wanted, nothing has arrived.
    AQMLAB_NONE = 1,
    // A pointer is null.
    AQMLAB_NULL = -1,
    // A text is not understood, or a field is out of its range.
    AQMLAB_INPUT = -2,
    // The queue or path was freed, or never was one.
    AQMLAB_FREED = -3,
    // Another thread is using the queue or path.
    AQMLAB_BUSY = -4,
    // The time is before that of an earlier call.
    AQMLAB_TIME = -5,
    // Events of the last call were not fetched.
    AQMLAB_UNFETCHED = -6,
    // A defect of aqmlab. The queue or path can only be freed.
    AQMLAB_DEFECT = -7,
} aqmlab_status;

// What happened to a packet.
typedef enum {
    // It was dropped: an arriving packet, or one that waited.
    AQMLAB_DROPPED = 0,
    // It was marked CE; it still waits, or is about to leave.
    AQMLAB_MARKED = 1,
} aqmlab_event_kind;

// A queue. It is no address: there is nothing behind it.
typedef struct aqmlab_queue aqmlab_queue;

// A path. It is no address either.
typedef struct aqmlab_path aqmlab_path;

// The parts of a TCP header that ACK filters read.
typedef struct {
    // Sequence number.
    uint32_t seq;
    // Acknowledgment number.
    uint32_t ack;
    // Bytes of payload.
    uint16_t payload;
    // Flags as on the wire: FIN 1, SYN 2, RST 4, PSH 8, ACK 16, URG 32, ECE 64, CWR 128.
    uint8_t flags;
    // Not 0 if it carries SACK blocks.
    uint8_t has_sack;
} aqmlab_tcp;

// What a discipline sees of a packet. Fields that are zero are right where you know nothing better.
typedef struct {
    // Yours: disciplines never read it.
    uint64_t cookie;
    // Hash of the flow, usually of its 5-tuple. Tables are indexed by its bits: aqmlab_hash() makes one.
    uint64_t flow;
    // Hash of the source host.
    uint32_t source;
    // Hash of the destination host.
    uint32_t destination;
    // Bytes on the link, link-layer overhead included; not 0.
    uint32_t length;
    // Class, for disciplines that serve classes.
    uint16_t traffic_class;
    // Port by which it came into a switch.
    uint16_t ingress;
    // DiffServ code point, 0 to 63.
    uint8_t dscp;
    // ECN field as in the IP header: 0 not ECN-capable, 1 ECT(1), 2 ECT(0), 3 CE.
    uint8_t ecn;
    // IP protocol: 6 TCP, 17 UDP.
    uint8_t protocol;
    // Its TCP header, or null. It is read during the call only.
    const aqmlab_tcp *tcp;
} aqmlab_packet;

// A packet that leaves.
typedef struct {
    // That of the packet.
    uint64_t cookie;
    // Nanoseconds that it waited.
    uint64_t sojourn_ns;
    // Its ECN field now: 3 (CE) if it was marked, here or before it came.
    uint8_t ecn;
} aqmlab_departure;

// What a discipline did to a packet.
typedef struct {
    // That of the packet.
    uint64_t cookie;
    // What it did.
    aqmlab_event_kind kind;
    // Why, by a number that stays; aqmlab_reason() has its name. Drops: 1 overlimit, 2 congestion, 3 unfair,
    // 4 reconfigured, 5 redundant, 6 other. Marks: 1 congestion, 2 threshold.
    uint8_t reason;
} aqmlab_event;

// Counts since the queue was made or reset. What arrived has departed, was dropped, or waits.
typedef struct {
    // Packets that arrived.
    uint64_t arrived;
    // Their bytes.
    uint64_t arrived_bytes;
    // Packets that left.
    uint64_t departed;
    // Their bytes.
    uint64_t departed_bytes;
    // Packets that were dropped.
    uint64_t dropped;
    // Those of them that the law chose to drop: not because the queue was full, nor by a change.
    uint64_t dropped_early;
    // Bytes of all that were dropped.
    uint64_t dropped_bytes;
    // Packets that were marked.
    uint64_t marked;
    // Packets that wait.
    uint64_t queued;
    // Their bytes.
    uint64_t queued_bytes;
    // Sum of the times that departed packets waited, in nanoseconds.
    uint64_t sojourn_sum_ns;
    // The longest of them.
    uint64_t sojourn_max_ns;
} aqmlab_counters;

// A datagram that has come to an end.
typedef struct {
    // When it came.
    uint64_t time_ns;
    // How many bytes it has.
    size_t length;
    // Number of the end.
    uint32_t end;
    // Its ECN field: 3 (CE) if it was marked.
    uint8_t ecn;
} aqmlab_datagram;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The version of the library, as "0.3.0".
const char *aqmlab_version(void);

// The message of the last error in this thread, "" if there was none. Its place stays while the thread runs: the next
// error in this thread writes its own there. No message has more than 1023 bytes.
const char *aqmlab_message(void);

// Makes a queue.
//
// `discipline` is what the command line takes after --aqm, with its limit: "pie target 15ms limit 100p ecn". `rate` is
// the link's, as "10mbit", `overhead` the bytes of link-layer framing in every packet's length (14 for Ethernet). All
// random numbers follow from `seed`.
aqmlab_status aqmlab_new(const char *discipline,
                         const char *rate,
                         uint32_t overhead,
                         uint64_t seed,
                         aqmlab_queue **queue);

// Frees a queue; null is none. The packets that wait in it are forgotten: to have their cookies back, call aqmlab_reset
// and fetch the events first.
aqmlab_status aqmlab_free(aqmlab_queue *queue);

// A packet arrives. It waits, unless an event says that it was dropped.
aqmlab_status aqmlab_enqueue(aqmlab_queue *queue, const aqmlab_packet *packet, uint64_t now_ns);

// The link is free: takes the packet that leaves next. AQMLAB_NONE though packets wait means: ask again after the next
// wake-up.
aqmlab_status aqmlab_dequeue(aqmlab_queue *queue, uint64_t now_ns, aqmlab_departure *departure);

// Takes the next thing that the last call did to a packet, in order. Call it after every call that has a time, until it
// returns AQMLAB_NONE.
aqmlab_status aqmlab_next_event(aqmlab_queue *queue, aqmlab_event *event);

// The name of an event's reason, as "overlimit", or "unspecified" for a number that has none. Null if `event` is null, or
// its kind is neither AQMLAB_DROPPED nor AQMLAB_MARKED.
const char *aqmlab_reason(const aqmlab_event *event);

// When aqmlab_wake is to be called next; ask after every call that has a time. AQMLAB_NONE: it is not wanted.
aqmlab_status aqmlab_next_wakeup(aqmlab_queue *queue, uint64_t *time_ns);

// Lets the discipline do what is due by now, then ask aqmlab_dequeue if the link is free. Calls that nobody asked for
// are harmless.
aqmlab_status aqmlab_wake(aqmlab_queue *queue, uint64_t now_ns);

// Changes a parameter while running: name and value as on the command line, "target", "10ms".
aqmlab_status aqmlab_change(aqmlab_queue *queue, const char *name, const char *value, uint64_t now_ns);

// What was counted, and what waits.
aqmlab_status aqmlab_get_counters(aqmlab_queue *queue, aqmlab_counters *counters);

// Drops what waits, and begins again: parameters stay, counters and random numbers are those of a new queue, and time may
// begin again.
aqmlab_status aqmlab_reset(aqmlab_queue *queue,
                           uint64_t now_ns);

// Makes a path: a bottleneck with a queue, and whatever else goes through it.
//
// `description` is "rate 10mbit; rtt 40ms; aqm pie target 15ms; buffer 200p; loss 0.1%; flows 2*cubic:start=1s; flows
// cbr:rate=2mbit; duration 60s", the options of `aqmlab compare` but those that name files, with its defaults: rate and rtt
// (without queues) have to be there, the queue is a FIFO unless aqm says otherwise, its buffer a bandwidth-delay product unless
// buffer or the discipline's limit says otherwise, flows are cross traffic that starts within a second, and the path lasts 30 s
// unless duration says otherwise. `pairs` is how many pairs of ends are yours, 1 or more. What end 0 sends goes through the queue to end 1, what end 1 sends comes back beside it; so do 2 and 3. All
// random numbers follow from `seed`.
aqmlab_status aqmlab_path_new(const char *description,
                              uint32_t pairs,
                              uint64_t seed,
                              aqmlab_path **path);

// Writes the scenario that a description stands for, without ends of yours: the JSON that `aqmlab schema scenario` describes,
// with a final zero. `length` becomes the bytes of that, the zero included; if there is no room for them, that is AQMLAB_INPUT,
// and nothing else is written. Without any `room`, `scenario` may be null.
aqmlab_status aqmlab_path_scenario(const char *description,
                                   char *scenario,
                                   size_t room,
                                   size_t *length);

// Writes the scenarios of a sweep: of a description with `sweep NAME=VALUES` for each option, or `$NAME` in other options, that
// varies, as "rate 10mbit; aqm codel target $target; sweep rtt=20ms,40ms; sweep target=1ms..5ms*3". The last varies first. They
// come as a JSON array of what `aqmlab_path_scenario` writes; `scenarios`, `room` and `length` are as there.
aqmlab_status aqmlab_sweep_scenarios(const char *description,
                                     char *scenarios,
                                     size_t room,
                                     size_t *length);

// Frees a path, with what is in flight; null is none.
aqmlab_status aqmlab_path_free(aqmlab_path *path);

// An end sends a datagram of 1 to 65507 bytes, which are copied; on the wire 28 come to them, the headers of IP and UDP.
// `ecn` is its ECN field as in aqmlab_packet, 0 to 2. What arrives elsewhere before `now_ns` is kept for aqmlab_path_deliver.
aqmlab_status aqmlab_path_send(aqmlab_path *path,
                               uint32_t end,
                               const void *bytes,
                               size_t length,
                               uint8_t ecn,
                               uint64_t now_ns);

// Goes on until a datagram comes to one of your ends, or to `until_ns`: AQMLAB_NONE then. Its bytes are copied to `bytes`; if
// there is no room for them, that is AQMLAB_INPUT: `datagram` is filled nevertheless, says how many they are, and the next call
// has them. The path has reached `datagram`'s time, or `until_ns`: nothing can be sent before.
aqmlab_status aqmlab_path_deliver(aqmlab_path *path,
                                  uint64_t until_ns,
                                  void *bytes,
                                  size_t room,
                                  aqmlab_datagram *datagram);

// When something happens next on the path: call aqmlab_path_deliver then, if you have not sooner. Mostly nothing arrives; who
// has no other clock calls aqmlab_path_deliver until his own next timer instead. AQMLAB_NONE: nothing will happen.
aqmlab_status aqmlab_path_next_wakeup(aqmlab_path *path,
                                      uint64_t *time_ns);

// What the bottleneck's queue has counted, all traffic together.
aqmlab_status aqmlab_path_get_counters(aqmlab_path *path, aqmlab_counters *counters);

// A hash of some bytes, such as those of a 5-tuple, for a packet's flow, source and destination; 0 if `bytes` is null.
uint64_t aqmlab_hash(const void *bytes, size_t length);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* AQMLAB_H */
