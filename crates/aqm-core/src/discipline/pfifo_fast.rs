//! # What it does
//! Three first-in-first-out bands under strict priority, chosen by the type of service; a full band drops the arriving
//! packet, and where bands share a limit, the longest gives way.
//!
//! # Reference
//! Linux `pfifo_fast`, tc-pfifo_fast(8) and tc-prio(8) (types of service, priorities and bands); RFC 1349 for the types
//! of service. `ns3`: bands share their room, as in ns-3's `PfifoFastQueueDisc`.
//!
//! # Parameters
//! See `aqmlab aqm show pfifo_fast`.
//!
//! # Deviations
//! The band follows from the DSCP only: sockets cannot set a priority here. `limit` applies to all bands together, as
//! in every discipline here; Linux has only `band_limit` (`txqueuelen`), so its whole limit is three times that. Under
//! another `limit` bands share it.
//!
//! # Promises
//! Order kept within a band, and so within a flow that keeps its DSCP; drops only when full; never marks. A band that
//! holds no more than a third of the limit loses no packet to another, except with `sharing complete`.

use super::priomap::{LINUX, priority};
use super::sharing::{SHARING, Sharing, longer, longest, pushes_out};
use super::{Blueprint, Built, Discipline, Group, Info, LIMIT, ProbeSpec, Traits};
use crate::backlog::Backlog;
use crate::cx::Cx;
use crate::packet::Packet;
use crate::params::{Kind, ParamError, ParamSpec, Params, Preset, Value};
use crate::paused::PausedClasses;
use crate::queue::Fifo;
use crate::signal::DropReason;
use crate::units::{Size, Time};
use alloc::boxed::Box;

/// The registry entry.
pub static INFO: Info = Info {
    name: "pfifo_fast",
    group: Group::Queue,
    summary: "Three bands by type of service under strict priority, dropping only when full",
    reference: "Linux pfifo_fast; tc-pfifo_fast(8), tc-prio(8)",
    params: &[
        LIMIT.or_auto("three times band_limit"),
        SHARING.with_reference("as the schedulers over classes; ns-3: complete"),
        ParamSpec::new(
            "band_limit",
            Kind::Size,
            Value::Auto,
            (1.0, 1e12),
            "Limit of each band, in packets or bytes",
            "ns-3: the limit of all bands",
        )
        .or_auto("limit, or 1000 packets if that is auto, too"),
    ],
    presets: &[
        Preset {
            name: "linux",
            source: "pfifo_fast_enqueue() of Linux 6.1 net/sched/sch_generic.c: each band has a ring of txqueuelen (1000) packets",
            values: &[("limit", Value::Auto)],
        },
        Preset {
            name: "ns3",
            source: "ns-3.27 src/traffic-control/model/pfifo-fast-queue-disc.cc: 1000 packets in all bands, and a packet that finds as many is dropped",
            values: &[("sharing", Value::Choice(Sharing::Complete.word()))],
        },
    ],
    probes: &[
        ProbeSpec { name: "band_0", unit: "packets", help: "Packets in the band that goes first" },
        ProbeSpec { name: "band_1", unit: "packets", help: "Packets in the middle band" },
        ProbeSpec { name: "band_2", unit: "packets", help: "Packets in the band that goes last" },
    ],
    traits: Traits {
        wakes: false,
        ecn: false,
        drops_queued: true,
        reorders_flows: true,
        reorders_within_flow: false,
        quiet_packets: u64::MAX,
        flow_state_bytes: 0,
    },
    deviations: "the band follows from the DSCP alone, not from a socket's priority; limit holds for all bands together",
    build,
};

const BANDS: usize = 3;

/// Packets in a queue of Ethernet, which each band has.
const TXQUEUELEN: Size = Size::Packets(1000);

struct PfifoFast {
    bands: [Fifo; BANDS],
    settings: Settings,
}

struct Settings {
    limit: Size,
    band_limit: Size,
    pushout: bool,
}

fn settings(params: &Params) -> Settings {
    let limit = params.size("limit");
    let band_limit = params.size("band_limit").or(limit).unwrap_or(TXQUEUELEN);
    let all = band_limit.with_count(band_limit.count().saturating_mul(BANDS as u64));
    Settings { limit: limit.unwrap_or(all), band_limit, pushout: pushes_out(params) }
}

fn build(Blueprint { params, .. }: Blueprint<'_>) -> Built {
    Ok(Box::new(PfifoFast { bands: Default::default(), settings: settings(params) }))
}

impl PfifoFast {
    fn backlogs(&self) -> impl Iterator<Item = Backlog> {
        self.bands.iter().map(Fifo::backlog)
    }

    /// Drops packets of longer bands for one of `length` in band `number`; returns whether there is room now.
    #[cold]
    fn make_room(&mut self, number: usize, length: u32, cx: &mut Cx<'_>) -> bool {
        let limit = self.settings.limit;
        let fits = self.settings.pushout && !Backlog::default().would_exceed(limit, length);
        while fits && self.backlog().would_exceed(limit, length) {
            let Some(longer) = longer(self.backlogs(), number, length, limit) else { return false };
            let oldest = self.bands[longer].pop().expect("a longer band is not empty");
            cx.drop(oldest, DropReason::Overlimit);
        }
        fits
    }

    /// A band is chosen by the DSCP: packets behind one of a paused class wait with it.
    #[cold]
    fn dequeue_unpaused(&mut self, paused: PausedClasses) -> Option<Packet> {
        let may_send = |band: &&mut Fifo| band.head().is_some_and(|head| !paused.contains(head.class));
        self.bands.iter_mut().find(may_send).and_then(Fifo::pop)
    }
}

impl Discipline for PfifoFast {
    #[inline]
    fn enqueue(&mut self, packet: Packet, cx: &mut Cx<'_>) {
        let number = usize::from(LINUX[priority(packet.dscp)]);
        let Settings { limit, band_limit, .. } = self.settings;
        let full = self.bands[number].backlog().would_exceed(band_limit, packet.length)
            || (self.backlog().would_exceed(limit, packet.length)
                && !self.make_room(number, packet.length, cx));
        if full {
            return cx.drop(packet, DropReason::Overlimit);
        }
        self.bands[number].push(packet);
    }

    #[inline]
    fn dequeue(&mut self, cx: &mut Cx<'_>) -> Option<Packet> {
        if !cx.paused().is_empty() {
            return self.dequeue_unpaused(cx.paused());
        }
        self.bands.iter_mut().find_map(Fifo::pop)
    }

    /// From the longest band.
    fn evict(&mut self, _cx: &mut Cx<'_>) -> Option<Packet> {
        longest(self.backlogs(), self.settings.limit).and_then(|number| self.bands[number].pop())
    }

    fn parts_limit(&self) -> Option<Size> {
        let band = self.settings.band_limit;
        Some(band.with_count(band.count().saturating_mul(self.bands.len() as u64)))
    }

    #[inline]
    fn backlog(&self) -> Backlog {
        self.backlogs().fold(Backlog::default(), |sum, band| Backlog {
            packets: sum.packets + band.packets,
            bytes: sum.bytes + band.bytes,
        })
    }

    fn change(&mut self, params: &Params, cx: &mut Cx<'_>) -> Result<(), ParamError> {
        self.settings = settings(params);
        let Settings { limit, band_limit, .. } = self.settings;
        // The first bands keep their packets, and the last are trimmed.
        let mut room = limit.count();
        for band in &mut self.bands {
            band.trim(band_limit, cx);
            band.trim(limit.with_count(room), cx);
            room -= band.backlog().in_unit_of(limit);
        }
        Ok(())
    }

    fn purge(&mut self, cx: &mut Cx<'_>) {
        self.bands.iter_mut().for_each(|band| band.purge(cx));
    }

    fn probe(&self, _now: Time, sink: &mut dyn FnMut(&str, f64)) {
        for (name, band) in ["band_0", "band_1", "band_2"].into_iter().zip(&self.bands) {
            sink(name, band.len() as f64);
        }
    }

    fn state_bytes(&self) -> usize {
        size_of::<PfifoFast>()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Host, ms};
    use super::*;
    use alloc::vec::Vec;

    fn put(host: &mut Host, cookie: u64, dscp: u8) {
        let mut packet = Packet::new(cookie, 0, 1000);
        packet.dscp = dscp;
        host.enqueue(ms(0), packet);
    }

    fn rest(host: &mut Host) -> Vec<u64> {
        core::iter::from_fn(|| host.get(ms(1))).collect()
    }

    #[test]
    fn interactive_traffic_goes_first_and_bulk_last() {
        // TOS 0x08 throughput, 0x10 delay, 0x18 both, 0x04 reliability, 0x00; EF is DSCP 46 = 0b101_110: both.
        let mut host = Host::new("pfifo_fast");
        for (cookie, tos) in [(0, 0x08), (1, 0x00), (2, 0x10), (3, 0x18), (4, 0x04), (5, 46 << 2), (6, 0x10)]
        {
            put(&mut host, cookie, tos >> 2);
        }
        assert_eq!(rest(&mut host), [2, 6, 1, 3, 4, 5, 0]);
    }

    #[test]
    fn a_band_can_be_full_while_others_are_not() {
        let fill = |spec: &str| {
            let mut host = Host::new(spec);
            for (cookie, dscp) in [(0, 0), (1, 2), (2, 0), (3, 4), (4, 0)] {
                put(&mut host, cookie, dscp);
            }
            host.dropped()
        };
        assert_eq!(fill("pfifo_fast limit 6p band_limit 2p"), [4]);
        // The oldest of the longer band goes; packets of equally long ones do not.
        assert_eq!(fill("pfifo_fast limit 2p"), [2, 3, 4]);
        assert_eq!(fill("pfifo_fast limit 3p"), [0, 4]);
        assert_eq!(fill("pfifo_fast:ns3 limit 3p"), [3, 4]);
    }

    #[test]
    fn a_lower_limit_drops_from_the_last_band_first() {
        let mut host = Host::new("pfifo_fast limit 10p");
        for (cookie, dscp) in [(0, 0), (1, 2), (2, 0), (3, 4), (4, 2)] {
            put(&mut host, cookie, dscp);
        }
        host.qdisc.change(&[("limit", "2p")], ms(1), &mut host.log).unwrap();
        assert_eq!(host.dropped(), [2, 4, 1]);
        assert_eq!(rest(&mut host), [3, 0]);
    }
}
