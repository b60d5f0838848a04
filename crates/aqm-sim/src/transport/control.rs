//! The congestion controls, one file each, and their list. The command line, files, Python and documentation follow from it.

pub(super) mod bbr;
mod bbr1;
mod bbr3;
pub(super) mod controller;
mod cubic;
mod cubic_count;
mod dctcp;
mod fixed;
mod hystart;
mod hystart_classic;
pub(super) mod isolated;
mod ledbat;
mod newreno;
mod prague;
pub(super) mod running;

use self::controller::Info;

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
