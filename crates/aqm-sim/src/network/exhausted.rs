//! The end of a run that has more packets at once than memory is meant to hold: an error, before the machine runs out.

use crate::report::RunError;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Most packets that exist at once: with their queues they take about 3 GB. That is 200 ms at 1 Tbit/s.
pub(crate) const MOST_PACKETS: usize = 1 << 24;

/// There is no room for another packet.
struct Exhausted {
    most: usize,
}

/// Ends the run from wherever it is: no packet pays for a result that is always the same.
#[cold]
pub(crate) fn exhausted(most: usize) -> ! {
    // Not a panic: nobody is told but `guarded`.
    resume_unwind(Box::new(Exhausted { most }))
}

/// Runs, and answers with an error if packets were too many.
pub(crate) fn guarded<T>(run: impl FnOnce() -> Result<T, RunError>) -> Result<T, RunError> {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|cause| match cause.downcast::<Exhausted>() {
        Ok(exhausted) => Err(RunError::Input(format!(
            "more than {} packets are on their way at once: lower rates, windows, messages, the buffer or the number of flows",
            exhausted.most
        ))),
        Err(panic) => resume_unwind(panic),
    })
}
