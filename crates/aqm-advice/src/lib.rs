//! Which queue discipline a home's line should have.
//!
//! A [`Line`] has [`setups`](setups::setups) to be run, each of which sets something in the scenario of a household
//! ([`household`]). What its members notice of a run are the [`figures`]; how far every setup is behind in them, and
//! which is named, is the [`choice`]; and [`paste`] has the lines for a router. Nothing here simulates: the command
//! line and the page in a browser both do, and ask here.
//!
//! Rooms use only those before them.
//!
//! - [`layer`]: what a link layer adds to every packet; [`line`](mod@line): the line of a home.
//! - [`figures`]: what a household notices.
//! - [`setups`]: the modem as it is, and what may be done instead.
//! - [`household`]: the scenario; [`choice`]: which setup is named; [`paste`]: the lines for a router.

#![forbid(unsafe_code)]

pub mod choice;
pub mod figures;
pub mod household;
pub mod layer;
pub mod line;
pub mod paste;
pub mod setups;

pub use layer::Layer;
pub use line::Line;
pub use setups::Setup;
