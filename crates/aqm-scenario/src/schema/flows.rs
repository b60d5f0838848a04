//! The schema of a group of flows.

use super::{
    any_of, array, boolean, bounds, count, described, object, object_of, of_type, one_of, positive, text,
    words,
};
use crate::flows::{Catalogue, Key, Kind, Transport, Tree};
use aqm_core::params::{Kind as Unit, Value};
use aqm_sim::traffic::{COMMON, Takes};
use aqm_sim::transport::GROUPS;
use aqm_sim::transport::socket::SOCKET;
use serde_json::{Value as Json, json};

/// Forms of transports that react, each of which has a definition for what all of it have.
const FORMS: [&str; 3] = ["tcp", "rate", "stack"];

/// A group of flows.
pub(super) fn group(known: &Catalogue) -> Tree {
    let common: Vec<Key> = COMMON.iter().map(Key::from).collect();
    let (ends, keys): (Vec<&Key>, Vec<&Key>) =
        common.iter().partition(|key| matches!(key.takes, Takes::Nodes));
    let nodes = || array(text(), []);
    let properties = Tree::one("count", positive())
        .and(values(keys))
        .and(Tree::table(ends.into_iter().map(|key| (key.field.as_str(), nodes()))))
        .and(Tree::table([("transport", transport(known)), ("source", source(known))]))
        .and(sockets(known));
    let required = ["name", "count", "start_ns", "transport", "source"].map(Json::from).to_vec();
    object_of(properties, required)
}

/// What all transports of a form have, by form; the rules of a group are a table.
pub(super) fn common(known: &Catalogue) -> Tree {
    let mut forms = Tree::table([]);
    for form in FORMS {
        let of_form = of_form(known, form);
        if of_form.is_empty() {
            continue;
        }
        let mut properties = Tree::table([]);
        for key in shared(&of_form) {
            properties = match key.field.split_once('.') {
                None => properties.and(Tree::one(&key.field, value(&key))),
                Some((group, rule)) => with_rule(properties, group, Tree::one(rule, value(&key))),
            };
        }
        forms = forms.and(Tree::one(form, Tree::one("properties", properties)));
    }
    forms
}

/// Adds a rule to its group.
fn with_rule(mut properties: Tree, group: &str, rule: Tree) -> Tree {
    if let Tree::Table(entries) = &mut properties {
        for (name, schema) in entries {
            if name == group
                && let Tree::Table(parts) = schema
                && let Some((_, rules)) = parts.iter_mut().find(|(part, _)| part == "properties")
            {
                *rules = std::mem::replace(rules, Tree::table([])).and(rule);
                return properties;
            }
        }
    }
    let summary = GROUPS.iter().find(|one| one.name == group).map_or("", |one| one.summary);
    properties.and(Tree::one(group, described(summary).and(object_of(rule, Vec::new()))))
}

fn transport(known: &Catalogue) -> Tree {
    let udp = values(&Transport::Udp.keys());
    let udp = object(Tree::one("udp", object_of(udp, vec!["packet_bytes".into()])));
    let reacting = FORMS.iter().filter_map(|form| {
        let of_form = of_form(known, form);
        let common = shared(&of_form);
        let ones: Vec<Tree> = of_form.iter().map(|one| controlled(one, &common)).collect();
        (!ones.is_empty()).then(|| object(Tree::one(form, one_of(ones))))
    });
    one_of(std::iter::once(udp).chain(reacting))
}

/// A transport: what all of its form have, its name, and its own keys.
fn controlled(one: &Transport, common: &[Key]) -> Tree {
    let (form, control) = one.form();
    let name = Tree::one("const", one.name()).and(described(one.summary()));
    let keys = one.keys();
    let own = values(keys.iter().filter(|key| !common.contains(key)));
    Tree::table([
        ("type", "object".into()),
        ("properties", Tree::one(control, name).and(own)),
        ("required", Tree::List(vec![control.into()])),
        ("$ref", format!("#/$defs/{form}").into()),
        ("unevaluatedProperties", false.into()),
    ])
}

/// Sockets of flows over TCP, if the host knows any.
fn sockets(known: &Catalogue) -> Tree {
    let own = known.sockets().iter().map(|info| {
        let name = Tree::one(SOCKET, Tree::one("const", info.name));
        let keys: Vec<Key> = info.keys.iter().map(Key::from).collect();
        let rules = keys.iter().filter_map(|key| Some((key.field.split_once('.')?.1, value(key))));
        described(info.summary).and(object_of(name.and(Tree::table(rules)), vec![SOCKET.into()]))
    });
    let own: Vec<Tree> = own.collect();
    if own.is_empty() { Tree::table([]) } else { Tree::one(SOCKET, one_of(own)) }
}

fn of_form(known: &Catalogue, form: &str) -> Vec<Transport> {
    known.transports().into_iter().filter(|one| one.form().0 == form).collect()
}

/// The keys that all of these have, with the same declaration.
fn shared(transports: &[Transport]) -> Vec<Key> {
    let mut keys = transports.iter().map(Transport::keys);
    let mut found = keys.next().unwrap_or_default();
    for others in keys {
        found.retain(|key| others.contains(key));
    }
    found
}

fn source(known: &Catalogue) -> Tree {
    let kinds = known.kinds();
    let mut forms: Vec<&str> = Vec::new();
    for kind in &kinds {
        if !forms.contains(&kind.source().0) {
            forms.push(kind.source().0);
        }
    }
    one_of(forms.into_iter().map(|form| {
        let of_form: Vec<&Kind> = kinds.iter().filter(|kind| kind.source().0 == form).collect();
        source_of(form, &of_form)
    }))
}

/// A source that several kinds of flow share: their keys and constants.
fn source_of(form: &str, kinds: &[&Kind]) -> Tree {
    let mut keys: Vec<Key> = Vec::new();
    let mut constants: Vec<(&str, Vec<Value>)> = Vec::new();
    for kind in kinds {
        for key in kind.own_keys() {
            match keys.iter_mut().find(|known| known.field == key.field) {
                Some(known) => *known = key,
                None => keys.push(key),
            }
        }
        let mut own = kind.source().1.to_vec();
        own.sort_unstable_by_key(|(name, _)| *name);
        for (name, value) in own {
            match constants.iter_mut().find(|(known, _)| *known == name) {
                Some((_, values)) => values.push(value),
                None => constants.push((name, vec![value])),
            }
        }
    }
    let constants = constants.into_iter().map(|(name, values)| match values[0] {
        Value::Flag(_) => (name, boolean()),
        _ => (name, words(values.iter().map(ToString::to_string))),
    });
    match values(&keys).and(Tree::table(constants)) {
        Tree::Table(fields) if fields.is_empty() => Tree::one("const", form),
        fields => object(Tree::one(form, object_of(fields, Vec::new()))),
    }
}

fn values<'a>(keys: impl IntoIterator<Item = &'a Key>) -> Tree {
    Tree::table(keys.into_iter().map(|key| (key.field.as_str(), value(key))))
}

/// The value of a key.
fn value(key: &Key) -> Tree {
    let schema = match key.takes {
        Takes::Drawn(_) => any_of([Tree::one("$ref", "#/$defs/distribution"), of_type("null", [])]),
        Takes::Ascending(_) => of_type("array", [("items", positive()), ("minItems", 1.into())]),
        Takes::Range => {
            let two = [("items", count()), ("minItems", 2.into()), ("maxItems", 2.into())];
            of_type("array", two)
        }
        Takes::Name | Takes::Nodes | Takes::Capture => text(),
        Takes::One(Unit::Choice(_)) => words(key.words.iter().copied()),
        Takes::One(Unit::Flag) => boolean(),
        Takes::One(unit) => {
            let is_whole = !matches!(unit, Unit::Fraction);
            let name = if is_whole { "integer" } else { "number" };
            let or_none = key.default.is_none().then_some("null");
            let kinds: Vec<&str> = std::iter::once(name).chain(or_none).collect();
            of_type(json!(kinds), [])
                .and(bounds(key.range, is_whole))
                .and(Tree::one("$comment", key.allowed()))
        }
    };
    described(key.help).and(schema)
}

/// A distribution that values are drawn from.
pub(super) fn distribution() -> Tree {
    let real = || of_type("number", [("exclusiveMinimum", 0.into())]);
    let number = || of_type("number", []);
    let point = array(number(), [("minItems", 2.into()), ("maxItems", 2.into())]);
    let forms = [
        ("constant", Tree::one("value", count())),
        ("uniform", Tree::table([("low", count()), ("high", count())])),
        ("exponential", Tree::one("mean", count())),
        ("pareto", Tree::table([("scale", count()), ("shape", real())])),
        ("weibull", Tree::table([("scale", count()), ("shape", real())])),
        ("lognormal", Tree::table([("median", count()), ("sigma", real())])),
        ("empirical", Tree::table([("name", text()), ("points", array(point, [("minItems", 1.into())]))])),
    ];
    one_of(forms.into_iter().map(|(name, fields)| object(Tree::one(name, object(fields)))))
}
