//! Packets that a capture has more than once: of two interfaces of a router (`-i any`), with and without a VLAN tag, on
//! both sides of a NAT, from a mirror port.
//!
//! A capture is read once to find them, and once more without them. A track is a flow as one place captured it, which is
//! known by interface and by the depth of the link layer. Two tracks are copies if nearly all packets of the smaller
//! one are in the other. A flow is captured twice in one place if nearly every packet has a copy.

use super::decode::Decoded;
use super::fingerprint;
use super::flow::FlowTable;
use aqm_core::units::Span;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

/// Slots for recent packets, two each.
const SLOTS: usize = 1 << 16;
/// Between the copies of two interfaces there may be a router's own queue; those of one place follow at once.
const FARTHEST: Span = Span::from_secs(2);
const FARTHEST_IN_PLACE: Span = Span::from_millis(150);
/// Share of the smaller track that has copies.
const NEARLY_ALL: f64 = 0.8;
/// Share of the packets of one place that are a copy of one before, where each is there twice to five times. A larger
/// share is a flow whose packets are all alike.
const NEARLY_HALF: f64 = 0.4;
const ALL_ALIKE: f64 = 0.85;
/// Fewer packets say nothing alone.
const FEW: u64 = 10;
/// Of two tracks whose bytes differ by more, the smaller one is incomplete.
const COMPLETE: f64 = 0.8;

/// Where a packet was captured: interface, what the link layer says of it, and the offset of the IP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) interface: u32,
    pub(super) vantage: u64,
    pub(super) offset: u32,
}

#[derive(Clone, Copy, Default)]
struct Slot {
    key: u64,
    time: Span,
    track: u32,
}

/// A flow as one place captured it.
#[derive(Clone, Copy)]
struct Track {
    flow: u32,
    place: u32,
    /// Packets with a fingerprint.
    packets: u64,
    bytes: u64,
    /// Those that are a copy of one before in the same track.
    repeated: u64,
}

impl Track {
    /// Nothing distinguishes its packets.
    fn is_alike(&self) -> bool {
        self.packets >= FEW && self.repeated as f64 >= ALL_ALIKE * self.packets as f64
    }
}

/// How two tracks may come to have the same packets.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Relation {
    /// Two places captured a flow.
    Places(u32, u32),
    /// A NAT made one address of the other.
    Translation(IpAddr, IpAddr),
}

/// Follows the packets of a capture.
pub(super) struct Copies {
    slots: Vec<Slot>,
    flows: FlowTable,
    places: BTreeMap<Place, u32>,
    numbers: BTreeMap<(u32, u32), u32>,
    tracks: Vec<Track>,
    /// Packets of the second track that copy one of the first.
    pairs: BTreeMap<(u32, u32), u64>,
    /// IP bytes of each place.
    place_bytes: Vec<u64>,
}

/// What to leave out.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct LeftOut {
    tracks: BTreeSet<u32>,
    /// Tracks whose packets are there twice.
    repeated: BTreeSet<u32>,
}

/// A packet as [`Copies`] knows it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    track: u32,
    is_repeated: bool,
}

impl LeftOut {
    pub(super) fn is_empty(&self) -> bool {
        self.tracks.is_empty() && self.repeated.is_empty()
    }

    pub(super) fn has(&self, known: Known) -> bool {
        self.tracks.contains(&known.track) || (known.is_repeated && self.repeated.contains(&known.track))
    }
}

impl Default for Copies {
    fn default() -> Copies {
        Copies {
            slots: vec![Slot::default(); SLOTS],
            flows: FlowTable::default(),
            places: BTreeMap::new(),
            numbers: BTreeMap::new(),
            tracks: Vec::new(),
            pairs: BTreeMap::new(),
            place_bytes: Vec::new(),
        }
    }
}

impl Copies {
    /// Adds the next packet, captured at `time` in a place.
    pub(super) fn add(&mut self, decoded: &Decoded<'_>, place: Place, time: Span) -> Known {
        let flow = self.flows.number(&decoded.five_tuple, decoded.length);
        let places = self.places.len() as u32;
        let place = *self.places.entry(place).or_insert(places);
        if place == places {
            self.place_bytes.push(0);
        }
        self.place_bytes[place as usize] += u64::from(decoded.length);
        let tracks = self.tracks.len() as u32;
        let number = *self.numbers.entry((flow, place)).or_insert(tracks);
        if number == tracks {
            self.tracks.push(Track { flow, place, packets: 0, bytes: 0, repeated: 0 });
        }
        let track = &mut self.tracks[number as usize];
        track.bytes += u64::from(decoded.length);
        let mut known = Known { track: number, is_repeated: false };
        let Some(fingerprint) = fingerprint::fingerprint(decoded) else { return known };
        track.packets += 1;
        let mut earlier = None;
        for key in fingerprint::by_end(fingerprint, decoded) {
            let slot = &mut self.slots[key as usize % SLOTS];
            let since = time.saturating_sub(slot.time);
            let farthest = if slot.track == number { FARTHEST_IN_PLACE } else { FARTHEST };
            // What the track itself has had says more than what another one has.
            if slot.key == key && since <= farthest && earlier != Some(number) {
                earlier = Some(slot.track);
            }
            *slot = Slot { key, time, track: number };
        }
        match earlier {
            Some(earlier) if earlier == number => {
                self.tracks[number as usize].repeated += 1;
                known.is_repeated = true;
            }
            Some(earlier) => *self.pairs.entry((earlier, number)).or_default() += 1,
            None => {}
        }
        known
    }

    /// What to leave out, so that each packet is there once.
    pub(super) fn left_out(&self) -> LeftOut {
        LeftOut { tracks: self.copied_tracks(), repeated: self.repeated_tracks() }
    }

    fn repeated_tracks(&self) -> BTreeSet<u32> {
        // Small flows follow the place that captured them.
        let mut places: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
        for track in &self.tracks {
            let (packets, repeated) = places.entry(track.place).or_default();
            (*packets, *repeated) = (*packets + track.packets, *repeated + track.repeated);
        }
        let is_repeated = |packets: u64, repeated: u64| {
            let share = repeated as f64 / packets.max(1) as f64;
            packets >= FEW && (NEARLY_HALF..ALL_ALIKE).contains(&share)
        };
        let found = self.tracks.iter().enumerate().filter(|(_, track)| {
            let (packets, repeated) = places[&track.place];
            let (packets, repeated) =
                if track.packets >= FEW { (track.packets, track.repeated) } else { (packets, repeated) };
            track.repeated > 0 && is_repeated(packets, repeated)
        });
        found.map(|(number, _)| number as u32).collect()
    }

    fn copied_tracks(&self) -> BTreeSet<u32> {
        let mut copies: BTreeMap<(u32, u32), u64> = BTreeMap::new();
        for ((one, other), count) in &self.pairs {
            *copies.entry((*one.min(other), *one.max(other))).or_default() += count;
        }
        copies.retain(|(one, other), count| {
            if [one, other].iter().any(|number| self.track(**number).is_alike()) {
                return false;
            }
            let least = self.track(*one).packets.min(self.track(*other).packets);
            *count as f64 >= NEARLY_ALL * least as f64
        });
        // Small flows follow the places, or the addresses of a NAT, that larger ones have shown.
        let mut evidence: BTreeMap<Relation, u64> = BTreeMap::new();
        for ((one, other), count) in &copies {
            if let Some(relation) = self.relation(*one, *other) {
                *evidence.entry(relation).or_default() += count;
            }
        }
        let mut left_out = BTreeSet::new();
        for (one, other) in copies.keys() {
            let relation = self.relation(*one, *other);
            match relation.filter(|relation| evidence[relation] >= FEW) {
                Some(Relation::Places(..)) => {
                    left_out.insert(self.less_complete(*one, *other));
                }
                Some(Relation::Translation(first, second)) => {
                    // The home's own addresses tell more than the address that a NAT gives.
                    let is_first = (rank(first), first) <= (rank(second), second);
                    left_out.insert(if is_first { *other } else { *one });
                }
                None => {}
            }
        }
        left_out
    }

    fn track(&self, number: u32) -> &Track {
        &self.tracks[number as usize]
    }

    /// How two tracks may come to have the same packets.
    fn relation(&self, one: u32, other: u32) -> Option<Relation> {
        let (first, second) = (self.track(one), self.track(other));
        if first.flow == second.flow {
            return Some(Relation::Places(first.place.min(second.place), first.place.max(second.place)));
        }
        let tuple = |number| self.flows.flows()[self.track(number).flow as usize].five_tuple;
        let (one, other) = (tuple(one), tuple(other));
        let is_same = (
            one.source == other.source && one.ports.0 == other.ports.0,
            one.destination == other.destination && one.ports.1 == other.ports.1,
        );
        let ends = match is_same {
            (true, false) => (one.destination, other.destination),
            (false, true) => (one.source, other.source),
            _ => return None,
        };
        let is_group = [ends.0, ends.1, one.destination].iter().any(IpAddr::is_multicast);
        (!is_group && ends.0 != ends.1).then_some(Relation::Translation(ends.0, ends.1))
    }

    /// Of two tracks of a flow, the incomplete one; else the one of the place with less, the same for both directions.
    fn less_complete(&self, one: u32, other: u32) -> u32 {
        let bytes = [one, other].map(|number| self.track(number).bytes as f64);
        if bytes[0] < COMPLETE * bytes[1] {
            return one;
        }
        if bytes[1] < COMPLETE * bytes[0] {
            return other;
        }
        let order = |number| {
            let place = self.track(number).place;
            (Reverse(self.place_bytes[place as usize]), place)
        };
        if order(one) <= order(other) { other } else { one }
    }
}

/// Private addresses first, then those of a carrier's NAT (RFC 6598), then the rest.
fn rank(address: IpAddr) -> u8 {
    match address {
        IpAddr::V4(v4) if v4.is_private() || v4.is_link_local() => 0,
        IpAddr::V6(v6) if v6.is_unique_local() || v6.is_unicast_link_local() => 0,
        IpAddr::V4(v4) if v4.octets()[0] == 100 && v4.octets()[1] & 0xc0 == 64 => 1,
        _ => 2,
    }
}
