//! Ranks: programmable schedulers send the packet with the smallest one first. A rank is computed once, on arrival.
//!
//! Sivaraman et al., "Programmable Packet Scheduling at Line Rate", SIGCOMM 2016, sections 2 and 3.

use crate::packet::Packet;
use crate::params::PerClass;
use crate::sketch::mix;
use crate::units::{Span, Time};
use alloc::vec;
use alloc::vec::Vec;

/// Rank functions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Function {
    /// Time of arrival.
    Fifo,
    /// Start time of the packet in its flow's virtual time: start-time fair queueing (figure 1).
    Stfq,
    /// The class: strict priority, 0 first.
    Priority,
    /// The latest time to leave: least slack first, which each class has a time of.
    Lstf(PerClass),
}

/// A rank function with its state.
#[derive(Clone, Debug)]
pub struct Ranks {
    function: Function,
    /// Virtual time: the largest start time of a packet that was sent.
    now: u64,
    /// Finish time of the last packet of each flow, by its hash.
    finish: Vec<u64>,
}

impl Ranks {
    /// Ranks by `function`; `flows` is the number of hashes that distinguish flows.
    pub fn new(function: Function, flows: usize) -> Ranks {
        Ranks { function, now: 0, finish: vec![0; flows] }
    }

    /// The rank of a packet that arrives at `now`. Within a flow that keeps its class, ranks never decrease.
    #[inline]
    pub fn of(&self, packet: &Packet, now: Time) -> u64 {
        match &self.function {
            Function::Fifo => now.as_nanos(),
            Function::Stfq => self.now.max(self.finish[self.index(packet.flow)]),
            Function::Priority => u64::from(packet.class),
            Function::Lstf(slack) => {
                let slack = Span::from_nanos(slack.of_class(usize::from(packet.class)));
                (now + slack).as_nanos()
            }
        }
    }

    /// A packet of this rank was queued: only such packets use up their flow's share.
    #[inline]
    pub fn queued(&mut self, packet: &Packet, rank: u64) {
        if self.function == Function::Stfq {
            let index = self.index(packet.flow);
            self.finish[index] = rank + u64::from(packet.length);
        }
    }

    /// A queued packet of this rank gave way to another: if it was its flow's last, the flow has its share back.
    /// Otherwise a flow that sends too much would rank behind all others for ever, and get nothing.
    pub fn evicted(&mut self, packet: &Packet, rank: u64) {
        if self.function == Function::Stfq {
            let index = self.index(packet.flow);
            if self.finish[index] == rank + u64::from(packet.length) {
                self.finish[index] = rank;
            }
        }
    }

    /// A packet of this rank was sent.
    #[inline]
    pub fn sent(&mut self, rank: u64) {
        if self.function == Function::Stfq {
            self.now = self.now.max(rank);
        }
    }

    /// The rank function.
    pub const fn function(&self) -> &Function {
        &self.function
    }

    /// The largest number of flows that are distinguished.
    pub fn flows(&self) -> usize {
        self.finish.len()
    }

    /// Bytes of its table.
    pub fn table_bytes(&self) -> usize {
        self.finish.len() * size_of::<u64>()
    }

    fn index(&self, flow: u64) -> usize {
        ((u128::from(mix(flow)) * self.finish.len() as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Each;

    const MS: u64 = 1_000_000;

    fn packet(flow: u64, class: u16, length: u32) -> Packet {
        let mut packet = Packet::new(0, flow, length);
        packet.class = class;
        packet
    }

    #[test]
    fn fair_ranks_are_start_times_in_bytes_of_the_flow() {
        let mut ranks = Ranks::new(Function::Stfq, 1024);
        let arrive = |ranks: &mut Ranks, flow, length| {
            let packet = packet(flow, 0, length);
            let rank = ranks.of(&packet, Time::ZERO);
            ranks.queued(&packet, rank);
            rank
        };
        assert_eq!([1000, 500, 700].map(|length| arrive(&mut ranks, 1, length)), [0, 1000, 1500]);
        assert_eq!([100, 100].map(|length| arrive(&mut ranks, 2, length)), [0, 100]);
        ranks.sent(1000);
        ranks.sent(100); // virtual time does not run backwards
        assert_eq!(arrive(&mut ranks, 2, 100), 1000); // not 200: no credit for the past
        assert_eq!(arrive(&mut ranks, 1, 100), 2200);
    }

    #[test]
    fn a_packet_that_is_not_queued_does_not_charge_its_flow() {
        let ranks = Ranks::new(Function::Stfq, 1024);
        assert_eq!([0; 2].map(|_| ranks.of(&packet(1, 0, 1000), Time::ZERO)), [0, 0]);
    }

    #[test]
    fn a_packet_that_gives_way_costs_its_flow_nothing() {
        let mut ranks = Ranks::new(Function::Stfq, 1024);
        let packet = packet(1, 0, 1000);
        ranks.queued(&packet, 0);
        ranks.queued(&packet, 1000);
        ranks.evicted(&packet, 0); // not the last
        assert_eq!(ranks.of(&packet, Time::ZERO), 2000);
        ranks.evicted(&packet, 1000);
        assert_eq!(ranks.of(&packet, Time::ZERO), 1000);
    }

    #[test]
    fn flows_with_one_hash_share() {
        let mut ranks = Ranks::new(Function::Stfq, 1);
        ranks.queued(&packet(1, 0, 1000), 0);
        assert_eq!(ranks.of(&packet(2, 0, 1000), Time::ZERO), 1000);
    }

    #[test]
    fn the_other_ranks_are_arrival_class_and_deadline() {
        let rank = |function, class| {
            let mut ranks = Ranks::new(function, 1);
            let first = ranks.of(&packet(1, class, 1000), Time::from_nanos(7 * MS));
            ranks.queued(&packet(1, class, 1000), first);
            ranks.sent(first);
            assert_eq!(ranks.of(&packet(1, class, 1000), Time::from_nanos(7 * MS)), first);
            first
        };
        assert_eq!([rank(Function::Fifo, 3), rank(Function::Priority, 3)], [7 * MS, 3]);
        let slack = || Function::Lstf(PerClass::of(Each::Span, &[100 * MS, 5 * MS]));
        assert_eq!([0, 1, 9].map(|class| rank(slack(), class)), [107 * MS, 12 * MS, 12 * MS]);
    }
}
