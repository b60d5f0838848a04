//! Proportional Rate Reduction (RFC 6937): spreads sending over a recovery, instead of a pause and a burst.

/// One recovery.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Prr {
    /// RecoverFS: bytes outstanding when it began; zero outside recovery.
    flight: u64,
    delivered: u64,
    out: u64,
    /// What may still be sent before the next acknowledgment (sndcnt).
    pub(crate) room: u64,
}

impl Prr {
    /// Recovery begins with `flight` bytes outstanding.
    pub(crate) fn begin(flight: u64) -> Prr {
        Prr { flight, ..Prr::default() }
    }

    /// An acknowledgment reported `delivered` bytes and leaves `pipe` in the network: RFC 6937 section 3, with the
    /// slow start reduction bound.
    pub(crate) fn on_ack(&mut self, delivered: u64, pipe: u64, ssthresh: u64, mss: u64) {
        self.delivered += delivered;
        self.room = if pipe > ssthresh {
            let due = u128::from(self.delivered) * u128::from(ssthresh);
            (due.div_ceil(u128::from(self.flight.max(1))) as u64).saturating_sub(self.out)
        } else {
            let limit = self.delivered.saturating_sub(self.out).max(delivered) + mss;
            limit.min(ssthresh - pipe)
        };
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
            prr.on_ack(1000, pipe * 1000, 10_000, 1000);
            sent.push(prr.room);
            prr.on_sent(prr.room);
        }
        assert_eq!(sent, [500, 500, 500, 500]);
    }

    #[test]
    fn below_ssthresh_a_segment_more_than_the_delivered_data_is_sent() {
        let mut prr = Prr::begin(20_000);
        prr.on_ack(1000, 4000, 10_000, 1000);
        assert_eq!(prr.room, 2000);
        prr.on_sent(2000);
        prr.on_ack(1000, 9500, 10_000, 1000);
        assert_eq!(prr.room, 500); // never beyond ssthresh
    }
}
