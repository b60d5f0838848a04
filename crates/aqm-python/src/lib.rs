//! The Python module `aqmlab._native`: the calls from Python into the core and the simulator, and nothing else.
//!
//! Plain data goes in and columns come out. The package `aqmlab` gives them their final form and documents them.

mod advice;
mod commanded;
mod conformance;
mod data_plane;
mod describe;
mod error;
mod flows;
mod foreign;
mod guest;
mod inputs;
#[cfg(target_os = "linux")]
mod live;
mod measure;
mod memory;
mod metrics;
mod notation;
mod options;
mod panics;
mod pmqecn;
mod rates;
mod run;
mod scenario;
mod schema;
mod signals;
mod stacks;
mod stepper;
mod sweeps;
mod tables;
mod units;

use pyo3::prelude::*;

/// The compiled part of aqmlab.
#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::advice::{
        advice_best, advice_difference, advice_figures, advice_grade, advice_grades, advice_has_script,
        advice_interfaces, advice_layers, advice_line, advice_of_run, advice_ranked, advice_setups,
        advice_shaped, advice_shortfall, advice_sqm, advice_steps, advice_support, advice_target, advice_tc,
        advice_undo, advice_usual, advice_with_overhead,
    };
    #[pymodule_export]
    use crate::conformance::conformance;
    #[pymodule_export]
    use crate::data_plane::DataPlane;
    #[pymodule_export]
    use crate::describe::{
        build_info, commit, discipline_of, disciplines, is_tc, overflow_victim, parse_spec, programs,
        resolve_aqm, tc_table, tc_words, translate_tc, version,
    };
    #[pymodule_export]
    use crate::error::{Cancelled, CheckError, InputError};
    #[pymodule_export]
    use crate::flows::{flow_keys, flows, parse_flows};
    #[pymodule_export]
    use crate::foreign::{Handle, Signals, declare_discipline, declare_transport};
    #[pymodule_export]
    use crate::inputs::{Capture, Inputs, LinkTrace, PathTrace};
    #[cfg(target_os = "linux")]
    #[pymodule_export]
    use crate::live::{link, replay_link, timer_lateness};
    #[pymodule_export]
    use crate::measure::{classify, cost, drop_share, queue_metrics, sketch_stream};
    #[pymodule_export]
    use crate::metrics::metrics;
    #[pymodule_export]
    use crate::options::{link_kinds, options, read_link, read_option, write_option};
    #[pymodule_export]
    use crate::panics::{defect, panic};
    #[pymodule_export]
    use crate::pmqecn::{pmqecn_queue, pmqecn_solve};
    #[pymodule_export]
    use crate::rates::{RateReceiver, RateSender};
    #[pymodule_export]
    use crate::run::{Monitor, Run, estimate, run};
    #[pymodule_export]
    use crate::scenario::{resolve_scenario, topologies, topology_texts};
    #[pymodule_export]
    use crate::schema::{experiment_schema, scenario_schema};
    #[pymodule_export]
    use crate::signals::watch_signals;
    #[pymodule_export]
    use crate::stepper::Stepper;
    #[pymodule_export]
    use crate::sweeps::{SweptRange, read_quantities, sweep_points};
    #[pymodule_export]
    use crate::units::{
        bucket_width_ns, format_bytes, format_rate, format_span, parse_bytes, parse_fraction, parse_rate,
        parse_size, parse_span,
    };
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::panics::install();
        crate::error::declare_fields(module.py())?;
        Ok(())
    }
}
