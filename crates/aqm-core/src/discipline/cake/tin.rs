//! One tin: its flows, its control law, its threshold and its counters.

use super::flows::Flows;
use super::isolation::Isolation;
use super::settings::{Control, Settings};
use super::shaper::{Shaper, Threshold};
use super::tins::{Rank, Share};
use crate::cx::Cx;
use crate::law::cobalt::Step;
use crate::packet::Packet;
use crate::queue::Pool;
use crate::signal::DropReason;
use crate::units::{Span, Time};

/// A tin.
#[derive(Debug)]
pub(super) struct Tin {
    pub(super) flows: Flows,
    pub(super) rank: Rank,
    control: Control,
    pub(super) threshold: Threshold,
    /// Bytes per round of the tins.
    pub(super) weight: u32,
    /// Bytes that it may still send in this round.
    pub(super) deficit: i64,
    /// Average delay of departed packets, each weighted by 1/256.
    pub(super) delay: Span,
    pub(super) drops: u64,
    pub(super) marks: u64,
}

impl Tin {
    /// An empty tin.
    pub(super) fn new(settings: &Settings, share: &Share, queues: usize) -> Tin {
        Tin {
            flows: Flows::new(queues),
            rank: share.rank,
            control: settings.control(share),
            threshold: Threshold::new(share.threshold),
            weight: share.weight,
            deficit: 0,
            delay: Span::ZERO,
            drops: 0,
            marks: 0,
        }
    }

    /// Takes new settings.
    pub(super) fn change(&mut self, settings: &Settings, share: &Share) {
        self.control = settings.control(share);
        self.threshold.rate = share.threshold;
    }

    /// A packet arrives.
    #[inline]
    pub(super) fn enqueue(
        &mut self,
        packet: Packet,
        isolation: &Isolation,
        settings: &Settings,
        shaper: &mut Shaper,
        pool: &mut Pool,
        cx: &mut Cx<'_>,
    ) {
        if self.flows.is_empty() {
            self.threshold.start(cx.now);
        }
        let queue = self.flows.locate(&packet, isolation);
        if let Some(place) = settings.acks.redundant(self.flows.packets(queue, pool), &packet)
            && let Some(acknowledgment) = self.flows.remove(queue, place, pool)
        {
            self.drops += 1;
            if settings.ingress {
                self.wasted(settings.framing.bytes(acknowledgment.length), shaper, cx.now);
            }
            cx.drop(acknowledgment, DropReason::Redundant);
        }
        self.flows.push(queue, packet, self.control.quantum, isolation, pool);
    }

    /// The queue whose oldest packet is the next to be [sent](Tin::send); `None` if none waits any more, or if the tin
    /// is to be chosen again.
    #[inline]
    pub(super) fn ready(
        &mut self,
        isolation: &Isolation,
        settings: &Settings,
        shaper: &mut Shaper,
        pool: &mut Pool,
        cx: &mut Cx<'_>,
    ) -> Option<usize> {
        let early = DropReason::Congestion as usize;
        let (drops, marks) = (cx.shell.counters.dropped[early], cx.shell.counters.marked);
        let mut selected = None;
        let ready = loop {
            let Control { law, packet, quantum } = &self.control;
            let Some(queue) = selected.or_else(|| self.flows.select(*quantum, isolation)) else { break None };
            // cobalt_should_drop(): four packets of the tin, and in ingress mode two of every bulk flow.
            let bulk = if settings.ingress { u64::from(self.flows.counts()[1]) } else { 0 };
            selected = match self.flows.step(queue, law, *packet * (2 * bulk).max(4), pool, cx) {
                Step::Passes => break Some(queue),
                // In ingress mode drops before may have changed whose turn it is.
                Step::Empty if settings.ingress => break None,
                Step::Empty => None,
                Step::Dropped(_) if !settings.ingress => Some(queue),
                Step::Dropped(length) => {
                    let bytes = settings.framing.bytes(length);
                    self.flows.charge(bytes);
                    self.wasted(bytes, shaper, cx.now);
                    None
                }
            };
        };
        self.drops += cx.shell.counters.dropped[early] - drops;
        self.marks += cx.shell.counters.marked - marks;
        ready
    }

    /// Takes the oldest packet of the queue that is [ready](Tin::ready). It is paid for first, so that it moves once.
    #[inline]
    pub(super) fn send(
        &mut self,
        queue: usize,
        settings: &Settings,
        shaper: &mut Shaper,
        pool: &mut Pool,
        now: Time,
    ) -> Option<Packet> {
        let packet = self.flows.peek(queue, pool)?;
        let bytes = settings.framing.bytes(packet.length);
        shaper.charge(bytes);
        let delay = now.since(packet.arrival);
        self.delay = self.delay.saturating_sub(self.delay / 256) + delay / 256;
        self.flows.charge(bytes);
        self.threshold.charge(bytes, now);
        if self.threshold.rate.is_none() {
            self.deficit -= bytes as i64;
        }
        self.flows.pop(queue, pool)
    }

    /// `bytes` that were dropped had come over the link (ingress mode).
    fn wasted(&mut self, bytes: u64, shaper: &mut Shaper, now: Time) {
        shaper.waste(bytes);
        self.threshold.charge(bytes, now);
        if self.threshold.rate.is_none() {
            self.deficit -= bytes as i64;
        }
    }

    /// Lets the law of an empty queue decay by a step.
    #[inline]
    pub(super) fn decay(&mut self, now: Time) {
        self.flows.decay(&self.control.law, now);
    }

    /// The oldest packet of `queue`, to be dropped; its law is informed if the buffer was full.
    pub(super) fn shed(
        &mut self,
        queue: usize,
        reason: DropReason,
        settings: &Settings,
        shaper: &mut Shaper,
        pool: &mut Pool,
        now: Time,
    ) -> Option<Packet> {
        if reason == DropReason::Overlimit {
            self.control.law.overflowed(self.flows.cobalt(queue), now);
        }
        let packet = self.flows.pop(queue, pool)?;
        self.drops += 1;
        if settings.ingress {
            self.wasted(settings.framing.bytes(packet.length), shaper, now);
        }
        Some(packet)
    }
}
