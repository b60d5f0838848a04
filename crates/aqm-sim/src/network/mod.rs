//! The network: nodes, ports and wires, the packets on them, and the topologies that join them.
//!
//! A [`graph`] is what topologies ([`dumbbell`], [`topology`]) draw and [`routes`] go through; a [`port`] is one of its
//! one-way links at work: what came in, discipline and device, wire. Packets ([`packet`]) lie in a slab; ports and the
//! queues of packets [`in_flight`] pass their numbers around.
//!
//! What only few packets carry lies beside them ([`records`]).
//!
//! What a switch adds hangs here: each packet passes `Simulation::forward` at the node where it arrives,
//! `Simulation::enqueue` at the output port, `Simulation::dequeue` when the device takes it, and `Simulation::depart`
//! when its last bit leaves (`simulation/forwarding.rs`).

pub(crate) mod dumbbell;
pub(crate) mod emissions;
pub(crate) mod graph;
pub(crate) mod in_flight;
pub(crate) mod packet;
pub(crate) mod path;
pub(crate) mod port;
pub(crate) mod records;
pub(crate) mod routes;
pub(crate) mod topology;
