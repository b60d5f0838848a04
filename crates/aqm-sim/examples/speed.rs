//! The speed case: 100 NewReno flows over 1 Gbit/s, 20 ms, 1500-byte packets, 10 s, full metrics.
//!
//! `cargo run --release -p aqm-sim --example speed -- [FLOWS] [AQM] [SECONDS] [KEY=VALUE]...` prints bottleneck packets
//! per CPU-second. Keys: `transport` (a congestion control and its keys), `mbit` (the bottleneck's rate), `sample` (the
//! period of the series in milliseconds), `switch` (a program, or `none`: the bottleneck is a port of a switch), `digest`
//! (`on`: prints what is equal if every number of the report is), `scenario` (`on`: prints the scenario as JSON, and does not
//! run it). Instruction counts come from running it under callgrind.
#![allow(clippy::disallowed_methods, reason = "it asks Linux what it costs")]

use aqm_core::units::Span;
use aqm_sim::report::{Monitor, Report};
use aqm_sim::scenario::inputs::Inputs;
use aqm_sim::scenario::topology::{LinkQueue, TopologyLink};
use aqm_sim::scenario::wire::Impairments;
use aqm_sim::scenario::{Capacity, FlowGroup, Scenario, Tcp, Topology, Transport};
use aqm_sim::switch::options::SwitchOptions;

fn main() {
    run(&Inputs::default());
}

/// The speed case by the arguments; `inputs` have what they name.
pub(crate) fn run(inputs: &Inputs) {
    let mut arguments = std::env::args().skip(1);
    let flows: u32 = arguments.next().map_or(100, |text| text.parse().expect("a number of flows"));
    let aqm = arguments.next().unwrap_or_else(|| "fifo limit 1667p".to_owned());
    let seconds: u64 = arguments.next().map_or(10, |text| text.parse().expect("a number of seconds"));
    let mut scenario = scenario(flows, &aqm, seconds);
    let (mut digests, mut is_shown) = (false, false);
    for word in arguments {
        let (key, value) = word.split_once('=').expect("KEY=VALUE");
        let number = || value.parse::<u64>().expect("a whole number");
        match key {
            "transport" => {
                scenario.flows[0].transport = Transport::Tcp(Tcp::parse(value).expect("a transport"));
            }
            "mbit" => scenario.capacity = Capacity::RateBps(number() * 1_000_000),
            "sample" => scenario.sample_ns = number() * 1_000_000,
            "digest" => digests = value == "on",
            "scenario" => is_shown = value == "on",
            "switch" => behind_switch(&mut scenario, value),
            _ => panic!("there is no key {key}"),
        }
    }
    if is_shown {
        return println!("{}", scenario.json());
    }
    let started = cpu_seconds();
    let report = aqm_sim::run(&scenario, inputs, 1, &Monitor::default()).expect("the speed case runs");
    let cpu = cpu_seconds() - started;
    let bottleneck = report.queues.iter().find(|queue| queue.link == "switch->b");
    let packets = bottleneck.map_or(report.bottleneck_packets, |queue| queue.departed);
    println!(
        "{{\"flows\": {flows}, \"aqm\": \"{aqm}\", \"bottleneck_packets\": {packets}, \"events\": {}, \"cpu_s\": {cpu:.4}, \"packets_per_cpu_s\": {:.0}, \"goodput_mbit\": {:.1}, \"peak_kib\": {}, \"digest\": \"{:016x}\"}}",
        report.events,
        packets as f64 / cpu,
        report.metrics["goodput_mbit"],
        status_kib("VmHWM:"),
        if digests { digest(&report) } else { 0 },
    );
}

fn scenario(flows: u32, aqm: &str, seconds: u64) -> Scenario {
    // Segments of 1500 bytes on the link, with 52 bytes of headers and no link-layer overhead.
    let tcp = Tcp::parse("newreno").expect("it is one of the congestion controls");
    Scenario {
        overhead_bytes: 0,
        duration_ns: seconds * 1_000_000_000,
        warmup_ns: 1_000_000_000,
        sample_ns: 33_000_000,
        flows: vec![FlowGroup::bulk("newreno", flows, Transport::Tcp(tcp))],
        ..Scenario::new(aqm, &Capacity::RateBps(1_000_000_000), Span::from_millis(20))
    }
}

/// The same flows from one host to another over a switch that runs `program`, or none.
fn behind_switch(scenario: &mut Scenario, program: &str) {
    let link = |from: &str, to: &str, rate_bps, queue| TopologyLink {
        from: from.to_owned(),
        to: to.to_owned(),
        rate_bps: Some(rate_bps),
        delay_ns: 5_000_000,
        queue,
        name: None,
        medium: None,
        kind: None,
        wire: Impairments::default(),
    };
    let links = vec![
        link("switch", "b", 1_000_000_000, LinkQueue::UnderTest),
        link("b", "switch", 1_000_000_000, LinkQueue::Plain),
        link("a", "switch", 10_000_000_000, LinkQueue::Plain),
        link("switch", "a", 10_000_000_000, LinkQueue::Plain),
    ];
    let program = (program != "none").then(|| program.to_owned());
    let options = SwitchOptions { program, ..SwitchOptions::default() };
    let switches = [("switch".to_owned(), options)].into();
    scenario.topology = Some(Topology { links, measured: 0, switches });
    for group in &mut scenario.flows {
        (group.from, group.to) = (vec!["a".to_owned()], vec!["b".to_owned()]);
    }
}

/// FNV-1a over the report as text, in which every number is exact.
fn digest(report: &Report) -> u64 {
    let text = format!("{report:?}");
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

/// CPU time of this process so far, as the scheduler accounts for it.
fn cpu_seconds() -> f64 {
    // In the first field are nanoseconds; the times of /proc/self/stat are in hundredths of a second.
    let times = std::fs::read_to_string("/proc/self/schedstat").expect("Linux tells a process about itself");
    let nanos = times.split_whitespace().next().and_then(|text| text.parse::<f64>().ok());
    nanos.expect("the time on a processor") / 1e9
}

fn status_kib(key: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux tells a process about itself");
    let line = status.lines().find_map(|line| line.strip_prefix(key)).unwrap_or_default();
    line.split_whitespace().next().and_then(|text| text.parse().ok()).unwrap_or(0)
}
