//! The sockets of dAQM's senders in whole simulations, registered as a host does.

use aqm_core::units::Span;
use aqm_papers::EXTENSION;
use aqm_sim::report::{Monitor, Report, RunError};
use aqm_sim::scenario::inputs::Inputs;
use aqm_sim::scenario::{Capacity, FlowGroup, Scenario, Source, Tcp, Transport};
use aqm_sim::transport::TransportSpec;
use serde_json::{Value, json};

const MS: u64 = 1_000_000;
const SECOND: u64 = 1_000 * MS;

/// Flows of a source that start at once, over 100 Mbit/s and 40 ms.
fn ended(
    tcp: &str,
    app: &Value,
    source: Source,
    duration_ns: u64,
    inputs: &Inputs,
) -> Result<Report, RunError> {
    let fields = app.as_object().expect("a table").clone();
    let group = FlowGroup {
        start_ns: (0, 0),
        socket: Some(TransportSpec { name: "app".to_owned(), fields }),
        source,
        ..FlowGroup::bulk("all", 1, Transport::Tcp(Tcp::parse(tcp).unwrap()))
    };
    let rate = Capacity::RateBps(100_000_000);
    let scenario = Scenario {
        duration_ns,
        warmup_ns: 0,
        flows: vec![group],
        ..Scenario::new("fifo limit 1000p", &rate, Span::from_millis(40))
    };
    aqm_sim::run(&scenario, inputs, 1, &Monitor::default())
}

fn run(tcp: &str, app: &Value, source: Source, duration_ns: u64) -> Report {
    let mut inputs = Inputs::default();
    inputs.add_extension(&EXTENSION);
    ended(tcp, app, source, duration_ns, &inputs).unwrap()
}

/// Five seconds of a source with 125 packets a second over a connection whose receiver listens from 1 s on.
fn late_listener(keys: &str, mut app: Value) -> Report {
    app["listen_ns"] = SECOND.into();
    let tcp = format!("newreno iw 10000 handshake on recovery.syn_rto 3s {keys}");
    run(&tcp, &app, Source::Cbr { rate_bps: 1448 * 8 * 125 }, 5 * SECOND)
}

#[test]
fn what_is_written_before_a_connection_stands_comes_at_once() {
    // The SYN at 0 s is refused, that at 3 s is answered after a round trip: 381 packets are written by then. They come ten
    // times as fast as they leave.
    let most = |keys, app| late_listener(keys, app).metrics["queue_max_packets"];
    let all = most("recovery.syn_loss off", json!({}));
    assert!((all - 0.9 * 381.0).abs() < 2.0, "{all}");
    // The socket holds 100 segments, the rest is never written.
    let limited = || json!({"sndbuf_bytes": 100 * 1448});
    assert!((most("recovery.syn_loss off", limited()) - 0.9 * 100.0).abs() < 2.0);
    let delivered = |app| late_listener("recovery.syn_loss off", app).metrics["packets_delivered"];
    let refused = delivered(json!({})) - delivered(limited());
    assert!((refused - 281.0).abs() <= 6.0, "{refused}");
    // RFC 5681: one segment at first.
    assert!(most("recovery.syn_loss on", json!({})) < 300.0);
}

#[test]
fn the_first_packet_each_way_waits_for_an_address() {
    let completion = |arp_ns: u64| {
        let file = Source::Bulk { size_bytes: Some(1000), stop_ns: None };
        run("newreno handshake on", &json!({"arp_ns": arp_ns}), file, SECOND).metrics["fct_mean_s"]
    };
    assert!((completion(7 * MS) - completion(0) - 0.014).abs() < 1e-9);
}

#[test]
fn a_run_may_end_while_packets_wait_for_an_address() {
    let endless = Source::Bulk { size_bytes: None, stop_ns: None };
    let report = run("newreno handshake on", &json!({"arp_ns": 7 * MS}), endless, 5 * MS);
    assert_eq!(report.metrics["packets_delivered"], 0.0);
}

#[test]
fn a_connection_opened_ahead_has_its_first_data_a_gap_later() {
    let delivered = |connect: &str| {
        let app = json!({"connect": connect, "write_bytes": 724});
        run("newreno handshake on", &app, Source::Cbr { rate_bps: 724 * 8 * 8 }, SECOND).metrics["packets_delivered"]
    };
    // Writes of half a segment at 0, 125, ..., 875 ms, or from 125 ms on.
    assert_eq!((delivered("to_write"), delivered("ahead")), (8.0, 7.0));
}

#[test]
fn wrong_sockets_are_refused_by_name() {
    let problem = |tcp: &str, app: Value, is_known: bool| {
        let mut inputs = Inputs::default();
        if is_known {
            inputs.add_extension(&EXTENSION);
        }
        let file = Source::Bulk { size_bytes: Some(1000), stop_ns: None };
        ended(tcp, &app, file, SECOND, &inputs).unwrap_err().to_string()
    };
    for (tcp, app, is_known, expected) in [
        ("newreno", json!({}), false, "flows: 'all': unknown socket 'app'; known are none"),
        ("newreno", json!({"connect": "ahead"}), true, "app.connect is ahead: it needs handshake on"),
        ("newreno", json!({"apr_ns": 1}), true, "unknown field 'app.apr_ns', did you mean 'app.arp_ns'?"),
        ("newreno", json!({"write_bytes": 0}), true, "app.write_bytes is 0: it is out of range"),
    ] {
        let found = problem(tcp, app, is_known);
        assert!(found.contains(expected), "{expected}: {found}");
    }
}
