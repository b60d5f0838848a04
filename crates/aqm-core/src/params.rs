//! Parameters: declared once, and from that declaration read, checked, printed and documented everywhere.

use crate::spec::Spec;
use crate::units::{Bytes, Rate, Size, Span, parse};
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

/// A parameter's value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// Derived from other parameters or from the link; the declaration's `auto` says how.
    Auto,
    /// A length of time.
    Span(Span),
    /// A bit rate.
    Rate(Rate),
    /// A number of bytes.
    Bytes(Bytes),
    /// A queue size in packets or bytes.
    Size(Size),
    /// A fraction or probability.
    Fraction(f64),
    /// A plain number.
    Number(f64),
    /// A whole number.
    Count(u64),
    /// On or off.
    Flag(bool),
    /// One of a few words.
    Choice(&'static str),
    /// Whole numbers, one for each class; further classes take the last.
    Counts(Counts),
    /// Disciplines in notation, one for each class; further classes take the last.
    Children(Text),
}

/// Up to 16 whole numbers, held in place so that values stay plain copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    numbers: [u32; 16],
    length: usize,
}

impl Counts {
    /// These numbers; `None` if there are none or too many.
    pub const fn new(numbers: &[u32]) -> Option<Counts> {
        let mut counts = Counts { numbers: [0; 16], length: numbers.len() };
        if numbers.is_empty() || numbers.len() > counts.numbers.len() {
            return None;
        }
        let mut index = 0;
        while index < numbers.len() {
            counts.numbers[index] = numbers[index];
            index += 1;
        }
        Some(counts)
    }

    /// The numbers.
    pub fn as_slice(&self) -> &[u32] {
        &self.numbers[..self.length]
    }

    /// The number of class `class`: the last where the list is shorter.
    pub fn of_class(&self, class: usize) -> u32 {
        self.numbers[class.min(self.length - 1)]
    }
}

/// A text of up to 120 bytes, held in place so that values stay plain copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Text {
    bytes: [u8; 120],
    length: u8,
}

impl Text {
    /// `text`, unless it is too long.
    pub const fn new(text: &str) -> Option<Text> {
        let mut bytes = [0; 120];
        let given = text.as_bytes();
        if given.len() > bytes.len() {
            return None;
        }
        let mut index = 0;
        while index < given.len() {
            bytes[index] = given[index];
            index += 1;
        }
        Some(Text { bytes, length: given.len() as u8 })
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        core::str::from_utf8(&self.bytes[..usize::from(self.length)]).expect("it was made from text")
    }
}

/// What kind of value a parameter takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A length of time.
    Span,
    /// A bit rate.
    Rate,
    /// A number of bytes.
    Bytes,
    /// A queue size in packets or bytes.
    Size,
    /// A fraction or probability.
    Fraction,
    /// A plain number.
    Number,
    /// A whole number.
    Count,
    /// On or off.
    Flag,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// Whole numbers, separated by commas.
    Counts,
    /// Disciplines with their parameters, separated by commas: `codel:linux/target=10ms/ecn,fifo`. The notation has
    /// no brackets, so a child that is classful itself cannot be given lists.
    Children,
}

impl Kind {
    /// The unit as shown to users, empty where there is none.
    pub const fn unit(self) -> &'static str {
        match self {
            Kind::Span => "time",
            Kind::Rate => "rate",
            Kind::Bytes => "bytes",
            Kind::Size => "packets or bytes",
            Kind::Fraction => "fraction",
            Kind::Number => "number",
            Kind::Count => "count",
            Kind::Flag => "on/off",
            Kind::Choice(_) => "choice",
            Kind::Counts => "counts",
            Kind::Children => "disciplines",
        }
    }
}

/// The declaration of one parameter.
#[derive(Clone, Copy, Debug)]
pub struct ParamSpec {
    /// tc's name for it, where tc has one.
    pub name: &'static str,
    /// What it takes.
    pub kind: Kind,
    /// Value when nothing is said.
    pub default: Value,
    /// Smallest and largest allowed value, in the kind's base unit.
    pub range: (f64, f64),
    /// How `Auto` is derived; empty if `Auto` is not allowed.
    pub auto: &'static str,
    /// Whether its words stand alone in a spec, without the name before them: tc's keywords.
    pub keywords: bool,
    /// What it does, in one sentence.
    pub help: &'static str,
    /// Where the default comes from.
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
        ParamSpec { name, kind, default, range, auto: "", keywords: false, help, reference }
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

    /// Declares a choice; the first word is the default.
    pub const fn choice(
        name: &'static str,
        words: &'static [&'static str],
        help: &'static str,
        reference: &'static str,
    ) -> ParamSpec {
        let default = Value::Choice(words[0]);
        ParamSpec::new(name, Kind::Choice(words), default, (0.0, 0.0), help, reference)
    }

    /// Declares a choice whose words stand alone, as tc's keywords do (`cake diffserv4`); the first is the default.
    pub const fn keywords(
        name: &'static str,
        words: &'static [&'static str],
        help: &'static str,
        reference: &'static str,
    ) -> ParamSpec {
        let mut spec = ParamSpec::choice(name, words, help, reference);
        spec.keywords = true;
        spec
    }

    /// Declares the disciplines inside a classful one, `fifo` unless said otherwise.
    pub const fn children(name: &'static str, help: &'static str, reference: &'static str) -> ParamSpec {
        let default = Value::Children(Text::new("fifo").expect("it is short"));
        ParamSpec::new(name, Kind::Children, default, (0.0, 1.0), help, reference)
    }

    /// Allows `auto`, derived as `how` says.
    pub const fn or_auto(mut self, how: &'static str) -> ParamSpec {
        self.auto = how;
        self
    }

    /// Checks that `value` is of this parameter's kind and within its range.
    pub fn check(&self, value: Value) -> Result<Value, ParamError> {
        let (min, max) = self.range;
        let magnitude = match (self.kind, value) {
            (_, Value::Auto) if !self.auto.is_empty() => return Ok(value),
            (Kind::Flag, Value::Flag(_)) => return Ok(value),
            (Kind::Choice(words), Value::Choice(word)) if words.contains(&word) => return Ok(value),
            (Kind::Children, Value::Children(text)) => {
                read_children(text.as_str()).map_err(|problem| self.error(value.to_string(), problem))?;
                return Ok(value);
            }
            (Kind::Counts, Value::Counts(counts)) => {
                let numbers = || counts.as_slice().iter().map(|number| f64::from(*number));
                let outside = numbers().find(|number| *number < min || *number > max);
                outside.unwrap_or(f64::from(counts.of_class(0)))
            }
            (Kind::Span, Value::Span(span)) => span.as_nanos() as f64,
            (Kind::Rate, Value::Rate(rate)) => rate.as_bits_per_sec() as f64,
            (Kind::Bytes, Value::Bytes(bytes)) => bytes.as_u64() as f64,
            (Kind::Size, Value::Size(size)) => size.count() as f64,
            (Kind::Fraction, Value::Fraction(number)) | (Kind::Number, Value::Number(number)) => number,
            (Kind::Count, Value::Count(count)) => count as f64,
            _ => return Err(self.error(value.to_string(), format!("is not a {}", self.kind.unit()))),
        };
        if magnitude >= min && magnitude <= max {
            Ok(value)
        } else {
            Err(self.error(value.to_string(), format!("is out of range: allowed is {}", self.range_text())))
        }
    }

    /// Reads `text` as a value of this parameter's kind and checks it.
    pub fn parse(&self, text: &str) -> Result<Value, ParamError> {
        if !self.auto.is_empty() && text.eq_ignore_ascii_case("auto") {
            return Ok(Value::Auto);
        }
        let unit_error = |error: parse::UnitError| self.error(error.text, error.problem);
        let value = match self.kind {
            Kind::Span => Value::Span(parse::span(text).map_err(unit_error)?),
            Kind::Rate => Value::Rate(parse::rate(text).map_err(unit_error)?),
            Kind::Bytes => Value::Bytes(parse::bytes(text).map_err(unit_error)?),
            Kind::Size => Value::Size(parse::size(text).map_err(unit_error)?),
            Kind::Fraction => Value::Fraction(parse::fraction(text).map_err(unit_error)?),
            Kind::Number => match text.parse::<f64>() {
                Ok(number) if number.is_finite() => Value::Number(number),
                _ => return Err(self.error(text.to_owned(), "is not a number".to_owned())),
            },
            Kind::Count => match text.parse::<u64>() {
                Ok(count) => Value::Count(count),
                Err(_) => return Err(self.error(text.to_owned(), "is not a whole number".to_owned())),
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
            Kind::Counts => {
                let numbers = text.split(',').map(str::parse).collect::<Result<Vec<u32>, _>>();
                match numbers.ok().and_then(|numbers| Counts::new(&numbers)) {
                    Some(counts) => Value::Counts(counts),
                    None => {
                        let problem =
                            "is not a list of 1 to 16 whole numbers, separated by commas".to_owned();
                        return Err(self.error(text.to_owned(), problem));
                    }
                }
            }
            Kind::Children => match Text::new(text) {
                Some(text) => Value::Children(text),
                None => return Err(self.error(text.to_owned(), "has more than 120 bytes".to_owned())),
            },
        };
        self.check(value)
    }

    /// The allowed range in the parameter's unit, or the allowed words.
    pub fn range_text(&self) -> String {
        let (min, max) = self.range;
        let show = |number: f64| match self.kind {
            Kind::Span => Span::from_nanos(number as u64).to_string(),
            Kind::Rate => Rate::from_bits_per_sec(number as u64).to_string(),
            Kind::Bytes => Bytes::new(number as u64).to_string(),
            _ => number.to_string(),
        };
        let plain = match self.kind {
            Kind::Flag => "on, off".to_owned(),
            Kind::Choice(words) => words.join(", "),
            Kind::Children => {
                "NAME[:PRESET][/PARAMETER=VALUE]..., for each class, separated by commas".to_owned()
            }
            Kind::Counts => format!("{} to {} for each class, separated by commas", show(min), show(max)),
            _ => format!("{} to {}", show(min), show(max)),
        };
        if self.auto.is_empty() { plain } else { format!("{plain}, or auto") }
    }

    fn error(&self, value: String, problem: String) -> ParamError {
        ParamError { param: self.name.to_owned(), value, problem }
    }
}

impl fmt::Display for Value {
    /// Writes the value in the notation that it is read in.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Auto => f.write_str("auto"),
            Value::Span(span) => span.fmt(f),
            Value::Rate(rate) => rate.fmt(f),
            Value::Bytes(bytes) => bytes.fmt(f),
            Value::Size(size) => size.fmt(f),
            Value::Fraction(number) | Value::Number(number) => write!(f, "{number}"),
            Value::Count(count) => write!(f, "{count}"),
            Value::Flag(on) => f.write_str(if *on { "on" } else { "off" }),
            Value::Choice(word) => f.write_str(word),
            Value::Counts(counts) => {
                let words: Vec<_> = counts.as_slice().iter().map(u32::to_string).collect();
                f.write_str(&words.join(","))
            }
            Value::Children(text) => f.write_str(text.as_str()),
        }
    }
}

/// The disciplines in `text`, or what is wrong with it.
fn read_children(text: &str) -> Result<Vec<Spec>, String> {
    let child = |text: &str| {
        let words: Vec<&str> = text.split('/').flat_map(|word| word.splitn(2, '=')).collect();
        Spec::from_words(&words).map_err(|error| format!("cannot be a child: {error}"))
    };
    text.split(',').map(child).collect()
}

/// A named set of values and where they come from.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// `rfc8289`, `linux`, `ns3.27`, ...
    pub name: &'static str,
    /// Document, source tree and version that the values were read from.
    pub source: &'static str,
    /// Values that differ from the declarations' defaults.
    pub values: &'static [(&'static str, Value)],
}

/// Why a parameter was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParamError {
    /// Which parameter.
    pub param: String,
    /// The refused value as given.
    pub value: String,
    /// What is wrong and what is allowed.
    pub problem: String,
}

impl ParamError {
    /// A relation between parameters does not hold.
    pub fn relation(param: &str, value: impl ToString, problem: impl ToString) -> ParamError {
        ParamError { param: param.to_owned(), value: value.to_string(), problem: problem.to_string() }
    }
}

impl fmt::Display for ParamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.value.is_empty() {
            write!(f, "parameter '{}' {}", self.param, self.problem)
        } else {
            write!(f, "parameter '{}': '{}' {}", self.param, self.value, self.problem)
        }
    }
}

impl core::error::Error for ParamError {}

/// The values of all declared parameters of one discipline.
#[derive(Clone, Debug)]
pub struct Params {
    specs: &'static [ParamSpec],
    values: Vec<Value>,
    given: Vec<bool>,
}

impl Params {
    /// Every parameter at its declared default, then as `preset` says.
    ///
    /// # Panics
    /// If the preset names an undeclared parameter or a refused value; the conformance tests try every preset.
    pub fn new(specs: &'static [ParamSpec], preset: &Preset) -> Params {
        let values = specs.iter().map(|spec| spec.default).collect();
        let mut params = Params { specs, values, given: alloc::vec![false; specs.len()] };
        for (name, value) in preset.values {
            let index = params.index(name).expect("presets name declared parameters");
            params.values[index] = specs[index].check(*value).expect("presets hold allowed values");
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

    /// Sets one parameter from text.
    pub fn set_text(&mut self, name: &str, text: &str) -> Result<(), ParamError> {
        let index = self.find(name)?;
        self.values[index] = self.specs[index].parse(text)?;
        self.given[index] = true;
        Ok(())
    }

    /// Whether the user gave this parameter (rather than a preset or a default).
    pub fn is_given(&self, name: &str) -> bool {
        self.index(name).is_some_and(|index| self.given[index])
    }

    /// Declarations beside their values.
    pub fn iter(&self) -> impl Iterator<Item = (&'static ParamSpec, Value)> + '_ {
        self.specs.iter().zip(self.values.iter().copied())
    }

    /// Names of all parameters.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.specs.iter().map(|spec| spec.name)
    }

    /// The value of a declared parameter.
    ///
    /// # Panics
    /// If no such parameter is declared, as do the typed readers below; they also panic on another kind.
    /// Both are errors in the discipline's own file.
    pub fn get(&self, name: &str) -> Value {
        self.values[self.index(name).unwrap_or_else(|| panic!("parameter '{name}' is not declared"))]
    }

    /// A length of time.
    pub fn span(&self, name: &str) -> Span {
        match self.get(name) {
            Value::Span(span) => span,
            other => wrong_kind(name, other),
        }
    }

    /// A bit rate, or `None` for `auto`.
    pub fn rate(&self, name: &str) -> Option<Rate> {
        match self.get(name) {
            Value::Rate(rate) => Some(rate),
            Value::Auto => None,
            other => wrong_kind(name, other),
        }
    }

    /// A number of bytes, or `None` for `auto`.
    pub fn bytes(&self, name: &str) -> Option<Bytes> {
        match self.get(name) {
            Value::Bytes(bytes) => Some(bytes),
            Value::Auto => None,
            other => wrong_kind(name, other),
        }
    }

    /// A queue size, or `None` for `auto`.
    pub fn size(&self, name: &str) -> Option<Size> {
        match self.get(name) {
            Value::Size(size) => Some(size),
            Value::Auto => None,
            other => wrong_kind(name, other),
        }
    }

    /// A fraction or plain number.
    pub fn number(&self, name: &str) -> f64 {
        match self.get(name) {
            Value::Fraction(number) | Value::Number(number) => number,
            other => wrong_kind(name, other),
        }
    }

    /// A whole number.
    pub fn count(&self, name: &str) -> u64 {
        match self.get(name) {
            Value::Count(count) => count,
            other => wrong_kind(name, other),
        }
    }

    /// Whether a flag is on.
    pub fn flag(&self, name: &str) -> bool {
        match self.get(name) {
            Value::Flag(on) => on,
            other => wrong_kind(name, other),
        }
    }

    /// The chosen word.
    pub fn choice(&self, name: &str) -> &'static str {
        match self.get(name) {
            Value::Choice(word) => word,
            other => wrong_kind(name, other),
        }
    }

    /// Whole numbers for each class.
    pub fn counts(&self, name: &str) -> Counts {
        match self.get(name) {
            Value::Counts(counts) => counts,
            other => wrong_kind(name, other),
        }
    }

    /// The disciplines inside a classful one.
    pub fn children(&self, name: &str) -> Vec<Spec> {
        match self.get(name) {
            Value::Children(text) => read_children(text.as_str()).expect("checked when it was set"),
            other => wrong_kind(name, other),
        }
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
            }
        })
    }
}

fn wrong_kind(name: &str, value: Value) -> ! {
    panic!("parameter '{name}' is declared as another kind than {value:?}")
}

/// Whether two names are equal but for case, hyphens and underscores.
pub fn same_name(left: &str, right: &str) -> bool {
    let plain = |byte: u8| if byte == b'_' { b'-' } else { byte.to_ascii_lowercase() };
    left.len() == right.len() && left.bytes().zip(right.bytes()).all(|(l, r)| plain(l) == plain(r))
}

/// `, did you mean 'target'?` for the nearest candidate within two edits (a third of a longer word), else nothing.
pub fn did_you_mean<'a>(given: &str, candidates: impl Iterator<Item = &'a str>) -> String {
    let given = given.to_ascii_lowercase();
    let allowed = (given.chars().count() / 3).max(2);
    candidates
        .map(|candidate| (edits(&given, &candidate.to_ascii_lowercase()), candidate))
        .filter(|(distance, candidate)| *distance <= allowed && *distance < candidate.len())
        .min_by_key(|(distance, _)| *distance)
        .map_or(String::new(), |(_, candidate)| format!(", did you mean '{candidate}'?"))
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

#[cfg(test)]
mod tests {
    use super::*;

    const CHILD: ParamSpec = ParamSpec::children("child", "What serves each class", "none");
    const WEIGHT: ParamSpec = ParamSpec::new(
        "weight",
        Kind::Counts,
        Value::Counts(Counts::new(&[1]).expect("one number")),
        (1.0, 100.0),
        "Share of each class",
        "none",
    );

    fn refusal(declared: &ParamSpec, text: &str) -> String {
        declared.parse(text).unwrap_err().to_string()
    }

    #[test]
    fn a_list_has_a_number_for_each_class_and_every_one_is_checked() {
        let Ok(Value::Counts(weights)) = WEIGHT.parse("4,2,1") else { panic!("it is a list") };
        assert_eq!((weights.as_slice(), weights.of_class(1), weights.of_class(7)), (&[4, 2, 1][..], 2, 1));
        assert_eq!(
            refusal(&WEIGHT, "4,101,1"),
            "parameter 'weight': '4,101,1' is out of range: allowed is 1 to 100 for each class, separated by commas"
        );
        for text in ["", "1,", "1;2", "1, 2", "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1"] {
            assert!(refusal(&WEIGHT, text).contains("is not a list of 1 to 16 whole numbers"), "{text}");
        }
    }

    #[test]
    fn children_are_read_with_presets_parameters_and_flags() {
        let text = "codel:linux/target=10ms/ecn,fifo/limit=5p";
        let children = read_children(text).unwrap();
        let shown: Vec<_> = children.iter().map(Spec::to_string).collect();
        assert_eq!(shown, ["codel:linux target 10ms ecn", "fifo:tail limit 5p"]);
        assert_eq!(CHILD.parse(text).unwrap().to_string(), text);
    }

    #[test]
    fn a_refused_child_says_which_of_its_parameters_is_wrong() {
        let error = refusal(&CHILD, "fifo,codel/tarjet=10ms");
        let expected = "parameter 'child': 'fifo,codel/tarjet=10ms' cannot be a child: codel: parameter 'tarjet' is unknown, did you mean 'target'?";
        assert!(error.starts_with(expected), "{error}");
        assert!(refusal(&CHILD, "codell").contains("did you mean 'codel'?"));
        assert!(refusal(&CHILD, "codel/limit").contains("parameter 'limit' needs a value"));
        assert!(refusal(&CHILD, "fifo,").contains("unknown discipline ''"));
        assert!(refusal(&CHILD, &"fifo,".repeat(25)).contains("has more than 120 bytes"));
    }
}
