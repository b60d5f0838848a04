//! The JSON of `tc -j qdisc show` and `tc -j class show`, as a [`Listing`]: each key becomes tc's word for it. Numbers are in
//! the units that a bare number of a command has, but for rates, which are bytes per second.

use super::listing::{Class, Form, Listing, Place, Qdisc, Verb};
use aqm_core::input_error::InputError;
use serde_json::{Map, Value};

/// Keys whose value alone is tc's word.
const WORDS: [&str; 4] = ["diffserv", "flowmode", "atm", "autorate"];
/// Keys whose numbers are bytes per second.
const RATES: [&str; 5] = ["bandwidth", "rate", "ceil", "maxrate", "low_rate_threshold"];
/// Keys of JSON where tc's word has another name.
const NAMES: [(&str, &str); 8] = [
    ("memory-limit", "memlimit"),
    ("coupling", "coupling_factor"),
    ("c-protection", "classic_protection"),
    ("step-thresh-pkts", "step_thresh"),
    ("step-thresh-us", "step_thresh"),
    ("min-qlen-step", "min_qlen_step"),
    ("split-gso", "split_gso"),
    ("no-split-gso", "no_split_gso"),
];
/// Keys whose text means a word of another kind.
const MEANINGS: [(&str, &str, &str); 9] = [
    ("ack-filter", "enabled", "ack-filter"),
    ("ack-filter", "disabled", "no-ack-filter"),
    ("ack-filter", "aggressive", "ack-filter-aggressive"),
    ("drop-overload", "drop", "drop_on_overload"),
    ("drop-overload", "overflow", "overflow"),
    ("drop-early", "drop-enqueue", "drop_enqueue"),
    ("drop-early", "drop-dequeue", "drop_dequeue"),
    ("ecn-mask", "l4s-ect", "l4s_ect"),
    ("ecn-mask", "any-ect", "any_ect"),
];
/// Keys that hold the mask of another key's octet: tc's word has both.
const MASKS: [(&str, &str); 1] = [("ce_threshold_selector", "ce_threshold_mask")];
/// Switches that tc prints either way.
const SWITCHES: [(&str, &str, &str); 4] = [
    ("nat", "nat", "nonat"),
    ("wash", "wash", "nowash"),
    ("split_gso", "split-gso", "no-split-gso"),
    ("pacing", "pacing", "nopacing"),
];

/// Reads the array, or one of its objects.
pub(super) fn read(text: &str) -> Result<Listing, InputError> {
    let parsed: Value = serde_json::from_str(text)
        .map_err(|error| InputError::new(format!("tc: not the JSON of tc -j: {error}")))?;
    let objects = match parsed {
        Value::Array(objects) => objects,
        one => vec![one],
    };
    let mut listing = Listing::default();
    for object in objects {
        let Value::Object(object) = object else {
            return Err(InputError::new("tc: not the JSON of tc -j: an element of the list is no object"));
        };
        listing.check_size()?;
        // tc ends its list with an empty object.
        if object.is_empty() {
            continue;
        }
        if object.contains_key("class") {
            listing.classes.push(class(&object)?);
        } else {
            let qdisc = qdisc(&object)?;
            listing.put(Verb::Add, qdisc);
        }
    }
    Ok(listing)
}

fn text<'a>(object: &'a Map<String, Value>, key: &str) -> &'a str {
    object.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn qdisc(object: &Map<String, Value>) -> Result<Qdisc, InputError> {
    let kind = text(object, "kind");
    if kind.is_empty() {
        return Err(InputError::new("tc: not the JSON of tc -j qdisc: an element has no 'kind'"));
    }
    let place = match text(object, "parent") {
        _ if matches!(kind, "ingress" | "clsact") => Place::Ingress,
        "" => Place::Root,
        parent => Place::Under(parent.to_owned()),
    };
    let empty = Map::new();
    let options = object.get("options").and_then(Value::as_object).unwrap_or(&empty);
    Ok(Qdisc {
        kind: kind.to_owned(),
        handle: text(object, "handle").to_owned(),
        device: text(object, "dev").to_owned(),
        place,
        words: words(options)?,
        stab: Vec::new(),
        form: Form::Json,
    })
}

fn class(object: &Map<String, Value>) -> Result<Class, InputError> {
    let mut options = object.clone();
    let known = ["class", "handle", "dev", "root", "parent", "leaf", "stats", "prio"];
    options.retain(|key, _| !known.contains(&&**key));
    Ok(Class {
        kind: text(object, "class").to_owned(),
        handle: text(object, "handle").to_owned(),
        device: text(object, "dev").to_owned(),
        parent: text(object, "parent").to_owned(),
        words: words(&options)?,
    })
}

/// The words of a qdisc's options.
fn words(options: &Map<String, Value>) -> Result<Vec<String>, InputError> {
    let mut found = Vec::new();
    for (key, value) in options {
        if MASKS.iter().any(|(_, mask)| mask == key) {
            continue;
        }
        let name = NAMES.iter().find(|(json, _)| json == key).map_or(&**key, |(_, word)| word);
        let text =
            match value {
                Value::Bool(on) => {
                    let switch = SWITCHES.iter().find(|(json, _, _)| json == key);
                    match (switch, on) {
                        (Some((_, word, _)), true) | (Some((_, _, word)), false) => {
                            found.push((*word).to_owned());
                        }
                        (None, true) => found.push(name.to_owned()),
                        (None, false) => {}
                    }
                    continue;
                }
                Value::Null => {
                    found.push(name.to_owned());
                    continue;
                }
                Value::Array(parts) => {
                    found.push(name.to_owned());
                    for part in parts {
                        found.push(scalar(part).ok_or_else(|| {
                            InputError::new(format!("tc: '{key}' has a list of no numbers"))
                        })?);
                    }
                    continue;
                }
                value => scalar(value)
                    .ok_or_else(|| InputError::new(format!("tc: '{key}' has an object for its value")))?,
            };
        if let Some((_, _, word)) = MEANINGS.iter().find(|(json, value, _)| json == key && *value == text) {
            found.push((*word).to_owned());
        } else if WORDS.contains(&&**key) || text == "unlimited" {
            found.push(text);
        } else {
            let is_rate = value.is_number() && RATES.contains(&&**key);
            let unit = if is_rate {
                "bps"
            } else if key == "step-thresh-pkts" {
                "p"
            } else {
                ""
            };
            let mask = MASKS.iter().find(|(octet, _)| octet == key).and_then(|(_, mask)| options.get(*mask));
            let mask = mask.and_then(scalar).map_or(String::new(), |mask| format!("/{mask}"));
            found.extend([name.to_owned(), format!("{text}{unit}{mask}")]);
        }
    }
    Ok(found)
}

/// A number or text as one word.
fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::Number(number) => Some(number.to_string()),
        Value::String(text) => Some(text.split_whitespace().collect::<Vec<_>>().join("_")),
        _ => None,
    }
}
