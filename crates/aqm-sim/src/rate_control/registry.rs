//! The list of rate controls. Transports of the command line, files, Python and documentation follow from it.

use super::declaration::Info;
use super::{dcqcn, qcn};

/// Every rate control of this crate, as listed to users. A host may have others: [`crate::extension`].
pub static RATE_CONTROLS: &[&Info] = &[&dcqcn::INFO, &qcn::INFO];
