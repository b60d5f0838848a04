//! The application: what it has written, and what of that may become segments now.

use std::collections::VecDeque;

/// Writes of a socket, and what holds back a segment that is not full.
#[derive(Debug, Default)]
pub(super) struct Application {
    written: u64,
    /// Bytes that the sender has.
    handed: u64,
    /// Where records end: no segment holds parts of two (MSG_EOR).
    ends: VecDeque<u64>,
    /// TCP_CORK, and MSG_MORE of the last write.
    pub(super) cork: bool,
    more: bool,
    /// TCP_NODELAY.
    pub(super) nodelay: bool,
    /// End of the last segment that was not full (RFC 896 as modified by Minshall: tcp_minshall_check).
    short_end: u64,
    /// Whether everything goes, full or not: the timer of a corked socket has expired.
    flushing: bool,
}

impl Application {
    /// It writes `bytes`.
    pub(super) fn write(&mut self, bytes: u64, more: bool, ends_record: bool) {
        self.written += bytes;
        self.more = more;
        self.flushing = false;
        if ends_record {
            self.ends.push_back(self.written);
        }
    }

    /// An acknowledgment arrives: only the call with MSG_MORE held anything back (tcp_push_pending_frames).
    pub(super) fn on_ack(&mut self) {
        self.more = false;
    }

    /// What was held back goes now.
    pub(super) fn flush(&mut self) {
        (self.flushing, self.more) = (true, false);
    }

    /// Everything that it has written.
    pub(super) fn written(&self) -> u64 {
        self.written
    }

    /// Whether something is held back although nothing is outstanding: then a timer lets it go.
    pub(super) fn is_held(&self, una: u64, next: u64) -> bool {
        una == next && self.handed == next && self.handed < self.written
    }

    /// How many bytes more the sender gets, which has sent everything below `next` and been acknowledged below `una`.
    pub(super) fn hand_over(&mut self, una: u64, next: u64, mss: u64) -> u64 {
        while self.ends.front().is_some_and(|end| *end <= next) {
            self.ends.pop_front();
        }
        let record = self.ends.front().copied().filter(|end| *end < self.written);
        let mut limit = record.unwrap_or(self.written);
        let tail = (limit - next) % mss;
        if record.is_none() && tail > 0 && !self.flushing {
            let corked = (self.cork || self.more) && !self.flushing;
            let waits = !self.nodelay && una < next && self.short_end > una;
            if corked || waits {
                limit -= tail;
            }
        }
        let bytes = limit.saturating_sub(self.handed);
        self.handed += bytes;
        bytes
    }

    /// A segment was sent for the first time.
    pub(super) fn on_sent(&mut self, end: u64, payload: u64, mss: u64) {
        if payload < mss {
            self.short_end = end;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_that_is_not_full_waits_for_the_one_before() {
        let mut application = Application::default();
        application.write(250, false, false);
        assert_eq!(application.hand_over(0, 0, 100), 250); // nothing short is outstanding
        application.on_sent(250, 50, 100);
        application.write(130, false, false);
        assert_eq!(application.hand_over(100, 250, 100), 100);
        assert_eq!(application.hand_over(250, 350, 100), 30);
    }

    #[test]
    fn a_corked_socket_waits_for_more() {
        let mut application = Application::default();
        application.write(150, true, false);
        assert_eq!(application.hand_over(0, 0, 100), 100);
        assert!(application.is_held(100, 100));
        application.flush();
        assert_eq!(application.hand_over(100, 100, 100), 50);
    }

    #[test]
    fn no_segment_holds_parts_of_two_records() {
        let mut application = Application::default();
        application.write(150, false, true);
        application.write(250, false, false);
        assert_eq!(application.hand_over(0, 0, 100), 150);
        assert_eq!(application.hand_over(0, 100, 100), 0);
        assert_eq!(application.hand_over(0, 150, 100), 250);
    }
}
