//! Drops and marks. What is dropped or marked is a part of what arrived while measuring, as the sample of RFC 7680 section 3.4
//! is of packets sent in an interval: packets that arrived before count apart.

use aqm_core::signal::DropReason;
use aqm_core::units::Time;

/// Packets that were dropped or marked.
#[derive(Clone, Debug, Default)]
pub struct Signals {
    since: Time,
    /// Dropped by the AQM.
    pub early: u64,
    /// Dropped because the queue was full.
    pub overflow: u64,
    /// Acknowledgments that were filtered, which are not lost.
    pub filtered: u64,
    /// Marked.
    pub marks: u64,
    /// The same of packets that had arrived before measuring began.
    pub older: Older,
}

/// Packets that arrived before measuring began.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Older {
    /// Dropped, whatever the reason.
    pub dropped: u64,
    /// Those of them that the AQM chose.
    pub early: u64,
    /// Acknowledgments that were filtered.
    pub filtered: u64,
    /// Marked.
    pub marked: u64,
}

impl Signals {
    /// Of packets that arrive from `now` on.
    pub fn since(now: Time) -> Signals {
        Signals { since: now, ..Signals::default() }
    }

    /// When measuring began.
    pub fn began(&self) -> Time {
        self.since
    }

    /// A packet that arrived at this time is dropped; answers whether it is lost and of the sample.
    pub fn drop(&mut self, arrival: Time, reason: DropReason) -> bool {
        let is_older = arrival < self.since;
        if !reason.is_loss() {
            let counter = if is_older { &mut self.older.filtered } else { &mut self.filtered };
            *counter += 1;
            return false;
        }
        if is_older {
            self.older.dropped += 1;
            self.older.early += u64::from(reason.is_early());
        } else if reason.is_early() {
            self.early += 1;
        } else {
            self.overflow += 1;
        }
        !is_older
    }

    /// A packet that arrived at this time is marked; answers whether it is of the sample.
    pub fn mark(&mut self, arrival: Time) -> bool {
        let is_older = arrival < self.since;
        let counter = if is_older { &mut self.older.marked } else { &mut self.marks };
        *counter += 1;
        !is_older
    }

    /// Lost packets of the sample.
    pub fn dropped(&self) -> u64 {
        self.early + self.overflow
    }
}
