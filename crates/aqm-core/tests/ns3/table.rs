//! Every test of ns-3's suites: the test here, a unit test of a law, or why there is none.

use super::{ared, bands, cobalt, codel, fifo, flows, marking, pie, red};
use std::fmt::Write;

/// What became of a test of theirs.
enum Coverage {
    /// A test of this program.
    Here(fn()),
    /// A unit test: its file under `src/`, and its name.
    Unit(&'static str, &'static str),
    /// None, for this reason.
    None(&'static str),
}

use Coverage::{Here, None, Unit};

/// A suite of theirs.
struct Suite {
    /// Its name in ns-3.
    name: &'static str,
    /// Each test and what became of it.
    tests: &'static [(&'static str, Coverage)],
}

const FILTERS: &str = "no filters: the host says which flow a packet belongs to, also of what is not IP";
const SETS: &str =
    "no sets of queues: cake has them, with another rule for a full set (discipline/cake/sets.rs)";
const NO_CE_THRESHOLD: &str =
    "no ce_threshold: only ns-3 has it in this discipline, Linux and the RFCs do not";
const INNER: &str = "no queue inside a queue: a discipline has one limit";
const NO_FILTERS_OF_PRIO: &str = "no filters: the host gives the class";
const TBF: &str = "no token bucket: the link has a rate, and cake a shaper without a burst";

/// Every suite of ns-3 about queue discs.
static SUITES: &[Suite] = &[
    Suite {
        name: "red-queue-disc",
        tests: &[
            ("1 order", Here(red::order)),
            ("2 no drops below the thresholds", Here(red::no_drops_below_the_thresholds)),
            ("3 drops with a larger QW", Here(red::drops_with_a_larger_weight)),
            ("4 more with a lower MaxTh", Here(red::more_drops_with_a_lower_max)),
            ("5 more with a higher probability", Here(red::more_drops_with_a_higher_probability)),
            ("6 more without Gentle", Here(red::more_drops_if_not_gentle)),
            ("7 more without Wait", Here(red::more_drops_without_wait)),
            ("8 ECN in the queue alone", Here(red::drops_without_ecn_in_packets)),
            ("9 ECN in packets alone", Here(red::drops_without_ecn_in_the_queue)),
            ("10 ECN in both", Here(red::marks_with_ecn)),
            ("11 drops by chance", Here(red::drops_by_chance)),
            ("12 FengAdaptive drops less", Here(red::feng_drops_less)),
            ("13 NLRED drops less", Here(red::nonlinear_drops_less)),
        ],
    },
    Suite {
        name: "adaptive-red-queue-disc",
        tests: &[
            ("1 QW 0", Here(ared::automatic_weight)),
            ("2 QW 0, slow link", Here(ared::automatic_weight_of_a_slow_link)),
            ("3 QW -1", Here(ared::weight_of_a_round_trip)),
            ("4 QW -1, slow link", Here(ared::weight_of_a_round_trip_on_a_slow_link)),
            ("5 QW -2", Here(ared::tenfold_weight)),
            ("6 QW -2, slow link", Here(ared::tenfold_weight_on_a_slow_link)),
            ("7 thresholds 0", Here(ared::thresholds_of_the_link)),
            ("8 thresholds 0, fast link", Here(ared::thresholds_of_a_fast_link)),
            ("9 RED drops", Here(ared::red_drops)),
            ("10 ARED drops less", Here(ared::adaptive_red_drops_less)),
        ],
    },
    Suite {
        name: "codel-queue-disc",
        tests: &[
            ("1 order", Here(codel::order)),
            ("2 overflow", Here(codel::overflows)),
            ("3 Newton's step", Unit("law/codel.rs", "newtons_step_is_that_of_the_formula")),
            ("4 control law", Unit("law/codel.rs", "the_control_law_adds_the_interval_over_the_root")),
            ("5 drops", Here(codel::drops)),
            ("6 marks", Here(codel::marks_of_the_law_and_of_the_threshold)),
        ],
    },
    Suite {
        name: "cobalt-queue-disc",
        tests: &[
            ("1 order", Here(cobalt::order)),
            ("2 overflow raises Pdrop", Here(cobalt::overflows)),
            ("3 drops and marks", Here(cobalt::drops_and_marks)),
            ("4 CeThreshold", None(NO_CE_THRESHOLD)),
            ("5 BlueThreshold", Here(cobalt::blue_by_the_sojourn_time)),
        ],
    },
    Suite {
        name: "pie-queue-disc",
        tests: &[
            ("1 order", Here(pie::order)),
            ("2 drops", Here(pie::drops_under_load)),
            ("3 fewer with a higher target", Here(pie::fewer_drops_with_a_higher_target)),
            ("4 more on a slower link", Here(pie::more_drops_on_a_slower_link)),
            ("5 fewer with a longer Tupdate", Here(pie::fewer_drops_with_a_longer_period)),
            ("6 UseDequeueRateEstimator", Here(pie::drops_with_the_estimator)),
            ("7 without UseCapDropAdjustment", Here(pie::steep_without_the_cap)),
            ("8 UseCapDropAdjustment", Here(pie::not_steep_with_the_cap)),
            ("9 ECN in the queue alone", Here(pie::drops_without_ecn_in_packets)),
            ("10 ECN in packets alone", Here(pie::drops_without_ecn_in_the_queue)),
            ("11 ECN up to MarkEcnThreshold", Here(pie::marks_up_to_the_threshold)),
            ("12 UseDerandomization", Here(pie::drops_are_spaced)),
            (
                "13 below 0.85 no drop",
                Unit("law/pie/tests.rs", "the_thresholds_of_derandomization_are_inclusive"),
            ),
            (
                "14 above 8.5 always",
                Unit("law/pie/tests.rs", "derandomization_keeps_drops_apart_and_ends_long_waits"),
            ),
            ("15 high ActiveThreshold", Here(pie::rests_below_its_threshold)),
            ("16 low ActiveThreshold", Here(pie::starts_at_its_threshold)),
        ],
    },
    Suite {
        name: "fifo-queue-disc",
        tests: &[
            ("1 limit before initialization", Here(fifo::limit_from_the_start)),
            ("2 limit after it", Here(fifo::limit_set_later)),
            ("3 limit of the internal queue before it", None(INNER)),
            ("4 limit of the internal queue after it", None(INNER)),
        ],
    },
    Suite {
        name: "prio-queue-disc",
        tests: &[
            ("1 Priomap", Here(bands::the_map_is_taken)),
            ("2 bands by Priomap", Here(bands::the_map_chooses_the_band)),
            ("3 a filter that does not apply", None(NO_FILTERS_OF_PRIO)),
            ("4 bands by a filter", None(NO_FILTERS_OF_PRIO)),
            ("5 a filter beyond the bands", None(NO_FILTERS_OF_PRIO)),
            ("6 order of bands", Here(bands::bands_are_emptied_in_turn)),
        ],
    },
    Suite {
        name: "pfifo-fast-queue-disc",
        tests: &[
            ("types of service", Here(bands::types_of_service)),
            ("code points", Here(bands::code_points)),
            ("overflow", Here(bands::all_bands_share_the_limit)),
            ("no priority tag", None("no packets without a code point: the band follows from it alone")),
        ],
    },
    Suite {
        name: "fq-codel-queue-disc",
        tests: &[
            ("no suitable filter", None(FILTERS)),
            ("flows apart, and the limit", Here(flows::fq_codel_fat_flow)),
            ("deficits", Here(flows::fq_codel_deficits)),
            ("TCP flows apart", Here(flows::fq_codel_apart)),
            ("UDP flows apart", Here(flows::fq_codel_apart)),
            ("ECN marking", Here(marking::fq_codel)),
            ("set-associative hash", None(SETS)),
            ("L4S", Here(marking::l4s_by_fq_codel)),
        ],
    },
    Suite {
        name: "fq-cobalt-queue-disc",
        tests: &[
            ("no suitable filter", None(FILTERS)),
            ("flows apart, and the limit", Here(flows::fq_cobalt_fat_flow)),
            ("deficits", Here(flows::fq_cobalt_deficits)),
            ("TCP flows apart", Here(flows::fq_cobalt_apart)),
            ("UDP flows apart", Here(flows::fq_cobalt_apart)),
            ("ECN marking, first of three cases", Here(marking::fq_cobalt)),
            ("ECN marking, cases with CeThreshold", None(NO_CE_THRESHOLD)),
            ("set-associative hash", None(SETS)),
            ("L4S", None(NO_CE_THRESHOLD)),
        ],
    },
    Suite {
        name: "fq-pie-queue-disc",
        tests: &[
            ("no suitable filter", None(FILTERS)),
            ("flows apart, and the limit", Here(flows::fq_pie_fat_flow)),
            ("deficits", Here(flows::fq_pie_deficits)),
            ("TCP flows apart", Here(flows::fq_pie_apart)),
            ("UDP flows apart", Here(flows::fq_pie_apart)),
            ("set-associative hash", None(SETS)),
            ("L4S", None(NO_CE_THRESHOLD)),
        ],
    },
    Suite {
        name: "tbf-queue-disc",
        tests: &[
            ("1 tokens of packets", None(TBF)),
            ("2 rate of the link", None(TBF)),
            ("3 rate above that of tokens", None(TBF)),
            ("4 PeakRate", None(TBF)),
        ],
    },
    Suite {
        name: "queue-disc-traces",
        tests: &[(
            "counts of parent and child",
            None(
                "two queue discs written for the test; what the host counts is compared with every discipline's own counts after each call (tests/conformance/conservation.rs)",
            ),
        )],
    },
    Suite {
        name: "tc-flow-control",
        tests: &[(
            "device queues",
            None("no queue between a discipline and its link, which takes a packet when it is free"),
        )],
    },
];

#[test]
fn every_test_that_has_a_counterpart_passes() {
    for suite in SUITES {
        for (test, how) in suite.tests {
            println!("{}: {test}", suite.name);
            if let Here(run) = how {
                run();
            }
        }
    }
}

#[test]
fn unit_tests_exist() {
    for (file, name) in SUITES.iter().flat_map(|suite| suite.tests).filter_map(|(_, how)| match how {
        Unit(file, name) => Some((file, name)),
        Here(_) | None(_) => Option::None,
    }) {
        let path = format!("{}/src/{file}", env!("CARGO_MANIFEST_DIR"));
        let source = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        assert!(source.contains(&format!("fn {name}()")), "{path} has no {name}");
    }
}

#[test]
fn the_table_is_as_recorded() {
    let (mut text, mut all) = (String::new(), [0, 0]);
    for suite in SUITES {
        let mut counts = [0, 0];
        let mut rows = String::new();
        for (test, how) in suite.tests {
            let is_none = matches!(how, None(_));
            counts[usize::from(is_none)] += 1;
            let outcome = match how {
                Here(_) => "passes".to_owned(),
                Unit(file, name) => format!("passes as {name} in {file}"),
                None(reason) => reason.to_string(),
            };
            writeln!(rows, "  {test}: {outcome}").unwrap();
        }
        writeln!(text, "{}: {} translated, {} not\n{rows}", suite.name, counts[0], counts[1]).unwrap();
        all = [all[0] + counts[0], all[1] + counts[1]];
    }
    writeln!(text, "all: {} translated, {} not", all[0], all[1]).unwrap();
    insta::assert_snapshot!("table", text);
}
