//! Virtual time as the crate has it: a fixed instant of this process, and the run's time after it.

use aqm_core::units::{Span, Time};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

/// Nothing depends on which instant it is.
static ORIGIN: LazyLock<Instant> = LazyLock::new(origin);

#[expect(
    clippy::disallowed_methods,
    reason = "an Instant can be had in no other way; only differences matter"
)]
fn origin() -> Instant {
    Instant::now()
}

/// The instant of a time of the run.
pub(crate) fn instant(now: Time) -> Instant {
    *ORIGIN + Duration::from_nanos(now.as_nanos())
}

/// The time of an instant; one too far ahead never comes.
pub(crate) fn time(at: Instant) -> Time {
    let since = at.saturating_duration_since(*ORIGIN).as_nanos();
    Time::from_nanos(u64::try_from(since).unwrap_or(u64::MAX))
}

/// A length of time.
pub(crate) fn span(duration: Duration) -> Span {
    Span::from_nanos(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
}
