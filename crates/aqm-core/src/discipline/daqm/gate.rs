//! Algorithm 1 behind a queue: features are taken as packets leave, and packets dropped as it says.

use super::samples::SampleTimes;
use crate::cx::Cx;
use crate::discipline::single::Gate;
use crate::law::daqm::{self, CONFIGURATIONS, Controller, State};
use crate::law::features::{self, Extractor, Features, Inspected, NAMES};
use crate::packet::Packet;
use crate::params::{ParamError, Params, Value};
use crate::queue::Fifo;
use crate::signal::{DropReason, MarkReason};
use crate::units::{Span, Time};

/// What was asked for.
struct Settings {
    features: features::Params,
    law: daqm::Params,
    again: bool,
    /// Whether the authors' program loses what it looks at.
    destroy: bool,
    ecn: bool,
    /// Period and target of the controller, if there is one.
    control: Option<(Span, Span)>,
}

/// How features are taken, with what is remembered for it.
enum Reading {
    Clean(Extractor),
    /// The authors' program: what it remembers, when it samples the buffer, and what it saw last.
    Artifact(Inspected, SampleTimes, Features),
}

/// The law of one queue.
pub(super) struct DAqm {
    settings: Settings,
    reading: Reading,
    state: State,
    controller: Controller,
}

/// One value of `what` for each feature (`rate_s1`), or the one for all.
fn own<T>(params: &Params, what: &str, all: &str, read: fn(&Value) -> Option<T>) -> [T; features::COUNT] {
    NAMES.map(|name| {
        let value = read(params.get(&alloc::format!("{what}_{name}")));
        value.or_else(|| read(params.get(all))).expect("the one for all has no auto")
    })
}

fn fraction(value: &Value) -> Option<f64> {
    if let Value::Fraction(fraction) = value { Some(*fraction) } else { None }
}

fn span(value: &Value) -> Option<Span> {
    if let Value::Span(span) = value { Some(*span) } else { None }
}

/// A threshold in the unit of its feature; infinite if it is off.
fn threshold(value: &Value) -> f64 {
    match value {
        Value::Span(span) => span.as_millis_f64(),
        Value::Count(packets) => *packets as f64,
        Value::Number(number) => *number,
        _ => f64::INFINITY,
    }
}

fn settings(params: &Params) -> Settings {
    Settings {
        features: features::Params {
            sample_interval: params.span("sample_interval"),
            spacing: span(params.get("spacing")),
            buffer_per_ms: params.choice("buffer_per") == "ms",
            smoothing: params.span("smoothing"),
        },
        law: daqm::Params {
            thresholds: NAMES.map(|name| threshold(params.get(name))),
            gate_s: threshold(params.get("gate_s")),
            gate_b: threshold(params.get("gate_b")),
            absolute: params.choice("compare") == "absolute",
            rates: own(params, "rate", "drop_rate", fraction),
            durations: own(params, "duration", "drop_duration", span),
            update_step: params.number("update_step"),
        },
        again: params.flag("again"),
        destroy: params.flag("destroy"),
        ecn: params.flag("ecn"),
        control: params
            .flag("controller")
            .then(|| (params.span("control_period"), params.span("control_target"))),
    }
}

fn reading(params: &Params) -> Reading {
    match params.choice("reading") {
        "clean" => Reading::Clean(Extractor::default()),
        _ => Reading::Artifact(Inspected::default(), SampleTimes::new(params), [0.0; features::COUNT]),
    }
}

impl DAqm {
    pub(super) fn new(params: &Params) -> DAqm {
        let mut daqm = DAqm {
            settings: settings(params),
            reading: reading(params),
            state: State::default(),
            controller: Controller::default(),
        };
        daqm.configure();
        daqm
    }

    /// Puts the controller's configuration in force, if there is a controller.
    fn configure(&mut self) {
        if self.settings.control.is_some() {
            let configuration = &CONFIGURATIONS[self.controller.level()];
            self.settings.law.thresholds = configuration.thresholds;
            self.settings.law.rates = [configuration.rate; features::COUNT];
        }
    }

    /// Lets the controller see the packet at the head, which is about to leave.
    #[inline]
    fn control(&mut self, queue: &Fifo, now: Time) {
        if let (Some((period, target)), Some(head)) = (self.settings.control, queue.head())
            && self.controller.departing(period, target, now, now.since(head.arrival))
        {
            self.configure();
        }
    }

    /// Marks the packet at the head, or drops it; whether it is gone.
    fn hit(&mut self, queue: &mut Fifo, cx: &mut Cx<'_>) -> bool {
        use crate::law::Head;
        if self.settings.ecn && queue.peek().is_some_and(|head| cx.mark(head, MarkReason::Congestion)) {
            return false;
        }
        if let Some(head) = Fifo::pop(queue) {
            cx.drop(head, DropReason::Congestion);
        }
        true
    }

    /// The features of the packet at the head, and which of them is above its threshold.
    #[inline]
    fn look(&mut self, queue: &Fifo, now: Time) -> Option<usize> {
        let Reading::Clean(extractor) = &mut self.reading else { return None };
        let sojourn = now.since(queue.head()?.arrival);
        extractor.departing(&self.settings.features, now, sojourn, queue.len());
        if self.state.is_dropping(now) {
            return None;
        }
        self.settings.law.detect(&extractor.features(), extractor.is_fresh(now))
    }

    /// Lines 37 to 48: drops the packet at the head, those behind it while a derivative stays high, and from here on
    /// arriving ones.
    #[cold]
    fn drop_from(&mut self, found: usize, queue: &mut Fifo, cx: &mut Cx<'_>) {
        let mut high = Some(found);
        while high.is_some() && self.hit(queue, cx) && self.settings.again && queue.len() > 1 {
            high = self.look(queue, cx.now).filter(|&index| features::is_derivative(index));
        }
        self.settings.law.start(&mut self.state, found, cx.now);
    }

    /// The authors' program: the head is taken, and the next five to see how long they waited.
    fn release_inspecting(&mut self, queue: &mut Fifo, cx: &mut Cx<'_>) -> Option<Packet> {
        let Reading::Artifact(inspected, samples, seen) = &mut self.reading else { return queue.pop() };
        samples.departing(cx.now, self.settings.features.sample_interval, queue, inspected);
        let head = queue.pop()?;
        if self.state.is_dropping(cx.now) || queue.len() <= features::INSPECTED_PACKETS {
            return Some(head);
        }
        let waits = core::array::from_fn(|index| {
            let packet = queue.get(index).expect("more than five wait");
            cx.now.since(packet.arrival).as_nanos() / 1_000_000
        });
        if self.settings.destroy {
            for _ in 0..features::INSPECTED_PACKETS {
                cx.drop(queue.pop().expect("they wait"), DropReason::Inspected);
            }
        }
        *seen = inspected.features(waits);
        // It has no gates but those five packets, and looks at rises and falls alike.
        let law = daqm::Params { gate_s: -1.0, gate_b: -1.0, absolute: true, ..self.settings.law };
        let Some(found) = law.detect(seen, true) else { return Some(head) };
        law.start(&mut self.state, found, cx.now);
        cx.drop(head, DropReason::Congestion);
        queue.pop()
    }
}

impl Gate for DAqm {
    #[inline]
    fn admit(&mut self, mut packet: Packet, queue: &Fifo, cx: &mut Cx<'_>) -> Option<Packet> {
        if let Reading::Artifact(inspected, samples, _) = &mut self.reading {
            samples.catch_up(cx.now, queue, inspected);
        }
        if !self.state.is_dropping(cx.now) || cx.uniform() >= self.state.rate() {
            return Some(packet);
        }
        if self.settings.ecn && cx.mark(&mut packet, MarkReason::Congestion) {
            return Some(packet);
        }
        cx.drop(packet, DropReason::Congestion);
        None
    }

    #[inline]
    fn release(&mut self, queue: &mut Fifo, cx: &mut Cx<'_>) -> Option<Packet> {
        self.control(queue, cx.now);
        if matches!(self.reading, Reading::Artifact(..)) {
            return self.release_inspecting(queue, cx);
        }
        if let Some(found) = self.look(queue, cx.now) {
            self.drop_from(found, queue, cx);
        }
        queue.pop()
    }

    fn change(&mut self, params: &Params, _cx: &mut Cx<'_>) -> Result<(), ParamError> {
        self.settings = settings(params);
        let was_clean = matches!(self.reading, Reading::Clean(_));
        if was_clean != (params.choice("reading") == "clean") {
            self.reading = reading(params);
        } else if let Reading::Artifact(_, samples, _) = &mut self.reading {
            samples.change(params);
        }
        self.configure();
        Ok(())
    }

    fn probe(&self, _queue: &Fifo, sink: &mut dyn FnMut(&str, f64)) {
        let seen = match &self.reading {
            Reading::Clean(extractor) => extractor.features(),
            Reading::Artifact(_, _, seen) => *seen,
        };
        NAMES.iter().zip(seen).for_each(|(name, value)| sink(name, value));
        sink("found", self.state.found() as f64);
        sink("drop_rate", self.state.rate());
        sink("configuration", self.controller.level() as f64);
    }
}
