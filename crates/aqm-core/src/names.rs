//! Comparison of names: which are the same, and which is the nearest.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Whether two names are equal apart from case, hyphens and underscores.
pub fn same_name(left: &str, right: &str) -> bool {
    let plain = |byte: u8| if byte == b'_' { b'-' } else { byte.to_ascii_lowercase() };
    left.len() == right.len() && left.bytes().zip(right.bytes()).all(|(l, r)| plain(l) == plain(r))
}

/// More names than these are not all listed.
const MOST_TOLD: usize = 16;
/// How many of them are listed instead: the nearest.
const NEAREST: usize = 3;

/// Of a few names all (`known are a, b`), of many the nearest.
///
/// ```
/// use aqm_core::params::known;
/// assert_eq!(known("x", ["on", "off"].into_iter()), "known are on, off");
/// ```
pub fn known<'a>(given: &str, candidates: impl Iterator<Item = &'a str>) -> String {
    let mut names: Vec<&str> = candidates.collect();
    if names.len() <= MOST_TOLD {
        return format!("known are {}", names.join(", "));
    }
    let (given, of) = (given.to_ascii_lowercase(), names.len());
    names.sort_by_key(|name| edits(&given, &name.to_ascii_lowercase()));
    format!("the nearest of {of} are {}", names[..NEAREST].join(", "))
}

/// `, did you mean 'target'?` for the nearest candidate, else nothing.
pub fn did_you_mean<'a>(given: &str, candidates: impl Iterator<Item = &'a str> + Clone) -> String {
    nearest(given, candidates).map_or(String::new(), |candidate| format!(", did you mean '{candidate}'?"))
}

/// The nearest candidate within two edits (a third of a longer word), or else the first that contains the word.
pub fn nearest<'a>(given: &str, candidates: impl Iterator<Item = &'a str> + Clone) -> Option<&'a str> {
    let given = given.to_ascii_lowercase();
    let allowed = (given.chars().count() / 3).max(2);
    candidates
        .clone()
        .map(|candidate| (edits(&given, &candidate.to_ascii_lowercase()), candidate))
        .filter(|(distance, candidate)| *distance <= allowed && *distance < candidate.len())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
        .or_else(|| {
            candidates.clone().find(|name| given.len() > 2 && name.to_ascii_lowercase().contains(&given))
        })
}

/// Levenshtein distance, hyphens and underscores counting as equal.
fn edits(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, l) in left.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, r) in right.iter().enumerate() {
            let same = l == *r || (matches!(l, '-' | '_') && matches!(r, '-' | '_'));
            let replaced = diagonal + usize::from(!same);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[right.len()]
}
