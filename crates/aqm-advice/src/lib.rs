//! Which queue discipline a home's line should have.
//!
//! A [`Line`] has [`setups`](setups::setups) to be run, each of which sets something in the scenario of a household
//! ([`household`]). What its members notice of a run are the [`figures`]; how far every setup is behind in them, and
//! which is named, is the [`choice`]; and [`paste`] has the lines for a router. Nothing here simulates: the command
//! line and the page in a browser both do, and ask here.

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
