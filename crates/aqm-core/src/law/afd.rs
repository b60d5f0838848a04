//! Approximate fair dropping: the share of a flow in recent traffic, and the share that it may have.
//!
//! Pan, Breslau, Prabhakar and Shenker, "Approximate Fairness through Differential Dropping", CCR 33(2), 2003,
//! section 3.

use super::{Periodic, Pi};
use crate::sketch::mix;
use crate::units::{Span, Time};
use alloc::vec;
use alloc::vec::Vec;

/// A sample of recent arrivals (the shadow buffer), counted by flow (the flow table), and the fair count.
#[derive(Clone, Debug)]
pub struct Shadow {
    /// The entry of the flow table in which each sampled packet counts.
    samples: Vec<u32>,
    size: usize,
    /// m_i of each flow, by its hash.
    counts: Vec<u32>,
    /// m_fair.
    fair: f64,
    /// Queue at the last update.
    old: f64,
    timer: Periodic,
}

impl Shadow {
    /// Space for `size` samples and `flows` flows (both at least one), to be updated first after one `period`.
    pub fn new(size: usize, flows: usize, period: Span) -> Shadow {
        Shadow {
            samples: Vec::with_capacity(size),
            size,
            counts: vec![0; flows],
            fair: size as f64,
            old: 0.0,
            timer: Periodic::new(period),
        }
    }

    /// A packet of `flow` is sampled; when the buffer is full it replaces a random one, chosen by `draw`.
    #[inline]
    pub fn sample(&mut self, flow: u64, draw: impl FnOnce(u64) -> u64) {
        let entry = self.entry(flow);
        self.counts[entry] += 1;
        if self.samples.len() < self.size {
            self.samples.push(entry as u32);
        } else {
            let old = core::mem::replace(&mut self.samples[draw(self.size as u64) as usize], entry as u32);
            self.counts[old as usize] -= 1;
        }
    }

    /// Section 3.1: `(1 - m_fair / m_i)+`, so that each flow gets at most the fair count through.
    #[inline]
    pub fn drop_probability(&self, flow: u64) -> f64 {
        let count = f64::from(self.counts[self.entry(flow)]);
        if count <= self.fair { 0.0 } else { 1.0 - self.fair / count }
    }

    /// m_fair.
    pub const fn fair(&self) -> f64 {
        self.fair
    }

    /// The largest m_i.
    pub fn largest(&self) -> u32 {
        self.counts.iter().copied().max().unwrap_or(0)
    }

    /// When m_fair is to be updated next.
    pub const fn due(&self) -> Time {
        self.timer.due()
    }

    /// Section 3.3: `m_fair += a (q_old - q_target) - b (q - q_target)` for every period that has ended by `now`, at
    /// which `queue` packets are queued. In terms of a PI controller: alpha = b - a, beta = a. An m_fair above the
    /// size of the buffer would change nothing, but take time to fall.
    pub fn catch_up(&mut self, law: &Pi, period: Span, queue: f64, now: Time) {
        let most = self.size as f64;
        let Shadow { fair, old, timer, .. } = self;
        timer.catch_up(period, now, || {
            *fair = (*fair - law.change(queue, *old)).clamp(0.0, most);
            *old = queue;
        });
    }

    /// The period has changed to `period`.
    pub fn adopt(&mut self, period: Span, now: Time) {
        self.timer.adopt(period, now);
    }

    /// The number of samples, and of flows that are distinguished.
    pub fn sizes(&self) -> [usize; 2] {
        [self.size, self.counts.len()]
    }

    /// Bytes of its tables.
    pub fn table_bytes(&self) -> usize {
        (self.samples.capacity() + self.counts.len()) * size_of::<u32>()
    }

    fn entry(&self, flow: u64) -> usize {
        ((u128::from(mix(flow)) * self.counts.len() as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PERIOD: Span = Span::from_millis(10);

    /// A buffer of ten samples, six of flow 1, three of flow 2, one of flow 3.
    fn filled() -> Shadow {
        let mut shadow = Shadow::new(10, 4096, PERIOD);
        [1, 1, 2, 1, 3, 1, 2, 1, 2, 1].iter().for_each(|flow| shadow.sample(*flow, |_| unreachable!()));
        shadow
    }

    fn probabilities(shadow: &Shadow) -> [f64; 4] {
        [1, 2, 3, 4].map(|flow| shadow.drop_probability(flow))
    }

    #[test]
    fn flows_beyond_the_fair_count_are_dropped_down_to_it() {
        let mut shadow = filled();
        assert_eq!((shadow.fair(), shadow.largest(), probabilities(&shadow)), (10.0, 6, [0.0; 4]));
        shadow.fair = 3.0;
        assert_eq!(probabilities(&shadow), [0.5, 0.0, 0.0, 0.0]);
        shadow.fair = 0.75;
        assert_eq!(probabilities(&shadow), [0.875, 0.75, 0.25, 0.0]);
    }

    #[test]
    fn each_new_packet_replaces_a_random_one_in_a_full_buffer() {
        let mut shadow = filled();
        shadow.fair = 0.0;
        let replace = |shadow: &mut Shadow, flow, index| {
            shadow.sample(flow, |size| {
                assert_eq!(size, 10);
                index
            });
        };
        replace(&mut shadow, 4, 4); // the one of flow 3
        assert_eq!(probabilities(&shadow), [1.0, 1.0, 0.0, 1.0]);
        replace(&mut shadow, 4, 0); // of flow 1
        shadow.fair = 2.0;
        assert_eq!(probabilities(&shadow), [1.0 - 2.0 / 5.0, 1.0 - 2.0 / 3.0, 0.0, 0.0]);
    }

    #[test]
    fn the_fair_count_follows_the_queue_within_the_buffer() {
        // a = 1.5, b = 1.75, q_target = 8.
        let law = Pi { target: 8.0, alpha: 0.25, beta: 1.5 };
        let mut shadow = Shadow::new(40, 16, PERIOD);
        let mut at = 0;
        for (queue, fair) in [
            (10.0, 24.5), // 40 + 1.5 (0 - 8) - 1.75 (10 - 8)
            (12.0, 20.5), // + 1.5 (10 - 8) - 1.75 (12 - 8)
            (8.0, 26.5),  // + 1.5 (12 - 8)
            (30.0, 0.0),  // - 1.75 (30 - 8) = -12
            (8.0, 33.0),  // + 1.5 (30 - 8)
            (0.0, 40.0),  // + 1.75 * 8 = 47
        ] {
            at += 10_000_000;
            assert_eq!(shadow.due(), Time::from_nanos(at));
            shadow.catch_up(&law, PERIOD, queue, Time::from_nanos(at));
            assert_eq!(shadow.fair(), fair);
        }
    }
}
