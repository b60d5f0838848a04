//! Block ACK: which MPDUs are on their way, which are sent again, and in which order the receiver releases them
//! (IEEE 802.11-2020, 10.25).
//!
//! Sequence numbers do not wrap here: 12 bits distinguish any two within a window, so that nothing changes but the code.

use aqm_core::units::Time;
use std::collections::VecDeque;

/// A packet in the MAC of its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mpdu {
    /// The host's reference.
    pub id: u64,
    /// Octets of the IP packet.
    pub octets: u32,
    /// Its place in the order of the agreement.
    pub sequence: u32,
    /// Transmissions so far.
    pub attempts: u8,
    /// When it was taken from the queue.
    pub taken: Time,
    /// When it was first sent.
    pub first_sent: Option<Time>,
    /// Whether the receiver has it, which the sender does not know before a block ACK says so.
    pub received: bool,
}

/// The sender's side of an agreement.
#[derive(Clone, Debug)]
pub struct Originator {
    window: u16,
    next: u32,
    /// The oldest sequence number that is neither acknowledged nor given up, and what is known from there on.
    start: u32,
    resolved: VecDeque<bool>,
    /// To be sent again, in order.
    retries: VecDeque<Mpdu>,
}

/// The receiver's side: the reorder buffer.
#[derive(Clone, Debug)]
pub struct Recipient {
    window: u16,
    /// The next sequence number to release, and what has come from there on.
    next: u32,
    held: VecDeque<Option<Arrived>>,
    waiting: u32,
}

/// A packet at its receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrived {
    /// The packet, as it was sent.
    pub mpdu: Mpdu,
    /// When it came.
    pub at: Time,
}

impl Originator {
    /// An agreement for `window` MPDUs.
    pub fn new(window: u16) -> Originator {
        Originator { window, next: 0, start: 0, resolved: VecDeque::new(), retries: VecDeque::new() }
    }

    /// Whether a new MPDU lies within the window.
    pub fn has_room(&self) -> bool {
        self.next < self.start + u32::from(self.window)
    }

    /// The first sequence number that is not resolved, which a block ACK request carries to the receiver.
    pub fn start(&self) -> u32 {
        self.start
    }

    /// A packet becomes an MPDU.
    pub fn assign(&mut self, id: u64, octets: u32, taken: Time) -> Mpdu {
        let sequence = self.next;
        self.next += 1;
        self.resolved.push_back(false);
        Mpdu { id, octets, sequence, attempts: 0, taken, first_sent: None, received: false }
    }

    /// The next to be sent again.
    pub fn first_retry(&self) -> Option<&Mpdu> {
        self.retries.front()
    }

    /// Takes it.
    pub fn take_retry(&mut self) -> Option<Mpdu> {
        self.retries.pop_front()
    }

    /// MPDUs that wait to be sent again.
    pub fn retries(&self) -> usize {
        self.retries.len()
    }

    /// It is to be sent again: in the order of sequence numbers.
    pub fn retry(&mut self, mpdu: Mpdu) {
        let place = self.retries.partition_point(|other| other.sequence < mpdu.sequence);
        self.retries.insert(place, mpdu);
    }

    /// It is acknowledged or given up.
    pub fn resolve(&mut self, sequence: u32) {
        let place = sequence.checked_sub(self.start).expect("an MPDU is resolved once");
        let known = &mut self.resolved[place as usize];
        assert!(!*known, "an MPDU is resolved once");
        *known = true;
        while self.resolved.front() == Some(&true) {
            self.resolved.pop_front();
            self.start += 1;
        }
    }

    /// What waits to be sent again, in order.
    pub fn waiting(&self) -> impl Iterator<Item = &Mpdu> {
        self.retries.iter()
    }
}

impl Recipient {
    /// An agreement for `window` MPDUs.
    pub fn new(window: u16) -> Recipient {
        Recipient { window, next: 0, held: VecDeque::new(), waiting: 0 }
    }

    /// Packets that wait for earlier ones.
    pub fn waiting(&self) -> u32 {
        self.waiting
    }

    /// What has come and waits for earlier ones, in order.
    pub fn held(&self) -> impl Iterator<Item = &Arrived> {
        self.held.iter().flatten()
    }

    /// An MPDU has come: what can be released goes to `release` in order. `false` if it is a duplicate.
    pub fn receive(&mut self, mpdu: Mpdu, at: Time, release: &mut impl FnMut(Arrived)) -> bool {
        let sequence = mpdu.sequence;
        if sequence < self.next {
            return false;
        }
        // Beyond the window: it moves, so that this is its last (10.25.6.6.2).
        let window = u32::from(self.window);
        if sequence >= self.next + window {
            self.move_to(sequence + 1 - window, release);
        }
        let place = (sequence - self.next) as usize;
        if self.held.len() <= place {
            self.held.resize(place + 1, None);
        }
        if self.held[place].is_some() {
            return false;
        }
        self.held[place] = Some(Arrived { mpdu, at });
        self.waiting += 1;
        self.release_next(release);
        true
    }

    /// A block ACK request: the sender has given up what comes before `start`.
    pub fn move_to(&mut self, start: u32, release: &mut impl FnMut(Arrived)) {
        while self.next < start {
            self.next += 1;
            if let Some(arrived) = self.held.pop_front().flatten() {
                self.waiting -= 1;
                release(arrived);
            }
        }
        self.release_next(release);
    }

    fn release_next(&mut self, release: &mut impl FnMut(Arrived)) {
        while let Some(Some(arrived)) = self.held.front() {
            release(*arrived);
            self.held.pop_front();
            self.waiting -= 1;
            self.next += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn originator(window: u16, packets: u64) -> (Originator, Vec<Mpdu>) {
        let mut originator = Originator::new(window);
        let mpdus = (0..packets).map(|id| originator.assign(id, 1500, Time::ZERO)).collect();
        (originator, mpdus)
    }

    fn receive(recipient: &mut Recipient, mpdu: Mpdu) -> Option<Vec<u32>> {
        let mut released = Vec::new();
        let is_new = recipient.receive(mpdu, Time::ZERO, &mut |arrived| released.push(arrived.mpdu.sequence));
        is_new.then_some(released)
    }

    #[test]
    fn a_window_moves_when_its_first_is_resolved() {
        let (mut originator, mpdus) = originator(4, 4);
        assert!(!originator.has_room());
        originator.resolve(1);
        originator.resolve(2);
        assert!(!originator.has_room());
        originator.retry(mpdus[3]);
        originator.retry(mpdus[0]);
        assert_eq!(originator.take_retry().map(|mpdu| mpdu.sequence), Some(0));
        originator.resolve(0);
        assert_eq!((originator.start(), originator.has_room(), originator.retries()), (3, true, 1));
        assert_eq!(originator.waiting().map(|mpdu| mpdu.id).collect::<Vec<_>>(), [3]);
    }

    #[test]
    fn packets_are_released_in_order_and_once() {
        let (_, mpdus) = originator(64, 5);
        let mut recipient = Recipient::new(64);
        assert_eq!(receive(&mut recipient, mpdus[0]), Some(vec![0]));
        assert_eq!(receive(&mut recipient, mpdus[2]), Some(vec![]));
        assert_eq!(receive(&mut recipient, mpdus[4]), Some(vec![]));
        assert_eq!(receive(&mut recipient, mpdus[2]), None);
        assert_eq!(receive(&mut recipient, mpdus[0]), None);
        assert_eq!(recipient.waiting(), 2);
        assert_eq!(receive(&mut recipient, mpdus[1]), Some(vec![1, 2]));
        assert_eq!(receive(&mut recipient, mpdus[3]), Some(vec![3, 4]));
        assert_eq!(recipient.waiting(), 0);
    }

    #[test]
    fn a_request_releases_what_waits_for_one_that_was_given_up() {
        let (_, mpdus) = originator(64, 4);
        let mut recipient = Recipient::new(64);
        for place in [1, 2] {
            assert_eq!(receive(&mut recipient, mpdus[place]), Some(vec![]));
        }
        let mut released = Vec::new();
        recipient.move_to(1, &mut |arrived| released.push(arrived.mpdu.sequence));
        assert_eq!(released, [1, 2]);
        assert_eq!(receive(&mut recipient, mpdus[0]), None);
        assert_eq!(receive(&mut recipient, mpdus[3]), Some(vec![3]));
    }

    #[test]
    fn an_mpdu_beyond_the_window_moves_it() {
        let (_, mpdus) = originator(64, 8);
        let mut recipient = Recipient::new(4);
        assert_eq!(receive(&mut recipient, mpdus[1]), Some(vec![]));
        assert_eq!(receive(&mut recipient, mpdus[3]), Some(vec![]));
        // The window becomes 2 to 5: 0 is given up, 2 still missing.
        assert_eq!(receive(&mut recipient, mpdus[5]), Some(vec![1]));
        assert_eq!(receive(&mut recipient, mpdus[2]), Some(vec![2, 3]));
        assert_eq!(recipient.waiting(), 1);
    }
}
