//! The handshake at the sender: a SYN, repeated until the SYN-ACK arrives (RFC 9293 section 3.5).

use aqm_core::units::{Span, Time};

/// RFC 6298 section 5.7: the timeout for data if the SYN had to be repeated.
pub(crate) const TIMEOUT_AFTER_LOSS: Span = Span::from_secs(3);

/// A connection that is not open yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Handshake {
    /// The timeout before the first sample.
    timeout: Span,
    /// Whether it is wanted although nothing is written.
    pub(crate) ahead: bool,
    tries: u32,
    deadline: Option<Time>,
}

impl Handshake {
    pub(crate) fn new(timeout: Span) -> Handshake {
        Handshake { timeout, ahead: false, tries: 0, deadline: None }
    }

    /// Whether to send a SYN now: the first one, or a retransmission after a timeout that doubles each time.
    pub(crate) fn poll(&mut self, now: Time) -> bool {
        if self.deadline.is_some_and(|deadline| deadline > now) {
            return false;
        }
        self.deadline = Some(now + self.timeout * (1 << self.tries.min(6)));
        self.tries += 1;
        true
    }

    /// When the SYN is sent again.
    pub(crate) fn deadline(&self) -> Option<Time> {
        self.deadline
    }

    /// Whether the SYN or the SYN-ACK was lost at least once.
    pub(crate) fn was_repeated(&self) -> bool {
        self.tries > 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_syn_is_repeated_after_one_two_and_four_seconds() {
        let mut opening = Handshake::new(Span::from_secs(1));
        let at = |s| Time::ZERO + Span::from_secs(s);
        let sent: Vec<u64> = (0..10).filter(|&s| opening.poll(at(s))).collect();
        assert_eq!(sent, [0, 1, 3, 7]);
        assert!(opening.was_repeated());
    }
}
