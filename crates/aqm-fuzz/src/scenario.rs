//! Whatever a scenario's JSON is, it is refused in one line, or it is written and read alike; a small one runs to its end
//! or is refused in one line, and never breaks a check.

use crate::refusal::one_line;
use aqm_sim::report::{Monitor, RunError};
use aqm_sim::scenario::inputs::Inputs;
use aqm_sim::scenario::{Capacity, Scenario};

pub(crate) fn run(text: &str) {
    let scenario: Scenario = match serde_json::from_str(text) {
        Ok(scenario) => scenario,
        Err(error) => return one_line(text, &error),
    };
    let written = serde_json::to_string(&scenario).expect("plain data");
    let again: Scenario = serde_json::from_str(&written).unwrap_or_else(|error| panic!("{written}: {error}"));
    assert_eq!(again.check(), scenario.check());
    match scenario.check() {
        Err(error) => one_line(text, &error),
        Ok(()) if is_small(&scenario) => {
            match aqm_sim::run(&scenario, &Inputs::default(), 1, &Monitor::default()) {
                Err(RunError::Check(problem)) => panic!("{problem}: {written}"),
                Err(error) => one_line(text, &error),
                Ok(_) => {}
            }
        }
        Ok(()) => {}
    }
}

/// Whether it runs in some milliseconds.
fn is_small(scenario: &Scenario) -> bool {
    const MOST_BITS: u128 = 1_000_000;
    let rates =
        scenario.topology.iter().flat_map(|topology| &topology.links).filter_map(|link| link.rate_bps);
    let Capacity::RateBps(rate) = scenario.capacity else { return false };
    let fastest = rates.chain([rate]).max().unwrap_or(rate);
    let seconds = |bits: u64| u128::from(bits) * u128::from(scenario.duration_ns) / 1_000_000_000;
    seconds(fastest) <= MOST_BITS
        && scenario.access_rate_bps.is_none_or(|rate| seconds(rate) <= 10 * MOST_BITS)
        && scenario.duration_ns / scenario.sample_ns <= 1000
        && scenario.flows.iter().map(|group| u64::from(group.count)).sum::<u64>() <= 20
}
