//! The network: nodes, ports and wires, the packets on them, and the topologies that join them.
//!
//! A [`graph`] is built by the topologies ([`dumbbell`], [`topology`]), and [`routes`] lead through it. A [`port`] is
//! one of its one-way links in operation: its discipline, device and wire, and what is inside. It has the number of
//! its link, and belongs to the node that the link leaves. Packets ([`packet`]) are kept in a slab; ports and queues
//! of packets [`in_flight`] hold their numbers. What only few packets carry is kept in [`records`].
//!
//! Where a switch takes part (all in `simulation/forwarding.rs`):
//!
//! - `enqueue`: before the discipline sees it. The ingress of a program, and then the shared buffer, handle it here
//!   (`Simulation::admit`). `metadata` has the port it came in by: the previous one of its route, `routes[next - 2]`,
//!   unless its host is here.
//! - `dequeue`: when the device takes it. Paused classes are skipped here, its space in the shared buffer is released,
//!   and the egress of the program handles it. Dropped packets pass `PortObserver::on_drop`.
//! - `depart`: its last bit leaves. A packet for the neighbour only (a pause frame) starts here, with a route of one port
//!   and a [`records::Record`]; `deliver` hands it over at the other end.
//! - `EventKind::SwitchTimer` is for pauses that must be repeated, and for the timer of a control plane.
//!
//! Emissions of disciplines and programs are addressed and routed in `simulation/feedback.rs`.

pub(crate) mod dumbbell;
pub(crate) mod emissions;
pub(crate) mod graph;
pub(crate) mod hosts;
pub(crate) mod ideal;
pub(crate) mod in_flight;
mod kinds;
pub(crate) mod packet;
pub(crate) mod path;
pub(crate) mod payloads;
pub(crate) mod port;
pub(crate) mod records;
pub(crate) mod routes;

pub(crate) mod topology;
