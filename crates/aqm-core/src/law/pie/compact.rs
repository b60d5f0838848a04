//! PIE's state in half a cache line, for tables of flows: always active, and without the departure rate, which a table
//! of its own has where it is estimated.

use super::{DepartureRate, Params, State};
use crate::units::Span;

/// PIE's state for a flow. Delays above 4.2 s count as 4.2 s, and the burst allowance is in whole microseconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Compact {
    drop_prob: f64,
    accu_prob: f64,
    qdelay_ns: u32,
    qdelay_old_ns: u32,
    burst_us: u32,
    /// Whether there is a state; a flow without one is as at the start.
    awake: bool,
}

impl Compact {
    /// Whether the flow has a state.
    pub const fn is_awake(&self) -> bool {
        self.awake
    }

    /// The drop probability.
    pub const fn drop_prob(&self) -> f64 {
        self.drop_prob
    }

    /// Expanded for the law, with the departure rate of the flow.
    #[inline]
    pub fn unfold(&self, params: &Params, rate: DepartureRate) -> State {
        let start = State { rate, ..params.start() };
        if !self.awake {
            return start;
        }
        let seconds = |ns: u32| Span::from_nanos(u64::from(ns)).as_secs_f64();
        State {
            drop_prob: self.drop_prob,
            accu_prob: self.accu_prob,
            qdelay: seconds(self.qdelay_ns),
            qdelay_old: seconds(self.qdelay_old_ns),
            burst_allowance: Span::from_micros(u64::from(self.burst_us)),
            ..start
        }
    }

    /// Compressed again after the law has used it.
    #[inline]
    pub fn fold(state: &State) -> Compact {
        let nanos = |seconds: f64| (seconds * 1e9 + 0.5) as u32;
        Compact {
            drop_prob: state.drop_prob,
            accu_prob: state.accu_prob,
            qdelay_ns: nanos(state.qdelay),
            qdelay_old_ns: nanos(state.qdelay_old),
            burst_us: state.burst_allowance.as_nanos().div_ceil(1000).min(u64::from(u32::MAX)) as u32,
            awake: true,
        }
    }

    /// Whether a flow without packets has no state any more: neither probability nor delay.
    pub fn is_calm(&self) -> bool {
        self.drop_prob == 0.0 && self.qdelay_ns == 0 && self.qdelay_old_ns == 0
    }
}
