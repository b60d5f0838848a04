//! A sweep as one text, for hosts that have one path at a time: the options of each of its points.

use super::{Entry, Surroundings, Sweep};
use crate::options::{Options, named, of_a_path};
use aqm_core::input_error::InputError;

const SWEEP: &str = "sweep";
/// Most characters that values add to the options of a point.
const MOST_FILLED: usize = 10_000;
/// How deep values may name others.
const DEEPEST: usize = 20;

/// A point of a sweep.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Point {
    /// The options that are given, and those that are swept with their values here.
    pub options: Options,
    /// What is swept, with the values here.
    values: Vec<(String, String)>,
}

impl Point {
    /// What is swept, with the values here.
    pub fn values(&self) -> &[(String, String)] {
        &self.values
    }

    /// An error about its options, with where it is.
    pub fn error(&self, error: InputError) -> InputError {
        at(error, &self.values)
    }
}

fn at(error: InputError, values: &[(String, String)]) -> InputError {
    let values: Vec<String> = values.iter().map(|(name, value)| format!("{name}={value}")).collect();
    if values.is_empty() { error } else { error.adding(&format!(" (at {})", values.join(", "))) }
}

/// Reads `NAME VALUE; ...; sweep NAME=VALUES; ...`: options, and what is swept over them as `aqmlab sweep` takes it, an option
/// or a `$NAME` in other options. The last sweep varies first. Samples (`latin*30`) are drawn by the laboratory in Python alone.
///
/// # Errors
/// The option, or `sweep` and the swept name, with what is allowed.
///
/// ```
/// use aqm_scenario::sweep::points::parse;
/// let points = parse("rate 10mbit; aqm codel target $target; sweep rtt=20ms,40ms; sweep target=1ms..5ms*3").unwrap();
/// assert_eq!((points.len(), points[5].options.text("rtt"), points[5].options.text("aqm")), (6, "40ms", "codel target 5ms"));
/// let error = parse("rate 10mbit; sweep rrt=20ms,40ms").unwrap_err().to_string();
/// assert!(error.starts_with("sweep: unknown key 'rrt', did you mean 'rtt'?") && error.ends_with("nor used anywhere as $rrt"));
/// ```
pub fn parse(text: &str) -> Result<Vec<Point>, InputError> {
    points(&named(text)?)
}

/// The same for pairs of name and text.
///
/// # Errors
/// As [`parse`].
pub fn points(pairs: &[(&str, &str)]) -> Result<Vec<Point>, InputError> {
    let (swept, given): (Vec<_>, Vec<_>) = pairs.iter().partition(|(name, _)| *name == SWEEP);
    let entries: Vec<(String, Entry)> =
        swept.iter().map(|(_, text)| entry(text)).collect::<Result<_, _>>()?;
    if let Some((name, _)) = entries
        .iter()
        .enumerate()
        .find_map(|(place, one)| entries[..place].iter().find(|(name, _)| *name == one.0))
    {
        return Err(InputError::value(name, "is given twice").of_option(SWEEP));
    }
    let names: Vec<String> = given.iter().map(|(name, _)| (*name).to_owned()).collect();
    let around = Surroundings { given: &names, columns: &[] };
    let sweep = Sweep::read(&entries, "grid", &around)?;
    check_used(&entries, &swept, &given)?;
    let point = |values: Vec<String>| {
        let values: Vec<(String, String)> =
            entries.iter().map(|(name, _)| name.clone()).zip(values).collect();
        match options(&given, &values) {
            Ok(options) => Ok(Point { options, values }),
            Err(error) => Err(at(error, &values)),
        }
    };
    sweep.grid()?.into_iter().map(point).collect()
}

fn is_option(name: &str) -> bool {
    of_a_path().any(|option| option.name == name)
}

/// A swept name is an option, or stands in another text.
fn check_used(
    entries: &[(String, Entry)],
    swept: &[(&str, &str)],
    given: &[(&str, &str)],
) -> Result<(), InputError> {
    for (name, _) in entries.iter().filter(|(name, _)| !is_option(name)) {
        let stands = |(_, text): &(&str, &str)| {
            let mut names = text.split('$').skip(1).map(|after| after.split_at(name_length(after)).0);
            names.any(|found| found == name)
        };
        if !swept.iter().chain(given).any(stands) {
            let error = InputError::unknown("key", name, of_a_path().map(|option| option.name));
            return Err(error.adding(&format!(", nor used anywhere as ${name}")).of_option(SWEEP));
        }
    }
    Ok(())
}

/// What is given and swept, with the `$names` filled in.
fn options(given: &[(&str, &str)], values: &[(String, String)]) -> Result<Options, InputError> {
    let swept =
        values.iter().filter(|(name, _)| is_option(name)).map(|(name, text)| (name.as_str(), text.as_str()));
    let (mut options, mut fill) = (Options::default(), Fill { values, added: 0 });
    for (name, text) in given.iter().copied().chain(swept) {
        let filled = fill.fill(text, &mut Vec::new()).map_err(|error| error.of_option(name))?;
        options.give(name, &filled)?;
    }
    Ok(options)
}

fn entry(text: &str) -> Result<(String, Entry), InputError> {
    let (name, values) = text
        .split_once('=')
        .ok_or_else(|| InputError::value(text, "is not NAME=VALUES, as rtt=10ms,40ms").of_option(SWEEP))?;
    Ok((name.trim().to_owned(), Entry::Text(values.to_owned())))
}

/// How many bytes at the start of `text` are a name.
fn name_length(text: &str) -> usize {
    let starts = text.starts_with(|first: char| first.is_ascii_lowercase() || first == '_');
    let ends = |next: char| !(next.is_ascii_lowercase() || next.is_ascii_digit() || next == '_');
    if starts { text.find(ends).unwrap_or(text.len()) } else { 0 }
}

/// Replaces `$names` by their values, which may name others.
struct Fill<'a> {
    values: &'a [(String, String)],
    /// Characters of values so far, and one for each: values of no characters take time, too.
    added: usize,
}

impl Fill<'_> {
    fn fill(&mut self, text: &str, within: &mut Vec<String>) -> Result<String, InputError> {
        let mut filled = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('$') {
            let (name, behind) = after.split_at(name_length(after));
            filled += before;
            rest = behind;
            if name.is_empty() {
                filled.push('$');
                continue;
            }
            let known: Vec<&str> = self
                .values
                .iter()
                .map(|(known, _)| known.as_str())
                .filter(|known| !within.iter().any(|one| one == known))
                .collect();
            let value =
                self.values.iter().find(|(given, _)| given == name && known.contains(&given.as_str()));
            let Some((_, value)) = value else {
                let error = if known.is_empty() {
                    InputError::new(format!("there is no ${name}")).of_value(name)
                } else {
                    InputError::unknown("value", name, known.into_iter())
                };
                return Err(error.within(format!("'{text}'")));
            };
            within.push(name.to_owned());
            self.added += value.len() + 1;
            if within.len() > DEEPEST || self.added > MOST_FILLED {
                return Err(InputError::new(format!("the value of ${} is too long or too deep", within[0])));
            }
            filled += &self.fill(value, within)?;
            within.pop();
        }
        Ok(filled + rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_may_name_others_but_not_without_end() {
        let kinds = "rate 10mbit; flows 2*$kind; sweep kind=cubic:mss=$mss,newreno; sweep mss=1000b,1448b";
        let flows: Vec<String> =
            parse(kinds).unwrap().iter().map(|point| point.options.texts("flows").collect()).collect();
        let expected = ["2*cubic:mss=1000b", "2*cubic:mss=1448b", "2*newreno", "2*newreno"];
        assert_eq!(flows, expected);
        let doubled: Vec<String> = (b'a'..b's')
            .map(|name| format!("sweep {0}=${1}${1}", name as char, (name + 1) as char))
            .collect();
        let error = parse(&format!("rate $a; {}; sweep s=,", doubled.join("; "))).unwrap_err().to_string();
        assert!(error.contains("is too long or too deep") || error.contains("twice"), "{error}");
        let error = parse(&format!("rate $a; {}; sweep s= ,1", doubled.join("; "))).unwrap_err().to_string();
        assert!(error.contains("the value of $a is too long or too deep"), "{error}");
    }
}
