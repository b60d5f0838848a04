//! # What it does
//! dAQM as its authors' program does it, and as the paper's text can be read otherwise: a parameter for each choice.
//!
//! # Reference
//! S. Saleh, S. Shu and B. Koldehofe, "dAQM: Derivative-based Active Queue Management" (2024): algorithm 1, eqs. 6 to 8
//! and 13 to 15, Table III; their published ns-3 program (artifacts of the paper).
//!
//! # Parameters
//! `method artifact` is the authors' program: it destroys five packets each time it takes the features, changes are divided
//! by 2 ms, falls count like rises, the gates are 5 packets and nothing else. With `buffer_clock doubled` it samples the
//! buffer as the program does: what is meant to come 15 ms after a departure is scheduled by a delay of the time of the
//! departure and 15 ms, so that the buffer of a departure at t is sampled when the clock shows 2 t + 15 ms, and there is no
//! sample for what leaves in the second half of a run. `later` is what was meant. Between two samples pass at least
//! `sample_interval` of simulated time; there it is 10 ms of the wall clock.
//!
//! `method clean` is the discipline `daqm` of aqm-core, with each threshold, drop rate and drop duration as a parameter of
//! its own, and with the choices that `daqm` makes: what changes are divided by (`spacing`, `buffer_per`), whether falls
//! count (`compare`), a rule for line 44 (`update_step`), and a controller (section VII, without a rule), which chooses
//! among the three configurations by the mean sojourn time of a period.
//!
//! # Deviations
//! Those of `daqm`; the rules of update and controller are ours.
//!
//! # Promises
//! Order kept; no state per flow; one random number per packet that arrives while packets are dropped.

mod assumptions;
mod controller;
mod gate;
mod inspected;
mod presets;
mod samples;
pub(crate) mod socket;
#[cfg(test)]
#[path = "../../../aqm-core/src/discipline/testing.rs"]
mod testing;
#[cfg(test)]
mod tests;

use aqm_core::discipline::daqm::{
    AGAIN, DROP_DURATION, DROP_RATE, ECN, GATE_B, GATE_S, PROBES, SAMPLE_INTERVAL, SMOOTHING,
};
use aqm_core::discipline::single::Single;
use aqm_core::discipline::{Blueprint, Built, Group, Info, LIMIT, ProbeSpec, Traits};
use aqm_core::params::{Kind, ParamSpec, Value};
use aqm_core::units::{Size, Span};
use assumptions::{BufferPer, Compare, MethodName};
use gate::Program;
use samples::Clock;

pub(crate) use gate::DESTROYED;

/// The entry of the list.
pub static INFO: Info = Info {
    name: "daqm_artifact",
    group: Group::Delay,
    summary: "dAQM as its authors' program does it, or with other choices that its paper leaves open",
    reference: "Saleh, Shu and Koldehofe 2024, and their program",
    params: &[
        LIMIT_2000,
        METHOD,
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
    probes: &ALL_PROBES,
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

const METHOD: ParamSpec = ParamSpec::choice::<MethodName>(
    "method",
    "Features as the authors' program takes them, which destroys packets for it, or as the paper defines them",
    "Saleh et al. 2024: eqs. 6 to 15 are clean; their program",
);

/// What `daqm` shows, and the controller.
const ALL_PROBES: [ProbeSpec; 11] = {
    let last = ProbeSpec {
        name: "configuration",
        unit: "number",
        help: "Configuration that the controller chose, 0 without",
    };
    let mut all = [last; 11];
    let mut index = 0;
    while index < PROBES.len() {
        all[index] = PROBES[index];
        index += 1;
    }
    all
};

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

const BUFFER_CLOCK: ParamSpec = ParamSpec::choice::<Clock>(
    "buffer_clock",
    "When the program samples the buffer for a departure at t: at 2 t + 15 ms, at t + 15 ms, or then",
    "their program: 2 t + 15 ms; Saleh et al. 2024 section IV-B: at the departure",
);

const DESTROY: ParamSpec = ParamSpec::flag(
    "destroy",
    true,
    "Whether the program destroys the five packets that it takes features of",
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

const BUFFER_PER: ParamSpec = ParamSpec::choice::<BufferPer>(
    "buffer_per",
    "Whether changes of the buffer size count per sample or per millisecond",
    "Saleh et al. 2024 eq. 13, without a unit; their program: per sample",
);

const COMPARE: ParamSpec = ParamSpec::choice::<Compare>(
    "compare",
    "Whether a fall below minus the threshold counts like a rise above it",
    "Saleh et al. 2024 algorithm 1: signed; their program: absolute",
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

fn build(Blueprint { params, .. }: Blueprint<'_>) -> Built {
    Ok(Single::boxed(params, Program::new(params)))
}
