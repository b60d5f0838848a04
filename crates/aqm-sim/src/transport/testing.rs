//! Helpers for the tests of both ends.

use super::receiver::{Acknowledgment, Receiver, Segment};
use super::sender::Sender;
use super::tcp::Tcp;
use aqm_core::random::Random;
use aqm_core::units::{Span, Time};
use std::collections::{BTreeSet, VecDeque};

/// Bytes of a segment in tests.
pub(crate) const MSS: u64 = 100;

/// A connection with SACK that acknowledges every segment; `text` names the congestion control and other keys.
pub(crate) fn settings(text: &str) -> Tcp {
    let (control, rest) = text.split_once(' ').unwrap_or((text, ""));
    Tcp::parse(&format!("{control} mss {MSS}b delack off {rest}")).unwrap()
}

/// A sender and its receiver with one bottleneck between them.
pub(crate) struct Wire {
    pub(crate) sender: Sender,
    receiver: Receiver,
    pub(crate) now: Time,
    /// Serialisation time of a segment at the bottleneck.
    pub(crate) service: Span,
    /// The round-trip time without it.
    pub(crate) delay: Span,
    /// Segments that fit into the bottleneck, the one being sent included.
    pub(crate) buffer: usize,
    /// When each of the segments at the bottleneck leaves.
    waiting: VecDeque<Time>,
    acknowledgments: VecDeque<(Time, Acknowledgment)>,
    /// Numbers of segments that are lost the first time.
    pub(crate) lossy: BTreeSet<u64>,
    /// When which segment was sent.
    pub(crate) sent: Vec<(Time, u64)>,
}

impl Wire {
    /// Times in milliseconds and pacing rates, as multiples of the bottleneck's, wherever the rate changes by more
    /// than `share`.
    pub(crate) fn paces(&mut self, until: Time, share: f64) -> Vec<(u64, f64)> {
        let mut paces: Vec<(u64, f64)> = Vec::new();
        while self.step(until) {
            let pace = self.sender.control.rate().expect("it has a rate") / 10_000.0;
            if paces.last().is_none_or(|last| (last.1 / pace - 1.0).abs() > share) {
                paces.push((self.now.as_nanos() / 1_000_000, (pace * 1000.0).round() / 1000.0));
            }
        }
        paces
    }

    /// A sender with `bytes` to send over 10 000 bytes a second and 100 ms.
    pub(crate) fn new(tcp: &Tcp, bytes: u64) -> Wire {
        let mut sender = Sender::new(tcp, Random::seeded(1));
        sender.write(bytes);
        let mut wire = Wire {
            sender,
            receiver: Receiver::new(tcp),
            now: Time::ZERO,
            service: Span::from_millis(10),
            delay: Span::from_millis(100),
            buffer: usize::MAX,
            waiting: VecDeque::new(),
            acknowledgments: VecDeque::new(),
            lossy: BTreeSet::new(),
            sent: Vec::new(),
        };
        wire.pump();
        wire
    }

    /// Runs the next event that is not after `end`, if there is one.
    pub(crate) fn step(&mut self, end: Time) -> bool {
        let arrival = self.acknowledgments.front().map(|ack| ack.0);
        let events = [arrival, self.sender.paced_until(self.now), self.sender.deadline()];
        let Some(next) = events.into_iter().flatten().min().filter(|next| *next <= end) else {
            self.now = end;
            return false;
        };
        self.now = next;
        if arrival == Some(next)
            && let Some((_, ack)) = self.acknowledgments.pop_front()
        {
            self.sender.on_ack(&ack, next);
        }
        self.sender.on_timer(next);
        self.pump();
        true
    }

    /// Sends what may be sent now.
    pub(crate) fn pump(&mut self) {
        while let Some(segment) = self.sender.poll(self.now) {
            let number = segment.seq / MSS;
            self.sent.push((self.now, number));
            while self.waiting.front().is_some_and(|until| *until <= self.now) {
                self.waiting.pop_front();
            }
            if self.lossy.remove(&number) || self.waiting.len() >= self.buffer {
                continue;
            }
            let through = self.waiting.back().copied().unwrap_or(self.now) + self.service;
            self.waiting.push_back(through);
            let segment = Segment {
                seq: segment.seq,
                payload: segment.payload,
                sent_at: self.now,
                ecn: segment.ecn,
                cwr: segment.cwr,
                fin: false,
            };
            let ack = self.receiver.on_segment(&segment, through);
            self.acknowledgments.extend(ack.map(|ack| (through + self.delay, ack)));
        }
    }
}
