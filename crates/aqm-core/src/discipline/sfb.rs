//! # What it does
//! One queue under Stochastic Fair BLUE: flows are hashed into bins on several levels, each bin runs BLUE, and a
//! packet is dropped (or marked) with the lowest probability of its bins. A flow with probability 1 in all its bins
//! counts as unresponsive: such flows are limited to a small rate.
//!
//! # Reference
//! W. Feng, D. Kandlur, D. Saha and K. Shin, "Stochastic Fair Blue: A Queue Management Algorithm for Enforcing Fairness"
//! (INFOCOM 2001); values and the two hashes as Linux `sch_sfb` has them.
//!
//! # Parameters
//! See `aqmlab aqm show sfb`.
//!
//! # Deviations
//! As in Linux, and unlike the paper: BLUE's steps differ up and down; a bin with `max` packets in every level drops;
//! above a probability of 1/2 marks are replaced by drops with twice the excess (RFC 7567 section 4.2.1). The second
//! hash is warmed up by queued packets and by unresponsive flows; queued packets are counted again when it starts
//! (Linux keeps both hashes with each packet), and it starts at zero (in Linux with the former contents of its bins).
//! The rate of unresponsive flows is that of a token bucket; Linux loses the fraction of a token with each packet
//! that arrives too early, so that a steady flood gets nothing. Each level uses eight bits of one hash.
//!
//! # Promises
//! Order kept; drops and marks on arrival only; one random number for each hash, and one per packet of a responsive
//! flow; memory fixed by levels and bins, for any number of flows.

use super::{Blueprint, Built, Discipline, Group, Info, LIMIT, ProbeSpec, Traits};
use crate::backlog::Backlog;
use crate::cx::Cx;
use crate::law::blue;
use crate::law::sfb::{Bins, Places};
use crate::packet::Packet;
use crate::params::{Kind, ParamError, ParamSpec, Params, Preset, Value};
use crate::queue::Fifo;
use crate::signal::{DropReason, MarkReason};
use crate::units::{Size, Span, Time};
use alloc::boxed::Box;

/// The registry entry.
pub static INFO: Info = Info {
    name: "sfb",
    group: Group::Flow,
    summary: "Stochastic Fair BLUE: BLUE in hashed bins, and a limit for what does not respond",
    reference: "Feng, Kandlur, Saha and Shin 2001; Linux sch_sfb",
    params: &[
        LIMIT,
        ParamSpec::new(
            "levels",
            Kind::Count,
            Value::Count(8),
            (1.0, 8.0),
            "Levels of bins (L)",
            "Linux sch_sfb: 8; Feng 2001: 2",
        ),
        ParamSpec::new(
            "bins",
            Kind::Count,
            Value::Count(16),
            (1.0, 256.0),
            "Bins per level (N)",
            "Linux sch_sfb: 16; Feng 2001: 23",
        ),
        ParamSpec::new(
            "target",
            Kind::Count,
            Value::Count(20),
            (1.0, 1e9),
            "Packets in a bin from which on its probability rises",
            "tc-sfb(8): 20",
        ),
        ParamSpec::new(
            "max",
            Kind::Count,
            Value::Count(25),
            (1.0, 1e9),
            "Packets in every bin of a flow at which its packets are dropped",
            "tc-sfb(8): 25",
        ),
        ParamSpec::new(
            "increment",
            Kind::Fraction,
            Value::Fraction(0.0005),
            (0.0, 1.0),
            "By how much a probability rises per packet",
            "tc-sfb(8): 0.00050",
        ),
        ParamSpec::new(
            "decrement",
            Kind::Fraction,
            Value::Fraction(0.00005),
            (0.0, 1.0),
            "By how much a probability falls per packet that finds its bin empty",
            "tc-sfb(8): 0.00005",
        ),
        ParamSpec::new(
            "penalty_rate",
            Kind::Count,
            Value::Count(10),
            (1.0, 1e9),
            "Rate limit of all unresponsive flows together, in packets per second",
            "tc-sfb(8): 10",
        ),
        ParamSpec::new(
            "penalty_burst",
            Kind::Count,
            Value::Count(20),
            (1.0, 1e6),
            "Burst of that rate limit, in packets",
            "tc-sfb(8): 20",
        ),
        ParamSpec::new(
            "rehash",
            Kind::Span,
            Value::Span(Span::from_secs(600)),
            (0.0, 1e14),
            "Time between two hashes; 0 for one hash",
            "tc-sfb(8): 600 s",
        ),
        ParamSpec::new(
            "db",
            Kind::Span,
            Value::Span(Span::from_secs(60)),
            (0.0, 1e14),
            "How long a hash is warmed up before it is used (double buffering); a shorter rehash shortens it",
            "tc-sfb(8): 60 s",
        ),
        ParamSpec::flag(
            "ecn",
            true,
            "Mark ECN-capable packets instead of dropping them",
            "Linux sch_sfb: always on",
        ),
    ],
    presets: &[
        Preset {
            name: "linux",
            source: "sfb_enqueue() of Linux 6.12 net/sched/sch_sfb.c, tc-sfb(8): the defaults are Linux's",
            values: &[],
        },
        Preset {
            name: "kernel",
            source: "Linux 6.12 net/sched/sch_sfb.c: values without tc (1/1000 up, 1/6000 down)",
            values: &[("increment", Value::Fraction(0.001)), ("decrement", Value::Fraction(1.0 / 6000.0))],
        },
        Preset {
            name: "feng2001",
            source: "Feng et al. 2001 for levels and bins; other values as linux",
            values: &[("levels", Value::Count(2)), ("bins", Value::Count(23))],
        },
    ],
    probes: &[ProbeSpec {
        name: "highest_probability",
        unit: "fraction",
        help: "Highest probability of any bin",
    }],
    traits: Traits {
        wakes: false,
        ecn: true,
        drops_queued: false,
        reorders_flows: false,
        reorders_within_flow: false,
        // Probabilities remain after the queue that raised them is gone.
        quiet_packets: 0,
        flow_state_bytes: 0,
    },
    deviations: "steps, max and the drop above 1/2 as in Linux; what waits is counted anew for a new hash",
    build,
};

struct Settings {
    limit: Size,
    target: u32,
    max: u32,
    blue: blue::Params,
    /// Time that one packet of an unresponsive flow costs, and the most that can be saved.
    penalty_cost: Span,
    penalty_most: Span,
    rehash: Span,
    warm_up: Span,
    ecn: bool,
}

struct Sfb {
    queue: Fifo,
    settings: Settings,
    /// The bins in use; none before the first packet.
    bins: Bins,
    /// The bins in warm-up.
    next: Bins,
    hashed_at: Option<Time>,
    warming: bool,
    /// Time credit of unresponsive flows, and when it was last updated.
    saved: Span,
    saved_at: Time,
}

fn settings(params: &Params) -> Settings {
    let penalty_cost = Span::from_nanos(1_000_000_000 / params.count("penalty_rate"));
    Settings {
        limit: params.size("limit").expect("limit has no auto"),
        target: params.count("target") as u32,
        max: params.count("max") as u32,
        blue: blue::Params {
            increment: params.number("increment"),
            decrement: params.number("decrement"),
            freeze_time: Span::ZERO,
        },
        penalty_cost,
        penalty_most: penalty_cost * params.count("penalty_burst"),
        rehash: params.span("rehash"),
        warm_up: params.span("db"),
        ecn: params.flag("ecn"),
    }
}

fn bins(params: &Params) -> Bins {
    Bins::new(params.count("levels") as usize, params.count("bins") as usize)
}

fn build(Blueprint { params, .. }: Blueprint<'_>) -> Built {
    let settings = settings(params);
    Ok(Box::new(Sfb {
        queue: Fifo::default(),
        saved: settings.penalty_most,
        settings,
        bins: bins(params),
        next: bins(params),
        hashed_at: None,
        warming: false,
        saved_at: Time::ZERO,
    }))
}

/// Counts the packets of `queue` in `bins`.
fn count(queue: &Fifo, bins: &mut Bins) {
    for packet in (0..queue.len()).filter_map(|index| queue.get(index)) {
        bins.add(bins.places(packet.flow));
    }
}

impl Sfb {
    /// Starts to warm up a new hash, and switches to it, when it is time.
    #[inline]
    fn rehash(&mut self, cx: &mut Cx<'_>) {
        let Settings { rehash, warm_up, .. } = self.settings;
        let Some(hashed_at) = self.hashed_at else {
            self.bins.restart(cx.below(u64::MAX));
            count(&self.queue, &mut self.bins);
            self.hashed_at = Some(cx.now);
            return;
        };
        if rehash == Span::ZERO {
            return;
        }
        let age = cx.now.since(hashed_at);
        // sfb_enqueue(): a warm-up that is longer than the period starts with the period.
        if !self.warming && age + warm_up > rehash {
            self.next.restart(cx.below(u64::MAX));
            count(&self.queue, &mut self.next);
            self.warming = true;
        }
        if age > rehash {
            core::mem::swap(&mut self.bins, &mut self.next);
            (self.hashed_at, self.warming) = (Some(cx.now), false);
        }
    }

    /// Whether a packet of an unresponsive flow exceeds their rate.
    fn beyond_penalty_rate(&mut self, now: Time) -> bool {
        let Settings { penalty_cost, penalty_most, .. } = self.settings;
        self.saved = (self.saved + now.since(self.saved_at)).min(penalty_most);
        self.saved_at = now;
        if self.saved < penalty_cost {
            return true;
        }
        self.saved = self.saved.saturating_sub(penalty_cost);
        false
    }

    /// The bins of `packet`, or the reason to drop it; it may be marked instead.
    #[inline]
    fn judge(&mut self, packet: &mut Packet, cx: &mut Cx<'_>) -> Result<Places, DropReason> {
        if self.queue.backlog().would_exceed(self.settings.limit, packet.length) {
            return Err(DropReason::Overlimit);
        }
        self.rehash(cx);
        let Settings { target, max, blue, ecn, .. } = &self.settings;
        let places = self.bins.places(packet.flow);
        let found = self.bins.arrive(places, *target, blue);
        if found.packets >= *max {
            return Err(DropReason::Unfair);
        }
        if found.probability >= 1.0 {
            if self.warming {
                self.next.arrive(self.next.places(packet.flow), *target, blue);
            }
            return if self.beyond_penalty_rate(cx.now) { Err(DropReason::Unfair) } else { Ok(places) };
        }
        let uniform = cx.uniform();
        if uniform >= found.probability {
            return Ok(places);
        }
        let overloaded = uniform < 2.0 * (found.probability - 0.5);
        let marked = *ecn && !overloaded && cx.mark(packet, MarkReason::Congestion);
        if marked { Ok(places) } else { Err(DropReason::Congestion) }
    }

    /// Counts queued packets again, after some were removed without `dequeue`.
    fn recount(&mut self) {
        for bins in [&mut self.bins, &mut self.next] {
            bins.clear_counts();
            count(&self.queue, bins);
        }
    }
}

impl Discipline for Sfb {
    #[inline]
    fn enqueue(&mut self, mut packet: Packet, cx: &mut Cx<'_>) {
        let places = match self.judge(&mut packet, cx) {
            Ok(places) => places,
            Err(reason) => return cx.drop(packet, reason),
        };
        self.bins.add(places);
        if self.warming {
            self.next.add(self.next.places(packet.flow));
        }
        self.queue.push(packet);
    }

    #[inline]
    fn dequeue(&mut self, _cx: &mut Cx<'_>) -> Option<Packet> {
        let packet = self.queue.pop()?;
        self.bins.remove(self.bins.places(packet.flow));
        if self.warming {
            self.next.remove(self.next.places(packet.flow));
        }
        Some(packet)
    }

    fn backlog(&self) -> Backlog {
        self.queue.backlog()
    }

    fn change(&mut self, params: &Params, cx: &mut Cx<'_>) -> Result<(), ParamError> {
        self.settings = settings(params);
        self.queue.trim(self.settings.limit, cx);
        let fresh = bins(params);
        if !fresh.same_shape(&self.bins) {
            (self.bins, self.next, self.hashed_at, self.warming) = (fresh.clone(), fresh, None, false);
        }
        self.recount();
        Ok(())
    }

    fn purge(&mut self, cx: &mut Cx<'_>) {
        self.queue.purge(cx);
        self.recount();
    }

    fn probe(&self, _now: Time, sink: &mut dyn FnMut(&str, f64)) {
        sink("highest_probability", self.bins.highest());
    }

    fn state_bytes(&self) -> usize {
        size_of::<Sfb>() + self.bins.bytes() + self.next.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Host, ms};
    use super::*;
    use crate::units::Time;

    #[test]
    fn full_bins_drop_and_raise_the_probability_of_their_flow_only() {
        let mut host = Host::scripted("sfb target 2 max 4 increment 0.1", &[0.999]);
        (0..6).for_each(|cookie| host.put(ms(1), cookie, 7, 1000));
        // Packets 2 to 5 find two or more: four steps. Packets 4 and 5 find four.
        assert_eq!(host.log.dropped, [(4, DropReason::Unfair), (5, DropReason::Unfair)]);
        assert!((host.probe("highest_probability") - 0.4).abs() < 1e-12);
        host.put(ms(1), 6, 8, 1000);
        assert_eq!(host.dropped(), [4, 5]);
    }

    #[test]
    fn unresponsive_flows_are_limited_to_a_small_rate() {
        // A probability of 1 from the second packet on; ten packets a second, two at once.
        let mut host = Host::scripted("sfb target 1 max 100 increment 1 penalty_burst 2", &[0.999]);
        (0..5).for_each(|cookie| host.put(ms(1), cookie, 7, 1000));
        assert_eq!(host.log.dropped, [(3, DropReason::Unfair), (4, DropReason::Unfair)]);
        host.put(ms(100), 5, 7, 1000); // 99 ms saved: not yet
        host.put(ms(101), 6, 7, 1000);
        assert_eq!(host.dropped(), [3, 4, 5]);
    }

    #[test]
    fn above_one_half_marks_are_replaced_by_drops() {
        let run = |uniform: f64| {
            // The third packet meets a probability of 0.8; drops below 2 * (0.8 - 0.5) = 0.6.
            let mut host =
                Host::scripted("sfb target 1 max 100 increment 0.4", &[0.999, 0.999, 0.999, uniform]);
            (0..3).for_each(|cookie| host.put_ect(ms(1), cookie, 7, 1000));
            (host.marked(), host.dropped())
        };
        assert_eq!(run(0.81), (alloc::vec![], alloc::vec![]));
        assert_eq!(run(0.7), (alloc::vec![2], alloc::vec![]));
        assert_eq!(run(0.59), (alloc::vec![], alloc::vec![2]));
    }

    #[test]
    fn a_short_period_of_hashing_shortens_the_warm_up() {
        // 60 s of warm-up by default: with a period of 30 s the next hash is in use from the start.
        let mut host = Host::scripted("sfb rehash 30s target 3 increment 0.1 decrement 0", &[0.999]);
        (0..4).for_each(|cookie| host.put(ms(1), cookie, 7, 1000));
        while host.get(ms(2)).is_some() {}
        (4..8).for_each(|cookie| host.put(ms(29_999), cookie, 7, 1000)); // warmed up
        while host.get(ms(30_000)).is_some() {}
        assert!((host.probe("highest_probability") - 0.2).abs() < 1e-12);
        host.put(ms(30_002), 8, 8, 1000); // the other hash: never found three queued but by the second burst
        assert_eq!(host.probe("highest_probability"), 0.0);
    }

    #[test]
    fn without_a_period_there_is_one_hash() {
        let mut host = Host::scripted("sfb rehash 0s target 3 increment 0.1 decrement 0", &[0.999]);
        (0..4).for_each(|cookie| host.put(ms(1), cookie, 7, 1000));
        while host.get(ms(2)).is_some() {}
        host.put(ms(10_000_000), 4, 8, 1000);
        assert!((host.probe("highest_probability") - 0.1).abs() < 1e-12);
    }

    #[test]
    fn a_new_hash_counts_queued_packets_only() {
        let mut host =
            Host::scripted("sfb bins 256 target 3 max 4 increment 0.1 rehash 1s db 100ms", &[0.999, 0.5]);
        (0..4).for_each(|cookie| host.put(ms(1), cookie, 7, 1000));
        assert!((host.probe("highest_probability") - 0.1).abs() < 1e-12);
        host.put(ms(950), 4, 8, 1000); // warms up
        assert_eq!(host.get(ms(960)), Some(0));
        host.put(ms(1002), 5, 8, 1000); // the new hash
        assert_eq!(host.probe("highest_probability"), 0.0);
        host.put(ms(1003), 6, 7, 1000); // finds three
        assert!((host.probe("highest_probability") - 0.1).abs() < 1e-12);
        host.put(ms(1003), 7, 7, 1000); // finds four
        assert_eq!(host.dropped(), [7]);
        while host.get(Time::from_nanos(1_100_000_000)).is_some() {}
    }
}
