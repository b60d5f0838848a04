// PMQECN's congestion point (Liu et al. 2024, algorithm 1 and section "CP algorithm") for v1model.
//
// Packets are put into virtual queues, which are counters; a virtual queue is served in weighted rounds by mapping its packets
// to three strict-priority queues of the port; a virtual queue that is longer than its threshold returns a copy of the packet
// to its source, with ECN 11 and an INT header that says what arrives and what should.
// The control plane reads `arrivals` and `delay`, and writes `weight`, `threshold`, `rate` and `best_rate`.

#include <core.p4>
#include <v1model.p4>

const bit<16> ETHERTYPE_IPV4 = 0x0800;
const bit<8>  PROTOCOL_UDP = 17;
const bit<5>  OPTION_INT = 31;
const bit<2>  ECT_1 = 1;
const bit<2>  CE = 3;

// v1model: instance_type of a packet that was cloned from egress to egress.
const bit<32> EGRESS_CLONE = 2;
// Clone sessions 101, 102, ... send to ports 1, 2, ... (mirroring_add).
const bit<32> FIRST_SESSION = 100;

// Virtual queues of a port, and strict-priority queues of which each may use some; a larger number is served first.
const bit<32> QUEUES = 4;
const bit<32> PORTS = 8;
const bit<32> BANDS = 8;
const bit<3>  HIGHEST = 7;
const bit<3>  LOWEST = 5;

// ihl counts 15 words: no more than three hops fit into the options.
#define MOST_HOPS 3

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

header option_t {
    bit<1> copied;
    bit<2> group;
    bit<5> option;
    bit<8> length;
}

header int_count_t {
    bit<16> hops;
}

// What a hop says: 12 bytes, the newest first.
header int_hop_t {
    bit<32> queue;      // packets that wait in the port
    bit<32> rate;       // lambda_i, packets per second
    bit<32> best_rate;  // lambda_i*
}

header udp_t {
    bit<16> source;
    bit<16> destination;
    bit<16> length;
    bit<16> checksum;
}

struct headers {
    ethernet_t           ethernet;
    ipv4_t               ipv4;
    option_t             option;
    int_count_t          int_count;
    int_hop_t[MOST_HOPS] int_hops;
    udp_t                udp;
}

struct metadata {
    bit<32> queue;      // place of port and virtual queue in the registers
    bit<32> band;       // place of the strict-priority queue below that
    bit<16> left_hops;
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
        transition select(hdr.ipv4.ihl) {
            5: transport;
            default: option;
        }
    }
    state option {
        packet.extract(hdr.option);
        transition select(hdr.option.option) {
            OPTION_INT: int_count;
            default: accept;
        }
    }
    state int_count {
        packet.extract(hdr.int_count);
        meta.left_hops = hdr.int_count.hops;
        transition select(meta.left_hops) {
            0: transport;
            default: int_hop;
        }
    }
    state int_hop {
        packet.extract(hdr.int_hops.next);
        meta.left_hops = meta.left_hops - 1;
        transition select(meta.left_hops) {
            0: transport;
            default: int_hop;
        }
    }
    state transport {
        transition select(hdr.ipv4.protocol) {
            PROTOCOL_UDP: udp;
            default: accept;
        }
    }
    state udp {
        packet.extract(hdr.udp);
        transition accept;
    }
}

control Verify(inout headers hdr, inout metadata meta) {
    apply { }
}

// By port and virtual queue (place = port * QUEUES + queue). Ingress and egress share the first three.
register<bit<32>>(PORTS * QUEUES) waiting;          // the virtual queues: packets
register<bit<32>>(PORTS * QUEUES) weight;           // omega_i: packets that a band takes in a round
register<bit<32>>(PORTS * QUEUES * BANDS) used;     // packets that a band has taken, by place * BANDS + priority
register<bit<32>>(PORTS * QUEUES) arrivals;         // packets that came in, for lambda_i
register<bit<32>>(PORTS * QUEUES) threshold;        // K_i: packets
register<bit<32>>(PORTS * QUEUES) delay;            // W_i of the packet that left last: microseconds
register<bit<32>>(PORTS * QUEUES) rate;             // lambda_i
register<bit<32>>(PORTS * QUEUES) best_rate;        // lambda_i*

control Ingress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard) {
    action drop() {
        mark_to_drop(standard);
    }

    action forward(bit<48> destination, bit<9> port) {
        standard.egress_spec = port;
        hdr.ethernet.source = hdr.ethernet.destination;
        hdr.ethernet.destination = destination;
        hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
    }

    table route {
        key = { hdr.ipv4.destination: lpm; }
        actions = { forward; @defaultonly drop; }
        default_action = drop();
    }

    action set_queue(bit<32> number) {
        meta.queue = (bit<32>)standard.egress_spec * QUEUES + number;
    }

    // Classes by source and destination address.
    table classify {
        key = {
            hdr.ipv4.source: ternary;
            hdr.ipv4.destination: ternary;
        }
        actions = { set_queue; }
        default_action = set_queue(QUEUES - 1);
    }

    // Takes a place in a band if the virtual queue's weight leaves one (algorithm 1, figure 4).
    action take(bit<3> number) {
        bit<32> taken;
        meta.band = meta.queue * BANDS + (bit<32>)number;
        standard.priority = number;
        used.read(taken, meta.band);
        used.write(meta.band, taken + 1);
    }

    apply {
        if (!hdr.ipv4.isValid() || hdr.ipv4.ttl == 0) {
            drop();
            return;
        }
        if (!route.apply().hit) {
            return;
        }
        classify.apply();
        bit<32> count;
        bit<32> limit;
        bit<32> taken;
        @atomic {
            arrivals.read(count, meta.queue);
            arrivals.write(meta.queue, count + 1);
            waiting.read(count, meta.queue);
            waiting.write(meta.queue, count + 1);
            weight.read(limit, meta.queue);
            used.read(taken, meta.queue * BANDS + (bit<32>)HIGHEST);
            if (taken < limit) {
                take(HIGHEST);
            } else {
                used.read(taken, meta.queue * BANDS + (bit<32>)HIGHEST - 1);
                if (taken < limit) {
                    take(HIGHEST - 1);
                } else {
                    take(LOWEST);
                }
            }
        }
    }
}

control Egress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard) {
    // The copy becomes a message to the source: ECN 11, addresses exchanged, the rates in front.
    action make_feedback() {
        bit<48> hardware = hdr.ethernet.source;
        hdr.ethernet.source = hdr.ethernet.destination;
        hdr.ethernet.destination = hardware;
        bit<32> address = hdr.ipv4.source;
        hdr.ipv4.source = hdr.ipv4.destination;
        hdr.ipv4.destination = address;
        hdr.ipv4.ecn = CE;
    }

    action add_hop() {
        hdr.int_hops.push_front(1);
        hdr.int_hops[0].setValid();
        hdr.int_hops[0].queue = (bit<32>)standard.deq_qdepth;
        rate.read(hdr.int_hops[0].rate, meta.queue);
        best_rate.read(hdr.int_hops[0].best_rate, meta.queue);
        hdr.int_count.hops = hdr.int_count.hops + 1;
        hdr.option.length = hdr.option.length + 12;
        hdr.ipv4.ihl = hdr.ipv4.ihl + 3;
        hdr.ipv4.length = hdr.ipv4.length + 12;
    }

    apply {
        if (standard.instance_type == EGRESS_CLONE) {
            make_feedback();
            return;
        }
        bit<32> length;
        bit<32> limit;
        bit<32> taken;
        bit<32> below = 0;
        @atomic {
            // v1model tells a program nothing of packets that its queues drop. What they have added to the counters is
            // taken away when the port is empty behind this packet, for then all its virtual queues are.
            waiting.read(length, meta.queue);
            length = standard.deq_qdepth == 0 ? 0 : length - 1;
            waiting.write(meta.queue, length);
            // A band takes packets again when all lower bands of the virtual queue are empty: that ends a round.
            if (standard.priority != LOWEST) {
                used.read(below, meta.queue * BANDS + (bit<32>)standard.priority - 1);
            }
            if (below == 0) {
                used.read(taken, meta.band);
                taken = (standard.deq_qdepth == 0 || taken == 0) ? 0 : taken - 1;
                used.write(meta.band, taken);
            }
        }
        delay.write(meta.queue, (bit<32>)standard.deq_timedelta);
        if (hdr.int_count.isValid() && hdr.int_count.hops < MOST_HOPS) {
            add_hop();
        }
        threshold.read(limit, meta.queue);
        if (hdr.ipv4.isValid() && hdr.ipv4.ecn == ECT_1 && length > limit) {
            clone(CloneType.E2E, FIRST_SESSION + (bit<32>)standard.ingress_port);
        }
    }
}

#define FIXED hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.dscp, hdr.ipv4.ecn, hdr.ipv4.length, \
    hdr.ipv4.identification, hdr.ipv4.flags, hdr.ipv4.offset, hdr.ipv4.ttl, hdr.ipv4.protocol, \
    hdr.ipv4.source, hdr.ipv4.destination
#define OPTION hdr.option.copied, hdr.option.group, hdr.option.option, hdr.option.length, hdr.int_count.hops
#define HOP(n) hdr.int_hops[n].queue, hdr.int_hops[n].rate, hdr.int_hops[n].best_rate
#define CHECKSUM hdr.ipv4.checksum, HashAlgorithm.csum16

control Compute(inout headers hdr, inout metadata meta) {
    apply {
        // One for each length: fields of headers that are not there have no value.
        update_checksum(hdr.ipv4.isValid() && !hdr.option.isValid(), { FIXED }, CHECKSUM);
        update_checksum(hdr.int_count.isValid() && hdr.int_count.hops == 0, { FIXED, OPTION }, CHECKSUM);
        update_checksum(hdr.int_count.isValid() && hdr.int_count.hops == 1, { FIXED, OPTION, HOP(0) }, CHECKSUM);
        update_checksum(hdr.int_count.isValid() && hdr.int_count.hops == 2,
            { FIXED, OPTION, HOP(0), HOP(1) }, CHECKSUM);
        update_checksum(hdr.int_count.isValid() && hdr.int_count.hops == 3,
            { FIXED, OPTION, HOP(0), HOP(1), HOP(2) }, CHECKSUM);
    }
}

control Deparse(packet_out packet, in headers hdr) {
    apply {
        packet.emit(hdr.ethernet);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.option);
        packet.emit(hdr.int_count);
        packet.emit(hdr.int_hops);
        packet.emit(hdr.udp);
    }
}

V1Switch(Parse(), Verify(), Ingress(), Egress(), Compute(), Deparse()) main;
