//! # What it does
//! A queue into which packets are inserted by rank, and which they leave from the front; a full one drops the largest
//! rank.
//!
//! # Reference
//! A. Sivaraman et al., "Programmable Packet Scheduling at Line Rate" (SIGCOMM 2016).
//!
//! # Parameters
//! See `aqmlab aqm show pifo`.
//!
//! # Deviations
//! One PIFO, not a tree of them, and no shaping transactions. A rank is computed from a packet's metadata: there is
//! no rank by a flow's size or remaining bytes (SJF, SRPT), and the slack of `lstf` is that of the class. All flows
//! have the same weight; `stfq` keeps their finish times in a table by hash, and charges a flow only for packets that
//! were queued.
//!
//! # Promises
//! Packets of a flow that keeps its class stay in order, for no rank decreases within it; drops only when full:
//! the newest packet with the largest rank, which may be the arriving one; never marks.

use super::{Blueprint, Built, Discipline, Group, Info, LIMIT, ProbeSpec, Traits, ranked};
use crate::backlog::Backlog;
use crate::cx::Cx;
use crate::law::rank::Ranks;
use crate::packet::Packet;
use crate::params::{ParamError, Params, Preset};
use crate::queue::Pifo as Queue;
use crate::signal::DropReason;
use crate::units::{Size, Time};
use alloc::boxed::Box;

/// The registry entry.
pub static INFO: Info = Info {
    name: "pifo",
    group: Group::Flow,
    summary: "Push in by rank, first out: the ideal of programmable schedulers",
    reference: "Sivaraman 2016",
    params: &[LIMIT, ranked::RANK, ranked::SLACK, ranked::FLOWS],
    presets: &[
        Preset { name: "stfq", source: "Sivaraman 2016 figure 1: start-time fair queueing", values: &[] },
        ranked::FIFO,
        ranked::PRIORITY,
        ranked::LSTF,
    ],
    probes: &[ProbeSpec { name: "largest_rank", unit: "rank", help: "Rank of the packet that goes last" }],
    traits: Traits {
        wakes: false,
        ecn: false,
        drops_queued: true,
        reorders_flows: true,
        reorders_within_flow: false,
        quiet_packets: u64::MAX,
        flow_state_bytes: size_of::<u64>(),
    },
    deviations: "one queue, not a tree; no rank by a flow's size; the slack is that of the class",
    build,
};

struct Pifo {
    queue: Queue,
    ranks: Ranks,
    limit: Size,
}

fn build(Blueprint { params, .. }: Blueprint<'_>) -> Built {
    let limit = params.size("limit").expect("limit has no auto");
    Ok(Box::new(Pifo { queue: Queue::default(), ranks: ranked::ranks(params), limit }))
}

impl Pifo {
    /// Makes space for a packet of `length` and `rank`; returns whether there is some now.
    #[cold]
    fn make_room(&mut self, length: u32, rank: u64, cx: &mut Cx<'_>) -> bool {
        if Backlog::default().would_exceed(self.limit, length) {
            return false;
        }
        while self.queue.backlog().would_exceed(self.limit, length) {
            if self.queue.last_rank() <= Some(rank) {
                return false;
            }
            let last = self.take_last().expect("it has a rank");
            cx.drop(last, DropReason::Overlimit);
        }
        true
    }

    /// Takes the packet that would go last, which costs its flow nothing.
    fn take_last(&mut self) -> Option<Packet> {
        let rank = self.queue.last_rank()?;
        let last = self.queue.pop_last()?;
        self.ranks.evicted(&last, rank);
        Some(last)
    }
}

impl Discipline for Pifo {
    #[inline]
    fn enqueue(&mut self, packet: Packet, cx: &mut Cx<'_>) {
        let rank = self.ranks.of(&packet, cx.now);
        let full = self.queue.backlog().would_exceed(self.limit, packet.length);
        if full && !self.make_room(packet.length, rank, cx) {
            return cx.drop(packet, DropReason::Overlimit);
        }
        self.ranks.queued(&packet, rank);
        self.queue.push(rank, packet);
    }

    #[inline]
    fn dequeue(&mut self, _cx: &mut Cx<'_>) -> Option<Packet> {
        let (rank, packet) = self.queue.pop()?;
        self.ranks.sent(rank);
        Some(packet)
    }

    /// The packet that would go last.
    fn evict(&mut self, _cx: &mut Cx<'_>) -> Option<Packet> {
        self.take_last()
    }

    fn backlog(&self) -> Backlog {
        self.queue.backlog()
    }

    fn change(&mut self, params: &Params, cx: &mut Cx<'_>) -> Result<(), ParamError> {
        ranked::check(params, &self.ranks)?;
        self.limit = params.size("limit").expect("limit has no auto");
        self.queue.trim(self.limit, cx);
        Ok(())
    }

    fn purge(&mut self, cx: &mut Cx<'_>) {
        self.queue.purge(cx);
    }

    fn probe(&self, _now: Time, sink: &mut dyn FnMut(&str, f64)) {
        sink("largest_rank", self.queue.last_rank().unwrap_or(0) as f64);
    }

    /// The rank of a queued packet counts as part of it.
    fn state_bytes(&self) -> usize {
        size_of::<Pifo>() + self.ranks.table_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Host, ms, put_class, rest};

    #[test]
    fn flows_share_by_their_start_times() {
        let mut host = Host::new("pifo");
        (0..4).for_each(|cookie| host.put(ms(0), cookie, 1, 1000)); // 0, 1000, 2000, 3000
        (10..14).for_each(|cookie| host.put(ms(0), cookie, 2, 600)); // 0, 600, 1200, 1800
        assert_eq!(host.probe("largest_rank"), 3000.0);
        assert_eq!([0; 4].map(|_| host.get(ms(0)).unwrap()), [0, 10, 11, 1]); // virtual time is 1000
        host.put(ms(0), 20, 3, 100); // 1000: before 12 with 1200
        assert_eq!(rest(&mut host), [20, 12, 13, 2, 3]);
    }

    #[test]
    fn a_full_queue_drops_the_largest_rank_and_the_arriving_packet_among_equals() {
        let mut host = Host::new("pifo:priority limit 3p");
        for (cookie, class) in [(0, 2), (1, 5), (2, 1)] {
            put_class(&mut host, cookie, class, 100);
        }
        put_class(&mut host, 3, 5, 100); // no smaller than the largest
        assert_eq!(host.dropped(), [3]);
        put_class(&mut host, 4, 0, 100);
        assert_eq!(host.dropped(), [3, 1]);
        assert_eq!(rest(&mut host), [4, 2, 0]);
    }

    #[test]
    fn with_a_byte_limit_as_many_packets_are_dropped_as_necessary() {
        let mut host = Host::new("pifo:priority limit 3000b");
        for (cookie, class) in [(0, 3), (1, 2), (2, 1)] {
            put_class(&mut host, cookie, class, 1000);
        }
        put_class(&mut host, 3, 0, 4000); // could never fit
        assert_eq!(host.dropped(), [3]);
        put_class(&mut host, 4, 0, 1500);
        assert_eq!(host.dropped(), [3, 0, 1]);
        put_class(&mut host, 5, 1, 1000); // 2500 bytes wait, none of them of a larger rank
        assert_eq!(host.dropped(), [3, 0, 1, 5]);
        assert_eq!(rest(&mut host), [4, 2]);
    }

    #[test]
    fn a_flow_that_sends_too_much_has_its_share() {
        // Flow 1 sends ten times what flow 2 does, which always has packets: each gets half of what leaves.
        let mut host = Host::new("pifo limit 10p");
        let (mut cookie, mut left) = (0, [0; 2]);
        for _ in 0..200 {
            for number in 0..12 {
                host.put(ms(0), cookie * 2 + u64::from(number >= 10), if number < 10 { 1 } else { 2 }, 1000);
                cookie += 1;
            }
            left[host.get(ms(0)).unwrap() as usize % 2] += 1;
        }
        assert_eq!(left, [100, 100]);
    }

    #[test]
    fn dropped_packets_cost_their_flow_nothing() {
        let mut host = Host::new("pifo limit 2p");
        host.put(ms(0), 0, 1, 1000); // 0
        host.put(ms(0), 1, 1, 1000); // 1000
        (2..9).for_each(|cookie| host.put(ms(0), cookie, 1, 1000)); // 2000 each
        assert_eq!(host.dropped(), [2, 3, 4, 5, 6, 7, 8]);
        assert_eq!([host.get(ms(0)), host.get(ms(0))], [Some(0), Some(1)]);
        host.put(ms(0), 9, 1, 1000); // 2000
        assert_eq!(host.probe("largest_rank"), 2000.0);
    }

    #[test]
    fn the_least_slack_goes_first() {
        let mut host = Host::new("pifo:lstf slack 100ms,20ms");
        put_class(&mut host, 0, 0, 100); // leaves by 100 ms
        let mut packet = crate::packet::Packet::new(1, 1, 100);
        packet.class = 1;
        host.enqueue(ms(70), packet); // by 90 ms
        let mut packet = crate::packet::Packet::new(2, 2, 100);
        packet.class = 1;
        host.enqueue(ms(90), packet); // by 110 ms
        assert_eq!([0; 3].map(|_| host.get(ms(90)).unwrap()), [1, 0, 2]);
    }

    #[test]
    fn the_rank_function_cannot_change_while_packets_are_queued() {
        let mut host = Host::new("pifo:lstf");
        for (name, value) in [("rank", "fifo"), ("slack", "7ms"), ("flows", "7")] {
            let error = host.qdisc.change(&[(name, value)], ms(0), &mut host.log).unwrap_err();
            assert_eq!((&*error.param, &*error.problem), (name, "cannot change while packets may wait"));
        }
        host.qdisc.change(&[("limit", "7p")], ms(0), &mut host.log).unwrap();
    }
}
