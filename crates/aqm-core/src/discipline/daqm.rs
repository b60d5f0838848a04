//! # What it does
//! One queue that watches sojourn time, buffer size and three derivatives of each: when one of the eight is above its
//! threshold, the packet at the head is dropped, and for a while arriving packets are dropped with a fixed probability.
//!
//! # Reference
//! S. Saleh, S. Shu and B. Koldehofe, "dAQM: Derivative-based Active Queue Management" (2024): algorithm 1, eqs. 6 to 8
//! and 13 to 15, Table III.
//!
//! # Parameters
//! See `aqmlab aqm show daqm`. `features` lists the thresholds T: of sojourn time `s`, of the buffer `b` and of their
//! derivatives `s1` to `s3` and `b1` to `b3`, each with a drop rate and a drop duration of its own if it is to have one:
//! `[s 1s, s1 10 rate 0.05 for 400ms, b2 10]`. What is not listed does not count. [`crate::law::features`] defines the
//! features and their units. `gate_s` and `gate_b` are `T_S` and `T_B`. `daqm1` to `daqm3` are Table III, `only_*` one
//! feature of dAQM2 alone. An instance for each class of traffic, as in Figure 2: `drr child [daqm:daqm1] [daqm:daqm3]`.
//!
//! # Deviations
//! What the paper leaves open: the head is dropped where a feature is found, then arriving packets with probability `D_r`
//! for `D_d`, as the authors' program does; meanwhile features are taken, but nothing is detected. Features of the
//! buffer count at the departures that sample it, and change per sample. `again` (lines 42 and 43) drops further heads in
//! the same instant while a derivative, recomputed, is above its threshold, and never the last packet. Line 44 has no rule
//! and is left out. Gates and thresholds are compared with `>`, signed, as printed. The paper has no ECN: with `ecn`
//! packets are marked instead.
//!
//! # Promises
//! Order kept; no state per flow; one random number per packet that arrives while packets are dropped.

mod features;
mod gate;
mod presets;
#[cfg(test)]
mod tests;

pub use gate::{DAqm, Settings};

use super::single::Single;
use super::{Blueprint, Built, Group, Info, LIMIT, ProbeSpec, Traits};
use crate::params::{Kind, ParamSpec, Value};
use crate::units::{Size, Span};
use gate::Own;

/// The registry entry.
pub static INFO: Info = Info {
    name: "daqm",
    group: Group::Delay,
    summary: "Drops by thresholds on sojourn time, buffer size and three derivatives of each",
    reference: "Saleh, Shu and Koldehofe 2024",
    params: &[
        LIMIT_2000,
        FEATURES,
        GATE_S,
        GATE_B,
        DROP_RATE,
        DROP_DURATION,
        SAMPLE_INTERVAL,
        SMOOTHING,
        AGAIN,
        ECN,
    ],
    presets: presets::ALL,
    probes: PROBES,
    traits: Traits {
        wakes: false,
        ecn: true,
        drops_queued: true,
        reorders_flows: false,
        reorders_within_flow: false,
        quiet_packets: 0,
        flow_state_bytes: 0,
    },
    deviations: "the head is dropped, then arriving packets; features of the buffer count where it is sampled; no update (line 44); ECN is ours",
    build,
};

/// What the law shows: its features, and what it found last.
pub const PROBES: &[ProbeSpec] = &[
    ProbeSpec { name: "b", unit: "packets", help: "Buffer size as sampled last" },
    ProbeSpec { name: "s", unit: "ms", help: "Sojourn time of the last packet" },
    ProbeSpec { name: "b1", unit: "packets/sample", help: "First derivative of the buffer size" },
    ProbeSpec { name: "s1", unit: "ms/ms", help: "First derivative of the sojourn time" },
    ProbeSpec { name: "b2", unit: "packets/sample2", help: "Second derivative of the buffer size" },
    ProbeSpec { name: "s2", unit: "1/ms", help: "Second derivative of the sojourn time" },
    ProbeSpec { name: "b3", unit: "packets/sample3", help: "Third derivative of the buffer size" },
    ProbeSpec { name: "s3", unit: "1/ms2", help: "Third derivative of the sojourn time" },
    ProbeSpec { name: "found", unit: "feature", help: "Feature found last, by its number in algorithm 1" },
    ProbeSpec {
        name: "drop_rate",
        unit: "fraction",
        help: "Drop rate of the dropping phase that was entered last",
    },
];

const TABLE_III: &str = "Saleh et al. 2024 Table III: dAQM1";

const LIMIT_2000: ParamSpec =
    LIMIT.with_default(Value::Size(Size::Packets(2000)), "Saleh et al. 2024 Table II");

const FEATURES: ParamSpec = ParamSpec::new(
    "features",
    Kind::Notation(&features::NOTATION),
    Value::Notation(presets::DAQM1),
    (0.0, 1.0),
    "Thresholds (T), each with a drop rate and a drop duration of its own if it is to have one; what is not listed does not count",
    TABLE_III,
);

/// How long a packet must have waited for features of sojourn time to count.
pub const GATE_S: ParamSpec = ParamSpec::new(
    "gate_s",
    Kind::Span,
    Value::Span(Span::from_millis(5)),
    (0.0, 1e11),
    "How long a packet must have waited for features of sojourn time to count (T_S)",
    "Saleh et al. 2024: without a value; the default Target of their program: 5 ms",
);

/// How many packets must wait for features of the buffer to count.
pub const GATE_B: ParamSpec = ParamSpec::new(
    "gate_b",
    Kind::Count,
    Value::Count(5),
    (0.0, 1e9),
    "How many packets must wait for features of the buffer to count (T_B)",
    "Saleh et al. 2024: without a value; their program looks beyond 5 packets",
);

/// The drop rate of every feature without one of its own.
pub const DROP_RATE: ParamSpec = ParamSpec::new(
    "drop_rate",
    Kind::Fraction,
    Value::Fraction(0.05),
    (0.0, 1.0),
    "Probability with which packets are dropped once a feature was found (D_r)",
    TABLE_III,
);

/// The drop duration of every feature without one of its own.
pub const DROP_DURATION: ParamSpec = ParamSpec::new(
    "drop_duration",
    Kind::Span,
    Value::Span(Span::from_millis(400)),
    (0.0, 1e11),
    "For how long packets are dropped (D_d)",
    TABLE_III,
);

/// The spacing of samples of the buffer size.
pub const SAMPLE_INTERVAL: ParamSpec = ParamSpec::new(
    "sample_interval",
    Kind::Span,
    Value::Span(Span::from_millis(10)),
    (1.0, 1e11),
    "Least time between two samples of the buffer size (t_b)",
    "Saleh et al. 2024: without a value; a comment in their program: about 10 ms",
);

/// The low-pass filter on derivatives.
pub const SMOOTHING: ParamSpec = ParamSpec::new(
    "smoothing",
    Kind::Span,
    Value::Span(Span::ZERO),
    (0.0, 1e11),
    "Time constant of a low-pass filter on every derivative; 0 for raw differences",
    "Saleh et al. 2024: none; the filter: Astrom and Hagglund 2006 section 3.3",
);

/// Whether heads are dropped again in the same instant.
pub const AGAIN: ParamSpec = ParamSpec::flag(
    "again",
    true,
    "Drop further packets at the head while a derivative, recomputed, is above its threshold",
    "Saleh et al. 2024 algorithm 1 lines 42 and 43: on; their program: off",
);

/// Whether packets are marked.
pub const ECN: ParamSpec = ParamSpec::flag(
    "ecn",
    false,
    "Mark ECN-capable packets instead of dropping them",
    "Saleh et al. 2024: none",
);

fn build(Blueprint { params, .. }: Blueprint<'_>) -> Built {
    Ok(Single::boxed(params, Own::new(params)))
}
