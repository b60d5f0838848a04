//! The settings of a TCP connection: its congestion control and the values of its keys.

use super::control::controller::Info;
use super::control::{CONTROLS, find};
use super::ecn::EcnMode;
use super::feedback::Feedback;
use super::keys::{relations, tcp_keys};
use super::rules::{AckRules, RecoveryRules, SlowStartRules};
use super::values::{Values, field, to_json};
use aqm_core::input_error::InputError;
use aqm_core::units::Size;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::{Map, Value as Json};
use std::ops::Deref;

/// The field of a scenario that names the congestion control.
pub(crate) const CONTROL: &str = "congestion_control";

/// Settings of a TCP connection: a congestion control, and a value for each of its keys.
#[derive(Clone, Debug)]
pub struct Tcp {
    info: &'static Info,
    values: Values,
}

impl Tcp {
    /// Reads `NAME [KEY VALUE]...` in tc's notation. Keys that are not given are as declared.
    ///
    /// # Errors
    /// One line that names the congestion control or key, the value and what is allowed.
    ///
    /// ```
    /// use aqm_sim::scenario::Tcp;
    /// assert_eq!(Tcp::parse("cubic ecn classic window 20p").unwrap().window_bytes(), Some(20 * 1448));
    /// assert!(Tcp::parse("cubik").unwrap_err().to_string().contains("did you mean 'cubic'?"));
    /// assert!(Tcp::parse("cubic iw 0").unwrap_err().to_string().contains("allowed is 1 to 10000"));
    /// ```
    pub fn parse(text: &str) -> Result<Tcp, InputError> {
        let mut words = text.split_whitespace();
        let mut tcp = Tcp::of(words.next().unwrap_or_default())?;
        while let Some(key) = words.next() {
            let value = words.next().ok_or_else(|| InputError::new(format!("{key} needs a value")))?;
            tcp = tcp.with(key, value)?;
        }
        Ok(tcp)
    }

    /// The same with another value of one key.
    ///
    /// # Errors
    /// One line that names the key, the value and what is allowed.
    pub fn with(mut self, key: &str, value: &str) -> Result<Tcp, InputError> {
        self.values.set_text(key, value).map_err(|error| InputError::from(error).within(self.info.name))?;
        Ok(self)
    }

    /// A connection with this congestion control, as declared.
    fn of(name: &str) -> Result<Tcp, InputError> {
        let info = find(name).ok_or_else(|| {
            InputError::unknown("congestion control", name, CONTROLS.iter().map(|info| info.name))
        })?;
        let mut values = Values::new(tcp_keys(info));
        for (key, value) in info.sets {
            values.set_text(key, value).expect("a control sets declared keys to allowed values");
        }
        Ok(Tcp { info, values })
    }

    /// The congestion control.
    pub fn info(&self) -> &'static Info {
        self.info
    }

    /// Payload bytes of a full segment.
    pub fn mss(&self) -> u32 {
        self.bytes("mss").map_or(0, |bytes| bytes.as_u64() as u32)
    }

    /// Cap on the window in bytes of payload.
    pub fn window_bytes(&self) -> Option<u64> {
        self.size("window").map(|size| self.payload(size))
    }

    /// Bytes of payload in a size; packets are full segments.
    pub fn payload(&self, size: Size) -> u64 {
        match size {
            Size::Bytes(bytes) => bytes,
            Size::Packets(segments) => segments * u64::from(self.mss()),
        }
    }

    /// How losses are found and repaired, and what they cost.
    pub(crate) fn recovery(&self) -> RecoveryRules {
        RecoveryRules::of(&self.values)
    }

    /// When its receiver acknowledges.
    pub(crate) fn acks(&self) -> AckRules {
        AckRules::of(&self.values)
    }

    /// How its window grows.
    pub(crate) fn slow_start(&self) -> SlowStartRules {
        SlowStartRules::of(&self.values)
    }

    /// Explicit congestion notification.
    pub fn ecn(&self) -> EcnMode {
        self.choice("ecn")
    }

    /// The congestion feedback of the connection.
    pub(crate) fn feedback(&self) -> Feedback {
        let (echo, report) = self.info.feedback;
        Feedback { codepoint: self.ecn().codepoint(), echo, report }
    }

    /// The same connection, without a handshake.
    pub(crate) fn opened(&self) -> Tcp {
        self.clone().with("handshake", "off").expect("it is a flag")
    }

    /// Refuses values that exclude each other.
    pub(crate) fn check(&self) -> Result<(), InputError> {
        let name = self.info.name;
        for (key, allowed) in self.info.only {
            if !allowed.iter().any(|value| self.is(key, value)) {
                return Err(InputError::new(format!("{name} takes {key} {} only", allowed.join(" or "))));
            }
        }
        for relation in relations(self.info) {
            let ((key, value), (other, wanted)) = (relation.given, relation.needs);
            if self.is(key, value) && !self.is(other, wanted) {
                return Err(InputError::new(format!("{key} is {value}: it needs {other} {wanted}")));
            }
        }
        if let Some(key) = self.info.must.iter().find(|key| self.is(key, "auto")) {
            return Err(InputError::new(format!("{name} needs {key}")));
        }
        match self.window_bytes() {
            Some(window) if window < u64::from(self.mss()) => Err(InputError::field(
                "window",
                format_args!("{window}b"),
                format_args!("it must hold a segment of {}b", self.mss()),
            )),
            _ => Ok(()),
        }
    }
}

impl Deref for Tcp {
    type Target = Values;
    fn deref(&self) -> &Values {
        &self.values
    }
}

impl PartialEq for Tcp {
    fn eq(&self, other: &Tcp) -> bool {
        self.info.name == other.info.name && self.values == other.values
    }
}

impl Serialize for Tcp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = Map::from_iter([(CONTROL.to_owned(), Json::from(self.info.name))]);
        for (key, value) in self.iter() {
            let value = to_json(value, u64::from(self.mss()));
            // A rule stands in the table of its group.
            match field(key).split_once('.') {
                None => fields.insert(field(key), value),
                Some((group, rule)) => {
                    let group = fields.entry(group).or_insert_with(|| Json::Object(Map::new()));
                    group
                        .as_object_mut()
                        .expect("no key has the name of a group")
                        .insert(rule.to_owned(), value)
                }
            };
        }
        fields.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Tcp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Tcp, D::Error> {
        let mut fields = Map::<String, Json>::deserialize(deserializer)?;
        let control = fields.remove(CONTROL).ok_or_else(|| de::Error::missing_field(CONTROL))?;
        let mut tcp = Tcp::of(control.as_str().unwrap_or_default()).map_err(de::Error::custom)?;
        for (name, value) in &fields {
            match value {
                Json::Object(rules) => rules
                    .iter()
                    .try_for_each(|(rule, value)| tcp.values.set_field(&format!("{name}.{rule}"), value)),
                value => tcp.values.set_field(name, value),
            }
            .map_err(de::Error::custom)?;
        }
        Ok(tcp)
    }
}
