//! The list of congestion controls. The command line, files, Python and documentation take it from here.

use super::controller::Info;
use super::{bbr1, bbr3, cubic, dctcp, fixed, ledbat, newreno, prague};

/// Every congestion control, in the order of listings.
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
