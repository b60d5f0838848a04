//! The list of congestion controls. Transports of the command line, files, Python and documentation follow from it.

use super::controller::Info;
use super::{bbr1, bbr3, cubic, dctcp, fixed, ledbat, newreno, prague};

/// Every congestion control, one word each, as listed to users.
pub static CONTROLS: &[&Info] = &[
    &newreno::INFO,
    &cubic::INFO,
    &dctcp::INFO,
    &ledbat::INFO,
    &prague::INFO,
    &bbr1::INFO,
    &bbr3::INFO,
    &fixed::INFO,
];

/// The congestion control of this name.
pub fn find(name: &str) -> Option<&'static Info> {
    CONTROLS.iter().copied().find(|info| name == info.name || name == info.alias)
}
