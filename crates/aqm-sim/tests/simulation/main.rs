//! Whole simulations: TCP against published formulas, determinism, and invariants.

mod bbr;
mod capacities;
mod determinism;
mod hosts;
mod impairments;
mod known_bugs;
mod laws;
mod paths;
mod prague;
mod random_loss;
mod rate_sender;
mod scenarios;
mod series;
mod shares;
mod stacks;
mod switches;
mod topologies;
mod traffic;
