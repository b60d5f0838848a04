//! Time, and how exactly this thread sleeps.
#![allow(unsafe_code)]

use super::checked;
use aqm_core::units::{Span, Time};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// A clock that starts at zero and never jumps.
pub(crate) struct Clock {
    start: u64,
}

impl Clock {
    /// It is zero now.
    pub(crate) fn start() -> Clock {
        Clock { start: nanos(libc::CLOCK_MONOTONIC) }
    }

    /// When it started, in nanoseconds since 1970.
    pub(crate) fn start_since_1970(&self) -> u64 {
        let (now, stamp) = self.now_and_stamp();
        stamp.saturating_sub(now.as_nanos())
    }

    /// The time.
    pub(crate) fn now(&self) -> Time {
        Time::from_nanos(nanos(libc::CLOCK_MONOTONIC) - self.start)
    }

    /// The time, and what the kernel's stamps on packets were then: they are of the clock that can be set.
    pub(crate) fn now_and_stamp(&self) -> (Time, u64) {
        (self.now(), nanos(libc::CLOCK_REALTIME))
    }
}

/// Processor time of this thread in nanoseconds.
pub(crate) fn cpu() -> u64 {
    nanos(libc::CLOCK_THREAD_CPUTIME_ID)
}

fn nanos(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: it writes to `time`.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Lets this thread, and nothing that it starts from now on, be woken as exactly as the kernel can: without the slack of
/// 50 us that timers have, and as a real-time thread where that is permitted. Says whether it is.
pub(crate) fn be_punctual() -> bool {
    // SAFETY: neither call reads or writes memory of ours but `priority`.
    unsafe {
        libc::prctl(libc::PR_SET_TIMERSLACK, 1);
        // Above the rate-based senders, which have 1.
        let priority = libc::sched_param { sched_priority: 2 };
        libc::sched_setscheduler(0, libc::SCHED_RR | libc::SCHED_RESET_ON_FORK, &raw const priority) == 0
    }
}

/// Sleeps for at most `longest`, or until one of `sources` can be read; the answer has the state of each.
pub(crate) fn wait<const N: usize>(
    sources: [Option<BorrowedFd<'_>>; N],
    longest: Span,
) -> io::Result<[Ready; N]> {
    // poll(2) passes over negative descriptors.
    let mut polled = sources.map(|source| libc::pollfd {
        fd: source.map_or(-1, |source| source.as_raw_fd()),
        events: libc::POLLIN,
        revents: 0,
    });
    let nanos = longest.as_nanos();
    let timeout = libc::timespec {
        tv_sec: (nanos / 1_000_000_000) as libc::time_t,
        tv_nsec: (nanos % 1_000_000_000) as libc::c_long,
    };
    // SAFETY: `polled` has N entries, and no signal mask is given.
    let result =
        unsafe { libc::ppoll(polled.as_mut_ptr(), N as libc::nfds_t, &raw const timeout, std::ptr::null()) };
    match checked(result) {
        Err(error) if error.kind() != io::ErrorKind::Interrupted => Err(error),
        _ => Ok(polled.map(|one| Ready {
            readable: one.revents & libc::POLLIN != 0,
            failed: one.revents & (libc::POLLERR | libc::POLLHUP) != 0,
        })),
    }
}

/// State of a source.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ready {
    /// It can be read.
    pub(crate) readable: bool,
    /// It has failed.
    pub(crate) failed: bool,
}
