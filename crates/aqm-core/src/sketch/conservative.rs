//! The count-min sketch with conservative update: C. Estan and G. Varghese, "New directions in traffic measurement and
//! accounting: focusing on the elephants, ignoring the mice", ACM TOCS 21(3) (2003).

use super::Sketch;
use super::rows::Rows;
use alloc::vec::Vec;

/// An arrival raises the counters of its key only up to the new estimate, the smallest of them plus its value: a
/// higher counter includes other keys already. It never underestimates, and never exceeds count-min. Counters stop at
/// 2^32 - 1.
#[derive(Clone, Debug)]
pub struct Conservative {
    counters: Vec<u32>,
    rows: Rows,
}

impl Conservative {
    #[inline]
    fn least(&self, key: u64) -> u32 {
        let mut least = u32::MAX;
        self.rows.visit(key, |at| least = least.min(self.counters[at.index]));
        least
    }
}

impl Sketch for Conservative {
    fn new(width: u32, depth: u32) -> Conservative {
        let rows = Rows::new(width, depth);
        Conservative { counters: alloc::vec![0; rows.count()], rows }
    }

    #[inline]
    fn query(&self, key: u64) -> u64 {
        u64::from(self.least(key))
    }

    #[inline]
    fn add(&mut self, key: u64, value: u32) -> u64 {
        let before = self.least(key);
        let after = before.saturating_add(value);
        self.rows.visit(key, |at| {
            let counter = &mut self.counters[at.index];
            *counter = after.max(*counter);
        });
        u64::from(before)
    }

    fn clear(&mut self) {
        self.counters.fill(0);
    }

    fn size(&self) -> (u32, u32) {
        self.rows.size()
    }
}
