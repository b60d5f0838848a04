//! The real transports that this build has.

use aqm_sim::stack::Stack;
use std::sync::Arc;

/// Every stack, as listed to users.
pub(crate) fn stacks() -> Vec<Arc<dyn Stack>> {
    vec![
        #[cfg(feature = "quinn")]
        Arc::new(aqm_quinn::Quinn),
        #[cfg(feature = "smoltcp")]
        Arc::new(aqm_smoltcp::Smoltcp),
    ]
}
