//! Packets that were recorded at both ends of a queue, as a kernel's taps record them.

use super::Meter;
use aqm_core::backlog::Backlog;
use aqm_core::signal::DropReason;
use aqm_core::units::Time;

/// A packet at a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// When it arrived.
    pub arrived: Time,
    /// When it left; never if it was dropped.
    pub left: Option<Time>,
    /// Its bytes on the link.
    pub bytes: u64,
    /// Whether it left marked.
    pub is_marked: bool,
}

impl Meter {
    /// Measures recorded packets from `since` to before `until`. Taps do not say why a packet never left, nor when it was
    /// dropped: drops count as those of a full queue, and what waited over time is left to who saw the queue.
    pub fn of_recorded(packets: impl Iterator<Item = Recorded>, since: Time, until: Time) -> Meter {
        let mut meter = Meter::since(since, Backlog::default());
        for Recorded { arrived, left, bytes, is_marked } in packets {
            if (since..until).contains(&arrived) {
                meter.arrive();
                if is_marked {
                    meter.mark(arrived);
                }
                if left.is_none() {
                    meter.drop(arrived, DropReason::Unspecified);
                }
            }
            if let Some(left) = left.filter(|left| (since..until).contains(left)) {
                meter.depart(bytes, left.since(arrived));
            }
        }
        meter
    }
}
