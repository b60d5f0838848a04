//! Statistics of a capture.

use super::packets::Capture;
use super::skipped::{SkipReason, Skipped};
use aqm_core::units::{Rate, Span};
use std::collections::BTreeMap;
use std::fmt;

/// Statistics of a capture; `Display` writes a few lines for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// IP packets.
    pub packets: u64,
    /// IPv4 packets among them.
    pub ipv4_packets: u64,
    /// IPv6 packets among them.
    pub ipv6_packets: u64,
    /// IP bytes on the wire.
    pub bytes: u64,
    /// Time between the first and the last packet.
    pub duration: Span,
    /// Flows (5-tuples, each direction its own) by protocol: `TCP`, `UDP`, `protocol 47`.
    pub flows: BTreeMap<String, u64>,
    /// Counts of everything that is not an IP packet, or was captured before.
    pub skipped: Skipped,
}

impl Capture {
    /// The statistics.
    pub fn summary(&self) -> Summary {
        Summary::of(self)
    }

    /// Warnings about results from this capture, one line each.
    pub fn warnings(&self) -> Vec<String> {
        warnings(self)
    }
}

impl Summary {
    fn of(capture: &Capture) -> Summary {
        let mut flows = BTreeMap::new();
        let (mut ipv6_packets, mut bytes) = (0, 0);
        for flow in capture.flows() {
            *flows.entry(protocol_name(flow.five_tuple.protocol)).or_default() += 1;
            bytes += flow.bytes;
            ipv6_packets += if flow.five_tuple.source.is_ipv6() { flow.packets } else { 0 };
        }
        let packets = capture.packets().len() as u64;
        Summary {
            packets,
            ipv4_packets: packets - ipv6_packets,
            ipv6_packets,
            bytes,
            duration: capture.duration(),
            flows,
            skipped: capture.skipped().clone(),
        }
    }

    /// IP bits per second over the duration; `None` if all packets have the same time.
    pub fn mean_rate(&self) -> Option<Rate> {
        let nanos = u128::from(self.duration.as_nanos());
        let bits_per_sec = (u128::from(self.bytes) * 8_000_000_000).checked_div(nanos)?;
        Some(Rate::from_bits_per_sec(u64::try_from(bits_per_sec).unwrap_or(u64::MAX)))
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} packets ({} IPv4, {} IPv6), ", self.packets, self.ipv4_packets, self.ipv6_packets)?;
        write!(f, "{} bytes in {:.3} s", self.bytes, self.duration.as_secs_f64())?;
        if let Some(rate) = self.mean_rate() {
            write!(f, ", {:.3} Mbit/s on average", rate.as_bits_per_sec() as f64 / 1e6)?;
        }
        let flows: Vec<String> =
            self.flows.iter().map(|(protocol, count)| format!("{count} {protocol}")).collect();
        write!(f, "\nflows: {}\nleft out: {}", flows.join(", "), self.skipped)
    }
}

fn warnings(capture: &Capture) -> Vec<String> {
    let odd = capture.oddities();
    let counted = [
        (odd.backward, "packets earlier than the one in front, which were given its time"),
        (
            odd.leaps,
            "leaps in time, back by over a second or ahead by over an hour (joined recordings?), which were cut to a second",
        ),
        (odd.untimed, "packets without a time, which were given that of the one in front"),
        (
            odd.oversized,
            "packets of more than 1500 bytes, from the capturing host's offloads (GSO, GRO) or jumbo frames",
        ),
        (
            odd.cut_transport,
            "packets without their whole transport header (capture at least 128 bytes: tcpdump -s 128)",
        ),
        (
            capture.skipped().count(SkipReason::Copy),
            "packets captured more than once (two interfaces, both sides of a NAT, a mirror port), which are counted once",
        ),
        (
            odd.beyond_frame,
            "packets longer by their IP header than their frame (payload removed?), which was believed",
        ),
    ];
    let mut warnings: Vec<String> = counted
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{what}: {count}"))
        .collect();
    // Copies have a line of their own.
    let skipped = capture.skipped().without(SkipReason::Copy);
    if skipped.total() > 0 {
        warnings.push(format!("frames left out: {skipped}"));
    }
    warnings.extend(capture.damage.clone());
    warnings.iter().map(|warning| format!("{}: {warning}", capture.name())).collect()
}

fn protocol_name(number: u8) -> String {
    match number {
        1 => "ICMP".to_string(),
        2 => "IGMP".to_string(),
        6 => "TCP".to_string(),
        17 => "UDP".to_string(),
        58 => "ICMPv6".to_string(),
        other => format!("protocol {other}"),
    }
}
