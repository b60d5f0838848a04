//! The event loop: packets move from port to port, endpoints answer, the metrics look on.
//!
//! [`build`] makes a [`state`] of a scenario and [`run`] moves it on; [`forwarding`] moves packets, [`queueing`] and
//! [`serving`] are the ports with a discipline, [`applications`] and the endpoints answer; [`invariants`] prove that nothing was
//! lost, invented, forgotten or too fast.

pub(crate) mod ack_path;
pub(crate) mod air_use;
pub(crate) mod applications;
pub(crate) mod build;
pub(crate) mod captures;
pub(crate) mod carrier;
#[cfg(test)]
mod channel_tests;
pub(crate) mod channels;
pub(crate) mod endpoints;
pub(crate) mod event_queue;
pub(crate) mod feedback;
pub(crate) mod forwarding;
pub(crate) mod invariants;
#[cfg(test)]
mod loss_log_tests;
mod metadata;
pub(crate) mod observer;
#[cfg(test)]
mod program_tests;
pub(crate) mod queueing;
pub(crate) mod run;
mod serving;
pub(crate) mod state;
#[cfg(test)]
mod straight_tests;
pub(crate) mod switches;
pub(crate) mod switching;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod wifi_fault_tests;
#[cfg(test)]
mod wifi_tests;
