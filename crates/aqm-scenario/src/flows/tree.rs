//! JSON whose tables keep the order of their entries: the same scenario is the same bytes, whatever the program.

use serde::{Serialize, Serializer};
use serde_json::Value as Json;

/// A value, or a table in order.
#[derive(Clone, Debug, PartialEq)]
pub enum Tree {
    /// Anything without tables.
    Leaf(Json),
    /// A table.
    Table(Vec<(String, Tree)>),
}

impl Tree {
    /// A table with one entry.
    pub(super) fn one(name: &str, value: Tree) -> Tree {
        Tree::Table(vec![(name.to_owned(), value)])
    }

    /// The value as plain JSON, whose tables have an order of their own.
    pub fn json(&self) -> Json {
        serde_json::to_value(self).expect("plain data")
    }
}

impl Serialize for Tree {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Tree::Leaf(json) => json.serialize(serializer),
            Tree::Table(entries) => serializer.collect_map(entries.iter().map(|(name, value)| (name, value))),
        }
    }
}

impl<T: Into<Json>> From<T> for Tree {
    fn from(value: T) -> Tree {
        Tree::Leaf(value.into())
    }
}
