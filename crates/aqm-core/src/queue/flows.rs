//! A table of flow queues under DRR++ (RFC 8290 sections 4.1 and 4.2): new flows are served before those with a
//! backlog, and all in rounds of a quantum of bytes.

use super::pool::{Chain, Pool};
use crate::backlog::Backlog;
use crate::cx::Cx;
use crate::law::Head;
use crate::packet::Packet;
use crate::signal::DropReason;
use alloc::vec::Vec;

/// No flow.
const NONE: u32 = u32::MAX;

/// Flow queues over one pool of packets; `S` is the law's state for each.
#[derive(Debug)]
pub struct Flows<S> {
    flows: Vec<Flow<S>>,
    pool: Pool,
    new: List,
    old: List,
    active: u32,
}

/// One flow queue.
#[derive(Clone, Debug, Default)]
pub struct Flow<S> {
    law: S,
    chain: Chain,
    /// Bytes that it may still send in this round; RFC 8290's credits.
    deficit: i64,
    /// The next flow of its list.
    next: u32,
    place: Place,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    #[default]
    Nowhere,
    New,
    Old,
}

/// First and last flow of a list.
#[derive(Clone, Copy, Debug)]
struct List {
    head: u32,
    tail: u32,
}

impl Default for List {
    fn default() -> List {
        List { head: NONE, tail: NONE }
    }
}

/// The head of one flow queue.
#[derive(Debug)]
pub struct FlowHead<'a> {
    pool: &'a mut Pool,
    chain: &'a mut Chain,
    whole: bool,
}

impl Head for FlowHead<'_> {
    #[inline]
    fn peek(&mut self) -> Option<&mut Packet> {
        self.pool.peek(self.chain)
    }

    #[inline]
    fn pop(&mut self) -> Option<Packet> {
        self.pool.pop(self.chain)
    }

    #[inline]
    fn bytes(&self) -> u64 {
        if self.whole { self.pool.backlog().bytes } else { self.chain.bytes() }
    }
}

impl<S: Clone + Default> Flows<S> {
    /// `count` empty flow queues.
    pub fn new(count: usize) -> Flows<S> {
        let flows = alloc::vec![Flow::default(); count];
        Flows { flows, pool: Pool::default(), new: List::default(), old: List::default(), active: 0 }
    }

    /// The number of flow queues.
    pub fn len(&self) -> usize {
        self.flows.len()
    }

    /// Whether the table has no flow queues.
    pub fn is_empty(&self) -> bool {
        self.flows.is_empty()
    }

    /// Flows on a list: those with packets, and those that have just become empty.
    pub fn active(&self) -> u32 {
        self.active
    }

    /// The backlog of all flows together.
    #[inline]
    pub fn backlog(&self) -> Backlog {
        self.pool.backlog()
    }

    /// Appends `packet` to flow `flow`, which starts with `quantum` bytes if it was on no list (section 4.1).
    #[inline]
    pub fn push(&mut self, flow: usize, packet: Packet, quantum: u32) {
        let record = &mut self.flows[flow];
        self.pool.push(&mut record.chain, packet);
        if record.place == Place::Nowhere {
            record.deficit = i64::from(quantum);
            self.active += 1;
            self.append(flow as u32, Place::New);
        }
    }

    /// The flow to serve (section 4.2): the first new one, else the first old one, that has credit left. A flow that
    /// has used up its quantum gets another and moves to the end of the old list.
    #[inline]
    pub fn select(&mut self, quantum: u32) -> Option<usize> {
        loop {
            let first = if self.new.head == NONE { self.old.head } else { self.new.head };
            let flow = self.flows.get_mut(first as usize)?;
            if flow.deficit > 0 {
                return Some(first as usize);
            }
            flow.deficit += i64::from(quantum);
            self.detach(first as usize);
            self.append(first, Place::Old);
        }
    }

    /// The head of flow `flow` and its law's state. With `whole`, the head counts the bytes of all flows.
    #[inline]
    pub fn head(&mut self, flow: usize, whole: bool) -> (FlowHead<'_>, &mut S) {
        let record = &mut self.flows[flow];
        (FlowHead { pool: &mut self.pool, chain: &mut record.chain, whole }, &mut record.law)
    }

    /// Flow `flow` has sent `bytes`.
    #[inline]
    pub fn charge(&mut self, flow: usize, bytes: u32) {
        self.flows[flow].deficit -= i64::from(bytes);
    }

    /// The [selected](Flows::select) flow is empty: a new one moves to the old list, so that it cannot become new
    /// again at once; an old one leaves.
    pub fn retire(&mut self, flow: usize) {
        let place = self.flows[flow].place;
        self.detach(flow);
        if place == Place::New {
            self.append(flow as u32, Place::Old);
        } else {
            self.active -= 1;
        }
    }

    /// The flow with the most bytes, the first among equals. Looks at every flow: only for full queues.
    pub fn fattest(&self) -> usize {
        let bytes = |flow: &Flow<S>| flow.chain.bytes();
        let mut fattest = 0;
        for (number, flow) in self.flows.iter().enumerate() {
            if bytes(flow) > bytes(&self.flows[fattest]) {
                fattest = number;
            }
        }
        fattest
    }

    /// The state of the law of flow `flow`.
    pub fn law(&self, flow: usize) -> &S {
        &self.flows[flow].law
    }

    /// Queued bytes of flow `flow`.
    pub fn bytes(&self, flow: usize) -> u64 {
        self.flows[flow].chain.bytes()
    }

    /// Removes the oldest packet of flow `flow`, without its law.
    pub fn pop(&mut self, flow: usize) -> Option<Packet> {
        self.pool.pop(&mut self.flows[flow].chain)
    }

    /// Drops everything and resets the rounds.
    pub fn purge(&mut self, cx: &mut Cx<'_>) {
        for flow in &mut self.flows {
            while let Some(packet) = self.pool.pop(&mut flow.chain) {
                cx.drop(packet, DropReason::Reconfigured);
            }
            *flow = Flow::default();
        }
        (self.new, self.old, self.active) = (List::default(), List::default(), 0);
    }

    fn list(&mut self, place: Place) -> &mut List {
        if place == Place::New { &mut self.new } else { &mut self.old }
    }

    /// Appends a flow to a list.
    #[inline]
    fn append(&mut self, flow: u32, place: Place) {
        let record = &mut self.flows[flow as usize];
        (record.place, record.next) = (place, NONE);
        let tail = core::mem::replace(&mut self.list(place).tail, flow);
        if tail == NONE {
            self.list(place).head = flow;
        } else {
            self.flows[tail as usize].next = flow;
        }
    }

    /// Removes the first flow of a list.
    #[inline]
    fn detach(&mut self, flow: usize) {
        let (place, next) = (self.flows[flow].place, self.flows[flow].next);
        let list = self.list(place);
        list.head = next;
        if next == NONE {
            list.tail = NONE;
        }
        self.flows[flow].place = Place::Nowhere;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::codel;

    /// Serves one packet without any law.
    fn serve(flows: &mut Flows<()>, quantum: u32) -> Option<u64> {
        loop {
            let flow = flows.select(quantum)?;
            match flows.pop(flow) {
                Some(packet) => {
                    flows.charge(flow, packet.length);
                    return Some(packet.cookie);
                }
                None => flows.retire(flow),
            }
        }
    }

    #[test]
    fn flows_share_in_rounds_of_a_quantum_of_bytes() {
        let mut flows = Flows::new(4);
        // Flow 0: 00 .. 05 of 500 bytes; flow 1: 10 .. 12 of 1000 bytes. Quantum 1000.
        (0..6).for_each(|n| flows.push(0, Packet::new(n, 0, 500), 1000));
        (10..13).for_each(|n| flows.push(1, Packet::new(n, 0, 1000), 1000));
        let order: Vec<_> = core::iter::from_fn(|| serve(&mut flows, 1000)).collect();
        assert_eq!(order, [0, 1, 10, 2, 3, 11, 4, 5, 12]);
        assert_eq!((flows.active(), flows.backlog()), (0, Backlog::default()));
    }

    #[test]
    fn a_new_flow_goes_first_but_only_once() {
        let mut flows = Flows::new(4);
        (0..4).for_each(|n| flows.push(0, Packet::new(n, 0, 1000), 1000));
        assert_eq!(serve(&mut flows, 1000), Some(0));
        flows.push(1, Packet::new(10, 0, 100), 1000); // flow 0 has no credit left, and flow 1 is new behind it
        assert_eq!(serve(&mut flows, 1000), Some(10)); // flow 0 has become old
        flows.push(1, Packet::new(11, 0, 100), 1000); // still new: 900 bytes of credit
        assert_eq!(serve(&mut flows, 1000), Some(11));
        assert_eq!(serve(&mut flows, 1000), Some(1)); // flow 1 was empty: from new to the end of old
        flows.push(1, Packet::new(12, 0, 100), 1000); // not new again
        assert_eq!(serve(&mut flows, 1000), Some(12)); // its turn among the old: flow 0 used up its quantum
        assert_eq!(serve(&mut flows, 1000), Some(2)); // flow 1 was empty, and leaves
        flows.push(1, Packet::new(13, 0, 100), 1000);
        assert_eq!(serve(&mut flows, 1000), Some(13)); // new
    }

    #[test]
    fn a_packet_beyond_the_quantum_is_paid_for_in_later_rounds() {
        let mut flows = Flows::new(4);
        (0..2).for_each(|n| flows.push(0, Packet::new(n, 0, 2500), 1000));
        (10..15).for_each(|n| flows.push(1, Packet::new(n, 0, 1000), 1000));
        // Flow 0: 1000 - 2500 = -1500, -500 and 500 after two more rounds.
        let order: Vec<_> = core::iter::from_fn(|| serve(&mut flows, 1000)).collect();
        assert_eq!(order, [0, 10, 11, 1, 12, 13, 14]);
    }

    #[test]
    fn the_fattest_flow_is_the_first_with_the_most_bytes() {
        let mut flows: Flows<()> = Flows::new(4);
        for (flow, length) in [(1, 900), (2, 500), (2, 500), (3, 1000)] {
            flows.push(flow, Packet::new(0, 0, length), 1000);
        }
        assert_eq!(flows.fattest(), 2);
    }

    #[test]
    fn a_flow_with_codel_takes_one_cache_line() {
        assert!(size_of::<Flow<codel::State>>() <= 64, "{}", size_of::<Flow<codel::State>>());
    }
}
