//! COBALT, the law of Linux `sch_cake` (J. Morton; described in T. Høiland-Jørgensen, D. Täht and J. Morton 2018,
//! "Piece of CAKE", section 4): CoDel, whose count decays step by step when the delay is low again, and BLUE against
//! unresponsive flows.
//!
//! One time, `drop_next`, says when the next signal is due while the delay is high, when the count decays while it is
//! low, and, with a count of zero, how long the queue must be active before the first signal.
//!
//! Random numbers: one per packet that CoDel lets pass while BLUE's probability is above zero.

use super::{Head, blue, codel};
use crate::cx::Cx;
use crate::packet::Packet;
use crate::signal::{DropReason, MarkReason};
use crate::units::{Span, Time};

/// The settings of a queue, or of all queues of FQ-COBALT and CAKE.
#[derive(Clone, Copy, Debug)]
pub struct Params {
    /// Acceptable standing delay.
    pub target: Span,
    /// About the largest usual round-trip time.
    pub interval: Span,
    /// Mark packets of ECN-capable transports where CoDel would drop them; BLUE always drops.
    pub ecn: bool,
    /// BLUE's steps and freeze time (in `sch_cake`: the target).
    pub blue: blue::Params,
    /// The sojourn time from which on BLUE's probability rises as it does at an overflow (ns-3's BlueThreshold).
    pub blue_threshold: Option<Span>,
    /// What the last packet of a queue may suffer.
    pub last: Last,
}

/// What the last packet of a queue may suffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Last {
    /// Neither drop nor mark.
    Spared,
    /// A mark, but no drop.
    Marked,
    /// What every other may.
    AsOthers,
}

/// The state of one queue.
#[derive(Clone, Copy, Debug, Default)]
pub struct State {
    drop_next: Time,
    count: u32,
    dropping: bool,
    blue: blue::State,
}

impl State {
    /// CoDel's count.
    pub const fn count(&self) -> u32 {
        self.count
    }

    /// Whether the delay was above the target last time.
    pub const fn dropping(&self) -> bool {
        self.dropping
    }

    /// BLUE's probability.
    pub const fn probability(&self) -> f64 {
        self.blue.probability()
    }

    /// Whether the state has decayed completely: another flow may take over the queue.
    pub fn at_rest(&self, now: Time) -> bool {
        self.count == 0 && self.probability() == 0.0 && now >= self.drop_next
    }
}

/// What became of the packet at the head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It may pass, and stays there.
    Passes,
    /// It was dropped, with this length.
    Dropped(u32),
    /// There is none.
    Empty,
}

/// CoDel's decision about the packet at the head.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Hit {
    Nothing,
    Marked,
    Drop,
}

impl Params {
    /// Takes the next packet from `head`, dropping or marking as the law decides, but the last one as `last` says. A sojourn
    /// time of at most `floor` is never too long.
    #[inline]
    pub fn dequeue<H: Head>(
        &self,
        state: &mut State,
        head: &mut H,
        floor: Span,
        cx: &mut Cx<'_>,
    ) -> Option<Packet> {
        if self.settle(state, head, floor, cx) { head.pop() } else { None }
    }

    /// Drops packets at the head until one may pass, which stays there; `false` if there is none. What
    /// [`dequeue`](Params::dequeue) does before it takes the packet.
    #[inline]
    pub fn settle<H: Head>(&self, state: &mut State, head: &mut H, floor: Span, cx: &mut Cx<'_>) -> bool {
        loop {
            match self.step(state, head, floor, cx) {
                Step::Passes => return true,
                Step::Dropped(_) => {}
                Step::Empty => return false,
            }
        }
    }

    /// Judges the packet at the head, and drops it if it may not pass.
    #[inline]
    pub fn step<H: Head>(&self, state: &mut State, head: &mut H, floor: Span, cx: &mut Cx<'_>) -> Step {
        let bytes = head.bytes();
        let Some(packet) = head.peek() else {
            self.emptied(state, cx.now);
            return Step::Empty;
        };
        let last = u64::from(packet.length) == bytes;
        let drop = self.judge(state, packet, last, floor, cx);
        if !drop || (last && self.last != Last::AsOthers) {
            return Step::Passes;
        }
        let length = packet.length;
        if let Some(packet) = head.pop() {
            cx.drop(packet, DropReason::Congestion);
        }
        Step::Dropped(length)
    }

    /// The queue was full: BLUE's probability rises, and CoDel's next signal is due at once.
    pub fn overflowed(&self, state: &mut State, now: Time) {
        self.blue.overload(&mut state.blue, now);
        (state.dropping, state.drop_next, state.count) = (true, now, state.count.max(1));
    }

    /// The queue has nothing to send: BLUE's probability falls, and CoDel's count too if it is time.
    pub fn emptied(&self, state: &mut State, now: Time) {
        self.blue.idle(&mut state.blue, now);
        state.dropping = false;
        if state.count > 0 && now >= state.drop_next {
            self.advance(state, state.count - 1);
        }
    }

    /// Whether the packet at the head is to be dropped.
    #[inline]
    fn judge(
        &self,
        state: &mut State,
        packet: &mut Packet,
        last: bool,
        floor: Span,
        cx: &mut Cx<'_>,
    ) -> bool {
        let now = cx.now;
        let sojourn = now.since(packet.arrival);
        let late = sojourn > self.target && sojourn > floor;
        // Entering dropping state moves `drop_next`, but a signal that was due stays due.
        let due = state.count > 0 && now >= state.drop_next;
        let mut overdue = now > state.drop_next;
        if late {
            if !state.dropping {
                state.drop_next = now + self.spacing(state.count);
            }
            state.count = state.count.max(1);
        }
        state.dropping = late;

        let mut hit = Hit::Nothing;
        if due {
            if late {
                let may_mark = self.ecn && !(last && self.last == Last::Spared);
                let marked = may_mark && cx.mark(packet, MarkReason::Congestion);
                hit = if marked { Hit::Marked } else { Hit::Drop };
                self.advance(state, state.count.saturating_add(1));
            } else {
                while state.count > 0 && now >= state.drop_next {
                    self.advance(state, state.count - 1);
                }
            }
            overdue = now > state.drop_next;
        }
        if self.blue_threshold.is_some_and(|threshold| sojourn > threshold) {
            self.blue.overload(&mut state.blue, now);
        }
        let p = state.blue.probability();
        let drop = hit == Hit::Drop || (p > 0.0 && cx.uniform() < p);
        if state.count == 0 {
            state.drop_next = now + self.interval;
        } else if overdue && !drop {
            state.drop_next = now;
        }
        drop
    }

    /// Sets the count and advances `drop_next` by the time between signals at that count.
    fn advance(&self, state: &mut State, count: u32) {
        state.count = count;
        state.drop_next += self.spacing(count);
    }

    /// `interval / sqrt(count)`; a count of zero is treated as one.
    fn spacing(&self, count: u32) -> Span {
        codel::spacing(self.interval, count.max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARAMS: Params = Params {
        target: Span::from_millis(5),
        interval: Span::from_millis(100),
        ecn: true,
        blue: blue::Params { increment: 0.25, decrement: 0.125, freeze_time: Span::from_millis(5) },
        blue_threshold: None,
        last: Last::Spared,
    };

    fn at(millis: u64) -> Time {
        Time::from_nanos(millis * 1_000_000)
    }

    #[test]
    fn an_overflow_makes_the_next_signal_due_and_an_empty_queue_takes_it_back() {
        let mut state = State::default();
        PARAMS.overflowed(&mut state, at(10));
        assert_eq!((state.count, state.dropping, state.drop_next), (1, true, at(10)));
        assert_eq!(state.probability(), 0.25);
        PARAMS.overflowed(&mut state, at(15)); // frozen for 5 ms
        assert_eq!((state.count, state.probability(), state.drop_next), (1, 0.25, at(15)));
        PARAMS.emptied(&mut state, at(16)); // 16 >= 15: the count falls, next 100 ms later
        assert_eq!((state.count, state.dropping, state.drop_next), (0, false, at(115)));
        assert_eq!(state.probability(), 0.125);
    }

    #[test]
    fn an_empty_queue_waits_for_the_time_of_the_next_step() {
        let mut state = State { count: 4, drop_next: at(50), ..State::default() };
        PARAMS.emptied(&mut state, at(49));
        assert_eq!(state.count, 4);
        PARAMS.emptied(&mut state, at(50)); // 100 ms / sqrt(3) = 57.735026 ms
        assert_eq!((state.count, state.drop_next), (3, Time::from_nanos(107_735_026)));
    }

    #[test]
    fn a_state_is_at_rest_once_it_has_decayed() {
        let state = State { drop_next: at(50), ..State::default() };
        assert!(!state.at_rest(at(49)) && state.at_rest(at(50)));
        assert!(!State { count: 1, ..state }.at_rest(at(50)));
        let mut blue = state;
        PARAMS.blue.overload(&mut blue.blue, at(10));
        assert!(!blue.at_rest(at(50)));
    }

    #[test]
    fn the_state_of_a_queue_stays_small() {
        assert!(size_of::<State>() <= 32, "{}", size_of::<State>());
    }
}
