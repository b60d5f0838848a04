//! The dumbbell: hosts on either side, one bottleneck in the middle.

use super::graph::{Capacity, LinkId, LinkSpec, Network, NodeId, Queue};
use super::kinds;
use super::path::{Layout, Path, UNLIMITED, measured_ports, paths_of_group};
use super::routes::Routes;
use crate::report::{Monitor, RunError};
use crate::scenario::Scenario;
use crate::scenario::inputs::Inputs;
use aqm_core::spec::Spec;
use aqm_core::units::{Rate, Span};
use aqm_path::kind::KindSpec;

/// Access links are this many times as fast as the bottleneck unless the scenario says otherwise.
const ACCESS_FACTOR: u64 = 10;

/// The dumbbell of a scenario, with a sender and a receiver for each flow; the monitor may stop it.
pub(crate) fn layout(
    scenario: &Scenario,
    capacity: &Capacity,
    aqm: &Spec,
    inputs: &Inputs,
    monitor: &Monitor,
) -> Result<Layout, RunError> {
    let go_on = || if monitor.report(0) { Ok(()) } else { Err(RunError::Cancelled) };
    let mut plan = Plan::new(scenario, capacity.clone(), aqm.clone());
    if let Some(kind) = kinds::of_scenario(scenario, inputs)? {
        plan.share(&kind)?;
    }
    let mut pairs = Vec::new();
    for group in &scenario.flows {
        let rtt = Span::from_nanos(group.rtt_ns.unwrap_or(scenario.rtt_ns));
        for index in 0..paths_of_group(group) {
            go_on()?;
            pairs.push((plan.add_hosts(&format!("{}.{index}", group.name), rtt), rtt));
        }
    }
    let mut routes = Routes::of(&plan.network);
    let mut route = |from, to| {
        let missing = || RunError::Check("a dumbbell has no route between two of its hosts".to_owned());
        routes.route(&plan.network, from, to, 0).ok_or_else(missing)
    };
    let mut paths = Vec::new();
    for ((sender, receiver), rtt) in pairs {
        go_on()?;
        let (forward, reverse) = (route(sender, receiver)?, route(receiver, sender)?);
        let ends = [sender, receiver];
        paths.push(Path { forward, reverse, propagation: rtt / 2, rtt, delayed: false, ends });
    }
    let recorded = plan.direct();
    let mut network = plan.network;
    let measured = measured_ports(&mut network, scenario, plan.bottleneck)?;
    Ok(Layout { network, measured, paths, recorded })
}

/// The graph while hosts are being added.
struct Plan {
    network: Network,
    left: NodeId,
    right: NodeId,
    bottleneck: LinkId,
    back: LinkId,
    bottleneck_delay: Span,
    access: Rate,
    default_rtt: Span,
}

impl Plan {
    fn new(scenario: &Scenario, capacity: Capacity, aqm: Spec) -> Plan {
        let mut network = Network::default();
        let left = network.node("left".to_owned());
        let right = network.node("right".to_owned());
        let rate = capacity.mean_rate();
        let access = scenario.access_rate_bps.unwrap_or(rate.as_bits_per_sec() * ACCESS_FACTOR);
        let rtts = scenario.flows.iter().map(|group| group.rtt_ns.unwrap_or(scenario.rtt_ns));
        // Half of the shortest one-way delay is the bottleneck's, the rest is on the access links.
        let bottleneck_delay = Span::from_nanos(rtts.chain([scenario.rtt_ns]).min().unwrap_or(0) / 4);
        let bottleneck = network.link(LinkSpec {
            from: left,
            to: right,
            capacity,
            delay: bottleneck_delay,
            queue: Queue::Discipline {
                spec: aqm,
                ring_packets: scenario.device_ring_packets,
                random: "bottleneck".to_owned(),
            },
            wire: scenario.impairments(),
            name: Some("bottleneck".to_owned()),
        });
        let back = LinkSpec::plain(right, left, rate, bottleneck_delay);
        let back = network.link(LinkSpec { name: Some("back".to_owned()), ..back });
        Plan {
            network,
            left,
            right,
            bottleneck,
            back,
            bottleneck_delay,
            access: Rate::from_bits_per_sec(access),
            default_rtt: Span::from_nanos(scenario.rtt_ns),
        }
    }

    /// Puts both directions of the bottleneck on one medium of this kind. What goes back waits in a FIFO without a limit.
    fn share(&mut self, kind: &KindSpec) -> Result<(), RunError> {
        let spec = Spec::parse(UNLIMITED).map_err(|error| RunError::Check(error.to_string()))?;
        self.network.links[self.back].queue =
            Queue::Discipline { spec, ring_packets: 1, random: "back".to_owned() };
        for link in [self.bottleneck, self.back] {
            self.network.join("bottleneck".to_owned(), kind.clone(), link);
        }
        Ok(())
    }

    /// Adds a sender and a receiver whose round trip takes `rtt`.
    fn add_hosts(&mut self, name: &str, rtt: Span) -> (NodeId, NodeId) {
        let sender = self.network.node(format!("{name}.sender"));
        let receiver = self.network.node(format!("{name}.receiver"));
        let forward = rtt / 2;
        let reverse = rtt.saturating_sub(forward);
        for (one_way, from, to) in [(forward, sender, receiver), (reverse, receiver, sender)] {
            let (near, far) = if from == sender { (self.left, self.right) } else { (self.right, self.left) };
            let outside = one_way.saturating_sub(self.bottleneck_delay);
            let first = outside / 2;
            self.network.link(LinkSpec::plain(from, near, self.access, first));
            self.network.link(LinkSpec::plain(far, to, self.access, outside.saturating_sub(first)));
        }
        (sender, receiver)
    }

    /// The path of recorded traffic: straight into the bottleneck, with the timing of the capture.
    fn direct(&self) -> Path {
        let propagation = self.bottleneck_delay;
        let (forward, rtt) = (vec![self.bottleneck], self.default_rtt);
        let ends = [self.left, self.right];
        Path { forward, reverse: Vec::new(), propagation, rtt, delayed: false, ends }
    }
}

#[cfg(test)]
mod tests {
    use super::ACCESS_FACTOR;
    use crate::scenario::options::find;

    #[test]
    fn access_links_are_as_much_faster_as_their_option_says() {
        assert_eq!(find("access_rate").unwrap().default, format!("{ACCESS_FACTOR}x"));
    }
}
