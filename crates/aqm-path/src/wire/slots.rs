//! Slots: packets leave a wire together, as a shared medium lets them.

use aqm_core::random::Random;
use aqm_core::units::{Span, Time};
use serde::{Deserialize, Serialize};

/// Times at which packets leave, as a shared medium gives them: a packet that finds no open slot acquires one, which opens
/// after a random time, and takes others with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Slots {
    /// The shortest time to acquire one, in nanoseconds.
    pub min_ns: u64,
    /// The longest.
    pub max_ns: u64,
    /// The most packets in one, if there is a limit.
    pub packets: Option<u64>,
    /// The most bytes; the packet that reaches it is the last.
    pub bytes: Option<u64>,
}

/// The slot that was acquired last.
#[derive(Clone, Debug)]
pub(super) struct Acquired {
    slots: Slots,
    opens: Time,
    packets: u64,
    bytes: u64,
}

impl Acquired {
    pub(super) fn none(slots: Slots) -> Acquired {
        Acquired { slots, opens: Time::ZERO, packets: 0, bytes: 0 }
    }

    /// When a packet leaves that would be due at `due`: in the last slot, or in the next where that is over or full.
    pub(super) fn place(&mut self, due: Time, bytes: u32, random: &mut Random) -> Time {
        if due > self.opens || self.packets == 0 || self.bytes == 0 {
            let Slots { min_ns, max_ns, packets, bytes } = self.slots;
            let wait = Span::from_nanos(min_ns + random.below(max_ns - min_ns + 1));
            self.opens = due.max(self.opens) + wait;
            (self.packets, self.bytes) = (packets.unwrap_or(u64::MAX), bytes.unwrap_or(u64::MAX));
        }
        self.packets -= 1;
        // The packet that goes beyond is the last.
        self.bytes = self.bytes.saturating_sub(u64::from(bytes));
        self.opens
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slots(packets: Option<u64>, bytes: Option<u64>) -> Acquired {
        Acquired::none(Slots { min_ns: 1000, max_ns: 1000, packets, bytes })
    }

    #[test]
    fn packets_wait_for_their_slot_and_leave_together() {
        let mut random = Random::seeded(1);
        let at = |nanos| Time::ZERO + Span::from_nanos(nanos);
        let mut place = |slots: &mut Acquired, due| slots.place(at(due), 1500, &mut random);
        let mut one = slots(None, None);
        assert_eq!([10, 20, 1010, 1011].map(|due| place(&mut one, due)), [1010, 1010, 1010, 2011].map(at));
        let mut one = slots(Some(2), None);
        assert_eq!(
            [10, 20, 30, 30, 30].map(|due| place(&mut one, due)),
            [1010, 1010, 2010, 2010, 3010].map(at)
        );
        let mut one = slots(None, Some(2000));
        assert_eq!([10, 20, 30].map(|due| place(&mut one, due)), [1010, 1010, 2010].map(at));
    }
}
