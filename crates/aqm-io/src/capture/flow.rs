//! Flows: numbers and hashes of 5-tuples.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::net::IpAddr;

/// The key of a flow: one direction of a conversation. Ports are zero where there are none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FiveTuple {
    /// Sender.
    pub source: IpAddr,
    /// Receiver.
    pub destination: IpAddr,
    /// IP protocol number (6 TCP, 17 UDP), behind IPv6 extension headers.
    pub protocol: u8,
    /// Source and destination port.
    pub ports: (u16, u16),
}

/// A flow of a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CapturedFlow {
    /// Addresses, protocol and ports.
    pub five_tuple: FiveTuple,
    /// The flow in the opposite direction, if that came first: then this flow holds the replies.
    pub reply_to: Option<u32>,
    /// Hash of the 5-tuple, the same in every run and on every machine.
    pub hash: u64,
    /// Hash of the sender's address.
    pub source_hash: u32,
    /// Hash of the receiver's address.
    pub destination_hash: u32,
    /// How many packets it has.
    pub packets: u64,
    /// IP bytes in them.
    pub bytes: u64,
}

impl FiveTuple {
    /// The opposite direction.
    pub const fn reversed(&self) -> FiveTuple {
        FiveTuple {
            source: self.destination,
            destination: self.source,
            protocol: self.protocol,
            ports: (self.ports.1, self.ports.0),
        }
    }

    fn hash(&self) -> u64 {
        let hash = Hash::new().add_address(self.source).add_address(self.destination);
        hash.add(&[self.protocol]).add(&self.ports.0.to_be_bytes()).add(&self.ports.1.to_be_bytes()).finish()
    }
}

/// Numbers flows in the order in which they appear.
#[derive(Default)]
pub(super) struct FlowTable {
    numbers: BTreeMap<FiveTuple, u32>,
    flows: Vec<CapturedFlow>,
}

impl FlowTable {
    /// The number of the flow of a packet; adds its `length` to the flow's bytes.
    pub(super) fn number(&mut self, five_tuple: &FiveTuple, length: u32) -> u32 {
        let reply_to = self.numbers.get(&five_tuple.reversed()).copied();
        let number = match self.numbers.entry(*five_tuple) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(new) => {
                // There is at most one flow per packet, and fewer packets than u32::MAX.
                let number = *new.insert(self.flows.len() as u32);
                let (hash, source_hash, destination_hash) = hashes(five_tuple);
                self.flows.push(CapturedFlow {
                    five_tuple: *five_tuple,
                    reply_to,
                    hash,
                    source_hash,
                    destination_hash,
                    packets: 0,
                    bytes: 0,
                });
                number
            }
        };
        let flow = &mut self.flows[number as usize];
        flow.packets += 1;
        flow.bytes += u64::from(length);
        number
    }

    pub(super) fn flows(&self) -> &[CapturedFlow] {
        &self.flows
    }

    pub(super) fn into_flows(self) -> Vec<CapturedFlow> {
        self.flows
    }
}

/// The hashes of a 5-tuple: of the whole, of the sender's address and of the receiver's.
pub(super) fn hashes(five_tuple: &FiveTuple) -> (u64, u32, u32) {
    let host = |address| Hash::new().add_address(address).finish() as u32;
    (five_tuple.hash(), host(five_tuple.source), host(five_tuple.destination))
}

/// FNV-1a with 64 bits, then MurmurHash3's finaliser, so that every bit of the result depends on every byte.
pub(super) struct Hash(u64);

impl Hash {
    pub(super) fn new() -> Hash {
        Hash(0xcbf2_9ce4_8422_2325)
    }

    pub(super) fn add(self, bytes: &[u8]) -> Hash {
        Hash(
            bytes
                .iter()
                .fold(self.0, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)),
        )
    }

    pub(super) fn add_address(self, address: IpAddr) -> Hash {
        match address {
            IpAddr::V4(address) => self.add(&address.octets()),
            IpAddr::V6(address) => self.add(&address.octets()),
        }
    }

    pub(super) fn finish(self) -> u64 {
        let hash = (self.0 ^ self.0 >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
        let hash = (hash ^ hash >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
        hash ^ hash >> 33
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn tuple(port: u16) -> FiveTuple {
        let address = |last| IpAddr::from([192, 0, 2, last]);
        FiveTuple { source: address(1), destination: address(2), protocol: 6, ports: (port, 80) }
    }

    #[test]
    fn flows_are_numbered_as_they_appear_and_replies_know_their_flow() {
        let mut table = FlowTable::default();
        let numbers =
            [tuple(1), tuple(2), tuple(1).reversed(), tuple(1)].map(|tuple| table.number(&tuple, 100));
        assert_eq!(numbers, [0, 1, 2, 0]);
        let flows = table.into_flows();
        assert_eq!(flows.iter().map(|flow| flow.reply_to).collect::<Vec<_>>(), [None, None, Some(0)]);
        assert_eq!((flows[0].packets, flows[0].bytes, flows[1].packets), (2, 200, 1));
        assert_eq!(flows[0].source_hash, flows[2].destination_hash);
        assert_ne!(flows[0].hash, flows[2].hash);
    }

    #[test]
    fn the_hash_never_changes_and_tells_flows_apart() {
        assert_eq!(Hash::new().add(b"").finish(), 0xefd0_1f60_ba99_2926);
        assert_eq!(Hash::new().add(b"foobar").0, 0x8594_4171_f739_67e8); // FNV-1a's published test vector
        // Low bits pick buckets: 4096 flows must not share a few of 1024.
        let buckets: BTreeSet<u64> = (0..4096).map(|port| tuple(port).hash() % 1024).collect();
        assert!(buckets.len() > 980, "{}", buckets.len()); // expected 1024 (1 - e^-4) = 1005
    }
}
