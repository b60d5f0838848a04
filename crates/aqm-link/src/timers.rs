//! How exactly this machine wakes a thread that does nothing else: what no link can be better than.

use crate::os::clock::{self, Clock};
use crate::report::{self, Lateness};
use aqm_core::units::{Span, Time};
use aqm_io::histogram::Histogram;
use std::io;
use std::thread;

/// As often as a link of 12 Mbit/s has a packet to send.
const PERIOD: Span = Span::from_millis(1);

/// Sleeps again and again for `time` as the link does, in a thread of its own, and says how late it woke up.
///
/// # Errors
/// The system refuses to wait.
pub fn lateness(time: Span) -> io::Result<Option<Lateness>> {
    thread::spawn(move || sleep_for(time))
        .join()
        .unwrap_or_else(|_| Err(io::Error::other("the thread has ended")))
}

fn sleep_for(time: Span) -> io::Result<Option<Lateness>> {
    clock::be_punctual();
    let (clock, mut late) = (Clock::start(), Histogram::default());
    let (mut due, end) = (Time::ZERO + PERIOD, Time::ZERO + time);
    while due < end {
        while clock.now() < due {
            clock::wait::<0>([], due.since(clock.now()))?;
        }
        let now = clock.now();
        late.record(now.since(due).as_nanos());
        due = now + PERIOD;
    }
    Ok(report::lateness(&late))
}
