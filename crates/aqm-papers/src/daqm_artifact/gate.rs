//! The authors' program and the other methods behind a queue.

use super::assumptions::{BufferPer, Compare, MethodName};
use super::controller::Controller;
use super::inspected::{Inspected, PACKETS};
use super::samples::SampleTimes;
use aqm_core::cx::Cx;
use aqm_core::discipline::daqm::{DAqm, Settings};
use aqm_core::discipline::single::Gate;
use aqm_core::law::daqm::{self, CONFIGURATIONS};
use aqm_core::law::features::{self, COUNT, Features, NAMES};
use aqm_core::packet::Packet;
use aqm_core::params::{ParamError, Params, Value};
use aqm_core::queue::Fifo;
use aqm_core::signal::DropReason;
use aqm_core::units::{Span, Time};

/// Why packets are dropped that features are taken of: FlowMonitor sees no drop, but misses them.
pub(crate) const DESTROYED: DropReason = DropReason::Other;

/// How features are taken, with what is remembered for it.
enum Method {
    /// As the paper defines them.
    Clean,
    /// The authors' program: what it remembers, when it samples the buffer, and the features that it took last.
    Artifact(Inspected, SampleTimes, Features),
}

/// The law of one queue.
pub(super) struct Program {
    daqm: DAqm,
    method: Method,
    /// Whether the packets that features are taken of are lost.
    destroy: bool,
    controller: Controller,
    /// Period and target of the controller, if it chooses.
    control: Option<(Span, Span)>,
}

/// One value of `what` for each feature (`rate_s1`), or the one for all.
fn own<T>(params: &Params, what: &str, all: &str, read: fn(&Value) -> Option<T>) -> [T; COUNT] {
    NAMES.map(|name| {
        let value = read(params.get(&format!("{what}_{name}")));
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
            buffer_per_ms: params.choice::<BufferPer>("buffer_per") == BufferPer::Ms,
            smoothing: params.span("smoothing"),
        },
        law: daqm::Params {
            thresholds: NAMES.map(|name| threshold(params.get(name))),
            gate_s: threshold(params.get("gate_s")),
            gate_b: threshold(params.get("gate_b")),
            absolute: params.choice::<Compare>("compare") == Compare::Absolute,
            rates: own(params, "rate", "drop_rate", fraction),
            durations: own(params, "duration", "drop_duration", span),
            update_step: params.number("update_step"),
        },
        again: params.flag("again"),
        ecn: params.flag("ecn"),
    }
}

fn control(params: &Params) -> Option<(Span, Span)> {
    params.flag("controller").then(|| (params.span("control_period"), params.span("control_target")))
}

fn method(params: &Params) -> Method {
    match params.choice("method") {
        MethodName::Clean => Method::Clean,
        MethodName::Artifact => {
            Method::Artifact(Inspected::default(), SampleTimes::new(params), [0.0; COUNT])
        }
    }
}

impl Program {
    pub(super) fn new(params: &Params) -> Program {
        let mut program = Program {
            daqm: DAqm::new(settings(params)),
            method: method(params),
            destroy: params.flag("destroy"),
            controller: Controller::default(),
            control: control(params),
        };
        program.configure();
        program
    }

    /// Puts the controller's configuration in force, if there is a controller.
    fn configure(&mut self) {
        if self.control.is_some() {
            let configuration = &CONFIGURATIONS[self.controller.level()];
            self.daqm.settings.law.thresholds = configuration.thresholds;
            self.daqm.settings.law.rates = [configuration.rate; COUNT];
        }
    }

    /// Lets the controller see the packet at the head, which is about to leave.
    #[inline]
    fn control(&mut self, queue: &Fifo, now: Time) {
        if let (Some((period, target)), Some(head)) = (self.control, queue.head())
            && self.controller.departing(period, target, now, now.since(head.arrival))
        {
            self.configure();
        }
    }

    /// The authors' program: the head is taken, and the next five to see how long they waited.
    fn release_inspecting(&mut self, queue: &mut Fifo, cx: &mut Cx<'_>) -> Option<Packet> {
        let Method::Artifact(inspected, samples, taken) = &mut self.method else {
            return self.daqm.release(queue, cx);
        };
        let DAqm { settings, state, .. } = &mut self.daqm;
        samples.departing(cx.now, settings.features.sample_interval, queue, inspected);
        let head = queue.pop()?;
        if state.is_dropping(cx.now) || queue.len() <= PACKETS {
            return Some(head);
        }
        let waits = std::array::from_fn(|index| {
            let packet = queue.get(index).expect("more than five wait");
            cx.now.since(packet.arrival).as_nanos() / 1_000_000
        });
        if self.destroy {
            for _ in 0..PACKETS {
                cx.drop(queue.pop().expect("they wait"), DESTROYED);
            }
        }
        *taken = inspected.features(waits);
        // It has no gates but those five packets, and counts rises and falls alike.
        let law = daqm::Params { gate_s: -1.0, gate_b: -1.0, absolute: true, ..settings.law };
        let Some(found) = law.detect(taken, true) else { return Some(head) };
        law.start(state, found, cx.now);
        cx.drop(head, DropReason::Congestion);
        queue.pop()
    }
}

impl Gate for Program {
    #[inline]
    fn admit(&mut self, packet: Packet, queue: &Fifo, cx: &mut Cx<'_>) -> Option<Packet> {
        if let Method::Artifact(inspected, samples, _) = &mut self.method {
            samples.catch_up(cx.now, queue, inspected);
        }
        self.daqm.admit(packet, cx)
    }

    #[inline]
    fn release(&mut self, queue: &mut Fifo, cx: &mut Cx<'_>) -> Option<Packet> {
        self.control(queue, cx.now);
        self.release_inspecting(queue, cx)
    }

    fn change(&mut self, params: &Params, _cx: &mut Cx<'_>) -> Result<(), ParamError> {
        self.daqm.settings = settings(params);
        (self.destroy, self.control) = (params.flag("destroy"), control(params));
        let was_clean = matches!(self.method, Method::Clean);
        if was_clean != (params.choice::<MethodName>("method") == MethodName::Clean) {
            self.method = method(params);
            self.daqm.forget();
        } else if let Method::Artifact(_, samples, _) = &mut self.method {
            samples.change(params);
        }
        self.configure();
        Ok(())
    }

    fn probe(&self, _queue: &Fifo, sink: &mut dyn FnMut(&str, f64)) {
        let features = match &self.method {
            Method::Clean => self.daqm.features(),
            Method::Artifact(_, _, taken) => *taken,
        };
        self.daqm.probe(features, sink);
        sink("configuration", self.controller.level() as f64);
    }
}
