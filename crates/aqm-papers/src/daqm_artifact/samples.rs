//! When the authors' program samples the buffer. It means to look 15 ms after a departure, but gives the time of the
//! departure and 15 ms as a delay (their artifacts, `DropPacket` in `daqm-queue-disc.cc`).

use super::inspected::Inspected;
use aqm_core::choices;
use aqm_core::params::Params;
use aqm_core::queue::Fifo;
use aqm_core::units::{Span, Time};
use std::collections::VecDeque;

/// How long after a departure it means to look.
const LATER: Span = Span::from_millis(15);

choices! {
    /// When the buffer is sampled for a departure at t.
    pub(super) enum Clock {
        /// At 2 t + 15 ms.
        Doubled = "doubled",
        /// At t + 15 ms.
        Later = "later",
        /// Then.
        Departure = "departure",
    }
}

/// The times at which the buffer is sampled.
#[derive(Clone, Debug)]
pub(super) struct SampleTimes {
    clock: Clock,
    /// The last one, past or to come.
    last: Option<Time>,
    /// Those to come. No two are closer than the sampling interval.
    coming: VecDeque<Time>,
}

impl SampleTimes {
    pub(super) fn new(params: &Params) -> SampleTimes {
        SampleTimes { clock: params.choice("buffer_clock"), last: None, coming: VecDeque::new() }
    }

    pub(super) fn change(&mut self, params: &Params) {
        self.clock = params.choice("buffer_clock");
    }

    /// A packet is about to leave `queue`, or the queue is empty.
    pub(super) fn departing(&mut self, now: Time, interval: Span, queue: &Fifo, inspected: &mut Inspected) {
        self.catch_up(now, queue, inspected);
        let at = match self.clock {
            Clock::Departure => now,
            _ if queue.is_empty() => return,
            Clock::Later => now + LATER,
            Clock::Doubled => now + now.since(Time::ZERO) + LATER,
        };
        if self.last.is_none_or(|last| at.since(last) >= interval && at >= last) {
            self.last = Some(at);
            self.coming.push_back(at);
            self.catch_up(now, queue, inspected);
        }
    }

    /// Takes the samples that were due: since the last arrival or departure the queue has not changed.
    #[inline]
    pub(super) fn catch_up(&mut self, now: Time, queue: &Fifo, inspected: &mut Inspected) {
        while self.coming.pop_front_if(|at| *at <= now).is_some() {
            inspected.sample(queue.len());
        }
    }
}
