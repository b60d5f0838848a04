//! JSON Schemas of experiment files and resolved scenarios, from the declarations of options and flows.
//!
//! They are not derived from the simulator's types: bounds, words and help are in the declarations, and a type would have to
//! repeat them. What all transports of a form have in common is defined once, and referred to.

mod experiment;
mod flows;
mod scenario;

pub use experiment::experiment;
pub use scenario::scenario;

use crate::flows::{Tree, WITHOUT_BOUND};
use serde_json::{Value as Json, json};

const DRAFT: &str = "https://json-schema.org/draft/2020-12/schema";

/// An object with these properties, all of them required, and no others.
fn object(properties: Tree) -> Tree {
    let Tree::Table(entries) = &properties else { return properties };
    let required = entries.iter().map(|(name, _)| Json::from(name.as_str())).collect();
    object_of(properties, required)
}

/// The same, some of them required.
fn object_of(properties: Tree, required: Vec<Json>) -> Tree {
    Tree::table([
        ("type", "object".into()),
        ("properties", properties),
        ("required", Tree::Leaf(required.into())),
        ("additionalProperties", false.into()),
    ])
}

/// A schema of plain data: `{"type": NAME}` with further entries.
fn of_type(name: impl Into<Json>, entries: impl IntoIterator<Item = (&'static str, Tree)>) -> Tree {
    Tree::one("type", Tree::Leaf(name.into())).and(Tree::table(entries))
}

/// An array of such values.
fn array(items: Tree, entries: impl IntoIterator<Item = (&'static str, Tree)>) -> Tree {
    of_type("array", [("items", items)]).and(Tree::table(entries))
}

fn any_of(schemas: impl IntoIterator<Item = Tree>) -> Tree {
    Tree::one("anyOf", Tree::List(schemas.into_iter().collect()))
}

fn one_of(schemas: impl IntoIterator<Item = Tree>) -> Tree {
    Tree::one("oneOf", Tree::List(schemas.into_iter().collect()))
}

/// One of these values.
fn words(words: impl IntoIterator<Item = impl Into<Json>>) -> Tree {
    Tree::one("enum", Tree::List(words.into_iter().map(|word| Tree::Leaf(word.into())).collect()))
}

fn or_null(schema: Tree) -> Tree {
    any_of([of_type("null", []), schema])
}

fn text() -> Tree {
    of_type("string", [("minLength", 1.into())])
}

fn count() -> Tree {
    of_type("integer", [("minimum", 0.into())])
}

fn positive() -> Tree {
    of_type("integer", [("minimum", 1.into())])
}

fn boolean() -> Tree {
    of_type("boolean", [])
}

fn described(help: &str) -> Tree {
    Tree::one("description", help)
}

/// The bounds of a number; one that only guards against overflow is left out.
fn bounds((low, high): (f64, f64), is_whole: bool) -> Tree {
    let number =
        |bound: f64| if is_whole { Tree::Leaf(json!(bound as i64)) } else { Tree::Leaf(json!(bound)) };
    let largest = (high < WITHOUT_BOUND).then(|| ("maximum", number(high)));
    Tree::table(std::iter::once(("minimum", number(low))).chain(largest))
}
