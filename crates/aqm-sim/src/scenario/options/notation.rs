//! The values of options, from tc's notation to base units and back.

use super::declaration::{Form, NONE, OptionSpec};
use aqm_core::input_error::InputError;
use aqm_core::params::did_you_mean;
use aqm_core::units::{Bytes, Rate, Size, Span, parse};
use aqm_path::kind::KindSpec;
use aqm_path::kinds::KINDS;
use aqm_path::wire::{Loss, Reorder, Slots, percent};
use serde_json::Value as Json;

impl OptionSpec {
    /// Reads a value: in base units, as in a scenario. A form that has a meaning only beside others is its text.
    ///
    /// # Errors
    /// The value, the problem and what is allowed.
    ///
    /// ```
    /// let ring = aqm_sim::scenario::options::find("device_ring").unwrap();
    /// assert_eq!(ring.read("8p"), Ok(8.into()));
    /// assert_eq!(ring.read("0p").unwrap_err().to_string(), "'0p' is out of range: allowed is 1p to 10000p");
    /// ```
    pub fn read(&self, text: &str) -> Result<Json, InputError> {
        if self.is_null_by_default && text == self.default {
            return Ok(Json::Null);
        }
        let value = match self.form {
            Form::Text | Form::File | Form::Flows | Form::Quantity(_) => return Ok(text.into()),
            Form::Span => parse::span(text).map(Span::as_nanos)?.into(),
            Form::Rate => parse::rate(text).map(Rate::as_bits_per_sec)?.into(),
            Form::Bytes => parse::bytes(text).map(Bytes::as_u64)?.into(),
            Form::Packets => packets(text)?.into(),
            Form::Share => parse::fraction(text)?.into(),
            Form::Loss => written_as_data(text.parse::<Loss>().and_then(|loss| {
                // Without anything that arrives no run says anything.
                if loss.mean() < 1.0 { Ok(loss) } else { Err(InputError::out_of_range(text, self.allowed())) }
            }))?,
            Form::Reorder => written_as_data(text.parse::<Reorder>())?,
            Form::Slots => written_as_data(text.parse::<Slots>())?,
            Form::Link => KindSpec::parse(text, KINDS)?.to_string().into(),
            Form::Count => whole(text)?.into(),
            Form::Names => return names(text),
            Form::Choice(words) if words.contains(&text) => return Ok(text.into()),
            Form::Choice(_) => return Err(InputError::not_one_of(text, self.words().into_iter())),
            Form::Switch(words) => {
                let is_on = words.iter().position(|word| *word == text).ok_or_else(|| {
                    let (hint, allowed) = (did_you_mean(text, words.into_iter()), self.allowed());
                    InputError::new(format!("'{text}'{hint}; allowed is {allowed}"))
                        .of_value(text)
                        .near(text, words.into_iter())
                })?;
                return Ok((is_on == 1).into());
            }
        };
        if self.admits(&value) { Ok(value) } else { Err(InputError::out_of_range(text, self.allowed())) }
    }

    /// Writes a value of its field; reading it gives the same value.
    pub fn write(&self, value: &Json) -> String {
        let number = value.as_u64().unwrap_or_default();
        match self.form {
            _ if value.is_null() => self.default.to_owned(),
            Form::Span => Span::from_nanos(number).to_string(),
            Form::Rate => Rate::from_bits_per_sec(number).to_string(),
            Form::Bytes => Bytes::new(number).to_string(),
            Form::Packets => Size::Packets(number).to_string(),
            Form::Share => percent(value.as_f64().unwrap_or_default()),
            Form::Loss => rewritten::<Loss>(value),
            Form::Reorder => rewritten::<Reorder>(value),
            Form::Slots => rewritten::<Slots>(value),
            Form::Switch(words) => words[usize::from(value == &Json::Bool(true))].to_owned(),
            Form::Count => number.to_string(),
            Form::Names => written(value.as_array().map_or(&[], Vec::as_slice)),
            _ => value.as_str().unwrap_or_default().to_owned(),
        }
    }

    /// Its default in base units, as in a scenario; `None` if it has to be given.
    pub fn default_value(&self) -> Option<Json> {
        (!self.default.is_empty()).then(|| self.read(self.default).expect("a default is allowed"))
    }

    /// Refuses a number of its field that is out of range; a field without one is not checked here.
    ///
    /// # Errors
    /// The option, its value and what is allowed.
    pub(in crate::scenario) fn check(&self, number: Option<f64>) -> Result<(), InputError> {
        let Some(number) = number.filter(|number| !self.is_within(*number)) else { return Ok(()) };
        let value = match self.form {
            Form::Share | Form::Loss => number.into(),
            _ => (number as u64).into(),
        };
        Err(InputError::field(self.name, self.write(&value), format_args!("allowed is {}", self.allowed()))
            .allowing([self.allowed()]))
    }

    /// What its value may be, for messages; empty where that depends on other options.
    pub fn allowed(&self) -> String {
        let (low, high) = self.range;
        let zero = if low > 0.0 { " above zero" } else { "" };
        let bounded = |bound: f64| self.write(&(bound as u64).into());
        match self.form {
            Form::Text | Form::File | Form::Flows | Form::Quantity(_) => String::new(),
            Form::Switch(_) => self.words().join(" or "),
            Form::Choice(_) => self.words().join(", "),
            Form::Names => format!("names with commas, or {NONE}"),
            Form::Share | Form::Loss => format!("{low} to below {high}, as {}", self.example),
            Form::Reorder => Reorder::NOTATION.to_owned(),
            Form::Slots => Slots::NOTATION.to_owned(),
            Form::Link => KINDS.iter().map(|kind| kind.name).collect::<Vec<_>>().join(", "),
            Form::Span if high.is_infinite() => format!("a time{zero}"),
            Form::Rate if high.is_infinite() => format!("a rate{zero}"),
            _ if high.is_infinite() => format!("{} or more", bounded(low)),
            _ => format!("{} to {}", bounded(low), bounded(high)),
        }
    }

    /// The words that it takes, the default first.
    pub fn words(&self) -> Vec<&'static str> {
        let mut words = match &self.form {
            Form::Switch(words) => words.to_vec(),
            Form::Quantity(words) => words.to_vec(),
            Form::Choice(words) => [&[self.default], *words].concat(),
            _ => Vec::new(),
        };
        words.sort_by_key(|word| *word != self.default);
        words
    }

    fn admits(&self, value: &Json) -> bool {
        match self.form {
            Form::Choice(words) => value.as_str().is_none_or(|word| words.contains(&word)),
            _ => value.as_f64().is_none_or(|number| self.is_within(number)),
        }
    }

    fn is_within(&self, number: f64) -> bool {
        let (low, high) = self.range;
        match self.form {
            Form::Share | Form::Loss => (low..high).contains(&number),
            _ => (low..=high).contains(&number),
        }
    }
}

/// Names with commas between them.
fn names(text: &str) -> Result<Json, InputError> {
    if text == NONE {
        return Ok(Json::Array(Vec::new()));
    }
    let names: Vec<&str> = text.split(',').map(str::trim).collect();
    for (number, name) in names.iter().enumerate() {
        if name.is_empty() || *name == NONE {
            return Err(InputError::value(text, "is no list of names such as a,b"));
        }
        if names[..number].contains(name) {
            return Err(InputError::value(name, "is given twice"));
        }
    }
    Ok(names.into())
}

/// A list of names as [`names`] reads it.
fn written(names: &[Json]) -> String {
    let names: Vec<&str> = names.iter().filter_map(Json::as_str).collect();
    if names.is_empty() { NONE.to_owned() } else { names.join(",") }
}

fn packets(text: &str) -> Result<u64, InputError> {
    let has_unit = text.contains(|letter: char| letter.is_ascii_alphabetic());
    let size = if has_unit { parse::size(text) } else { parse::size(&format!("{text}p")) };
    match size? {
        Size::Packets(packets) => Ok(packets),
        Size::Bytes(_) => Err(InputError::value(text, "is not a number of packets such as 1p")),
    }
}

/// A number of digits alone: Rust would read a plus sign, too.
fn whole(text: &str) -> Result<u64, InputError> {
    let is_plain = text.bytes().all(|letter| letter.is_ascii_digit());
    let number = text.parse().ok().filter(|_| is_plain);
    number.ok_or_else(|| InputError::value(text, "is not a whole number"))
}

/// What was read, as the data of its field.
fn written_as_data<T: serde::Serialize>(read: Result<T, InputError>) -> Result<Json, InputError> {
    read.map(|value| serde_json::to_value(value).expect("plain data"))
}

/// The data of a field in the words in which it is given; of other data nothing.
fn rewritten<T: serde::de::DeserializeOwned + ToString>(value: &Json) -> String {
    serde_json::from_value::<T>(value.clone()).map(|value| value.to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::{OPTIONS, find};

    #[test]
    fn defaults_and_examples_are_read_and_written_alike() {
        for option in OPTIONS {
            for text in [option.default, option.example].into_iter().filter(|text| !text.is_empty()) {
                let value = option.read(text).unwrap_or_else(|problem| panic!("{}: {problem}", option.name));
                let written = option.write(&value);
                assert_eq!(option.read(&written), Ok(value), "{}: {text}", option.name);
            }
        }
    }

    #[test]
    fn names_are_read_as_a_list_and_written_with_commas() {
        let observe = find("observe").unwrap();
        assert_eq!(observe.read("a, b"), Ok(serde_json::json!(["a", "b"])));
        assert_eq!(observe.write(&serde_json::json!(["a", "b"])), "a,b");
        assert_eq!(
            (observe.read("none"), observe.write(&serde_json::json!([]))),
            (Ok(serde_json::json!([])), "none".to_owned())
        );
    }

    #[test]
    fn values_out_of_range_and_of_another_kind_are_refused_with_what_is_allowed() {
        for (name, text, problem) in [
            ("device_ring", "10001p", "'10001p' is out of range: allowed is 1p to 10000p"),
            ("device_ring", "1kb", "'1kb' is not a number of packets such as 1p"),
            ("overhead", "1001b", "'1001b' is out of range: allowed is 0b to 1000b"),
            ("loss", "100%", "'100%' is out of range: allowed is 0 to below 1, as 0.1%"),
            ("duration", "0s", "'0s' is out of range: allowed is a time above zero"),
            ("access_rate", "0bit", "'0bit' is out of range: allowed is a rate above zero"),
            ("series", "flow", "'flow', did you mean 'flows'?; allowed is flows or groups"),
            ("seeds", "+1", "'+1' is not a whole number"),
            ("observe", "a,,b", "'a,,b' is no list of names such as a,b"),
            ("observe", "a, a", "'a' is given twice"),
        ] {
            assert_eq!(find(name).unwrap().read(text).unwrap_err().to_string(), problem);
        }
    }

    #[test]
    fn shares_are_written_in_percent_without_the_noise_of_floats() {
        let loss = find("loss").unwrap();
        for (share, text) in [(0.0, "0%"), (0.07, "7%"), (0.123_456_789, "12.3457%")] {
            assert_eq!(loss.write(&share.into()), text);
        }
    }
}
