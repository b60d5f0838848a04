//! How the text of a parameter becomes a value, and which values are allowed.

use super::{
    Child, Kind, MOST_CLASSES, ParamError, ParamSpec, PerClass, ReadChild, Value, did_you_mean, same_name,
};
use crate::brackets;
use crate::units::{Bytes, Rate, Size, Span, parse};
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

impl ParamSpec {
    /// Checks that `value` is of this parameter's kind and within its range.
    pub fn check(&self, value: Value) -> Result<Value, ParamError> {
        let (min, max) = self.range;
        let magnitude = match (self.kind, &value) {
            (_, Value::Auto) if !self.auto.is_empty() => return Ok(value),
            (Kind::Flag, Value::Flag(_)) => return Ok(value),
            (Kind::Choice(words), Value::Choice(word)) if words.contains(word) => return Ok(value),
            (Kind::Name, Value::Name(_)) => return Ok(value),
            (Kind::Child, Value::Children(children)) if children.len() == 1 => return Ok(value),
            (Kind::Children, Value::Children(children)) if (1..=MOST_CLASSES).contains(&children.len()) => {
                return Ok(value);
            }
            (Kind::Notation(notation), Value::Text(text)) => {
                return match (notation.canonical)(text) {
                    Ok(written) => Ok(Value::Text(written)),
                    Err(error) => Err(self.error(value.to_string(), error.to_string())),
                };
            }
            (Kind::PerClass(each), Value::PerClass(list)) if list.each() == each => {
                let numbers = || list.as_slice().iter().map(|number| *number as f64);
                let outside = numbers().find(|number| *number < min || *number > max);
                outside.unwrap_or(list.of_class(0) as f64)
            }
            (Kind::Span | Kind::SpanOrPackets, Value::Span(span)) => span.as_nanos() as f64,
            (Kind::SpanOrPackets, Value::Size(Size::Packets(count))) => *count as f64,
            (Kind::Rate, Value::Rate(rate)) => rate.as_bits_per_sec() as f64,
            (Kind::Bytes, Value::Bytes(bytes)) => bytes.as_u64() as f64,
            (Kind::SignedBytes, Value::SignedBytes(bytes)) => *bytes as f64,
            (Kind::Size, Value::Size(size)) => size.count() as f64,
            (Kind::Fraction, Value::Fraction(number))
            | (Kind::Percent, Value::Percent(number))
            | (Kind::Frequency, Value::Frequency(number))
            | (Kind::Number, Value::Number(number)) => *number,
            (Kind::Count, Value::Count(count)) => *count as f64,
            _ => return Err(self.error(value.to_string(), format!("is not a {}", self.kind.unit()))),
        };
        if magnitude >= min && magnitude <= max {
            Ok(value)
        } else {
            Err(self.error(value.to_string(), format!("is out of range: allowed is {}", self.range_text())))
        }
    }

    /// Whether `word` is the other word for `auto`.
    pub fn is_auto_word(&self, word: &str) -> bool {
        !self.auto_word.is_empty() && same_name(self.auto_word, word)
    }

    /// Parses `text` as a value of this parameter's kind and checks it; `read` parses disciplines in brackets.
    pub fn parse(&self, text: &str, read: ReadChild) -> Result<Value, ParamError> {
        if !self.auto.is_empty() && (text.eq_ignore_ascii_case("auto") || self.is_auto_word(text)) {
            return Ok(Value::Auto);
        }
        if let Some(problem) = self.tc_number.ambiguous(text) {
            return Err(self.error(text.to_owned(), problem));
        }
        let unit_error = |error: parse::UnitError| self.error(error.text, error.problem);
        let value = match self.kind {
            Kind::Span => Value::Span(parse::span(text).map_err(unit_error)?),
            Kind::SpanOrPackets => match parse::size(text) {
                Ok(packets @ Size::Packets(_)) => Value::Size(packets),
                _ => Value::Span(parse::span(text).map_err(|error| {
                    self.error(error.text, format!("{}, or packets such as 3p", error.problem))
                })?),
            },
            Kind::Rate => Value::Rate(parse::rate(text).map_err(unit_error)?),
            Kind::Bytes => Value::Bytes(parse::bytes(text).map_err(unit_error)?),
            Kind::SignedBytes => Value::SignedBytes(parse::signed_bytes(text).map_err(unit_error)?),
            Kind::Size => Value::Size(parse::size(text).map_err(unit_error)?),
            Kind::Fraction => Value::Fraction(parse::fraction(text).map_err(unit_error)?),
            Kind::Percent => Value::Percent(parse::percent(text).map_err(unit_error)?),
            Kind::Frequency => {
                Value::Frequency(parse::frequency(&self.tc_number.with_unit(text)).map_err(unit_error)?)
            }
            Kind::Number => match text.parse::<f64>() {
                Ok(number) if number.is_finite() => Value::Number(number),
                _ => return Err(self.error(text.to_owned(), "is not a number".to_owned())),
            },
            Kind::Count => match whole(text) {
                Some(count) => Value::Count(count),
                None => return Err(self.error(text.to_owned(), "is not a whole number".to_owned())),
            },
            Kind::Flag => match text.to_ascii_lowercase().as_str() {
                "on" | "true" | "yes" | "1" => Value::Flag(true),
                "off" | "false" | "no" | "0" => Value::Flag(false),
                _ => return Err(self.error(text.to_owned(), "is neither 'on' nor 'off'".to_owned())),
            },
            Kind::Choice(words) => match words.iter().find(|word| word.eq_ignore_ascii_case(text)) {
                Some(word) => Value::Choice(word),
                None => {
                    let problem = format!(
                        "is not one of {}{}",
                        words.join(", "),
                        did_you_mean(text, words.iter().copied())
                    );
                    return Err(self.error(text.to_owned(), problem));
                }
            },
            Kind::PerClass(each) => Value::PerClass(PerClass::parse(each, text).map_err(unit_error)?),
            Kind::Name => Value::Name(text.to_owned()),
            Kind::Notation(notation) => match brackets::inside(text) {
                Some(inside) => Value::Text(inside.to_owned()),
                None => {
                    let problem = format!("is not in brackets: write {} [{}]", self.name, notation.form);
                    return Err(self.error(text.to_owned(), problem));
                }
            },
            Kind::Child | Kind::Children => Value::Children(self.parse_children(text, read)?),
        };
        self.check(value)
    }

    /// The children in the brackets of `text`.
    fn parse_children(&self, text: &str, read: ReadChild) -> Result<Vec<Child>, ParamError> {
        let words = brackets::words(text).map_err(|error| self.error(text.to_owned(), error.to_string()))?;
        let mut children = Vec::new();
        for word in words {
            children.push(self.parse_child(word, children.len() + 1, read)?);
        }
        let several = self.kind == Kind::Children;
        match children.len() {
            1 => Ok(children),
            0 => Err(self.parse_child("", 1, read).expect_err("it has no brackets")),
            2..=MOST_CLASSES if several => Ok(children),
            count => {
                let most = if several { MOST_CLASSES } else { 1 };
                Err(self.error(format!("{count} disciplines"), format!("are too many: allowed are {most}")))
            }
        }
    }

    /// The child in the brackets of `word`, the parameter's `number`th.
    pub(crate) fn parse_child(
        &self,
        word: &str,
        number: usize,
        read: ReadChild,
    ) -> Result<Child, ParamError> {
        let Some(inside) = brackets::inside(word) else {
            let problem = format!("is not in brackets: write {}", self.in_brackets(word));
            return Err(self.error(word.to_owned(), problem));
        };
        let number = (self.kind == Kind::Children).then_some(number);
        if inside.trim().is_empty() {
            let problem = format!("the brackets are empty: write {} [codel target 10ms]", self.name);
            return Err(ParamError::of_child(self.name, number, problem));
        }
        read(inside).map_err(|error| ParamError::of_child(self.name, number, error.to_string()))
    }

    /// The form with brackets of a `word` without them.
    fn in_brackets(&self, word: &str) -> String {
        let child = |text: &str| format!("{} [{}]", self.name, text.replace(['/', '='], " "));
        let disciplines = word.split(',').filter(|text| !text.is_empty()).take(4).map(child);
        let written = disciplines.collect::<Vec<_>>().join(" ");
        if written.is_empty() { child("codel target 10ms") } else { written }
    }

    /// The allowed range in the parameter's unit, or the allowed words.
    pub fn range_text(&self) -> String {
        let (min, max) = self.range;
        let show = |number: f64| match self.kind {
            Kind::Span | Kind::SpanOrPackets => Span::from_nanos(number as u64).to_string(),
            Kind::Rate => Rate::from_bits_per_sec(number as u64).to_string(),
            Kind::Bytes => Bytes::new(number as u64).to_string(),
            Kind::SignedBytes => format!("{number}b"),
            Kind::Percent => Value::Percent(number).to_string(),
            Kind::Frequency => Value::Frequency(number).to_string(),
            Kind::PerClass(each) => each.write(number as u64),
            _ => number.to_string(),
        };
        let plain = match self.kind {
            Kind::Flag => "on, off".to_owned(),
            Kind::Choice(words) => words.join(", "),
            Kind::Child => "[NAME[:PRESET] [PARAMETER VALUE]...]".to_owned(),
            Kind::Children => "[NAME[:PRESET] [PARAMETER VALUE]...], once for each class".to_owned(),
            Kind::Name => "a name".to_owned(),
            Kind::Notation(notation) => format!("[{}]", notation.form),
            Kind::PerClass(_) => {
                format!("{} to {} for each class, separated by commas", show(min), show(max))
            }
            _ => format!("{} to {}", show(min), show(max)),
        };
        match (self.auto, self.auto_word) {
            ("", _) => plain,
            (_, "") => format!("{plain}, or auto"),
            (_, word) => format!("{plain}, or {word} (auto)"),
        }
    }

    fn error(&self, value: String, problem: String) -> ParamError {
        ParamError { param: self.name.to_owned(), value, problem, inside: None }
    }
}

/// A whole number, decimal or as tc writes masks: `0xff`.
fn whole(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) if digits.bytes().all(|digit| digit.is_ascii_hexdigit()) => {
            u64::from_str_radix(digits, 16).ok()
        }
        Some(_) => None,
        None => text.parse().ok(),
    }
}
