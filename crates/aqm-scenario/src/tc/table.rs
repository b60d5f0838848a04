//! The table of [`kinds`](super::kinds) and the list of [`refused`](super::refused) qdiscs as sentences, for the reference page.

use super::given::LAYER;
use super::kinds::{KINDS, Word};
use super::refused::NEAREST;

/// One qdisc of tc, for a reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name in tc.
    pub name: &'static str,
    /// The discipline that it is here; empty if it is none.
    pub discipline: &'static str,
    /// Each word and what it does, or what comes closest to the qdisc.
    pub words: Vec<(&'static str, String)>,
}

/// Every qdisc of tc that is read or refused by name.
///
/// ```
/// let table = aqm_scenario::tc::table();
/// let pie = table.iter().find(|entry| entry.name == "pie").unwrap();
/// assert!(pie.words.iter().any(|(word, does)| *word == "alpha" && does == "`alpha`, in sixteenths per second"));
/// ```
pub fn table() -> Vec<Entry> {
    let read = KINDS.iter().map(|kind| Entry {
        name: kind.name,
        discipline: kind.spec,
        words: kind.words.iter().map(|(word, does)| (*word, about(word, *does))).collect(),
    });
    let refused = NEAREST.iter().map(|(name, instead)| Entry {
        name,
        discipline: "",
        words: vec![("", (*instead).to_owned())],
    });
    read.chain(refused).collect()
}

fn about(word: &str, does: Word) -> String {
    match does {
        Word::Value(LAYER, quantity) => format!("`{word}`, in {}", quantity.about()),
        Word::Value(param, quantity) => format!("`{param}`, in {}", quantity.about()),
        Word::List(param, most) => format!("`{param}`, up to {most} whole numbers"),
        Word::Masked(param, mask) => format!("`{param}` and, behind a slash, `{mask}`"),
        Word::Flag(param, value) => format!("`{param} {value}`"),
        Word::Keyword(LAYER) => "link layer: overhead, mpu and cells add up".to_owned(),
        Word::Keyword(param) => format!("`{param} {word}`"),
        Word::Idle(_, why) => format!("no effect: {why}"),
        Word::Refused(nearest) => format!("refused: {nearest}"),
    }
}
