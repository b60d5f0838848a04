//! Topologies other than the dumbbell.

use crate::scenarios::{MS, bottleneck, bulk, cbr, tcp};
use aqm_sim::report::{Monitor, Report, RunError};
use aqm_sim::scenario::inputs::Inputs;
use aqm_sim::scenario::topology::{LinkQueue, TopologyLink};
use aqm_sim::scenario::wire::{Impairments, Loss};
use aqm_sim::scenario::{Capacity, Scenario, Tcp, Topology};
use std::collections::BTreeMap;

const MBIT: u64 = 1_000_000;

fn link(from: &str, to: &str, rate_mbit: u64, delay_ms: u64) -> TopologyLink {
    TopologyLink {
        from: from.to_owned(),
        to: to.to_owned(),
        rate_bps: Some(rate_mbit * MBIT),
        delay_ns: delay_ms * MS,
        queue: LinkQueue::Plain,
        name: None,
        medium: None,
        kind: None,
        wire: Impairments::default(),
    }
}

fn tested(link: TopologyLink) -> TopologyLink {
    TopologyLink { queue: LinkQueue::UnderTest, ..link }
}

/// On a medium, of a kind.
fn on(medium: &str, kind: &str, link: TopologyLink) -> TopologyLink {
    TopologyLink { medium: Some(medium.to_owned()), kind: Some(kind.to_owned()), ..tested(link) }
}

/// Both ways, the queue under test in front of the first.
fn both(from: &str, to: &str, rate_mbit: u64, delay_ms: u64) -> [TopologyLink; 2] {
    [tested(link(from, to, rate_mbit, delay_ms)), link(to, from, rate_mbit, delay_ms)]
}

fn scenario(aqm: &str, links: Vec<TopologyLink>, measured: usize) -> Scenario {
    Scenario {
        capacity: Capacity::RateBps(links[measured].rate_bps.unwrap()),
        topology: Some(Topology { links, measured, switches: BTreeMap::new() }),
        flows: Vec::new(),
        ..bottleneck(aqm)
    }
}

fn add(scenario: &mut Scenario, mut group: aqm_sim::scenario::FlowGroup, from: &[&str], to: &[&str]) {
    group.from = from.iter().map(|&name| name.to_owned()).collect();
    group.to = to.iter().map(|&name| name.to_owned()).collect();
    scenario.flows.push(group);
}

fn newreno() -> Tcp {
    tcp("newreno")
}

fn run(scenario: &Scenario) -> Report {
    aqm_sim::run(scenario, &Inputs::default(), 1, &Monitor::default()).unwrap()
}

#[test]
fn a_flow_over_two_bottlenecks_gets_less_than_those_over_one() {
    let mut links: Vec<_> = both("a", "b", 10, 5).into();
    links.extend(both("b", "c", 10, 5));
    let mut parking_lot = scenario("codel", links, 0);
    add(&mut parking_lot, bulk("long", 1, newreno()), &["a"], &["c"]);
    add(&mut parking_lot, bulk("first", 1, newreno()), &["a"], &["b"]);
    add(&mut parking_lot, bulk("second", 1, newreno()), &["b"], &["c"]);
    let report = run(&parking_lot);
    let goodput = |group: &str| report.metrics[&format!("class.{group}.goodput_mbit")];
    assert!(goodput("long") < 0.8 * goodput("first"), "{} {}", goodput("long"), goodput("first"));
    assert!(goodput("long") > 0.5);
    // Both queues are reported, and both links are full.
    assert_eq!(report.queues.len(), 2);
    assert!(goodput("long") + goodput("second") > 8.5);
}

#[test]
fn path_loss_counts_drops_of_every_queue_and_losses_of_every_link() {
    let mut links: Vec<_> = both("a", "b", 20, 5).into();
    links.extend(both("b", "c", 10, 5));
    let mut row = scenario("fifo limit 50p", links, 0);
    row.overhead_bytes = 0;
    add(&mut row, cbr("flood", 40 * MBIT, 1000), &["a"], &["c"]);
    // Half is dropped before the first link, half of the rest before the second. If three fifths are lost between
    // them, the second queue does not fill.
    for (loss, expected) in [(0.0, 0.75), (0.6, 0.8)] {
        row.loss = Loss::Random(loss);
        let report = run(&row);
        assert!((report.metrics["loss_ratio"] - 0.5).abs() < 0.001);
        let lost = report.metrics["path_loss_ratio"];
        assert!((lost - expected).abs() < 0.003, "{lost} instead of {expected}");
        assert_eq!(report.metrics["class.flood.path_loss_ratio"], lost);
    }
    row.capacity = Capacity::RateBps(100 * MBIT);
    row.topology.as_mut().unwrap().links[0].rate_bps = None;
    row.flows[0] = cbr("trickle", 5 * MBIT, 1000);
    (row.flows[0].from, row.flows[0].to) = (vec!["a".to_owned()], vec!["c".to_owned()]);
    let report = run(&row);
    // Nothing is queued: only the link loses packets.
    assert_eq!(report.metrics["loss_ratio"], 0.0);
    let lost = report.metrics["path_loss_ratio"];
    assert!((lost - 0.6).abs() < 0.01, "{lost}");
}

#[test]
fn lost_acknowledgments_do_not_count_as_path_loss() {
    let links = vec![link("a", "b", 10, 5), tested(link("b", "a", 10, 5))];
    let mut back = scenario("fifo limit 1000p", links, 1);
    back.loss = Loss::Random(0.3);
    add(&mut back, bulk("newreno", 1, newreno()), &["a"], &["b"]);
    let report = run(&back);
    assert_eq!(report.metrics["path_loss_ratio"], 0.0);
    assert!(report.metrics["goodput_mbit"] > 1.0);
}

#[test]
fn the_base_round_trip_is_that_of_the_links_unless_a_flow_has_a_longer_one() {
    let mut graph = scenario("fifo limit 1000p", both("a", "b", 10, 5).into(), 0);
    add(&mut graph, cbr("near", MBIT, 1000), &["a"], &["b"]);
    let mut far = cbr("far", MBIT, 1000);
    far.rtt_ns = Some(50 * MS);
    add(&mut graph, far, &["a"], &["b"]);
    let report = run(&graph);
    let rtts: Vec<f64> = report.flows.iter().map(|flow| flow.rtt_base_ms).collect();
    assert_eq!(rtts, [10.0, 50.0]);
    assert!(report.metrics["class.far.owd_mean_ms"] > 25.0);
    assert!(report.metrics["class.near.owd_mean_ms"] < 10.0);
    graph.flows[1].rtt_ns = Some(9 * MS);
    let refused = aqm_sim::run(&graph, &Inputs::default(), 1, &Monitor::default()).unwrap_err();
    assert!(
        matches!(&refused, RunError::Input(error) if error.to_string().contains("flows: 'far': rtt is 9ms: it must be 10ms at least")),
        "{refused}"
    );
}

#[test]
fn links_on_one_medium_share_its_time_packet_by_packet() {
    let air = |link| TopologyLink { medium: Some("air".to_owned()), ..tested(link) };
    let links = vec![air(link("ap", "station", 10, 1)), air(link("station", "ap", 10, 1))];
    let mut wireless = scenario("fifo limit 100p", links, 0);
    add(&mut wireless, cbr("down", 20 * MBIT, 1500), &["ap"], &["station"]);
    add(&mut wireless, cbr("up", 20 * MBIT, 1500), &["station"], &["ap"]);
    let report = run(&wireless);
    let rate = |group: &str| report.metrics[&format!("class.{group}.goodput_mbit")];
    assert!((rate("down") / rate("up") - 1.0).abs() < 0.01, "{} {}", rate("down"), rate("up"));
    assert!((rate("down") + rate("up") - 10.0 * 1472.0 / 1514.0).abs() < 0.1);
    // A flow alone has all of the time.
    wireless.flows.pop();
    assert!((run(&wireless).metrics["goodput_mbit"] - 10.0 * 1472.0 / 1514.0).abs() < 0.1);
}

#[test]
fn a_medium_that_is_busy_until_arrival_carries_a_packet_per_serialisation_and_propagation() {
    let csma = |link| on("csma", "turns until arrival", link);
    let mut shared =
        scenario("fifo limit 20p", vec![csma(link("a", "b", 10, 1)), csma(link("b", "a", 10, 1))], 0);
    shared.overhead_bytes = 0;
    add(&mut shared, cbr("there", 10 * MBIT, 1000), &["a"], &["b"]);
    add(&mut shared, cbr("again", 10 * MBIT, 1000), &["b"], &["a"]);
    let report = run(&shared);
    // 0.8 ms and 1 ms: 555.6 packets a second in both directions together, in 25 s.
    let sent: u64 = report.queues.iter().map(|queue| queue.departed).sum();
    assert!(sent.abs_diff(16_667) <= 40, "{sent} in 30 s");
    // Of 2500 packets a second that the flows send, 1944 are dropped.
    let lost = report.metrics["path_loss_ratio"];
    assert!((lost - 0.78).abs() < 0.01, "{lost}");
}

#[test]
fn a_medium_with_backoff_is_idle_while_a_port_waits() {
    let share = |flows: usize| {
        let csma = |link| on("csma", "backoff until arrival", link);
        let hosts = ["a", "b", "c"];
        let links = hosts.iter().flat_map(|host| [csma(link(host, "hub", 10, 1)), link("hub", host, 10, 1)]);
        let mut shared = scenario("fifo limit 20p", links.collect(), 0);
        shared.overhead_bytes = 0;
        for host in &hosts[..flows] {
            add(&mut shared, cbr(host, 10 * MBIT, 1000), &[host], &["hub"]);
        }
        let report = run(&shared);
        report.queues.iter().map(|queue| queue.departed).filter(|&sent| sent > 0).collect::<Vec<u64>>()
    };
    // A packet takes 1.8 ms. One host waits for itself: of 1, 3, 7 to 511 and then 1000 slots the sum of uniform numbers first
    // passes 1 ms by a time that lies between none and 1 ms; with three the first of theirs counts.
    let (one, three) = (share(1), share(3));
    let (alone, together) = (one[0], three.iter().sum::<u64>());
    assert!((11_500..15_500).contains(&alone), "{alone} in 30 s");
    assert!(alone < together && together < 16_667, "{alone} alone, {together} together");
    // Nobody has a turn, and yet each gets its third.
    assert!(three.iter().all(|&sent| sent.abs_diff(together / 3) < together / 30), "{three:?}");
}

#[test]
fn links_on_a_medium_agree_on_how_they_share_it() {
    let refused = |links| {
        let mut graph = scenario("fifo", links, 0);
        add(&mut graph, cbr("x", MBIT, 1000), &["a"], &["b"]);
        aqm_sim::run(&graph, &Inputs::default(), 1, &Monitor::default()).unwrap_err().to_string()
    };
    let there = || on("csma", "backoff", link("a", "b", 10, 1));
    for (back, problem) in [
        ("turns", "its kind 'turns' differs from 'backoff' of a link before it on medium 'csma'"),
        ("backoff until arrival", "its kind 'backoff until arrival' differs from 'backoff'"),
        ("rate", "'rate' is of a kind that is on no medium"),
        ("backof", "unknown link kind 'backof', did you mean 'backoff'?"),
        ("backoff rate 5mbit", "'backoff rate 5mbit' says what the link carries, and so does its rate"),
    ] {
        let found = refused(vec![there(), on("csma", back, link("b", "a", 10, 1))]);
        assert!(found.contains("topology: link 1 (b->a): ") && found.contains(problem), "{found}");
    }
    let plain = TopologyLink { queue: LinkQueue::Plain, ..there() };
    assert!(
        refused(vec![tested(link("a", "b", 10, 1)), plain])
            .contains("link 1 (a->b): 'backoff' needs a queue")
    );
    let recorded = TopologyLink { kind: Some("trace".to_owned()), ..tested(link("a", "b", 10, 1)) };
    assert!(refused(vec![recorded]).contains("'trace' names no recording, and the scenario has a rate"));
}

#[test]
fn both_directions_of_a_dumbbell_are_on_the_medium_of_its_kind() {
    let goodput = |kind: Option<&str>| {
        let mut dumbbell = bottleneck("fifo limit 100p");
        dumbbell.capacity = Capacity::RateBps(10 * MBIT);
        dumbbell.link = kind.map(str::to_owned);
        dumbbell.flows = vec![bulk("one", 1, newreno())];
        run(&dumbbell).metrics["goodput_mbit"]
    };
    // An acknowledgment of 66 bytes for every other packet of 1514 takes its share of the medium.
    let (line, medium) = (goodput(None), goodput(Some("turns")));
    let share = 2.0 * 1514.0 / (2.0 * 1514.0 + 66.0);
    assert!((medium / line - share).abs() < 0.005, "{line} {medium}");
}

#[test]
fn a_kind_says_the_rate_of_its_link() {
    let served = |kind: &str| {
        let mut links = both("a", "b", 10, 1);
        links[0].kind = Some(kind.to_owned());
        links[0].rate_bps = None;
        let before = [tested(link("src", "a", 10, 1)), link("a", "src", 10, 1)];
        let mut graph = scenario("fifo limit 20p", before.into_iter().chain(links).collect(), 0);
        add(&mut graph, cbr("x", 10 * MBIT, 1500), &["src"], &["b"]);
        run(&graph).metrics["goodput_mbit"]
    };
    for (kind, rate) in [("rate 5mbit", 5.0), ("turns rate 4mbit", 4.0), ("rate", 10.0)] {
        assert!((served(kind) - rate * 1472.0 / 1514.0).abs() < 0.1, "{kind}: {}", served(kind));
    }
    let mut measured = scenario("fifo limit 20p", both("a", "b", 10, 1).into(), 0);
    add(&mut measured, cbr("x", 10 * MBIT, 1500), &["a"], &["b"]);
    let first = &mut measured.topology.as_mut().unwrap().links[0];
    (first.kind, first.rate_bps) = (Some("rate 5mbit".to_owned()), None);
    let refused =
        aqm_sim::run(&measured, &Inputs::default(), 1, &Monitor::default()).unwrap_err().to_string();
    assert!(
        refused.contains("link 0 (a->b): its kind has a rate of 5mbit, but the bottleneck has 10mbit"),
        "{refused}"
    );
}

#[test]
fn a_thousand_hosts_around_a_switch_have_their_routes_at_once() {
    let mut links: Vec<_> = both("switch", "server", 100, 1).into();
    let names: Vec<String> = (0..1000).map(|number| format!("h{number}")).collect();
    for name in &names {
        links.extend([link(name, "switch", 1000, 1), link("switch", name, 1000, 1)]);
    }
    let mut star = scenario("fq_codel", links, 0);
    star.duration_ns = 500 * MS;
    star.warmup_ns = 100 * MS;
    let from: Vec<&str> = names.iter().map(String::as_str).collect();
    add(&mut star, cbr("all", MBIT / 10, 500), &from, &["server"]);
    star.flows[0].count = 1000;
    star.flows[0].start_ns = (0, 50 * MS);
    let report = run(&star);
    assert_eq!(report.flows.len(), 1000);
    assert!(report.metrics["utilization"] > 0.9);
}

#[test]
fn an_invalid_topology_is_refused_by_name() {
    let mut graph = scenario("fifo", both("a", "b", 10, 5).into(), 0);
    add(&mut graph, cbr("x", MBIT, 1000), &["a"], &["c"]);
    let problem = |scenario: &Scenario| {
        aqm_sim::run(scenario, &Inputs::default(), 1, &Monitor::default()).unwrap_err().to_string()
    };
    assert!(problem(&graph).contains("flows: 'x': to: unknown node 'c'; known are a, b"));
    graph.flows[0].to = vec!["a".to_owned()];
    assert!(problem(&graph).contains("begins and ends at 'a'"));
    graph.flows[0].to = Vec::new();
    assert!(problem(&graph).contains("flows: 'x': to: is missing"));
    graph.flows[0].to = vec!["phone".to_owned()];
    let dumbbell = problem(&Scenario { topology: None, ..graph.clone() });
    assert!(dumbbell.starts_with("flows: 'x': from: 'a' is no node: a dumbbell has none"), "{dumbbell}");
    graph.topology.as_mut().unwrap().measured = 1;
    assert!(problem(&graph).contains("no queue under test"));
}

#[test]
fn each_measured_port_has_metrics_and_those_of_the_first_have_no_prefix() {
    let mut links: Vec<_> = both("a", "b", 10, 5).into();
    links.extend(both("b", "c", 5, 5));
    links[2].name = Some("last".to_owned());
    let mut row = scenario("fifo limit 50p", links, 0);
    row.overhead_bytes = 0;
    row.measure = vec!["last".to_owned(), "a->b".to_owned()];
    add(&mut row, cbr("flood", 20 * MBIT, 1000), &["a"], &["c"]);
    let report = run(&row);
    let of = |name: &str| report.metrics[name];
    // Half is dropped at the first link, half of the rest at the second; both queues are always full.
    for (port, rate, wait_ms) in [("a->b", 10.0, 0.8), ("last", 5.0, 1.6)] {
        let of = |name: &str| of(&format!("port.{port}.{name}"));
        assert!((of("loss_ratio") - 0.5).abs() < 0.001);
        assert!((of("throughput_mbit") - rate).abs() < 0.01);
        assert!((of("utilization") - 1.0).abs() < 0.001);
        assert_eq!(of("queue_max_packets"), 50.0);
        // Each waits for the 49 or 50 packets in front of it.
        assert!((of("qdelay_mean_ms") - 49.5 * wait_ms).abs() < 0.6 * wait_ms, "{}", of("qdelay_mean_ms"));
        let series = |name: &str| report.series.columns[&format!("port.{port}.{name}")].len();
        assert_eq!(series("queue_packets"), report.series.time_s.len());
        assert!(report.histograms.contains_key(&format!("port.{port}.qdelay")));
    }
    for name in ["loss_ratio", "utilization", "queue_mean_packets", "qdelay_p99_ms", "drops_overflow"] {
        assert_eq!(of(name), of(&format!("port.last.{name}")), "{name}");
    }
    assert_eq!(report.series.columns["qdelay_ms"], report.series.columns["port.last.qdelay_ms"]);
    row.measure = vec!["a-b".to_owned()];
    let problem = aqm_sim::run(&row, &Inputs::default(), 1, &Monitor::default()).unwrap_err().to_string();
    assert!(problem.contains("no port is called 'a-b'") && problem.contains("a->b"), "{problem}");
}

#[test]
fn measuring_the_reverse_path_of_a_dumbbell_changes_nothing() {
    let mut plain = bottleneck("fifo limit 300p");
    plain.duration_ns = 8_000 * MS;
    plain.flows.push(bulk("newreno", 2, newreno()));
    let mut both = plain.clone();
    both.measure = vec!["bottleneck".to_owned(), "back".to_owned()];
    let (plain, both) = (run(&plain), run(&both));
    for (name, value) in plain.metrics.iter() {
        assert_eq!(both.metrics[name], *value, "{name}");
    }
    // Acknowledgments of at least 66 bytes for every two segments; they hardly wait.
    let acks = both.metrics["port.back.packets_arrived"] / both.metrics["port.bottleneck.packets_arrived"];
    assert!((0.4..1.0).contains(&acks), "{acks}");
    assert!(both.metrics["port.back.qdelay_mean_ms"] < 0.1);
    assert_eq!(both.metrics["port.back.loss_ratio"], 0.0);
}
