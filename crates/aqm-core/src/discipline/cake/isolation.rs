//! What is isolated (flows or hosts), and between which hosts the link is shared first.

use super::sets::Key;
use crate::choices;
use crate::packet::Packet;

choices! {
    /// What has a queue of its own, and which hosts share first, by tc-cake(8)'s keywords.
    pub(super) enum Fairness {
        Triple = "triple-isolate",
        Flowblind = "flowblind",
        SrcHost = "srchost",
        DstHost = "dsthost",
        Hosts = "hosts",
        Flows = "flows",
        DualSrcHost = "dual-srchost",
        DualDstHost = "dual-dsthost",
    }
}

/// The fields that separate packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Isolation {
    queues: Queues,
    /// Whether the flows of a source, and of a destination, share one quantum.
    pub(super) shared: [bool; 2],
    /// Makes the hash differ between runs.
    salt: u64,
}

/// What gets a queue of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Queues {
    Nothing,
    Source,
    Destination,
    Pair,
    Flow,
}

impl Isolation {
    /// The isolation of a keyword.
    pub(super) fn new(keyword: Fairness, salt: u64) -> Isolation {
        let (queues, shared) = match keyword {
            Fairness::Flowblind => (Queues::Nothing, [false, false]),
            Fairness::SrcHost => (Queues::Source, [false, false]),
            Fairness::DstHost => (Queues::Destination, [false, false]),
            Fairness::Hosts => (Queues::Pair, [false, false]),
            Fairness::Flows => (Queues::Flow, [false, false]),
            Fairness::DualSrcHost => (Queues::Flow, [true, false]),
            Fairness::DualDstHost => (Queues::Flow, [false, true]),
            Fairness::Triple => (Queues::Flow, [true, true]),
        };
        Isolation { queues, shared, salt }
    }

    /// The key of the queue of `packet` in a table of `records`.
    #[inline]
    pub(super) fn queue(&self, packet: &Packet, records: usize) -> Key {
        let name = match self.queues {
            Queues::Nothing => return Key { home: 0, tag: 0 },
            Queues::Source => u64::from(packet.source),
            Queues::Destination => u64::from(packet.destination),
            Queues::Pair => u64::from(packet.source) << 32 | u64::from(packet.destination),
            Queues::Flow => packet.flow,
        };
        Key::new(name ^ self.salt, records)
    }

    /// The key of the source (0) or destination (1) of `packet` in a table of `records`.
    pub(super) fn host(&self, side: usize, packet: &Packet, records: usize) -> Key {
        let host = if side == 0 { packet.source } else { packet.destination };
        Key::new(u64::from(host) ^ self.salt, records)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether two packets with these (flow, source, destination) are in queues of their own.
    fn apart(keyword: Fairness, left: (u64, u32, u32), right: (u64, u32, u32)) -> bool {
        let key = |(flow, source, destination)| {
            let mut packet = Packet::new(0, flow, 100);
            (packet.source, packet.destination) = (source, destination);
            Isolation::new(keyword, 5).queue(&packet, 1024)
        };
        key(left) != key(right)
    }

    #[test]
    fn queues_are_kept_by_what_the_keyword_says() {
        let first = (1, 10, 20);
        // Another flow of both hosts, another source, another destination.
        let others = [(2, 10, 20), (2, 11, 20), (2, 10, 21)];
        for (keyword, expected) in [
            (Fairness::Flowblind, [false, false, false]),
            (Fairness::SrcHost, [false, true, false]),
            (Fairness::DstHost, [false, false, true]),
            (Fairness::Hosts, [false, true, true]),
            (Fairness::Flows, [true, true, true]),
            (Fairness::DualSrcHost, [true, true, true]),
            (Fairness::DualDstHost, [true, true, true]),
            (Fairness::Triple, [true, true, true]),
        ] {
            assert_eq!(others.map(|other| apart(keyword, first, other)), expected, "{keyword:?}");
        }
    }

    #[test]
    fn hosts_share_only_where_the_keyword_says() {
        use Fairness::{DualDstHost, DualSrcHost, Flows, Hosts, Triple};
        let shared = |keyword| Isolation::new(keyword, 0).shared;
        assert_eq!([shared(Flows), shared(Hosts)], [[false, false]; 2]);
        assert_eq!([shared(DualSrcHost), shared(DualDstHost)], [[true, false], [false, true]]);
        assert_eq!(shared(Triple), [true, true]);
    }
}
