//! A transport as a scenario gives it, which the run's inputs know: a real one, or a rate control.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::{Map, Value as Json};

/// A name and the values of keys, by the names that a scenario has for them. What is called so, and whether these are its
/// keys, the run's inputs decide.
#[derive(Clone, Debug, PartialEq)]
pub struct TransportSpec {
    /// Name of the transport.
    pub name: String,
    /// Values in base units; keys that are not given are as declared.
    pub fields: Map<String, Json>,
}

impl TransportSpec {
    /// Writes it as one table, in which its name has the key `kind`.
    pub(crate) fn write<S: Serializer>(&self, kind: &str, serializer: S) -> Result<S::Ok, S::Error> {
        let name = (kind.to_owned(), Json::from(self.name.as_str()));
        let fields = self.fields.iter().map(|(key, value)| (key.clone(), value.clone()));
        std::iter::once(name).chain(fields).collect::<Map<String, Json>>().serialize(serializer)
    }

    /// Reads what [`write`](TransportSpec::write) has written.
    pub(crate) fn read<'de, D: Deserializer<'de>>(
        kind: &'static str,
        deserializer: D,
    ) -> Result<TransportSpec, D::Error> {
        let mut fields = Map::<String, Json>::deserialize(deserializer)?;
        let name = fields.remove(kind).ok_or_else(|| de::Error::missing_field(kind))?;
        let name = name.as_str().ok_or_else(|| de::Error::custom(format!("{kind} is no text")))?.to_owned();
        Ok(TransportSpec { name, fields })
    }
}
