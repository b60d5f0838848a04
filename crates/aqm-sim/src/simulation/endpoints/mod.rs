//! Endpoints in the event loop: what is done with packets at the end of their routes, and when a source or a timer is due.
//! One file for each kind of endpoint.

mod datagram;
mod delivery;
mod feedback;
mod held;
mod rated;
mod replay;
mod stack;
mod tcp;
mod telemetry;
