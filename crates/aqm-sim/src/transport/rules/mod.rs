//! The rules of TCP in which the RFCs, Linux and ns-3 differ, in groups: a small struct each, and the keys that set it.
//!
//! A rule is a field of its struct and a key `group.rule`, named after its RFC or kernel function. Declared, read and set by
//! profiles it is in the group's file alone; the code that follows it asks the struct.

mod acks;
mod group;
mod recovery;
mod slow_start;

pub(crate) use acks::AckRules;
pub use group::Group;
pub(super) use group::Settings;
pub(crate) use recovery::{RecoveryRules, Reduced};
pub(crate) use slow_start::{HyStartRule, SlowStartRules};

/// Every group.
pub static GROUPS: &[Group] = &[recovery::GROUP, acks::GROUP, slow_start::GROUP];
