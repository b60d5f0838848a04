//! Recorded traffic through the bottleneck: timing and sizes of the capture, one flow for each 5-tuple and direction.

use crate::endpoint::flow::{Endpoints, FlowSetup, Identity, Label};
use crate::endpoint::recorded::{Recorded, Replay};
use crate::headers::{IPV4_HEADER, IPV6_HEADER, TCP, UDP, UDP_HEADER};
use crate::network::hosts::{Ends, Host};
use crate::network::path::Path;
use crate::simulation::state::Simulation;
use aqm_core::packet::Ecn;
use aqm_core::units::Time;
use aqm_io::capture::Capture;

/// Group of recorded flows in metrics.
pub(crate) const GROUP: &str = "capture";

/// Adds a capture's flows and packets to the simulation.
pub(crate) fn add(
    simulation: &mut Simulation,
    labels: &mut Vec<Label>,
    group: usize,
    path: &Path,
    capture: &Capture,
) {
    let first = labels.len() as u32;
    // A flow has the DSCP of its first packet.
    let mut dscps = vec![0; capture.flows().len()];
    capture.packets().iter().rev().for_each(|packet| dscps[packet.flow as usize] = packet.dscp);
    for (flow, dscp) in capture.flows().iter().zip(dscps) {
        let number = simulation.add_flow(FlowSetup {
            group,
            forward: &path.forward,
            reverse: &path.reverse,
            propagation: path.propagation,
            identity: Identity {
                hash: flow.hash,
                source: flow.source_hash,
                destination: flow.destination_hash,
                class: 0,
                headers: 0,
                dscp,
                protocol: flow.five_tuple.protocol,
                ecn: Ecn::NotEct,
                back: false,
            },
            endpoints: Endpoints::Datagrams,
            rate_endpoints: None,
            stack: None,
            source: None,
            piece: 0,
            start: Time::ZERO,
            stop: Time::MAX,
            size: None,
        });
        simulation.shared.metrics.shares[number as usize].recorded = true;
        let kind = match flow.five_tuple.protocol {
            TCP => "capture-tcp",
            UDP => "capture-udp",
            _ => "capture-other",
        };
        labels.push(Label {
            group: GROUP.to_owned(),
            kind,
            rtt: path.rtt,
            ideal: None,
            voice: false,
            back: false,
            ends: Ends {
                hosts: [flow.five_tuple.source, flow.five_tuple.destination].map(Host::Recorded),
                ports: Some([flow.five_tuple.ports.0, flow.five_tuple.ports.1]),
            },
        });
    }
    let packets = capture.packets().iter().map(|packet| {
        let five_tuple = &capture.flow_of(packet).five_tuple;
        // The overhead of recorded packets where the capture does not tell.
        let ip_header = u32::from(if five_tuple.source.is_ipv4() { IPV4_HEADER } else { IPV6_HEADER });
        let payload = match packet.tcp {
            Some(tcp) => u32::from(tcp.payload),
            None if five_tuple.protocol == UDP => {
                packet.length.saturating_sub(ip_header + u32::from(UDP_HEADER))
            }
            None => packet.length.saturating_sub(ip_header),
        };
        Recorded {
            at: packet.time,
            flow: first + packet.flow,
            ip_length: packet.length,
            payload,
            ecn: packet.ecn,
            tcp: packet.tcp,
        }
    });
    simulation.add_replay(Replay { packets: packets.collect(), next: 0, start: Time::ZERO });
}
