//! The programs that a scenario can name on a switch. Files, Python and documentation follow from the list.

mod dscp;
mod qcn;

use super::declaration::Info;

/// Every program of this crate, one word each, as listed to users. A host may have others: [`crate::extension`].
pub static PROGRAMS: &[&Info] = &[&dscp::INFO, &qcn::INFO];
