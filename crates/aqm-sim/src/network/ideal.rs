//! The completion time of a flow that has the network for itself: what flow completion times are compared with.

use aqm_core::units::{Bytes, Rate, Span};

/// How many packets, and how long they are on a link: all but the last alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Train {
    packets: u64,
    full: u64,
    last: u64,
}

impl Train {
    /// `size` bytes of payload in packets of at most `payload` bytes, each with `headers` bytes more.
    pub(crate) fn of(size: u64, payload: u32, headers: u32) -> Train {
        let (payload, headers) = (u64::from(payload.max(1)), u64::from(headers));
        let packets = size.div_ceil(payload).max(1);
        Train { packets, full: payload + headers, last: size - (packets - 1) * payload + headers }
    }

    /// From the start of the first packet until the last bit has arrived over `links`, store and forward, where nothing
    /// makes the sender wait.
    ///
    /// Each packet waits for the one before it and for its own way so far: the time is that of the longest chain of such
    /// waits. Only the last packet differs, so a chain is given by the link at which it goes over to it.
    pub(crate) fn completion(self, links: impl Iterator<Item = (Rate, Span)>) -> Span {
        let (mut delay, mut first, mut slowest, mut longest) =
            (Span::ZERO, Span::ZERO, Span::ZERO, Span::ZERO);
        for (rate, propagation) in links {
            let time = |bytes| rate.time_for(Bytes::new(bytes));
            delay += propagation;
            first += time(self.full);
            slowest = slowest.max(time(self.full));
            // Chains that went over before go on with the last packet; one more goes over here.
            let here = match self.packets {
                1 => Span::ZERO,
                packets => first + Span::from_nanos(slowest.as_nanos() * (packets - 2)),
            };
            longest = longest.max(here) + time(self.last);
        }
        delay + longest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MBIT: u64 = 1_000_000;

    /// Links of so many Mbit/s with 10 us each: 1000 bytes take 8000 us divided by the rate.
    fn completion(size: u64, rates: &[u64]) -> u64 {
        let links = rates.iter().map(|rate| (Rate::from_bits_per_sec(rate * MBIT), Span::from_micros(10)));
        Train::of(size, 900, 100).completion(links).as_nanos() / 1000
    }

    #[test]
    fn one_packet_takes_its_time_on_every_link() {
        assert_eq!(completion(900, &[8, 4]), 1000 + 2000 + 20);
        assert_eq!(completion(400, &[8, 4]), 500 + 1000 + 20);
    }

    #[test]
    fn many_packets_take_that_and_one_more_each_on_the_slowest_link() {
        assert_eq!(completion(9000, &[8, 4, 8]), 1000 + 10 * 2000 + 1000 + 30);
    }

    #[test]
    fn a_short_last_packet_waits_behind_a_full_one_where_links_are_equal() {
        // The full packet before it ends at 3 ms; the last has 0.5 ms on the third link alone.
        assert_eq!(completion(1300, &[8, 8, 8]), 3 * 1000 + 500 + 30);
        // Behind a slow link it waits for nobody: 1 + 2 ms, its own 1 ms there and 0.5 behind.
        assert_eq!(completion(1300, &[8, 4, 8]), 1000 + 2000 + 1000 + 500 + 30);
    }
}
