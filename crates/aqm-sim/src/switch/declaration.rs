//! What a program declares of itself, and the switch that it is built for.

use super::control_plane::Program;
use aqm_core::params::{ParamError, ParamSpec, Params, Preset};
use aqm_core::random::Random;
use aqm_core::units::Rate;

/// Everything there is to know about a program without running it.
pub struct Info {
    /// Name in scenarios.
    pub name: &'static str,
    /// One line for listings.
    pub summary: &'static str,
    /// Document that defines it.
    pub reference: &'static str,
    /// Parameters.
    pub params: &'static [ParamSpec],
    /// Presets; the first is meant when none is named.
    pub presets: &'static [Preset],
    /// What the values of its telemetry mean, behind the queue's packets; empty if it has none.
    pub telemetry: &'static str,
    /// What the three values of the packets mean that it sends to sources; empty if it sends none.
    pub feedback: &'static str,
    /// Makes one for a switch, or says which relation between parameters does not hold.
    pub build: fn(&Params, Site) -> Result<Program, ParamError>,
}

/// The switch that a program runs on.
#[derive(Debug)]
pub struct Site {
    /// The rate of each port, outwards; zero for one that packets only come in by.
    pub rates: Vec<Rate>,
    /// What the control plane may draw from.
    pub random: Random,
}
