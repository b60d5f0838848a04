//! Addresses of hosts, as captures of a run have them: a node has one address in all packets of all flows.
//!
//! Hosts on the home's side of the bottleneck have private addresses (RFC 1918), the others those for benchmarks (RFC 2544),
//! so that a reader of the capture finds the home. Of replayed traffic, the capture's own addresses say who is private.

use super::graph::{LinkId, Network, NodeId};
use std::collections::BTreeMap;
use std::net::IpAddr;

/// The first port of Linux's range, and iperf3's.
const PORTS: (u16, u16) = (49_152, 5_201);
/// How many ports Linux's range has from there on.
const EPHEMERAL: usize = 16_384;
/// 10.0.0.0/8.
const HOME: u32 = 10 << 24;
/// 198.18.0.0/15, and how many hosts it has: of more, some share an address, and differ by ports.
const OTHERS: u32 = (198 << 24) | (18 << 16);
const MOST_OTHERS: u32 = (1 << 17) - 2;

/// A host of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Host {
    /// A node of the network.
    Node(NodeId),
    /// A host of a replayed capture.
    Recorded(IpAddr),
}

/// Both ends of a flow: the sender of its data, and their receiver.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ends {
    pub(crate) hosts: [Host; 2],
    /// Ports, where a capture has them.
    pub(crate) ports: Option<[u16; 2]>,
}

/// One end of a flow, as headers have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Socket {
    pub(crate) address: [u8; 4],
    pub(crate) port: u16,
    pub(crate) is_home: bool,
}

/// The sockets of every flow, with its ends and the links that its data take; `bottleneck` parts the home from the others.
pub(crate) fn sockets<'a>(
    network: &Network,
    bottleneck: LinkId,
    flows: impl Iterator<Item = (Ends, &'a [u32])> + Clone,
) -> Vec<[Socket; 2]> {
    let mut homes = BTreeMap::new();
    for (ends, route) in flows.clone() {
        for (place, &host) in ends.hosts.iter().enumerate() {
            let is_home = match host {
                Host::Node(_) => home_end(network, bottleneck, route) == Some(place),
                Host::Recorded(address) => is_private(address),
            };
            *homes.entry(host).or_insert(false) |= is_home;
        }
    }
    let mut addresses = BTreeMap::new();
    let mut next = [0, 0];
    let flows = flows.enumerate().map(|(number, (ends, _))| {
        let simulated =
            [PORTS.0 + (number % EPHEMERAL) as u16, PORTS.1.wrapping_add((number / EPHEMERAL) as u16)];
        let ports = ends.ports.unwrap_or(simulated);
        [0, 1].map(|place| {
            let host = ends.hosts[place];
            let is_home = homes[&host];
            let number = *addresses.entry(host).or_insert_with(|| {
                next[usize::from(is_home)] += 1;
                next[usize::from(is_home)]
            });
            let address = if is_home { HOME + number } else { OTHERS + (number - 1) % MOST_OTHERS + 1 };
            Socket { address: address.to_be_bytes(), port: ports[place], is_home }
        })
    });
    flows.collect()
}

/// Which end of a flow is at home, if it crosses the bottleneck.
fn home_end(network: &Network, bottleneck: LinkId, route: &[u32]) -> Option<usize> {
    let (from, to) = (network.links[bottleneck].from, network.links[bottleneck].to);
    let there = route.iter().find_map(|&link| {
        let link = &network.links[link as usize];
        let ends = (link.from, link.to);
        if ends == (from, to) { Some(true) } else { (ends == (to, from)).then_some(false) }
    })?;
    Some(usize::from(there == is_down(network, bottleneck)))
}

/// Whether a link leads to the home: it is called so, or is faster than that in the other direction.
fn is_down(network: &Network, link: LinkId) -> bool {
    let this = &network.links[link];
    match this.name.as_deref() {
        Some("down") => true,
        Some("up") => false,
        _ => {
            let mut back = network.out[this.to].iter().map(|&back| &network.links[back]);
            back.find(|back| back.to == this.from)
                .is_some_and(|back| back.capacity.mean_rate() < this.capacity.mean_rate())
        }
    }
}

/// Whether an address is one of a home's network: RFC 1918, RFC 6598, RFC 3927, RFC 4193, or of IPv6's link.
fn is_private(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => {
            let [first, second, ..] = address.octets();
            address.is_private() || address.is_link_local() || (first == 100 && second & 0xc0 == 64)
        }
        IpAddr::V6(address) => address.is_unique_local() || address.is_unicast_link_local(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::graph::LinkSpec;
    use aqm_core::units::{Rate, Span};

    fn line(down: u64, up: u64, name: Option<&str>) -> Network {
        let mut network = Network::default();
        let [isp, modem] = ["isp", "modem"].map(|name| network.node(name.to_owned()));
        for (from, to, rate, name) in [(isp, modem, down, name), (modem, isp, up, None)] {
            let plain = LinkSpec::plain(from, to, Rate::from_bits_per_sec(rate), Span::ZERO);
            network.link(LinkSpec { name: name.map(str::to_owned), ..plain });
        }
        network
    }

    fn ends(hosts: [NodeId; 2]) -> Ends {
        Ends { hosts: hosts.map(Host::Node), ports: None }
    }

    #[test]
    fn a_node_has_one_address_in_both_directions_and_the_home_is_behind_the_faster_link() {
        for (network, home) in [
            (line(16, 1, None), true),
            (line(1, 1, Some("down")), true),
            (line(1, 1, None), false),
            (line(16, 1, Some("up")), false),
        ] {
            // A download, an upload, and two more servers.
            let routes: [&[u32]; 3] = [&[0], &[1], &[0]];
            let flows = [ends([0, 1]), ends([1, 0]), ends([7, 1])].into_iter().zip(routes);
            let sockets = sockets(&network, 0, flows);
            assert_eq!(sockets[0][0].address, sockets[1][1].address);
            assert_eq!(sockets[0][1].address, sockets[1][0].address);
            assert_eq!((sockets[0][0].is_home, sockets[0][1].is_home), (!home, home));
            assert_eq!(sockets[0][usize::from(home)].address, [10, 0, 0, 1]);
            assert_eq!(sockets[0][usize::from(!home)].address, [198, 18, 0, 1]);
            assert_ne!(sockets[2][0].address, sockets[0][0].address);
            assert_ne!(sockets[0][0].port, sockets[2][0].port);
        }
    }

    #[test]
    fn hosts_of_a_capture_are_at_home_if_their_addresses_are_private() {
        let network = line(1, 1, None);
        let hosts = ["192.168.1.2", "93.184.216.34", "fd00::1", "2001:db8::1"]
            .map(|text| Host::Recorded(text.parse().unwrap()));
        let flow = |source: usize, destination: usize| {
            let ends = Ends { hosts: [hosts[source], hosts[destination]], ports: Some([5000, 443]) };
            (ends, [0_u32].as_slice())
        };
        let sockets = sockets(&network, 0, [flow(0, 1), flow(1, 0), flow(3, 2)].into_iter());
        assert_eq!(sockets[0].map(|one| one.is_home), [true, false]);
        assert_eq!(sockets[0].map(|one| one.address), [sockets[1][1].address, sockets[1][0].address]);
        assert_eq!(sockets[0].map(|one| one.port), [5000, 443]);
        assert_eq!(sockets[2].map(|one| one.is_home), [false, true]);
    }

    #[test]
    fn flows_between_the_same_hosts_have_ports_of_their_own() {
        let network = line(1, 1, None);
        let flows = (0..40_000).map(|_| (ends([0, 1]), [0_u32].as_slice()));
        let sockets = sockets(&network, 0, flows);
        let pairs: std::collections::BTreeSet<_> =
            sockets.iter().map(|[source, to]| (source.port, to.port)).collect();
        assert_eq!(pairs.len(), 40_000);
        assert_eq!((sockets[0][0].port, sockets[0][1].port), PORTS);
    }
}
