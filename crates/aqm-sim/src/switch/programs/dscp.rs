//! # What it does
//! Puts packets into classes by their DiffServ code point and counts the bytes of each class that wait in front of each
//! port. A packet that finds more than the class's threshold is marked CE; with `notify`, its source is notified at
//! once, too. With `int`, every packet carries on what the queue was. The control plane sets the thresholds: a class
//! gets `target` times the rate at which it left the port during the last period.
//!
//! # Reference
//! RFC 2474 for the code points. The law of the thresholds is that of W. Bai et al., "Enabling ECN in multi-service
//! multi-queue data centers", NSDI 2016, section 3.3: K = rate of the queue x RTT x lambda; here the rate is measured.
//!
//! # Deviations
//! A class that sent nothing during a period keeps its threshold.

use crate::switch::control_plane::{ControlPlane, Program, Write};
use crate::switch::declaration::{Info, Site};
use crate::switch::pipeline::{
    Egress, Ingress, PacketView, Pipeline, QueueView, RegisterId, State, TableId, Telemetry,
};
use aqm_core::packet::{Ecn, Packet};
use aqm_core::params::{Each, Kind, ParamError, ParamSpec, Params, PerClass, Preset, Value};
use aqm_core::signal::Emission;
use aqm_core::units::{Bytes, Span, Time};

/// The registry entry.
pub(super) static INFO: Info = Info {
    name: "dscp",
    summary: "Classes by DiffServ code point, a marking threshold for each, queue telemetry",
    reference: "RFC 2474; Bai et al., NSDI 2016",
    params: PARAMS,
    presets: &[Preset { name: "plain", source: "this program", values: &[] }],
    telemetry: "bytes of the packet's class that wait behind it, microseconds that it has waited",
    feedback: "bytes of the class that wait, the threshold, the class",
    build,
};

const PARAMS: &[ParamSpec] = &[
    ParamSpec::new(
        "codepoints",
        Kind::PerClass(Each::Count),
        Value::PerClass(PerClass::of(Each::Count, &[46, 26])),
        (0.0, 63.0),
        "Code points of the first class, the second, and so on; all others are one class more",
        "RFC 3246 (EF is 46), RFC 2597 (AF31 is 26)",
    ),
    ParamSpec::new(
        "threshold",
        Kind::Bytes,
        Value::Bytes(Bytes::new(30_000)),
        (1.0, 1e12),
        "Bytes of a class beyond which its packets are marked, until the control plane says otherwise",
        "Bai et al., NSDI 2016: 32 KB at 1 Gbit/s",
    ),
    ParamSpec::new(
        "target",
        Kind::Span,
        Value::Span(Span::ZERO),
        (0.0, 1e12),
        "Queueing delay that thresholds are set for; zero leaves them as they are",
        "Bai et al., NSDI 2016: RTT x lambda",
    ),
    ParamSpec::new(
        "period",
        Kind::Span,
        Value::Span(Span::from_millis(100)),
        (1000.0, 1e15),
        "From one look of the control plane at the counters to the next",
        "this program",
    ),
    ParamSpec::new(
        "delay",
        Kind::Span,
        Value::Span(Span::from_millis(1)),
        (0.0, 1e15),
        "From a look of the control plane until its thresholds are in force",
        "this program",
    ),
    ParamSpec::flag(
        "notify",
        false,
        "Tells the source of each packet that exceeds the threshold",
        "this program",
    ),
    ParamSpec::flag("int", false, "Lets packets carry on what their queues were", "this program"),
];

/// Bytes of a notification: a minimal Ethernet frame.
const NOTICE_BYTES: u32 = 64;

/// Per class and port.
#[derive(Clone, Copy)]
struct Registers {
    waiting: RegisterId,
    sent: RegisterId,
    thresholds: RegisterId,
}

struct Classifier {
    registers: Registers,
    /// From code point to class.
    classes: TableId,
    count: usize,
    notify: bool,
    telemetry: bool,
}

fn build(params: &Params, site: Site) -> Result<Program, ParamError> {
    let codepoints = params.per_class("codepoints");
    let count = codepoints.as_slice().len() + 1;
    let mut state = State::default();
    let size = count * site.rates.len();
    let registers = Registers {
        waiting: state.add_registers(size),
        sent: state.add_registers(size),
        thresholds: state.add_registers(size),
    };
    let threshold = params.bytes("threshold").map_or(u64::MAX, Bytes::as_u64);
    state.registers_mut(registers.thresholds).fill(threshold);
    let classes = state.add_table(codepoints.as_slice().len() as u64);
    for (class, codepoint) in (0..).zip(codepoints.as_slice()) {
        state.set_entry(classes, *codepoint, class);
    }
    let pipeline = Classifier {
        registers,
        classes,
        count,
        notify: params.flag("notify"),
        telemetry: params.flag("int"),
    };
    let target = params.span("target");
    let control = (target > Span::ZERO).then(|| -> Box<dyn ControlPlane> {
        let (period, delay) = (params.span("period"), params.span("delay"));
        Box::new(Thresholds { registers, before: vec![0; size], target, period, delay })
    });
    Ok(Program::new(Box::new(pipeline), state, control))
}

impl Classifier {
    /// The place of a packet's class and port in the registers, and the class.
    fn place(&self, view: &PacketView<'_>, state: &State) -> (usize, u64) {
        let class = state.lookup(self.classes, view.packet.dscp.into());
        (view.egress * self.count + class as usize, class)
    }

    /// The packet waits no longer; answers how much of its class still does.
    fn leave(&self, view: &PacketView<'_>, state: &mut State) -> u64 {
        let (place, _) = self.place(view, state);
        let waiting = &mut state.registers_mut(self.registers.waiting)[place];
        *waiting -= u64::from(view.packet.length);
        *waiting
    }
}

impl Pipeline for Classifier {
    fn on_ingress(&mut self, view: &PacketView<'_>, state: &mut State) -> Ingress {
        let (place, class) = self.place(view, state);
        let waiting = &mut state.registers_mut(self.registers.waiting)[place];
        let found = *waiting;
        *waiting += u64::from(view.packet.length);
        let threshold = state.registers(self.registers.thresholds)[place];
        let mark = found > threshold;
        let notice = |packet: &Packet| Emission {
            flow: packet.flow,
            to: packet.source,
            length: NOTICE_BYTES,
            class: 0,
            values: [found, threshold, class],
        };
        let emit = (mark && self.notify && view.packet.ecn != Ecn::NotEct).then(|| notice(view.packet));
        Ingress { class: Some(class as u16), mark, emit, ..Ingress::default() }
    }

    fn on_egress(&mut self, view: &PacketView<'_>, queue: &QueueView, state: &mut State) -> Egress {
        let waiting = self.leave(view, state);
        let (place, _) = self.place(view, state);
        state.registers_mut(self.registers.sent)[place] += u64::from(view.packet.length);
        let micros = queue.sojourn.as_nanos() / 1000;
        let telemetry = self.telemetry.then(|| Telemetry::new(queue.packets, [waiting, micros]));
        Egress { telemetry, ..Egress::default() }
    }

    fn on_drop(&mut self, view: &PacketView<'_>, state: &mut State) {
        self.leave(view, state);
    }
}

/// The control plane.
struct Thresholds {
    registers: Registers,
    /// Bytes sent up to the last look.
    before: Vec<u64>,
    target: Span,
    period: Span,
    delay: Span,
}

impl ControlPlane for Thresholds {
    fn period(&self) -> Span {
        self.period
    }

    fn delay(&self) -> Span {
        self.delay
    }

    fn on_timer(&mut self, _now: Time, state: &State, writes: &mut Vec<Write>) {
        let sent = state.registers(self.registers.sent);
        let share = self.target.as_nanos() as f64 / self.period.as_nanos() as f64;
        for (index, (sent, before)) in sent.iter().zip(&mut self.before).enumerate() {
            let bytes = sent - std::mem::replace(before, *sent);
            if bytes > 0 {
                let value = (bytes as f64 * share) as u64;
                writes.push(Write::Register { array: self.registers.thresholds, index, value });
            }
        }
    }
}
