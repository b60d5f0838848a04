//! A device that sends at recorded delivery opportunities (mahimahi's link traces).

use aqm_core::units::Time;
use aqm_io::link_trace::{Cursor, LinkTrace, OPPORTUNITY_BYTES};

/// Where opportunities stand. `P` stands for a packet.
#[derive(Clone, Debug)]
pub struct Opportunities<P> {
    cursor: Cursor,
    /// The packet that is being sent, and how many of its bytes are still to be sent.
    sending: Option<(P, u64)>,
}

impl<P> Opportunities<P> {
    /// The opportunities of a trace, from time zero.
    pub fn new(trace: &LinkTrace) -> Opportunities<P> {
        Opportunities { cursor: trace.cursor(), sending: None }
    }

    /// The packet that has begun, and its bytes that remain.
    pub fn sending(&self) -> Option<&(P, u64)> {
        self.sending.as_ref()
    }

    /// When the next opportunity is.
    pub fn next(&self) -> Time {
        self.cursor.peek()
    }

    /// A packet has come to an idle device: the first opportunity that is not over. Those that found nothing to send are gone.
    pub fn wait(&mut self, now: Time) -> Time {
        self.cursor.skip_to(now);
        self.cursor.peek()
    }

    /// One opportunity: `pull` gives the next packet with its IP bytes, and `send` takes those whose last bit leaves now. A
    /// packet that does not fit whole has begun, and goes on with the next opportunity, whose time is the answer; without one,
    /// what remains of this opportunity is gone.
    pub fn serve<H>(
        &mut self,
        host: &mut H,
        mut pull: impl FnMut(&mut H) -> Option<(P, u64)>,
        mut send: impl FnMut(&mut H, P),
    ) -> Option<Time> {
        self.cursor.next_opportunity();
        let mut room = OPPORTUNITY_BYTES.as_u64();
        loop {
            let (packet, bytes) = self.sending.take().or_else(|| pull(host))?;
            if bytes > room {
                self.sending = Some((packet, bytes - room));
                return Some(self.cursor.peek());
            }
            room -= bytes;
            send(host, packet);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_share_opportunities_and_large_ones_take_several() {
        let trace = LinkTrace::parse("test", b"2\n4\n6\n8\n").unwrap();
        let mut device = Opportunities::new(&trace);
        let mut waiting = vec![("small", 100), ("large", 3200), ("small", 100)];
        waiting.reverse();
        let mut host = (waiting, Vec::new());
        let ms = |number: u64| Time::from_nanos(number * 1_000_000);
        assert_eq!(device.wait(ms(3)), ms(4));
        let mut serve = |device: &mut Opportunities<&'static str>| {
            device.serve(&mut host, |host| host.0.pop(), |host, packet| host.1.push(packet))
        };
        // 100 and 1400 of 3200, then 1500, then 300 and 100.
        assert_eq!(serve(&mut device), Some(ms(6)));
        assert_eq!(device.sending(), Some(&("large", 1800)));
        assert_eq!(serve(&mut device), Some(ms(8)));
        assert_eq!(serve(&mut device), None);
        assert_eq!(host.1, ["small", "large", "small"]);
    }
}
