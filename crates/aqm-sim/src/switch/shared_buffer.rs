//! The memory that all queues of a switch share, with dynamic thresholds.
//!
//! A. K. Choudhury and E. L. Hahne, "Dynamic queue length thresholds for shared-memory packet switches", IEEE/ACM
//! Transactions on Networking 6(2), 1998: every queue may hold alpha times what is free. Few busy queues get much, many
//! get equal shares, and some memory always stays free for a queue that becomes busy.
//!
//! Simpler than a chip: a packet takes its bytes, not whole cells; alpha is one number for all queues; a queue is a port and
//! a priority; multicast is not modelled.

/// Bytes of memory, and how much of them each queue holds.
#[derive(Clone, Debug)]
pub struct SharedBuffer {
    /// Without the reserves.
    shared: u64,
    alpha: f64,
    reserve: u64,
    /// Bytes of the shared part in use.
    used: u64,
    /// Bytes of each queue, its reserve included.
    queues: Vec<u64>,
    largest: u64,
}

impl SharedBuffer {
    /// `size` bytes for `queues` queues, of which each has `reserve` for itself; `None` if the reserves alone are more.
    pub fn new(size: u64, alpha: f64, reserve: u64, queues: usize) -> Option<SharedBuffer> {
        let shared = size.checked_sub(reserve.checked_mul(queues as u64)?)?;
        Some(SharedBuffer { shared, alpha, reserve, used: 0, queues: vec![0; queues], largest: 0 })
    }

    /// The paper's control law T(t) = alpha (B - Q(t)): how much of the shared part each queue may hold at this moment.
    pub fn threshold(&self) -> u64 {
        (self.alpha * self.free() as f64) as u64
    }

    /// Bytes of the shared part that are free.
    #[inline]
    pub fn free(&self) -> u64 {
        self.shared - self.used
    }

    /// Bytes that a queue holds.
    pub fn queue(&self, queue: usize) -> u64 {
        self.queues[queue]
    }

    /// The most of the shared part that was in use.
    pub fn largest(&self) -> u64 {
        self.largest
    }

    /// Lets a packet of `length` bytes into `queue`, if that stays within the threshold as it was before the packet.
    pub fn admit(&mut self, queue: usize, length: u32) -> bool {
        let held = self.queues[queue];
        let after = (held + u64::from(length)).saturating_sub(self.reserve);
        let more = after - held.saturating_sub(self.reserve);
        // With alpha above 1 the threshold can be more than there is.
        if more > 0 && (after > self.threshold() || more > self.free()) {
            return false;
        }
        self.queues[queue] += u64::from(length);
        self.take(more);
        true
    }

    /// A packet that was let in has left `queue`.
    pub fn release(&mut self, queue: usize, length: u32) {
        let held = self.queues[queue];
        let left = held - u64::from(length);
        self.queues[queue] = left;
        self.give(held.saturating_sub(self.reserve) - left.saturating_sub(self.reserve));
    }

    /// Takes `bytes` of the shared part for what is not limited by queue; the caller asks how much is
    /// [free](Self::free).
    pub(super) fn take(&mut self, bytes: u64) {
        self.used += bytes;
        self.largest = self.largest.max(self.used);
    }

    /// Gives back what was taken.
    pub(super) fn give(&mut self, bytes: u64) {
        self.used -= bytes;
    }

    /// Resets the largest use.
    pub(super) fn restart(&mut self) {
        self.largest = self.used;
    }

    /// Bytes in use beyond the reserves.
    pub fn used(&self) -> u64 {
        self.used
    }

    /// Whether nothing is in use.
    pub(super) fn is_empty(&self) -> bool {
        self.used == 0 && self.queues.iter().all(|bytes| *bytes == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fills `active` queues in turns with packets of 1000 bytes until none takes more; what each holds.
    fn fill(buffer: &mut SharedBuffer, active: usize) -> Vec<u64> {
        while (0..active).filter(|queue| buffer.admit(*queue, 1000)).count() > 0 {}
        (0..active).map(|queue| buffer.queue(queue)).collect()
    }

    #[test]
    fn at_the_fixed_point_each_of_n_queues_holds_alpha_b_over_one_plus_alpha_n() {
        // The paper's steady state; buffers are chosen so that the shares are whole packets.
        for (alpha, active, size, share) in [
            (1.0, 1, 90_000, 45_000),
            (1.0, 2, 90_000, 30_000),
            (2.0, 1, 90_000, 60_000),
            (2.0, 4, 90_000, 20_000),
            (0.5, 1, 90_000, 30_000),
            (0.5, 4, 90_000, 15_000),
        ] {
            let mut buffer = SharedBuffer::new(size, alpha, 0, 8).unwrap();
            assert_eq!(fill(&mut buffer, active), vec![share; active], "alpha {alpha}, {active} queues");
            assert_eq!(share as f64, alpha * size as f64 / (1.0 + alpha * active as f64));
            assert_eq!(buffer.free(), size - share * active as u64, "the rest stays free");
        }
    }

    #[test]
    fn a_queue_that_becomes_busy_lowers_the_others_threshold_and_reaches_the_same_share() {
        let mut buffer = SharedBuffer::new(90_000, 1.0, 0, 8).unwrap();
        fill(&mut buffer, 1);
        // The newcomer finds 45 000 bytes free and takes until its queue meets the threshold.
        while buffer.admit(1, 1000) {}
        assert_eq!((buffer.queue(0), buffer.queue(1), buffer.threshold()), (45_000, 23_000, 22_000));
        // The first queue is above the threshold: it gets nothing until it has drained to it.
        assert!(!buffer.admit(0, 1000));
        while buffer.queue(0) > buffer.threshold() {
            buffer.release(0, 1000);
            while buffer.admit(1, 1000) {}
        }
        fill(&mut buffer, 2);
        assert_eq!((buffer.queue(0), buffer.queue(1)), (30_000, 30_000));
    }

    #[test]
    fn a_reserve_is_there_however_full_the_rest_is() {
        let mut buffer = SharedBuffer::new(98_000, 16.0, 2_000, 4).unwrap();
        // 90 000 shared: alone with alpha 16, a queue gets its reserve and 16/17 of them, in packets.
        while buffer.admit(0, 1000) {}
        assert_eq!(buffer.queue(0), 2_000 + 85_000);
        while buffer.admit(0, 500) || buffer.admit(1, 500) || buffer.admit(2, 500) {}
        assert!(buffer.free() < 2_000, "{}", buffer.free());
        assert!(buffer.admit(3, 1000) && buffer.admit(3, 1000));
        assert_eq!(buffer.queue(3), 2_000);
    }

    #[test]
    fn what_is_released_is_free_again_and_reserves_beyond_the_memory_are_refused() {
        let mut buffer = SharedBuffer::new(20_000, 1.0, 1_500, 2).unwrap();
        assert!(buffer.admit(0, 1000) && buffer.admit(0, 1000) && buffer.admit(1, 1000));
        assert_eq!((buffer.used(), buffer.largest()), (500, 500));
        buffer.release(0, 1000);
        buffer.release(0, 1000);
        buffer.release(1, 1000);
        assert_eq!((buffer.used(), buffer.queue(0), buffer.queue(1)), (0, 0, 0));
        assert!(SharedBuffer::new(20_000, 1.0, 10_001, 2).is_none());
        assert!(SharedBuffer::new(u64::MAX, 1.0, u64::MAX, 2).is_none());
    }
}
