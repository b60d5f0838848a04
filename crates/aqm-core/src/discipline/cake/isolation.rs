//! What is isolated (flows or hosts), and between which hosts the link is shared first.

use super::sets::Key;
use crate::packet::Packet;

/// tc-cake(8)'s keywords, the default first.
pub(super) const WORDS: &[&str] =
    &["triple-isolate", "flowblind", "srchost", "dsthost", "hosts", "flows", "dual-srchost", "dual-dsthost"];

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
    pub(super) fn new(word: &str, salt: u64) -> Isolation {
        let (queues, shared) = match word {
            "flowblind" => (Queues::Nothing, [false, false]),
            "srchost" => (Queues::Source, [false, false]),
            "dsthost" => (Queues::Destination, [false, false]),
            "hosts" => (Queues::Pair, [false, false]),
            "flows" => (Queues::Flow, [false, false]),
            "dual-srchost" => (Queues::Flow, [true, false]),
            "dual-dsthost" => (Queues::Flow, [false, true]),
            _ => (Queues::Flow, [true, true]),
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
    fn apart(word: &str, left: (u64, u32, u32), right: (u64, u32, u32)) -> bool {
        let key = |(flow, source, destination)| {
            let mut packet = Packet::new(0, flow, 100);
            (packet.source, packet.destination) = (source, destination);
            Isolation::new(word, 5).queue(&packet, 1024)
        };
        key(left) != key(right)
    }

    #[test]
    fn queues_are_kept_by_what_the_keyword_says() {
        let first = (1, 10, 20);
        // Another flow of both hosts, another source, another destination.
        let others = [(2, 10, 20), (2, 11, 20), (2, 10, 21)];
        for (word, expected) in [
            ("flowblind", [false, false, false]),
            ("srchost", [false, true, false]),
            ("dsthost", [false, false, true]),
            ("hosts", [false, true, true]),
            ("flows", [true, true, true]),
            ("dual-srchost", [true, true, true]),
            ("dual-dsthost", [true, true, true]),
            ("triple-isolate", [true, true, true]),
        ] {
            assert!(WORDS.contains(&word));
            assert_eq!(others.map(|other| apart(word, first, other)), expected, "{word}");
        }
    }

    #[test]
    fn hosts_share_only_where_the_keyword_says() {
        let shared = |word| Isolation::new(word, 0).shared;
        assert_eq!([shared("flows"), shared("hosts")], [[false, false]; 2]);
        assert_eq!([shared("dual-srchost"), shared("dual-dsthost")], [[true, false], [false, true]]);
        assert_eq!(shared("triple-isolate"), [true, true]);
    }
}
