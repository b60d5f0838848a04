//! Options as people write them: each by its declared name, as text.

use aqm_core::input_error::InputError;
use aqm_sim::scenario::options::{Form, OPTIONS, OptionSpec, find};

/// What a person gave for one path; what is missing has its declared default.
///
/// ```
/// use aqm_scenario::options::Options;
/// let options = Options::parse("rate 10mbit; rtt 40ms; flows 2*cubic; flows 1*voip").unwrap();
/// assert_eq!(options.texts("flows").collect::<Vec<_>>(), ["2*cubic", "1*voip"]);
/// assert_eq!((options.text("buffer"), options.is_given("buffer")), ("1bdp", false));
/// let error = Options::parse("rate 10mbit; rrt 40ms").unwrap_err();
/// assert!(error.to_string().starts_with("unknown option 'rrt', did you mean 'rtt'?"));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Options {
    given: Vec<(&'static OptionSpec, String)>,
}

impl PartialEq for Options {
    fn eq(&self, other: &Options) -> bool {
        let named = |options: &Options| -> Vec<(&str, String)> {
            options.given.iter().map(|(option, text)| (option.name, text.clone())).collect()
        };
        named(self) == named(other)
    }
}

/// The options of one path: all but recordings, and those of many runs.
pub fn of_a_path() -> impl Iterator<Item = &'static OptionSpec> + Clone {
    OPTIONS.iter().filter(|option| {
        let is_of_runs = option.form == Form::Count && !option.has_field();
        !RECORDINGS.contains(&option.name) && !is_of_runs
    })
}

/// The options that name recordings, which a host reads.
const RECORDINGS: [&str; 2] = ["link_trace", "capture"];

/// The parts of `NAME VALUE; NAME VALUE; ...`.
pub(crate) fn named(text: &str) -> Result<Vec<(&str, &str)>, InputError> {
    let parts = text.split([';', '\n']).map(str::trim).filter(|part| !part.is_empty());
    parts
        .map(|part| {
            let pair = part.split_once(char::is_whitespace);
            let (name, value) = pair
                .ok_or_else(|| InputError::value(part, "is not NAME VALUE, as in 'rate 10mbit; rtt 40ms'"))?;
            Ok((name, value.trim_start()))
        })
        .collect()
}

impl Options {
    /// Reads `NAME VALUE; NAME VALUE; ...`; lines may stand for semicolons.
    ///
    /// # Errors
    /// As [`Options::give`]; and if a part is no name with a value.
    pub fn parse(text: &str) -> Result<Options, InputError> {
        let mut options = Options::default();
        for (name, value) in named(text)? {
            options.give(name, value)?;
        }
        Ok(options)
    }

    /// Adds a value.
    ///
    /// # Errors
    /// The option, the value and what is allowed; or that the option is unknown or given twice.
    pub fn give(&mut self, name: &str, text: &str) -> Result<(), InputError> {
        let names = || of_a_path().map(|option| option.name);
        let option = find(name).filter(|option| names().any(|name| name == option.name));
        let option = option.ok_or_else(|| InputError::unknown("option", name, names()))?;
        if !option.is_many && self.is_given(name) {
            return Err(InputError::new("is given twice").of_option(option.name));
        }
        option.read(text).map_err(|error| error.of_option(option.name))?;
        self.given.push((option, text.to_owned()));
        Ok(())
    }

    /// The same, in place of what was given before.
    ///
    /// # Errors
    /// As [`Options::give`].
    pub fn replace(&mut self, name: &str, text: &str) -> Result<(), InputError> {
        self.given.retain(|(option, _)| option.name != name);
        self.give(name, text)
    }

    /// The value of an option that is given at most once, or its default; empty if it has none.
    pub fn text(&self, name: &str) -> &str {
        let default = find(name).map_or("", |option| option.default);
        self.given.iter().find(|(option, _)| option.name == name).map_or(default, |(_, text)| text.as_str())
    }

    /// All values of an option, without its default.
    pub fn texts<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.given.iter().filter(move |(option, _)| option.name == name).map(|(_, text)| text.as_str())
    }

    /// Whether an option is given.
    pub fn is_given(&self, name: &str) -> bool {
        self.texts(name).next().is_some()
    }
}
