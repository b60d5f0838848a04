//! Switches with flow control and shared memory, against numbers computed by hand.
//!
//! Links have 80 Mbit/s, 10 bytes a microsecond: a packet of 1000 bytes takes 100 us, a PAUSE frame 6.4 us. There is no
//! link-layer overhead. Propagation takes 50 us.

use crate::scenarios::{self, MS, SECOND, bottleneck, cbr};
use aqm_sim::rate_control::RateSender;
use aqm_sim::report::{Monitor, Report, RunError};
use aqm_sim::scenario::inputs::Inputs;
use aqm_sim::scenario::topology::{LinkQueue, TopologyLink};
use aqm_sim::scenario::wire::Impairments;
use aqm_sim::scenario::{Capacity, FlowGroup, Scenario, Source, Topology, Transport};
use aqm_sim::switch::options::{BufferOptions, PfcOptions, SwitchOptions};
use std::collections::BTreeMap;

const KBIT: u64 = 1_000;
const MBIT: u64 = 1_000_000;
const LINE: u64 = 80 * MBIT;
const DELAY: u64 = 50_000;
const PACKET: u32 = 1000;
/// Share of a datagram that is payload: 28 bytes are headers.
const PAYLOAD: f64 = 0.972;

fn link(from: &str, to: &str, rate_bps: u64) -> TopologyLink {
    TopologyLink {
        from: from.to_owned(),
        to: to.to_owned(),
        rate_bps: Some(rate_bps),
        delay_ns: DELAY,
        queue: LinkQueue::Plain,
        name: None,
        medium: None,
        kind: None,
        wire: Impairments::default(),
    }
}

/// Links in both directions, the first of them with `rate_bps`.
fn pair(from: &str, to: &str, rate_bps: u64) -> [TopologyLink; 2] {
    [link(from, to, rate_bps), link(to, from, LINE)]
}

/// A network whose first link is under test, without a limit that matters.
fn network(links: Vec<[TopologyLink; 2]>) -> Scenario {
    let mut links: Vec<TopologyLink> = links.into_iter().flatten().collect();
    links[0].queue = LinkQueue::UnderTest;
    Scenario {
        overhead_bytes: 0,
        duration_ns: SECOND,
        warmup_ns: 0,
        sample_ns: 10 * MS,
        capacity: Capacity::RateBps(links[0].rate_bps.unwrap()),
        topology: Some(Topology { links, measured: 0, switches: BTreeMap::new() }),
        flows: Vec::new(),
        ..bottleneck("rr classes 8 limit 100mb")
    }
}

fn flow(name: &str, from: &str, to: &str, rate_bps: u64, class: u16) -> FlowGroup {
    FlowGroup { from: vec![from.to_owned()], to: vec![to.to_owned()], class, ..cbr(name, rate_bps, PACKET) }
}

fn equip(scenario: &mut Scenario, switches: &[&str], options: &SwitchOptions) {
    let topology = scenario.topology.as_mut().unwrap();
    topology.switches = switches.iter().map(|name| ((*name).to_owned(), options.clone())).collect();
}

fn pfc(xoff_bytes: u64, headroom_bytes: Option<u64>) -> SwitchOptions {
    let xon_bytes = xoff_bytes - 2 * u64::from(PACKET);
    let pfc = PfcOptions { priorities: vec![0], xoff_bytes, xon_bytes, headroom_bytes, quanta: 65535 };
    SwitchOptions { pfc: Some(pfc), ..SwitchOptions::default() }
}

fn shared(size_bytes: u64, alpha: f64) -> SwitchOptions {
    let buffer = Some(BufferOptions { size_bytes, alpha, reserve_bytes: 0 });
    SwitchOptions { buffer, ..SwitchOptions::default() }
}

fn run(scenario: &Scenario) -> Report {
    scenarios::run(scenario, 1)
}

fn goodput(report: &Report, group: &str) -> f64 {
    report.metrics[&format!("class.{group}.goodput_mbit")]
}

/// Two hosts send at line rate through a switch to a third, whose link takes 10 ms for a packet: while a PAUSE is under
/// way, nothing leaves.
fn incast() -> Scenario {
    let mut scenario = network(vec![pair("s", "c", 800 * KBIT), pair("a", "s", LINE), pair("b", "s", LINE)]);
    scenario.duration_ns = 500 * MS;
    scenario.flows = vec![flow("a", "a", "c", LINE, 0), flow("b", "b", "c", LINE, 0)];
    scenario
}

#[test]
fn incast_with_the_headroom_that_is_needed_loses_nothing_and_with_a_byte_less_it_does() {
    // The eleventh packet of a host goes beyond XOFF: 1000 bytes of headroom. The PAUSE is at the host 6.4 + 50 us later.
    // Of the packets in flight, one arrives 100 us after the eleventh; the next began 50 us after it, before the PAUSE
    // came, and is finished: 3000 bytes.
    let mut scenario = incast();
    for (headroom, losses) in [(Some(3000), false), (Some(2999), true), (None, false)] {
        equip(&mut scenario, &["s"], &pfc(10_000, headroom));
        let report = run(&scenario);
        for host in ["a", "b"] {
            assert_eq!(
                report.metrics[&format!("port.{host}->s.p0.pfc_headroom_bytes")],
                3000.0,
                "{headroom:?}"
            );
            assert!(report.metrics[&format!("port.{host}->s.p0.paused_s")] > 0.4);
        }
        assert_eq!(report.metrics["pfc_headroom_bytes"], 3000.0);
        assert_eq!(report.metrics["pfc_losses"] > 0.0, losses, "{headroom:?}");
        assert_eq!(report.metrics["path_loss_ratio"] > 0.0, losses);
        // Two propagation delays, 64 bytes of PAUSE, three packets of 1500 bytes, and one byte for rounding.
        let sufficient = report.metrics["port.a->s.p0.pfc_headroom_limit_bytes"];
        assert_eq!(sufficient, headroom.unwrap_or(1000 + 64 + 4500 + 1) as f64);
    }
}

#[test]
fn the_same_incast_without_flow_control_drops() {
    let mut scenario = incast();
    equip(&mut scenario, &["s"], &shared(26_000, 8.0));
    let report = run(&scenario);
    // Of 500 ms at 160 Mbit/s, 10 000 packets, 50 are sent and no more than 26 wait; those in flight are not counted.
    let dropped = report.metrics["buffer_drops"];
    assert!((9_900.0..=9_950.0).contains(&dropped), "{dropped}");
    assert_eq!(report.metrics["drops_overflow"], dropped);
    assert_eq!(report.queues[0].dropped_overflow as f64, dropped);
    assert!(!report.metrics.contains_key("pause_frames"));
}

#[test]
fn a_pause_waits_for_the_packet_being_sent_but_not_for_the_queue() {
    // The reverse path to host a is full: its queue holds packets for 10 ms and more. At worst the PAUSE waits 100 us
    // for one, which lets one more packet come: 4000 bytes. Behind the queue it would be 100 packets.
    let mut scenario = incast();
    scenario.topology.as_mut().unwrap().links.extend(pair("d", "s", LINE));
    scenario.flows.extend([flow("d", "d", "a", LINE, 1), flow("e", "c", "a", LINE / 8, 1)]);
    equip(&mut scenario, &["s"], &pfc(10_000, None));
    let report = run(&scenario);
    let needed = report.metrics["port.a->s.p0.pfc_headroom_bytes"];
    assert!((3000.0..=4000.0).contains(&needed), "{needed}");
    assert_eq!(report.metrics["pfc_losses"], 0.0);
    let back = report.queues.iter().find(|queue| queue.link == "s->a").unwrap();
    assert!(back.backlog > 100, "{back:?}");
}

#[test]
fn the_computed_headroom_suffices_at_every_rate_and_distance() {
    for delay_us in [1, 7, 50, 333] {
        for (rate, back) in [(LINE, LINE), (LINE, LINE / 10), (10 * MBIT, LINE), (LINE * 10, LINE)] {
            let mut scenario = incast();
            for link in &mut scenario.topology.as_mut().unwrap().links[2..] {
                link.delay_ns = delay_us * 1000;
                link.rate_bps = Some(if link.to == "s" { rate } else { back });
            }
            scenario.flows.iter_mut().for_each(|flow| {
                flow.source = aqm_sim::scenario::Source::Cbr { rate_bps: 2 * rate };
            });
            scenario.flows.push(flow("back", "c", "a", 2 * back, 0));
            equip(&mut scenario, &["s"], &pfc(10_000, None));
            let report = run(&scenario);
            assert_eq!(report.metrics["pfc_losses"], 0.0, "{delay_us} us, {rate} bit/s, {back} bit/s back");
            assert!(report.metrics["pause_frames"] > 0.0);
        }
    }
}

#[test]
fn short_pauses_are_repeated_before_they_expire() {
    let mut scenario = incast();
    // 20 quanta at 80 Mbit/s are 128 us; the upstream port is paused for 10 ms and more at a time.
    let mut options = pfc(10_000, Some(3000));
    options.pfc.as_mut().unwrap().quanta = 20;
    equip(&mut scenario, &["s"], &options);
    let report = run(&scenario);
    assert_eq!(report.metrics["pfc_losses"], 0.0);
    let (frames, resumed) =
        (report.metrics["port.a->s.p0.pause_frames"], report.metrics["port.a->s.p0.resume_frames"]);
    // One every 64 us of nearly half a second.
    assert!((7_000.0..=7_813.0).contains(&frames), "{frames}");
    assert!(resumed < 50.0);
    assert!(report.metrics["port.a->s.p0.paused_s"] > 0.45);
}

/// A host sends to a slow and to a fast receiver over the same link between two switches.
fn head_of_line(class_of_victim: u16, options: &SwitchOptions) -> Report {
    let mut scenario = network(vec![
        pair("s2", "slow", 10 * MBIT),
        pair("s1", "s2", LINE),
        pair("a", "s1", LINE),
        pair("s2", "fast", LINE),
    ]);
    scenario.warmup_ns = 200 * MS;
    scenario.flows = vec![
        flow("congested", "a", "slow", 40 * MBIT, 0),
        flow("victim", "a", "fast", 40 * MBIT, class_of_victim),
    ];
    equip(&mut scenario, &["s1", "s2"], options);
    run(&scenario)
}

#[test]
fn a_victim_behind_paused_packets_gets_no_more_than_they_do() {
    // Packets of both flows come in turns over the paused link: for each one to the slow receiver, at 10 Mbit/s, there is
    // one to the fast one.
    let report = head_of_line(0, &pfc(20_000, None));
    for group in ["congested", "victim"] {
        let mbit = goodput(&report, group) / PAYLOAD;
        assert!((mbit - 10.0).abs() < 0.1, "{group}: {mbit}");
    }
    assert_eq!(report.metrics["path_loss_ratio"], 0.0);
    // The pause spreads upstream to the host.
    assert!(report.metrics["port.s1->s2.p0.paused_s"] > 0.5);
    assert!(report.metrics["port.a->s1.p0.paused_s"] > 0.5);
}

#[test]
fn a_flow_of_another_priority_is_no_victim() {
    let report = head_of_line(1, &pfc(20_000, None));
    assert!((goodput(&report, "victim") / PAYLOAD - 40.0).abs() < 0.1, "{}", goodput(&report, "victim"));
    assert!((goodput(&report, "congested") / PAYLOAD - 10.0).abs() < 0.1);
}

#[test]
fn without_flow_control_only_the_congested_flow_loses_packets() {
    let report = head_of_line(0, &shared(100_000, 1.0));
    assert!((goodput(&report, "victim") / PAYLOAD - 40.0).abs() < 0.1);
    assert!((goodput(&report, "congested") / PAYLOAD - 10.0).abs() < 0.1);
    assert_eq!(report.metrics["class.victim.path_loss_ratio"], 0.0);
    // The measured queue is that of the slow receiver: 30 of 40 Mbit/s are dropped there.
    assert!((report.metrics["class.congested.path_loss_ratio"] - 0.75).abs() < 0.01);
}

/// Switches in a ring, each with a host; flows from each host to the next but one. Against the ring it is farther.
fn ring(flows: usize) -> Scenario {
    let around = |number: usize| format!("s{}", number % 3);
    let mut links: Vec<_> = (0..3).map(|number| pair(&around(number), &around(number + 1), LINE)).collect();
    links.iter_mut().for_each(|pair| pair[1].delay_ns = 4 * DELAY);
    links.extend((0..3).map(|number| pair(&format!("h{number}"), &around(number), LINE)));
    let mut scenario = network(links);
    scenario.duration_ns = 3 * SECOND;
    scenario.flows = (0..flows)
        .map(|number| {
            let to = format!("h{}", (number + 2) % 3);
            flow(&format!("f{number}"), &format!("h{number}"), &to, LINE, 0)
        })
        .collect();
    equip(&mut scenario, &["s0", "s1", "s2"], &pfc(20_000, None));
    scenario
}

#[test]
fn a_circle_of_paused_buffers_is_a_deadlock_and_is_reported() {
    let report = run(&ring(3));
    assert!(report.metrics["pfc_deadlock_s"] < 1.0);
    assert_eq!(report.metrics["pfc_losses"], 0.0);
    let last = report.series.columns["goodput_mbit"].last().unwrap();
    assert_eq!(*last, 0.0, "nothing moves any more");
    let wanted = "s0->s1, s1->s2, s2->s0 wait for each other permanently";
    assert!(report.warnings.iter().any(|warning| warning.contains(wanted)), "{:?}", report.warnings);
}

#[test]
fn without_a_circle_of_flows_there_is_no_deadlock() {
    let report = run(&ring(2));
    assert!(!report.metrics.contains_key("pfc_deadlock_s"));
    assert!(report.metrics["pause_frames"] > 0.0, "the flows do meet");
    assert!(report.metrics["goodput_mbit"] > 70.0);
    assert!(report.warnings.is_empty());
}

#[test]
fn queues_in_a_shared_buffer_settle_at_the_dynamic_threshold() {
    // Two of three ports are busy; each queue holds alpha B / (1 + alpha n), give or take the packet that is coming.
    for (alpha, busy, share) in [(1.0, 1, 45.0), (1.0, 2, 30.0), (0.5, 2, 22.5), (2.0, 2, 36.0)] {
        let mut scenario = network(vec![
            pair("s", "c", 8 * MBIT),
            pair("s", "d", 8 * MBIT),
            pair("a", "s", LINE),
            pair("b", "s", LINE),
        ]);
        scenario.flows = vec![flow("c", "a", "c", LINE, 0), flow("d", "b", "d", LINE, 0)];
        scenario.flows.truncate(busy);
        scenario.warmup_ns = 500 * MS;
        equip(&mut scenario, &["s"], &shared(90_000, alpha));
        let report = run(&scenario);
        let mean = report.metrics["queue_mean_packets"];
        assert!((mean - share).abs() <= 1.0, "alpha {alpha}, {busy} busy: {mean}");
    }
}

#[test]
fn the_same_seed_gives_the_same_run_and_every_packet_is_accounted_for() {
    // Conservation is checked at the end of every run and in the middle, here while packets wait everywhere.
    let mut scenario = ring(3);
    equip(
        &mut scenario,
        &["s0", "s1"],
        &SwitchOptions { pfc: pfc(8_000, Some(1500)).pfc, ..shared(30_000, 0.5) },
    );
    // NaN differs from itself, but is written the same.
    assert!(format!("{:?}", run(&scenario)) == format!("{:?}", run(&scenario)));
}

#[test]
fn invalid_switch_options_are_refused_by_name() {
    let problem =
        |scenario: &Scenario| match aqm_sim::run(scenario, &Inputs::default(), 1, &Monitor::default()) {
            Err(RunError::Input(error)) => error.to_string(),
            other => panic!("{other:?}"),
        };
    let mut scenario = incast();
    equip(&mut scenario, &["x"], &pfc(10_000, None));
    assert_eq!(problem(&scenario), "topology: switch 'x': no link has a node of this name");
    equip(&mut scenario, &["s"], &pfc(10_000, None));
    // The path to host a differs from the path from it.
    let links = &mut scenario.topology.as_mut().unwrap().links;
    links[3].from = "x".to_owned();
    links.extend(pair("s", "x", LINE));
    assert_eq!(
        problem(&scenario),
        "topology: switch 's': xoff needs a link back for a->s, for its PAUSE frames"
    );
    scenario = incast();
    equip(&mut scenario, &["s"], &shared(0, 1.0));
    assert!(problem(&scenario).contains("switch 's': buffer is 0"));
    let mut reserve = shared(9_000, 1.0);
    reserve.buffer.as_mut().unwrap().reserve_bytes = 1000;
    equip(&mut scenario, &["s"], &reserve);
    assert!(
        problem(&scenario).contains("24 queues have more than the 9000b of the buffer"),
        "{}",
        problem(&scenario)
    );
}

#[test]
fn a_pause_holds_rate_based_senders_back_instead_of_filling_their_hosts() {
    // Each host would send 10 packets a millisecond for 500 ms; a packet in 20 ms gets through.
    let mut scenario = incast();
    for group in &mut scenario.flows {
        group.transport =
            Transport::Rate(RateSender::parse("dcqcn packet 1000b line 80mbit").unwrap().spec());
        group.source = Source::Bulk { size_bytes: None, stop_ns: None };
    }
    equip(&mut scenario, &["s"], &pfc(10_000, None));
    scenario.measure = vec!["a->s".to_owned()];
    let report = run(&scenario);
    assert_eq!(report.metrics["pfc_losses"], 0.0);
    assert!(report.metrics["queue_max_packets"] <= 2.0, "{}", report.metrics["queue_max_packets"]);
    assert!(report.metrics["port.b->s.p0.paused_s"] > 0.4);
}
