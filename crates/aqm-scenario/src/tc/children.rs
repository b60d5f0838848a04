//! The parameters of a classful qdisc that its classes have: one value for each.

use super::listing::{Class, Place, Qdisc, minor};
use super::units;
use aqm_core::input_error::InputError;

/// A word of a class, its parameter here, and how a value is read.
type PerClass = (&'static str, fn(&str) -> Result<String, InputError>);

/// Classful qdiscs, with the words of their classes. Their filters become the flows' class.
const CLASSFUL: [(&str, &[PerClass]); 4] = [
    ("drr", &[("quantum", units::size)]),
    ("qfq", &[("weight", plain), ("maxpkt", units::size)]),
    ("prio", &[]),
    // The quanta of its classes are in its own line.
    ("ets", &[]),
];

fn plain(text: &str) -> Result<String, InputError> {
    units::count(text).map(|count| count.to_string())
}

/// Whether a qdisc has a discipline in each class.
pub(super) fn has_children(kind: &str) -> bool {
    CLASSFUL.iter().any(|(name, _)| *name == kind)
}

/// The minor numbers of the classes, in order: those of its classes and of the qdiscs below it, or of the bands that `prio` and `ets` have.
pub(super) fn places(below: &[&Qdisc], leaves: &[&Class], bands: Option<u64>) -> Vec<u32> {
    if let Some(bands) = bands {
        return (1..=bands as u32).collect();
    }
    let mut places: Vec<u32> = leaves.iter().map(|class| minor(&class.handle)).collect();
    places.extend(below.iter().filter_map(|child| match &child.place {
        Place::Under(parent) => Some(minor(parent)),
        _ => None,
    }));
    places.sort_unstable();
    places.dedup();
    places
}

/// The parameters that the classes have, in the laboratory's notation: empty, or with a blank before each.
pub(super) fn parameters(qdisc: &Qdisc, places: &[u32], leaves: &[&Class]) -> Result<String, InputError> {
    let words = CLASSFUL.iter().find(|(name, _)| *name == qdisc.kind).map_or(&[][..], |(_, words)| words);
    let mut text = String::new();
    for (word, read) in words {
        let mut values = Vec::new();
        for place in places {
            let class = leaves.iter().find(|class| minor(&class.handle) == *place);
            let value = class.and_then(|class| {
                let at = class.words.iter().position(|text| text == word)?;
                class.words.get(at + 1)
            });
            values.extend(value.map(|value| read(value)));
        }
        if values.is_empty() {
            continue;
        }
        if values.len() < places.len() {
            return Err(InputError::new(format!("some classes have {word}, some have not: give it to all")));
        }
        let values: Result<Vec<String>, InputError> = values.into_iter().collect();
        text += &format!(
            " {word} {}",
            values.map_err(|problem| InputError::new(format!("{word}: {problem}")))?.join(",")
        );
    }
    Ok(text)
}
