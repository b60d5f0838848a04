//! What is simulated, fully resolved: every quantity in base units, every default filled in.
//!
//! The Python package reads what people write (`10mbit`, `1bdp`, `10*cubic`) and hands over this form as JSON.
//! Unknown keys are refused.

mod check;
mod defaults;
mod flows;
pub mod inputs;
pub mod options;
pub mod topology;
pub use aqm_path::wire;

pub use crate::traffic::distribution::Distribution;
pub use crate::traffic::source::{Exchange, Round, Source, Video};
pub use crate::transport::{EcnMode, Tcp, TransportSpec};
pub use flows::{FlowGroup, Transport};
pub use options::{Capacity, Scenario, Tap};
pub use topology::Topology;
