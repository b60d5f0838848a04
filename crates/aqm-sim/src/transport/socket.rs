//! How the ends of a TCP connection use their sockets, where a host's package says so
//! ([`Extension::sockets`](crate::extension::Extension::sockets)): when it is opened and answered, and what a socket takes.
//!
//! A flow without one writes what its source has, opens the connection with it, and its receiver always answers.

use super::relation::Relation;
use super::spec::TransportSpec;
use super::tcp::Tcp;
use super::values::Values;
use aqm_core::input_error::InputError;
use aqm_core::params::ParamSpec;
use aqm_core::units::{Span, Time};

/// The field of a group of flows that names its sockets, and the key within it.
pub const SOCKET: &str = "socket";

/// The declaration of sockets: keys of flows over TCP, and what they set.
#[derive(Debug)]
pub struct Info {
    /// Its name, which begins the names of its keys: `app.arp`.
    pub name: &'static str,
    /// What its keys are about, in a few words.
    pub summary: &'static str,
    /// Its keys.
    pub keys: &'static [ParamSpec],
    /// Values of its keys that need values of others.
    pub relations: &'static [Relation],
    /// Bytes that a source with a rate writes at a time, if no full segment.
    pub write_bytes: fn(&Values) -> Option<u32>,
    /// The sockets of one connection.
    pub build: fn(&Values, &Tcp) -> Box<dyn Socket>,
}

impl Info {
    /// Whether a key of flows is one of its own.
    pub fn has(&self, key: &str) -> bool {
        self.keys.iter().any(|own| own.name == key)
    }
}

/// The sockets of one connection. All that is asked of them is asked where a connection is opened and where data are written.
pub trait Socket: Send {
    /// Whether this event of the source opens the connection, and writes nothing.
    fn opens(&mut self) -> bool {
        false
    }

    /// How long a SYN, or the answer to one, waits at its host before it is sent.
    fn wait(&mut self, _is_answer: bool) -> Span {
        Span::ZERO
    }

    /// Whether a SYN is accepted; it is refused else.
    fn listens(&self, _now: Time) -> bool {
        true
    }

    /// Whether the sender's socket takes `bytes` more of a source that does not wait for room, `held` of which are not
    /// acknowledged.
    fn takes(&self, _held: u64, _bytes: u64) -> bool {
        true
    }
}

/// Sockets with a value for each of their keys.
#[derive(Clone)]
pub(crate) struct SocketConfig {
    info: &'static Info,
    values: Values,
}

impl SocketConfig {
    /// Those that a group of flows over `tcp` names, among the known ones.
    pub(crate) fn of(named: &TransportSpec, known: &[&'static Info], tcp: &Tcp) -> Result<Self, InputError> {
        let info = known.iter().copied().find(|info| info.name == named.name);
        let Some(info) = info else {
            return Err(InputError::unknown(SOCKET, &named.name, known.iter().map(|info| info.name)));
        };
        let mut values = Values::new([info.keys]);
        for (rule, value) in &named.fields {
            values.set_field(&format!("{}.{rule}", info.name), value)?;
        }
        for Relation { given: (key, value), needs: (other, wanted) } in info.relations {
            if values.is(key, value) && !tcp.is(other, wanted) {
                return Err(InputError::new(format!("{key} is {value}: it needs {other} {wanted}")));
            }
        }
        Ok(SocketConfig { info, values })
    }

    /// Bytes that a source with a rate writes at a time, if no full segment.
    pub(crate) fn write_bytes(&self) -> Option<u32> {
        (self.info.write_bytes)(&self.values)
    }

    /// The sockets of one connection.
    pub(crate) fn build(&self, tcp: &Tcp) -> Box<dyn Socket> {
        (self.info.build)(&self.values, tcp)
    }
}
