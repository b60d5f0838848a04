//! Set-associative tables: a key may be in any of the eight records of its set, preferably in its home.

use crate::sketch::mix;

/// Records of a set.
pub(super) const WAYS: usize = 8;

/// The home of a flow or a host, and the tag of its record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Key {
    /// Its record, if that is free.
    pub(super) home: usize,
    /// Distinguishes the keys of a set; 24 bits other than those that chose the home.
    pub(super) tag: u32,
}

impl Key {
    /// The key of `name`, any number, in a table of `records`.
    #[inline]
    pub(super) const fn new(name: u64, records: usize) -> Key {
        let hash = mix(name);
        Key { home: (((hash >> 32) * records as u64) >> 32) as usize, tag: hash as u32 & 0xff_ffff }
    }

    /// The records of the key's set, its home first.
    #[inline]
    pub(super) fn ways(self) -> impl Iterator<Item = usize> {
        let set = self.home - self.home % WAYS;
        (0..WAYS).map(move |step| set + (self.home + step) % WAYS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn a_set_is_walked_from_the_home_and_around() {
        let key = Key { home: 21, tag: 0 };
        assert_eq!(key.ways().collect::<Vec<_>>(), [21, 22, 23, 16, 17, 18, 19, 20]);
    }

    #[test]
    fn homes_spread_over_the_whole_table() {
        let mut hits = [0u32; 24];
        (0..2400).for_each(|name| hits[Key::new(name, 24).home] += 1);
        // 100 expected in each; five standard deviations are 50.
        assert!(hits.iter().all(|hits| (50..150).contains(hits)), "{hits:?}");
        assert_ne!(Key::new(1, 24).tag, Key::new(2, 24).tag);
    }
}
