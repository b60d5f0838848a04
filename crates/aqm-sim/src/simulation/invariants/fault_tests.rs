//! Every fault that is put in is reported by a check, in a run that passes without it.

use super::faults::{Fault, Saboteur};
use crate::network::packet::Role;
use crate::report::{Monitor, RunError};
use crate::reporting::results::report;
use crate::scenario::inputs::Inputs;
use crate::scenario::{Scenario, Tcp, Transport};
use crate::simulation::build::Setup;
use aqm_core::spec::Spec;
use aqm_core::units::{Rate, Span, Time};
use serde_json::{Value, json};

fn group(name: &str, transport: &Value, source: &Value) -> Value {
    json!({"name": name, "count": 2, "start_ns": [0, 0], "transport": transport, "source": source})
}

fn tcp() -> Value {
    let transport = serde_json::to_value(Transport::Tcp(Tcp::parse("cubic").unwrap())).unwrap();
    group("tcp", &transport, &json!({"bulk": {"size_bytes": null}}))
}

fn udp() -> Value {
    let transport = json!({"udp": {"packet_bytes": 1000, "ecn": "off"}});
    group("udp", &transport, &json!({"cbr": {"rate_bps": 20_000_000}}))
}

/// A bottleneck of 20 Mbit/s for four seconds.
fn dumbbell(loss: f64, flows: &[Value]) -> Value {
    json!({
        "aqm": "fifo limit 100p", "capacity": {"rate_bps": 20_000_000}, "rtt_ns": 20_000_000, "loss": loss,
        "duration_ns": 4_000_000_000_u64, "warmup_ns": 500_000_000, "sample_ns": 100_000_000, "flows": flows,
    })
}

/// Two hosts send to a third through a switch with a small buffer, or one whose program drops, or with flow control.
fn behind_switch(switch: &Value) -> Value {
    let link = |from, to, rate, queue| json!({"from": from, "to": to, "rate_bps": rate, "delay_ns": 50_000, "queue": queue});
    let mut links = vec![link("s", "c", 20_000_000, "under_test"), link("c", "s", 20_000_000, "plain")];
    for host in ["a", "b"] {
        links.push(link(host, "s", 80_000_000, "plain"));
        links.push(link("s", host, 80_000_000, "plain"));
    }
    let mut scenario = dumbbell(0.0, &[udp(), tcp()]);
    scenario["topology"] = json!({"links": links, "measured": 0, "switches": {"s": switch}});
    for flows in scenario["flows"].as_array_mut().unwrap() {
        flows["from"] = json!(["a", "b"]);
        flows["to"] = json!(["c"]);
    }
    scenario
}

/// Runs with a fault and with the ports that `change` has changed.
fn run(scenario: &Value, fault: Option<Fault>, change: impl FnOnce(&mut Setup)) -> Result<(), RunError> {
    let scenario: Scenario = serde_json::from_value(scenario.clone()).unwrap();
    scenario.check().unwrap();
    let mut setup = Setup::build(
        &scenario,
        &Spec::parse(&scenario.aqm).unwrap(),
        &Inputs::default(),
        1,
        &Monitor::default(),
    )?;
    change(&mut setup);
    let (end, warmup) = (Time::from_nanos(scenario.duration_ns), Time::from_nanos(scenario.warmup_ns));
    let sample = Span::from_nanos(scenario.sample_ns);
    let (simulation, monitor) = (&mut setup.simulation, Monitor::default());
    let mut saboteur = Saboteur::new(fault);
    simulation.begin(warmup, sample);
    while simulation.shared.events.first().is_some_and(|next| next <= end) {
        saboteur.before_event(simulation);
        simulation.advance(end, &monitor, |_| true)?;
        saboteur.after_event(simulation);
    }
    simulation.advance(end, &monitor, |_| false)?;
    simulation.end(end)?;
    assert!(fault.is_none() || saboteur.struck() > 0, "{fault:?} found nothing to strike");
    report(setup, end).map(drop)
}

/// What the checks say of a scenario with a fault that passes without it.
fn failure(scenario: &Value, fault: Fault) -> String {
    run(scenario, None, |_| ()).unwrap();
    match run(scenario, Some(fault), |_| ()) {
        Err(RunError::Check(failure)) => failure,
        other => panic!("{fault:?}: {other:?}"),
    }
}

#[test]
fn a_packet_lost_on_a_wire_and_entered_as_impairment_is_reported() {
    let flows = [tcp(), udp()];
    assert!(
        failure(&dumbbell(0.0, &flows), Fault::LostOnWire).contains("packets by Impairment, which counts")
    );
    // Behind the bottleneck, or elsewhere.
    let failure = failure(&dumbbell(0.01, &flows), Fault::LostOnWire);
    assert!(failure.contains("by chance") || failure.contains("by Impairment"), "{failure}");
}

#[test]
fn packets_that_vanish_are_reported() {
    for (flows, role) in [(tcp(), Role::Data), (tcp(), Role::Ack), (udp(), Role::Datagram)] {
        let failure = failure(&dumbbell(0.0, &[flows]), Fault::Vanished(role));
        assert!(failure.contains("were sent, but"), "{role:?}: {failure}");
    }
}

#[test]
fn packets_that_are_doubled_or_received_twice_are_reported() {
    for flows in [[tcp()], [udp()]] {
        for fault in [Fault::Doubled, Fault::ReceivedTwice] {
            failure(&dumbbell(0.0, &flows), fault);
        }
    }
}

#[test]
fn payload_that_counts_twice_is_reported() {
    assert!(failure(&dumbbell(0.0, &[udp()]), Fault::CountedTwice).contains("bytes were delivered, but"));
    assert!(failure(&dumbbell(0.0, &[tcp()]), Fault::CountedTwice).contains("bytes were delivered, but"));
}

#[test]
fn payload_that_was_held_when_measuring_began_and_counts_is_reported() {
    // Slow start has overrun a deep queue, and the first gap is filled just after.
    let mut scenario = dumbbell(0.0, &[tcp()]);
    scenario["aqm"] = json!("fifo limit 300p");
    scenario["warmup_ns"] = json!(600_000_000);
    scenario["duration_ns"] = json!(800_000_000);
    let failure = failure(&scenario, Fault::HeldForgotten);
    assert!(failure.contains("arrived at most"), "{failure}");
}

#[test]
fn losses_that_are_entered_for_another_flow_or_for_nobody_are_reported() {
    failure(&dumbbell(0.0, &[udp()]), Fault::WrongFlow);
    let buffer = json!({"buffer": {"size_bytes": 20_000, "alpha": 1.0, "reserve_bytes": 0}});
    failure(&behind_switch(&buffer), Fault::RefusalForgotten);
}

#[test]
fn drops_of_packets_that_arrived_before_measuring_are_reported_as_no_share_of_those_that_arrived_since() {
    // A second at four times the link's rate, then silence: CoDel drops while it drains.
    let mut scenario = dumbbell(0.0, &[udp()]);
    scenario["aqm"] = json!("codel limit 10000p");
    let period = |seconds: u64| json!({"constant": {"value": seconds * 1_000_000_000}});
    scenario["flows"][0]["source"] =
        json!({"on_off": {"rate_bps": 40_000_000, "on": period(1), "off": period(9)}});
    scenario["warmup_ns"] = json!(995_000_000);
    let failure = failure(&scenario, Fault::OlderDropCounted);
    assert!(failure.contains("a share is between 0 and 1"), "{failure}");
}

#[test]
fn queues_and_sojourn_times_that_are_measured_wrongly_are_reported() {
    let flows = [tcp(), udp()];
    assert!(failure(&dumbbell(0.0, &flows), Fault::QueueTooLong).contains("packets have waited"));
    assert!(failure(&dumbbell(0.0, &flows), Fault::SojournFromSender).contains("by those of its flows"));
}

#[test]
fn marks_that_get_lost_are_reported() {
    let mut flows = udp();
    flows["transport"]["udp"]["ecn"] = json!("classic");
    let mut scenario = dumbbell(0.0, &[flows]);
    scenario["aqm"] = json!("codel ecn limit 100p");
    assert!(failure(&scenario, Fault::CeForgotten).contains("marked packets neither arrived nor were lost"));
}

#[test]
fn links_and_timers_that_are_forgotten_are_reported() {
    let failure_of = |fault| failure(&dumbbell(0.0, &[tcp()]), fault);
    assert!(failure_of(Fault::LinkForgotten).contains("its device could send at"));
    assert!(failure_of(Fault::TimerForgotten).contains("nothing will send its data again"));
}

#[test]
fn a_packet_that_arrives_too_early_or_too_late_is_reported() {
    for (change, what) in [(-1, "faster than propagation"), (1, "the last packet arrives at")] {
        let wrong = run(&dumbbell(0.0, &[udp()]), None, |setup| {
            for port in &mut setup.simulation.ports {
                port.line.delay =
                    Span::from_nanos(port.line.delay.as_nanos().saturating_add_signed(change * 1_000_000));
            }
        });
        let Err(RunError::Check(failure)) = wrong else { panic!("{change}: {wrong:?}") };
        assert!(failure.contains(what), "{failure}");
    }
}

#[test]
fn frames_of_flow_control_and_feedback_that_vanish_are_reported() {
    let pfc = json!({"pfc": {"priorities": [0], "xoff_bytes": 20_000, "xon_bytes": 10_000, "quanta": 100}});
    let mut scenario = behind_switch(&pfc);
    scenario["flows"] = json!([scenario["flows"][0]]);
    let failure_of = |scenario: &Value| failure(scenario, Fault::Vanished(Role::Pause));
    assert!(failure_of(&scenario).contains("sent, but"));
}

#[test]
fn a_link_half_a_percent_too_fast_is_reported_wherever_it_is() {
    let too_fast = |flows: Value, number: usize| {
        let scenario = dumbbell(0.0, &[flows]);
        let mut rate = 0;
        let result = run(&scenario, None, |setup| {
            rate = setup.simulation.network.links[number].capacity.mean_rate().as_bits_per_sec();
            setup.simulation.ports[number].set_rate(Rate::from_bits_per_sec(rate / 1000 * 1005));
        });
        (rate, result)
    };
    let (_, bottleneck) = too_fast(udp(), 0);
    assert!(bottleneck.is_err());
    let scenario = serde_json::from_value(dumbbell(0.0, &[tcp()])).unwrap();
    let links = Setup::build(
        &scenario,
        &Spec::parse(&scenario.aqm).unwrap(),
        &Inputs::default(),
        1,
        &Monitor::default(),
    )
    .unwrap()
    .simulation
    .network
    .links;
    for number in 1..links.len() {
        let (rate, result) = too_fast(tcp(), number);
        // Some links are there for their delay alone.
        assert!(rate > 1_000_000_000_000 || result.is_err(), "{number}: {rate} bit/s, {result:?}");
    }
}

#[test]
fn a_run_with_more_packets_than_there_is_room_for_ends_with_an_error() {
    for flows in [udp(), tcp()] {
        let most = |most| {
            let scenario = dumbbell(0.0, std::slice::from_ref(&flows));
            run(&scenario, None, |setup| setup.simulation.shared.slab.most = most)
        };
        // Of TCP, the second flow finds no room for its initial window, and the checks after the warm-up come first.
        let few = most(15);
        let Err(RunError::Input(problem)) = few else { panic!("{few:?}") };
        let problem = problem.to_string();
        assert!(problem.starts_with("more than 15 packets are in flight at once"), "{problem}");
        most(1000).unwrap();
    }
}

#[test]
fn gaps_shorter_than_a_byte_takes_and_too_many_connections_are_refused() {
    let telnet = |gap_ns: u64| {
        let mut flows = udp();
        flows["source"] = json!({"arrivals": {"gap": {"constant": {"value": gap_ns}}}});
        run(&dumbbell(0.0, &[flows]), None, |_| ())
    };
    // At 20 Mbit/s a byte takes 400 ns.
    let problem = telnet(399).unwrap_err().to_string();
    assert!(problem.contains("it must be 400ns at least, in which 20mbit sends a byte"), "{problem}");
    let mut flows = tcp();
    flows["count"] = json!(1_000_001);
    let scenario: Scenario = serde_json::from_value(dumbbell(0.0, &[flows])).unwrap();
    let problem = scenario.check().unwrap_err().to_string();
    assert_eq!(problem, "flows: 1000001 connections: at most 1000000 can be simulated");
}
