//! A rate-based congestion control alone: what it makes of a series of events.

use crate::error::input;
use aqm_core::random::Random;
use aqm_core::units::{Rate, Time};
use aqm_sim::rate_control::{Feedback, Rated};
use pyo3::prelude::*;

/// Plays events to a control (`dcqcn timer 55us`) on a link of `line_bps`; gives its rate and its target after each, bit/s.
#[pyfunction]
pub(crate) fn rate_steps(
    control: &str,
    line_bps: f64,
    events: Vec<(u64, String, f64, f64)>,
    seed: u64,
) -> PyResult<Vec<(f64, f64)>> {
    let control = Rated::parse(control).map_err(input)?;
    if !(1.0..=1e13).contains(&line_bps) {
        return Err(input(format!("line_bps: {line_bps} (allowed: 1 to 1e13)")));
    }
    let line = Rate::from_bits_per_sec(line_bps as u64);
    let (mut control, mut random) = (control.build(line, Time::ZERO), Random::seeded(seed));
    let mut steps = Vec::with_capacity(events.len());
    for (nanos, kind, first, second) in events {
        let now = Time::from_nanos(nanos);
        while let Some(due) = control.deadline().filter(|due| *due <= now) {
            control.on_timer(due);
        }
        let feedback = match kind.as_str() {
            "wait" => None,
            "sent" => {
                control.on_sent(first as u64);
                None
            }
            "notified" => Some(Feedback::Notification),
            "quantised" => Some(Feedback::Quantised(first as u64)),
            "rates" => Some(Feedback::Rates { arriving: first, optimal: second }),
            _ => return Err(input(format!("unknown event '{kind}'"))),
        };
        if let Some(feedback) = feedback {
            control.on_feedback(feedback, now, &mut random);
        }
        steps.push((control.rate(), control.target()));
    }
    Ok(steps)
}
