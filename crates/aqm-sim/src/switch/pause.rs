//! PAUSE frames of priority flow control (IEEE 802.1Qbb, now clause 36 of IEEE 802.1Q), and what they do to the port that
//! receives them.
//!
//! Simpler than the standard:
//!
//! - A port obeys at once. The standard gives it some time; the headroom for that, and for the delays of interfaces and
//!   cables beyond propagation, is not needed here. Real switches need it.
//! - A frame speaks of one priority. That of IEEE 802.3 annex 31D has a vector of eight times; who pauses several
//!   priorities at once sends several frames here.
//! - XOFF is a fixed number of bytes. The standard leaves open when a port pauses; many switches take a threshold that
//!   shrinks with what is free in the shared buffer.

use aqm_core::paused::PausedClasses;
use aqm_core::units::{Bytes, Rate, Span, Time};

/// Traffic classes that can be paused on their own (IEEE 802.1Q has eight priorities).
pub const PRIORITIES: usize = 8;
/// Classes that [`PausedClasses`] can hold.
const PAUSABLE_CLASSES: u16 = 64;
/// Length of a PAUSE frame on the link: the smallest Ethernet frame.
pub const FRAME_BYTES: u32 = 64;
/// A pause time is counted in quanta of 512 bit times (IEEE 802.3 annex 31B).
const QUANTUM_BYTES: u64 = 512 / 8;

/// The priority of a packet of `class`: classes beyond the last priority share it, as in classful disciplines.
#[inline]
pub fn priority_of(class: u16) -> u8 {
    class.min(PRIORITIES as u16 - 1) as u8
}

/// What a PAUSE frame says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PauseFrame {
    /// The priority.
    pub priority: u8,
    /// For how long it must not send, in quanta; 0 lets it go on (XON).
    pub quanta: u16,
}

/// How long `quanta` are on a link of `rate`.
pub fn pause_time(quanta: u16, rate: Rate) -> Span {
    rate.time_for(Bytes::new(u64::from(quanta) * QUANTUM_BYTES))
}

/// The pause state of a sending port: which priorities must not be served, and until when.
///
/// A packet that is being sent is finished. A pause that is not refreshed expires.
#[derive(Clone, Debug)]
pub struct PauseState {
    rate: Rate,
    priorities: [Paused; PRIORITIES],
    /// The classes of the priorities that are paused.
    classes: PausedClasses,
    frames: u64,
}

/// One priority of a sending port.
#[derive(Clone, Copy, Debug, Default)]
struct Paused {
    /// Since when it has been paused, and when the pause ends by itself.
    current: Option<(Time, Time)>,
    /// Pauses that are over.
    total: Span,
}

impl PauseState {
    /// Nothing is paused on a link of `rate`, whose bit times the quanta count.
    pub fn new(rate: Rate) -> PauseState {
        PauseState { rate, priorities: Default::default(), classes: PausedClasses::NONE, frames: 0 }
    }

    /// A PAUSE frame arrives: the priority is paused from now on, or may go on.
    pub fn receive(&mut self, frame: PauseFrame, now: Time) {
        self.frames += 1;
        let until = now + pause_time(frame.quanta, self.rate);
        let paused = &mut self.priorities[usize::from(frame.priority)];
        if frame.quanta == 0 {
            paused.end(now);
        } else {
            let since = paused.current.map_or(now, |(since, _)| since);
            paused.current = Some((since, until));
        }
        self.set_classes();
    }

    /// Ends the pauses whose time is up.
    pub fn expire(&mut self, now: Time) {
        for paused in &mut self.priorities {
            if let Some((_, until)) = paused.current
                && until <= now
            {
                paused.end(until);
            }
        }
        self.set_classes();
    }

    fn set_classes(&mut self) {
        let paused = (0..PAUSABLE_CLASSES).filter(|class| self.is_paused(priority_of(*class)));
        self.classes = paused.fold(PausedClasses::NONE, PausedClasses::with);
    }

    /// When the next pause ends by itself.
    pub fn next_expiry(&self) -> Option<Time> {
        self.priorities.iter().filter_map(|paused| Some(paused.current?.1)).min()
    }

    /// Whether a priority must not be served.
    #[inline]
    pub fn is_paused(&self, priority: u8) -> bool {
        self.priorities[usize::from(priority)].current.is_some()
    }

    /// The classes that must not be served.
    #[inline]
    pub fn paused_classes(&self) -> PausedClasses {
        self.classes
    }

    /// How long a priority has been paused up to `now`, in all.
    pub fn paused_time(&self, priority: u8, now: Time) -> Span {
        let paused = &self.priorities[usize::from(priority)];
        paused.total + paused.current.map_or(Span::ZERO, |(since, until)| now.min(until).since(since))
    }

    /// Resets the counts of frames and pauses.
    pub fn restart(&mut self, now: Time) {
        self.frames = 0;
        for paused in &mut self.priorities {
            paused.total = Span::ZERO;
            if let Some((since, _)) = &mut paused.current {
                *since = now;
            }
        }
    }

    /// PAUSE frames received, those that resume included.
    pub fn frames(&self) -> u64 {
        self.frames
    }
}

impl Paused {
    fn end(&mut self, now: Time) {
        if let Some((since, _)) = self.current.take() {
            self.total += now.since(since);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 10 Gbit/s: a quantum is 51.2 ns, 1000 of them 51.2 us.
    fn port() -> PauseState {
        PauseState::new(Rate::from_bits_per_sec(10_000_000_000))
    }

    fn us(micros: u64) -> Time {
        Time::ZERO + Span::from_micros(micros)
    }

    /// The classes that are paused, of the first twelve.
    fn paused(port: &PauseState) -> Vec<u16> {
        (0..12).filter(|class| port.paused_classes().contains(*class)).collect()
    }

    fn pause(priority: u8, quanta: u16) -> PauseFrame {
        PauseFrame { priority, quanta }
    }

    #[test]
    fn quanta_are_512_bit_times_of_the_link() {
        let longest = |gbit: u64| pause_time(u16::MAX, Rate::from_bits_per_sec(gbit * 1_000_000_000));
        assert_eq!(longest(1).as_nanos(), 65_535 * 512);
        assert_eq!(longest(10).as_nanos(), 3_355_392);
        assert_eq!(longest(100).as_nanos(), 335_540, "335539.2 ns, rounded up");
    }

    #[test]
    fn a_pause_lasts_its_quanta_and_ends_by_itself() {
        let mut port = port();
        port.receive(pause(3, 1000), us(10));
        assert_eq!(paused(&port), [3]);
        let end = us(10) + Span::from_nanos(51_200);
        assert_eq!(port.next_expiry(), Some(end));
        port.expire(Time::from_nanos(end.as_nanos() - 1));
        assert_eq!(paused(&port), [3]);
        port.expire(end);
        assert_eq!((paused(&port), port.next_expiry()), (Vec::new(), None));
        assert_eq!(port.paused_time(3, us(500)), Span::from_nanos(51_200));
    }

    #[test]
    fn a_refresh_prolongs_the_pause_from_when_it_arrives_and_zero_quanta_end_it() {
        let mut port = port();
        port.receive(pause(0, 1000), us(0));
        port.receive(pause(0, 1000), us(40));
        port.expire(us(60));
        assert_eq!(paused(&port), [0]);
        port.receive(pause(0, 0), us(70));
        assert!(paused(&port).is_empty());
        assert_eq!(port.paused_time(0, us(100)), Span::from_micros(70));
        assert_eq!(port.frames(), 3);
    }

    #[test]
    fn priorities_are_paused_apart() {
        let mut port = port();
        port.receive(pause(1, 1000), us(0));
        port.receive(pause(6, 2000), us(0));
        assert_eq!(paused(&port), [1, 6]);
        port.expire(us(52));
        assert_eq!(paused(&port), [6]);
        port.receive(pause(1, 0), us(60)); // says what is so already
        assert_eq!(port.paused_time(1, us(60)), Span::from_nanos(51_200));
        assert_eq!(port.paused_time(6, us(60)), Span::from_micros(60));
    }

    #[test]
    fn classes_beyond_the_last_share_its_priority() {
        assert_eq!([0, 3, 7, 8, 900].map(priority_of), [0, 3, 7, 7, 7]);
        let mut port = port();
        port.receive(pause(7, 1), us(0));
        assert_eq!(paused(&port), [7, 8, 9, 10, 11]);
    }
}
