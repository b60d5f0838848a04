//! The programs that a scenario can name on a switch. Files, Python and documentation follow from the list.

mod dscp;
mod qcn;

use super::declaration::Info;

/// Every program, one word each, as listed to users.
pub static PROGRAMS: &[&Info] = &[&dscp::INFO, &super::pmqecn::data_plane::INFO, &qcn::INFO];
