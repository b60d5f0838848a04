//! The declarations of options, as JSON, and their notation.

use crate::error::{input, wrong};
use aqm_sim::scenario::Scenario;
use aqm_sim::scenario::options::{Form, OPTIONS, OptionSpec, find};
use pyo3::prelude::*;
use serde_json::{Value, json};

/// Everything that is declared about options, and the fields of a scenario in their order, as JSON.
#[pyfunction]
pub(crate) fn options() -> String {
    json!({ "options": OPTIONS.iter().map(option).collect::<Value>(), "fields": Scenario::FIELDS })
        .to_string()
}

/// Reads a value of an option; returns it in base units, as JSON.
#[pyfunction]
pub(crate) fn read_option(name: &str, text: &str) -> PyResult<String> {
    declared(name)?.read(text).map(|value| value.to_string()).map_err(wrong)
}

/// Writes a value of an option, which is in base units as JSON.
#[pyfunction]
pub(crate) fn write_option(name: &str, value: &str) -> PyResult<String> {
    Ok(declared(name)?.write(&serde_json::from_str(value).map_err(input)?))
}

fn declared(name: &str) -> PyResult<&'static OptionSpec> {
    find(name).ok_or_else(|| input(format!("there is no option '{name}'")))
}

fn option(option: &OptionSpec) -> Value {
    let form = match option.form {
        Form::Text => "text",
        Form::File => "file",
        Form::Flows => "flows",
        Form::Quantity(_) => "quantity",
        Form::Span => "span",
        Form::Rate => "rate",
        Form::Bytes => "bytes",
        Form::Packets => "packets",
        Form::Share => "share",
        Form::Loss => "loss",
        Form::Reorder => "reorder",
        Form::Slots => "slots",
        Form::Count => "count",
        Form::Names => "names",
        Form::Switch(_) => "switch",
        Form::Choice(_) => "choice",
    };
    let (low, high) = option.range;
    json!({
        "name": option.name,
        "form": form,
        "words": option.words(),
        "field": option.field,
        "default": option.default,
        "value": option.default_value(),
        "is_nullable": option.is_null_by_default,
        "is_left_out": option.is_left_out,
        "low": low,
        "high": high,
        "many": option.is_many,
        "example": option.example,
        "metavar": option.metavar,
        "help": option.help,
        "reference": option.reference,
    })
}
