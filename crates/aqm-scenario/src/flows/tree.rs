//! JSON whose tables keep the order of their entries: the same scenario is the same bytes, whatever the program.

use serde::{Serialize, Serializer};
use serde_json::Value as Json;

/// A value, or a table in order.
#[derive(Clone, Debug, PartialEq)]
pub enum Tree {
    /// Anything without tables.
    Leaf(Json),
    /// Values in order.
    List(Vec<Tree>),
    /// A table.
    Table(Vec<(String, Tree)>),
}

impl Tree {
    /// A table with one entry.
    pub(crate) fn one(name: &str, value: impl Into<Tree>) -> Tree {
        Tree::table([(name, value.into())])
    }

    /// A table.
    pub(crate) fn table<'a>(entries: impl IntoIterator<Item = (&'a str, Tree)>) -> Tree {
        Tree::Table(entries.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }

    /// A table with the entries of another behind its own.
    pub(crate) fn and(mut self, other: Tree) -> Tree {
        if let (Tree::Table(entries), Tree::Table(others)) = (&mut self, other) {
            entries.extend(others);
        }
        self
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
            Tree::List(values) => values.serialize(serializer),
            Tree::Table(entries) => serializer.collect_map(entries.iter().map(|(name, value)| (name, value))),
        }
    }
}

impl<T: Into<Json>> From<T> for Tree {
    fn from(value: T) -> Tree {
        Tree::Leaf(value.into())
    }
}
