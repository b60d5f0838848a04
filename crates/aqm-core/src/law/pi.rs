//! The proportional integral controller that PIE and its relatives share.

/// Gains and reference of the controller. Delays are in seconds.
#[derive(Clone, Copy, Debug)]
pub struct Pi {
    /// Reference delay.
    pub target: f64,
    /// Weight of the distance to the reference, 1/s.
    pub alpha: f64,
    /// Weight of the trend, 1/s.
    pub beta: f64,
}

impl Pi {
    /// By how much the probability changes in one period (RFC 8033 section 4.2, before auto-tuning).
    #[inline]
    pub fn change(&self, delay: f64, old_delay: f64) -> f64 {
        self.alpha * (delay - self.target) + self.beta * (delay - old_delay)
    }
}
