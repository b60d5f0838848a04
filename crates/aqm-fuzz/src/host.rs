//! The suspicious host of the core's tests, and the values of parameters that they try.

#[path = "../../aqm-core/tests/common/mod.rs"]
mod common;

pub(crate) use common::rig::Rig;
pub(crate) use common::{parse, values};
