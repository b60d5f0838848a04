//! Traffic: what applications have to send, and when.

mod application;
mod arrivals;
mod client;
mod dialogue;
mod distribution;
mod durations;
mod player;

pub(crate) use application::{Application, Waited, Wish};
pub(crate) use arrivals::Arrivals;
pub(crate) use client::Client;
pub(crate) use dialogue::Dialogue;
pub use distribution::Distribution;
pub(crate) use durations::Durations;
pub(crate) use player::{Player, Viewing};
