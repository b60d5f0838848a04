//! Traffic: what applications have to send, and when.

pub(crate) mod action;
pub(crate) mod application;
pub(crate) mod arrivals;
pub(crate) mod client;
pub(crate) mod dialogue;
pub(crate) mod distribution;
pub(crate) mod durations;
pub(crate) mod player;
