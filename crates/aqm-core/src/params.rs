//! Parameters: declared once; parsing, checks, output and documentation follow from the declaration.

mod choice;
mod error;
mod kind;
mod notation;
mod per_class;
mod tc_number;

pub use crate::names::{did_you_mean, known, nearest, same_name};
pub use choice::Choice;
pub use error::ParamError;
pub use kind::Kind;
pub use notation::{Notation, ReadFile, WithFiles};
pub use per_class::{Each, MOST_CLASSES, PerClass};
pub use tc_number::TcNumber;

use crate::brackets;
use crate::input_error::InputError;
use crate::units::{Bytes, Rate, Size, Span, parse};
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::{fmt, mem};

/// A parameter's value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Derived from other parameters or from the link; the declaration's `auto` says how.
    Auto,
    /// A length of time.
    Span(Span),
    /// A bit rate.
    Rate(Rate),
    /// A number of bytes.
    Bytes(Bytes),
    /// A number of bytes that may be negative.
    SignedBytes(i64),
    /// A queue size in packets or bytes.
    Size(Size),
    /// A fraction or probability.
    Fraction(f64),
    /// A share, in percent.
    Percent(f64),
    /// A gain per second.
    Frequency(f64),
    /// A plain number.
    Number(f64),
    /// A whole number.
    Count(u64),
    /// On or off.
    Flag(bool),
    /// One of a few words.
    Choice(&'static str),
    /// Numbers, bytes or times, one per class; further classes use the last.
    PerClass(PerClass),
    /// Children; where there are several, one per class, and further classes use the last.
    Children(Vec<Child>),
    /// The name of something that the host knows: a word.
    Name(String),
    /// Text in a notation of the discipline's own, in the form in which it is written.
    Text(String),
    /// A discipline or another notation, in declarations and presets; [`Params`] hold it resolved, as `Children` or `Text`.
    Notation(&'static str),
}

/// A child, resolved: its name, its preset and all its parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Child {
    /// Name of the discipline.
    pub name: &'static str,
    /// Name of the preset.
    pub preset: &'static str,
    /// All parameters.
    pub params: Params,
}

/// Parses the notation of a discipline, or says what is wrong with it. It is passed in, so that
/// parameters can hold children without depending on the registry.
pub type ReadChild = fn(&str) -> Result<Child, InputError>;

/// The declaration of one parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct ParamSpec {
    /// tc's name for it, where tc has one.
    pub name: &'static str,
    /// What it takes.
    pub kind: Kind,
    /// Default.
    pub default: Value,
    /// Smallest and largest allowed value, in the kind's base unit.
    pub range: (f64, f64),
    /// How `Auto` is derived; empty if `Auto` is not allowed.
    pub auto: &'static str,
    /// Another word for `auto`, which needs no parameter name before it: tc's `unlimited`; empty if there is none.
    pub auto_word: &'static str,
    /// Whether its words need no parameter name before them in a spec: tc's keywords.
    pub keywords: bool,
    /// What a number without a unit is to tc.
    pub tc_number: TcNumber,
    /// What it does, in one sentence.
    pub help: &'static str,
    /// Source of the default.
    pub reference: &'static str,
}

impl ParamSpec {
    /// Declares a parameter. `range` is in the base unit: nanoseconds, bit/s, bytes, packets or plain.
    pub const fn new(
        name: &'static str,
        kind: Kind,
        default: Value,
        range: (f64, f64),
        help: &'static str,
        reference: &'static str,
    ) -> ParamSpec {
        let (auto, auto_word, keywords, tc_number) = ("", "", false, TcNumber::Same);
        ParamSpec { name, kind, default, range, auto, auto_word, keywords, tc_number, help, reference }
    }

    /// Declares a flag.
    pub const fn flag(
        name: &'static str,
        default: bool,
        help: &'static str,
        reference: &'static str,
    ) -> ParamSpec {
        ParamSpec::new(name, Kind::Flag, Value::Flag(default), (0.0, 1.0), help, reference)
    }

    /// Declares a choice between the variants of `C`; the first is the default.
    pub const fn choice<C: Choice>(
        name: &'static str,
        help: &'static str,
        reference: &'static str,
    ) -> ParamSpec {
        ParamSpec::one_of(name, C::WORDS, help, reference)
    }

    /// Declares a choice between words, of which the first is the default: for some variants of a choice, or in another
    /// order, and for words that are known at run time.
    pub const fn one_of(
        name: &'static str,
        words: &'static [&'static str],
        help: &'static str,
        reference: &'static str,
    ) -> ParamSpec {
        let default = Value::Choice(words[0]);
        ParamSpec::new(name, Kind::Choice(words), default, (0.0, 0.0), help, reference)
    }

    /// Declares a choice whose words need no parameter name, as tc's keywords (`cake diffserv4`); the first is the
    /// default.
    pub const fn keywords<C: Choice>(
        name: &'static str,
        help: &'static str,
        reference: &'static str,
    ) -> ParamSpec {
        let mut spec = ParamSpec::choice::<C>(name, help, reference);
        spec.keywords = true;
        spec
    }

    /// Declares the children of a classful discipline, `fifo` by default.
    pub const fn children(name: &'static str, help: &'static str, reference: &'static str) -> ParamSpec {
        ParamSpec::new(name, Kind::Children, Value::Notation("fifo"), (0.0, 1.0), help, reference)
    }

    /// Declares one child, `default` in tc's notation by default.
    pub const fn child(
        name: &'static str,
        default: &'static str,
        help: &'static str,
        reference: &'static str,
    ) -> ParamSpec {
        ParamSpec::new(name, Kind::Child, Value::Notation(default), (0.0, 1.0), help, reference)
    }

    /// The same with another default, taken from `reference`.
    pub const fn with_default(mut self, default: Value, reference: &'static str) -> ParamSpec {
        // Constants cannot run destructors; a declared value owns nothing to free.
        mem::forget(mem::replace(&mut self.default, default));
        self.with_reference(reference)
    }

    /// The same with another description.
    pub const fn with_help(mut self, help: &'static str) -> ParamSpec {
        self.help = help;
        self
    }

    /// The same with another source of the default.
    pub const fn with_reference(mut self, reference: &'static str) -> ParamSpec {
        self.reference = reference;
        self
    }

    /// The same with `auto` as default, derived as `how` says.
    pub const fn auto_unless_given(self, how: &'static str) -> ParamSpec {
        let reference = self.reference;
        self.with_default(Value::Auto, reference).or_auto(how)
    }

    /// Allows `auto`, derived as `how` says.
    pub const fn or_auto(mut self, how: &'static str) -> ParamSpec {
        self.auto = how;
        self
    }

    /// The same where tc counts a number without a unit so.
    pub const fn tc_counts(mut self, tc_number: TcNumber) -> ParamSpec {
        self.tc_number = tc_number;
        self
    }

    /// The same with another word for `auto`.
    pub const fn auto_called(mut self, word: &'static str) -> ParamSpec {
        self.auto_word = word;
        self
    }

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

impl fmt::Display for Child {
    /// Writes it as in [`Spec`](crate::spec::Spec), without brackets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}{}", self.name, self.preset, self.params.given())
    }
}

impl fmt::Display for Value {
    /// Writes the value in the notation of the parser.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Auto => f.write_str("auto"),
            Value::Span(span) => span.fmt(f),
            Value::Rate(rate) => rate.fmt(f),
            Value::Bytes(bytes) => bytes.fmt(f),
            Value::SignedBytes(bytes) => write!(f, "{bytes}b"),
            Value::Size(size) => size.fmt(f),
            Value::Fraction(number) | Value::Number(number) => write!(f, "{number}"),
            Value::Percent(number) => write!(f, "{number}%"),
            Value::Frequency(number) => write!(f, "{number}hz"),
            Value::Count(count) => write!(f, "{count}"),
            Value::Flag(on) => f.write_str(if *on { "on" } else { "off" }),
            Value::Choice(word) => f.write_str(word),
            Value::PerClass(list) => list.fmt(f),
            Value::Children(children) => {
                let words: Vec<_> = children.iter().map(|child| format!("[{child}]")).collect();
                f.write_str(&words.join(" "))
            }
            Value::Name(name) => f.write_str(name),
            Value::Text(text) => write!(f, "[{text}]"),
            Value::Notation(text) => write!(f, "[{text}]"),
        }
    }
}

/// A named set of values and their source.
#[derive(Clone, Debug)]
pub struct Preset {
    /// `rfc8289`, `linux`, `ns3.27`, ...
    pub name: &'static str,
    /// Document, source tree and version that the values were read from.
    pub source: &'static str,
    /// Values that differ from the declarations' defaults.
    pub values: &'static [(&'static str, Value)],
}

/// The values of all declared parameters of one discipline.
#[derive(Clone, Debug, PartialEq)]
pub struct Params {
    specs: &'static [ParamSpec],
    values: Vec<Value>,
    given: Vec<bool>,
}

impl Params {
    /// Every parameter at its declared default, then with `preset`; `read` parses disciplines in them.
    ///
    /// # Panics
    /// If the preset names an undeclared parameter or has a refused value; the conformance tests try every preset.
    pub fn new(specs: &'static [ParamSpec], preset: &Preset, read: ReadChild) -> Params {
        let resolved = |spec: &ParamSpec, value: &Value| match (spec.kind, value) {
            (Kind::Notation(notation), Value::Notation(text)) => {
                Value::Text((notation.canonical)(text).expect("declarations are in their notation"))
            }
            (_, Value::Notation(text)) => Value::Children(alloc::vec![
                read(text).expect("declarations name disciplines that there are")
            ]),
            (_, value) => value.clone(),
        };
        let values = specs.iter().map(|spec| resolved(spec, &spec.default)).collect();
        let mut params = Params { specs, values, given: alloc::vec![false; specs.len()] };
        for (name, value) in preset.values {
            let index = params.index(name).expect("presets name declared parameters");
            params.values[index] =
                specs[index].check(resolved(&specs[index], value)).expect("presets hold allowed values");
        }
        params
    }

    /// Sets one parameter by name.
    pub fn set(&mut self, name: &str, value: Value) -> Result<(), ParamError> {
        let index = self.find(name)?;
        self.values[index] = self.specs[index].check(value)?;
        self.given[index] = true;
        Ok(())
    }

    /// Sets one parameter from text; `read` parses disciplines in brackets.
    pub fn set_text(&mut self, name: &str, text: &str, read: ReadChild) -> Result<(), ParamError> {
        let index = self.find(name)?;
        self.values[index] = self.specs[index].parse(text, read)?;
        self.given[index] = true;
        Ok(())
    }

    /// Puts the content of files in place of their names, where a notation names some.
    ///
    /// # Errors
    /// If a file cannot be read, or has what a notation does not.
    pub fn read_files(&mut self, read: ReadFile<'_>) -> Result<(), InputError> {
        for (spec, value) in self.specs.iter().zip(&mut self.values) {
            if let (Kind::Notation(Notation { with_files: Some(with_files), .. }), Value::Text(text)) =
                (spec.kind, value)
            {
                *text = with_files(text, read)?;
            }
        }
        Ok(())
    }

    /// Whether the user gave this parameter (rather than a preset or a default).
    pub fn is_given(&self, name: &str) -> bool {
        self.index(name).is_some_and(|index| self.given[index])
    }

    /// Declarations with their values.
    pub fn iter(&self) -> impl Iterator<Item = (&'static ParamSpec, &Value)> {
        self.specs.iter().zip(&self.values)
    }

    /// The parameters given by the user, in the notation of the parser, each with a space before it.
    pub fn given(&self) -> String {
        let mut text = String::new();
        for (param, value) in self.iter().filter(|(param, _)| self.is_given(param.name)) {
            text += &match (param.kind, value) {
                (Kind::Flag, Value::Flag(true)) => format!(" {}", param.name),
                (Kind::Flag, _) => format!(" no{}", param.name),
                (_, Value::Children(children)) => {
                    children.iter().map(|child| format!(" {} [{child}]", param.name)).collect()
                }
                _ => format!(" {} {value}", param.name),
            };
        }
        text
    }

    /// All direct children, as given.
    pub fn all_children(&self) -> impl Iterator<Item = &Child> {
        let lists = self.values.iter().filter_map(|value| match value {
            Value::Children(children) => Some(children),
            _ => None,
        });
        lists.flatten()
    }

    /// Names of all parameters.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.specs.iter().map(|spec| spec.name)
    }

    /// How many disciplines this one will contain, at all depths: one for each of its classes or bands.
    pub fn disciplines_inside(&self) -> u64 {
        let inside = |(param, value): (&ParamSpec, &Value)| {
            let Value::Children(children) = value else { return 0 };
            let sizes = children.iter().map(|child| 1u64.saturating_add(child.params.disciplines_inside()));
            let counted = ["classes", "bands"].into_iter().find(|name| self.index(name).is_some());
            let classes = match counted {
                Some(name) if param.kind == Kind::Children => self.count(name) as usize,
                _ => children.len(),
            };
            let last = sizes.clone().next_back().unwrap_or(0);
            let further = classes.saturating_sub(children.len()) as u64;
            sizes.take(classes).fold(further.saturating_mul(last), u64::saturating_add)
        };
        self.iter().map(inside).fold(0, u64::saturating_add)
    }

    /// The value of a declared parameter.
    ///
    /// # Panics
    /// If no such parameter is declared. The typed readers below also panic on another kind. Both are errors in the
    /// discipline's own file.
    pub fn get(&self, name: &str) -> &Value {
        &self.values[self.index(name).unwrap_or_else(|| panic!("parameter '{name}' is not declared"))]
    }

    /// A length of time.
    pub fn span(&self, name: &str) -> Span {
        match self.get(name) {
            Value::Span(span) => *span,
            other => wrong_kind(name, other),
        }
    }

    /// A bit rate, or `None` for `auto`.
    pub fn rate(&self, name: &str) -> Option<Rate> {
        match self.get(name) {
            Value::Rate(rate) => Some(*rate),
            Value::Auto => None,
            other => wrong_kind(name, other),
        }
    }

    /// A number of bytes, or `None` for `auto`.
    pub fn bytes(&self, name: &str) -> Option<Bytes> {
        match self.get(name) {
            Value::Bytes(bytes) => Some(*bytes),
            Value::Auto => None,
            other => wrong_kind(name, other),
        }
    }

    /// A number of bytes that may be negative, or `None` for `auto`.
    pub fn signed_bytes(&self, name: &str) -> Option<i64> {
        match self.get(name) {
            Value::SignedBytes(bytes) => Some(*bytes),
            Value::Auto => None,
            other => wrong_kind(name, other),
        }
    }

    /// A queue size, or `None` for `auto`.
    pub fn size(&self, name: &str) -> Option<Size> {
        match self.get(name) {
            Value::Size(size) => Some(*size),
            Value::Auto => None,
            other => wrong_kind(name, other),
        }
    }

    /// A fraction, a gain per second or a plain number.
    pub fn number(&self, name: &str) -> f64 {
        match self.get(name) {
            Value::Fraction(number) | Value::Frequency(number) | Value::Number(number) => *number,
            Value::Percent(number) => *number / 100.0,
            other => wrong_kind(name, other),
        }
    }

    /// A whole number.
    pub fn count(&self, name: &str) -> u64 {
        match self.get(name) {
            Value::Count(count) => *count,
            other => wrong_kind(name, other),
        }
    }

    /// Whether a flag is on.
    pub fn flag(&self, name: &str) -> bool {
        match self.get(name) {
            Value::Flag(on) => *on,
            other => wrong_kind(name, other),
        }
    }

    /// Text in a notation of the discipline's own.
    pub fn text(&self, name: &str) -> &str {
        match self.get(name) {
            Value::Text(text) => text,
            other => wrong_kind(name, other),
        }
    }

    /// The name of something that the host knows, or `None` for `auto`.
    pub fn name(&self, name: &str) -> Option<&str> {
        match self.get(name) {
            Value::Name(given) => Some(given),
            Value::Auto => None,
            other => wrong_kind(name, other),
        }
    }

    /// The chosen variant.
    pub fn choice<C: Choice>(&self, name: &str) -> C {
        self.choice_or_auto(name).unwrap_or_else(|| wrong_kind(name, &Value::Auto))
    }

    /// The chosen variant, or `None` for `auto`.
    pub fn choice_or_auto<C: Choice>(&self, name: &str) -> Option<C> {
        match self.get(name) {
            value @ Value::Choice(word) => Some(C::of_word(word).unwrap_or_else(|| wrong_kind(name, value))),
            Value::Auto => None,
            other => wrong_kind(name, other),
        }
    }

    /// Numbers, bytes or times for each class.
    pub fn per_class(&self, name: &str) -> &PerClass {
        match self.get(name) {
            Value::PerClass(list) => list,
            other => wrong_kind(name, other),
        }
    }

    /// The children of a classful discipline: at least one.
    pub fn children(&self, name: &str) -> &[Child] {
        match self.get(name) {
            Value::Children(children) => children,
            other => wrong_kind(name, other),
        }
    }

    /// The child of this name.
    pub fn child(&self, name: &str) -> &Child {
        &self.children(name)[0]
    }

    /// The declaration of this name, or the nearest name.
    pub(crate) fn declared(&self, name: &str) -> Result<&'static ParamSpec, ParamError> {
        self.find(name).map(|index| &self.specs[index])
    }

    fn index(&self, name: &str) -> Option<usize> {
        self.specs.iter().position(|spec| same_name(spec.name, name))
    }

    fn find(&self, name: &str) -> Result<usize, ParamError> {
        self.index(name).ok_or_else(|| {
            let names = self.specs.iter().map(|spec| spec.name);
            let allowed: Vec<_> = names.clone().collect();
            ParamError {
                param: name.to_owned(),
                value: String::new(),
                problem: format!("is unknown{}; known are {}", did_you_mean(name, names), allowed.join(", ")),
                inside: None,
            }
        })
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

fn wrong_kind(name: &str, value: &Value) -> ! {
    panic!("parameter '{name}' is declared as another kind than {value:?}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::read_child;

    const CHILD: ParamSpec = ParamSpec::children("child", "Discipline of each class", "none");
    const WEIGHT: ParamSpec = ParamSpec::new(
        "weight",
        Kind::PerClass(Each::Count),
        Value::PerClass(PerClass::of(Each::Count, &[1])),
        (1.0, 100.0),
        "Share of each class",
        "none",
    );

    fn refusal(declared: &ParamSpec, text: &str) -> String {
        declared.parse(text, read_child).unwrap_err().to_string()
    }

    #[test]
    fn every_number_of_a_list_is_checked() {
        let Ok(Value::PerClass(weights)) = WEIGHT.parse("4,2,1", read_child) else { panic!("it is a list") };
        assert_eq!((weights.as_slice(), weights.of_class(1), weights.of_class(7)), (&[4, 2, 1][..], 2, 1));
        assert_eq!(
            refusal(&WEIGHT, "4,101,1"),
            "parameter 'weight': '4,101,1' is out of range: allowed is 1 to 100 for each class, separated by commas"
        );
        for text in ["", "1,", "1;2", "1, 2", "1b"] {
            assert!(refusal(&WEIGHT, text).contains("is not a whole number"), "{text}");
        }
        let of_every_class = ["1"; MOST_CLASSES].join(",");
        assert!(WEIGHT.parse(&of_every_class, read_child).is_ok());
        let error = refusal(&WEIGHT, &format!("{of_every_class},1"));
        assert!(error.ends_with("has 65 numbers: allowed are 64"), "{error}");
    }

    #[test]
    fn children_are_read_with_presets_parameters_and_children_of_their_own() {
        let text = "[codel:linux target 10ms ecn] [drr child [fifo limit 5p] child [red] quantum 3000b]";
        let Ok(Value::Children(children)) = CHILD.parse(text, read_child) else {
            panic!("{text} is refused")
        };
        let shown: Vec<_> = children.iter().map(Child::to_string).collect();
        let second = "drr:linux child [fifo:tail limit 5p] child [red:floyd] quantum 3000b";
        assert_eq!(shown, ["codel:linux target 10ms ecn", second]);
        let canonical = Value::Children(children).to_string();
        assert_eq!(CHILD.parse(&canonical, read_child).unwrap().to_string(), canonical);
    }

    #[test]
    fn a_named_child_is_one_discipline() {
        const HIGH: ParamSpec = ParamSpec::child("high", "codel", "What serves new flows", "none");
        assert_eq!(HIGH.default.to_string(), "[codel]");
        assert_eq!(HIGH.parse("[ pie ]", read_child).unwrap().to_string(), "[pie:rfc8033]");
        let two = refusal(&HIGH, "[codel] [fifo]");
        assert_eq!(two, "parameter 'high': '2 disciplines' are too many: allowed are 1");
        assert!(refusal(&HIGH, "[codell]").starts_with("high: unknown discipline 'codell', did you mean"));
    }

    #[test]
    fn the_error_of_a_child_names_its_place_and_parameter() {
        let error = refusal(&CHILD, "[fifo] [codel tarjet 10ms]");
        let expected = "child 2: codel: parameter 'tarjet' is unknown, did you mean 'target'?";
        assert!(error.starts_with(expected), "{error}");
        let error = refusal(&CHILD, "[drr child [fifo] child [pie target -1s]]");
        assert!(error.starts_with("child 1: drr child 2: pie: parameter 'target': '-1s'"), "{error}");
        assert!(refusal(&CHILD, "[codell]").contains("did you mean 'codel'?"));
        assert!(refusal(&CHILD, "[codel limit]").contains("parameter 'limit' needs a value"));
        let empty = "child 2: the brackets are empty: write child [codel target 10ms]";
        assert_eq!(refusal(&CHILD, "[fifo] [ ]"), empty);
        let open = "parameter 'child': '[fifo' has a '[' without its ']'";
        assert_eq!(refusal(&CHILD, "[fifo"), open);
        let many = refusal(&CHILD, &"[fifo] ".repeat(65));
        assert_eq!(many, "parameter 'child': '65 disciplines' are too many: allowed are 64");
    }

    #[test]
    fn children_without_brackets_are_refused_with_the_right_notation() {
        let error = refusal(&CHILD, "codel:linux/target=10ms,fifo");
        let expected = "parameter 'child': 'codel:linux/target=10ms,fifo' is not in brackets: \
                        write child [codel:linux target 10ms] child [fifo]";
        assert_eq!(error, expected);
        let nothing = "parameter 'child': '' is not in brackets: write child [codel target 10ms]";
        assert_eq!(refusal(&CHILD, "").replace("parameter 'child' is", "parameter 'child': '' is"), nothing);
    }
}
