//! What a scenario has where nothing is given: the declared defaults.

use super::flows::FlowGroup;
use super::options::{Capacity, OPTIONS, Scenario};
use aqm_core::input_error::InputError;
use aqm_core::units::Span;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::{Map, Value as Json, json};

impl Scenario {
    /// A bottleneck without flows, with every option as declared: measured from the start on, with a sample every 100 ms.
    pub fn new(aqm: &str, capacity: &Capacity, rtt: Span) -> Scenario {
        let given = json!({
            "aqm": aqm,
            "capacity": capacity,
            "rtt_ns": rtt.as_nanos(),
            "warmup_ns": 0,
            "sample_ns": Span::from_millis(100).as_nanos(),
        });
        Scenario::from_json(given).expect("the rest has defaults")
    }

    /// Reads its published JSON form; what is missing has the declared default.
    ///
    /// # Errors
    /// The field that is unknown, missing or of another kind.
    pub fn from_json(json: Json) -> Result<Scenario, InputError> {
        let fields = serde_json::from_value(json).map_err(refused)?;
        Scenario::from_fields(fields).map_err(refused)
    }

    /// Its JSON form.
    pub fn json(&self) -> Json {
        serde_json::to_value(self).expect("plain data")
    }

    // Not generic, so that a program has it once.
    fn from_fields(mut fields: Map<String, Json>) -> serde_json::Result<Scenario> {
        for option in OPTIONS.iter().filter(|option| option.has_field()) {
            if let Some(value) = option.default_value() {
                fields.entry(option.field).or_insert(value);
            }
        }
        Scenario::deserialize(Json::Object(fields))
    }
}

impl FlowGroup {
    /// Reads its JSON form, that of a scenario's `flows`.
    ///
    /// # Errors
    /// The field that is unknown, missing or of another kind.
    pub fn from_json(json: Json) -> Result<FlowGroup, InputError> {
        serde_json::from_value(json).map_err(refused)
    }
}

fn refused(error: serde_json::Error) -> InputError {
    InputError::new(error.to_string())
}

impl Serialize for Scenario {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Scenario::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for Scenario {
    /// What is missing has the declared default.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Scenario, D::Error> {
        let fields = Map::<String, Json>::deserialize(deserializer)?;
        Scenario::from_fields(fields).map_err(de::Error::custom)
    }
}
