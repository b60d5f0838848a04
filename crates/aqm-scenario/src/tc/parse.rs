//! The words of a qdisc, by its table, as parameters of a discipline.

use super::given::{Given, LAYER};
use super::kinds::{Kind, Word};
use super::listing::Form;
use super::units;
use aqm_core::input_error::InputError;
use aqm_core::params::{did_you_mean, known, same_name};

/// Reads the words of a qdisc.
pub(super) fn read(kind: &Kind, words: &[String], form: Form) -> Result<Given, InputError> {
    let mut given = Given::default();
    for (name, value) in kind.silent.iter().filter(|_| form != Form::Command) {
        given.set(name, (*value).to_owned());
    }
    let words = as_commanded(kind.name, words);
    let mut rest = words.iter().peekable();
    while let Some(text) = rest.next() {
        let found = kind.words.iter().find(|(word, _)| same_name(word, text));
        let (word, does) = found.ok_or_else(|| unknown(kind, text))?;
        let mut value =
            || rest.next().ok_or_else(|| InputError::new(format!("{}: '{word}' needs a value", kind.name)));
        match *does {
            Word::Value(param, quantity) => {
                let text = value()?;
                let read = quantity.read(text, (form != Form::Command).then_some(kind.tick));
                let read = read.map_err(|error| error.within(*word).within(kind.name))?;
                if param == LAYER { given.layer.push((word, read)) } else { given.set(param, read) }
            }
            Word::List(param, most) => {
                let mut numbers = Vec::new();
                while numbers.len() < most
                    && let Some(number) = rest.next_if(|next| units::count(next).is_ok())
                {
                    numbers.push(units::count(number)?.to_string());
                }
                if numbers.is_empty() {
                    return Err(InputError::new(format!("{}: '{word}' needs whole numbers", kind.name)));
                }
                given.set(param, numbers.join(","));
            }
            Word::Masked(param, mask) => {
                let [value, bits] =
                    units::masked(value()?).map_err(|error| error.within(*word).within(kind.name))?;
                given.set(param, value.to_string());
                given.set(mask, bits.to_string());
            }
            Word::Flag(param, text) => given.set(param, text.to_owned()),
            Word::Keyword(LAYER) => given.layer.push((word, String::new())),
            Word::Keyword(param) => given.set(param, (*word).to_owned()),
            Word::Idle(count, why) => {
                let mut values: Vec<&str> = Vec::new();
                while values.len() < count
                    && let Some(next) = rest.next_if(|next| count == 1 || units::count(next).is_ok())
                {
                    values.push(next);
                }
                given.idle.push(([&[*word], &*values].concat().join(" "), why));
            }
            Word::Refused(nearest) => {
                return Err(InputError::new(format!(
                    "{}: '{word}' has no counterpart here: {nearest}",
                    kind.name
                )));
            }
        }
    }
    (kind.finish)(&mut given, form).map_err(|error| error.within(kind.name))?;
    Ok(given)
}

fn unknown(kind: &Kind, text: &str) -> InputError {
    let names = || kind.words.iter().map(|(word, _)| *word);
    let name = kind.name;
    if names().next().is_none() {
        return InputError::value(text, "is unknown: it has no parameters").within(name);
    }
    let problem = format!("is unknown{}; {}", did_you_mean(text, names()), known(text, names()));
    InputError::value(text, problem).near(text, names()).within(name)
}

/// Printed words that no command has, as those of a command: sfb's penalty and times, sfq's flows with the divisor.
fn as_commanded(kind: &str, words: &[String]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut rest = words.iter().peekable();
    while let Some(word) = rest.next() {
        match (kind, &**word) {
            ("sfb", "penalty") => {
                while let Some(part) = rest.next_if(|next| matches!(&***next, "rate" | "burst")) {
                    found.push(format!("penalty_{part}"));
                    found.extend(rest.next().cloned());
                }
            }
            ("sfb", time) if time.starts_with('(') => {
                found.extend(["rehash".to_owned(), time[1..].to_owned()]);
            }
            ("sfb", time) if time.ends_with(')') => {
                found.extend(["db".to_owned(), time[..time.len() - 1].to_owned()]);
            }
            ("sfq", "flows") => {
                found.push(word.clone());
                found.extend(rest.next().map(|value| value.split('/').next().unwrap_or_default().to_owned()));
            }
            _ => found.push(word.clone()),
        }
    }
    found
}
