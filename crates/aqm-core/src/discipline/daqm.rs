//! # What it does
//! One queue that looks at sojourn time, buffer size and three derivatives of each: when one of the eight is above its
//! threshold, the packet at the head is dropped, and for a while arriving packets are dropped with a fixed probability.
//!
//! # Reference
//! S. Saleh, S. Shu and B. Koldehofe, "dAQM: Derivative-based Active Queue Management" (2024): algorithm 1, eqs. 6 to 8
//! and 13 to 15, Table III; `reading artifact`: their published ns-3 program (artifacts of the paper).
//!
//! # Parameters
//! See `aqmlab aqm show daqm`. `s`, `s1`, `s2`, `s3` and `b`, `b1`, `b2`, `b3` are the thresholds T of sojourn time, of the
//! buffer and of their derivatives; [`crate::law::features`] defines the features and their units. `gate_s` and `gate_b`
//! are `T_S` and `T_B`. Every feature may have a drop rate (`rate_s1`) and a drop duration (`duration_s1`) of its own.
//! `daqm1` to `daqm3` are Table III, `only_*` one feature of dAQM2 alone. An instance for each class of traffic, as in
//! Figure 2: `drr child [daqm:daqm1] [daqm:daqm3]`.
//!
//! # Deviations
//! What the paper leaves open: the head is dropped where a feature is found, then arriving packets with probability `D_r`
//! for `D_d`, as the authors' program does; meanwhile features are taken, but nothing is detected. Features of the
//! buffer count at the departures that sample it. `again` (lines 42 and 43) drops further heads in the same instant while
//! a derivative, recomputed, is above its threshold, and never the last packet. `update_step` (line 44, which gives no
//! rule) is off. `controller` (section VII, without a rule) chooses among the three configurations by the mean sojourn
//! time of a period. Gates and thresholds are compared with `>`, signed, as printed. The paper has no ECN: with `ecn`
//! packets are marked instead.
//!
//! `reading artifact` is the authors' program: each look destroys five packets, changes are divided by 2 ms, falls count
//! like rises, the gates are 5 packets and nothing else. With `buffer_clock doubled` it samples the buffer as the program does: what
//! is meant to come 15 ms after a departure is scheduled by a delay of the time of the departure and 15 ms, so that the
//! buffer of a departure at t is looked at when the clock shows 2 t + 15 ms, and there is none for what leaves in the
//! second half of a run. `later` is what was meant. Between two samples pass at least `sample_interval` of simulated
//! time; there it is 10 ms of the wall clock.
//!
//! # Promises
//! Order kept; no state per flow; one random number per packet that arrives while packets are dropped.

mod gate;
mod presets;
mod samples;
#[cfg(test)]
mod tests;

use super::single::Single;
use super::{Blueprint, Built, Group, Info, LIMIT, ProbeSpec, Traits};
use crate::params::{Kind, ParamSpec, Value};
use crate::units::{Size, Span};
use gate::DAqm;

/// The registry entry.
pub static INFO: Info = Info {
    name: "daqm",
    group: Group::Delay,
    summary: "Drops by thresholds on sojourn time, buffer size and three derivatives of each",
    reference: "Saleh, Shu and Koldehofe 2024",
    params: &[
        LIMIT_2000,
        READING,
        S,
        S1,
        S2,
        S3,
        B,
        B1,
        B2,
        B3,
        GATE_S,
        GATE_B,
        DROP_RATE,
        DROP_DURATION,
        rate("rate_s"),
        rate("rate_s1"),
        rate("rate_s2"),
        rate("rate_s3"),
        rate("rate_b"),
        rate("rate_b1"),
        rate("rate_b2"),
        rate("rate_b3"),
        duration("duration_s"),
        duration("duration_s1"),
        duration("duration_s2"),
        duration("duration_s3"),
        duration("duration_b"),
        duration("duration_b1"),
        duration("duration_b2"),
        duration("duration_b3"),
        SAMPLE_INTERVAL,
        BUFFER_CLOCK,
        DESTROY,
        SPACING,
        BUFFER_PER,
        COMPARE,
        SMOOTHING,
        AGAIN,
        UPDATE_STEP,
        CONTROLLER,
        CONTROL_PERIOD,
        CONTROL_TARGET,
        ECN,
    ],
    presets: presets::ALL,
    probes: &[
        ProbeSpec { name: "b", unit: "packets", help: "Buffer size as sampled last" },
        ProbeSpec { name: "s", unit: "ms", help: "Sojourn time of the last packet" },
        ProbeSpec { name: "b1", unit: "packets/sample", help: "First derivative of the buffer size" },
        ProbeSpec { name: "s1", unit: "ms/ms", help: "First derivative of the sojourn time" },
        ProbeSpec { name: "b2", unit: "packets/sample2", help: "Second derivative of the buffer size" },
        ProbeSpec { name: "s2", unit: "1/ms", help: "Second derivative of the sojourn time" },
        ProbeSpec { name: "b3", unit: "packets/sample3", help: "Third derivative of the buffer size" },
        ProbeSpec { name: "s3", unit: "1/ms2", help: "Third derivative of the sojourn time" },
        ProbeSpec {
            name: "found",
            unit: "feature",
            help: "Feature found last, by its number in algorithm 1",
        },
        ProbeSpec {
            name: "drop_rate",
            unit: "fraction",
            help: "Drop rate of the dropping phase that was entered last",
        },
        ProbeSpec {
            name: "configuration",
            unit: "number",
            help: "Configuration that the controller chose, 0 without",
        },
    ],
    traits: Traits {
        wakes: false,
        ecn: true,
        drops_queued: true,
        reorders_flows: false,
        reorders_within_flow: false,
        quiet_packets: 0,
        flow_state_bytes: 0,
    },
    deviations: "the head is dropped, then arriving packets; features of the buffer count where it is sampled; rules of update and controller are ours, as is ECN",
    build,
};

const TABLE_III: &str = "Saleh et al. 2024 Table III: dAQM1";
const OPEN: &str = "Saleh et al. 2024: without a value";

const LIMIT_2000: ParamSpec =
    LIMIT.with_default(Value::Size(Size::Packets(2000)), "Saleh et al. 2024 Table II");

const READING: ParamSpec = ParamSpec::choice(
    "reading",
    &["clean", "artifact"],
    "Features as the paper defines them, or as the authors' program takes them, which destroys packets to look",
    "Saleh et al. 2024 eqs. 6 to 15: clean",
);

const S: ParamSpec = ParamSpec::new(
    "s",
    Kind::Span,
    Value::Span(Span::from_secs(1)),
    (0.0, 1e11),
    "Threshold of the sojourn time",
    TABLE_III,
)
.or_auto("off");

const B: ParamSpec = ParamSpec::new(
    "b",
    Kind::Count,
    Value::Count(120),
    (0.0, 1e9),
    "Threshold of the buffer size, packets",
    TABLE_III,
)
.or_auto("off");

const S1: ParamSpec =
    derivative("s1", 10.0, "Threshold of the sojourn time's change, ms/ms; it is at most 1");
const S2: ParamSpec = derivative("s2", 10.0, "Threshold of the sojourn time's second derivative, 1/ms");
const S3: ParamSpec = derivative("s3", 10.0, "Threshold of the sojourn time's third derivative, 1/ms2");
const B1: ParamSpec = derivative("b1", 1.0, "Threshold of the buffer size's change, packets/sample");
const B2: ParamSpec =
    derivative("b2", 10.0, "Threshold of the buffer size's second derivative, packets/sample2");
const B3: ParamSpec =
    derivative("b3", 10.0, "Threshold of the buffer size's third derivative, packets/sample3");

const fn derivative(name: &'static str, default: f64, help: &'static str) -> ParamSpec {
    ParamSpec::new(name, Kind::Number, Value::Number(default), (0.0, 1e9), help, TABLE_III).or_auto("off")
}

const GATE_S: ParamSpec = ParamSpec::new(
    "gate_s",
    Kind::Span,
    Value::Span(Span::from_millis(5)),
    (0.0, 1e11),
    "How long a packet must have waited for features of sojourn time to count (T_S)",
    "Saleh et al. 2024: without a value; the default Target of their program: 5 ms",
);

const GATE_B: ParamSpec = ParamSpec::new(
    "gate_b",
    Kind::Count,
    Value::Count(5),
    (0.0, 1e9),
    "How many packets must wait for features of the buffer to count (T_B)",
    "Saleh et al. 2024: without a value; their program looks beyond 5 packets",
);

const DROP_RATE: ParamSpec = ParamSpec::new(
    "drop_rate",
    Kind::Fraction,
    Value::Fraction(0.05),
    (0.0, 1.0),
    "Probability with which packets are dropped once a feature was found (D_r)",
    TABLE_III,
);

const DROP_DURATION: ParamSpec = ParamSpec::new(
    "drop_duration",
    Kind::Span,
    Value::Span(Span::from_millis(400)),
    (0.0, 1e11),
    "For how long packets are dropped (D_d)",
    TABLE_III,
);

const fn rate(name: &'static str) -> ParamSpec {
    const SAME: &str = "Saleh et al. 2024 Table III: the same for all";
    ParamSpec::new(name, Kind::Fraction, Value::Auto, (0.0, 1.0), "Drop rate of this feature", SAME)
        .or_auto("drop_rate")
}

const fn duration(name: &'static str) -> ParamSpec {
    const SAME: &str = "Saleh et al. 2024 Table III: the same for all";
    ParamSpec::new(name, Kind::Span, Value::Auto, (0.0, 1e11), "Drop duration of this feature", SAME)
        .or_auto("drop_duration")
}

const SAMPLE_INTERVAL: ParamSpec = ParamSpec::new(
    "sample_interval",
    Kind::Span,
    Value::Span(Span::from_millis(10)),
    (1.0, 1e11),
    "Least time between two samples of the buffer size (t_b)",
    "Saleh et al. 2024: without a value; a comment in their program: about 10 ms",
);

const BUFFER_CLOCK: ParamSpec = ParamSpec::choice(
    "buffer_clock",
    &["departure", "later", "doubled"],
    "When the artifact reading samples the buffer for a departure at t: then, at t + 15 ms, or at 2 t + 15 ms",
    "Saleh et al. 2024 section IV-B: at the departure; their program: 2 t + 15 ms",
);

const DESTROY: ParamSpec = ParamSpec::flag(
    "destroy",
    true,
    "Whether the artifact reading destroys the five packets that it looks at",
    "Saleh et al. 2024, their program: on; off: a control experiment",
);

const SPACING: ParamSpec = ParamSpec::new(
    "spacing",
    Kind::Span,
    Value::Auto,
    (1e3, 1e11),
    "What changes of sojourn time are divided by",
    "Saleh et al. 2024 section IV-C: \"related to the packet arrival\"; their program: 2 ms",
)
.or_auto("the time between the departures");

const BUFFER_PER: ParamSpec = ParamSpec::choice(
    "buffer_per",
    &["sample", "ms"],
    "Whether changes of the buffer size count per sample or per millisecond",
    "Saleh et al. 2024 eq. 13, without a unit; their program: per sample",
);

const COMPARE: ParamSpec = ParamSpec::choice(
    "compare",
    &["signed", "absolute"],
    "Whether a fall below minus the threshold counts like a rise above it",
    "Saleh et al. 2024 algorithm 1: signed; their program: absolute",
);

const SMOOTHING: ParamSpec = ParamSpec::new(
    "smoothing",
    Kind::Span,
    Value::Span(Span::ZERO),
    (0.0, 1e11),
    "Time constant of a low-pass filter on every derivative; 0 for raw differences",
    "Saleh et al. 2024: none; the filter: Astrom and Hagglund 2006 section 3.3",
);

const AGAIN: ParamSpec = ParamSpec::flag(
    "again",
    true,
    "Drop further packets at the head while a derivative, recomputed, is above its threshold",
    "Saleh et al. 2024 algorithm 1 lines 42 and 43: on; their program: off",
);

const UPDATE_STEP: ParamSpec = ParamSpec::new(
    "update_step",
    Kind::Fraction,
    Value::Fraction(0.0),
    (0.0, 1.0),
    "By which share of themselves rate and duration of a feature grow when it is soon found again; 0: never",
    "Saleh et al. 2024 algorithm 1 line 44: without a rule; their program: off",
);

const CONTROLLER: ParamSpec = ParamSpec::flag(
    "controller",
    false,
    "Choose among dAQM1, dAQM2 and dAQM3 while running, instead of the thresholds and rates given",
    "Saleh et al. 2024 section VII: without a rule",
);

const CONTROL_PERIOD: ParamSpec = ParamSpec::new(
    "control_period",
    Kind::Span,
    Value::Span(Span::from_secs(1)),
    (1e6, 1e11),
    "How often the controller chooses; longer than a drop duration, or it does not see what it did",
    OPEN,
);

const CONTROL_TARGET: ParamSpec = ParamSpec::new(
    "control_target",
    Kind::Span,
    Value::Span(Span::from_millis(100)),
    (0.0, 1e11),
    "Mean sojourn time above which the controller takes the next stricter configuration; below half, the laxer",
    OPEN,
);

const ECN: ParamSpec = ParamSpec::flag(
    "ecn",
    false,
    "Mark ECN-capable packets instead of dropping them",
    "Saleh et al. 2024: none",
);

fn build(Blueprint { params, .. }: Blueprint<'_>) -> Built {
    Ok(Single::boxed(params, DAqm::new(params)))
}
