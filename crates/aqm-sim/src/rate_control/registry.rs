//! The list of rate controls. Transports of the command line, files, Python and documentation follow from it.

use super::declaration::Info;
use super::{dcqcn, pmqecn, qcn};

/// Every rate control, as listed to users.
pub static RATE_CONTROLS: &[&Info] = &[
    &dcqcn::INFO,
    &qcn::INFO,
    &pmqecn::INFO,
    &pmqecn::AS_RUN,
    &pmqecn::BOUNDED,
    &pmqecn::DCQCN_AS_RUN,
    &pmqecn::P4QCN_AS_RUN,
    &pmqecn::TCN_AS_RUN,
];

/// The rate control of this name.
pub fn find(name: &str) -> Option<&'static Info> {
    RATE_CONTROLS.iter().copied().find(|info| name == info.name)
}
