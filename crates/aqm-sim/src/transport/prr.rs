//! Proportional Rate Reduction (RFC 6937, RFC 9937): spreads sending over a recovery, instead of a pause and a burst.

/// One recovery.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Prr {
    /// RecoverFS: bytes outstanding when it began.
    flight: u64,
    delivered: u64,
    out: u64,
    /// Sending is counted in units of this many bytes.
    unit: u64,
    /// Only a safe acknowledgment lets more be sent than arrived.
    cautious: bool,
    /// What may still be sent before the next acknowledgment (sndcnt).
    pub(crate) room: u64,
}

impl Prr {
    /// Recovery begins with `flight` bytes outstanding.
    pub(crate) fn begin(flight: u64) -> Prr {
        Prr { flight, unit: 1, ..Prr::default() }
    }

    /// The same, counted in units of `unit` bytes; `cautious` as in RFC 9937, with its SafeACK.
    pub(crate) fn with(self, unit: u64, cautious: bool) -> Prr {
        Prr { unit, cautious, ..self }
    }

    /// An acknowledgment reported `delivered` bytes and leaves `pipe` in the network: RFC 6937 section 3, with the
    /// slow start reduction bound. `safe`: it advanced, and no loss is new.
    pub(crate) fn on_ack(&mut self, delivered: u64, pipe: u64, ssthresh: u64, mss: u64, safe: bool) {
        if delivered == 0 {
            return; // RFC 9937 section 6.2: nothing has left the network
        }
        self.delivered += delivered;
        self.room = if pipe > ssthresh && self.flight > 0 {
            let due = u128::from(self.delivered) * u128::from(ssthresh);
            let due = due.div_ceil(u128::from(self.flight)) as u64;
            due.next_multiple_of(self.unit).saturating_sub(self.out)
        } else {
            let limit = self.delivered.saturating_sub(self.out).max(delivered)
                + if safe || !self.cautious { mss } else { 0 };
            limit.min(ssthresh.saturating_sub(pipe))
        };
        if self.out == 0 && self.room == 0 {
            self.room = mss; // RFC 9937 section 6.2: a first segment goes at once
        }
    }

    /// `bytes` were sent, retransmissions included.
    pub(crate) fn on_sent(&mut self, bytes: u64) {
        self.out += bytes;
        self.room = self.room.saturating_sub(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn above_ssthresh_half_of_the_delivered_data_is_sent() {
        // RFC 6937 section 3.1's first example in bytes: 20 segments outstanding, ssthresh 10.
        let mut prr = Prr::begin(20_000);
        let mut sent = Vec::new();
        for pipe in [19, 18, 17, 16] {
            prr.on_ack(1000, pipe * 1000, 10_000, 1000, false);
            sent.push(prr.room);
            prr.on_sent(prr.room);
        }
        assert_eq!(sent, [500, 500, 500, 500]);
    }

    #[test]
    fn below_ssthresh_a_segment_more_than_the_delivered_data_is_sent() {
        let mut prr = Prr::begin(20_000);
        prr.on_ack(1000, 4000, 10_000, 1000, false);
        assert_eq!(prr.room, 2000);
        prr.on_sent(2000);
        prr.on_ack(1000, 9500, 10_000, 1000, false);
        assert_eq!(prr.room, 500); // never beyond ssthresh
    }

    #[test]
    fn with_nothing_outstanding_at_its_start_one_segment_goes_and_then_what_arrives() {
        let mut prr = Prr::begin(0);
        prr.on_ack(1000, 12_000, 10_000, 1000, false);
        assert_eq!(prr.room, 1000);
        prr.on_sent(1000);
        prr.on_ack(1000, 9_000, 10_000, 1000, false);
        assert_eq!(prr.room, 1000); // up to ssthresh
    }

    #[test]
    fn an_acknowledgment_of_nothing_new_leaves_the_room() {
        let mut prr = Prr::begin(20_000);
        prr.on_ack(1000, 4000, 10_000, 1000, true);
        prr.on_sent(1500);
        prr.on_ack(0, 4000, 10_000, 1000, true);
        assert_eq!(prr.room, 500);
    }

    #[test]
    fn in_segments_the_first_half_is_sent_whole() {
        // The fifth of a window of five segments that shrinks to two: ceil(2/5), ceil(4/5), ceil(6/5) segments in all.
        let mut prr = Prr::begin(5000).with(1000, true);
        let mut sent = Vec::new();
        for pipe in [4, 4, 3] {
            prr.on_ack(1000, pipe * 1000, 2000, 1000, true);
            sent.push(prr.room);
            prr.on_sent(prr.room);
        }
        assert_eq!(sent, [1000, 0, 1000]);
    }

    #[test]
    fn a_cautious_recovery_sends_more_than_arrived_only_for_a_safe_acknowledgment() {
        for (safe, room) in [(false, 1000), (true, 2000)] {
            let mut prr = Prr::begin(20_000).with(1, true);
            prr.on_ack(1000, 4000, 10_000, 1000, safe);
            assert_eq!(prr.room, room);
        }
    }
}
