//! Requests of applications to their connections, and the waiting times of their users.

use aqm_core::units::Time;

/// A request of an application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Send bytes in a direction; the application is notified when all of them have arrived.
    Send { direction: usize, bytes: u64 },
    /// Wake the application at this time. One wake-up at a time is pending.
    Wake(Time),
}

/// What a user waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// A file.
    Transfer,
    /// The response to a call.
    Rpc,
    /// The last object of a web page.
    Page,
    /// The answers of all servers.
    Query,
    /// The answer to a request of a recorded conversation, whose last may have none in the capture.
    Exchange,
}
