//! Single parameters of contention in the notation of the link: `ap vi aifsn 2 cw 7..15 txop 3ms, stations be cw 31..1023`.

use super::super::category::Category;
use super::super::edca::Access;
use aqm_core::input_error::InputError;
use aqm_core::params::Notation;
use aqm_core::units::{Span, parse};
use std::fmt::Write;

/// The notation.
pub(super) static NOTATION: Notation = Notation {
    unit: "EDCA parameters",
    form: "ap|stations bk|be|vi|vo [aifsn COUNT] [cw LEAST..MOST] [txop TIME], ...",
    examples: &["ap be cw 7..63", "stations vo aifsn 2 cw 3..7 txop 1504us, ap bk aifsn 7 txop 0s"],
    refused: &[
        "",
        "ap",
        "phone be cw 7..63",
        "ap ef cw 7..63",
        "ap be",
        "ap be cw",
        "ap be cw 7",
        "ap be cw 63..7",
        "ap be cw 6..63",
        "ap be cw 7..65535",
        "ap be aifsn 0",
        "ap be aifsn 16",
        "ap be aifsn 2 aifsn 3",
        "ap be txop 3s",
        "ap be slot 9us",
        "ap be cw 7..63, ap be aifsn 2",
    ],
    canonical: |text| read(text).map(|entries| write(&entries)),
    with_files: None,
};

const NODES: [&str; 2] = ["ap", "stations"];
const CATEGORIES: [&str; 4] = ["bk", "be", "vi", "vo"];
const KEYS: [&str; 3] = ["aifsn", "cw", "txop"];
/// The field has 16 bits, in units of 32 µs (IEEE 802.11-2020, 9.4.2.28).
const LONGEST_TXOP: Span = Span::from_micros(32 * 65_535);

/// What is set of one category of the access point or of stations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Entry {
    of_stations: bool,
    category: Category,
    aifsn: Option<u8>,
    window: Option<(u16, u16)>,
    txop: Option<Span>,
}

impl Entry {
    /// Sets it where it belongs.
    pub(super) fn apply(&self, access_point: &mut [Access; 4], stations: &mut [Access; 4]) {
        let of_node = if self.of_stations { stations } else { access_point };
        let access = &mut of_node[self.category as usize];
        access.aifsn = self.aifsn.unwrap_or(access.aifsn);
        (access.cw_min, access.cw_max) = self.window.unwrap_or((access.cw_min, access.cw_max));
        access.txop = self.txop.unwrap_or(access.txop);
    }

    /// As it is written.
    fn name(&self) -> String {
        format!("{} {}", NODES[usize::from(self.of_stations)], CATEGORIES[self.category as usize])
    }
}

/// Reads the entries.
pub(super) fn read(text: &str) -> Result<Vec<Entry>, InputError> {
    let mut entries: Vec<Entry> = Vec::new();
    for part in text.split(',') {
        let entry = read_one(part.trim())?;
        if entries.iter().any(|other| other.name() == entry.name()) {
            return Err(InputError::new(format!("'{}' is given twice", entry.name())));
        }
        entries.push(entry);
    }
    Ok(entries)
}

fn read_one(text: &str) -> Result<Entry, InputError> {
    let mut words = text.split_whitespace();
    let mut place = |what: &str, known: &[&str]| {
        let word = words.next().unwrap_or_default();
        let found = known.iter().position(|one| *one == word);
        found.ok_or_else(|| InputError::unknown(what, word, known.iter().copied()))
    };
    let (of_stations, category) = (place("node", &NODES)? == 1, place("category", &CATEGORIES)?);
    let category = Category::ALL[category];
    let mut entry = Entry { of_stations, category, aifsn: None, window: None, txop: None };
    let name = entry.name();
    let within = |error: InputError| error.within(name.clone());
    let once = |is_first: bool, key: &str| {
        if is_first { Ok(()) } else { Err(within(InputError::new(format!("'{key}' is given twice")))) }
    };
    while let Some(key) = words.next() {
        if !KEYS.contains(&key) {
            return Err(within(InputError::unknown("parameter", key, KEYS.into_iter())));
        }
        let value =
            words.next().ok_or_else(|| within(InputError::new(format!("'{key}' lacks its value"))))?;
        match key {
            "aifsn" => once(entry.aifsn.replace(aifsn(value).map_err(within)?).is_none(), key)?,
            "cw" => once(entry.window.replace(window(value).map_err(within)?).is_none(), key)?,
            _ => {
                let time = parse::span(value).map_err(|error| within(error.into()))?;
                if time > LONGEST_TXOP {
                    let allowed = format!("allowed is 0s (one PPDU) to {LONGEST_TXOP}");
                    return Err(within(InputError::field("txop", time, allowed)));
                }
                once(entry.txop.replace(time).is_none(), key)?;
            }
        }
    }
    if (entry.aifsn, entry.window, entry.txop) == (None, None, None) {
        let problem = format!("nothing is set: give {}", KEYS.join(", or "));
        return Err(within(InputError::new(problem)));
    }
    // What is not set here is right in every preset.
    let mut accesses = [Access::STATION, Access::STATION];
    let [access_point, stations] = &mut accesses;
    entry.apply(access_point, stations);
    accesses.iter().flatten().try_for_each(Access::check).map_err(within)?;
    Ok(entry)
}

fn aifsn(text: &str) -> Result<u8, InputError> {
    text.parse().map_err(|_| InputError::field("aifsn", text, "allowed is 1 to 15"))
}

fn window(text: &str) -> Result<(u16, u16), InputError> {
    let ends =
        text.split_once("..").and_then(|(least, most)| Some((least.parse().ok()?, most.parse().ok()?)));
    ends.ok_or_else(|| InputError::field("cw", text, "write LEAST..MOST, as 15..1023, each from 0 to 32767"))
}

/// The text that is read alike.
fn write(entries: &[Entry]) -> String {
    let mut text = String::new();
    for entry in entries {
        let comma = if text.is_empty() { "" } else { ", " };
        let _ = write!(text, "{comma}{}", entry.name());
        let _ = entry.aifsn.map_or(Ok(()), |aifsn| write!(text, " aifsn {aifsn}"));
        let _ = entry.window.map_or(Ok(()), |(least, most)| write!(text, " cw {least}..{most}"));
        let _ = entry.txop.map_or(Ok(()), |txop| write!(text, " txop {txop}"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_written_as_they_are_read() {
        for text in NOTATION.examples {
            assert_eq!((NOTATION.canonical)(text).as_deref(), Ok(*text));
        }
    }

    #[test]
    fn an_entry_sets_one_category_of_one_node() {
        let (mut access_point, mut stations) = (Access::ACCESS_POINT, Access::STATION);
        for entry in read("ap vi aifsn 2 cw 15..31 txop 4096us, stations be cw 31..1023").unwrap() {
            entry.apply(&mut access_point, &mut stations);
        }
        let video = Access { aifsn: 2, cw_min: 15, cw_max: 31, txop: Span::from_micros(4096) };
        let best_effort = Access { cw_min: 31, ..Access::STATION[1] };
        assert_eq!((access_point[2], stations[1]), (video, best_effort));
        assert_eq!((access_point[1], stations[2]), (Access::ACCESS_POINT[1], Access::STATION[2]));
    }

    #[test]
    fn what_no_network_announces_is_refused_in_one_line() {
        for text in NOTATION.refused {
            assert!((NOTATION.canonical)(text).is_err(), "{text}");
        }
        for (text, problem) in [
            ("ap be cw 6..63", "ap be: cw_min is 6: a power of two less one, from 0 to 32767, is allowed"),
            ("ap be cw 63..7", "ap be: cw_min is 63: it is above cw_max 7"),
            ("stations vo aifsn 16", "stations vo: aifsn is 16: allowed is 1 to 15"),
            ("stations vo aifsn x", "stations vo: aifsn is x: allowed is 1 to 15"),
            ("ap be txop 3s", "ap be: txop is 3s: allowed is 0s (one PPDU) to 2097120us"),
            ("ap be cw 7", "ap be: cw is 7: write LEAST..MOST, as 15..1023, each from 0 to 32767"),
            (
                "ap be aifs 2",
                "ap be: unknown parameter 'aifs', did you mean 'aifsn'?; known are aifsn, cw, txop",
            ),
            ("ap be", "ap be: nothing is set: give aifsn, or cw, or txop"),
        ] {
            assert_eq!((NOTATION.canonical)(text).unwrap_err().to_string(), problem);
        }
    }
}
