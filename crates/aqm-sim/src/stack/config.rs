//! A stack as a scenario names it, and as a run finds it.

use super::{Info, Stack};
use crate::headers::FULL_IP_PACKET;
use crate::transport::{TransportSpec, Values, field, to_json};
use aqm_core::input_error::InputError;
use serde_json::Map;
use std::sync::Arc;

/// The field of a scenario that names the stack.
pub(crate) const STACK: &str = "stack";

impl TransportSpec {
    /// A stack with all keys as declared.
    pub fn new(info: &Info) -> TransportSpec {
        TransportSpec { name: info.name.to_owned(), fields: Map::new() }
    }

    /// The same with another value of one key of its declaration, `info`, in tc's notation.
    ///
    /// # Errors
    /// One line that names the stack, the key, the value and what is allowed.
    ///
    /// ```
    /// use aqm_sim::stack::{MINIMAL, TransportSpec};
    /// let named = TransportSpec::new(&MINIMAL).with(&MINIMAL, "packet", "1kb").unwrap();
    /// assert_eq!(named.fields["packet_bytes"], 1024);
    /// assert!(TransportSpec::new(&MINIMAL).with(&MINIMAL, "pakcet", "1kb").unwrap_err().to_string().contains("did you mean 'packet'?"));
    /// ```
    pub fn with(mut self, info: &Info, key: &str, value: &str) -> Result<TransportSpec, InputError> {
        let mut values = Values::new([info.params]);
        values.set_text(key, value).map_err(|error| InputError::from(error).within(info.name))?;
        let set = values.iter().find(|(param, _)| param.name == key);
        self.fields
            .extend(set.map(|(param, value)| (field(param), to_json(value, u64::from(FULL_IP_PACKET)))));
        Ok(self)
    }
}

/// A stack with a value for each of its keys.
#[derive(Clone)]
pub(crate) struct StackConfig {
    pub(crate) stack: Arc<dyn Stack>,
    pub(crate) values: Values,
}

impl StackConfig {
    /// `stack` with the values of `named`.
    pub(crate) fn new(stack: &Arc<dyn Stack>, named: &TransportSpec) -> Result<StackConfig, InputError> {
        let mut values = Values::new([stack.info().params]);
        for (name, value) in &named.fields {
            let set = values.set_field(name, value);
            set.map_err(|error| error.within(stack.info().name))?;
        }
        Ok(StackConfig { stack: Arc::clone(stack), values })
    }

    pub(crate) fn info(&self) -> &'static Info {
        self.stack.info()
    }

    /// Bytes of the largest IP packet.
    pub(crate) fn packet_bytes(&self) -> u32 {
        self.values.bytes(super::PACKET.name).map_or(0, |bytes| bytes.as_u64() as u32)
    }
}

/// Whether the declaration has the keys that every stack has.
pub(crate) fn check(info: &Info) -> Result<(), InputError> {
    for needed in [super::ECN, super::PACKET] {
        if !info.params.iter().any(|key| key.name == needed.name && key.kind.unit() == needed.kind.unit()) {
            return Err(InputError::new(format!("stack '{}' has no key '{}'", info.name, needed.name)));
        }
    }
    let fields: std::collections::BTreeSet<String> = info.params.iter().map(field).collect();
    if fields.len() < info.params.len() || fields.contains(STACK) {
        return Err(InputError::new(format!(
            "stack '{}' declares a key twice, or one called '{STACK}'",
            info.name
        )));
    }
    Ok(())
}
