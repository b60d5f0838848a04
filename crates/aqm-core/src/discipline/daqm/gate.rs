//! Algorithm 1 behind a queue: features are taken as packets leave, and packets dropped as it says.

use super::features as notation;
use crate::cx::Cx;
use crate::discipline::single::Gate;
use crate::law::Head;
use crate::law::daqm::{self, State};
use crate::law::features::{self, COUNT, Extractor, Features, NAMES};
use crate::packet::Packet;
use crate::params::{ParamError, Params};
use crate::queue::Fifo;
use crate::signal::{DropReason, MarkReason};
use crate::units::{Span, Time};

/// What was asked for.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// How features are taken.
    pub features: features::Params,
    /// What to look for, and what to do about it.
    pub law: daqm::Params,
    /// Whether heads are dropped again in the same instant (lines 42 and 43).
    pub again: bool,
    /// Whether packets are marked instead of dropped.
    pub ecn: bool,
}

/// The law of one queue.
#[derive(Debug)]
pub struct DAqm {
    /// What was asked for; it may change while running.
    pub settings: Settings,
    /// What the law remembers.
    pub state: State,
    extractor: Extractor,
}

impl DAqm {
    /// Has seen nothing.
    pub fn new(settings: Settings) -> DAqm {
        DAqm { settings, state: State::default(), extractor: Extractor::default() }
    }

    /// The features of the last samples.
    pub fn features(&self) -> Features {
        self.extractor.features()
    }

    /// Forgets its samples.
    pub fn forget(&mut self) {
        self.extractor = Extractor::default();
    }

    /// A packet arrives below the limit: returns it to be queued, or drops it.
    #[inline]
    pub fn admit(&mut self, mut packet: Packet, cx: &mut Cx<'_>) -> Option<Packet> {
        if !self.state.is_dropping(cx.now) || cx.uniform() >= self.state.rate() {
            return Some(packet);
        }
        if self.settings.ecn && cx.mark(&mut packet, MarkReason::Congestion) {
            return Some(packet);
        }
        cx.drop(packet, DropReason::Congestion);
        None
    }

    /// The link is free: the packet that goes next.
    #[inline]
    pub fn release(&mut self, queue: &mut Fifo, cx: &mut Cx<'_>) -> Option<Packet> {
        if let Some(found) = self.detect(queue, cx.now) {
            self.drop_from(found, queue, cx);
        }
        queue.pop()
    }

    /// Shows features and what was found last.
    pub fn probe(&self, features: Features, sink: &mut dyn FnMut(&str, f64)) {
        NAMES.iter().zip(features).for_each(|(name, value)| sink(name, value));
        sink("found", self.state.found() as f64);
        sink("drop_rate", self.state.rate());
    }

    /// The features of the packet at the head, and which of them is above its threshold.
    #[inline]
    fn detect(&mut self, queue: &Fifo, now: Time) -> Option<usize> {
        let sojourn = now.since(queue.head()?.arrival);
        self.extractor.departing(&self.settings.features, now, sojourn, queue.len());
        if self.state.is_dropping(now) {
            return None;
        }
        self.settings.law.detect(&self.extractor.features(), self.extractor.is_fresh(now))
    }

    /// Lines 37 to 48: drops the packet at the head, those behind it while a derivative stays high, and from here on
    /// arriving ones.
    #[cold]
    fn drop_from(&mut self, found: usize, queue: &mut Fifo, cx: &mut Cx<'_>) {
        let mut high = Some(found);
        while high.is_some() && self.hit(queue, cx) && self.settings.again && queue.len() > 1 {
            high = self.detect(queue, cx.now).filter(|&index| features::is_derivative(index));
        }
        self.settings.law.start(&mut self.state, found, cx.now);
    }

    /// Marks the packet at the head, or drops it; whether it is gone.
    fn hit(&mut self, queue: &mut Fifo, cx: &mut Cx<'_>) -> bool {
        if self.settings.ecn && queue.peek().is_some_and(|head| cx.mark(head, MarkReason::Congestion)) {
            return false;
        }
        if let Some(head) = Fifo::pop(queue) {
            cx.drop(head, DropReason::Congestion);
        }
        true
    }
}

/// The law with the parameters of this discipline.
pub(super) struct Own(DAqm);

impl Own {
    pub(super) fn new(params: &Params) -> Own {
        Own(DAqm::new(settings(params)))
    }
}

impl Gate for Own {
    #[inline]
    fn admit(&mut self, packet: Packet, _queue: &Fifo, cx: &mut Cx<'_>) -> Option<Packet> {
        self.0.admit(packet, cx)
    }

    #[inline]
    fn release(&mut self, queue: &mut Fifo, cx: &mut Cx<'_>) -> Option<Packet> {
        self.0.release(queue, cx)
    }

    fn change(&mut self, params: &Params, _cx: &mut Cx<'_>) -> Result<(), ParamError> {
        self.0.settings = settings(params);
        Ok(())
    }

    fn probe(&self, _queue: &Fifo, sink: &mut dyn FnMut(&str, f64)) {
        self.0.probe(self.0.features(), sink);
    }
}

/// What the parameters ask for.
pub(super) fn settings(params: &Params) -> Settings {
    let listed = notation::read(params.text("features")).expect("it was checked");
    let each = |value: fn(&notation::Feature) -> Option<f64>, usual: f64| -> Features {
        core::array::from_fn(|index| listed[index].as_ref().and_then(value).unwrap_or(usual))
    };
    let duration = params.span("drop_duration");
    let durations: [Span; COUNT] = core::array::from_fn(|index| {
        listed[index].as_ref().and_then(|feature| feature.duration).unwrap_or(duration)
    });
    Settings {
        features: features::Params {
            sample_interval: params.span("sample_interval"),
            spacing: None,
            buffer_per_ms: false,
            smoothing: params.span("smoothing"),
        },
        law: daqm::Params {
            thresholds: each(|feature| Some(feature.threshold()), f64::INFINITY),
            gate_s: params.span("gate_s").as_millis_f64(),
            gate_b: params.count("gate_b") as f64,
            absolute: false,
            rates: each(|feature| feature.rate, params.number("drop_rate")),
            durations,
            update_step: 0.0,
        },
        again: params.flag("again"),
        ecn: params.flag("ecn"),
    }
}
