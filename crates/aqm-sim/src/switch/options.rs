//! The options of a switch as a scenario names them.

use super::pause::PRIORITIES;
use aqm_core::input_error::InputError;
use serde::{Deserialize, Serialize};

/// What a switch has beside its ports.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SwitchOptions {
    /// Memory that all its queues share; `None` leaves every port to the limit of its discipline.
    #[serde(default)]
    pub buffer: Option<BufferOptions>,
    /// Priority flow control towards all its neighbours.
    #[serde(default)]
    pub pfc: Option<PfcOptions>,
    /// The program in its data plane and control plane, as [`ProgramSpec`](super::program::ProgramSpec) reads it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
}

/// Shared memory with dynamic thresholds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BufferOptions {
    /// Bytes in all, headroom not counted.
    pub size_bytes: u64,
    /// Every queue may hold this multiple of what is free.
    pub alpha: f64,
    /// Bytes that each queue (port and priority) has for itself.
    #[serde(default)]
    pub reserve_bytes: u64,
}

/// Priority flow control.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PfcOptions {
    /// The lossless priorities; a packet's is its class.
    pub priorities: Vec<u8>,
    /// Bytes of one ingress port and priority beyond which its upstream port is paused.
    pub xoff_bytes: u64,
    /// It may go on at this many bytes or fewer.
    pub xon_bytes: u64,
    /// Room beyond XOFF for each ingress port and priority; `None` for as much as its link needs.
    #[serde(default)]
    pub headroom_bytes: Option<u64>,
    /// Pause time in quanta of 512 bit times.
    #[serde(default = "longest_pause")]
    pub quanta: u16,
}

fn longest_pause() -> u16 {
    u16::MAX
}

impl SwitchOptions {
    /// Refuses what no switch can do.
    ///
    /// # Errors
    /// One line that names the option, the value and what is allowed, in the words and units in which people write them.
    pub fn check(&self) -> Result<(), InputError> {
        if let Some(buffer) = &self.buffer {
            if buffer.size_bytes == 0 {
                return Err(InputError::field("buffer", 0, "it must be greater than zero"));
            }
            if !(buffer.alpha > 0.0 && buffer.alpha.is_finite()) {
                return Err(InputError::field("alpha", buffer.alpha, "it must be greater than zero"));
            }
        }
        let Some(pfc) = &self.pfc else { return Ok(()) };
        if pfc.priorities.is_empty() {
            return Err(InputError::new("priorities is empty: name at least one"));
        }
        let last = PRIORITIES as u8 - 1;
        if let Some(priority) = pfc.priorities.iter().find(|priority| **priority > last) {
            return Err(InputError::new(format!("{priority} is not within 0 and {last}"))
                .of_value(&priority.to_string())
                .within("priorities"));
        }
        if pfc.xoff_bytes == 0 {
            return Err(InputError::field("xoff", 0, "it must be greater than zero"));
        }
        if pfc.xon_bytes > pfc.xoff_bytes {
            let (xon, xoff) = (pfc.xon_bytes, pfc.xoff_bytes);
            return Err(InputError::field(
                "xon",
                format_args!("{xon}b"),
                format_args!("it must be at most xoff, {xoff}b"),
            ));
        }
        if pfc.quanta == 0 {
            return Err(InputError::field("quanta", 0, "a pause must last"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(text: &str) -> String {
        match serde_json::from_str::<SwitchOptions>(text) {
            Ok(options) => options.check().err().map_or(String::new(), |error| error.to_string()),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn options_are_read_from_json_with_their_defaults() {
        let text = r#"{"buffer": {"size_bytes": 9000, "alpha": 0.5},
            "pfc": {"priorities": [3], "xoff_bytes": 96000, "xon_bytes": 93000}}"#;
        let options: SwitchOptions = serde_json::from_str(text).unwrap();
        assert_eq!(options.check(), Ok(()));
        let pfc = options.pfc.unwrap();
        assert_eq!((pfc.headroom_bytes, pfc.quanta), (None, 65535));
        assert_eq!(options.buffer.unwrap().reserve_bytes, 0);
    }

    #[test]
    fn what_no_switch_can_do_is_refused_by_name() {
        let pfc = |rest: &str| format!(r#"{{"pfc": {{"priorities": [3], "xoff_bytes": 9, {rest}}}}}"#);
        for (text, wanted) in [
            (r#"{"bufer": null}"#.to_owned(), "unknown field `bufer`"),
            (r#"{"buffer": {"size_bytes": 0, "alpha": 1.0}}"#.to_owned(), "buffer is 0"),
            (r#"{"buffer": {"size_bytes": 1, "alpha": 0.0}}"#.to_owned(), "alpha is 0"),
            (pfc(r#""xon_bytes": 10"#), "xon is 10b: it must be at most xoff, 9b"),
            (pfc(r#""xon_bytes": 1, "quanta": 0"#), "quanta is 0"),
            (pfc(r#""xon_bytes": 1, "quanta": 65536"#), "invalid value"),
            (
                r#"{"pfc": {"priorities": [8], "xoff_bytes": 9, "xon_bytes": 9}}"#.to_owned(),
                "priorities: 8 is not within 0 and 7",
            ),
            (r#"{"pfc": {"priorities": [], "xoff_bytes": 9, "xon_bytes": 9}}"#.to_owned(), "is empty"),
        ] {
            let problem = problem(&text);
            assert!(problem.contains(wanted), "{text}: {problem}");
        }
    }
}
