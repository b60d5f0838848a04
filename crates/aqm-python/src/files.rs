//! Files that come with the program.

use crate::error::input;
use pyo3::prelude::*;

/// The distributions that come with the program.
const WORKLOADS: [(&str, &str); 4] = [
    ("websearch", include_str!("../../../data/workloads/websearch.cdf")),
    ("datamining", include_str!("../../../data/workloads/datamining.cdf")),
    ("hadoop", include_str!("../../../data/workloads/hadoop.cdf")),
    ("telnet", include_str!("../../../data/workloads/telnet.cdf")),
];

/// The text of a distribution that comes with the program.
#[pyfunction]
pub(crate) fn workload(name: &str) -> PyResult<&'static str> {
    let found = WORKLOADS.iter().find(|(known, _)| *known == name);
    found.map(|(_, text)| *text).ok_or_else(|| input(format!("'{name}' does not come with the program")))
}
