//! The schema of a resolved scenario (JSON): base units, every default filled in.

use super::{
    DRAFT, any_of, array, boolean, bounds, count, described, flows, object, object_of, of_type, one_of,
    or_null, positive, text, words,
};
use crate::flows::{Catalogue, Tree};
use aqm_sim::scenario::Scenario;
use aqm_sim::scenario::options::{Form, OPTIONS, OptionSpec};
use serde_json::{Value as Json, json};

/// Fields that every scenario has and no option of its own.
const ALWAYS: [&str; 4] = ["aqm", "capacity", "warmup_ns", "sample_ns"];

/// The schema of a resolved scenario, for a host that knows these kinds of flow.
///
/// ```
/// use aqm_scenario::{flows::Catalogue, schema};
/// let schema = schema::scenario(&Catalogue::default()).json();
/// assert_eq!(schema["properties"]["rtt_ns"]["minimum"], 1);
/// assert_eq!(schema["$defs"]["tcp"]["properties"]["recovery"]["properties"]["frto"]["type"], "boolean");
/// ```
pub fn scenario(known: &Catalogue) -> Tree {
    let properties = Tree::table(Scenario::FIELDS.iter().map(|field| (*field, property(field))));
    let needs = |field: &&&str| {
        let without_default = |option: &OptionSpec| option.field == **field && option.default.is_empty();
        ALWAYS.contains(*field) || OPTIONS.iter().any(without_default)
    };
    let required = Scenario::FIELDS.iter().filter(needs).map(|field| Json::from(*field)).collect();
    let definitions = Tree::table([("flows", flows::group(known)), ("distribution", flows::distribution())]);
    Tree::table([("$schema", DRAFT.into()), ("title", "A resolved scenario of aqmlab".into())])
        .and(object_of(properties, required))
        .and(Tree::one("$defs", definitions.and(flows::common(known))))
}

/// The schema of a field.
fn property(field: &str) -> Tree {
    let texts = || array(text(), [("uniqueItems", true.into())]);
    match field {
        "aqm" => text(),
        "capacity" => one_of([object(Tree::one("rate_bps", positive())), object(Tree::one("trace", text()))]),
        "warmup_ns" => count(),
        "sample_ns" => positive(),
        "mser5" => boolean(),
        "record" => {
            let taps = words(["senders", "receivers", "home", "queue"]);
            taps.and(described("where every packet is recorded"))
        }
        "trace" => boolean().and(described("whether every flow is traced at its sender")),
        "log" => boolean().and(described("whether all senders and queues are logged")),
        "measure" => texts().and(described("names of the measured ports")),
        "topology" => any_of([topology(), of_type("null", [])])
            .and(described("nodes and links in place of the dumbbell")),
        "flows" => array(Tree::one("$ref", "#/$defs/flows"), []),
        "captures" => array(text(), []),
        _ => {
            let option = OPTIONS.iter().find(|option| option.field == field);
            option.map_or_else(|| Tree::table([]), setting)
        }
    }
}

/// The schema of the field of an option, as declared.
fn setting(option: &OptionSpec) -> Tree {
    let (low, high) = option.range;
    match option.form {
        Form::Switch(_) => boolean(),
        Form::Choice(_) => {
            let others = option.words().into_iter().filter(|word| *word != option.default);
            words(others.map(Json::from).chain([Json::Null]))
        }
        Form::Share => of_type("number", [("minimum", low.into()), ("exclusiveMaximum", high.into())]),
        Form::Loss => {
            let random = of_type("number", [("minimum", low.into()), ("maximum", high.into())]);
            any_of(std::iter::once(random).chain(chains()))
        }
        Form::Link => of_type(json!(["string", "null"]), [("minLength", 1.into())]),
        Form::Reorder => {
            let gap = of_type("integer", [("minimum", 1.into())]);
            or_null(object(Tree::table([("share", probability()), ("gap", gap)])))
        }
        Form::Slots => {
            let most = || of_type(json!(["integer", "null"]), [("minimum", 1.into())]);
            let times = [("min_ns", count()), ("max_ns", positive())];
            let limits = [("packets", most()), ("bytes", most())];
            let required = times.iter().map(|(name, _)| Json::from(*name)).collect();
            or_null(object_of(Tree::table(times.into_iter().chain(limits)), required))
        }
        Form::Names => array(text(), [("uniqueItems", true.into())]),
        _ => {
            let kind = if option.is_null_by_default { json!(["integer", "null"]) } else { json!("integer") };
            of_type(kind, []).and(bounds((low, high), true))
        }
    }
}

/// Netem's models of loss that have states, by their probabilities.
fn chains() -> [Tree; 2] {
    let chain = |name, keys: &[&str]| {
        let states = object(Tree::table(keys.iter().map(|key| (*key, probability()))));
        object(Tree::one(name, states))
    };
    [chain("gemodel", &["p", "r", "bad", "good"]), chain("state", &["p13", "p31", "p32", "p23", "p14"])]
}

fn probability() -> Tree {
    of_type("number", [("minimum", 0.into()), ("maximum", 1.into())])
}

fn topology() -> Tree {
    let rate = of_type(json!(["integer", "null"]), [("minimum", 1.into())])
        .and(described("bit/s; null means the scenario's capacity"));
    let queue = one_of([words(["plain", "under_test"]), object(Tree::one("discipline", text()))]);
    let ends = || Tree::table([("from", text()), ("to", text()), ("delay_ns", count())]);
    let wire = OPTIONS.iter().filter(|option| option.is_wire);
    let wire = object_of(Tree::table(wire.map(|option| (option.field, setting(option)))), Vec::new());
    let rest = Tree::table([
        ("rate_bps", rate),
        ("queue", queue),
        ("name", text()),
        ("medium", text()),
        ("kind", text()),
        ("wire", wire),
    ]);
    let required = ["from", "to", "delay_ns"].map(Json::from).to_vec();
    let link = object_of(ends().and(rest), required);
    let switch = of_type("object", []);
    let switches = of_type("object", [("additionalProperties", switch)]);
    let links = Tree::table([("links", array(link, [("minItems", 1.into())])), ("measured", count())]);
    object_of(links.and(Tree::one("switches", switches)), ["links", "measured"].map(Json::from).to_vec())
}
