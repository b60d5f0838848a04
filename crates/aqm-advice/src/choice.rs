//! Which setup is named: what a household would notice of each, summed up.

use crate::figures::{FIGURES, NOTICEABLE_STEPS, PING, SLIGHT_STEPS};
use crate::setups::{ACK_FILTER, support};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// By which increase of the round-trip time when the line is fully used a line has a grade, in ms (below it):
/// dslreports.com/faq/17930.
pub const GRADES: [(f64, &str); 5] = [(5.0, "A+"), (30.0, "A"), (60.0, "B"), (200.0, "C"), (400.0, "D")];
/// What is above all of them.
pub const WORST_GRADE: &str = "F";

/// A setup with the means of its figures and of its pings ([`PING`]), by name.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Means {
    /// The setup's name.
    pub name: String,
    /// By the figure's name.
    pub values: BTreeMap<String, f64>,
}

/// A setup: its grade, and how far it is behind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Ranked {
    /// The setup's name.
    pub name: String,
    /// Its grade.
    pub grade: String,
    /// How far each figure is behind the best of all setups, in steps.
    pub shortfalls: BTreeMap<String, f64>,
    /// Their sum, with a step for each grade that is better elsewhere.
    pub behind: f64,
}

/// The grade of an increase of the round-trip time.
///
/// ```
/// use aqm_advice::choice::grade;
/// assert_eq!([4.0, 150.0, 2000.0].map(grade), ["A+", "C", "F"]);
/// ```
pub fn grade(increase_ms: f64) -> &'static str {
    GRADES.iter().find(|(below, _)| increase_ms < *below).map_or(WORST_GRADE, |(_, name)| name)
}

/// The place of a grade, 0 for the best.
pub fn place(grade: &str) -> usize {
    GRADES.iter().position(|(_, name)| *name == grade).unwrap_or(GRADES.len())
}

/// How far each setup is behind. A setup without a value counts as not behind.
pub fn ranked(setups: &[Means]) -> Vec<Ranked> {
    let value = |setup: &Means, name: &str| setup.values.get(name).copied().unwrap_or(f64::NAN);
    let grades: Vec<_> = setups.iter().map(|setup| grade(value(setup, PING))).collect();
    let least = grades.iter().map(|one| place(one)).min().unwrap_or(0);
    setups
        .iter()
        .zip(&grades)
        .map(|(setup, grade)| {
            let mut behind = 0.0;
            let mut shortfalls = BTreeMap::new();
            for figure in &FIGURES {
                let all = setups.iter().map(|other| value(other, figure.name));
                let best =
                    all.reduce(if figure.is_more_better { f64::max } else { f64::min }).unwrap_or(f64::NAN);
                let short = figure.shortfall(value(setup, figure.name), best);
                behind += short;
                shortfalls.insert(figure.name.to_owned(), short);
            }
            behind += NOTICEABLE_STEPS * (place(grade) - least) as f64;
            Ranked { name: setup.name.clone(), grade: (*grade).to_owned(), shortfalls, behind }
        })
        .collect()
}

/// The setup to take, of at least one.
///
/// The best grade of the setups within a step of the least sum is kept. Of those with this grade or a better one, which
/// are at most two steps behind the least sum (that annoys slightly), the best supported are kept ([`support`]), and of
/// them those with the best grade. The usual one of them is chosen, unless another is noticeably closer, by more than a
/// step: that with CAKE's ACK filter, which is tried only where a line is far slower up, and the first. A setup is out
/// if one with a better grade has no greater sum: so none is chosen over one with a better grade that is not behind
/// elsewhere by more than a step for each grade.
pub fn best(setups: &[Ranked]) -> Option<&Ranked> {
    let least = setups.iter().map(|one| one.behind).reduce(f64::min)?;
    let grade_kept = setups
        .iter()
        .filter(|one| one.behind <= least + NOTICEABLE_STEPS)
        .map(|one| place(&one.grade))
        .min()?;
    let is_outdone = |one: &Ranked| {
        setups.iter().any(|other| place(&other.grade) < place(&one.grade) && other.behind <= one.behind)
    };
    let candidates = || {
        setups.iter().filter(|one| {
            one.behind <= least + SLIGHT_STEPS && place(&one.grade) <= grade_kept && !is_outdone(one)
        })
    };
    let rank = |one: &Ranked| (support(&one.name), place(&one.grade));
    let first = candidates().map(rank).min()?;
    let kept = || candidates().filter(|one| rank(one) == first);
    let closest = kept().map(|one| one.behind).reduce(f64::min)?;
    kept()
        .filter(|one| one.behind <= closest + NOTICEABLE_STEPS)
        .min_by_key(|one| !one.name.contains(ACK_FILTER))
}
