//! Rate-based senders in whole simulations.

use crate::scenarios::{MS, bottleneck, bulk, run, tcp};
use aqm_sim::rate_control::RateSender;
use aqm_sim::report::Report;
use aqm_sim::scenario::topology::{LinkQueue, Topology, TopologyLink};
use aqm_sim::scenario::wire::{Impairments, Loss};
use aqm_sim::scenario::{Capacity, FlowGroup, Scenario, Source, Transport};
use std::collections::BTreeMap;

/// `count` flows of a rate control that start at once.
fn rate_senders(name: &str, count: u32, control: &str) -> FlowGroup {
    FlowGroup {
        start_ns: (0, 0),
        transport: Transport::Rate(RateSender::parse(control).unwrap().spec()),
        ..bulk(name, count, tcp("cubic"))
    }
}

/// A bottleneck of 1 Gbit/s with a round trip of 40 us; access links have ten times that.
fn fast(aqm: &str, flows: Vec<FlowGroup>) -> Scenario {
    Scenario {
        capacity: Capacity::RateBps(1_000_000_000),
        rtt_ns: 40_000,
        duration_ns: 200 * MS,
        warmup_ns: 100 * MS,
        sample_ns: MS,
        flows,
        ..bottleneck(aqm)
    }
}

fn metric(report: &Report, name: &str) -> f64 {
    *report.metrics.get(name).unwrap_or_else(|| panic!("no {name}"))
}

#[test]
fn a_sender_alone_keeps_to_the_rate_of_its_line() {
    // Of 1514 bytes 42 are headers.
    let report = run(&fast("fifo limit 1000p", vec![rate_senders("one", 1, "dcqcn line 400mbit")]), 1);
    let goodput = metric(&report, "goodput_mbit");
    assert!((goodput - 400.0 * 1472.0 / 1514.0).abs() < 0.1, "{goodput}");
    assert_eq!(metric(&report, "path_loss_ratio"), 0.0);
}

#[test]
fn dcqcn_flows_share_a_link_without_loss_and_marks_move_them() {
    let flows = vec![rate_senders("dcqcn", 4, "dcqcn line 1gbit")];
    let report = run(&fast("ecn_ramp", flows), 1);
    assert!(metric(&report, "goodput_mbit") > 700.0, "{}", metric(&report, "goodput_mbit"));
    assert!(metric(&report, "jain_index") > 0.9, "{}", metric(&report, "jain_index"));
    assert!(metric(&report, "feedback_delivered") > 100.0);
    assert_eq!(metric(&report, "feedback_ignored"), 0.0);
    assert_eq!(metric(&report, "path_loss_ratio"), 0.0);
    let rates: f64 =
        (0..4).map(|flow| report.series.columns[&format!("flow.{flow}.rate_mbit")].last().unwrap()).sum();
    assert!((500.0..2500.0).contains(&rates), "{rates}");
}

#[test]
fn a_finite_flow_completes_when_its_last_byte_has_arrived() {
    let mut group = rate_senders("one", 1, "dcqcn line 100mbit packet 1028b");
    group.source = Source::Bulk { size_bytes: Some(10_000), stop_ns: None };
    let mut scenario = fast("fifo limit 1000p", vec![group]);
    scenario.overhead_bytes = 0;
    scenario.warmup_ns = 0;
    let report = run(&scenario, 1);
    // Ten packets of 1000 bytes of payload: the last is sent after nine times 82.24 us, takes 0.8 us on each of two access
    // links and 8.2 us at the bottleneck, and 20 us of propagation.
    let expected = 9.0 * 82.24 + 2.0 * 0.8224 + 8.224 + 20.0;
    let fct = metric(&report, "fct_mean_s") * 1e6;
    assert!((fct - expected).abs() < 0.1, "{fct} and {expected}");
    assert!(report.metrics["undelivered_ratio"] == 0.0);
}

/// A flow of packets of 1000 bytes of payload from a line of 100 Mbit/s into a bottleneck of 40 with room for one packet
/// beside the one that is being sent. Packets follow each other after 82.24 us; each takes 20.56 us on either access link and
/// 205.6 us at the bottleneck. Propagation is 20 us either way; an answer takes twice 1.28 us, and 12.8 us at the bottleneck.
fn small_queue(packets: u64, keys: &str) -> Report {
    let mut group = rate_senders("one", 1, &format!("dcqcn line 100mbit packet 1028b {keys}"));
    group.source = Source::Bulk { size_bytes: Some(packets * 1000), stop_ns: None };
    let mut scenario = fast("fifo limit 1p", vec![group]);
    scenario.capacity = Capacity::RateBps(40_000_000);
    (scenario.overhead_bytes, scenario.warmup_ns, scenario.duration_ns) = (0, 0, 10 * MS);
    run(&scenario, 1)
}

#[test]
fn a_packet_lost_in_the_middle_is_sent_again_after_a_nak() {
    // The third of four finds the queue full, and the fourth shows the gap: it is behind two others at the bottleneck.
    let report = small_queue(4, "");
    let gap_seen = 20.56 + 3.0 * 205.6 + 20.56 + 20.0;
    let reported = gap_seen + 20.0 + 2.0 * 1.28 + 12.8;
    // The third and the fourth again, 82.24 us apart: the bottleneck sends them one after the other.
    let expected = reported + 20.56 + 2.0 * 205.6 + 20.56 + 20.0;
    let fct = metric(&report, "fct_mean_s") * 1e6;
    assert!((fct - expected).abs() < 0.02, "{fct} and {expected}");
    let flow = &report.flows[0];
    assert_eq!((flow.retransmissions, flow.recoveries, flow.timeouts), (2, 1, 0));
    assert_eq!(metric(&report, "retransmissions"), 2.0);
    // Ideal: the first packet on the first link, four on the slowest, the last on the third.
    let ideal = 20.56 + 4.0 * 205.6 + 20.56 + 20.0;
    assert!((metric(&report, "slowdown_small_mean") - expected / ideal).abs() < 1e-4);
}

#[test]
fn a_lost_tail_is_sent_again_after_the_timeout() {
    // The third of three is lost, at 164.48 us: 1 ms later the sender, which knows nothing, sends all three again. The third
    // is lost again, but the first was answered with how far the receiver is: the next time only the third is sent.
    let report = small_queue(3, "timeout 1ms");
    let again = 2.0 * (164.48 + 1000.0);
    let expected = again + 20.56 + 205.6 + 20.56 + 20.0;
    let fct = metric(&report, "fct_mean_s") * 1e6;
    assert!((fct - expected).abs() < 0.02, "{fct} and {expected}");
    let flow = &report.flows[0];
    assert_eq!((flow.retransmissions, flow.recoveries, flow.timeouts), (4, 0, 2));
}

#[test]
fn without_recovery_a_flow_that_loses_a_packet_does_not_complete() {
    let report = small_queue(4, "recovery none");
    assert_eq!((metric(&report, "completed_flows"), metric(&report, "retransmissions")), (0.0, 0.0));
}

#[test]
fn finite_flows_of_every_rate_control_complete_over_a_link_that_loses_packets() {
    for control in ["dcqcn", "qcn"] {
        let mut group = rate_senders("all", 3, control);
        group.source = Source::Bulk { size_bytes: Some(300_000), stop_ns: None };
        let mut scenario = fast("ecn_ramp", vec![group]);
        (scenario.loss, scenario.warmup_ns) = (Loss::Random(0.02), 0);
        let report = run(&scenario, 1);
        assert_eq!(metric(&report, "completed_flows"), 3.0, "{control}");
        assert!(report.flows.iter().all(|flow| flow.retransmissions > 0 && flow.slowdown > 1.0), "{control}");
    }
}

#[test]
fn a_flow_without_end_that_recovers_counts_what_arrives_in_order() {
    // Of 1514 bytes 1472 are payload.
    let share = |keys: &str| {
        let flows = vec![rate_senders("one", 1, &format!("dcqcn line 500mbit {keys}"))];
        let report = run(&Scenario { loss: Loss::Random(0.01), ..fast("fifo limit 1000p", flows) }, 1);
        let lost = 1.0 - metric(&report, "goodput_mbit") / (500.0 * 1472.0 / 1514.0);
        lost / metric(&report, "path_loss_ratio")
    };
    // Packets are 24.2 us apart. The one behind the gap arrives 58.7 us after the lost one was sent (14.5 us on links, 20 of
    // propagation), its NAK 20.6 us later: by then three more are sent, and all four are sent again.
    assert!((share("recovery none") - 1.0).abs() < 0.1);
    let cost = share("recovery gobackn");
    assert!((cost - 4.0).abs() < 0.2, "{cost}");
}

#[test]
fn notifications_and_answers_can_be_lost_on_links() {
    let plain = |from: &str, to: &str, loss: f64| TopologyLink {
        from: from.to_owned(),
        to: to.to_owned(),
        rate_bps: None,
        delay_ns: 5_000,
        queue: LinkQueue::Plain,
        name: None,
        medium: None,
        kind: None,
        wire: Impairments { loss: Loss::Random(loss), ..Impairments::default() },
    };
    let mut group = rate_senders("all", 4, "dcqcn timeout 1ms");
    group.source = Source::Bulk { size_bytes: Some(1_000_000), stop_ns: None };
    (group.from, group.to) = (vec!["a".to_owned(), "b".to_owned()], vec!["r".to_owned()]);
    let mut links =
        vec![TopologyLink { queue: LinkQueue::UnderTest, ..plain("s", "r", 0.0) }, plain("r", "s", 0.5)];
    for host in ["a", "b"] {
        links.extend([plain(host, "s", 0.0), plain("s", host, 0.0)]);
    }
    let mut scenario = fast("ecn_ramp", vec![group]);
    scenario.topology = Some(Topology { links, measured: 0, switches: BTreeMap::new() });
    scenario.warmup_ns = 0;
    let report = run(&scenario, 1);
    let [sent, delivered, lost] =
        ["feedback_sent", "feedback_delivered", "feedback_lost"].map(|name| metric(&report, name));
    assert!(sent > 50.0 && (0.3..0.7).contains(&(lost / sent)), "{lost} of {sent}");
    assert_eq!(sent, delivered + lost);
    // An acknowledgment that is lost is given again for what comes again.
    assert_eq!(metric(&report, "completed_flows"), 4.0);
    assert!(report.flows.iter().any(|flow| flow.timeouts > 0));
}

#[test]
fn senders_of_one_host_take_turns_at_its_port() {
    // Two long flows at line rate, and ten packets that start later from the same host: each third packet is theirs.
    let link = |from: &str, to: &str, queue: LinkQueue| TopologyLink {
        from: from.to_owned(),
        to: to.to_owned(),
        rate_bps: None,
        delay_ns: 10_000,
        queue,
        name: None,
        medium: None,
        kind: None,
        wire: Impairments::default(),
    };
    let links = vec![link("a", "r", LinkQueue::UnderTest), link("r", "a", LinkQueue::Plain)];
    let between =
        |group: FlowGroup| FlowGroup { from: vec!["a".to_owned()], to: vec!["r".to_owned()], ..group };
    let mut short = between(rate_senders("short", 1, "dcqcn packet 1028b"));
    short.source = Source::Bulk { size_bytes: Some(10_000), stop_ns: None };
    short.start_ns = (10 * MS, 10 * MS);
    let long = between(rate_senders("long", 2, "dcqcn packet 1028b"));
    let mut scenario = fast("fifo limit 1000p", vec![long, short]);
    scenario.topology = Some(Topology { links, measured: 0, switches: BTreeMap::new() });
    (scenario.overhead_bytes, scenario.warmup_ns, scenario.duration_ns) = (0, 0, 20 * MS);
    let report = run(&scenario, 1);
    // A packet takes 8.224 us; of thirty that are sent meanwhile ten are its own.
    let fct = metric(&report, "class.short.fct_mean_s") * 1e6;
    assert!((fct - (30.0 * 8.224 + 10.0)).abs() < 2.1 * 8.224, "{fct}");
    assert!(metric(&report, "queue_max_packets") <= 1.0);
    assert!(metric(&report, "utilization") > 0.999);
    let shares: Vec<f64> = report.flows[..2].iter().map(|flow| flow.goodput_mbit).collect();
    assert!((shares[0] / shares[1] - 1.0).abs() < 0.01, "{shares:?}");
}

/// The queue in bytes at the fixed point of DCQCN's fluid model (Zhu et al., SIGCOMM 2015, section 5.1, equations 5 to 9, with
/// all derivatives zero) for `flows` at 40 Gbit/s with the paper's parameters, but for the largest marking probability.
fn fluid_queue(flows: f64, kmin: f64, kmax: f64, pmax: f64) -> f64 {
    const PACKET_BITS: f64 = 1514.0 * 8.0;
    let rate = 40e9 / flows / PACKET_BITS;
    let (tau, tau_alpha, timer, stages) = (50e-6, 55e-6, 55e-6, 5.0);
    let (counter, additive) = (10e6 / 1514.0, 40e6 / PACKET_BITS);
    let excess = |p: f64| {
        let q = 1.0 - p;
        let marked = 1.0 - q.powf(tau * rate);
        let alpha = 1.0 - q.powf(tau_alpha * rate);
        let by_bytes = p / (q.powf(-counter) - 1.0);
        let by_timer = p / (q.powf(-timer * rate) - 1.0);
        let rises = q.powf(stages * counter) * by_bytes + q.powf(stages * timer * rate) * by_timer;
        marked * marked * alpha - (by_bytes + by_timer) * rises * tau * tau * additive * rate
    };
    let (mut low, mut high) = (1e-9_f64, 0.5_f64);
    for _ in 0..100 {
        let middle = (low * high).sqrt();
        *(if excess(middle) > 0.0 { &mut high } else { &mut low }) = middle;
    }
    kmin + low / pmax * (kmax - kmin)
}

#[test]
fn dcqcn_settles_where_its_fluid_model_does() {
    // With the paper's 1 %, ten flows would settle at 183 kB: so near Kmax, where all is marked, that they swing. With 10 %
    // two settle at 7.3 kB and ten at 22.8 kB; rates are equal, which the model has as its only fixed point.
    for (flows, tolerance) in [(2, 0.15), (10, 0.25)] {
        let mut scenario = fast(
            "ecn_ramp kmin 5000b kmax 200000b pmax 0.1",
            vec![rate_senders("all", flows, "dcqcn line 40gbit")],
        );
        scenario.capacity = Capacity::RateBps(40_000_000_000);
        scenario.rtt_ns = 8_000;
        (scenario.duration_ns, scenario.warmup_ns) = (40 * MS, 20 * MS);
        scenario.flows[0].start_ns = (0, MS / 10);
        let report = run(&scenario, 1);
        let expected = fluid_queue(flows.into(), 5e3, 200e3, 0.1);
        let queue = metric(&report, "queue_mean_bytes");
        assert!((queue / expected - 1.0).abs() < tolerance, "{flows}: {queue} and {expected}");
        assert!(metric(&report, "jain_index") > 0.98);
        assert!(metric(&report, "utilization") > 0.99);
    }
}
