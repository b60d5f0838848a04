//! Classes that may not send at present.

/// A set of paused classes. IEEE 802.1Qbb (priority-based flow control) pauses each of a port's eight priorities
/// separately; here these are the first 64 classes. Higher classes are never paused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PausedClasses(u64);

impl PausedClasses {
    /// Every class may send.
    pub const NONE: PausedClasses = PausedClasses(0);

    /// This set with `class` added.
    #[must_use]
    pub const fn with(self, class: u16) -> PausedClasses {
        match 1_u64.checked_shl(class as u32) {
            Some(bit) => PausedClasses(self.0 | bit),
            None => self,
        }
    }

    /// This set without `class`.
    #[must_use]
    pub const fn without(self, class: u16) -> PausedClasses {
        match 1_u64.checked_shl(class as u32) {
            Some(bit) => PausedClasses(self.0 & !bit),
            None => self,
        }
    }

    /// Whether `class` may not send.
    #[inline]
    pub const fn contains(self, class: u16) -> bool {
        class < 64 && self.0 >> class & 1 != 0
    }

    /// Whether every class may send.
    #[inline]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_paused_and_resumed_one_by_one() {
        let paused = PausedClasses::NONE.with(3).with(63).with(64);
        assert_eq!(
            [0, 3, 63, 64, 65_535].map(|class| paused.contains(class)),
            [false, true, true, false, false]
        );
        assert_eq!((paused.without(3).without(63), paused.without(200)), (PausedClasses::NONE, paused));
        assert!(PausedClasses::NONE.is_empty() && !paused.is_empty());
    }
}
