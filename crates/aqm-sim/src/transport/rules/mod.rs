//! The rules of TCP in which the RFCs, Linux and ns-3 differ, in groups: a small struct each, and the keys that set it.
//!
//! A rule is a field of its struct and a key `group.rule`, named after its RFC or kernel function. Declared, read and set by
//! profiles it is in the group's file alone; the code that follows it asks the struct.

mod acks;
mod app;
mod recovery;
mod slow_start;

pub(crate) use acks::AckRules;
pub(crate) use app::AppRules;
pub(crate) use recovery::{RecoveryRules, Reduced};
pub(crate) use slow_start::{HyStartRule, SlowStartRules};

use super::keys::Relation;
use aqm_core::params::{ParamSpec, Value};

/// Values of keys, by name.
pub(super) type Settings = &'static [(&'static str, Value)];

/// A group of rules.
#[derive(Debug)]
pub struct Group {
    /// Its name, which begins the names of its keys: `recovery.frto`.
    pub name: &'static str,
    /// What its rules are about, in a few words.
    pub summary: &'static str,
    /// Its keys.
    pub keys: &'static [ParamSpec],
    /// Whether a profile sets it; if not, only one paper's senders do.
    pub of_profiles: bool,
    /// Values of its keys that need values of other keys.
    pub(super) relations: &'static [Relation],
    /// How Linux and ns-3 set its keys.
    pub(super) linux: Settings,
    pub(super) ns3: Settings,
}

/// Every group.
pub static GROUPS: &[Group] = &[recovery::GROUP, acks::GROUP, slow_start::GROUP, app::GROUP];
