//! Table III, and one feature at a time.

use crate::params::{Preset, Value};

const TABLE_III: &str = "Saleh et al. 2024 Table III";
const FIGURE_8: &str = "Saleh et al. 2024 Figure 8: this feature alone, without a threshold; dAQM2's here, since dAQM1's cannot be exceeded by s1";

/// The thresholds of dAQM1.
pub(super) const DAQM1: &str = "s 1s, s1 10, s2 10, s3 10, b 120, b1 1, b2 10, b3 10";

/// Every preset.
pub(super) const ALL: &[Preset] = &[
    Preset { name: "daqm1", source: TABLE_III, values: &[] },
    Preset {
        name: "daqm2",
        source: TABLE_III,
        values: &of_2("s 600ms, s1 0.1, s2 0.1, s3 0.1, b 80, b1 0.1, b2 0.1, b3 0.1"),
    },
    Preset {
        name: "daqm3",
        source: TABLE_III,
        values: &[
            (
                "features",
                Value::Notation("s 100ms, s1 0.01, s2 0.01, s3 0.01, b 20, b1 0.01, b2 0.01, b3 0.01"),
            ),
            ("drop_rate", Value::Fraction(0.98)),
        ],
    },
    Preset { name: "only_s", source: FIGURE_8, values: &of_2("s 600ms") },
    Preset { name: "only_s1", source: FIGURE_8, values: &of_2("s1 0.1") },
    Preset { name: "only_s2", source: FIGURE_8, values: &of_2("s2 0.1") },
    Preset { name: "only_s3", source: FIGURE_8, values: &of_2("s3 0.1") },
    Preset { name: "only_b", source: FIGURE_8, values: &of_2("b 80") },
    Preset { name: "only_b1", source: FIGURE_8, values: &of_2("b1 0.1") },
    Preset { name: "only_b2", source: FIGURE_8, values: &of_2("b2 0.1") },
    Preset { name: "only_b3", source: FIGURE_8, values: &of_2("b3 0.1") },
];

/// Features with the drop rate of dAQM2.
const fn of_2(features: &'static str) -> [(&'static str, Value); 2] {
    [("features", Value::Notation(features)), ("drop_rate", Value::Fraction(0.5))]
}
