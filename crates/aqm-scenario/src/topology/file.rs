//! Topologies from TOML files: a list of links.

use super::layout::{Layout, SizeLimit, Surroundings, unknown_node};
use super::switches::{self, OF_BUFFER, OF_PFC, PROGRAM};
use crate::flows::Files;
use crate::link_files;
use aqm_core::input_error::InputError;
use aqm_core::units::parse;
use aqm_path::kind::KindSpec;
use aqm_path::kinds::KINDS;
use aqm_sim::scenario::options::OPTIONS;
use aqm_sim::scenario::topology::{LinkQueue, TopologyLink};
use serde_json::{Map, Value as Json};
use std::collections::BTreeSet;
use toml::{Table, Value};

/// Keys of a link beside those of its wire.
const KEYS: [&str; 10] = ["from", "to", "rate", "delay", "queue", "back", "both", "medium", "kind", "name"];
/// What a link's kind declares, and how.
const OF_KIND: [(&str, &str); 2] =
    [("access", "kind = \"backoff\""), ("until_arrival", "kind = \"turns until arrival\"")];
/// A topology of ten thousand links takes one megabyte.
const LARGEST_BYTES: usize = 16 << 20;

/// Reads a topology from a file, the `$names` in whose texts the host replaces.
///
/// # Errors
/// The file, the link, the key, its value, what is allowed and the nearest name.
pub(super) fn read(name: &str, around: &Surroundings<'_>) -> Result<Layout, InputError> {
    let (place, text) = opened(name, around.files, around.limit)?;
    let layout = parsed(&text).and_then(|table| {
        let table = filled(Value::Table(table), around.files)?;
        laid_out(name, table.as_table().unwrap_or(&Table::new()), around)
    });
    layout.map_err(|error| error.within(place))
}

/// All texts of a file with a `$name`.
///
/// # Errors
/// If it cannot be read, or is not TOML.
pub(super) fn texts(
    name: &str,
    files: &dyn Files,
    limit: Option<SizeLimit<'_>>,
) -> Result<Vec<String>, InputError> {
    let (place, text) = opened(name, files, limit)?;
    if !text.contains('$') {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    let mut left = vec![Value::Table(parsed(&text).map_err(|error| error.within(place))?)];
    while let Some(value) = left.pop() {
        match value {
            Value::Table(table) => left.extend(table.into_iter().map(|(_, value)| value)),
            Value::Array(values) => left.extend(values),
            Value::String(text) if text.contains('$') => found.push(text),
            _ => {}
        }
    }
    Ok(found)
}

/// The name and the text of a file. Too many links are refused before it is parsed, which takes ten times as long as to count
/// them.
fn opened(
    name: &str,
    files: &dyn Files,
    limit: Option<SizeLimit<'_>>,
) -> Result<(String, String), InputError> {
    let place = files.place(name);
    let text = files.read(&place, LARGEST_BYTES)?;
    if let Some(limit) = limit
        && text.match_indices(FROM).filter(|(at, _)| is_key(&text, *at)).nth(limit.links).is_some()
    {
        return Err(limit.refusal().within(place));
    }
    Ok((place, text))
}

/// The key that every link has.
const FROM: &str = "from";

/// Whether [`FROM`], which stands here, is a key.
fn is_key(text: &str, at: usize) -> bool {
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    let behind = text[at + FROM.len()..].trim_start_matches(['"', '\'']).trim_start_matches([' ', '\t']);
    behind.starts_with('=') && !text[..at].ends_with(is_word)
}

fn parsed(text: &str) -> Result<Table, InputError> {
    text.parse::<Table>().map_err(|error| {
        let before = text.get(..error.span().map_or(0, |span| span.start)).unwrap_or_default();
        let (line, column) =
            (before.matches('\n').count() + 1, before.chars().rev().take_while(|c| *c != '\n').count() + 1);
        let problem = error.message().lines().collect::<Vec<_>>().join("; ");
        InputError::new(format!("is not TOML: {problem} (at line {line}, column {column})"))
    })
}

/// The same with every text filled.
fn filled(value: Value, files: &dyn Files) -> Result<Value, InputError> {
    Ok(match value {
        Value::String(text) if text.contains('$') => Value::String(files.fill(&text)?),
        Value::Array(values) => {
            Value::Array(values.into_iter().map(|value| filled(value, files)).collect::<Result<_, _>>()?)
        }
        Value::Table(table) => {
            let pair = |(key, value)| filled(value, files).map(|value| (key, value));
            Value::Table(table.into_iter().map(pair).collect::<Result<_, _>>()?)
        }
        other => other,
    })
}

fn laid_out(name: &str, table: &Table, around: &Surroundings<'_>) -> Result<Layout, InputError> {
    known("key", table, &["link", "measured", "sources", "sinks", "switch"])?;
    let mut layout = Layout::new(name, around.limit);
    layout.sources = names(table, "sources")?;
    layout.sinks = names(table, "sinks")?;
    let mut ports = BTreeSet::new();
    let entries = table.get("link").and_then(Value::as_array).filter(|links| !links.is_empty());
    for (number, entry) in entries.ok_or_else(|| InputError::new("has no [[link]]"))?.iter().enumerate() {
        add(&mut layout, &mut ports, entry).map_err(|error| error.within(format!("link {number}")))?;
    }
    read_kinds(&mut layout, around.files)?;
    let ends: Vec<String> = layout.links.iter().map(|link| format!("{}->{}", link.from, link.to)).collect();
    let tested = || {
        let pairs = layout.links.iter().zip(&ends);
        pairs.filter(|(link, _)| link.queue == LinkQueue::UnderTest).map(|(_, name)| name.as_str())
    };
    let measured = table.get("measured").map(written).filter(|name| !name.is_empty());
    if let Some(name) = &measured
        && !tested().any(|other| other == name)
    {
        return Err(InputError::unknown("link under test", name, tested()).within("measured"));
    }
    let first = tested().next().ok_or_else(|| InputError::new("no link has queue = \"test\""))?;
    let bottleneck = measured.as_deref().unwrap_or(first);
    let place = ends.iter().position(|other| other == bottleneck);
    for (key, names) in [("sources", &layout.sources), ("sinks", &layout.sinks)] {
        exist(names, &layout).map_err(|error| error.within(key))?;
    }
    layout.measured = place.unwrap_or_default();
    if let Some(switch) = table.get("switch") {
        equip(&mut layout, switch, around).map_err(|error| error.within("switch"))?;
    }
    Ok(layout)
}

/// Puts what files have into the kinds that name some. What is wrong with a kind itself is found where it is resolved.
fn read_kinds(layout: &mut Layout, files: &dyn Files) -> Result<(), InputError> {
    let kinds: BTreeSet<String> = layout.links.iter().filter_map(|link| link.kind.clone()).collect();
    for text in kinds {
        let Ok(kind) = KindSpec::parse(&text, KINDS) else { continue };
        let named = kind.to_string();
        let full = link_files::read(kind, files).map_err(|error| error.within("kind"))?.to_string();
        if full != named {
            let alike = layout.links.iter_mut().filter(|link| link.kind.as_ref() == Some(&text));
            alike.for_each(|link| link.kind = Some(full.clone()));
        }
    }
    Ok(())
}

/// Adds a link; `ports` are the names of those before it.
fn add(layout: &mut Layout, ports: &mut BTreeSet<String>, entry: &Value) -> Result<(), InputError> {
    let entry = table(entry)?;
    if let Some((key, kind)) = OF_KIND.iter().find(|(key, _)| entry.contains_key(*key)) {
        return Err(InputError::new(format!("the link's kind declares it: write {kind}")).within(*key));
    }
    let of_wire = OPTIONS.iter().filter(|option| option.is_wire).map(|option| option.name);
    known("key", entry, &KEYS.into_iter().chain(of_wire).collect::<Vec<_>>())?;
    let text = |key: &str| {
        let found = entry.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
        found.ok_or_else(|| InputError::new(format!("{key} is missing")))
    };
    let (from, to, delay) = (text("from")?, text("to")?, text("delay")?);
    let is_both = entry.get("both").map_or(Ok(true), |value| {
        let wrong = || InputError::value(&written(value), "is neither true nor false").within("both");
        value.as_bool().ok_or_else(wrong)
    })?;
    let rate_bps = entry.get("rate").map(|rate| parse::rate(&written(rate))).transpose()?;
    let rate_bps = rate_bps.map(|rate| rate.as_bits_per_sec());
    if rate_bps == Some(0) {
        return Err(InputError::value(&written(&entry["rate"]), "is zero").within("rate"));
    }
    let delay_ns = parse::span(delay)?.as_nanos();
    let given = |key: &str| entry.get(key).map(written).filter(|text| !text.is_empty());
    let name = given("name");
    if let Some(name) = name.as_ref().filter(|name| ports.contains(*name)) {
        return Err(InputError::value(name, "is the name of another link").within("name"));
    }
    let queue = |key: &str| {
        let queue = entry.get(key).map_or(Ok(LinkQueue::Plain), |value| queue(&written(value)));
        queue.map_err(|error| error.within(key))
    };
    let there = TopologyLink {
        name,
        medium: given("medium"),
        kind: given("kind"),
        wire: serde_json::from_value(Json::Object(wire(entry)?)).expect("its own fields"),
        ..TopologyLink::new(from, to, rate_bps, delay_ns, queue("queue")?)
    };
    let back = is_both.then(|| queue("back")).transpose()?;
    let back = back.map(|queue| TopologyLink {
        from: to.to_owned(),
        to: from.to_owned(),
        queue,
        name: None,
        ..there.clone()
    });
    ports.extend([Some(&there), back.as_ref()].into_iter().flatten().map(TopologyLink::port));
    layout.add(there)?;
    back.map_or(Ok(()), |back| layout.add(back))
}

/// What a link does to packets behind its queue, as the options of a scenario have it, by the field of one. Loss is that of
/// both directions.
fn wire(entry: &Table) -> Result<Map<String, Json>, InputError> {
    let mut found = Map::new();
    for option in OPTIONS.iter().filter(|option| option.is_wire) {
        let Some(value) = entry.get(option.name) else { continue };
        let value = option.read(&written(value)).map_err(|error| error.within(option.name))?;
        found.insert(option.field.to_owned(), value);
    }
    Ok(found)
}

fn queue(text: &str) -> Result<LinkQueue, InputError> {
    Ok(match text {
        "plain" => LinkQueue::Plain,
        "test" => LinkQueue::UnderTest,
        text if crate::tc::is_tc(text) => LinkQueue::Discipline(crate::tc::translate(text)?.spec.to_string()),
        text => LinkQueue::Discipline(text.to_owned()),
    })
}

/// Applies the `[switch]` entries of a file.
fn equip(layout: &mut Layout, switch: &Value, around: &Surroundings<'_>) -> Result<(), InputError> {
    let switch = table(switch)?;
    let nodes = names(switch, "nodes")?.join("|");
    known("key", switch, &[&OF_BUFFER[..], &["pfc", PROGRAM, "nodes"]].concat())?;
    let empty = Table::new();
    let pfc = match switch.get("pfc") {
        None => &empty,
        Some(Value::Table(pfc)) => {
            known("key of pfc", pfc, &OF_PFC)?;
            if !pfc.contains_key("xoff") {
                return Err(InputError::new("xoff is missing").within("pfc"));
            }
            pfc
        }
        Some(other) => {
            let problem = "is not a table such as { xoff = \"96kb\" }";
            return Err(InputError::value(&written(other), problem).within("pfc"));
        }
    };
    let own = switch.iter().filter(|(key, _)| !["pfc", "nodes"].contains(&key.as_str()));
    let values: Vec<(&str, String)> = own
        .chain(pfc)
        .map(|(key, value)| one_value(key, value).map(|text| (key.as_str(), text)))
        .collect::<Result<_, _>>()?;
    layout.equip(switches::options(&values, around.programs)?, &nodes)
}

/// A value of a switch as text; priorities may be a list.
fn one_value(key: &str, value: &Value) -> Result<String, InputError> {
    let entries = match value {
        Value::Array(entries) if key == "priorities" => entries.as_slice(),
        _ => std::slice::from_ref(value),
    };
    if entries.iter().any(|entry| !matches!(entry, Value::String(_) | Value::Integer(_) | Value::Float(_))) {
        return Err(InputError::value(&written(value), "is not one value").within(key));
    }
    Ok(entries.iter().map(written).collect::<Vec<_>>().join("|"))
}

/// Every name must be that of a node which a link has.
fn exist(names: &[String], layout: &Layout) -> Result<(), InputError> {
    let nodes = layout.nodes();
    let known: BTreeSet<&str> = nodes.iter().copied().collect();
    let missing = names.iter().find(|name| !known.contains(name.as_str()));
    missing.map_or(Ok(()), |name| Err(unknown_node(name, &nodes)))
}

fn table(value: &Value) -> Result<&Table, InputError> {
    value.as_table().ok_or_else(|| InputError::new("is not a table"))
}

fn known(what: &str, table: &Table, keys: &[&str]) -> Result<(), InputError> {
    let unknown = table.keys().find(|key| !keys.contains(&key.as_str()));
    unknown.map_or(Ok(()), |key| Err(InputError::unknown(what, key, keys.iter().copied())))
}

fn names(table: &Table, key: &str) -> Result<Vec<String>, InputError> {
    let Some(value) = table.get(key) else { return Ok(Vec::new()) };
    let names = value.as_array().and_then(|names| {
        names.iter().map(|name| name.as_str().map(str::to_owned)).collect::<Option<Vec<String>>>()
    });
    names.ok_or_else(|| InputError::new("must be a list of names").within(key))
}

/// A value as it is written, a text without its quotes.
fn written(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Integer(number) => number.to_string(),
        Value::Float(number) => format!("{number:?}"),
        Value::Boolean(is_on) => is_on.to_string(),
        Value::Datetime(time) => time.to_string(),
        Value::Array(_) | Value::Table(_) => serde_json::to_string(value).unwrap_or_default(),
    }
}
