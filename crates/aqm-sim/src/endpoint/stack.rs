//! Both ends of a flow of a real transport.

use crate::stack::{Endpoint, Ends, LARGEST_DATAGRAM, Lost};
use crate::transport::Losses;
use aqm_core::packet::Ecn;
use aqm_core::units::{Span, Time};

/// An end of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// Opens it and sends.
    Client,
    /// Answers and receives.
    Server,
}

/// After so many calls at one instant an end waits for the next.
const MOST_TURNS: u32 = 64;
/// The least time until it is asked again: no host has finer timers.
const LEAST_WAIT: Span = Span::from_micros(1);

/// Both ends, and the events that stand for their timers, [`Time::MAX`] for none.
pub(crate) struct StackEnds {
    ends: [Box<dyn Endpoint>; 2],
    pub(crate) timers: [Time; 2],
    /// Sum and number of the client's round-trip times, one for each datagram that it has got.
    pub(crate) round_trips: (Span, u64),
    /// What the client had found lost when measuring began.
    before: Lost,
    /// What the server had delivered then.
    delivered_before: u64,
    /// Bytes of the datagrams that it has got since, and the most by which it has delivered more than these.
    arrived: u64,
    early: u64,
    /// Datagrams that the server has got since measuring began, by their ECN field.
    pub(crate) fields: [u64; 4],
    /// Whether the client stopped of its own accord.
    is_silent: bool,
    /// What an end has done that none may do.
    misdeed: Option<String>,
}

impl StackEnds {
    pub(crate) fn new(ends: Ends) -> StackEnds {
        StackEnds {
            ends: [ends.client, ends.server],
            timers: [Time::MAX; 2],
            round_trips: (Span::ZERO, 0),
            before: Lost::default(),
            delivered_before: 0,
            arrived: 0,
            early: 0,
            fields: [0; 4],
            is_silent: false,
            misdeed: None,
        }
    }

    /// The end that sends.
    pub(crate) fn client(&self) -> &dyn Endpoint {
        &*self.ends[Side::Client as usize]
    }

    /// Payload that the receiving application has got.
    pub(crate) fn delivered(&self) -> u64 {
        self.ends[Side::Server as usize].delivered()
    }

    /// The client's congestion window, bytes.
    pub(crate) fn window(&self) -> Option<u64> {
        self.client().window()
    }

    /// What was found lost since measuring began.
    pub(crate) fn losses(&self) -> Losses {
        let Lost { packets, events, timeouts } = self.client().losses();
        Losses {
            recoveries: events - self.before.events,
            timeouts: timeouts - self.before.timeouts,
            retransmissions: packets - self.before.packets,
        }
    }

    /// Measuring begins.
    pub(crate) fn forget(&mut self) {
        self.before = self.client().losses();
        (self.delivered_before, self.arrived, self.early) = (self.delivered(), 0, 0);
        self.round_trips = (Span::ZERO, 0);
        self.fields = [0; 4];
    }

    /// Bytes delivered since measuring began that had come before. A stack does not tell what it holds beyond a gap: when the gap
    /// is filled, what it delivers at once beyond all that has come since had come before.
    pub(crate) fn early(&self) -> u64 {
        self.early
    }

    /// Why the connection has ended too soon, if it has.
    pub(crate) fn failure(&self) -> Option<String> {
        let both = || self.ends.iter().find_map(|end| end.failure());
        self.misdeed.clone().or_else(both)
    }

    /// A datagram has arrived.
    pub(crate) fn on_datagram(&mut self, side: Side, datagram: &[u8], ecn: Ecn, now: Time) {
        self.ends[side as usize].on_datagram(datagram, ecn, now);
        if side == Side::Server {
            self.fields[ecn as usize] += 1;
            self.arrived += datagram.len() as u64;
            let delivered = self.delivered().saturating_sub(self.delivered_before);
            self.early = self.early.max(delivered.saturating_sub(self.arrived));
        }
        if side == Side::Client
            && let Some(rtt) = self.client().rtt()
        {
            self.round_trips.0 += rtt;
            self.round_trips.1 += 1;
        }
    }

    /// The timer of an end is due.
    pub(crate) fn on_timer(&mut self, side: Side, now: Time) {
        self.ends[side as usize].on_timer(now);
    }

    /// The client's application writes.
    pub(crate) fn write(&mut self, bytes: u64, now: Time) {
        self.ends[Side::Client as usize].write(bytes, now);
    }

    /// The client's application has nothing more to send.
    pub(crate) fn stop(&mut self, now: Time) {
        self.is_silent = !self.ends[Side::Client as usize].stop(now);
    }

    /// The next datagram of an end, written into `datagram`.
    pub(crate) fn next_datagram(&mut self, side: Side, datagram: &mut Vec<u8>, now: Time) -> Option<Ecn> {
        if self.misdeed.is_some() || (side == Side::Client && self.is_silent) {
            return None;
        }
        let ecn = self.ends[side as usize].next_datagram(datagram, now)?;
        if !(1..=LARGEST_DATAGRAM).contains(&datagram.len()) {
            let bytes = datagram.len();
            self.misdeed = Some(format!("a datagram of {bytes} bytes: it must have 1 to {LARGEST_DATAGRAM}"));
            return None;
        }
        Some(ecn)
    }

    /// Lets an end do what is due now; after `turns` of them it waits. Answers whether it has done anything.
    pub(crate) fn catch_up(&mut self, side: Side, now: Time, turns: u32) -> bool {
        let is_due = self.deadline(side).is_some_and(|deadline| deadline <= now);
        let goes_on = is_due && turns < MOST_TURNS;
        if goes_on {
            self.on_timer(side, now);
        }
        goes_on
    }

    /// What an end waits for; one that was silenced, and cannot know it, for nothing.
    fn deadline(&mut self, side: Side) -> Option<Time> {
        let is_silenced = side == Side::Client && self.is_silent;
        self.ends[side as usize].deadline().filter(|_| !is_silenced)
    }

    /// When an event must stand for the timer of an end that none stands for yet.
    pub(crate) fn arm(&mut self, side: Side, now: Time) -> Option<Time> {
        let deadline = self.deadline(side)?.max(now + LEAST_WAIT);
        let timer = &mut self.timers[side as usize];
        let sooner = deadline < *timer;
        if sooner {
            *timer = deadline;
        }
        sooner.then_some(deadline)
    }
}
