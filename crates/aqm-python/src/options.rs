//! The declarations of options, as JSON, and their notation.

use crate::error::{input, wrong};
use aqm_core::params::ParamSpec;
use aqm_path::kind::{Capacity, KindSpec, LinkKind, Service};
use aqm_path::kinds::KINDS;
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

/// What a kind of link with its parameters is: its canonical text, and the recording that it names. Returns JSON.
#[pyfunction]
pub(crate) fn read_link(text: &str) -> PyResult<String> {
    let spec = KindSpec::parse(text, KINDS).map_err(wrong)?;
    let recording = match spec.capacity() {
        Capacity::Trace(name) => Some(name),
        Capacity::OfPath | Capacity::Rate(_) => None,
    };
    let is_recorded = matches!(spec.kind().service, Service::Opportunities);
    Ok(json!({"kind": spec.kind().name, "text": spec.to_string(), "recording": recording, "is_recorded": is_recorded})
        .to_string())
}

/// The kinds of links as JSON: their declarations.
#[pyfunction]
pub(crate) fn link_kinds() -> String {
    let param = |param: &ParamSpec| {
        json!({
            "name": param.name,
            "unit": param.kind.unit(),
            "default": param.default.to_string(),
            "range": param.range_text(),
            "auto": param.auto,
            "help": param.help,
            "reference": param.reference,
        })
    };
    let kind = |kind: &&LinkKind| {
        json!({
            "name": kind.name,
            "summary": kind.summary,
            "reference": kind.reference,
            "params": kind.params.iter().map(param).collect::<Value>(),
            "of_link": kind.of_link,
            "is_shared": kind.service.is_shared(),
        })
    };
    KINDS.iter().map(kind).collect::<Value>().to_string()
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
        Form::Link => "link",
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
        "section": option.section.title(),
        "is_live": option.is_live,
        "is_wire": option.is_wire,
        "metavar": option.metavar,
        "help": option.help,
        "reference": option.reference,
    })
}
