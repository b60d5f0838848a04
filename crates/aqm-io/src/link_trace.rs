//! Link capacity recorded on a real (cellular) link, in mahimahi's format.
//!
//! One number per line: the millisecond, counted from the start of the trace, of an opportunity to deliver
//! [`OPPORTUNITY_BYTES`] bytes. Several opportunities may share a millisecond; numbers never decrease. The trace
//! repeats without end, and its period is its last number, as in mahimahi's `link_queue.cc`. So the last opportunity
//! of one round and those at millisecond 0 of the next are at the same time, and both count; at the very start of a
//! run there are only those at 0.

use crate::input_error::{InputError, quoted};
use aqm_core::units::{Bytes, Rate, Span, Time};
use std::sync::Arc;

/// Capacity of one opportunity.
pub const OPPORTUNITY_BYTES: Bytes = Bytes::new(1500);

/// Longest trace: one day.
const LONGEST_MS: u32 = 24 * 60 * 60 * 1000;
const NANOS_PER_MS: u64 = 1_000_000;
const FORMAT: &str = "a link trace holds one whole number of milliseconds per line, in mahimahi's format";

/// Delivery opportunities of a link, repeated without end. Cheap to clone: the numbers are shared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkTrace {
    /// Milliseconds, ascending; never empty, and the last is not zero.
    opportunities: Arc<[u32]>,
}

impl LinkTrace {
    /// The largest file in bytes. One minute at 1 Gbit/s has 30 MB.
    pub const LARGEST_FILE_BYTES: u64 = 256 << 20;

    /// Reads a trace; `name` stands for the file in errors.
    ///
    /// ```
    /// use aqm_core::units::Rate;
    /// use aqm_io::link_trace::LinkTrace;
    /// let trace = LinkTrace::parse("two.down", b"0\n6\n12\n").unwrap();
    /// assert_eq!(trace.mean_rate(), Rate::from_mbit(3)); // 3 x 1500 bytes every 12 ms
    /// let error = LinkTrace::parse("bad.down", b"5\n4\n").unwrap_err();
    /// assert_eq!(error.to_string(), "bad.down, line 2: 4 comes after 5: numbers must not decrease");
    /// ```
    ///
    /// # Errors
    /// What is wrong with it, with the line where there is one.
    pub fn parse(name: &str, bytes: &[u8]) -> Result<LinkTrace, InputError> {
        if bytes.len() as u64 > LinkTrace::LARGEST_FILE_BYTES {
            let most = LinkTrace::LARGEST_FILE_BYTES >> 20;
            return Err(InputError::new(
                name,
                format!("is larger than {most} MiB, the most for a link trace"),
            ));
        }
        let text =
            str::from_utf8(bytes).map_err(|_| InputError::new(name, format!("is not text: {FORMAT}")))?;
        // `trim_end`: editors leave blank lines at the end. `lines` accepts both \n and \r\n.
        let mut opportunities: Vec<u32> = Vec::new();
        for (index, line) in text.trim_end().lines().enumerate() {
            let at_line = |problem| InputError::at(name, format!("line {}", index + 1), problem);
            let millis = milliseconds(line.trim()).map_err(at_line)?;
            if let Some(before) = opportunities.last().filter(|before| millis < **before) {
                return Err(at_line(format!("{millis} comes after {before}: numbers must not decrease")));
            }
            opportunities.push(millis);
        }
        match opportunities.last() {
            None => Err(InputError::new(name, format!("is empty: {FORMAT}"))),
            Some(0) => Err(InputError::new(
                name,
                "has all its opportunities at 0 ms: a trace must last at least 1 ms to repeat",
            )),
            Some(_) => Ok(LinkTrace { opportunities: opportunities.into() }),
        }
    }

    /// The period of the trace: its last number.
    pub fn period(&self) -> Span {
        Span::from_nanos(self.period_nanos())
    }

    /// The opportunities of one round, in milliseconds, ascending.
    pub fn opportunities_ms(&self) -> &[u32] {
        &self.opportunities
    }

    /// The capacity over a whole round, in IP bytes, rounded down to a whole bit/s.
    pub fn mean_rate(&self) -> Rate {
        let bits = self.opportunities.len() as u128 * u128::from(OPPORTUNITY_BYTES.as_u64()) * 8;
        Rate::from_bits_per_sec((bits * 1_000_000_000 / u128::from(self.period_nanos())) as u64)
    }

    /// How many opportunities there are at or after `from` and before `to`.
    pub fn count_between(&self, from: Time, to: Time) -> u64 {
        self.count_before(to).saturating_sub(self.count_before(from))
    }

    /// An iterator over the opportunities, from time zero, without end.
    pub fn cursor(&self) -> Cursor {
        Cursor { opportunities: Arc::clone(&self.opportunities), round: 0, index: 0 }
    }

    fn period_nanos(&self) -> u64 {
        period_nanos(&self.opportunities)
    }

    /// Opportunities before `time`. Where two rounds meet at one time, both count.
    fn count_before(&self, time: Time) -> u64 {
        let per_round = self.opportunities.len() as u64;
        let (round, into) = (time.as_nanos() / self.period_nanos(), time.as_nanos() % self.period_nanos());
        let before = |nanos: u64| {
            self.opportunities.partition_point(|ms| u64::from(*ms) * NANOS_PER_MS < nanos) as u64
        };
        let this_round = before(into);
        match round {
            0 => this_round,
            // The end of the previous round is this round's start: it is over only after that time.
            _ => (round - 1) * per_round + before(self.period_nanos() + into) + this_round,
        }
    }
}

/// A position in a repeating [`LinkTrace`].
#[derive(Clone, Debug)]
pub struct Cursor {
    opportunities: Arc<[u32]>,
    round: u64,
    index: usize,
}

impl Cursor {
    /// The time of the next opportunity, without taking it.
    pub fn peek(&self) -> Time {
        let start = self.round.saturating_mul(period_nanos(&self.opportunities));
        Time::from_nanos(start.saturating_add(u64::from(self.opportunities[self.index]) * NANOS_PER_MS))
    }

    /// Takes the next opportunity and returns its time. Successive ones may have the same time.
    pub fn next_opportunity(&mut self) -> Time {
        let time = self.peek();
        self.index += 1;
        if self.index == self.opportunities.len() {
            self.index = 0;
            self.round += 1;
        }
        time
    }

    /// Skips every opportunity before `time` and returns how many there were. Never moves back.
    pub fn skip_to(&mut self, time: Time) -> u64 {
        let period = period_nanos(&self.opportunities);
        let per_round = self.opportunities.len() as u64;
        let before = self.round * per_round + self.index as u64;
        // The previous round may still have opportunities at its very end.
        let round = (time.as_nanos() / period).saturating_sub(1);
        if round > self.round {
            (self.round, self.index) = (round, 0);
        }
        while self.peek() < time {
            let into = time.as_nanos() - self.round * period;
            let is_over = |ms: &u32| u64::from(*ms) * NANOS_PER_MS < into;
            // Galloping search: the next opportunity is mostly a few places further.
            let ahead = &self.opportunities[self.index..];
            let mut far = 1;
            while ahead.get(far).is_some_and(is_over) {
                far *= 2;
            }
            self.index += ahead[..far.min(ahead.len())].partition_point(is_over);
            if self.index == self.opportunities.len() {
                (self.round, self.index) = (self.round + 1, 0);
            }
        }
        self.round * per_round + self.index as u64 - before
    }
}

fn period_nanos(opportunities: &[u32]) -> u64 {
    opportunities.last().map_or(0, |last| u64::from(*last) * NANOS_PER_MS)
}

fn milliseconds(text: &str) -> Result<u32, String> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        let what = if text.is_empty() {
            "the line is blank".to_string()
        } else {
            format!("{} is not one", quoted(text))
        };
        return Err(format!("{what}: {FORMAT}"));
    }
    if text.len() > digits.len() {
        return Err(format!("{} is negative: milliseconds count from 0", quoted(text)));
    }
    match digits.parse::<u32>() {
        Ok(millis) if millis <= LONGEST_MS => Ok(millis),
        _ => Err(format!("{} is too large: a trace may last one day, {LONGEST_MS} ms", quoted(text))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(text: &str) -> LinkTrace {
        LinkTrace::parse("t.down", text.as_bytes()).unwrap()
    }

    fn refusal(text: &str) -> String {
        LinkTrace::parse("t.down", text.as_bytes()).unwrap_err().to_string()
    }

    fn millis(ms: u64) -> Time {
        Time::from_nanos(ms * NANOS_PER_MS)
    }

    #[test]
    fn line_ends_and_trailing_blank_lines_do_not_matter() {
        let plain = trace("0\n0\n5\n");
        assert_eq!(plain.opportunities_ms(), [0, 0, 5]);
        assert_eq!(trace("0\r\n0\r\n5\r\n\r\n"), plain);
        assert_eq!(trace("0\n0\n5"), plain);
        assert_eq!(trace("0 \n0\n 5\n \n\n"), plain);
    }

    #[test]
    fn period_and_mean_rate_follow_the_last_number() {
        let trace = trace("2\n4\n4\n10\n");
        assert_eq!(trace.period(), Span::from_millis(10));
        // 4 x 12000 bits in 10 ms.
        assert_eq!(trace.mean_rate(), Rate::from_bits_per_sec(4_800_000));
    }

    #[test]
    fn the_cursor_repeats_and_rounds_meet_at_one_instant() {
        let mut cursor = trace("0\n3\n3\n10\n").cursor();
        let times: Vec<Time> = (0..9).map(|_| cursor.next_opportunity()).collect();
        assert_eq!(times, [0, 3, 3, 10, 10, 13, 13, 20, 20].map(millis));
        assert_eq!(cursor.peek(), millis(23));
    }

    #[test]
    fn skipping_and_counting_agree_with_walking() {
        for text in ["0\n3\n3\n10\n", "1\n", "4\n9\n9\n9\n", "0\n0\n1\n1\n"] {
            let trace = trace(text);
            for (start, target) in (0..40).flat_map(|a| (0..40).map(move |b| (a, b))) {
                // Half a millisecond before, on and after each instant.
                let target = Time::from_nanos(target * NANOS_PER_MS / 2);
                let mut walked = trace.cursor();
                for _ in 0..start {
                    walked.next_opportunity();
                }
                let mut skipped = walked.clone();
                let mut passed = 0;
                while walked.peek() < target {
                    walked.next_opportunity();
                    passed += 1;
                }
                assert_eq!(skipped.skip_to(target), passed, "{text:?} from {start} to {target}");
                assert_eq!((skipped.round, skipped.index), (walked.round, walked.index));
                if start == 0 {
                    assert_eq!(trace.count_between(Time::ZERO, target), passed, "{text:?} before {target}");
                }
            }
        }
    }

    #[test]
    fn every_refusal_names_line_value_and_what_is_allowed() {
        assert!(refusal("").starts_with("t.down: is empty: a link trace holds one whole number"));
        assert!(refusal("\n\r\n").starts_with("t.down: is empty"));
        assert!(refusal("1\n\n2\n").starts_with("t.down, line 2: the line is blank: a link trace holds"));
        assert!(refusal("1\nabc\n").starts_with("t.down, line 2: 'abc' is not one: a link trace holds"));
        assert!(refusal("1.5\n").starts_with("t.down, line 1: '1.5' is not one"));
        assert!(refusal("1 2\n").starts_with("t.down, line 1: '1 2' is not one"));
        assert!(refusal("-\n").starts_with("t.down, line 1: '-' is not one"));
        assert_eq!(refusal("1\n-2\n"), "t.down, line 2: '-2' is negative: milliseconds count from 0");
        assert_eq!(refusal("7\n6\n"), "t.down, line 2: 6 comes after 7: numbers must not decrease");
        assert_eq!(
            refusal("1\n86400001\n"),
            "t.down, line 2: '86400001' is too large: a trace may last one day, 86400000 ms"
        );
        assert!(refusal("99999999999999999999\n").contains("is too large"));
        assert_eq!(
            refusal("0\n0\n"),
            "t.down: has all its opportunities at 0 ms: a trace must last at least 1 ms to repeat"
        );
    }

    #[test]
    fn a_file_that_is_not_text_is_refused() {
        let error = LinkTrace::parse("t.down", &[0xff, b'1']).unwrap_err().to_string();
        assert!(error.starts_with("t.down: is not text: a link trace holds"), "{error}");
    }
}
