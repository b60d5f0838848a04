//! Scenarios that the integration tests start from.

use aqm_core::units::Span;
use aqm_sim::report::{Monitor, Report};
use aqm_sim::scenario::inputs::Inputs;
use aqm_sim::scenario::{Capacity, EcnMode, FlowGroup, Scenario, Source, Tcp, Transport};

/// One millisecond in nanoseconds.
pub(crate) const MS: u64 = 1_000_000;
/// One second in nanoseconds.
pub(crate) const SECOND: u64 = 1_000 * MS;

/// Runs a scenario that is expected to succeed.
pub(crate) fn run(scenario: &Scenario, seed: u64) -> Report {
    run_with(scenario, &Inputs::default(), seed)
}

/// The same for a scenario that names captures or link traces.
pub(crate) fn run_with(scenario: &Scenario, inputs: &Inputs, seed: u64) -> Report {
    aqm_sim::run(scenario, inputs, seed, &Monitor::default()).expect("the scenario runs")
}

/// A bottleneck of 100 Mbit/s and 40 ms with a limit of 1000 packets, without flows.
pub(crate) fn bottleneck(aqm: &str) -> Scenario {
    let rate = Capacity::RateBps(100_000_000);
    Scenario { warmup_ns: 5 * SECOND, ..Scenario::new(aqm, &rate, Span::from_millis(40)) }
}

/// TCP with the defaults of the contract, except for the keys in `text`: `cubic ecn classic`.
pub(crate) fn tcp(text: &str) -> Tcp {
    Tcp::parse(text).unwrap()
}

/// `count` endless flows that start within the first second.
pub(crate) fn bulk(name: &str, count: u32, tcp: Tcp) -> FlowGroup {
    FlowGroup {
        name: name.to_owned(),
        count,
        start_ns: (0, SECOND),
        spacing_ns: 0,
        socket: None,
        rtt_ns: None,
        from: Vec::new(),
        to: Vec::new(),
        transport: Transport::Tcp(tcp),
        source: Source::Bulk { size_bytes: None, stop_ns: None },
        class: 0,
        dscp: 0,
    }
}

/// One flow of datagrams at a constant rate.
pub(crate) fn cbr(name: &str, rate_bps: u64, packet_bytes: u32) -> FlowGroup {
    FlowGroup {
        name: name.to_owned(),
        count: 1,
        start_ns: (0, 0),
        spacing_ns: 0,
        socket: None,
        rtt_ns: None,
        from: Vec::new(),
        to: Vec::new(),
        transport: Transport::Udp { packet_bytes, ecn: EcnMode::Off },
        source: Source::Cbr { rate_bps },
        class: 0,
        dscp: 0,
    }
}
