//! Both ends of flows: what a flow is, what its ends keep, one file for each kind of endpoint. The event loop moves them
//! in `simulation/endpoints`.

pub(crate) mod backlogged_source;
pub(crate) mod flow;
pub(crate) mod rate_sender;
pub(crate) mod recorded;
pub(crate) mod stack;
pub(crate) mod tcp;
