//! Whole simulations: TCP against the laws of the literature, determinism, and what must never happen.

mod bbr;
mod determinism;
mod hosts;
mod known_bugs;
mod laws;
mod paths;
mod prague;
mod scenarios;
mod series;
mod switches;
mod topologies;
mod traffic;
