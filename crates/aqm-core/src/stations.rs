//! The next hops of a medium that stations share.

/// A set of stations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stations([u64; 4]);

impl Stations {
    /// No station.
    pub const NONE: Stations = Stations([0; 4]);

    /// `count` stations, from `first` on.
    #[must_use]
    pub const fn range(first: u8, count: u8) -> Stations {
        let mut words = [0; 4];
        let (first, end) = (first as u32, first as u32 + count as u32);
        let mut word = 0;
        while word < 4 {
            words[word] = below(end, word as u32) & !below(first, word as u32);
            word += 1;
        }
        Stations(words)
    }

    /// This set with `station` added.
    #[must_use]
    pub const fn with(mut self, station: u8) -> Stations {
        self.0[station as usize / 64] |= 1 << (station % 64);
        self
    }

    /// Whether `station` is in it.
    #[inline]
    pub const fn contains(self, station: u8) -> bool {
        self.0[station as usize / 64] >> (station % 64) & 1 != 0
    }

    /// Whether `station` or any with a higher number is in it.
    pub fn any_from(self, station: u8) -> bool {
        (station..=u8::MAX).any(|one| self.contains(one))
    }
}

/// The bits of those below `end` in a word.
const fn below(end: u32, word: u32) -> u64 {
    match end.saturating_sub(64 * word) {
        bits @ 0..64 => (1 << bits) - 1,
        _ => u64::MAX,
    }
}

/// The next hops that a dequeue is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextHop {
    /// Any.
    Any,
    /// One station, for the rest of an aggregate: whose turn it is, was decided with its first packet.
    Station(u8),
    /// One of these stations, whose turn it is: the others may not have more at present.
    Among(Stations),
}

impl NextHop {
    /// Whether a packet for `station` is asked for.
    #[inline]
    pub(crate) const fn contains(self, station: u8) -> bool {
        match self {
            NextHop::Any => true,
            NextHop::Station(one) => one == station,
            NextHop::Among(stations) => stations.contains(station),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stations_are_in_the_set_that_they_were_added_to() {
        let set = Stations::NONE.with(0).with(63).with(200);
        assert_eq!(
            [0, 1, 63, 64, 200].map(|station| set.contains(station)),
            [true, false, true, false, true]
        );
        assert_eq!([64, 200, 201].map(|station| set.any_from(station)), [true, true, false]);
        for (first, count) in [(0, 0), (0, 1), (3, 61), (63, 2), (64, 64), (10, 245), (0, 255), (255, 1)] {
            let one_by_one = (first..=u8::MAX).take(count.into()).fold(Stations::NONE, Stations::with);
            assert_eq!(Stations::range(first, count), one_by_one, "{first}, {count}");
        }
        assert!(
            NextHop::Any.contains(7) && NextHop::Station(7).contains(7) && !NextHop::Among(set).contains(7)
        );
    }
}
