//! Fairness between hosts: CAKE's isolation of a host with one flow from one with eight.

use crate::scenarios::{MS, SECOND, bottleneck, bulk, cbr, run, tcp};
use aqm_sim::scenario::topology::{LinkQueue, TopologyLink};
use aqm_sim::scenario::{Capacity, FlowGroup, Scenario, Topology};
use serde_json::{from_value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The link between the hosts where flows begin and those where they end, with the queue under test, of 20 Mbit/s.
fn hosts(aqm: &str, groups: &[FlowGroup]) -> Scenario {
    const RATE: u64 = 20_000_000;
    let mut links = vec![TopologyLink::new("left", "right", None, 5 * MS, LinkQueue::UnderTest)];
    let mut join = |from: &str, to: &str, delay| {
        links.push(TopologyLink::new(from, to, Some(10 * RATE), delay, LinkQueue::Plain));
    };
    join("right", "left", 5 * MS);
    let named =
        |ends: fn(&FlowGroup) -> &[String]| -> BTreeSet<&String> { groups.iter().flat_map(ends).collect() };
    let (senders, receivers) = (named(|group| &group.from), named(|group| &group.to));
    for (hosts, side) in [(senders, "left"), (receivers, "right")] {
        for host in hosts {
            join(host, side, 5 * MS);
            join(side, host, 5 * MS);
        }
    }
    Scenario {
        capacity: Capacity::RateBps(RATE),
        topology: Some(Topology { links, measured: 0, switches: BTreeMap::new() }),
        flows: groups.to_vec(),
        ..bottleneck(aqm)
    }
}

/// `count` flows of `group` between two named hosts.
fn between(from: &str, to: &str, count: u32, group: FlowGroup) -> FlowGroup {
    FlowGroup {
        name: format!("{from} to {to}"),
        count,
        from: vec![from.to_owned()],
        to: vec![to.to_owned()],
        ..group
    }
}

/// Bulk CUBIC.
fn cubic() -> FlowGroup {
    bulk("", 1, tcp("cubic"))
}

/// Datagrams that fill the link alone.
fn flood() -> FlowGroup {
    cbr("", 20_000_000, 1000)
}

/// The share of the first group in the goodput of all, on a link of 20 Mbit/s.
fn share(aqm: &str, groups: [FlowGroup; 2]) -> f64 {
    let scenario = Scenario { duration_ns: 25 * SECOND, ..hosts(aqm, &groups) };
    let name = groups[0].name.clone();
    let report = run(&scenario, 1);
    report.metrics[&format!("class.{name}.goodput_mbit")] / report.metrics["goodput_mbit"]
}

#[track_caller]
fn close(share: f64, expected: f64, tolerance: f64) {
    assert!((share / expected - 1.0).abs() < tolerance, "{share:.4} instead of {expected:.4}");
}

#[test]
fn a_host_with_one_flow_has_half_of_the_link_where_hosts_are_isolated() {
    let upload = |group: fn() -> FlowGroup| {
        [between("one", "server", 1, group()), between("eight", "other server", 8, group())]
    };
    for (aqm, expected) in [
        ("cake flows", 1.0 / 9.0),
        ("cake dual-dsthost", 0.5),
        ("cake dual-srchost", 0.5),
        ("cake triple-isolate", 0.5),
        ("cake srchost", 0.5),
        ("cake flows bandwidth 15mbit", 1.0 / 9.0),
        ("cake dual-srchost bandwidth 15mbit", 0.5),
    ] {
        close(share(aqm, upload(flood)), expected, 0.002);
        // A single CUBIC flow does not fill half of the link all the time: COBALT keeps its queue short.
        close(share(aqm, upload(cubic)), expected, 0.12);
    }
}

#[test]
fn hosts_are_isolated_on_the_side_that_the_keyword_names() {
    // All from one server: only the receivers tell the flows apart.
    let download = || [between("server", "one", 1, flood()), between("server", "eight", 8, flood())];
    close(share("cake dual-dsthost", download()), 0.5, 0.002);
    close(share("cake dsthost", download()), 0.5, 0.002);
    close(share("cake dual-srchost", download()), 1.0 / 9.0, 0.002);
    // The server has nine bulk flows, more than either receiver: triple isolation makes no difference.
    close(share("cake triple-isolate", download()), 1.0 / 9.0, 0.002);
}

#[test]
fn the_shaper_of_cake_sends_at_its_rate() {
    let report = run(&hosts("cake bandwidth 15mbit", &[between("one", "server", 2, flood())]), 1);
    let throughput = report.metrics["throughput_mbit"];
    assert!((throughput / 15.0 - 1.0).abs() < 0.001, "{throughput}");
}

#[test]
fn what_waits_for_the_shaper_of_cake_is_sent_although_nothing_more_arrives() {
    let mut scenario = bottleneck("cake bandwidth 1mbit interplanetary");
    scenario.capacity = Capacity::RateBps(10_000_000);
    (scenario.duration_ns, scenario.warmup_ns) = (5 * SECOND, 0);
    let mut burst = cbr("burst", 0, 1000);
    let gap = json!({"constant": {"value": 100 * SECOND}});
    let size = json!({"constant": {"value": 97_200}});
    burst.source = from_value(json!({"arrivals": {"gap": gap, "size": size}})).unwrap();
    scenario.flows.push(burst);
    let metrics = run(&scenario, 1).metrics;
    // 100 packets of 1014 bytes.
    assert_eq!((metrics["packets_delivered"], metrics["undelivered_ratio"]), (100.0, 0.0));
    // The last one waits for the 99 before it, the mean half as long.
    let wait = 99.0 * 1014.0 * 8.0 / 1e6 * 1e3 / 2.0;
    assert!((metrics["qdelay_mean_ms"] / wait - 1.0).abs() < 0.02, "{}", metrics["qdelay_mean_ms"]);
}
