//! RACK-TLP (RFC 8985): finds losses by time instead of by counting, and probes for losses at the tail.
//!
//! The receiver sends no DSACK, so the reordering window keeps its initial size (section 6.2 step 4), and the rules
//! of section 7.4.2 without DSACK apply.

use super::scoreboard::{Overdue, Segment};
use aqm_core::units::{Span, Time};

/// Section 7.2: the longest acknowledgment delay that a probe for a single segment must allow for (WCDelAckT).
const WORST_DELAYED_ACK: Span = Span::from_millis(200);
/// Section 7.2: the probe timeout before the first sample.
const FIRST_PROBE: Span = Span::from_secs(1);

/// State of one sender.
#[derive(Clone, Debug)]
pub(crate) struct Rack {
    /// Of the segments that arrived, the one sent last: RACK.xmit_ts and RACK.end_seq.
    newest: (Time, u64),
    /// The round-trip time of the segment that arrived last: RACK.rtt.
    rtt: Span,
    min_rtt: Span,
    /// The highest byte that arrived, and what it was before the acknowledgment that is now handled.
    highest: u64,
    highest_before: u64,
    reordering: bool,
    /// The lowest byte of what arrived out of order with this acknowledgment, the largest distance of such a byte from the
    /// highest that had arrived, and how often there was any (tcp_check_sack_reordering).
    lowest: u64,
    furthest: u64,
    times: u64,
    /// Whether probes are sent.
    pub(crate) probes: bool,
    /// When to look for losses again.
    pub(crate) reordering_timer: Option<Time>,
    /// When to send a probe.
    pub(crate) probe_at: Option<Time>,
    /// A probe is to be sent now.
    pub(crate) probe_due: bool,
    /// Where the data sent before the probe ended, and whether the probe was a retransmission.
    probe: Option<(u64, bool)>,
}

impl Default for Rack {
    fn default() -> Rack {
        Rack {
            newest: (Time::ZERO, 0),
            rtt: Span::ZERO,
            min_rtt: Span::MAX,
            highest: 0,
            highest_before: 0,
            reordering: false,
            lowest: u64::MAX,
            furthest: 0,
            times: 0,
            probes: true,
            reordering_timer: None,
            probe_at: None,
            probe_due: false,
            probe: None,
        }
    }
}

impl Rack {
    /// An acknowledgment comes: what it alone reports arrived together, and not out of order.
    pub(crate) fn on_ack(&mut self) {
        self.highest_before = self.highest;
    }

    /// A segment arrived: section 6.2 steps 1 to 3. Those of an acknowledgment come in the order of their sequence numbers, as
    /// in Linux (tcp_rack_advance); the section has the order in which they were sent.
    pub(crate) fn on_arrived(&mut self, segment: &Segment, now: Time) {
        let rtt = now.since(segment.sent_at);
        self.highest = self.highest.max(segment.end());
        if segment.resent {
            if rtt < self.min_rtt {
                return; // it was the original that arrived
            }
        } else {
            self.min_rtt = self.min_rtt.min(rtt);
            if segment.end() < self.highest_before {
                self.reordering = true;
                self.lowest = self.lowest.min(segment.start);
            }
        }
        self.rtt = rtt;
        self.newest = self.newest.max((segment.sent_at, segment.end()));
    }

    /// All that the acknowledgment reports has been seen.
    pub(crate) fn end_of_ack(&mut self) {
        let lowest = std::mem::replace(&mut self.lowest, u64::MAX);
        if lowest != u64::MAX {
            self.furthest = self.furthest.max(self.highest - lowest);
            self.times += 1;
        }
    }

    /// How many bytes segments were overtaken by at most, and how often some were.
    pub(crate) fn reordering_degree(&self) -> (u64, u64) {
        (self.furthest, self.times)
    }

    /// Section 6.2 step 4: the reordering window; `certain` means in recovery, or with DupThresh segments sacked.
    pub(crate) fn overdue(&self, certain: bool, smoothed: Span) -> Overdue {
        // SRTT bounds it, once there is one.
        let bound = if smoothed > Span::ZERO { smoothed } else { Span::MAX };
        let window = if !self.reordering && certain { Span::ZERO } else { (self.min_rtt / 4).min(bound) };
        Overdue { newest: self.newest, after: self.rtt + window }
    }

    /// Section 7.2: when the probe is due; `alone` if a single segment is outstanding; never after the timeout.
    pub(crate) fn arm_probe(&mut self, now: Time, smoothed: Span, alone: bool, timeout: Option<Time>) {
        if self.probe.is_some() || !self.probes {
            self.probe_at = None;
            return;
        }
        let wait = match smoothed {
            Span::ZERO => FIRST_PROBE,
            _ if alone => smoothed * 2 + WORST_DELAYED_ACK,
            _ => smoothed * 2,
        };
        let at = now + wait;
        self.probe_at = Some(timeout.map_or(at, |timeout| timeout.min(at)));
    }

    /// The probe was sent when everything below `next` had been sent.
    pub(crate) fn on_probe(&mut self, next: u64, retransmission: bool) {
        self.probe = Some((next, retransmission));
        (self.probe_at, self.probe_due) = (None, false);
    }

    /// Section 7.4.2: whether an acknowledgment shows that the probe repaired a loss, which needs a response.
    pub(crate) fn probe_repaired_a_loss(&mut self, ack: u64, duplicate: bool) -> bool {
        let Some((end, retransmission)) = self.probe else { return false };
        if ack < end || (ack == end && retransmission && !duplicate) {
            return false;
        }
        self.probe = None;
        retransmission && ack > end
    }

    /// Recovery or a timeout cancels probes.
    pub(crate) fn stop_probing(&mut self) {
        (self.probe_at, self.probe, self.probe_due) = (None, None, false);
    }
}
