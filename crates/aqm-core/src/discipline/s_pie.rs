//! # What it does
//! One queue under PIE and a sketch that counts the packets of each flow: while the delay is low, arriving packets
//! are dropped with PIE's probability; otherwise those of flows with more than their share are dropped.
//!
//! # Reference
//! H. Zhu et al., "A Sketch-Based Fine-Grained Proportional Integral Queue Management Method", Axioms 12(9):814 (2023):
//! algorithms 1 and 2, eqs. 1 to 9.
//!
//! # Parameters
//! See `aqmlab aqm show s-pie`. What the paper leaves open or contradicts is a parameter: `rule` and `equal_share` (text
//! and algorithm 2 compare in the opposite direction; the text says both "reaches" and "exceeds"), `alpha_delay` (eq. 3
//! against its text), `gate_delay` (when the delay of line 4 is obtained), `quiet_rate` (eq. 6 against ns-3.27), `updates` (algorithm 1 against PIE's timer),
//! `count_at` (text against algorithm 2), `count_unit` ("the number of occurrences or the size"), `small_flows_use_p`,
//! `guard`, `clear_period`, and the sketch: its kind and its size.
//!
//! # Deviations
//! The assumptions that the defaults choose: eq. 3 weighs the current delay, as its text and PIE do; the controller runs on
//! a timer; a packet is counted when it is accepted; an equal share passes, as does every packet while nothing is
//! counted. Congestion is judged by eq. 4 at the last departure: its delay is "obtained when the packets are out of the
//! queue", while the text calls periodic the probability alone; `gate_delay tick` is what ns-3.27's PIE would lend.
//! As in ns-3.27, a quiet period (no probability, two delays below half the target) forgets the departure rate: until
//! `dq_threshold` bytes have waited and left, there is no delay. Eq. 6 never starts anew: `quiet_rate keep`.
//! Eq. 9 is the packet-weighted mean share, kept as a running sum. The burst allowance holds back PIE's probability, not
//! the share rule. Counting starts anew at whole multiples of `clear_period`, at the first packet from then on. Queue
//! and departure rate are in bytes (eqs. 4 to 6 say packets), as in ns-3: with packets of one size the delay is the
//! same. The paper has no ECN: with `ecn`, both rules mark while the probability is at most `mark_threshold`.
//!
//! # Promises
//! Order kept; drops and marks on arrival only; with `guard`, no signal while at most two packets wait; memory fixed by
//! the sketch, for any number of flows. Random numbers: one per packet that PIE's probability is applied to.

mod assumptions;
mod gate;
#[cfg(test)]
mod tests;

use super::pie::{
    ALPHA, BETA, DQ_THRESHOLD, DQ_WEIGHT, ECN, MARK_THRESHOLD, MAX_BURST, PROBES, TARGET, TUPDATE,
};
use super::{Blueprint, Built, Group, Info, LIMIT, ProbeSpec, Traits};
use crate::params::{Kind, ParamSpec, Preset, Value};
use crate::sketch::{Conservative, CountMin, CountSketch, MAX_DEPTH, SketchKind};
use crate::units::{Bytes, Span};
use assumptions::{AlphaDelay, CountAt, CountUnit, EqualShare, GateDelay, QuietRate, Rule, Updates};
use gate::SPie;

/// The registry entry.
pub static INFO: Info = Info {
    name: "s-pie",
    group: Group::Flow,
    summary: "PIE with a sketch: under congestion, drops the flows with more than their share",
    reference: "Zhu et al., Axioms 12(9):814 (2023)",
    params: &[
        LIMIT,
        TARGET,
        TUPDATE,
        ALPHA,
        BETA,
        MAX_BURST,
        DQ_THRESHOLD,
        DQ_WEIGHT,
        RULE,
        EQUAL_SHARE,
        SMALL_FLOWS_USE_P,
        GUARD,
        GATE_DELAY,
        QUIET_RATE,
        ALPHA_DELAY,
        UPDATES,
        COUNT_AT,
        COUNT_UNIT,
        CLEAR_PERIOD,
        SKETCH,
        WIDTH,
        DEPTH,
        ECN,
        MARK_THRESHOLD,
    ],
    presets: &[
        Preset {
            name: "printed",
            source: "Zhu et al. 2023 over PIE as ns-3.27 has it (reference delay 20 ms)",
            values: &[
                ("target", Value::Span(Span::from_millis(20))),
                ("tupdate", Value::Span(Span::from_millis(30))),
                ("max_burst", Value::Span(Span::from_millis(100))),
                ("dq_threshold", Value::Bytes(Bytes::new(10_000))),
                ("dq_weight", Value::Fraction(0.5)),
            ],
        },
        Preset {
            name: "consistent",
            source: "as printed, with a reference delay that a queue of 50 packets at 50 Mbit/s can reach",
            values: &[
                ("target", Value::Span(Span::from_millis(5))),
                ("tupdate", Value::Span(Span::from_millis(30))),
                ("max_burst", Value::Span(Span::from_millis(100))),
                ("dq_threshold", Value::Bytes(Bytes::new(10_000))),
                ("dq_weight", Value::Fraction(0.5)),
            ],
        },
    ],
    probes: &[
        PROBES[0],
        PROBES[1],
        PROBES[2],
        ProbeSpec { name: "share_threshold", unit: "fraction", help: "Packet-weighted mean share of a flow" },
        ProbeSpec {
            name: "counted",
            unit: "packets",
            help: "Packets in the sketch, or bytes with `count_unit bytes`",
        },
    ],
    traits: Traits {
        wakes: true,
        ecn: true,
        drops_queued: false,
        reorders_flows: false,
        reorders_within_flow: false,
        quiet_packets: 2,
        flow_state_bytes: 0,
    },
    deviations: "departure rate forgotten in quiet periods, as in ns-3.27; eq. 3 with the current delay; congestion by the delay at the last departure; eq. 9 as a running sum; counted when accepted; queue and departure rate in bytes; the burst allowance does not hold back the share rule; ECN is ours",
    build,
};

const RULE: ParamSpec = ParamSpec::choice::<Rule>(
    "rule",
    "Drop flows above the mean share (as the text says) or below it (as algorithm 2 prints)",
    "Zhu et al. section 3.2",
);

const EQUAL_SHARE: ParamSpec = ParamSpec::choice::<EqualShare>(
    "equal_share",
    "What happens to a flow with exactly the mean share",
    "Zhu et al. section 3.2: \"reaches\" and \"exceeds\"; pass, since equal flows would all be dropped",
);

const SMALL_FLOWS_USE_P: ParamSpec = ParamSpec::flag(
    "small_flows_use_p",
    false,
    "Apply PIE's probability to the other flows under congestion as well",
    "Zhu et al. algorithm 2: off",
);

const GUARD: ParamSpec = ParamSpec::flag(
    "guard",
    true,
    "Drop nothing while at most two packets wait",
    "ns-3.27 PIE: on; Zhu et al.: not stated",
);

const GATE_DELAY: ParamSpec = ParamSpec::choice::<GateDelay>(
    "gate_delay",
    "Which delay congestion is judged by: what the last departure left behind, or that of the last period",
    "Zhu et al. section 3.2: \"obtained when the packets are out of the queue\"; ns-3.27 PIE: tick",
);

const QUIET_RATE: ParamSpec = ParamSpec::choice::<QuietRate>(
    "quiet_rate",
    "Whether the average departure rate outlives a quiet period; until it is measured again there is no delay",
    "ns-3.27 PIE: forget; Zhu et al. eq. 6: keep",
);

const ALPHA_DELAY: ParamSpec = ParamSpec::choice::<AlphaDelay>(
    "alpha_delay",
    "Which delay alpha holds against the target: the current one or that of the last period",
    "Zhu et al. section 3.2 and RFC 8033 section 4.2: current; Zhu et al. eq. 3: old",
);

const UPDATES: ParamSpec = ParamSpec::choice::<Updates>(
    "updates",
    "When a period moves the probability: always, or only if more than dq_threshold waits",
    "RFC 8033 section 4.2: always; Zhu et al. algorithm 1: above a threshold",
);

const COUNT_AT: ParamSpec = ParamSpec::choice::<CountAt>(
    "count_at",
    "Count packets when they are accepted or when they leave",
    "Zhu et al. algorithm 2: enqueue; section 3.2: dequeue",
);

const COUNT_UNIT: ParamSpec = ParamSpec::choice::<CountUnit>(
    "count_unit",
    "What a flow's share is a share of",
    "Zhu et al. section 3.1: occurrences or size; algorithm 2: packets",
);

const CLEAR_PERIOD: ParamSpec = ParamSpec::new(
    "clear_period",
    Kind::Span,
    Value::Span(Span::from_secs(1)),
    (1e6, 1e14),
    "How long packets are counted before counting starts anew",
    "Zhu et al. algorithm 1: T_threshold, without a value",
);

const SKETCH: ParamSpec = ParamSpec::choice::<SketchKind>(
    "sketch",
    "Kind of the sketch",
    "Zhu et al. section 3.1: names all three; eq. 2: count-min",
);

const WIDTH: ParamSpec = ParamSpec::new(
    "width",
    Kind::Count,
    Value::Count(1024),
    (1.0, 65_536.0),
    "Counters per row of the sketch",
    "Zhu et al.: without a value",
);

const DEPTH: ParamSpec = ParamSpec::new(
    "depth",
    Kind::Count,
    Value::Count(4),
    (1.0, MAX_DEPTH as f64),
    "Rows of the sketch",
    "Zhu et al.: without a value",
);

fn build(Blueprint { params, link, .. }: Blueprint<'_>) -> Built {
    Ok(match params.choice("sketch") {
        SketchKind::Conservative => SPie::<Conservative>::boxed(params, link),
        SketchKind::CountSketch => SPie::<CountSketch>::boxed(params, link),
        SketchKind::CountMin => SPie::<CountMin>::boxed(params, link),
    })
}
