//! The declarations of kinds of flow, transports and keys, as JSON.

use crate::stacks::stacks;
use aqm_core::params::{Kind as Unit, ParamSpec, Preset, Value as Declared};
use aqm_core::units::Span;
use aqm_sim::rate_control::{self, RATED};
use aqm_sim::traffic::{BULK, COMMON, KINDS, Key, Over, SourceKind, Takes};
use aqm_sim::transport::{CONTROLS, IP, Info, RELATIONS, Relation, STACKS, TCP, UDP, field};
use pyo3::prelude::*;
use serde_json::{Map, Value, json};

/// Everything that is declared about flows, as JSON.
#[pyfunction]
pub(crate) fn flows() -> String {
    let udp = json!({
        "name": "udp",
        "form": "udp",
        "extension": "",
        "alias": "",
        "summary": "UDP: nothing reacts",
        "reference": "RFC 768",
        "carries": true,
        "keys": UDP.iter().map(param).collect::<Value>(),
        "sets": {},
        "only": {},
        "must": [],
        "relations": [],
        "stacks": [],
    });
    let rated = rate_controls().map(|(info, extension)| rated(info, extension));
    let real = stacks();
    let real = real.iter().map(|stack| real_transport(stack.info()));
    let transports =
        std::iter::once(udp).chain(CONTROLS.iter().map(|info| transport(info))).chain(rated).chain(real);
    json!({
        "common": COMMON.iter().map(key).collect::<Value>(),
        "bulk": BULK.iter().map(key).collect::<Value>(),
        "transports": transports.collect::<Value>(),
        "stacks": STACKS.iter().map(stack).collect::<Value>(),
        "kinds": KINDS.iter().flat_map(|kinds| kinds.iter()).map(kind).collect::<Value>(),
    })
    .to_string()
}

fn transport(info: &Info) -> Value {
    let keys = [TCP, info.params, IP].into_iter().flatten().map(param);
    let only: Map<String, Value> =
        info.only.iter().map(|(key, words)| ((*key).to_owned(), json!(words))).collect();
    json!({
        "name": info.name,
        "form": "tcp",
        "extension": "",
        "alias": info.alias,
        "summary": info.summary,
        "reference": info.reference,
        "carries": info.carries,
        "keys": keys.collect::<Value>(),
        "sets": texts(info.sets),
        "only": only,
        "must": info.must,
        "relations": RELATIONS.iter().chain(info.relations).map(relation).collect::<Value>(),
        "stacks": info.stacks.iter().map(stack).collect::<Value>(),
    })
}

/// Every rate control, and the extension that it comes from; empty for those of the simulator.
fn rate_controls() -> impl Iterator<Item = (&'static rate_control::Info, &'static str)> {
    let known = rate_control::RATE_CONTROLS.iter().map(|info| (*info, ""));
    let added = aqm_papers::EXTENSION.rate_controls.iter();
    known.chain(added.map(|info| (*info, aqm_papers::EXTENSION.name)))
}

fn rated(info: &rate_control::Info, extension: &str) -> Value {
    json!({
        "name": info.name,
        "form": "rate",
        "extension": extension,
        "alias": "",
        "summary": info.summary,
        "reference": info.reference,
        "carries": false,
        "keys": RATED.iter().chain(info.params).map(param).collect::<Value>(),
        "sets": texts(info.sets),
        "only": {},
        "must": [],
        "relations": [],
        "stacks": [],
    })
}

fn real_transport(info: &aqm_sim::stack::Info) -> Value {
    json!({
        "name": info.name,
        "form": "stack",
        "extension": "",
        "alias": "",
        "summary": info.summary,
        "reference": info.reference,
        "carries": false,
        "keys": info.params.iter().map(param).collect::<Value>(),
        "sets": {},
        "only": {},
        "must": [],
        "relations": [],
        "stacks": [],
    })
}

fn relation(relation: &Relation) -> Value {
    json!({ "given": relation.given, "needs": relation.needs })
}

fn stack(preset: &Preset) -> Value {
    let values: Map<String, Value> =
        preset.values.iter().map(|(name, value)| ((*name).to_owned(), json!(written(value)))).collect();
    json!({ "name": preset.name, "source": preset.source, "values": values })
}

fn kind(kind: &SourceKind) -> Value {
    let controls = CONTROLS.iter().filter(|info| info.carries).map(|info| info.name);
    let both_ways =
        kind.constants.iter().any(|(name, value)| *name == "both_ways" && *value == Declared::Flag(true));
    let transports: Vec<&str> = match kind.over {
        Over::Udp => vec!["udp"],
        Over::Tcp => controls.collect(),
        Over::Reacting => {
            let rated = rate_controls().map(|(info, _)| info.name);
            controls.chain(rated).chain(stacks().iter().map(|stack| stack.info().name)).collect()
        }
        Over::Any => {
            let real = stacks();
            let real = real.iter().map(|stack| stack.info()).filter(|info| info.writes && !both_ways);
            std::iter::once("udp").chain(controls).chain(real.map(|info| info.name)).collect()
        }
    };
    let constants: Map<String, Value> = kind
        .constants
        .iter()
        .map(|(name, value)| {
            let value = if let Declared::Flag(on) = value { json!(on) } else { json!(value.to_string()) };
            ((*name).to_owned(), value)
        })
        .collect();
    json!({
        "name": kind.name,
        "summary": kind.summary,
        "reference": kind.reference,
        "transport": kind.transport,
        "transports": transports,
        "keys": kind.keys.iter().map(key).collect::<Value>(),
        "defaults": texts(kind.defaults),
        "must": kind.must,
        "form": kind.form,
        "constants": constants,
    })
}

fn param(param: &ParamSpec) -> Value {
    let words: &[&str] = match param.kind {
        Unit::Choice(words) => words,
        _ => &[],
    };
    json!({
        "name": param.name,
        "field": field(param),
        "takes": "one",
        "unit": unit(param.kind),
        "words": words,
        "low": param.range.0,
        "high": param.range.1,
        "default": if let Declared::Auto = param.default { None } else { Some(written(&param.default)) },
        "help": param.help,
        "reference": param.reference,
    })
}

fn key(key: &Key) -> Value {
    let (takes, kind) = match key.takes {
        Takes::One(kind) => ("one", unit(kind)),
        Takes::Drawn(kind) => ("drawn", unit(kind)),
        Takes::Ascending(kind) => ("ascending", unit(kind)),
        Takes::Range => ("range", "span"),
        Takes::Name => ("name", ""),
        Takes::Nodes => ("nodes", ""),
        Takes::Capture => ("capture", ""),
    };
    json!({
        "name": key.name,
        "field": key.field,
        "takes": takes,
        "unit": kind,
        "words": [],
        "low": key.range.0,
        "high": key.range.1,
        "default": if key.default.is_empty() { None } else { Some(key.default) },
        "help": key.help,
        "reference": key.reference,
    })
}

fn texts(pairs: &[(&str, &str)]) -> Map<String, Value> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect()
}

/// A value in the notation of flow specs: a time of zero is `off`.
fn written(value: &Declared) -> String {
    match value {
        Declared::Span(Span::ZERO) => "off".to_owned(),
        other => other.to_string(),
    }
}

fn unit(kind: Unit) -> &'static str {
    match kind {
        Unit::Span => "span",
        Unit::Rate => "rate",
        Unit::Bytes => "bytes",
        Unit::Size => "size",
        Unit::Fraction => "fraction",
        Unit::Number => "number",
        Unit::Count => "count",
        Unit::Flag => "flag",
        Unit::Choice(_) => "choice",
        _ => "list",
    }
}
