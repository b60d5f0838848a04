//! Completion times of flows, some of which the end of the run cuts off.
//!
//! The mean over those that complete is smaller the fewer of the slow ones do. The restricted mean is that of the time or
//! the horizon, whichever is less, of all: the area below the survival curve up to the horizon (Kaplan and Meier, JASA
//! 53(282), 1958; Royston and Parmar, BMC Medical Research Methodology 13:152, 2013).

/// A flow that started.
pub(super) struct Watched {
    /// Seconds from its start to the end of the run.
    pub(super) seconds: f64,
    /// Seconds to its completion, if it completed.
    pub(super) completed: Option<f64>,
}

/// Seconds for which half of the flows could be watched, or more of them. It depends only on when flows start.
pub(super) fn horizon(flows: &[Watched]) -> Option<f64> {
    let mut seconds: Vec<f64> = flows.iter().map(|flow| flow.seconds).collect();
    seconds.sort_by(f64::total_cmp);
    seconds.get(seconds.len() / 2).copied()
}

/// The mean of completion time or horizon, whichever is less, in seconds.
pub(super) fn restricted_mean(flows: &[Watched], horizon: f64) -> f64 {
    let mut ends: Vec<(f64, bool)> =
        flows.iter().map(|flow| (flow.completed.unwrap_or(flow.seconds), flow.completed.is_none())).collect();
    // Who completes when another one is cut off completes first.
    ends.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
    let (mut area, mut surviving, mut before) = (0.0, 1.0, 0.0);
    for (place, &(seconds, is_cut)) in ends.iter().enumerate().take_while(|(_, end)| end.0 < horizon) {
        area += surviving * (seconds - before);
        before = seconds;
        if !is_cut {
            let watched = (ends.len() - place) as f64;
            surviving *= (watched - 1.0) / watched;
        }
    }
    area + surviving * (horizon - before)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flows(flows: &[(f64, Option<f64>)]) -> Vec<Watched> {
        flows.iter().map(|&(seconds, completed)| Watched { seconds, completed }).collect()
    }

    #[test]
    fn where_all_complete_before_the_horizon_it_is_their_mean() {
        let flows = flows(&[(10.0, Some(1.0)), (9.0, Some(4.0)), (8.0, Some(7.0))]);
        assert_eq!(horizon(&flows), Some(9.0));
        assert!((restricted_mean(&flows, 9.0) - 4.0).abs() < 1e-12);
    }

    #[test]
    fn flows_that_do_not_complete_count_with_the_horizon() {
        let flows = flows(&[(10.0, Some(2.0)), (10.0, None), (10.0, None), (10.0, Some(4.0))]);
        assert_eq!(horizon(&flows), Some(10.0));
        assert!((restricted_mean(&flows, 10.0) - (2.0 + 4.0 + 10.0 + 10.0) / 4.0).abs() < 1e-12);
    }

    #[test]
    fn one_that_was_watched_for_less_counts_as_those_that_were_watched_longer() {
        // One of four completes at 1 s, one is cut off at 2 s, and one of the two that are left completes at 4 s.
        let flows = flows(&[(9.0, Some(1.0)), (2.0, None), (8.0, Some(4.0)), (6.0, None)]);
        assert!((restricted_mean(&flows, 6.0) - (1.0 + 0.75 * 3.0 + 0.375 * 2.0)).abs() < 1e-12);
    }

    #[test]
    fn without_flows_there_is_no_horizon() {
        assert_eq!(horizon(&[]), None);
    }
}
