//! What is measured as a part of a whole is between nothing and all of it, and each share is of one population; and no flow
//! is faster than it would be alone.

use crate::report::{FlowRow, Report, RunError};

/// Sums of floating-point numbers are not exact.
const ROUNDING: f64 = 1e-9;

/// Every share, of whatever group or port, is one; no flow has more packets dropped or marked than have arrived. Where
/// `rates` are all that decides about links, none is faster than alone: an opportunity of a trace takes no time, and its mean
/// rate is no bound. Where no packet skips its `delays`, no round trip is shorter than without queues.
pub(super) fn check(report: &Report, rates: bool, delays: bool) -> Result<(), RunError> {
    for (name, value) in report.metrics.fractions() {
        // What is a share of nothing is not a number.
        if !value.is_nan() && !(0.0..=1.0 + ROUNDING).contains(&value) {
            return Err(RunError::Check(format!("{name} is {value}: a share is between 0 and 1")));
        }
    }
    for flow in &report.flows {
        let arrived = flow.packets_arrived;
        for (what, count) in [("dropped", flow.packets_dropped), ("marked", flow.marks)] {
            if count > arrived {
                let flow = flow.id;
                let what = format!("flow {flow}: {count} packets were {what}, but {arrived} arrived");
                return Err(RunError::Check(what));
            }
        }
        // Some have no value.
        if delays && flow.rtt_mean_ms < flow.rtt_base_ms * (1.0 - ROUNDING) {
            let FlowRow { id, rtt_mean_ms, rtt_base_ms, .. } = flow;
            let what = format!(
                "flow {id}: its round trips take {rtt_mean_ms} ms, and without queues {rtt_base_ms} ms"
            );
            return Err(RunError::Check(what));
        }
        if rates && flow.slowdown < 1.0 - ROUNDING {
            let FlowRow { id, slowdown, .. } = flow;
            return Err(RunError::Check(format!("flow {id}: it took {slowdown} of what it takes alone")));
        }
    }
    Ok(())
}
