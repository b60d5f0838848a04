//! What a sweep writes, resolved; ranges, and texts as quantities.

use crate::error::wrong;
use aqm_scenario::sweep::{Design, Entry, Given, Range, Surroundings, Sweep, quantity};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};

/// Per swept name what its values are called, nothing of a range; and the points, each with a text for each name.
type Points = (Vec<Option<Vec<String>>>, Vec<Vec<String>>);

/// The points of a sweep. `entries` are the swept names with their values, all texts: one text, a list, or a table by
/// name; values that belong together are a table again. `draw` gives the shares of a sample, called with its kind, its
/// points and its dimensions. `given` are names that are not swept, `columns` those of results.
#[pyfunction]
pub(crate) fn sweep_points(
    entries: Vec<(String, Bound<'_, PyAny>)>,
    design: &str,
    draw: Bound<'_, PyAny>,
    given: Vec<String>,
    columns: Vec<String>,
) -> PyResult<Points> {
    let entries: Vec<(String, Entry)> =
        entries.into_iter().map(|(name, value)| Ok((name, entry(&value)?))).collect::<PyResult<_>>()?;
    let around = Surroundings { given: &given, columns: &columns };
    let sweep = Sweep::read(&entries, design, &around).map_err(wrong)?;
    let points = match sweep.design {
        Design::Sample(sampler, points) if !entries.is_empty() => {
            let shares: Vec<Vec<f64>> = draw.call1((sampler.name(), points, entries.len()))?.extract()?;
            sweep.sampled(&shares)
        }
        _ => sweep.grid().map_err(wrong)?,
    };
    Ok((sweep.labels().map(|labels| labels.map(<[String]>::to_vec)).collect(), points))
}

fn entry(value: &Bound<'_, PyAny>) -> PyResult<Entry> {
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(Entry::Text(text.extract()?));
    }
    if let Ok(table) = value.cast::<PyDict>() {
        let entries = table.iter().map(|(name, value)| Ok((name.extract()?, one(&value)?)));
        return Ok(Entry::Table(entries.collect::<PyResult<_>>()?));
    }
    if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        let values = value.try_iter()?.map(|value| one(&value?));
        return Ok(Entry::List(values.collect::<PyResult<_>>()?));
    }
    Ok(Entry::Other)
}

fn one(value: &Bound<'_, PyAny>) -> PyResult<Given> {
    if let Ok(table) = value.cast::<PyDict>() {
        return Ok(Given::Together(table.keys().iter().map(|name| name.extract()).collect::<PyResult<_>>()?));
    }
    if let Ok(texts) = value.cast::<PyList>() {
        return Ok(Given::Several(texts.extract()?));
    }
    Ok(Given::One(value.extract()?))
}

/// The kind of some texts and their values in its base units: the ending of its columns, its unit on an axis, base units
/// in one of them, and the values. Nothing if they are not all of one kind.
#[pyfunction]
pub(crate) fn read_quantities(texts: Vec<String>) -> Option<(&'static str, &'static str, f64, Vec<f64>)> {
    let (kind, values) = quantity::read(texts.iter().map(String::as_str))?;
    Some((kind.ending, kind.axis, kind.scale, values))
}

/// All values between two.
#[pyclass(frozen, name = "Range", module = "aqmlab._native")]
pub(crate) struct SweptRange(Range);

#[pymethods]
impl SweptRange {
    /// Reads a range; nothing if the text is none.
    #[staticmethod]
    fn parse(text: &str) -> PyResult<Option<SweptRange>> {
        Range::parse(text).map(|range| range.map(SweptRange)).map_err(wrong)
    }

    #[getter]
    fn low(&self) -> f64 {
        self.0.low
    }

    #[getter]
    fn high(&self) -> f64 {
        self.0.high
    }

    #[getter]
    fn count(&self) -> Option<usize> {
        self.0.count
    }

    /// The value at a share of the range, from 0 to 1.
    fn at(&self, share: f64) -> String {
        self.0.at(share)
    }

    /// Its values, ends included.
    fn values(&self) -> Vec<String> {
        self.0.values()
    }

    /// The same at equal ratios.
    fn by_ratio(&self) -> SweptRange {
        SweptRange(self.0.clone().by_ratio())
    }
}
