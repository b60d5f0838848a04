//! # What it does
//! One queue that signals with a fixed probability to every packet that finds others waiting.
//!
//! # Reference
//! None: an example in docs/dev/aqm.md.
//!
//! # Deviations
//! None.
//!
//! # Promises
//! Order kept; signals on arrival only; no state per flow.

use super::single::{Gate, Single};
use super::{Blueprint, Built, Group, Info, LIMIT, Traits};
use crate::cx::Cx;
use crate::packet::Packet;
use crate::params::{Kind, ParamError, ParamSpec, Params, Preset, Value};
use crate::queue::Fifo;
use crate::signal::{DropReason, MarkReason};

/// The registry entry.
pub static INFO: Info = Info {
    name: "coin",
    group: Group::QueueLength,
    summary: "Signals with a fixed probability to packets that find others waiting",
    reference: "docs/dev/aqm.md",
    params: &[LIMIT, PROBABILITY],
    presets: &[Preset { name: "example", source: "docs/dev/aqm.md", values: &[] }],
    probes: &[],
    traits: Traits {
        wakes: false,
        ecn: true,
        drops_queued: false,
        reorders_flows: false,
        reorders_within_flow: false,
        quiet_packets: 0,
        flow_state_bytes: 0,
    },
    deviations: "none",
    build,
};

const PROBABILITY: ParamSpec = ParamSpec::new(
    "probability",
    Kind::Fraction,
    Value::Fraction(0.01),
    (0.0, 1.0),
    "Share of the packets that find others waiting and are marked or dropped",
    "docs/dev/aqm.md: one in a hundred",
);

struct Coin {
    probability: f64,
}

fn build(Blueprint { params, .. }: Blueprint<'_>) -> Built {
    Ok(Single::boxed(params, Coin { probability: params.number("probability") }))
}

impl Gate for Coin {
    fn admit(&mut self, mut packet: Packet, queue: &Fifo, cx: &mut Cx<'_>) -> Option<Packet> {
        let signal = !queue.is_empty() && cx.uniform() < self.probability;
        if signal && !cx.mark(&mut packet, MarkReason::Congestion) {
            cx.drop(packet, DropReason::Congestion);
            return None;
        }
        Some(packet)
    }

    fn change(&mut self, params: &Params, _cx: &mut Cx<'_>) -> Result<(), ParamError> {
        self.probability = params.number("probability");
        Ok(())
    }
}
