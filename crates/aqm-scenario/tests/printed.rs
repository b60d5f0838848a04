//! What tc prints: lines with and without counters, its JSON, and trees of several qdiscs.

use aqm_scenario::tc::{is_tc, translate};

fn notation(text: &str) -> String {
    assert!(is_tc(text), "{text}");
    let found = translate(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    assert!(found.notes.iter().all(|note| !note.contains('\n')), "{:?}", found.notes);
    found.spec.to_string()
}

fn refusal(text: &str) -> String {
    match translate(text) {
        Ok(found) => panic!("{text}: {}", found.spec),
        Err(error) => {
            let line = error.to_string();
            assert!(!line.contains('\n'), "{line}");
            line
        }
    }
}

const STATISTICS: &str = "
 Sent 4294967 bytes 3028 pkt (dropped 12, overlimits 0 requeues 5)
 backlog 3028b 2p requeues 5
  maxpacket 1514 drop_overlimit 0 new_flow_count 3 ecn_mark 0
  new_flows_len 0 old_flows_len 1
";

#[test]
fn a_printed_line_is_what_the_kernel_has() {
    let line = "qdisc fq_codel 8001: dev eth0 root refcnt 2 limit 10240p flows 1024 quantum 1514 target 5ms interval 100ms memory_limit 32Mb ecn drop_batch 64";
    let expected = "fq_codel:linux limit 10240p memory_limit 32mb flows 1024 quantum 1514b drop_batch 64 target 5ms interval 100ms ecn";
    assert_eq!(notation(line), expected);
    assert_eq!(notation(&format!("{line} {STATISTICS}")), expected);
    assert_eq!(notation(&format!("$ tc -s -d qdisc show dev eth0\n{line}{STATISTICS}$ ")), expected);
    // Older versions print fractions.
    assert_eq!(notation(&line.replace("5ms interval 100ms", "5.0ms interval 100.0ms")), expected);
}

#[test]
fn a_flag_that_a_printed_line_leaves_out_is_off() {
    assert_eq!(notation("qdisc fq_codel 0: root refcnt 2 limit 1000p"), "fq_codel:linux limit 1000p noecn");
    assert_eq!(notation("tc qdisc add dev eth0 root fq_codel limit 1000"), "fq_codel:linux limit 1000p");
}

#[test]
fn each_qdisc_reads_what_tc_prints_for_it() {
    let lines = [
        (
            "codel 8002: dev eth0 root refcnt 2 limit 1000p target 5ms interval 100ms ecn",
            "codel:linux limit 1000p target 5ms interval 100ms ecn",
        ),
        (
            "codel 8002: root refcnt 2 limit 1000p target 999us interval 100ms",
            "codel:linux limit 1000p target 1ms interval 100ms",
        ),
        (
            "cake 8003: dev eth0 root refcnt 2 bandwidth 10Mbit diffserv3 triple-isolate nonat nowash no-ack-filter split-gso rtt 100ms raw overhead 0",
            "cake:linux bandwidth 10mbit tins diffserv3 isolation triple-isolate rtt 100ms acks no-ack-filter link_layer raw",
        ),
        (
            "cake 8003: root refcnt 2 bandwidth 9500Kbit besteffort dual-srchost nat wash ack-filter split-gso rtt 50ms noatm overhead 18 mpu 64 memlimit 1Mb",
            "cake:linux bandwidth 9500kbit tins besteffort isolation dual-srchost rtt 50ms acks ack-filter memlimit 1mb overhead 18b mpu 64b",
        ),
        (
            "cake 8003: root refcnt 2 bandwidth unlimited autorate-ingress diffserv4 flows nonat nowash no-ack-filter no-split-gso rtt 100ms ptm overhead 30",
            "cake:linux autorate_ingress tins diffserv4 isolation flows rtt 100ms acks no-ack-filter overhead 30b cells ptm",
        ),
        (
            "red 8004: root refcnt 2 limit 400000b min 30000b max 90000b ecn  ewma 5 probability 0.02 Scell_log 9 ",
            "red:linux limit 400000b min 30000b max 90000b probability 0.02 w 0.03125 ecn",
        ),
        (
            "sfb 8005: root refcnt 2 limit 1000 max 25 target 20\n  increment 0.00050 decrement 0.00005 penalty rate 10 burst 20 (600000ms 60000ms)",
            "sfb:linux limit 1000p target 20 max 25 increment 0.0005 decrement 0.00005 penalty_rate 10 penalty_burst 20 rehash 600s db 60s",
        ),
        (
            "sfq 8006: root refcnt 2 limit 127p quantum 1514b depth 127 flows 128/1024 divisor 1024 perturb 10sec ",
            "sfq:linux limit 127p depth 127 flows 128 divisor 1024 quantum 1514b perturb 10s",
        ),
        (
            "sfq 8006: root refcnt 2 limit 3000p quantum 1514b depth 127 headdrop divisor 16384 ewma 6 min 8000b max 60000b probability 0.2 ecn ",
            "sfq:linux limit 3000p depth 127 divisor 16384 quantum 1514b headdrop redflowlimit 60000b min 8000b max 60000b probability 0.2 w 0.015625 ecn",
        ),
        ("pfifo 8001: root refcnt 3 limit 1000p", "fifo:tail limit 1000p"),
        ("bfifo 8002: root refcnt 3 limit 1514000b", "fifo:tail limit 1514000b"),
        ("pfifo_head_drop 8003: root refcnt 3 limit 1000p", "fifo:head limit 1000p"),
        (
            "fq 8001: dev eth0 root refcnt 2 limit 10000p flow_limit 100p buckets 1024 orphan_mask 1023 bands 3 priomap 1 2 2 2 1 2 0 0 1 1 1 1 1 1 1 1 weights 589824 196608 65536 quantum 3028b initial_quantum 15140b low_rate_threshold 550Kbit refill_delay 40ms timer_slack 10us horizon 10s horizon_drop",
            "fq:linux limit 10000p flow_limit 100p quantum 3028b initial_quantum 15140b low_rate_threshold 550kbit refill_delay 40ms orphan_mask 1023 weights 589824,196608,65536",
        ),
        (
            "ets 1: root refcnt 2 bands 6 strict 3 quanta 3500 3000 2500 priomap 0 1 1 1 2 3 4 5 5 5 5 5 5 5 5 5 ",
            "ets:linux bands 6 strict 3 quanta 3500b,3000b,2500b priomap 0,1,1,1,2,3,4,5,5,5,5,5,5,5,5,5",
        ),
        (
            "prio 8007: root refcnt 2 bands 3 priomap 1 2 2 2 1 2 0 0 1 1 1 1 1 1 1 1",
            "prio:linux bands 3 priomap 1,2,2,2,1,2,0,0,1,1,1,1,1,1,1,1",
        ),
        (
            "pfifo_fast 8004: root refcnt 3 bands 3 priomap 1 2 2 2 1 2 0 0 1 1 1 1 1 1 1 1",
            "pfifo_fast:linux",
        ),
    ];
    for (line, expected) in lines {
        assert_eq!(notation(&format!("qdisc {line}")), expected);
    }
}

#[test]
fn what_a_line_without_details_leaves_open_is_said() {
    let notes = |text: &str| translate(text).unwrap().notes.join("; ");
    assert!(notes("qdisc red 1: root limit 400000b min 30000b max 90000b").contains("with -d only"));
    assert_eq!(notes("qdisc red 1: root limit 400000b min 30000b max 90000b ewma 5 probability 0.02"), "");
    assert_eq!(notes("tc qdisc add dev eth0 root red limit 400000 avpkt 1000"), "");
}

#[test]
fn json_says_the_same() {
    let pairs = [
        (
            r#"[{"kind":"fq_codel","handle":"8001:","dev":"eth0","root":true,"refcnt":2,"options":{"limit":10240,"flows":1024,"quantum":1514,"target":4999,"interval":99999,"memory_limit":33554432,"ecn":true,"drop_batch":64},"bytes":1,"packets":3,"drops":0}]"#,
            "fq_codel:linux limit 10240p memory_limit 32mb flows 1024 quantum 1514b drop_batch 64 target 5ms interval 100ms ecn",
        ),
        (
            r#"[{"kind":"cake","handle":"8002:","root":true,"refcnt":2,"options":{"bandwidth":1250000,"diffserv":"diffserv3","flowmode":"triple-isolate","nat":false,"wash":false,"ingress":false,"ack-filter":"disabled","split_gso":true,"rtt":100000,"raw":true,"overhead":0,"fwmark":"0"}}]"#,
            "cake:linux bandwidth 10mbit tins diffserv3 isolation triple-isolate rtt 100ms acks no-ack-filter link_layer raw",
        ),
        (
            r#"[{"kind":"cake","handle":"8002:","root":true,"options":{"bandwidth":"unlimited","diffserv":"besteffort","flowmode":"flows","nat":true,"wash":true,"ingress":false,"ack-filter":"aggressive","split_gso":false,"rtt":100000,"raw":false,"atm":"ptm","overhead":30}} , {}]"#,
            "cake:linux tins besteffort isolation flows rtt 100ms acks ack-filter-aggressive overhead 30b cells ptm",
        ),
        (r#"{"kind":"pfifo","handle":"1:","root":true,"options":{"limit":100}}"#, "fifo:tail limit 100p"),
        (
            r#"[{"kind":"fq_codel","root":true,"options":{"ecn":true,"ce_threshold":999,"ce_threshold_selector":1,"ce_threshold_mask":3}}]"#,
            "fq_codel:linux ecn ce_threshold 1ms ce_threshold_selector 1 ce_threshold_mask 3",
        ),
        // iproute2's q_dualpi2.c prints a step in packets under a key of its own.
        (
            r#"[{"kind":"dualpi2","root":true,"options":{"limit":10000,"step-thresh-pkts":3,"ecn-mask":"l4s-ect"}}]"#,
            "dualpi2:linux limit 10000p step_thresh 3p l4s l4s_ect",
        ),
        (
            r#"[{"kind":"dualpi2","root":true,"options":{"limit":10000,"step-thresh-us":1000,"ecn-mask":"l4s-ect","split-gso":null}}]"#,
            "dualpi2:linux limit 10000p step_thresh 1ms l4s l4s_ect",
        ),
    ];
    for (text, expected) in pairs {
        assert_eq!(notation(text), expected);
    }
    for wrong in ["[{", "{\"a\":1}", "[{\"kind\":5}]", "[{\"kind\":\"pie\",\"options\":{\"limit\":{}}}]"] {
        assert!(refusal(wrong).starts_with("tc: "), "{wrong}");
    }
}

const HOME: &str = "qdisc noqueue 0: dev lo root refcnt 2
qdisc cake 8001: dev pppoe-wan root refcnt 2 bandwidth 9Mbit besteffort triple-isolate nat nowash no-ack-filter split-gso rtt 100ms raw overhead 0
qdisc ingress ffff: dev pppoe-wan parent ffff:fff1 ----------------
qdisc cake 8002: dev ifb4wan root refcnt 2 bandwidth 95Mbit besteffort triple-isolate nat nowash no-ack-filter split-gso rtt 100ms raw overhead 0
";

#[test]
fn several_roots_are_listed_and_one_is_asked_for() {
    let error = refusal(HOME);
    assert!(
        error.contains("cake 8001: of pppoe-wan")
            && error.contains("cake 8002: of ifb4wan")
            && error.contains("'use pppoe-wan'"),
        "{error}"
    );
    assert!(notation(&format!("{HOME} use pppoe-wan")).contains("bandwidth 9mbit"));
    assert!(notation(&format!("{HOME}use 8002:")).contains("bandwidth 95mbit"));
    assert!(refusal(&format!("{HOME} use eth7")).contains("'eth7'"));
    // Newlines that a shell lost change nothing.
    let flat = HOME.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(notation(&format!("{flat} use 8001:")).contains("bandwidth 9mbit"));
    assert!(refusal("qdisc ingress ffff: dev eth0 parent ffff:fff1 ------").contains("ingress"));
}

#[test]
fn a_cards_queues_are_one_where_they_are_equal() {
    let queue = |number: usize| {
        format!(
            "qdisc fq_codel 0: dev eth0 parent :{number} limit 10240p flows 1024 quantum 1514 target 5ms interval 100ms memory_limit 32Mb ecn drop_batch 64\n"
        )
    };
    let text = format!("qdisc mq 0: dev eth0 root\n{}{}", queue(2), queue(1));
    assert!(notation(&text).starts_with("fq_codel:linux limit 10240p"));
    let different = format!("{text}qdisc pfifo 10: dev eth0 parent :3 limit 100p");
    let error = refusal(&different);
    assert!(error.contains("mq 0: of eth0") && error.contains("use :2"), "{error}");
    assert_eq!(notation(&format!("{different} use 10:")), "fifo:tail limit 100p");
    assert!(refusal("qdisc mq 0: dev eth0 root").contains("each queue of the card"));
    // A line alone, without its root.
    assert!(notation(&queue(1)).starts_with("fq_codel:linux"));
}

#[test]
fn what_advise_prints_comes_back() {
    let cake = "tc qdisc replace dev eth0 root cake bandwidth 9000kbit triple-isolate nat ethernet";
    assert_eq!(notation(cake), "cake:linux bandwidth 9mbit isolation triple-isolate link_layer ethernet");
    let both = "tc qdisc replace dev eth0 root handle 1: stab overhead 18 linklayer adsl htb default 10
tc class add dev eth0 parent 1: classid 1:10 htb rate 900kbit ceil 900kbit
tc qdisc add dev eth0 parent 1:10 fq_codel target 20ms
ip link add name ifb-aqmlab type ifb
ip link set dev ifb-aqmlab up
tc qdisc replace dev eth0 handle ffff: ingress
tc filter add dev eth0 parent ffff: protocol all matchall action mirred egress redirect dev ifb-aqmlab
tc qdisc replace dev ifb-aqmlab root handle 1: htb default 10
tc class add dev ifb-aqmlab parent 1: classid 1:10 htb rate 9500kbit ceil 9500kbit
tc qdisc add dev ifb-aqmlab parent 1:10 fq_codel target 5ms";
    let found = translate(&format!("{both} use eth0")).unwrap();
    assert_eq!(found.spec.to_string(), "fq_codel:linux target 20ms");
    let notes = found.notes.join("; ");
    assert!(notes.contains("--rate 900kbit") && notes.contains("stab overhead 18 linklayer adsl"), "{notes}");
    assert_eq!(notation(&format!("{both} use ifb-aqmlab")), "fq_codel:linux target 5ms");
    assert!(refusal(both).contains("ifb-aqmlab"));
}

#[test]
fn a_classful_tree_becomes_children_or_is_refused_by_its_handle() {
    let tree = "tc qdisc add dev eth0 root handle 1: drr; tc class add dev eth0 parent 1: classid 1:1 drr quantum 3000 && tc class add dev eth0 parent 1: classid 1:2 drr quantum 1500
        tc qdisc add dev eth0 parent 1:1 handle 10: fq_codel limit 100";
    let found = translate(tree).unwrap();
    assert_eq!(
        found.spec.to_string(),
        "drr:linux classes 2 child [fq_codel:linux limit 100p] child [fifo:tail] quantum 3000b,1500b"
    );
    assert!(found.notes.iter().any(|note| note.contains("class=")), "{:?}", found.notes);
    let several = "tc qdisc add dev eth0 root handle 1: htb default 30
        tc class add dev eth0 parent 1: classid 1:1 htb rate 10mbit
        tc class add dev eth0 parent 1:1 classid 1:10 htb rate 5mbit ceil 10mbit
        tc class add dev eth0 parent 1:1 classid 1:20 htb rate 5mbit ceil 10mbit
        tc qdisc add dev eth0 parent 1:10 fq_codel";
    let error = refusal(several);
    assert!(
        error.contains("htb 1: of eth0") && error.contains("1:10, 1:20") && error.contains("drr"),
        "{error}"
    );
    let delayed =
        "tc qdisc add dev eth0 root handle 1: netem delay 50ms; tc qdisc add dev eth0 parent 1:1 pie";
    assert_eq!(notation(delayed), "pie:linux");
}

#[test]
fn commands_are_carried_out_in_turn() {
    let text = "sudo tc qdisc del dev eth0 root 2>/dev/null || true
        sudo tc qdisc add dev eth0 root \\
            codel limit 100
        sudo tc qdisc change dev eth0 root codel target 10ms";
    assert_eq!(notation(text), "codel:linux limit 100p target 10ms");
    assert_eq!(notation(&format!("{text}; tc qdisc replace dev eth0 root pie")), "pie:linux");
    assert!(refusal("tc qdisc del dev eth0 root").contains("no qdisc"));
    assert_eq!(notation("/sbin/tc q add dev eth0 root pie"), "pie:linux");
}

#[test]
fn hostile_texts_end() {
    // A qdisc below itself, in each of its classes.
    let mut cycle = "qdisc htb 1: root\n".to_owned();
    (0..1000).for_each(|_| cycle += "qdisc mq 1: parent 1:1\n");
    refusal(&cycle);
    refusal(&"tc ".repeat(100_000));
    refusal(&"qdisc ".repeat(100_000));
    refusal(&"qdisc pie 1: root ".repeat(10_000));
    refusal(&"[".repeat(100_000));
    refusal(&format!("tc qdisc add dev eth0 root {}", "x".repeat(2_000_000)));
}
