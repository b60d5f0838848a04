//! The speed case: 100 NewReno flows over 1 Gbit/s, 20 ms, 1500-byte packets, 10 s, full metrics.
//!
//! `cargo run --release -p aqm-sim --example speed -- [FLOWS] [AQM]` prints bottleneck packets per CPU-second.
//! Instruction counts come from running it under callgrind.
#![allow(clippy::disallowed_methods, reason = "it asks Linux what it costs")]

use aqm_sim::inputs::Inputs;
use aqm_sim::report::Monitor;
use aqm_sim::scenario::{Capacity, FlowGroup, Scenario, Source, Tcp, Transport};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let flows: u32 = arguments.next().map_or(100, |text| text.parse().expect("a number of flows"));
    let aqm = arguments.next().unwrap_or_else(|| "fifo limit 1667p".to_owned());
    let seconds: u64 = arguments.next().map_or(10, |text| text.parse().expect("a number of seconds"));
    let scenario = scenario(flows, &aqm, seconds);
    let started = cpu_seconds();
    let report =
        aqm_sim::run(&scenario, &Inputs::default(), 1, &Monitor::default()).expect("the speed case runs");
    let cpu = cpu_seconds() - started;
    let packets = report.bottleneck_packets;
    println!(
        "{{\"flows\": {flows}, \"aqm\": \"{aqm}\", \"bottleneck_packets\": {packets}, \"events\": {}, \"cpu_s\": {cpu:.3}, \"packets_per_cpu_s\": {:.0}, \"goodput_mbit\": {:.1}, \"peak_kib\": {}}}",
        report.events,
        packets as f64 / cpu,
        report.metrics["goodput_mbit"],
        status_kib("VmHWM:"),
    );
}

fn scenario(flows: u32, aqm: &str, seconds: u64) -> Scenario {
    // Segments of 1500 bytes on the link, with 52 bytes of headers and no link-layer overhead.
    let tcp = Tcp::parse("newreno").expect("it is one of the congestion controls");
    Scenario {
        aqm: aqm.to_owned(),
        capacity: Capacity::RateBps(1_000_000_000),
        rtt_ns: 20_000_000,
        overhead_bytes: 0,
        device_ring_packets: 1,
        access_rate_bps: None,
        duration_ns: seconds * 1_000_000_000,
        warmup_ns: 1_000_000_000,
        sample_ns: 33_000_000,
        flow_series: true,
        flow_monitor: false,
        measure: Vec::new(),
        loss: 0.0,
        jitter_ns: 0,
        flows: vec![FlowGroup {
            name: "newreno".to_owned(),
            count: flows,
            start_ns: (0, 1_000_000_000),
            rtt_ns: None,
            from: Vec::new(),
            to: Vec::new(),
            transport: Transport::Tcp(tcp),
            source: Source::Bulk { size_bytes: None },
            class: 0,
            dscp: 0,
        }],
        captures: Vec::new(),
        topology: None,
    }
}

/// CPU time of this process so far, from the kernel's accounting (clock ticks of 10 ms).
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("Linux tells a process about itself");
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let field = |index: usize| {
        after_name.split_whitespace().nth(index).and_then(|text| text.parse::<f64>().ok()).unwrap_or(0.0)
    };
    // Fields 14 and 15 of the whole line: user and system time.
    (field(11) + field(12)) / 100.0
}

fn status_kib(key: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux tells a process about itself");
    let line = status.lines().find_map(|line| line.strip_prefix(key)).unwrap_or_default();
    line.split_whitespace().next().and_then(|text| text.parse().ok()).unwrap_or(0)
}
