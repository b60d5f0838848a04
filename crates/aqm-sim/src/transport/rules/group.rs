//! What a group of rules is.

use crate::transport::relation::Relation;
use aqm_core::params::{ParamSpec, Value};

/// Values of keys, by name.
pub(in crate::transport) type Settings = &'static [(&'static str, Value)];

/// A group of rules.
#[derive(Debug)]
pub struct Group {
    /// Its name, which begins the names of its keys: `recovery.frto`.
    pub name: &'static str,
    /// What its rules are about, in a few words.
    pub summary: &'static str,
    /// Its keys.
    pub keys: &'static [ParamSpec],
    /// Values of its keys that need values of other keys.
    pub(in crate::transport) relations: &'static [Relation],
    /// How Linux and ns-3 set its keys.
    pub(in crate::transport) linux: Settings,
    pub(in crate::transport) ns3: Settings,
}
