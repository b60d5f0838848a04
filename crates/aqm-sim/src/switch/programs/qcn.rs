//! # What it does
//! The congestion point of QCN at each port: every so many bytes it compares the queue with a set point, and how it has
//! grown, and reports to the source of the packet that came last how much too long it is. P4QCN carries the messages over IP, as
//! they are here. Senders for it are flows of the kind `qcn`.
//!
//! # Reference
//! IEEE 802.1Qau (30.2.1 in its draft 2.4); J. Geng, J. Yan and Y. Zhang, "P4QCN: congestion control using P4-capable
//! device in data center networks", Electronics 8(3), 2019.
//!
//! # Deviations
//! Packets that are not ECN-capable, messages of other switches among them, are never sampled: their senders would not know
//! what to do with a message.

use crate::rate_control::Feedback;
use crate::rate_control::qcn::CongestionPoint;
use crate::switch::control_plane::Program;
use crate::switch::declaration::{Info, Site};
use crate::switch::pipeline::{Egress, Ingress, PacketView, Pipeline, QueueView, RegisterId, State};
use aqm_core::params::{Kind, ParamError, ParamSpec, Params, Preset, Value};
use aqm_core::random::Random;
use aqm_core::signal::Emission;
use aqm_core::units::Bytes;

/// The registry entry.
pub(super) static INFO: Info = Info {
    name: "qcn",
    summary: "QCN's congestion point at every port: sources are notified how much too long the queue is",
    reference: "IEEE 802.1Qau; Geng, Yan, Zhang 2019 (P4QCN)",
    params: PARAMS,
    presets: &[Preset { name: "standard", source: "IEEE 802.1Qau: 26 KB, w = 2, 150 KB", values: &[] }],
    telemetry: "",
    feedback: "Fb without its sign in 63 steps, bytes in the queue, nothing",
    build,
};

const PARAMS: &[ParamSpec] = &[
    ParamSpec::new(
        "setpoint",
        Kind::Bytes,
        Value::Bytes(Bytes::new(26_000)),
        (1.0, 1e12),
        "Q_eq, bytes that the queue should have",
        "IEEE 802.1Qau: 26 KB",
    ),
    ParamSpec::new(
        "weight",
        Kind::Number,
        Value::Number(2.0),
        (0.0, 100.0),
        "w, how much the queue's growth counts",
        "IEEE 802.1Qau: 2",
    ),
    ParamSpec::new(
        "interval",
        Kind::Bytes,
        Value::Bytes(Bytes::new(150_000)),
        (1.0, 1e12),
        "Bytes from one sample to the next without congestion; with it, down to an eighth",
        "IEEE 802.1Qau: 150 KB",
    ),
];

/// Bytes of a message on the link: a minimal Ethernet frame.
const MESSAGE_BYTES: u32 = 64;

struct Qcn {
    /// Bytes that wait, by port.
    waiting: RegisterId,
    points: Vec<CongestionPoint>,
    random: Random,
}

fn build(params: &Params, site: Site) -> Result<Program, ParamError> {
    let bytes = |name: &str| params.bytes(name).map_or(u64::MAX, Bytes::as_u64);
    let point = CongestionPoint::new(bytes("setpoint"), params.number("weight"), bytes("interval"));
    let mut state = State::default();
    let waiting = state.add_registers(site.rates.len());
    let points = vec![point; site.rates.len()];
    Ok(Program::new(Box::new(Qcn { waiting, points, random: site.random }), state, None))
}

impl Qcn {
    fn leave(&self, view: &PacketView<'_>, state: &mut State) {
        state.registers_mut(self.waiting)[view.egress] -= u64::from(view.packet.length);
    }
}

impl Pipeline for Qcn {
    fn on_ingress(&mut self, view: &PacketView<'_>, state: &mut State) -> Ingress {
        let bytes = u64::from(view.packet.length);
        let waiting = &mut state.registers_mut(self.waiting)[view.egress];
        *waiting += bytes;
        if !view.packet.ecn.is_capable() {
            return Ingress::default();
        }
        let message = self.points[view.egress].on_arrival(bytes, *waiting, &mut self.random);
        let Some(Feedback::Quantised(fb)) = message else { return Ingress::default() };
        let emit = Emission {
            flow: view.packet.flow,
            to: view.packet.source,
            length: MESSAGE_BYTES,
            class: 0,
            values: [fb, *waiting, 0],
        };
        Ingress { emit: Some(emit), ..Ingress::default() }
    }

    fn on_egress(&mut self, view: &PacketView<'_>, _: &QueueView, state: &mut State) -> Egress {
        self.leave(view, state);
        Egress::default()
    }

    fn on_drop(&mut self, view: &PacketView<'_>, state: &mut State) {
        self.leave(view, state);
    }
}
