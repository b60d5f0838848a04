//! MSER-5: how much of the start of a series to leave out (White, Cobb and Spratt, "A comparison of five steady-state
//! truncation heuristics for simulation", WSC 2000).
//!
//! The series is divided into batches of five. Left out are the batches before the one from which on the squared standard
//! error of the mean is least; a result in the second half says that the series is too short to tell.

use crate::report::Series;
use aqm_core::units::Time;

const BATCH: usize = 5;
/// The series that have to be steady.
const SERIES: [&str; 2] = ["goodput_mbit", "qdelay_ms"];

/// Where measuring may begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cut {
    pub(crate) at: Time,
    /// Whether the run is long enough to tell.
    pub(crate) is_steady: bool,
}

/// The cut after which goodput and queue delay are both steady; at most half of the run is left out.
pub(crate) fn cut(series: &Series) -> Cut {
    let batches = SERIES.iter().filter_map(|name| series.columns.get(*name)).map(|values| truncated(values));
    let (wanted, half) = (batches.max().unwrap_or(0) * BATCH, series.time_s.len() / 2);
    let seconds = match wanted.min(half) {
        0 => 0.0,
        samples => series.time_s[samples - 1],
    };
    Cut { at: Time::from_nanos((seconds * 1e9).round() as u64), is_steady: wanted <= half }
}

/// How many batches MSER-5 leaves out: at most all but one.
fn truncated(values: &[f64]) -> usize {
    // Where nothing left the queue there was no delay.
    let mean = |batch: &[f64]| {
        batch.iter().map(|value| if value.is_finite() { *value } else { 0.0 }).sum::<f64>() / BATCH as f64
    };
    let batches: Vec<f64> = values.chunks_exact(BATCH).map(mean).collect();
    let (mut best, mut least) = (0, f64::INFINITY);
    // The last few batches say too little of a variance.
    for left_out in 0..batches.len().saturating_sub(BATCH - 1) {
        let kept = &batches[left_out..];
        let centre = kept.iter().sum::<f64>() / kept.len() as f64;
        let squares: f64 = kept.iter().map(|value| (value - centre).powi(2)).sum();
        let error = squares / (kept.len() as f64).powi(2);
        if error < least {
            (best, least) = (left_out, error);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(goodput: Vec<f64>, delay: Vec<f64>) -> Series {
        let time_s = (1..=goodput.len()).map(|sample| sample as f64 / 10.0).collect();
        let columns = [("goodput_mbit".to_owned(), goodput), ("qdelay_ms".to_owned(), delay)];
        Series { time_s, columns: columns.into() }
    }

    #[test]
    fn a_start_that_differs_is_left_out_in_batches_of_five() {
        // Twelve samples of a start: two batches and a part of the third.
        let values: Vec<f64> =
            (0..100).map(|i| if i < 12 { 50.0 } else { 10.0 + f64::from(i % 2) }).collect();
        assert_eq!(truncated(&values), 3);
        let steady: Vec<f64> = (0..100).map(|i| 10.0 + f64::from(i % 2)).collect();
        assert_eq!(truncated(&steady), 0);
    }

    #[test]
    fn the_error_is_that_of_the_batch_means() {
        // Batch means 9, 1, 2, 1, 2, 1, 2. All: mean 18/7, squares 96 - 324/7 = 49.71, over 49: 1.01. Without the first:
        // mean 1.5, squares 1.5, over 36: .042. Without two: mean 1.6, squares 1.2, over 25: .048.
        let values: Vec<f64> =
            [9.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0].iter().flat_map(|mean| [*mean; BATCH]).collect();
        assert_eq!(truncated(&values), 1);
    }

    #[test]
    fn the_later_cut_of_both_series_counts_and_one_in_the_second_half_says_that_the_run_is_too_short() {
        let step = |at: i32| (0..100).map(|i| if i < at { 0.0 } else { 5.0 }).collect::<Vec<f64>>();
        let found = cut(&series(step(10), step(30)));
        assert_eq!(found, Cut { at: Time::from_nanos(3_000_000_000), is_steady: true });
        let found = cut(&series(step(0), step(70)));
        assert_eq!(found, Cut { at: Time::from_nanos(5_000_000_000), is_steady: false });
    }

    #[test]
    fn an_empty_queue_has_no_delay() {
        let delays = (0..100).map(|i| if i < 50 { f64::NAN } else { 0.0 }).collect();
        assert_eq!(cut(&series(vec![1.0; 100], delays)).at, Time::ZERO);
        assert_eq!(cut(&Series::default()), Cut { at: Time::ZERO, is_steady: true });
    }
}
