//! The network: nodes, ports and wires, the packets on them, and the topologies that join them.
//!
//! A [`graph`] is what topologies ([`dumbbell`], [`topology`]) draw and [`routes`] go through. A [`port`] is one of its
//! one-way links at work: what came in and did not come out, the discipline and its device, the wire. It has the number of
//! its link, and belongs to the node that the link leaves. Packets ([`packet`]) lie in a slab; ports and the queues of
//! packets [`in_flight`] pass their numbers around. What only few packets carry lies in [`records`] beside them.
//!
//! Where a switch takes part (`simulation/forwarding.rs` has all of these):
//!
//! - `enqueue`: before the discipline sees it. The ingress of a program and then the shared buffer have it here
//!   (`Simulation::admit`), and `metadata` tells by which port it came: the one before in its route, `routes[next - 2]`,
//!   unless its host is here.
//! - `dequeue`: when the device takes it. Paused classes are passed over here, the shared buffer is given back what it
//!   took, and the egress of the program has the packet; dropped packets pass `PortObserver::on_drop`.
//! - `depart`: its last bit leaves. A packet for the neighbour alone (a pause frame) starts here, with a route of one port
//!   and a [`records::Record`]; `deliver` hands it over at the other end.
//! - `Kind::SwitchTimer` stands for a pause that must be said again, or for the timer of a control plane.
//!
//! What disciplines and programs emit is addressed and routed in `simulation/feedback.rs`.

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
