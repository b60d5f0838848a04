//! Flow specs, resolved, and the declarations of kinds of flow, transports and keys, as JSON.

use crate::error::{InputError as Raised, input, wrong};
use crate::stacks::stacks;
use aqm_core::input_error::InputError;
use aqm_core::params::{Kind as Unit, Preset};
use aqm_scenario::flows::{
    Catalogue, Files, Group, Key, Kind, Profiles, RENAMED, Transport, Tree, parse_all, written,
};
use aqm_sim::rate_control::{self};
use aqm_sim::traffic::{BULK, COMMON, SourceKind, Takes};
use aqm_sim::transport::{GROUPS, PROFILES, Relation, socket};
use pyo3::call::PyCallArgs;
use pyo3::prelude::*;
use serde_json::{Map, Value, json};
use std::cell::RefCell;

/// The kinds of flow that there are in this process.
pub(crate) fn catalogue() -> Catalogue {
    Catalogue::new(
        aqm_papers::EXTENSION.rate_controls.iter().copied(),
        stacks().iter().map(|stack| stack.info()),
    )
    .with_sockets(aqm_papers::EXTENSION.sockets)
}

/// Resolves flow specs that stand together; `files` places and reads the files that they name. Returns JSON.
#[pyfunction]
pub(crate) fn parse_flows(texts: Vec<String>, files: Bound<'_, PyAny>) -> PyResult<String> {
    let read = |files: &dyn Files| parse_all(texts.iter().map(String::as_str), &catalogue(), files);
    Ok(reading(files, read)?.iter().map(described).collect::<Value>().to_string())
}

/// What is read with files of Python's. What Python raises itself is raised again.
pub(crate) fn reading<T>(
    files: Bound<'_, PyAny>,
    read: impl FnOnce(&dyn Files) -> Result<T, InputError>,
) -> PyResult<T> {
    let files = Readers { files, raised: RefCell::default() };
    let found = read(&files);
    match (found, files.raised.into_inner()) {
        (Ok(found), None) => Ok(found),
        (Err(error), Some(raised)) if raised.is_instance_of::<Raised>(files.files.py()) => Err(wrong(error)),
        (_, Some(raised)) => Err(raised),
        (Err(error), None) => Err(wrong(error)),
    }
}

/// A group of flows, resolved.
pub(crate) fn described(group: &Group) -> Value {
    let value = |name: &str| group.value(name).map_or(Value::Null, Tree::json);
    let (earliest, latest, apart) = group.starts();
    // As text, since a table of `json!` has an order of its own.
    let tree = |tree: Tree| serde_json::to_string(&tree).expect("plain data");
    json!({
        "count": group.count,
        "kind": group.kind(),
        "carrier": group.transport().name(),
        "texts": group.texts().collect::<Vec<_>>(),
        "written": group.to_string(),
        "short": group.short(),
        "name": value("name"),
        "start_ns": [earliest, latest],
        "spacing_ns": apart,
        "rtt_ns": value("rtt"),
        "class": value("class"),
        "dscp": value("dscp"),
        "transport": tree(group.transport_tree()),
        "source": tree(group.source_tree()),
        "socket": group.socket_tree().map(tree),
    })
}

/// Files as Python reads them.
struct Readers<'py> {
    files: Bound<'py, PyAny>,
    /// What Python raised.
    raised: RefCell<Option<PyErr>>,
}

impl<'py> Readers<'py> {
    fn call(&self, method: &str, arguments: impl PyCallArgs<'py>) -> Result<String, InputError> {
        let found = self.files.call_method1(method, arguments).and_then(|found| found.extract());
        found.map_err(|raised| {
            let error = InputError::new(raised.value(self.files.py()).to_string());
            *self.raised.borrow_mut() = Some(raised);
            error
        })
    }
}

impl Files for Readers<'_> {
    fn place(&self, name: &str) -> String {
        self.call("place", (name,)).unwrap_or_else(|_| name.to_owned())
    }

    fn read(&self, place: &str, most: usize) -> Result<String, InputError> {
        self.call("read", (place, most))
    }

    fn fill(&self, text: &str) -> Result<String, InputError> {
        self.call("fill", (text,))
    }
}

/// The keys of a kind of flow over one transport or over any, and the default of each under a profile, as JSON.
#[pyfunction]
#[pyo3(signature = (kind, transport, profile))]
pub(crate) fn flow_keys(kind: &str, transport: Option<&str>, profile: &str) -> PyResult<String> {
    let found = catalogue().kind(kind).ok_or_else(|| input(format!("there is no kind '{kind}'")))?;
    let over = match transport {
        None => None,
        Some(name) => {
            Some(found.carrier(name).ok_or_else(|| input(format!("{kind} is not carried by {name}")))?)
        }
    };
    let carrier = over.unwrap_or(found.usual());
    let keys = found.keys(over).into_iter().map(|declared| {
        let default = found.default(&declared, carrier, &Profiles::one(profile));
        json!([key(&declared), default])
    });
    Ok(keys.collect::<Value>().to_string())
}

/// Everything that is declared about flows, as JSON.
#[pyfunction]
pub(crate) fn flows() -> String {
    let known = catalogue();
    let keys =
        |declared: &[aqm_sim::traffic::Key]| declared.iter().map(|one| key(&one.into())).collect::<Value>();
    json!({
        "common": keys(COMMON),
        "bulk": keys(BULK),
        "transports": known.transports().iter().map(|one| transport(one, known.sockets())).collect::<Value>(),
        "profiles": PROFILES.iter().map(|one| profile(one.name, one.source, one.values())).collect::<Value>(),
        "groups": GROUPS
            .iter()
            .map(|one| (one.name, one.summary, true))
            .chain(known.sockets().iter().map(|one| (one.name, one.summary, false)))
            .map(|(name, summary, of_profiles)| {
                json!({"name": name, "summary": summary, "of_profiles": of_profiles})
            })
            .collect::<Value>(),
        "renamed": RENAMED
            .iter()
            .map(|one| json!({"old": one.old, "new": one.new, "values": one.values}))
            .collect::<Value>(),
        "kinds": known.kinds().iter().filter_map(kind).collect::<Value>(),
    })
    .to_string()
}

fn transport(one: &Transport, sockets: &[&'static socket::Info]) -> Value {
    let sockets = if matches!(one, Transport::Tcp(_)) { sockets } else { &[] };
    let of_sockets = sockets.iter().flat_map(|info| info.keys).map(Key::from);
    let (reference, carries, extension) = match one {
        Transport::Udp => ("RFC 768", true, ""),
        Transport::Tcp(info) => (info.reference, info.carries, ""),
        Transport::Rate(info) => (info.reference, false, extension(info)),
        Transport::Stack(info) => (info.reference, false, ""),
    };
    let own: &[Preset] = if let Transport::Tcp(info) = one { info.profiles } else { &[] };
    let by_profile: Map<String, Value> = PROFILES
        .iter()
        .map(|profile| {
            let values: Map<String, Value> = one
                .of_profile(profile.name)
                .into_iter()
                .map(|(name, value)| (name.to_owned(), json!(value)))
                .collect();
            (profile.name.to_owned(), json!(values))
        })
        .collect();
    let only: Map<String, Value> =
        one.only().iter().map(|(key, words)| ((*key).to_owned(), json!(words))).collect();
    json!({
        "name": one.name(),
        "form": one.form().0,
        "extension": extension,
        "alias": one.alias(),
        "summary": one.summary(),
        "reference": reference,
        "carries": carries,
        "keys": one.keys().into_iter().chain(of_sockets).map(|one| key(&one)).collect::<Value>(),
        "sets": texts(one.sets()),
        "only": only,
        "must": one.must(),
        "relations": one.relations().chain(sockets.iter().flat_map(|info| info.relations)).map(relation).collect::<Value>(),
        "profiles": own.iter().map(|one| profile(one.name, one.source, one.values.iter())).collect::<Value>(),
        "by_profile": by_profile,
    })
}

/// The extension that a rate control comes from; empty for those of the simulator.
fn extension(info: &rate_control::Info) -> &'static str {
    let is_of_papers = aqm_papers::EXTENSION.rate_controls.iter().any(|one| one.name == info.name);
    if is_of_papers { aqm_papers::EXTENSION.name } else { "" }
}

fn relation(relation: &Relation) -> Value {
    json!({ "given": relation.given, "needs": relation.needs })
}

fn profile<'a>(
    name: &str,
    source: &str,
    values: impl Iterator<Item = &'a (&'static str, aqm_core::params::Value)>,
) -> Value {
    let values: Map<String, Value> =
        values.map(|(key, value)| ((*key).to_owned(), json!(written(value)))).collect();
    json!({ "name": name, "source": source, "values": values })
}

/// A kind of flow that is more than a transport with bulk data.
fn kind(kind: &Kind) -> Option<Value> {
    let source: &SourceKind = kind.declared()?;
    let constants: Map<String, Value> = source
        .constants
        .iter()
        .map(|(name, value)| {
            let value = if let aqm_core::params::Value::Flag(on) = value {
                json!(on)
            } else {
                json!(value.to_string())
            };
            ((*name).to_owned(), value)
        })
        .collect();
    Some(json!({
        "name": source.name,
        "summary": source.summary,
        "reference": source.reference,
        "transport": source.transport,
        "transports": kind.transports(),
        "keys": kind.own_keys().iter().map(key).collect::<Value>(),
        "defaults": texts(source.defaults),
        "must": source.must,
        "form": source.form,
        "constants": constants,
    }))
}

fn key(key: &Key) -> Value {
    let takes = match key.takes {
        Takes::One(_) => "one",
        Takes::Drawn(_) => "drawn",
        Takes::Ascending(_) => "ascending",
        Takes::Range => "range",
        Takes::Name => "name",
        Takes::Nodes => "nodes",
        Takes::Capture => "capture",
    };
    json!({
        "name": key.name,
        "field": key.field,
        "takes": takes,
        "unit": key.unit().map_or("", unit),
        "words": key.words,
        "low": key.range.0,
        "high": key.range.1,
        "default": key.default,
        "allowed": key.allowed(),
        "help": key.help,
        "reference": key.reference,
    })
}

fn texts(pairs: &[(&str, &str)]) -> Map<String, Value> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect()
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
