//! What the programs of papers' authors do and the field does not: a room of its own, so that `aqm-core` and `aqm-sim` speak
//! of the field alone.
//!
//! A host registers it by plain lists. The library of Python does, hence the command line, files and experiments; the test
//! bench, the C interface, the live link and the playground do not know it.
//!
//! - [`RATE_CONTROLS`]: PMQECN's sender, and the senders that its authors ran.
//! - [`OBSERVERS`]: measurements of authors' programs, which a scenario asks for (`observe`), and their metrics.
//! - [`EXTENSION`]: all of it that the simulator takes, for [`Inputs::add_extension`].
//!
//! [`Inputs::add_extension`]: aqm_sim::scenario::inputs::Inputs::add_extension

mod flow_monitor;
pub mod pmqecn;
mod queue_average;

use aqm_sim::extension::Extension;
use aqm_sim::{observer, rate_control};

/// Rate controls, in the order of listings.
pub static RATE_CONTROLS: &[&rate_control::Info] = &[
    &pmqecn::sender::INFO,
    &pmqecn::sender::AS_RUN,
    &pmqecn::sender::BOUNDED,
    &pmqecn::sender::DCQCN_AS_RUN,
    &pmqecn::sender::P4QCN_AS_RUN,
    &pmqecn::sender::TCN_AS_RUN,
];

/// Observers, in the order of listings.
pub static OBSERVERS: &[&observer::Info] = &[&queue_average::INFO, &flow_monitor::INFO];

/// What the simulator takes.
pub static EXTENSION: Extension =
    Extension { name: "papers", rate_controls: RATE_CONTROLS, observers: OBSERVERS };
