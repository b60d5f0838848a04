//! Table III, and one feature at a time.

use aqm_core::law::daqm::CONFIGURATIONS;
use aqm_core::law::features::{COUNT, NAMES};
use aqm_core::params::{Preset, Value};
use aqm_core::units::Span;

const FIGURE_8: &str = "Saleh et al. 2024 Figure 8: this feature alone, without a threshold; dAQM2's here, since dAQM1's cannot be exceeded by s1";

/// Every preset.
pub(super) const ALL: &[Preset] = &[
    Preset { name: "daqm1", source: "Saleh et al. 2024 Table III", values: &[] },
    Preset { name: "daqm2", source: "Saleh et al. 2024 Table III", values: &DAQM2 },
    Preset { name: "daqm3", source: "Saleh et al. 2024 Table III", values: &DAQM3 },
    Preset { name: "only_s", source: FIGURE_8, values: &ONLY_S },
    Preset { name: "only_s1", source: FIGURE_8, values: &ONLY_S1 },
    Preset { name: "only_s2", source: FIGURE_8, values: &ONLY_S2 },
    Preset { name: "only_s3", source: FIGURE_8, values: &ONLY_S3 },
    Preset { name: "only_b", source: FIGURE_8, values: &ONLY_B },
    Preset { name: "only_b1", source: FIGURE_8, values: &ONLY_B1 },
    Preset { name: "only_b2", source: FIGURE_8, values: &ONLY_B2 },
    Preset { name: "only_b3", source: FIGURE_8, values: &ONLY_B3 },
];

type Values = [(&'static str, Value); COUNT + 1];

static DAQM2: Values = configuration(1, None);
static DAQM3: Values = configuration(2, None);
static ONLY_B: Values = configuration(1, Some(0));
static ONLY_S: Values = configuration(1, Some(1));
static ONLY_B1: Values = configuration(1, Some(2));
static ONLY_S1: Values = configuration(1, Some(3));
static ONLY_B2: Values = configuration(1, Some(4));
static ONLY_S2: Values = configuration(1, Some(5));
static ONLY_B3: Values = configuration(1, Some(6));
static ONLY_S3: Values = configuration(1, Some(7));

/// A configuration of Table III, with all features or with one.
const fn configuration(number: usize, only: Option<usize>) -> Values {
    [
        threshold(number, 0, only),
        threshold(number, 1, only),
        threshold(number, 2, only),
        threshold(number, 3, only),
        threshold(number, 4, only),
        threshold(number, 5, only),
        threshold(number, 6, only),
        threshold(number, 7, only),
        ("drop_rate", Value::Fraction(CONFIGURATIONS[number].rate)),
    ]
}

const fn threshold(number: usize, feature: usize, only: Option<usize>) -> (&'static str, Value) {
    let threshold = CONFIGURATIONS[number].thresholds[feature];
    let value = match (only, feature) {
        (Some(one), _) if one != feature => Value::Auto,
        (_, 0) => Value::Count(threshold as u64),
        (_, 1) => Value::Span(Span::from_millis(threshold as u64)),
        _ => Value::Number(threshold),
    };
    (NAMES[feature], value)
}
