//! Seeded random numbers: one stream per component, so that adding a component does not shift the others.

use alloc::vec::Vec;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A source of random numbers that can be restarted.
#[derive(Clone, Debug)]
pub struct Random {
    source: Source,
}

#[derive(Clone, Debug)]
enum Source {
    Stream { seed: u64, generator: Xoshiro256PlusPlus },
    Script { numbers: Vec<u64>, used: usize },
}

impl Random {
    /// The stream of the component `name` in the run with seed `seed`.
    ///
    /// ```
    /// use aqm_core::random::Random;
    /// let draw = |seed, name| Random::stream(seed, name).next_u64();
    /// assert_eq!(draw(1, "bottleneck"), draw(1, "bottleneck"));
    /// assert_ne!(draw(1, "bottleneck"), draw(1, "flow 0"));
    /// ```
    pub fn stream(seed: u64, name: &str) -> Random {
        // FNV-1a over the name, started from the seed; the generator's own seeding mixes the rest.
        let offset = 0xcbf2_9ce4_8422_2325 ^ seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let hash =
            name.bytes().fold(offset, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
        Random::seeded(hash)
    }

    /// The stream of exactly this seed.
    pub fn seeded(seed: u64) -> Random {
        Random { source: Source::Stream { seed, generator: Xoshiro256PlusPlus::seed_from_u64(seed) } }
    }

    /// Replays `numbers`, again and again: for tests that compare two implementations.
    ///
    /// # Panics
    /// If `numbers` is empty.
    pub fn script(numbers: Vec<u64>) -> Random {
        assert!(!numbers.is_empty(), "a script needs at least one number");
        Random { source: Source::Script { numbers, used: 0 } }
    }

    /// The next 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        match &mut self.source {
            Source::Stream { generator, .. } => generator.next_u64(),
            Source::Script { numbers, used } => {
                let number = numbers[*used % numbers.len()];
                *used += 1;
                number
            }
        }
    }

    /// Uniform in [0, 1): the upper 53 bits of the next number.
    pub fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / 9_007_199_254_740_992.0)
    }

    /// Uniform integer below `bound` (which must not be zero), by multiplication: always exactly one draw.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// What hash tables mix with their keys, so that nobody outside knows which keys collide. It follows from the seed
    /// and is no number of the sequence: a component may ask for it at any time, and draws the same numbers as if it
    /// had not.
    pub fn salt(&self) -> u64 {
        match &self.source {
            Source::Stream { seed, .. } => Xoshiro256PlusPlus::seed_from_u64(!seed).next_u64(),
            Source::Script { .. } => 0,
        }
    }

    /// Restarts the sequence.
    pub fn restart(&mut self) {
        match &mut self.source {
            Source::Stream { seed, generator } => *generator = Xoshiro256PlusPlus::seed_from_u64(*seed),
            Source::Script { used, .. } => *used = 0,
        }
    }
}
