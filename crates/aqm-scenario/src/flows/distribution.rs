//! Distributions in the user's notation: `1s`, `0..1s`, `exp(1s)`, `pareto(100ms,1.5)`, `cdf(FILE)`.
//!
//! The notation is the same for times, sizes, numbers and rates; the result is the simulator's form.

use super::files::{Files, INCLUDED};
use super::number::{self, Read};
use super::tree::Tree;
use aqm_core::input_error::InputError;
use aqm_core::params::{Kind, did_you_mean};
use aqm_core::units::parse;

/// A form: how it is called, written and named in a scenario, and what its arguments are called there.
struct Form {
    name: &'static str,
    usage: &'static str,
    field: &'static str,
    first: &'static str,
    second: Option<&'static str>,
}

const FORMS: [Form; 4] = [
    Form { name: "exp", usage: "exp(MEAN)", field: "exponential", first: "mean", second: None },
    Form {
        name: "pareto",
        usage: "pareto(SMALLEST,SHAPE)",
        field: "pareto",
        first: "scale",
        second: Some("shape"),
    },
    Form {
        name: "weibull",
        usage: "weibull(SCALE,SHAPE)",
        field: "weibull",
        first: "scale",
        second: Some("shape"),
    },
    Form {
        name: "lognormal",
        usage: "lognormal(MEDIAN,SIGMA)",
        field: "lognormal",
        first: "median",
        second: Some("sigma"),
    },
];

/// The allowed notation, for messages and help.
pub(super) fn allowed(unit: Kind) -> String {
    let example = match unit {
        Kind::Span => "a time",
        Kind::Bytes => "bytes such as 1mb",
        Kind::Rate => "a rate such as 3mbit",
        _ => "a whole number",
    };
    let usage = FORMS.map(|form| form.usage).join(", ");
    let included: String = included(unit).map(|name| format!(", {name}")).collect();
    format!("{example}, LOW..HIGH, {usage}, cdf(FILE){included}")
}

/// The names of the distributions of a unit that come with the program.
fn included(unit: Kind) -> impl Iterator<Item = &'static str> + Clone {
    INCLUDED.into_iter().filter(move |(_, is_time, _)| is_of(*is_time, unit)).map(|(name, ..)| name)
}

fn is_of(is_time: bool, unit: Kind) -> bool {
    unit == if is_time { Kind::Span } else { Kind::Bytes }
}

/// Reads a distribution over values of a unit.
/// Some ten thousand points.
const LARGEST_BYTES: usize = 1 << 20;

pub(super) fn read(text: &str, unit: Kind, files: &dyn Files) -> Result<Read, InputError> {
    let lower = text.to_ascii_lowercase();
    let letters = text.len() - text.trim_start_matches(|c: char| c.is_ascii_alphabetic()).len();
    if let Some(inside) =
        text[letters..].strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).filter(|_| letters > 0)
    {
        return match &lower[..letters] {
            "cdf" => file(inside.trim(), unit, files),
            name => form(text, name, inside.trim(), unit),
        };
    }
    if let Some((name, is_time, points)) = INCLUDED.into_iter().find(|(name, ..)| *name == lower) {
        if !is_of(is_time, unit) {
            let allowed = allowed(unit);
            let problem = format!("is a distribution of another quantity: allowed is {allowed}");
            return Err(InputError::value(name, problem).allowing([allowed]));
        }
        let value = empirical(name, name, points, unit)?;
        return Ok(Read { value, text: name.to_owned() });
    }
    if letters >= 3 && letters == text.len() {
        let known = FORMS.iter().map(|form| form.name).chain(["cdf"]).chain(included(unit));
        return Err(refused(text, text, unit, known));
    }
    if text.contains("..") {
        let (low, high) = number::bounds(text, unit)?;
        if high == 0 {
            return Err(InputError::value(text, "is always zero"));
        }
        let value = Tree::one(
            "uniform",
            Tree::Table(vec![("low".to_owned(), low.into()), ("high".to_owned(), high.into())]),
        );
        let text = format!("{}..{}", number::write(unit, low), number::write(unit, high));
        return Ok(Read { value, text });
    }
    let number = positive(text, unit)?;
    Ok(Read { value: Tree::one("constant", Tree::one("value", number)), text: number::write(unit, number) })
}

fn refused<'a>(
    text: &str,
    name: &str,
    unit: Kind,
    known: impl Iterator<Item = &'a str> + Clone,
) -> InputError {
    let (allowed, hint) = (allowed(unit), did_you_mean(name, known.clone()));
    InputError::value(text, format!("is not {allowed}{hint}")).near(name, known)
}

fn form(text: &str, name: &str, inside: &str, unit: Kind) -> Result<Read, InputError> {
    let Some(form) = FORMS.iter().find(|form| form.name == name) else {
        return Err(refused(text, name, unit, FORMS.iter().map(|form| form.name).chain(["cdf"])));
    };
    let arguments: Vec<&str> = inside.split(',').map(str::trim).collect();
    if arguments.len() != 1 + usize::from(form.second.is_some()) {
        return Err(
            InputError::value(text, format!("is not {}", form.usage)).allowing([form.usage.to_owned()])
        );
    }
    let first = positive(arguments[0], unit)?;
    let mut values = vec![(form.first.to_owned(), Tree::from(first))];
    let mut written = format!("{name}({}", number::write(unit, first));
    if let Some(second) = form.second {
        let number = number::plain_number(arguments[1]).filter(|number| *number > 0.0).ok_or_else(|| {
            InputError::value(text, format!("{second} '{}' is not a number above 0", arguments[1]))
        })?;
        values.push((second.to_owned(), number.into()));
        written += &format!(",{number:?}");
    }
    Ok(Read { value: Tree::one(form.field, Tree::Table(values)), text: written + ")" })
}

fn positive(text: &str, unit: Kind) -> Result<u64, InputError> {
    match number::read(text, unit)? {
        0 => Err(InputError::value(text, "is zero")),
        number => Ok(number),
    }
}

fn file(name: &str, unit: Kind, files: &dyn Files) -> Result<Read, InputError> {
    let place = files.place(name);
    let content = files.read(&place, LARGEST_BYTES)?;
    let value = empirical(&place, &format!("'{place}'"), &content, unit)?;
    Ok(Read { value, text: format!("cdf({place})") })
}

/// Lines of a value and the share of draws that do not exceed it.
fn empirical(name: &str, place: &str, content: &str, unit: Kind) -> Result<Tree, InputError> {
    let mut points: Vec<(f64, f64)> = Vec::new();
    for (number, line) in content.lines().enumerate() {
        let words: Vec<&str> = line.split('#').next().unwrap_or_default().split_whitespace().collect();
        let at = |error: InputError| error.within(format!("{place} line {}", number + 1));
        let [value, share] = words.as_slice() else {
            if words.is_empty() {
                continue;
            }
            return Err(at(InputError::value(line.trim(), "is not a value and its share, as '10kb 0.15'")));
        };
        let value = number::read(value, unit).map_err(at)? as f64;
        let drawn = parse::fraction(share).map_err(|error| at(error.into()))?;
        if drawn > 1.0 {
            return Err(at(InputError::value(share, "is out of range: a share is within 0 and 1")));
        }
        if points.last().is_some_and(|(before, share)| value < *before || drawn < *share) {
            return Err(at(InputError::value(line.trim(), "does not ascend from the line before")));
        }
        points.push((value, drawn));
    }
    if points.last().is_none_or(|(value, share)| *share != 1.0 || *value == 0.0) {
        let problem = "the last line must be the largest value, above zero, and its share, 1";
        return Err(InputError::new(problem).within(place));
    }
    let points: Vec<Vec<f64>> = points.into_iter().map(|(value, share)| vec![value, share]).collect();
    let values = vec![("name".to_owned(), Tree::from(name)), ("points".to_owned(), Tree::from(points))];
    Ok(Tree::one("empirical", Tree::Table(values)))
}
