//! One queue with a law: the common part of disciplines without flows or classes.

use super::Discipline;
use crate::backlog::Backlog;
use crate::cx::Cx;
use crate::packet::Packet;
use crate::params::{ParamError, Params};
use crate::queue::Fifo;
use crate::signal::DropReason;
use crate::units::{Size, Time};
use alloc::boxed::Box;

/// The decisions of a law about the packets of one queue. The limit is checked elsewhere.
pub trait Gate: Send + Sized + 'static {
    /// A packet arrives below the limit: returns it to be queued, or drops it.
    #[inline]
    fn admit(&mut self, packet: Packet, _queue: &Fifo, _cx: &mut Cx<'_>) -> Option<Packet> {
        Some(packet)
    }

    /// A packet arrives at the limit: it will be dropped.
    #[inline]
    fn overflowed(&mut self, _packet: &Packet, _cx: &mut Cx<'_>) {}

    /// The link is free: which packet goes next?
    #[inline]
    fn release(&mut self, queue: &mut Fifo, _cx: &mut Cx<'_>) -> Option<Packet> {
        queue.pop()
    }

    /// Changes parameters. On an error nothing has changed.
    fn change(&mut self, params: &Params, cx: &mut Cx<'_>) -> Result<(), ParamError>;

    /// See [`Discipline::next_wakeup`].
    #[inline]
    fn next_wakeup(&self) -> Option<Time> {
        None
    }

    /// See [`Discipline::on_wakeup`].
    fn on_wakeup(&mut self, _queue: &Fifo, _cx: &mut Cx<'_>) {}

    /// See [`Discipline::probe`].
    fn probe(&self, _queue: &Fifo, _sink: &mut dyn FnMut(&str, f64)) {}

    /// Bytes of its tables, without itself.
    fn table_bytes(&self) -> usize {
        0
    }
}

/// A queue with tail drop at `limit`, and its law.
pub struct Single<G> {
    queue: Fifo,
    limit: Size,
    gate: G,
}

fn limit(params: &Params) -> Size {
    params.size("limit").expect("limit has no auto")
}

impl<G: Gate> Single<G> {
    /// An empty queue with `gate` as law, and the `limit` of `params`.
    pub fn boxed(params: &Params, gate: G) -> Box<dyn Discipline> {
        Box::new(Single { queue: Fifo::default(), limit: limit(params), gate })
    }
}

impl<G: Gate> Discipline for Single<G> {
    #[inline]
    fn enqueue(&mut self, packet: Packet, cx: &mut Cx<'_>) {
        if self.queue.backlog().would_exceed(self.limit, packet.length) {
            self.gate.overflowed(&packet, cx);
            return cx.drop(packet, DropReason::Overlimit);
        }
        if let Some(packet) = self.gate.admit(packet, &self.queue, cx) {
            self.queue.push(packet);
        }
    }

    #[inline]
    fn dequeue(&mut self, cx: &mut Cx<'_>) -> Option<Packet> {
        self.gate.release(&mut self.queue, cx)
    }

    fn backlog(&self) -> Backlog {
        self.queue.backlog()
    }

    fn change(&mut self, params: &Params, cx: &mut Cx<'_>) -> Result<(), ParamError> {
        self.gate.change(params, cx)?;
        self.limit = limit(params);
        self.queue.trim(self.limit, cx);
        Ok(())
    }

    fn purge(&mut self, cx: &mut Cx<'_>) {
        self.queue.purge(cx);
    }

    #[inline]
    fn next_wakeup(&self) -> Option<Time> {
        self.gate.next_wakeup()
    }

    fn on_wakeup(&mut self, cx: &mut Cx<'_>) {
        self.gate.on_wakeup(&self.queue, cx);
    }

    fn probe(&self, _now: Time, sink: &mut dyn FnMut(&str, f64)) {
        self.gate.probe(&self.queue, sink);
    }

    fn state_bytes(&self) -> usize {
        size_of::<Self>() + self.gate.table_bytes()
    }
}
