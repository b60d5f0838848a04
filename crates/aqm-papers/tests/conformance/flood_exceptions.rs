//! Where a flood finds less than every law promises, each with its reason.

use crate::flood::{Exception, Promise, exception};

const PHASES: &str = "drops a fixed share of the arrivals for a fixed time after a threshold was passed, however empty the queue is, and five packets for each sample of its features";

/// The list.
pub(crate) const EXCEPTIONS: &[Exception] = &[exception("daqm_artifact", Promise::FullLink, 1.2, PHASES)];
