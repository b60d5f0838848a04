// PMQECN's congestion point (Liu et al. 2024, algorithm 1 and section "CP algorithm") for v1model.
//
// Packets are put into virtual queues, which are counters; a virtual queue is served in weighted rounds by mapping its packets
// to three strict-priority queues of the port; each packet that leaves a virtual queue longer than its threshold returns a
// message to its source, with ECN 11 and an INT option that says what arrives and what should.
// The control plane reads `arrivals` and `delay`, and writes `weight`, `threshold`, `rate` and `best_rate`.
//
// BMv2 locks the registers of an action, and nothing beyond it (@atomic has no effect there): ingress and egress are threads
// of their own. So whatever counts is one action, `admit` or `leave`.

#include <core.p4>
#include <v1model.p4>

const bit<16> ETHERTYPE_IPV4 = 0x0800;
const bit<8>  PROTOCOL_UDP = 17;
const bit<2>  NOT_ECT = 0;
const bit<2>  CE = 3;
const bit<8>  TTL = 64;

// v1model: instance_type of a packet that was cloned from egress to egress.
const bit<32> EGRESS_CLONE = 2;
// Clone session FIRST_SESSION + p sends to port p (mirroring_add), from port 0 on.
const bit<32> FIRST_SESSION = 100;

// Virtual queues of a port; the last class takes what no entry of `classify` names.
#define PORTS 512
#define QUEUES 4
const bit<2> REST = 2;
// Strict-priority queues of a port that a virtual queue uses: bands 0, 1, 2 are BMv2's priorities 7, 6, 5.
#define BANDS 3
const bit<3> HIGHEST = 7;

// Packets that a band holds: BMv2's own depth, so that nothing is dropped where the program cannot see it.
const bit<32> ROOM = 64;
// In force where a register is 0, that is until the control plane writes: figure 4's packets in a round, and 64 / 3.
const bit<32> FIRST_WEIGHT = 4;
const bit<32> FIRST_THRESHOLD = 21;

// ihl counts 15 words: no more than three hops fit into the options.
#define MOST_HOPS 3
// An option of class 0 with number 31, as in the tutorials of P4's consortium; bit 7 (copied) is the sender's.
const bit<8>  INT_OPTION = 0x1f;
// A message: 14 bytes Ethernet, 36 IPv4 with one hop, and at most 14 of what the packet carries.
const bit<32> MESSAGE_BYTES = 64;
const bit<16> MESSAGE_HEADER = 36;
const bit<16> MESSAGE_DATA = 14;

header ethernet_t {
    bit<48> destination;
    bit<48> source;
    bit<16> kind;
}

header ipv4_t {
    bit<4>  version;
    bit<4>  ihl;
    bit<6>  dscp;
    bit<2>  ecn;
    bit<16> length;
    bit<16> identification;
    bit<3>  flags;
    bit<13> offset;
    bit<8>  ttl;
    bit<8>  protocol;
    bit<16> checksum;
    bit<32> source;
    bit<32> destination;
}

// The INT option: type and length of RFC 791 section 3.1, and how many hops follow.
header int_t {
    bit<8>  kind;
    bit<8>  length;
    bit<16> hops;
}

// What a hop says: 12 bytes, the newest first.
header int_hop_t {
    bit<32> queue;      // packets that wait in the port behind this one
    bit<32> rate;       // lambda_i, packets per second
    bit<32> best_rate;  // lambda_i*
}

// Whatever else is in the options.
header options_t {
    varbit<320> bytes;
}

header udp_t {
    bit<16> source;
    bit<16> destination;
    bit<16> length;
    bit<16> checksum;
}

#ifdef TRACE
// What a packet of the validation carries in its UDP data: its number from the sender, and from the switch at which count of
// admissions and departures it came in and left, its band, and how long it left its virtual queue.
header trace_t {
    bit<32> number;
    bit<32> admitted;
    bit<32> left;
    bit<32> band;
    bit<32> waiting;
}
#endif

struct headers {
    ethernet_t           ethernet;
    ipv4_t               ipv4;
    int_t                telemetry;
    int_hop_t[MOST_HOPS] hops;
    options_t            options;
    udp_t                udp;
#ifdef TRACE
    trace_t              trace;
#endif
}

struct metadata {
    // Place of port and virtual queue in the registers; what is in field list 1 goes with a clone.
    @field_list(1)
    bit<32> place;
    @field_list(1)
    bit<48> sender;     // who sent the packet, before `forward` writes the switch's own address there
    @field_list(1)
    bit<32> queue;      // packets that wait in the port behind this one
    bit<32> band;       // 0 is served first
    bit<32> admitted;   // 1, or 0 where the band has no room
    bit<32> waiting;    // length of the virtual queue without this packet
    bit<32> limit;      // K_i
#ifdef TRACE
    bit<32> admission;
    bit<32> departure;
#endif
}

parser Parse(packet_in packet, out headers hdr, inout metadata meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.kind) {
            ETHERTYPE_IPV4: ipv4;
            default: accept;
        }
    }
    state ipv4 {
        packet.extract(hdr.ipv4);
        transition select(hdr.ipv4.version, hdr.ipv4.ihl) {
            (4, 5): transport;
            (4, 6): choose;
            (4, 7): choose;
            (4, 8 &&& 8): choose;
            default: accept;
        }
    }
    // Hops are read only where the option's length, its count and ihl agree; all else stays as it is.
    state choose {
        transition select(hdr.ipv4.ihl, packet.lookahead<bit<32>>()) {
            (6,  0x1f040000 &&& 0x7fffffff): no_hop;
            (9,  0x1f100001 &&& 0x7fffffff): one_hop;
            (12, 0x1f1c0002 &&& 0x7fffffff): two_hops;
            (15, 0x1f280003 &&& 0x7fffffff): three_hops;
            default: other_options;
        }
    }
    state no_hop {
        packet.extract(hdr.telemetry);
        transition transport;
    }
    state one_hop {
        packet.extract(hdr.telemetry);
        packet.extract(hdr.hops.next);
        transition transport;
    }
    state two_hops {
        packet.extract(hdr.telemetry);
        packet.extract(hdr.hops.next);
        packet.extract(hdr.hops.next);
        transition transport;
    }
    state three_hops {
        packet.extract(hdr.telemetry);
        packet.extract(hdr.hops.next);
        packet.extract(hdr.hops.next);
        packet.extract(hdr.hops.next);
        transition transport;
    }
    state other_options {
        packet.extract(hdr.options, (bit<32>)(hdr.ipv4.ihl - 5) << 5);
        transition transport;
    }
    // Only the first fragment has a transport header (RFC 791 section 3.2).
    state transport {
        transition select(hdr.ipv4.offset, hdr.ipv4.protocol) {
            (0, PROTOCOL_UDP): udp;
            default: accept;
        }
    }
    state udp {
        packet.extract(hdr.udp);
#ifdef TRACE
        transition select(hdr.udp.length) {
            0 &&& 0xffe0: accept;
            default: trace;
        }
    }
    state trace {
        packet.extract(hdr.trace);
#endif
        transition accept;
    }
}

// One sum for each shape of the header: fields of headers that are not there have no value.
#define FIXED hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.dscp, hdr.ipv4.ecn, hdr.ipv4.length, \
    hdr.ipv4.identification, hdr.ipv4.flags, hdr.ipv4.offset, hdr.ipv4.ttl, hdr.ipv4.protocol, \
    hdr.ipv4.source, hdr.ipv4.destination
#define OPTION hdr.telemetry.kind, hdr.telemetry.length, hdr.telemetry.hops
#define HOP(n) hdr.hops[n].queue, hdr.hops[n].rate, hdr.hops[n].best_rate
#define HOPS(n) hdr.telemetry.isValid() && hdr.telemetry.hops == n
#define SUM hdr.ipv4.checksum, HashAlgorithm.csum16
#define SUMS(method) \
    method(hdr.ipv4.isValid() && !hdr.telemetry.isValid() && !hdr.options.isValid(), { FIXED }, SUM); \
    method(hdr.options.isValid(), { FIXED, hdr.options.bytes }, SUM); \
    method(HOPS(0), { FIXED, OPTION }, SUM); \
    method(HOPS(1), { FIXED, OPTION, HOP(0) }, SUM); \
    method(HOPS(2), { FIXED, OPTION, HOP(0), HOP(1) }, SUM); \
    method(HOPS(3), { FIXED, OPTION, HOP(0), HOP(1), HOP(2) }, SUM);

control Verify(inout headers hdr, inout metadata meta) {
    apply { SUMS(verify_checksum) }
}

// By port and virtual queue: place = port * QUEUES + queue. Ingress and egress share the first three.
register<bit<32>>(PORTS * QUEUES) waiting;          // the virtual queues: packets
register<bit<32>>(PORTS * QUEUES * BANDS) used;     // packets that a band has taken of one, by place * BANDS + band
register<bit<32>>(PORTS * BANDS) held;              // packets in a band, by port * BANDS + band
register<bit<32>>(PORTS * QUEUES) weight;           // omega_i: packets that a band takes in a round
register<bit<32>>(PORTS * QUEUES) arrivals;         // packets that came in, for lambda_i
register<bit<32>>(PORTS * QUEUES) threshold;        // K_i: packets
register<bit<32>>(PORTS * QUEUES) delay;            // W_i of the packet that left last: microseconds
register<bit<32>>(PORTS * QUEUES) rate;             // lambda_i
register<bit<32>>(PORTS * QUEUES) best_rate;        // lambda_i*
#ifdef TRACE
register<bit<32>>(1) serial;                        // admissions and departures
#endif

control Enter(inout headers hdr, inout metadata meta, inout standard_metadata_t standard) {
    action drop() {
        mark_to_drop(standard);
    }

    action forward(bit<48> destination, bit<9> port) {
        standard.egress_spec = port;
        meta.sender = hdr.ethernet.source;
        hdr.ethernet.source = hdr.ethernet.destination;
        hdr.ethernet.destination = destination;
        hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
    }

    table route {
        key = { hdr.ipv4.destination: lpm; }
        actions = { forward; @defaultonly drop; }
        default_action = drop();
    }

    action set_queue(bit<2> number) {
        meta.place = (bit<32>)(standard.egress_spec ++ number);
    }

    // Classes by source and destination address.
    table classify {
        key = {
            hdr.ipv4.source: ternary;
            hdr.ipv4.destination: ternary;
        }
        actions = { set_queue; }
        default_action = set_queue(REST);
    }

    // Counts a packet, and takes a place in the first band that the virtual queue's weight leaves one in; the last takes
    // whatever comes (algorithm 1, figure 4). Where the band is full, nothing but the arrival is counted.
    action admit() {
        bit<32> count;
        bit<32> limit;
        bit<32> first;
        bit<32> second;
        bit<32> standing;
        arrivals.read(count, meta.place);
        arrivals.write(meta.place, count + 1);
        weight.read(limit, meta.place);
        limit = limit == 0 ? FIRST_WEIGHT : limit;
        used.read(first, meta.place * BANDS);
        used.read(second, meta.place * BANDS + 1);
        meta.band = first < limit ? 32w0 : (second < limit ? 32w1 : 32w2);
        held.read(standing, (meta.place >> 2) * BANDS + meta.band);
        meta.admitted = standing < ROOM ? 32w1 : 32w0;
        held.write((meta.place >> 2) * BANDS + meta.band, standing + meta.admitted);
        used.read(count, meta.place * BANDS + meta.band);
        used.write(meta.place * BANDS + meta.band, count + meta.admitted);
        waiting.read(count, meta.place);
        waiting.write(meta.place, count + meta.admitted);
        standard.priority = HIGHEST - (bit<3>)meta.band;
#ifdef TRACE
        serial.read(meta.admission, 0);
        serial.write(0, meta.admission + 1);
#endif
    }

    apply {
        // RFC 1812 sections 5.2.2 and 5.3.1: what is no sound IPv4 header, or is out of time, goes no further.
        if (standard.parser_error != error.NoError || standard.checksum_error == 1 || !hdr.ipv4.isValid()
                || hdr.ipv4.version != 4 || hdr.ipv4.ihl < 5 || hdr.ipv4.length < (bit<16>)hdr.ipv4.ihl << 2
                || hdr.ipv4.ttl <= 1) {
            drop();
            return;
        }
        if (!route.apply().hit) {
            return;
        }
        classify.apply();
        admit();
        if (meta.admitted == 0) {
            drop();
        }
    }
}

control Leave(inout headers hdr, inout metadata meta, inout standard_metadata_t standard) {
    // A packet waits no longer: its band and its virtual queue have one less. A band takes a packet of the virtual queue
    // again as one of its own leaves (figure 4); with ROUNDS only when the virtual queue has none in lower bands, as in the
    // authors' code. A virtual queue that is empty begins anew.
    action leave() {
        bit<32> first;
        bit<32> second;
        bit<32> third;
        bit<32> back;
        waiting.read(meta.waiting, meta.place);
        meta.waiting = meta.waiting |-| 1;
        waiting.write(meta.place, meta.waiting);
        used.read(first, meta.place * BANDS);
        used.read(second, meta.place * BANDS + 1);
        used.read(third, meta.place * BANDS + 2);
#ifdef ROUNDS
        back = third == 0 && (second == 0 || meta.band == 1) || meta.band == 2 ? 32w1 : 32w0;
#else
        back = 1;
#endif
        first = meta.band == 0 ? first |-| back : first;
        second = meta.band == 1 ? second |-| back : second;
        third = meta.band == 2 ? third |-| back : third;
        used.write(meta.place * BANDS, meta.waiting == 0 ? 32w0 : first);
        used.write(meta.place * BANDS + 1, meta.waiting == 0 ? 32w0 : second);
        used.write(meta.place * BANDS + 2, meta.waiting == 0 ? 32w0 : third);
        held.read(first, (meta.place >> 2) * BANDS);
        held.read(second, (meta.place >> 2) * BANDS + 1);
        held.read(third, (meta.place >> 2) * BANDS + 2);
        first = meta.band == 0 ? first |-| 1 : first;
        second = meta.band == 1 ? second |-| 1 : second;
        third = meta.band == 2 ? third |-| 1 : third;
        held.write((meta.place >> 2) * BANDS, first);
        held.write((meta.place >> 2) * BANDS + 1, second);
        held.write((meta.place >> 2) * BANDS + 2, third);
        meta.queue = first + second + third;
        delay.write(meta.place, standard.deq_timedelta);
        threshold.read(meta.limit, meta.place);
        meta.limit = meta.limit == 0 ? FIRST_THRESHOLD : meta.limit;
#ifdef TRACE
        serial.read(meta.departure, 0);
        serial.write(0, meta.departure + 1);
#endif
    }

    // The rates may change between a packet and the message about it: each says what is in force as it leaves.
    action say(in bit<32> queue) {
        hdr.hops[0].setValid();
        hdr.hops[0].queue = queue;
        rate.read(hdr.hops[0].rate, meta.place);
        best_rate.read(hdr.hops[0].best_rate, meta.place);
    }

    action add_hop() {
        hdr.hops.push_front(1);
        say(meta.queue);
        hdr.telemetry.hops = hdr.telemetry.hops + 1;
        hdr.telemetry.length = hdr.telemetry.length + 12;
        hdr.ipv4.ihl = hdr.ipv4.ihl + 3;
        hdr.ipv4.length = hdr.ipv4.length + 12;
    }

    // The copy becomes a message to the source: ECN 11, addresses exchanged, and this switch's rates in place of whatever
    // options the packet has. Of the packet there remains what a host needs to find its flow, as in ICMP (RFC 792).
    action make_feedback() {
        hdr.ethernet.destination = meta.sender;
        bit<32> address = hdr.ipv4.source;
        hdr.ipv4.source = hdr.ipv4.destination;
        hdr.ipv4.destination = address;
        hdr.ipv4.ecn = CE;
        hdr.ipv4.ttl = TTL;
        hdr.ipv4.flags = 0;
        hdr.ipv4.length = hdr.ipv4.length - ((bit<16>)hdr.ipv4.ihl << 2);
        hdr.ipv4.length = MESSAGE_HEADER + (hdr.ipv4.length < MESSAGE_DATA ? hdr.ipv4.length : MESSAGE_DATA);
        hdr.ipv4.ihl = 9;
        hdr.options.setInvalid();
        hdr.telemetry.setValid();
        hdr.telemetry.kind = INT_OPTION;
        hdr.telemetry.length = 16;
        hdr.telemetry.hops = 1;
        hdr.hops[1].setInvalid();
        hdr.hops[2].setInvalid();
        say(meta.queue);
        truncate(MESSAGE_BYTES);
    }

    // To a UDP socket of the sender's. The sum is optional in IPv4 (RFC 768), and the data are cut.
    action exchange_ports() {
        bit<16> port = hdr.udp.source;
        hdr.udp.source = hdr.udp.destination;
        hdr.udp.destination = port;
        hdr.udp.length = hdr.ipv4.length - MESSAGE_HEADER;
        hdr.udp.checksum = 0;
    }

    apply {
        if (standard.instance_type == EGRESS_CLONE) {
            make_feedback();
            if (hdr.udp.isValid()) {
                exchange_ports();
            }
            return;
        }
        leave();
#ifdef TRACE
        if (hdr.trace.isValid()) {
            hdr.trace.admitted = meta.admission;
            hdr.trace.left = meta.departure;
            hdr.trace.band = meta.band;
            hdr.trace.waiting = meta.waiting;
        }
#endif
        // A message says what its own switch knows; data are never CE here.
        if (hdr.telemetry.isValid() && hdr.telemetry.hops < MOST_HOPS && hdr.ipv4.ecn != CE) {
            add_hop();
        }
        // Of a fragment only the first says whose it is.
        if (hdr.ipv4.ecn != NOT_ECT && hdr.ipv4.ecn != CE && hdr.ipv4.offset == 0 && meta.waiting > meta.limit) {
            clone_preserving_field_list(CloneType.E2E, FIRST_SESSION + (bit<32>)standard.ingress_port, 1);
        }
    }
}

control Compute(inout headers hdr, inout metadata meta) {
    apply { SUMS(update_checksum) }
}

control Deparse(packet_out packet, in headers hdr) {
    apply {
        packet.emit(hdr.ethernet);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.telemetry);
        packet.emit(hdr.hops);
        packet.emit(hdr.options);
        packet.emit(hdr.udp);
#ifdef TRACE
        packet.emit(hdr.trace);
#endif
    }
}

V1Switch(Parse(), Verify(), Enter(), Leave(), Compute(), Deparse()) main;
