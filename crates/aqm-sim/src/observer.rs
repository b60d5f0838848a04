//! Observers of a run: what a host measures beside the metrics of this crate. They change nothing.
//!
//! A scenario names them (`observe`), and a host brings them by an [`Extension`](crate::extension::Extension). A run without
//! them pays nothing for them.

use crate::metrics::registry::{Metric, Part};
use crate::metrics::sampled::Sampled;
use crate::metrics::values::Values;
use aqm_core::backlog::Backlog;
use aqm_core::signal::{DropPoint, DropReason};
use aqm_core::units::{Span, Time};

/// The declaration of an observer.
pub struct Info {
    /// What scenarios call it.
    pub name: &'static str,
    /// What it measures, in one line.
    pub summary: &'static str,
    /// Where that is defined.
    pub reference: &'static str,
    /// Its metrics.
    pub metrics: &'static [&'static Metric],
    /// Its columns of the time series.
    pub series: &'static [&'static Sampled],
    /// Makes one for a run.
    pub build: fn(&Site) -> Box<dyn Observer>,
}

/// The network of a run.
#[derive(Clone, Debug, Default)]
pub struct Site {
    /// Bytes of the link layer in the length of each packet.
    pub overhead: u32,
    /// The ports whose queues are measured, the first of them for metrics without a prefix.
    pub measured: Vec<Port>,
}

/// A measured port.
#[derive(Clone, Copy, Debug)]
pub struct Port {
    /// Its number.
    pub number: usize,
    /// How long its link sends a full packet, of 1500 bytes and the overhead; at the mean rate of a trace.
    pub full_packet: Span,
}

/// A packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Packet {
    /// Its place in memory: two packets that exist at the same time differ.
    pub id: u32,
    /// Number of its flow.
    pub flow: u32,
    /// What it is.
    pub kind: Kind,
    /// Bytes on the link.
    pub length: u32,
    /// Payload, bytes; of an acknowledgment it means nothing.
    pub payload: u32,
    /// Of TCP data, the number of the first payload byte.
    pub first_byte: u64,
    /// Bytes that the source of its flow writes at a time; known at hosts.
    pub written: u64,
}

/// What a packet is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// TCP data.
    #[default]
    Data,
    /// What comes back: a TCP acknowledgment, or a datagram of a real transport's server.
    Ack,
    /// A datagram of a source, of a rate-based sender, or of a real transport's client.
    Datagram,
    /// A packet of the network about congestion, of no flow: a message to a source, or a PAUSE frame.
    Feedback,
}

/// A packet that is lost.
#[derive(Clone, Copy, Debug)]
pub struct Lost {
    /// It.
    pub packet: Packet,
    /// The port.
    pub port: usize,
    /// What loses it.
    pub by: LostBy,
    /// What waits in the discipline of the port, without it.
    pub queued: Backlog,
    /// How long it has waited there.
    pub sojourn: Span,
}

/// What loses a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LostBy {
    /// A discipline, for a reason and during a call.
    Discipline(DropReason, DropPoint),
    /// A switch in front of the queue: its buffer, or its program.
    Switch,
    /// Random loss on the wire, behind the queue.
    Wire,
}

/// Sees every packet at all hosts and all disciplines.
pub trait Observer: Send {
    /// A packet is sent by its host.
    fn on_sent(&mut self, _packet: &Packet, _now: Time) {}

    /// A packet reaches its host.
    fn on_received(&mut self, _packet: &Packet, _now: Time) {}

    /// A packet comes to a port with a discipline, which holds `queued` before.
    fn on_arrival(&mut self, _port: usize, _queued: Backlog, _now: Time) {}

    /// A discipline has handled an arrival, and holds `queued` now; what it dropped was shown before.
    fn on_enqueue(&mut self, _packet: &Packet, _port: usize, _queued: Backlog, _now: Time) {}

    /// A packet has left a discipline after `sojourn`; it holds `queued` now.
    fn on_dequeue(&mut self, _packet: &Packet, _port: usize, _queued: Backlog, _sojourn: Span, _now: Time) {}

    /// A packet is lost, wherever that is.
    fn on_drop(&mut self, _lost: &Lost, _now: Time) {}

    /// The warm-up is over: what is measured begins now.
    fn on_measuring(&mut self, _now: Time) {}

    /// A point of the time series is taken.
    fn on_sample(&mut self, _samples: &mut Samples<'_>, _now: Time) {}

    /// The run is over; the values of its metrics.
    fn report(&mut self, values: &mut Answers<'_>, end: Time);
}

/// Where an observer puts the values of its metrics.
pub struct Answers<'a> {
    pub(crate) values: &'a mut Values,
    pub(crate) ports: &'a [Part],
}

impl Answers<'_> {
    /// The value for the whole run.
    pub fn put(&mut self, metric: &Metric, value: f64) {
        self.values.put(&Part::WHOLE, metric, value);
    }

    /// The value of a measured port, counted from zero.
    pub fn put_at(&mut self, measured: usize, metric: &Metric, value: f64) {
        for part in parts_of(self.ports, measured) {
            self.values.put(part, metric, value);
        }
    }
}

/// Where an observer puts its point of the time series.
pub struct Samples<'a> {
    pub(crate) put: &'a mut dyn FnMut(&Part, &Sampled, f64),
    pub(crate) ports: &'a [Part],
}

impl Samples<'_> {
    /// The value of a measured port, counted from zero.
    pub fn put_at(&mut self, measured: usize, column: &Sampled, value: f64) {
        for part in parts_of(self.ports, measured) {
            (self.put)(part, column, value);
        }
    }
}

/// What a measured port is called: the first has no prefix, and each has one where there are several.
fn parts_of(ports: &[Part], measured: usize) -> impl Iterator<Item = &Part> {
    let whole = (measured == 0).then_some(const { &Part::WHOLE });
    let own = (ports.len() > 1).then(|| &ports[measured]);
    whole.into_iter().chain(own)
}

/// Collects what an observer reports, by the names of its metrics: for tests of observers.
pub fn reported(observer: &mut dyn Observer, end: Time) -> Values {
    let mut values = Values::default();
    observer.report(&mut Answers { values: &mut values, ports: &[Part::WHOLE] }, end);
    values
}
