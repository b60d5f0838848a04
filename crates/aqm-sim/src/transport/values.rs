//! The values of declared keys, and their form in a scenario: base units, with the unit in the name.

use aqm_core::input_error::InputError;
use aqm_core::params::{Child, Choice, Kind, ParamError, ParamSpec, Params, Preset, Value, did_you_mean};
use aqm_core::units::{Bytes, Rate, Size, Span};
use serde_json::Value as Json;

/// Values of the keys of several lists, as one list.
#[derive(Clone, Debug)]
pub struct Values(Vec<Params>);

/// All keys have their declared defaults.
const AS_DECLARED: Preset = Preset { name: "", source: "", values: &[] };

impl Values {
    /// Every key of `lists` as declared.
    pub(crate) fn new(lists: impl IntoIterator<Item = &'static [ParamSpec]>) -> Values {
        Values(lists.into_iter().map(|list| Params::new(list, &AS_DECLARED, no_child)).collect())
    }

    /// Every key with its value.
    pub fn iter(&self) -> impl Iterator<Item = (&'static ParamSpec, &Value)> {
        self.0.iter().flat_map(Params::iter)
    }

    /// Whether a flag is on.
    pub fn flag(&self, name: &str) -> bool {
        self.of(name).flag(name)
    }

    /// The chosen variant.
    pub fn choice<C: Choice>(&self, name: &str) -> C {
        self.of(name).choice(name)
    }

    /// A whole number; all fit in 32 bits.
    pub fn count(&self, name: &str) -> u32 {
        self.of(name).count(name) as u32
    }

    /// A length of time.
    pub fn span(&self, name: &str) -> Span {
        self.of(name).span(name)
    }

    /// A bit rate; `None` for auto.
    pub fn rate(&self, name: &str) -> Option<Rate> {
        self.of(name).rate(name)
    }

    /// A fraction or plain number.
    pub fn number(&self, name: &str) -> f64 {
        self.of(name).number(name)
    }

    /// A number of bytes; `None` for auto.
    pub fn bytes(&self, name: &str) -> Option<Bytes> {
        self.of(name).bytes(name)
    }

    /// A size; `None` for auto.
    pub fn size(&self, name: &str) -> Option<Size> {
        self.of(name).size(name)
    }

    /// Sets a key from text in tc's notation; `off` is zero.
    ///
    /// # Errors
    /// For an unknown key, or a value that is not allowed.
    pub(crate) fn set_text(&mut self, name: &str, text: &str) -> Result<(), ParamError> {
        let zero = self.iter().any(|(key, _)| key.name == name && key.kind == Kind::Span) && text == "off";
        self.find(name)?.set_text(name, if zero { "0s" } else { text }, no_child)
    }

    /// Sets a key from a field of a scenario.
    ///
    /// # Errors
    /// For an unknown field, or a value that is not allowed.
    pub(crate) fn set_field(&mut self, name: &str, json: &Json) -> Result<(), InputError> {
        let fields: Vec<(&ParamSpec, String)> = self.iter().map(|(key, _)| (key, field(key))).collect();
        let Some((key, _)) = fields.iter().find(|(_, field)| field == name) else {
            return Err(InputError::unknown("field", name, fields.iter().map(|(_, field)| field.as_str())));
        };
        let value = from_json(key, json)
            .ok_or_else(|| InputError::field(name, json, format_args!("it must be a {}", key.kind.unit())))?;
        self.find(key.name)
            .and_then(|params| params.set(key.name, value))
            .map_err(|error| InputError::field(name, json, format_args!("it {}", error.problem)))
    }

    /// Whether the key has the value that `text` stands for.
    pub(crate) fn is(&self, name: &str, text: &str) -> bool {
        self.iter().any(|(key, value)| key.name == name && value.to_string() == text)
    }

    fn find(&mut self, name: &str) -> Result<&mut Params, ParamError> {
        if let Some(index) = self.0.iter().position(|params| params.names().any(|known| known == name)) {
            return Ok(&mut self.0[index]);
        }
        let known: Vec<_> = self.0.iter().flat_map(Params::names).collect();
        let hint = did_you_mean(name, known.iter().copied());
        let problem = format!("is unknown{hint}; known are {}", known.join(", "));
        Err(ParamError::relation(name, "", problem))
    }

    fn of(&self, name: &str) -> &Params {
        let has = |params: &&Params| params.names().any(|known| known == name);
        self.0.iter().find(has).unwrap_or_else(|| panic!("key '{name}' is not declared"))
    }
}

/// Transports have no disciplines inside.
fn no_child(_: &str) -> Result<Child, InputError> {
    Err(InputError::new("is no discipline"))
}

impl PartialEq for Values {
    fn eq(&self, other: &Values) -> bool {
        self.iter()
            .map(|(key, value)| (key.name, value))
            .eq(other.iter().map(|(key, value)| (key.name, value)))
    }
}

/// The field of a key in a scenario: its name, with the unit of its value if it has one.
pub fn field(key: &ParamSpec) -> String {
    let unit = match key.kind {
        Kind::Span => "_ns",
        Kind::Rate => "_bps",
        Kind::Bytes | Kind::Size => "_bytes",
        _ => "",
    };
    format!("{}{unit}", key.name)
}

/// A value as in a scenario; `packet` is the packet size of sizes in packets.
pub(crate) fn to_json(value: &Value, packet: u64) -> Json {
    match *value {
        Value::Auto => Json::Null,
        Value::Span(span) => span.as_nanos().into(),
        Value::Rate(rate) => rate.as_bits_per_sec().into(),
        Value::Bytes(bytes) => bytes.as_u64().into(),
        Value::Size(Size::Bytes(bytes)) => bytes.into(),
        Value::Size(Size::Packets(packets)) => (packets * packet).into(),
        Value::Fraction(number) | Value::Number(number) => number.into(),
        Value::Count(count) => count.into(),
        Value::Flag(on) => on.into(),
        ref other => other.to_string().into(),
    }
}

fn from_json(key: &ParamSpec, json: &Json) -> Option<Value> {
    Some(match key.kind {
        _ if json.is_null() => Value::Auto,
        Kind::Span => Value::Span(Span::from_nanos(json.as_u64()?)),
        Kind::Rate => Value::Rate(Rate::from_bits_per_sec(json.as_u64()?)),
        Kind::Bytes => Value::Bytes(Bytes::new(json.as_u64()?)),
        Kind::Size => Value::Size(Size::Bytes(json.as_u64()?)),
        Kind::Fraction => Value::Fraction(json.as_f64()?),
        Kind::Number => Value::Number(json.as_f64()?),
        Kind::Count => Value::Count(json.as_u64()?),
        Kind::Flag => Value::Flag(json.as_bool()?),
        Kind::Choice(words) => Value::Choice(words.iter().find(|word| json == **word)?),
        _ => return None,
    })
}
