//! Both ends of flows: what is done with packets at the end of their routes. One file for each kind of endpoint.

pub(crate) mod datagram;
pub(crate) mod delivery;
pub(crate) mod feedback;
pub(crate) mod flow;
pub(crate) mod ledger;
pub(crate) mod rated;
pub(crate) mod rated_ends;
pub(crate) mod recorded;
pub(crate) mod replay;
pub(crate) mod tcp;
pub(crate) mod telemetry;
