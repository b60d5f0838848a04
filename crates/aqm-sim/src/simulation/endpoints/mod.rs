//! Endpoints in the event loop: what is done with packets at the end of their routes, and when a source or a timer is due.
//! One file for each kind of endpoint.

mod backlogged_source;
mod datagram;
mod delivery;
mod feedback;
mod rate_sender;
mod replay;
mod stack;
mod tcp;
mod telemetry;
