//! Congestion window validation: whether the data sent used the window, so that it may grow (RFC 7661, RFC 2861).
//!
//! The use is judged when data are sent, as Linux does (tcp_cwnd_validate): while a flight that filled the window is
//! acknowledged piece by piece, less and less of it is outstanding, which says nothing about its use.

use super::state::Stream;
use crate::transport::window::Window;

/// How the window was used for the current window of data.
#[derive(Debug, Default)]
pub(super) struct WindowUse {
    /// Whether no further segment did fit.
    filled: bool,
    /// Most bytes outstanding, if it was not filled.
    most: u64,
    /// Where the window of data ends.
    until: u64,
}

impl WindowUse {
    /// Data were sent, or wait for room in the window; `filled` if no full segment fits any more.
    #[inline]
    pub(super) fn note(&mut self, stream: &Stream, filled: bool) {
        let flight = stream.flight();
        if filled || stream.una >= self.until || (!self.filled && flight > self.most) {
            *self = WindowUse { filled, most: flight, until: stream.next };
        }
    }

    /// Whether an acknowledgment may enlarge the window: in congestion avoidance one that was filled (RFC 9438 section
    /// 5.8), in slow start up to twice what was outstanding (RFC 7661 section 4.2: half of the window).
    #[inline]
    pub(super) fn lets_grow(&self, window: &Window) -> bool {
        self.filled || (window.in_slow_start() && window.cwnd < self.most.saturating_mul(2))
    }
}
