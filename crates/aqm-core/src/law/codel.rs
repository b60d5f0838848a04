//! CoDel (RFC 8289): when the sojourn time of every packet in an interval was above the target, drop at the head, and
//! faster the longer that lasts.
//!
//! The functions follow the pseudocode of RFC 8289 section 5, and keep its names. They draw no random numbers.

use super::{CeThreshold, Head};
use crate::choices;
use crate::cx::Cx;
use crate::packet::Packet;
use crate::signal::{DropReason, MarkReason};
use crate::units::{Span, Time};

/// The settings of a CoDel queue, or of all queues of FQ-CoDel.
#[derive(Clone, Copy, Debug)]
pub struct Params {
    /// Acceptable standing delay.
    pub target: Span,
    /// How long the delay must stay above the target; about the largest usual round-trip time.
    pub interval: Span,
    /// Mark packets of ECN-capable transports instead of dropping them.
    pub ecn: bool,
    /// Marks beside the law's own.
    pub ce_threshold: Option<CeThreshold>,
    /// How `interval / sqrt(count)` is computed.
    pub root: Root,
}

choices! {
    /// How `interval / sqrt(count)` is computed.
    pub enum Root {
        /// Exactly, rounded down to the nanosecond.
        Exact = "sqrt",
        /// One step of Newton's iteration per change of `count`, with 16 fractional bits, as in Linux.
        Newton = "newton",
    }
}

/// The state of one queue.
#[derive(Clone, Copy, Debug, Default)]
pub struct State {
    /// When the delay will have been above the target for an interval; zero while it is below.
    first_above_time: Time,
    /// When to drop next, in dropping state.
    drop_next: Time,
    /// Signals since dropping state was entered, with a head start if it is entered again soon.
    count: u32,
    /// `count` when dropping state was entered.
    lastcount: u32,
    /// Reciprocal square root of `count` in units of 2^-16 ([`Root::Newton`] only).
    rec_inv_sqrt: u16,
    dropping: bool,
}

impl State {
    /// Signals in this dropping state, the head start included.
    pub const fn count(&self) -> u32 {
        self.count
    }

    /// Whether the law is in dropping state.
    pub const fn dropping(&self) -> bool {
        self.dropping
    }
}

impl Params {
    /// Takes the next packet from `head`, dropping or marking as the law decides. Without ECN every round drops one
    /// packet, so the loop ends at the latest with the queue.
    ///
    /// `max_packet` is the size of a full packet: nothing is dropped if at most that many bytes would remain.
    #[inline]
    pub fn dequeue<H: Head>(
        &self,
        state: &mut State,
        head: &mut H,
        max_packet: u32,
        cx: &mut Cx<'_>,
    ) -> Option<Packet> {
        if self.ok_to_drop(state, head, max_packet, cx.now) {
            self.signal(state, head, max_packet, cx);
        } else {
            // Sojourn time below target, or nothing there: leave dropping state.
            state.dropping = false;
        }
        if let Some(threshold) = self.ce_threshold
            && let Some(packet) = head.peek()
        {
            threshold.apply(packet, cx);
        }
        head.pop()
    }

    /// RFC 8289 section 5.6 (`dodequeue`): whether the sojourn time has been above the target for an interval.
    #[inline]
    fn ok_to_drop<H: Head>(&self, state: &mut State, head: &mut H, max_packet: u32, now: Time) -> bool {
        let bytes = head.bytes();
        let Some(packet) = head.peek() else {
            // An empty queue cannot be above the target.
            state.first_above_time = Time::ZERO;
            return false;
        };
        // The RFC asks for the bytes that the packet leaves behind.
        let bytes_left = bytes - u64::from(packet.length);
        if now.since(packet.arrival) < self.target || bytes_left <= u64::from(max_packet) {
            state.first_above_time = Time::ZERO;
            return false;
        }
        if state.first_above_time == Time::ZERO {
            state.first_above_time = now + self.interval;
            return false;
        }
        now >= state.first_above_time
    }

    /// The rest of RFC 8289 section 5.5 (`deque`), if the packet at the head may be dropped: drops or marks while
    /// signals are due, until the packet at the head is the one to send.
    #[cold]
    fn signal<H: Head>(&self, state: &mut State, head: &mut H, max_packet: u32, cx: &mut Cx<'_>) {
        let now = cx.now;
        if state.dropping {
            while state.dropping && now >= state.drop_next {
                state.count = state.count.saturating_add(1);
                self.step(state);
                if self.hit(head, cx) == Hit::Marked {
                    state.drop_next = self.control_law(state.drop_next, state);
                    break;
                }
                if self.ok_to_drop(state, head, max_packet, now) {
                    state.drop_next = self.control_law(state.drop_next, state);
                } else {
                    state.dropping = false;
                }
            }
            return;
        }

        if self.hit(head, cx) == Hit::Dropped {
            self.ok_to_drop(state, head, max_packet, now);
        }
        state.dropping = true;
        // If the last dropping state ended recently, its rate is a good start.
        let delta = state.count.wrapping_sub(state.lastcount);
        if delta > 1 && now.since(state.drop_next) < self.interval * 16 {
            state.count = delta;
            self.step(state);
        } else {
            state.count = 1;
            state.rec_inv_sqrt = u16::MAX;
        }
        state.drop_next = self.control_law(now, state);
        state.lastcount = state.count;
    }

    /// Marks the packet at the head if possible, otherwise drops it.
    fn hit<H: Head>(&self, head: &mut H, cx: &mut Cx<'_>) -> Hit {
        if self.ecn && head.peek().is_some_and(|packet| cx.mark(packet, MarkReason::Congestion)) {
            return Hit::Marked;
        }
        if let Some(packet) = head.pop() {
            cx.drop(packet, DropReason::Congestion);
        }
        Hit::Dropped
    }

    /// `t + interval / sqrt(count)` (RFC 8289 section 5.4).
    fn control_law(&self, t: Time, state: &State) -> Time {
        t + match self.root {
            Root::Exact => spacing(self.interval, state.count),
            Root::Newton => {
                let interval = self.interval.as_nanos();
                Span::from_nanos((interval * (u64::from(state.rec_inv_sqrt) << 16)) >> 32)
            }
        }
    }

    /// One step of Newton's iteration `x <- x (3 - count x^2) / 2` towards `1 / sqrt(count)`, in Q0.32.
    fn step(&self, state: &mut State) {
        if self.root == Root::Exact {
            return;
        }
        let x = u64::from(state.rec_inv_sqrt) << 16;
        let x_squared = (x * x) >> 32;
        let bracket = (3u64 << 32).saturating_sub(u64::from(state.count) * x_squared);
        // The bracket has up to 34 bits: two of them are removed first, or the product would overflow.
        state.rec_inv_sqrt = ((((bracket >> 2) * x) >> 31) >> 16) as u16;
    }
}

/// `interval / sqrt(count)`, rounded down to the nanosecond.
pub(super) fn spacing(interval: Span, count: u32) -> Span {
    // floor(I / sqrt(c)) = isqrt(floor(I^2 / c)); 64 bits hold I^2 for I < 2^32 ns, 4.3 s.
    let interval = interval.as_nanos();
    Span::from_nanos(match interval.checked_mul(interval) {
        Some(square) => root(square / u64::from(count)),
        None => (u128::from(interval) * u128::from(interval) / u128::from(count)).isqrt() as u64,
    })
}

/// The square root, rounded down. The processor's takes a tenth of the instructions of `isqrt`; of more than 53 bits it may
/// be rounded up to the next whole number.
fn root(square: u64) -> u64 {
    let root = libm::sqrt(square as f64) as u64;
    root - u64::from(root.checked_mul(root).is_none_or(|product| product > square))
}

/// What happened to the packet at the head.
#[derive(PartialEq, Eq)]
enum Hit {
    Marked,
    Dropped,
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARAMS: Params = Params {
        target: Span::from_millis(5),
        interval: Span::from_millis(100),
        ecn: false,
        ce_threshold: None,
        root: Root::Exact,
    };

    fn wait(params: &Params, count: u32) -> u64 {
        let state = State { count, ..State::default() };
        params.control_law(Time::ZERO, &state).as_nanos()
    }

    #[test]
    fn the_time_between_drops_falls_with_the_square_root_of_the_count() {
        // 100 ms / sqrt(1), / sqrt(2) = 70.710678118.. ms, / sqrt(3) = 57.735026918.. ms, / sqrt(4), / sqrt(100)
        assert_eq!(wait(&PARAMS, 1), 100_000_000);
        assert_eq!(wait(&PARAMS, 2), 70_710_678);
        assert_eq!(wait(&PARAMS, 3), 57_735_026);
        assert_eq!(wait(&PARAMS, 4), 50_000_000);
        assert_eq!(wait(&PARAMS, 100), 10_000_000);
        assert_eq!(wait(&PARAMS, u32::MAX), 1_525); // 1e8 / 65535.99999
        let hour = Span::from_secs(3600);
        assert_eq!(spacing(hour, 1), hour);
        assert_eq!(spacing(hour, 2).as_nanos(), 2_545_584_412_271); // 3600 s / 1.414213562373
    }

    proptest::proptest! {
        #[test]
        fn the_root_is_rounded_down(root in 0..=u64::from(u32::MAX), beyond in 0..3_u64, square in 0..=u64::MAX) {
            // Around squares, where a root of 53 bits is rounded up, and anywhere.
            for square in [square, (root * root).saturating_sub(beyond), (root * root).saturating_add(beyond), u64::MAX] {
                proptest::prop_assert_eq!(super::root(square), square.isqrt());
            }
        }
    }

    #[test]
    fn one_newton_step_from_one_to_two_is_as_computed_by_hand() {
        // x = 65535 * 2^16, x^2 / 2^32 = 65535^2 = 4294836225, bracket = 3 * 2^32 - 2 * 4294836225 = 4295229438,
        // a quarter of it 1073807359; 1073807359 * 65535 / 2^31 = 32769.49
        let newton = Params { root: Root::Newton, ..PARAMS };
        let mut state = State { count: 2, rec_inv_sqrt: u16::MAX, ..State::default() };
        newton.step(&mut state);
        assert_eq!(state.rec_inv_sqrt, 32769);
        // 100 ms * 32769 / 65536: too short by 29 %; the next steps correct it.
        assert_eq!(newton.control_law(Time::ZERO, &state).as_nanos(), 50_001_525);
    }

    #[test]
    fn newtons_step_is_that_of_the_formula() {
        // The points that ns-3's test compares with Linux: small estimates, and powers of two for the count.
        let newton = Params { root: Root::Newton, ..PARAMS };
        for rec_inv_sqrt in (0..8).map(|shift| 0xff_u16 >> shift) {
            for count in (0..8).map(|power| 1 << power) {
                let mut state = State { count, rec_inv_sqrt, ..State::default() };
                newton.step(&mut state);
                let x = f64::from(rec_inv_sqrt) / 65536.0;
                let exact = x * (3.0 - f64::from(count) * x * x) / 2.0 * 65536.0;
                let is = f64::from(state.rec_inv_sqrt);
                assert!(is <= exact && exact < is + 1.0, "{rec_inv_sqrt}, {count}: {is} against {exact}");
            }
        }
    }

    #[test]
    fn the_control_law_adds_the_interval_over_the_root() {
        let newton = Params { root: Root::Newton, ..PARAMS };
        for start in (0..=200).map(|step| Time::from_nanos(step * 100_000_000)) {
            for rec_inv_sqrt in (0..8).map(|shift| 0xff_u16 >> shift) {
                let state = State { rec_inv_sqrt, ..State::default() };
                let exact = 1e8 * f64::from(rec_inv_sqrt) / 65536.0;
                let is = newton.control_law(start, &state).since(start).as_nanos() as f64;
                assert!(is <= exact && exact < is + 1.0, "{rec_inv_sqrt}: {is} against {exact}");
            }
        }
    }

    #[test]
    fn newton_stays_within_one_percent_of_the_root_once_it_has_settled() {
        let newton = Params { root: Root::Newton, ..PARAMS };
        let mut state = State { count: 1, rec_inv_sqrt: u16::MAX, ..State::default() };
        for count in 2..2000 {
            state.count = count;
            newton.step(&mut state);
            if count > 8 {
                let (is, exact) = (newton.control_law(Time::ZERO, &state).as_nanos(), wait(&PARAMS, count));
                assert!(is.abs_diff(exact) * 100 <= exact, "count {count}: {is} against {exact}");
            }
        }
    }

    #[test]
    fn an_empty_queue_is_not_above_the_target() {
        // It may have been emptied without the law, as by a full FQ-CoDel.
        let mut state = State { first_above_time: Time::from_nanos(1), ..State::default() };
        let mut queue = crate::queue::Fifo::default();
        assert!(!PARAMS.ok_to_drop(&mut state, &mut queue, 1514, Time::from_nanos(2)));
        assert_eq!(state.first_above_time, Time::ZERO);
    }

    #[test]
    fn the_state_of_a_queue_stays_small() {
        assert!(size_of::<State>() <= 32, "{}", size_of::<State>());
    }
}
