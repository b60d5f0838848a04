//! What became of a packet that arrived, as Linux' `enqueue` returns it (`NET_XMIT_SUCCESS`, `NET_XMIT_CN`,
//! `NET_XMIT_DROP`).

use crate::packet::Packet;
use crate::qdisc::Qdisc;
use crate::signal::{DropReason, Observer, Relay};
use crate::units::Time;

/// What became of a packet that arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// It waits in the queue.
    Queued,
    /// It waits, and others were dropped for it (`NET_XMIT_CN`).
    QueuedDroppingOthers,
    /// It was dropped (`NET_XMIT_DROP`).
    Dropped(DropReason),
}

impl Qdisc {
    /// The same as [`enqueue`](Qdisc::enqueue), and tells what became of the packet, which it knows by its cookie.
    ///
    /// A method of its own: a host that learns of drops from its observer pays nothing for the outcome.
    ///
    /// ```
    /// use aqm_core::link::Link;
    /// use aqm_core::outcome::Outcome;
    /// use aqm_core::packet::Packet;
    /// use aqm_core::random::Random;
    /// use aqm_core::signal::{DropReason, Unobserved};
    /// use aqm_core::spec::Spec;
    /// use aqm_core::units::{Rate, Time};
    /// let spec = Spec::parse("fifo limit 1p").unwrap();
    /// let mut queue = spec.build(Link::new(Rate::from_mbit(10)), Random::seeded(0)).unwrap();
    /// let mut arrive = |cookie| queue.enqueue_outcome(Packet::new(cookie, 7, 1500), Time::ZERO, &mut Unobserved);
    /// assert_eq!(arrive(1), Outcome::Queued);
    /// assert_eq!(arrive(2), Outcome::Dropped(DropReason::Overlimit));
    /// ```
    pub fn enqueue_outcome(&mut self, packet: Packet, now: Time, observer: &mut dyn Observer) -> Outcome {
        let (cookie, mut outcome) = (packet.cookie, Outcome::Queued);
        let on_drop = |host: &mut dyn Observer, dropped: Packet, reason, point| {
            outcome = match outcome {
                Outcome::Dropped(first) => Outcome::Dropped(first),
                _ if dropped.cookie == cookie => Outcome::Dropped(reason),
                _ => Outcome::QueuedDroppingOthers,
            };
            host.on_drop(dropped, reason, point);
        };
        self.enqueue(packet, now, &mut Relay { observer, on_drop });
        outcome
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::Link;
    use crate::random::Random;
    use crate::registry::DISCIPLINES;
    use crate::signal::Unobserved;
    use crate::signal::{DropPoint, Emission};
    use crate::spec::Spec;
    use crate::units::Rate;
    use alloc::vec::Vec;

    fn built(text: &str) -> Qdisc {
        Spec::parse(text).unwrap().build(Link::new(Rate::from_mbit(10)), Random::seeded(1)).unwrap()
    }

    #[test]
    fn a_full_queue_drops_the_packet_or_another_for_it() {
        let mut queue = built("fq_codel limit 4p");
        let mut arrive = |cookie, flow| {
            queue.enqueue_outcome(Packet::new(cookie, flow, 1500), Time::ZERO, &mut Unobserved)
        };
        assert!((0..4).all(|cookie| arrive(cookie, 1) == Outcome::Queued));
        // The longest queue loses its packets.
        assert_eq!(arrive(4, 2), Outcome::QueuedDroppingOthers);
    }

    /// Cookies of what was dropped.
    #[derive(Default)]
    struct Dropped(Vec<u64>);

    impl Observer for Dropped {
        fn on_drop(&mut self, packet: Packet, _reason: DropReason, _point: DropPoint) {
            self.0.push(packet.cookie);
        }

        fn on_emit(&mut self, _emission: Emission) {}
    }

    #[test]
    fn the_outcome_of_every_discipline_is_what_its_observer_sees() {
        for info in DISCIPLINES {
            let mut queue = built(info.name);
            for cookie in 0..3_000 {
                let now = Time::from_nanos(cookie * 100_000);
                let mut seen = Dropped::default();
                let outcome = queue.enqueue_outcome(Packet::new(cookie, cookie % 7, 1500), now, &mut seen);
                let expected = match seen.0.as_slice() {
                    [] => Outcome::Queued,
                    cookies if cookies.contains(&cookie) => {
                        assert!(matches!(outcome, Outcome::Dropped(_)), "{}", info.name);
                        outcome
                    }
                    _ => Outcome::QueuedDroppingOthers,
                };
                assert_eq!(outcome, expected, "{}", info.name);
                if cookie % 12 == 0 {
                    queue.dequeue(now, &mut Unobserved);
                }
            }
        }
    }
}
