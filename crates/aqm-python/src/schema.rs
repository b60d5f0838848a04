//! JSON Schemas of what people write and of what the resolver makes of it.

use crate::flows::catalogue;
use aqm_scenario::schema;
use pyo3::prelude::*;

/// The schema of experiment files, as JSON in order.
#[pyfunction]
pub(crate) fn experiment_schema() -> String {
    serde_json::to_string(&schema::experiment(&catalogue())).expect("plain data")
}

/// The schema of resolved scenarios, as JSON in order.
#[pyfunction]
pub(crate) fn scenario_schema() -> String {
    serde_json::to_string(&schema::scenario(&catalogue())).expect("plain data")
}
