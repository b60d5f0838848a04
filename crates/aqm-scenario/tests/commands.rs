//! What tc's commands mean here, word by word: the values are those that the manual pages give a bare number, and that the
//! kernel's selftests (tools/testing/selftests/tc-testing) expect to read back.

use aqm_scenario::tc::translate;

/// What follows `tc qdisc add dev eth0 root`, and the discipline in the laboratory's notation.
const TRANSLATED: &[(&str, &str)] = &[
    // tc-fq_codel(8): packets, bytes and microseconds.
    ("fq_codel", "fq_codel:linux"),
    ("fq_codel limit 1000", "fq_codel:linux limit 1000p"),
    ("fq_codel limit 0x3e8", "fq_codel:linux limit 1000p"),
    ("fq_codel memory_limit 100000", "fq_codel:linux memory_limit 100000b"),
    ("fq_codel target 2000", "fq_codel:linux target 2ms"),
    ("fq_codel interval 5000", "fq_codel:linux interval 5ms"),
    ("fq_codel quantum 9000", "fq_codel:linux quantum 9000b"),
    ("fq_codel noecn", "fq_codel:linux noecn"),
    ("fq_codel ce_threshold 1024000", "fq_codel:linux ce_threshold 1024ms"),
    // tc-fq_codel(8): ECT(1) alone.
    (
        "fq_codel ce_threshold 1ms ce_threshold_selector 0x01/0x03",
        "fq_codel:linux ce_threshold 1ms ce_threshold_selector 1 ce_threshold_mask 3",
    ),
    ("fq_codel drop_batch 100", "fq_codel:linux drop_batch 100"),
    ("fq_codel limit 1000 flows 256 drop_batch 100", "fq_codel:linux limit 1000p flows 256 drop_batch 100"),
    ("fq_codel limit 100 limit 1000", "fq_codel:linux limit 1000p"),
    // tc-codel(8).
    ("codel limit 1500", "codel:linux limit 1500p"),
    ("codel target 100ms", "codel:linux target 100ms"),
    ("codel interval 20ms", "codel:linux interval 20ms"),
    ("codel ecn", "codel:linux ecn"),
    ("codel noecn", "codel:linux noecn"),
    ("codel ce_threshold 20ms", "codel:linux ce_threshold 20ms"),
    // tc-pie(8): sixteenths.
    ("pie limit 1", "pie:linux limit 1p"),
    ("pie bytemode ecn", "pie:linux ecn bytemode"),
    ("pie nobytemode noecn", "pie:linux noecn nobytemode"),
    ("pie dq_rate_estimator", "pie:linux dq_rate_estimator"),
    ("pie no_dq_rate_estimator", "pie:linux nodq_rate_estimator"),
    ("fq_pie flows 65536", "fq_pie:linux flows 65536"),
    ("fq_pie ecn_prob 10 no_dq_rate_estimator", "fq_pie:linux ecn_prob 10% nodq_rate_estimator"),
    // tc-red(8): bytes, and 10 Mbit/s unless given; what follows from limit and burst the preset derives as tc does.
    (
        "red limit 60KB min 15KB max 45KB burst 20 avpkt 1000 bandwidth 10mbit probability 0.1",
        "red:linux limit 60kb min 15kb max 45kb probability 0.1 burst 20 avpkt 1000b bandwidth 10mbit",
    ),
    ("red limit 1M avpkt 1500 ecn harddrop", "red:linux limit 1mb ecn harddrop avpkt 1500b bandwidth 10mbit"),
    (
        "choke limit 1000 bandwidth 10000 burst 100 ecn",
        "choke:linux limit 1000p burst 100 ecn bandwidth 10kbit",
    ),
    // tc-sfb(8): milliseconds.
    ("sfb limit 100 max 100 target 20", "sfb:linux limit 100p target 20 max 100"),
    ("sfb increment 0.1 decrement 1e-5", "sfb:linux increment 0.1 decrement 0.00001"),
    ("sfb penalty_rate 4000 penalty_burst 64", "sfb:linux penalty_rate 4000 penalty_burst 64"),
    ("sfb rehash 100000 db 10", "sfb:linux rehash 100s db 10ms"),
    ("sfb rehash 100", "sfb:linux rehash 100ms"),
    // tc-sfq(8): seconds.
    ("sfq limit 8 perturb 10", "sfq:linux limit 8p perturb 10s"),
    (
        "sfq quantum 9000 divisor 512 flows 20 depth 64",
        "sfq:linux depth 64 flows 20 divisor 512 quantum 9000b",
    ),
    ("sfq headdrop", "sfq:linux headdrop"),
    // tc-sfq(8), the example: RED in each queue.
    (
        "sfq limit 3000 headdrop flows 512 divisor 16384 redflowlimit 100000 min 8000 max 60000 probability 0.20 ecn",
        "sfq:linux limit 3000p flows 512 divisor 16384 headdrop redflowlimit 100000b min 8000b max 60000b probability 0.2 ecn",
    ),
    // tc-cake(8): bit/s, and keywords that add up.
    ("cake", "cake:linux"),
    ("cake unlimited", "cake:linux"),
    ("cake bandwidth 9mbit unlimited", "cake:linux"),
    ("cake bandwidth 1000", "cake:linux bandwidth 1kbit"),
    ("cake bandwidth 2mbps", "cake:linux bandwidth 16mbit"),
    ("cake autorate-ingress", "cake:linux autorate_ingress"),
    ("cake rtt 200", "cake:linux rtt 200us"),
    ("cake diffserv", "cake:linux tins diffserv4"),
    ("cake conservative ingress", "cake:linux direction ingress link_layer conservative"),
    ("cake egress fwmark 0xff", "cake:linux direction egress fwmark 255"),
    (
        "cake dual-srchost ack-filter besteffort",
        "cake:linux tins besteffort isolation dual-srchost acks ack-filter",
    ),
    ("cake memlimit 10000 ptm", "cake:linux memlimit 10000b cells ptm"),
    ("cake overhead 128 mpu 256", "cake:linux overhead 128b mpu 256b"),
    ("cake overhead -4 atm", "cake:linux overhead -4b cells atm"),
    ("cake raw overhead 0", "cake:linux link_layer raw"),
    ("cake bandwidth 20Mbit docsis regional", "cake:linux bandwidth 20mbit path regional link_layer docsis"),
    ("cake ethernet ether-vlan ether-vlan", "cake:linux overhead 46b mpu 84b"),
    ("cake ether-vlan", "cake:linux ether_vlan"),
    ("cake pppoe-ptm ether-vlan", "cake:linux link_layer pppoe-ptm ether_vlan"),
    ("cake pppoe-ptm ether-vlan ether-vlan", "cake:linux overhead 38b cells ptm"),
    ("cake pppoe-ptm conservative", "cake:linux overhead 48b cells atm"),
    ("cake ethernet overhead 38", "cake:linux overhead 38b mpu 84b"),
    (
        "cake besteffort bandwidth 10gibit metro",
        "cake:linux bandwidth 10737418240bit tins besteffort path metro",
    ),
    // tc-dualpi2(8).
    ("dualpi2 any_ect", "dualpi2:linux l4s any_ect"),
    ("dualpi2 l4s_ect no_split_gso", "dualpi2:linux l4s l4s_ect"),
    ("dualpi2 memlimit 20000000", "dualpi2:linux memlimit 20000000b"),
    ("dualpi2 typical_rtt 20ms max_rtt 200ms", "dualpi2:linux typical_rtt 20ms max_rtt 200ms"),
    ("dualpi2 max_rtt 300ms target 15ms", "dualpi2:linux max_rtt 300ms"),
    ("dualpi2 overflow drop_enqueue", "dualpi2:linux drop_at drop_enqueue overload overflow"),
    ("dualpi2 drop_on_overload drop_dequeue", "dualpi2:linux drop_at drop_dequeue overload drop_on_overload"),
    ("dualpi2 step_thresh 3p min_qlen_step 1", "dualpi2:linux step_thresh 3p min_qlen_step 1"),
    ("dualpi2 step_thresh 100", "dualpi2:linux step_thresh 100us"),
    ("dualpi2 classic_protection 0 alpha 0.16", "dualpi2:linux alpha 0.15625hz classic_protection 0%"),
    ("dualpi2 step_thresh 1ms coupling_factor 1", "dualpi2:linux coupling_factor 1 step_thresh 1ms"),
    // tc-pfifo(8): packets, or bytes.
    ("pfifo limit 100", "fifo:tail limit 100p"),
    ("bfifo limit 100k", "fifo:tail limit 100kb"),
    ("pfifo_head_drop limit 100", "fifo:head limit 100p"),
    ("pfifo_fast", "pfifo_fast:linux"),
    ("drr", "drr:linux"),
    // tc-fq(8).
    ("fq limit 3000 flow_limit 300", "fq:linux limit 3000p flow_limit 300p"),
    (
        "fq maxrate 10mbit nopacing refill_delay 40000 quantum 3028 weights 65536 32768 16384",
        "fq:linux quantum 3028b maxrate 10mbit nopacing refill_delay 40ms weights 65536,32768,16384",
    ),
    (
        "red limit 1M avpkt 1500 ecn nodrop adaptive",
        "red:linux limit 1mb ecn nodrop adaptive avpkt 1500b bandwidth 10mbit",
    ),
    // tc-ets(8): the examples. Bands without a quantum have the MTU, priorities without a band the last.
    (
        "ets bands 8 priomap 7 6 5 4 3 2 1 0",
        "ets:linux bands 8 quanta 1514b,1514b,1514b,1514b,1514b,1514b,1514b,1514b priomap 7,6,5,4,3,2,1,0,7,7,7,7,7,7,7,7",
    ),
    (
        "ets strict 8 priomap 7 6 5 4 3 2 1 0",
        "ets:linux bands 8 strict 8 priomap 7,6,5,4,3,2,1,0,7,7,7,7,7,7,7,7",
    ),
    (
        "ets strict 3 quanta 3500 3000 2500 priomap 0 1 1 1 2 3 4 5",
        "ets:linux bands 6 strict 3 quanta 3500b,3000b,2500b priomap 0,1,1,1,2,3,4,5,5,5,5,5,5,5,5,5",
    ),
    (
        "ets bands 8 strict 3 priomap 3 4 0 1 2 5 6 7",
        "ets:linux bands 8 strict 3 quanta 1514b,1514b,1514b,1514b,1514b priomap 3,4,0,1,2,5,6,7,7,7,7,7,7,7,7,7",
    ),
    // tc-prio(8): what the map leaves out has the band of best effort.
    ("prio bands 4", "prio:linux bands 4"),
    ("prio bands 4 priomap 1 2 3", "prio:linux bands 4 priomap 1,2,3,1,1,1,1,1,1,1,1,1,1,1,1,1"),
];

/// The same, and what the refusal says.
const REFUSED: &[(&str, &str)] = &[
    ("fq_codel ce_threshold 1ms ce_threshold_selector 0x01", "'0x01' is not VALUE/MASK, each from 0 to 0xff"),
    (
        "fq_codel ce_threshold 1ms ce_threshold_selector 1/256",
        "'1/256' is not VALUE/MASK, each from 0 to 0xff",
    ),
    ("sfq min 3000", "'min' needs 'redflowlimit'"),
    ("sfq ecn", "'ecn' needs 'redflowlimit'"),
    ("ets", "'bands', 'strict' or 'quanta' is missing"),
    ("ets bands 2 strict 2 quanta 1514", "bands 2 is less than 2 strict ones and 1 quanta"),
    ("ets bands 17", "bands 17: allowed are 16"),
    ("ets quanta 0", "tc refuses a quantum of 0"),
    ("fq_codel limit", "'limit' needs a value"),
    ("fq_codel limits 5", "did you mean 'limit'"),
    ("fq_codel limit 10k", "counts them here, without a unit"),
    ("fq_codel target 5m", "microseconds as a bare number"),
    ("fq_pie flows 65537", "allowed is 1 to 65536"),
    ("pie alpha 0.125", "'0.125' is not a whole number"),
    ("red limit 400000", "'avpkt' is missing"),
    ("red avpkt 1000", "'limit' is missing"),
    ("red limit 400000 avpkt 1000 qevent early_drop block 10", "goes to no filter"),
    ("choke bandwidth 10mbit", "'limit' is missing"),
    ("cake bandwidth 50%", "device's speed"),
    ("cake bandwidth 10M", "bps for bytes per second"),
    ("cake raw overhead 18", "give overhead for the IP packet"),
    ("qfq quantum 1", "it has no parameters"),
    ("etf delta 100 clockid CLOCK_TAI", "launch times"),
    ("hhf hh_limit 1024", "lru_red"),
    ("skbprio", "prio"),
    ("multiq", "rr"),
    ("noqueue", "fifo limit 1p"),
    // rate x latency + burst: 125000 x 0.4 + 4096.
    (
        "tbf rate 1mbit burst 32kbit latency 400ms",
        "--rate 1mbit, or cake bandwidth 1mbit, with fifo limit 54096b",
    ),
    (
        "netem delay 100ms loss 1% rate 5mbit limit 300",
        "delay of 100ms one way is a part of --rtt, --loss 1%, --rate 5mbit, fifo limit 300p",
    ),
    ("htb default 10", "--rate"),
    ("codell", "did you mean 'codel'"),
    ("s-pie", "tc has no qdisc 's-pie', the laboratory has"),
];

#[test]
fn every_word_has_tcs_meaning() {
    for (words, expected) in TRANSLATED {
        for verb in ["add", "replace"] {
            let found = translate(&format!("tc qdisc {verb} dev eth0 root {words}"));
            let found = found.unwrap_or_else(|error| panic!("{words}: {error}"));
            assert_eq!(found.spec.to_string(), *expected, "{words}");
        }
    }
}

#[test]
fn what_has_no_counterpart_is_refused_by_name_with_the_nearest() {
    for (words, expected) in REFUSED {
        match translate(&format!("tc qdisc add dev eth0 root {words}")) {
            Ok(found) => panic!("{words}: {}", found.spec),
            Err(error) => {
                assert!(error.to_string().contains(expected), "{words}: {error}");
                let name = words.split(' ').next().unwrap();
                assert!(
                    error.to_string().contains(name) && !error.to_string().contains('\n'),
                    "{words}: {error}"
                );
            }
        }
    }
}

#[test]
fn pies_gains_are_sixteenths() {
    let found = translate("tc qdisc add dev eth0 root pie alpha 2 beta 20").unwrap();
    assert_eq!([found.spec.params.number("alpha"), found.spec.params.number("beta")], [0.125, 1.25]);
    // Those of dualpi2 are in Hz, which tc cuts to 256ths: 40.96 and 819.2.
    let found = translate("tc qdisc add dev eth0 root dualpi2 alpha 0.16 beta 3.2").unwrap();
    assert_eq!(
        [found.spec.params.number("alpha"), found.spec.params.number("beta")],
        [40.0 / 256.0, 819.0 / 256.0]
    );
    // The kernel's own 41 and 819 are printed with six digits.
    let found = translate("qdisc dualpi2 1: root alpha 0.160156 beta 3.199219").unwrap();
    assert_eq!(
        [found.spec.params.number("alpha"), found.spec.params.number("beta")],
        [41.0 / 256.0, 819.0 / 256.0]
    );
}

#[test]
fn words_without_effect_are_accepted_and_named() {
    let found =
        translate("tc qdisc add dev eth0 root cake nat wash split-gso no-split-gso via-ethernet").unwrap();
    assert_eq!(found.spec.to_string(), "cake:linux");
    for word in ["nat", "wash", "split-gso", "no-split-gso", "via-ethernet"] {
        let named = found.notes.iter().any(|note| {
            note.split(" has no effect").next().is_some_and(|words| words.split(", ").any(|one| one == word))
        });
        assert!(named, "{word}: {:?}", found.notes);
    }
}

/// The texts that others wrote, where they are at hand.
#[test]
fn every_text_of_the_cases_is_translated_or_refused_by_name() {
    let table = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/cases/tc-table.md");
    let Ok(table) = std::fs::read_to_string(table) else {
        eprintln!("skipped: {table} is not here");
        return;
    };
    let texts: Vec<&str> =
        table.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
    assert!(texts.len() > 100, "{} texts", texts.len());
    for text in texts {
        match translate(&format!("tc qdisc add dev eth0 root {text}")) {
            Ok(found) => assert!(!found.spec.to_string().is_empty()),
            Err(error) => {
                assert!(error.to_string().contains(text.split(' ').next().unwrap()), "{text}: {error}");
            }
        }
    }
}

#[test]
fn bands_have_the_qdiscs_below_them() {
    for (root, expected) in [
        (
            "ets strict 1 quanta 3000 priomap 0 1",
            "ets:linux bands 2 strict 1 quanta 3000b priomap 0,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1",
        ),
        ("prio bands 2 priomap 1 0", "prio:linux bands 2 priomap 1,0,1,1,1,1,1,1,1,1,1,1,1,1,1,1"),
    ] {
        let text = format!(
            "tc qdisc add dev eth0 root handle 1: {root}; tc qdisc add dev eth0 parent 1:2 fq_codel limit 100"
        );
        let found = translate(&text).unwrap();
        let children = "child [fifo:tail],[fq_codel:linux limit 100p]";
        assert_eq!(found.spec.to_string().replace("] child [", "],["), format!("{expected} {children}"));
        assert!(
            found.notes.join("; ").contains("the band follows from a packet's DSCP"),
            "{:?}",
            found.notes
        );
    }
}
