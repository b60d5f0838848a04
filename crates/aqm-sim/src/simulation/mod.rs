//! The event loop: packets move from port to port, endpoints answer, the metrics look on.
//!
//! [`setup`] makes a [`state`] of a scenario and [`run`] moves it on; [`forwarding`] moves packets, [`applications`] and
//! the endpoints answer; [`check`], [`conservation`], [`liveness`], [`wires`] and [`emptying`] prove that nothing was lost,
//! invented, forgotten or too fast.

pub(crate) mod applications;
pub(crate) mod captures;
pub(crate) mod carrier;
pub(crate) mod check;
pub(crate) mod conservation;
pub(crate) mod emptying;
pub(crate) mod endpoints;
pub(crate) mod engine;
#[cfg(test)]
mod fault_tests;
pub(crate) mod faults;
pub(crate) mod feedback;
pub(crate) mod forwarding;
pub(crate) mod liveness;
#[cfg(test)]
mod loss_log_tests;
pub(crate) mod members;
pub(crate) mod observer;
#[cfg(test)]
mod program_tests;
pub(crate) mod run;
pub(crate) mod setup;
pub(crate) mod state;
pub(crate) mod switching;
#[cfg(test)]
mod tests;
pub(crate) mod wires;
