//! A medium: ports that send on it one at a time.

use aqm_core::random::Random;
use aqm_core::units::{Span, Time};
use std::collections::VecDeque;

/// How ports on one medium share it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// In turns, in the order of asking; a link that has sent asks again.
    Turns,
    /// By sensing it again after a random time, ever longer (truncated binary exponential backoff, as IEEE 802.3 4.2.3.2.5, in
    /// the slots of ns-3's CSMA: 1 microsecond, 1000 at most). The first to sense the medium idle transmits; collisions are not
    /// modelled.
    Backoff,
}

/// The rules of a medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sharing {
    /// How a packet that finds it busy comes to be sent.
    pub access: Access,
    /// Whether it stays busy until the last bit has arrived, as CSMA's does, not only until it is sent.
    pub until_arrival: bool,
}

/// A port waits a whole number of these before it tries again.
const SLOT: Span = Span::from_micros(1);
const MOST_SLOTS: u64 = 1000;
/// The attempt from which on the range of waiting times no longer doubles.
const CEILING: u32 = 10;

/// Ports that found a medium busy, as its [`Access`] wants it.
#[derive(Debug)]
enum Waiting {
    Turns(VecDeque<u32>),
    Backoff { attempts: Vec<Attempt>, random: Box<Random> },
}

/// The next attempt of a port at a medium that was busy.
#[derive(Debug)]
struct Attempt {
    port: u32,
    at: Time,
    attempt: u32,
}

/// A medium in operation.
#[derive(Debug)]
pub struct Medium {
    /// Who is sending, and until when nobody else may.
    taken: Option<(u32, Time)>,
    waiting: Waiting,
}

impl Medium {
    /// The medium of this name.
    pub fn new(name: &str, access: Access, seed: u64) -> Medium {
        let waiting = match access {
            Access::Turns => Waiting::Turns(VecDeque::new()),
            Access::Backoff => {
                let random = Box::new(Random::stream(seed, &format!("{name} backoff")));
                Waiting::Backoff { attempts: Vec::new(), random }
            }
        };
        Medium { taken: None, waiting }
    }

    /// Whether somebody sends on it.
    pub fn is_busy(&self) -> bool {
        self.taken.is_some()
    }

    /// A port sends on it; nobody else may until then.
    pub fn take(&mut self, port: u32, until: Time) {
        self.taken = Some((port, until));
    }

    /// The medium is idle again if what this port has sent is out of the way now; answers whether it is.
    pub fn release(&mut self, port: u32, now: Time) -> bool {
        let is_over = self.taken == Some((port, now));
        if is_over {
            self.taken = None;
        }
        is_over
    }

    /// A port has something to send and finds the medium busy.
    pub fn wait(&mut self, port: u32, now: Time) {
        match &mut self.waiting {
            Waiting::Turns(waiting) => waiting.push_back(port),
            Waiting::Backoff { attempts, random } => {
                let mut next = Attempt { port, at: now, attempt: 0 };
                next.put_off(random);
                attempts.push(next);
            }
        }
    }

    /// A port that has sent asks for the medium again if it has more to send, and for its next turn in any case; answers whether
    /// it does. It has found the medium busy since its last bit left, at `sent`.
    pub fn ask_again(&mut self, port: u32, sent: Time, has_more: bool) -> bool {
        let asks = has_more || matches!(self.waiting, Waiting::Turns(_));
        if asks {
            self.wait(port, sent);
        }
        asks
    }

    /// Who is next at an idle medium, and when; it no longer waits if that is now.
    pub fn next(&mut self, now: Time) -> Option<(u32, Time)> {
        match &mut self.waiting {
            Waiting::Turns(waiting) => waiting.pop_front().map(|port| (port, now)),
            Waiting::Backoff { attempts, random } => {
                for next in attempts.iter_mut() {
                    while next.at < now {
                        next.put_off(random);
                    }
                }
                // Of several the one that has waited longest.
                let first = (0..attempts.len()).min_by_key(|&place| attempts[place].at)?;
                let (port, at) = (attempts[first].port, attempts[first].at);
                if at == now {
                    attempts.remove(first);
                }
                Some((port, at))
            }
        }
    }
}

impl Attempt {
    /// The medium was busy: the next attempt, after 1 to 2^attempt - 1 slots.
    fn put_off(&mut self, random: &mut Random) {
        self.attempt = (self.attempt + 1).min(CEILING);
        let most = ((1 << self.attempt) - 1).min(MOST_SLOTS);
        self.at += SLOT * (1 + random.below(most));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn backoff(numbers: Vec<u64>) -> Medium {
        let waiting = Waiting::Backoff { attempts: Vec::new(), random: Box::new(Random::script(numbers)) };
        Medium { taken: None, waiting }
    }

    #[test]
    fn ports_take_turns_in_the_order_of_asking() {
        let mut medium = Medium::new("air", Access::Turns, 1);
        let now = Time::from_nanos(5);
        medium.take(7, now);
        assert!(medium.is_busy() && !medium.release(3, now) && !medium.release(7, Time::ZERO));
        medium.wait(3, Time::ZERO);
        medium.wait(2, Time::ZERO);
        assert!(medium.release(7, now) && !medium.is_busy());
        assert_eq!(
            [medium.next(now), medium.next(now), medium.next(now)],
            [Some((3, now)), Some((2, now)), None]
        );
    }

    #[test]
    fn a_port_looks_again_after_one_slot_and_then_ever_later() {
        // The longest waits of all: 1, 3, 7, ... slots, and 1000 from the tenth attempt on.
        let mut medium = backoff(vec![u64::MAX]);
        let micros = |slots| Time::ZERO + Span::from_micros(slots);
        medium.wait(1, Time::ZERO);
        for looked in [1, 4, 11, 26, 57, 120, 247, 502, 1013, 2013, 3013] {
            assert_eq!(medium.next(micros(looked - 1) + Span::from_nanos(1)), Some((1, micros(looked))));
        }
        assert_eq!(medium.next(micros(3013)), Some((1, micros(3013))), "it has the medium");
        assert_eq!(medium.next(micros(3013)), None);
    }

    #[test]
    fn who_looks_first_at_an_idle_medium_has_it() {
        let mut medium = backoff(vec![0]);
        // Each waits a slot every time: one microsecond after it found the medium busy, and again.
        medium.wait(1, Time::from_nanos(700));
        medium.wait(2, Time::from_nanos(300));
        let (idle, first, second) =
            (Time::from_nanos(10_000), Time::from_nanos(10_300), Time::from_nanos(10_700));
        assert_eq!(medium.next(idle), Some((2, first)));
        assert_eq!(medium.next(first), Some((2, first)));
        assert_eq!(medium.next(second), Some((1, second)));
        assert_eq!(medium.next(second), None);
    }
}
