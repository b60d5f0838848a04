//! The real transports that there are: those of this build, and those that Python has declared.

use crate::foreign::declared_transports;
use aqm_sim::stack::Stack;
use std::sync::Arc;

/// Every stack, as listed to users.
pub(crate) fn stacks() -> Vec<Arc<dyn Stack>> {
    let mut stacks: Vec<Arc<dyn Stack>> = vec![
        #[cfg(feature = "quinn")]
        Arc::new(aqm_quinn::Quinn),
        #[cfg(feature = "smoltcp")]
        Arc::new(aqm_smoltcp::Smoltcp),
    ];
    stacks.extend(declared_transports());
    stacks
}
