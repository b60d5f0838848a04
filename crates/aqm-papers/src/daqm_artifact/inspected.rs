//! The features of dAQM as the authors' ns-3 program takes them (their artifacts, `daqm-queue-disc.cc`).
//!
//! To learn how long packets wait it takes the next five out of the queue, and they are lost. All five are seen at one
//! instant, so that the "change of sojourn time" from one to the next is the time between two arrivals with a minus sign.
//! Waits are cut to whole milliseconds; differences are divided by a fixed 2 ms. Derivatives of the buffer size are
//! differences per sample, taken again after every fifth sample. The constant feature of the buffer is the number 40.

use aqm_core::law::features::Features;

/// How many packets it destroys to take the features once.
pub(super) const PACKETS: usize = 5;

/// The time, in milliseconds, that it takes to be between two packets.
const SPACING_MS: f64 = 2.0;

/// What it takes the queue to hold, whatever waits.
const BUFFER: f64 = 40.0;

/// What the authors' program remembers of a queue.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Inspected {
    sizes: [u32; PACKETS],
    samples: usize,
    buffer: [f64; 3],
}

impl Inspected {
    /// Takes a sample of the buffer size.
    pub(super) fn sample(&mut self, backlog: usize) {
        self.sizes[self.samples] = backlog as u32;
        self.samples += 1;
        if self.samples == PACKETS {
            self.buffer = differences(self.sizes.map(f64::from), 1.0);
            self.samples = 0;
        }
    }

    /// The features that follow from the waits of the five packets at the head, in whole milliseconds.
    pub(super) fn features(&self, waits_ms: [u64; PACKETS]) -> Features {
        let waits = waits_ms.map(|wait| wait as f64);
        let ([s1, s2, s3], [b1, b2, b3]) = (differences(waits, SPACING_MS), self.buffer);
        [BUFFER, waits[0], b1, s1, b2, s2, b3, s3]
    }
}

/// The first derivative by a plain difference, the others from centred ones.
fn differences(x: [f64; PACKETS], step: f64) -> [f64; 3] {
    let centred = [0, 1, 2].map(|index| (x[index + 2] - x[index]) / (2.0 * step));
    let [first, second] = [0, 1].map(|index| (centred[index + 1] - centred[index]) / step);
    [(x[1] - x[0]) / step, first, (second - first) / step]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slope_of_sojourn_time_is_the_time_between_arrivals_with_a_minus_sign() {
        // Arrived 100, 94, 90, 60 and 58 ms ago. (94 - 100) / 2; centred: (90 - 100) / 4, (60 - 94) / 4, (58 - 90) / 4.
        let features = Inspected::default().features([100, 94, 90, 60, 58]);
        let [first, second] = [(-8.5 + 2.5) / 2.0, (-8.0 + 8.5) / 2.0];
        assert_eq!(features, [40.0, 100.0, 0.0, -3.0, 0.0, first, 0.0, (second - first) / 2.0]);
    }

    #[test]
    fn the_buffer_counts_per_sample_and_anew_after_every_fifth() {
        let mut inspected = Inspected::default();
        let of_buffer = |inspected: &Inspected| {
            let features = inspected.features([0; 5]);
            [features[2], features[4], features[6]]
        };
        [10, 14, 20, 20, 12].into_iter().for_each(|size| inspected.sample(size));
        // 14 - 10; centred 5, 3, -4; their differences -2 and -7.
        assert_eq!(of_buffer(&inspected), [4.0, -2.0, -5.0]);
        [50, 60, 70, 80].into_iter().for_each(|size| inspected.sample(size));
        assert_eq!(of_buffer(&inspected), [4.0, -2.0, -5.0]);
        inspected.sample(90);
        assert_eq!(of_buffer(&inspected), [10.0, 0.0, 0.0]);
    }

    #[test]
    fn every_machine_has_the_same_features_to_the_last_bit() {
        let mut random = aqm_core::random::Random::seeded(5);
        let (mut inspected, mut bits) = (Inspected::default(), 0_u64);
        for _ in 0..10_000 {
            inspected.sample(random.below(2000) as usize);
            for feature in inspected.features([0; PACKETS].map(|_: u64| random.below(200))) {
                bits = bits.rotate_left(5) ^ feature.to_bits();
            }
        }
        assert_eq!(bits, 6_111_578_087_294_808_731);
    }
}
