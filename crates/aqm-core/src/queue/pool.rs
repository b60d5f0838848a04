//! One store of packets for many queues: chains of slots, linked by number.

use crate::backlog::Backlog;
use crate::packet::Packet;
use alloc::vec::Vec;

/// No slot.
const NONE: u32 = u32::MAX;

/// Packets of any number of chains, and their total. It grows to the largest backlog so far, and allocates nothing
/// after that.
#[derive(Debug)]
pub struct Pool {
    slots: Vec<Slot>,
    free: u32,
    backlog: Backlog,
}

#[derive(Debug)]
struct Slot {
    packet: Option<Packet>,
    /// The next slot of the chain or of the free list.
    next: u32,
}

/// A queue whose packets are in a [`Pool`]. Always use it with the same pool.
#[derive(Clone, Copy, Debug)]
pub struct Chain {
    bytes: u64,
    head: u32,
    tail: u32,
}

impl Default for Pool {
    fn default() -> Pool {
        Pool { slots: Vec::new(), free: NONE, backlog: Backlog::default() }
    }
}

impl Default for Chain {
    fn default() -> Chain {
        Chain { bytes: 0, head: NONE, tail: NONE }
    }
}

impl Chain {
    /// Queued bytes of this chain.
    #[inline]
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether this chain is empty.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.head == NONE
    }
}

impl Pool {
    /// The backlog of all chains together.
    #[inline]
    pub const fn backlog(&self) -> Backlog {
        self.backlog
    }

    /// Appends `packet` to `chain`.
    #[inline]
    pub fn push(&mut self, chain: &mut Chain, packet: Packet) {
        let length = u64::from(packet.length);
        let number = self.store(packet);
        match chain.tail {
            NONE => chain.head = number,
            tail => self.slots[tail as usize].next = number,
        }
        chain.tail = number;
        chain.bytes += length;
        self.backlog.bytes += length;
        self.backlog.packets += 1;
    }

    /// The oldest packet of `chain`.
    #[inline]
    pub fn peek(&mut self, chain: &Chain) -> Option<&mut Packet> {
        self.slots.get_mut(chain.head as usize)?.packet.as_mut()
    }

    /// Removes the oldest packet of `chain`.
    #[inline]
    pub fn pop(&mut self, chain: &mut Chain) -> Option<Packet> {
        let number = chain.head;
        let slot = self.slots.get_mut(number as usize)?;
        let length = u64::from(slot.packet.as_ref()?.length);
        chain.head = core::mem::replace(&mut slot.next, self.free);
        self.free = number;
        if chain.head == NONE {
            chain.tail = NONE;
        }
        chain.bytes -= length;
        self.backlog.bytes -= length;
        self.backlog.packets -= 1;
        // Last, so that it moves once.
        slot.packet.take()
    }

    /// Removes the newest packet of `chain`. Looks at every packet of the chain: only for full queues.
    pub fn pop_newest(&mut self, chain: &mut Chain) -> Option<Packet> {
        if chain.head == chain.tail {
            return self.pop(chain);
        }
        let mut before = chain.head;
        while self.slots[before as usize].next != chain.tail {
            before = self.slots[before as usize].next;
        }
        let mut newest = Chain { bytes: chain.bytes, head: chain.tail, tail: chain.tail };
        let packet = self.pop(&mut newest);
        self.slots[before as usize].next = NONE;
        (chain.tail, chain.bytes) = (before, newest.bytes);
        packet
    }

    /// The packets of `chain`, the oldest first.
    pub fn iter(&self, chain: &Chain) -> impl Iterator<Item = &Packet> {
        self.numbers(chain).filter_map(|number| self.slots[number as usize].packet.as_ref())
    }

    /// Removes the packet at `index` of `chain`, counted from the oldest; the order of the others stays.
    pub fn remove(&mut self, chain: &mut Chain, index: usize) -> Option<Packet> {
        if index == 0 {
            return self.pop(chain);
        }
        let before = self.numbers(chain).nth(index - 1)?;
        let number = self.slots[before as usize].next;
        // Remove it as the head of a chain of its own.
        let mut single = Chain { head: number, ..*chain };
        let packet = self.pop(&mut single)?;
        chain.bytes = single.bytes;
        self.slots[before as usize].next = single.head;
        if single.head == NONE {
            chain.tail = before;
        }
        Some(packet)
    }

    /// The slots of `chain`, the oldest packet's first.
    fn numbers(&self, chain: &Chain) -> impl Iterator<Item = u32> {
        let some = |number: u32| (number != NONE).then_some(number);
        core::iter::successors(some(chain.head), move |number| some(self.slots[*number as usize].next))
    }

    /// Puts `packet` into a free slot.
    #[inline]
    fn store(&mut self, packet: Packet) -> u32 {
        let number = self.free;
        if let Some(slot) = self.slots.get_mut(number as usize) {
            self.free = core::mem::replace(&mut slot.next, NONE);
            slot.packet = Some(packet);
            return number;
        }
        let number = u32::try_from(self.slots.len()).ok().filter(|number| *number != NONE);
        self.slots.push(Slot { packet: Some(packet), next: NONE });
        number.expect("fewer than 2^32 packets wait")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_keep_their_order_and_slots_are_used_again() {
        let mut pool = Pool::default();
        let (mut a, mut b) = (Chain::default(), Chain::default());
        for cookie in 0..6 {
            pool.push(if cookie % 2 == 0 { &mut a } else { &mut b }, Packet::new(cookie, 0, 100));
        }
        assert_eq!((pool.backlog().packets, pool.backlog().bytes, a.bytes()), (6, 600, 300));
        let take = |pool: &mut Pool, chain: &mut Chain| pool.pop(chain).map(|packet| packet.cookie);
        assert_eq!([take(&mut pool, &mut a), take(&mut pool, &mut a)], [Some(0), Some(2)]);
        pool.push(&mut b, Packet::new(7, 0, 100));
        pool.push(&mut b, Packet::new(8, 0, 100));
        assert_eq!(pool.slots.len(), 6);
        assert_eq!([take(&mut pool, &mut a), take(&mut pool, &mut a)], [Some(4), None]);
        let rest: Vec<_> = core::iter::from_fn(|| take(&mut pool, &mut b)).collect();
        assert_eq!(rest, [1, 3, 5, 7, 8]);
        assert_eq!((pool.backlog(), a.bytes(), b.bytes()), (Backlog::default(), 0, 0));
    }

    #[test]
    fn the_newest_packet_can_be_removed_too() {
        let mut pool = Pool::default();
        let (mut a, mut b) = (Chain::default(), Chain::default());
        (0..3).for_each(|cookie| pool.push(&mut a, Packet::new(cookie, 0, 100 + cookie as u32)));
        pool.push(&mut b, Packet::new(9, 0, 50));
        let cookie = |packet: Option<Packet>| packet.map(|packet| packet.cookie);
        assert_eq!((cookie(pool.pop_newest(&mut a)), a.bytes()), (Some(2), 201));
        pool.push(&mut a, Packet::new(3, 0, 300));
        assert_eq!((cookie(pool.pop_newest(&mut a)), cookie(pool.pop_newest(&mut a))), (Some(3), Some(1)));
        assert_eq!((cookie(pool.pop_newest(&mut a)), cookie(pool.pop_newest(&mut a))), (Some(0), None));
        pool.push(&mut a, Packet::new(4, 0, 10));
        assert_eq!((cookie(pool.pop(&mut a)), a.bytes()), (Some(4), 0));
        assert_eq!(pool.backlog(), Backlog { packets: 1, bytes: 50 });
    }

    #[test]
    fn a_packet_can_be_removed_anywhere_in_its_chain() {
        for index in 0..4 {
            let (mut pool, mut chain) = (Pool::default(), Chain::default());
            (0..4).for_each(|cookie| pool.push(&mut chain, Packet::new(cookie, 0, 100)));
            assert_eq!(pool.remove(&mut chain, index).map(|packet| packet.cookie), Some(index as u64));
            assert_eq!((pool.backlog().packets, chain.bytes()), (3, 300));
            assert!(pool.remove(&mut chain, 3).is_none());
            pool.push(&mut chain, Packet::new(9, 0, 100));
            let mut expected = alloc::vec![0, 1, 2, 3, 9];
            expected.remove(index);
            assert_eq!(pool.iter(&chain).map(|packet| packet.cookie).collect::<Vec<_>>(), expected);
            assert_eq!(core::iter::from_fn(|| pool.pop(&mut chain)).count(), 4);
            assert!(chain.is_empty());
        }
    }

    #[test]
    fn a_slot_is_one_cache_line() {
        assert!(size_of::<Slot>() <= 64, "{}", size_of::<Slot>());
    }
}
