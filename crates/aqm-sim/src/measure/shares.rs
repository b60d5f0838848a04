//! What is measured as a part of a whole is between nothing and all of it, and each share is of one population; and no flow
//! is faster than it would be alone.

use crate::report::{FlowRow, Report, RunError};

/// The metrics that are shares. `flowmon_loss_ratio` is none: it counts drops twice, as a paper does.
const SHARES: [&str; 18] = [
    // Bytes sent while measuring, of those that fit.
    "utilization",
    // Packets that arrived at the port while measuring.
    "loss_ratio",
    // Packets that were delivered or lost while measuring.
    "path_loss_ratio",
    // The same, and those that are under way at the end.
    "undelivered_ratio",
    // Packets that were classified while measuring.
    "reported_ratio",
    "classifier_accuracy",
    "classifier_ppv",
    "classifier_tnr",
    "classifier_npv",
    "classifier_recall",
    "classifier_f1",
    // Flows with such packets.
    "classifier_flow_accuracy",
    "classifier_flow_ppv",
    "classifier_flow_tnr",
    "classifier_flow_npv",
    "classifier_flow_recall",
    "classifier_flow_f1",
    // Of the capacity, what the flows would have to share equally to be as fair.
    "jain_index",
];

/// Sums of floating-point numbers are not exact.
const ROUNDING: f64 = 1e-9;

/// Every share, of whatever group or port, is one; no flow has more packets dropped or marked than have arrived. Where
/// `rates` are all that decides about links, none is faster than alone: an opportunity of a trace takes no time, and its mean
/// rate is no bound.
pub(super) fn check(report: &Report, rates: bool) -> Result<(), RunError> {
    for (name, value) in &report.metrics {
        let plain = name.rsplit('.').next().unwrap_or(name);
        // What is a share of nothing is not a number.
        if SHARES.contains(&plain) && !value.is_nan() && !(0.0..=1.0 + ROUNDING).contains(value) {
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
        if flow.rtt_mean_ms < flow.rtt_base_ms * (1.0 - ROUNDING) {
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
