//! The count-min sketch: G. Cormode and S. Muthukrishnan, "An improved data stream summary: the count-min sketch and
//! its applications" (2005).

use super::Sketch;
use super::rows::Rows;
use alloc::vec::Vec;

/// Every arrival adds to all counters of its key; the smallest is the estimate. It never underestimates, and
/// overestimates by more than e / width of everything added with a probability of at most e^-depth. Counters stop at
/// 2^32 - 1.
#[derive(Clone, Debug)]
pub struct CountMin {
    counters: Vec<u32>,
    rows: Rows,
}

impl Sketch for CountMin {
    fn new(width: u32, depth: u32) -> CountMin {
        let rows = Rows::new(width, depth);
        CountMin { counters: alloc::vec![0; rows.count()], rows }
    }

    #[inline]
    fn query(&self, key: u64) -> u64 {
        let mut least = u32::MAX;
        self.rows.visit(key, |at| least = least.min(self.counters[at.index]));
        u64::from(least)
    }

    #[inline]
    fn add(&mut self, key: u64, value: u32) -> u64 {
        let mut least = u32::MAX;
        self.rows.visit(key, |at| {
            let counter = &mut self.counters[at.index];
            least = least.min(*counter);
            *counter = counter.saturating_add(value);
        });
        u64::from(least)
    }

    fn clear(&mut self) {
        self.counters.fill(0);
    }

    fn size(&self) -> (u32, u32) {
        self.rows.size()
    }
}
