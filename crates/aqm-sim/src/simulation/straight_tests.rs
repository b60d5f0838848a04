//! Straight paths of packets, acknowledgments and segments are special cases: without them a run is the same.

use crate::endpoint::flow::Endpoints;
use crate::report::Monitor;
use crate::reporting::results::report;
use crate::scenario::inputs::Inputs;
use crate::scenario::{Capacity, FlowGroup, Scenario, Tcp, Transport};
use crate::simulation::build::Setup;
use aqm_core::spec::Spec;
use aqm_core::units::{Span, Time};
use aqm_path::wire::Loss;

fn scenario(aqm: &str, transport: &str) -> Scenario {
    let mut flows = FlowGroup::bulk("tcp", 4, Transport::Tcp(Tcp::parse(transport).unwrap()));
    flows.start_ns = (0, 100_000_000);
    Scenario {
        duration_ns: 6_000_000_000,
        warmup_ns: 500_000_000,
        sample_ns: 100_000_000,
        flows: vec![flows],
        ..Scenario::new(aqm, &Capacity::RateBps(10_000_000), Span::from_millis(20))
    }
}

/// The report; `general`: no path is straight. And how many are at the end: ports, senders and receivers.
fn run(scenario: &Scenario, general: bool) -> (String, [usize; 3]) {
    let (aqm, monitor) = (Spec::parse(&scenario.aqm).unwrap(), Monitor::default());
    let mut setup = Setup::build(scenario, &aqm, &Inputs::default(), 1, &monitor).unwrap();
    let simulation = &mut setup.simulation;
    simulation.begin(Time::from_nanos(scenario.warmup_ns), Span::from_nanos(scenario.sample_ns));
    let mut straight = [0; 3];
    for port in 0..simulation.ports.len() {
        if let Some(device) = simulation.ports[port].device_mut() {
            device.is_straight &= !general;
            straight[0] += usize::from(device.is_straight);
        }
    }
    for flow in &mut simulation.flows {
        if let Endpoints::Tcp(connection) = &mut flow.endpoints {
            connection.sender.is_plain &= !general;
            connection.receiver.is_plain &= !general;
            straight[1] += usize::from(connection.sender.is_plain);
            straight[2] += usize::from(connection.receiver.is_plain);
        }
    }
    let end = Time::from_nanos(scenario.duration_ns);
    simulation.advance(end, &monitor, |_| false).unwrap();
    simulation.end(end).unwrap();
    (format!("{:?}", report(setup, end).unwrap()), straight)
}

#[test]
fn a_run_is_the_same_whether_its_paths_are_straight_or_general() {
    for (aqm, transport, straight) in [
        ("fifo limit 12p", "newreno delack off", [1, 4, 4]),
        ("fifo limit 12p", "newreno sack off", [1, 4, 4]),
        ("fifo limit 12p", "newreno recovery.prr on recovery.eifel on recovery.frto on", [1, 4, 4]),
        ("fq_codel", "newreno", [1, 4, 4]),
        ("codel ecn on", "cubic ecn classic handshake on", [1, 4, 4]),
        ("codel ecn on", "cubic ecn classic recovery.prr_on_ecn on recovery.prr on", [1, 4, 4]),
        ("dctcp_step", "dctcp", [1, 4, 4]),
        ("fifo limit 12p", "newreno pacing on acks.quickack_mode on", [1, 4, 0]),
        ("fifo limit 12p", "newreno recovery.rack on", [1, 0, 4]),
        ("fifo limit 12p", "newreno window 20kb", [1, 4, 4]),
    ] {
        let scenario = scenario(aqm, transport);
        let (found, which) = run(&scenario, false);
        assert!(found == run(&scenario, true).0, "{aqm}, {transport}");
        assert_eq!(which, straight, "{aqm}, {transport}");
    }
}

#[test]
fn a_run_is_the_same_where_packets_are_lost_or_overtaken_on_the_wire() {
    for (loss, jitter_ns) in [(0.01, 0), (0.0, 3_000_000)] {
        let scenario =
            Scenario { loss: Loss::Random(loss), jitter_ns, ..scenario("fifo limit 12p", "newreno") };
        assert!(run(&scenario, false).0 == run(&scenario, true).0, "{loss}, {jitter_ns}");
    }
}
