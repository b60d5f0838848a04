//! Traffic: how much applications send, and when.

pub(crate) mod action;
pub(crate) mod application;
pub(crate) mod arrivals;
pub(crate) mod client;
pub(crate) mod conversations;
pub(crate) mod dialogue;
pub(crate) mod distribution;
pub(crate) mod durations;
mod kind;
pub(crate) mod offer;
pub(crate) mod player;
mod registry;
pub(crate) mod rehearsal;
pub(crate) mod source;
pub(crate) mod voice;
mod workload;

pub use kind::{BULK, COMMON, Key, Over, SourceKind, Takes};
pub use registry::KINDS;
