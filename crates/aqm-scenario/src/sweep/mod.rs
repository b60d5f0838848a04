//! Sweeps: which values are tried, all combinations of them or a sample.
//!
//! Values are a list, as `5ms,20ms`, or a range, as `1ms..20ms*8` for eight values at equal distances and
//! `1ms..100ms*8log` for equal ratios. A sample (`latin*30`, `sobol*32`) needs no number of values: each point has a
//! value of its own from every range.

pub mod design;
pub mod points;
pub mod quantity;
pub mod range;

pub use design::{Design, Sampler};
pub use range::Range;

use aqm_core::input_error::InputError;
use aqm_sim::scenario::options::find;

/// Most values of a range, and most points of a sample.
pub const MOST_VALUES: usize = 1000;
/// Most points of a sweep.
pub const MOST_POINTS: usize = 10_000;
/// More digits are beyond 64 bits.
const MOST_DIGITS: usize = 18;

/// What a person writes for one swept name.
#[derive(Clone, Debug, PartialEq)]
pub enum Entry {
    /// A range, or values with commas between them.
    Text(String),
    /// Values.
    List(Vec<Given>),
    /// Values by what they are called.
    Table(Vec<(String, Given)>),
    /// Neither.
    Other,
}

/// One value that is swept.
#[derive(Clone, Debug, PartialEq)]
pub enum Given {
    /// A text.
    One(String),
    /// Several, of an option that may be repeated.
    Several(Vec<String>),
    /// Values that belong together, of these names.
    Together(Vec<String>),
}

/// What a host has given and named already.
#[derive(Clone, Copy, Debug, Default)]
pub struct Surroundings<'a> {
    /// Options and values that are not swept.
    pub given: &'a [String],
    /// Columns of results, which no swept value may be called like.
    pub columns: &'a [String],
}

/// The values of one name.
#[derive(Clone, Debug)]
enum Levels {
    Listed(Vec<String>),
    Range(Range),
}

/// What is swept, checked.
///
/// ```
/// use aqm_scenario::sweep::{Entry, Surroundings, Sweep};
/// let entries = [("rtt", "10ms, 40ms"), ("target", "1ms..3ms*2")];
/// let entries = entries.map(|(name, text)| (name.to_owned(), Entry::Text(text.to_owned())));
/// let sweep = Sweep::read(&entries, "grid", &Surroundings::default()).unwrap();
/// assert_eq!(sweep.grid().unwrap()[1], ["10ms", "3ms"]);
/// ```
#[derive(Clone, Debug)]
pub struct Sweep {
    names: Vec<(String, Levels)>,
    /// How points are chosen.
    pub design: Design,
}

impl Sweep {
    /// Reads what is swept, per name, in this order.
    ///
    /// # Errors
    /// The swept name and what is allowed.
    pub fn read(
        entries: &[(String, Entry)],
        design: &str,
        around: &Surroundings<'_>,
    ) -> Result<Sweep, InputError> {
        let design = Design::parse(design)?;
        let names = read_names(entries, around).map_err(|error| error.of_option("sweep"))?;
        let sweep = Sweep { names, design };
        let size = sweep.size();
        if size > MOST_POINTS {
            let problem = format!("has {size} points; at most {MOST_POINTS} are allowed");
            return Err(InputError::new(problem).of_option("sweep"));
        }
        Ok(sweep)
    }

    /// What the values of a name are called, in order; nothing of a range.
    pub fn labels(&self) -> impl Iterator<Item = Option<&[String]>> {
        self.names.iter().map(|(_, levels)| match levels {
            Levels::Listed(labels) => Some(labels.as_slice()),
            Levels::Range(_) => None,
        })
    }

    /// All combinations, the last name first; one empty point if nothing is swept.
    ///
    /// # Errors
    /// That a range lacks the number of its values.
    pub fn grid(&self) -> Result<Vec<Vec<String>>, InputError> {
        let mut points = vec![Vec::new()];
        for (name, levels) in &self.names {
            let values = match levels {
                Levels::Listed(labels) => labels.clone(),
                Levels::Range(range) if range.count.is_some() => range.values(),
                Levels::Range(range) => {
                    let (low, high) = (range.at(0.0), range.at(1.0));
                    let problem = format!("a range needs the number of its values, as {low}..{high}*8");
                    return Err(InputError::new(problem).within(name.as_str()).of_option("sweep"));
                }
            };
            let behind = |point: &Vec<String>, value: &String| {
                let mut longer = point.clone();
                longer.push(value.clone());
                longer
            };
            points = points
                .iter()
                .flat_map(|point| values.iter().map(move |value| behind(point, value)))
                .collect();
        }
        Ok(points)
    }

    /// The points of a sample: a row of shares for each, from 0 to below 1 for each name. Equal points come once.
    pub fn sampled(&self, shares: &[Vec<f64>]) -> Vec<Vec<String>> {
        let at = |levels: &Levels, share: f64| match levels {
            Levels::Range(range) => range.at(share),
            Levels::Listed(labels) => {
                let place = (share * labels.len() as f64) as usize;
                labels[place.min(labels.len() - 1)].clone()
            }
        };
        let mut points: Vec<Vec<String>> = Vec::new();
        for row in shares {
            let point = self.names.iter().zip(row).map(|((_, levels), share)| at(levels, *share)).collect();
            if !points.contains(&point) {
                points.push(point);
            }
        }
        points
    }

    /// How many points it has at most.
    fn size(&self) -> usize {
        let count = |levels: &Levels| match levels {
            Levels::Listed(labels) => labels.len(),
            Levels::Range(range) => range.count.unwrap_or(1),
        };
        match self.design {
            Design::Grid => self.names.iter().map(|(_, levels)| count(levels)).fold(1, usize::saturating_mul),
            Design::Sample(_, points) => points,
        }
    }
}

fn read_names(
    entries: &[(String, Entry)],
    around: &Surroundings<'_>,
) -> Result<Vec<(String, Levels)>, InputError> {
    let mut names = Vec::new();
    let mut inner: Vec<&str> = Vec::new();
    for (key, entry) in entries {
        let (levels, together) = read_entry(key, entry).map_err(|error| error.within(key.as_str()))?;
        for name in together {
            check_name(name, key, around)?;
            if inner.contains(&name) {
                return Err(InputError::value(name, "is swept twice"));
            }
            inner.push(name);
        }
        names.push((key.clone(), levels));
    }
    Ok(names)
}

/// The values of a name, and the names that they give values: its own, or those of its tables.
fn read_entry<'a>(key: &'a str, entry: &'a Entry) -> Result<(Levels, Vec<&'a str>), InputError> {
    let called: Vec<(String, Option<&Given>)> = match entry {
        Entry::Text(text) => match Range::parse(text.trim())? {
            Some(range) => return Ok((Levels::Range(range), vec![key])),
            None => text.split(',').map(|part| (part.trim().to_owned(), None)).collect(),
        },
        Entry::List(values) => values.iter().map(|value| (label(value), Some(value))).collect(),
        Entry::Table(values) => values.iter().map(|(name, value)| (name.clone(), Some(value))).collect(),
        Entry::Other => Vec::new(),
    };
    if called.is_empty() {
        return Err(InputError::new("must be a list of values, or a table of names and values"));
    }
    let mut labels: Vec<String> = Vec::new();
    let mut expected: Option<(&str, Vec<&str>)> = None;
    for (name, value) in &called {
        if labels.contains(name) {
            return Err(InputError::new("holds a value twice").of_value(name));
        }
        labels.push(name.clone());
        let given = match value {
            Some(Given::Together(names)) => names.iter().map(String::as_str).collect(),
            _ => vec![key],
        };
        if let Some(Given::One(value)) = value {
            check_label(name, value)?;
        }
        match &expected {
            None => expected = Some((name, given)),
            Some((first, names)) => check_together(name, &given, first, names)?,
        }
    }
    let together = expected.map_or_else(Vec::new, |(_, names)| names);
    Ok((Levels::Listed(labels), together))
}

/// What a value without a name is called.
fn label(value: &Given) -> String {
    match value {
        Given::One(text) => text.clone(),
        Given::Several(texts) | Given::Together(texts) => texts.join(" + "),
    }
}

/// Values that belong together are the same names under each label.
fn check_together(label: &str, given: &[&str], first: &str, expected: &[&str]) -> Result<(), InputError> {
    let sorted = |names: &[&str]| {
        let mut names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        names.sort_unstable();
        names
    };
    if sorted(given) == sorted(expected) {
        return Ok(());
    }
    let (given, expected) = (given.join(", "), expected.join(", "));
    let problem = format!("'{label}' has other values ({given}) than '{first}' ({expected})");
    Err(InputError::new(problem).of_value(label))
}

/// Columns and axes take a label for what it reads as: `8 kB` are 8192 bytes, as in tc, and cannot stand for `8000b`. Other
/// labels may differ on purpose: `30%` of each of four ports stands for `120%` of one.
fn check_label(label: &str, value: &str) -> Result<(), InputError> {
    let read = |text: &str| quantity::read([text.trim()]).map(|(kind, values)| (kind, values[0]));
    match (read(label), read(value)) {
        (Some((kind, named)), Some((other, meant)))
            if kind.axis == "bytes" && other.axis == "bytes" && named != meant =>
        {
            let (named, meant) = (kind.write(named), other.write(meant));
            let problem = format!("'{label}' stands for {meant}, but reads as {named}: call it {meant}");
            Err(InputError::new(problem).of_value(label))
        }
        _ => Ok(()),
    }
}

fn check_name(name: &str, key: &str, around: &Surroundings<'_>) -> Result<(), InputError> {
    let is_column = |ending: &str| around.columns.contains(&format!("{key}{ending}"));
    if find(key).is_none() && quantity::KINDS.iter().any(|kind| is_column(kind.ending)) {
        let problem = "is the name of a column in every result: choose another name";
        return Err(InputError::value(key, problem));
    }
    if let "aqm" | "seeds" | "first_seed" = name {
        let rather =
            if name == "aqm" { "list every AQM under aqm" } else { "every scenario is run with all seeds" };
        return Err(InputError::value(name, format_args!("cannot be swept; {rather}")));
    }
    if name != key && find(name).is_some() {
        let problem = "is an option: use a $name in it, and sweep that";
        return Err(InputError::value(name, problem).within(key));
    }
    if around.given.iter().any(|given| given == name) {
        return Err(InputError::value(name, "is given outside the sweep too: give one of them"));
    }
    Ok(())
}

/// A whole number within bounds.
fn whole(text: &str, least: usize, most: usize) -> Result<usize, InputError> {
    let is_whole = text.bytes().all(|byte| byte.is_ascii_digit()) && text.len() <= MOST_DIGITS;
    let number = if is_whole { text.parse().ok() } else { None };
    number
        .filter(|number| (least..=most).contains(number))
        .ok_or_else(|| InputError::value(text, format_args!("is not a whole number from {least} to {most}")))
}
