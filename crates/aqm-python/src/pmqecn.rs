//! PMQECN's queueing model and its optimiser.

use crate::error::input;
use aqm_core::random::Random;
use aqm_papers::pmqecn::evolution::Evolution;
use aqm_papers::pmqecn::model::Queue;
use aqm_papers::pmqecn::optimizer::{Class, Infeasible, Objective, Optimizer, Quality};
use pyo3::prelude::*;

/// Service rates, thresholds, arrival rates, why infeasible, costs of both layers.
type Solved = (Vec<f64>, Vec<u32>, Vec<f64>, Option<&'static str>, [f64; 2]);

const QUALITIES: [(&str, Quality); 3] =
    [("voice", Quality::Voice), ("video", Quality::Video), ("file", Quality::File)];
const OBJECTIVES: [(&str, Objective); 2] =
    [("normalised", Objective::Normalised), ("printed", Objective::Printed)];

/// The steady state of an M/M/1/N queue: probabilities of empty and full, packets carried and lost per second, packets
/// there and waiting, seconds there and waiting.
#[pyfunction]
pub(crate) fn pmqecn_queue(rate: f64, service: f64, capacity: u32) -> PyResult<[f64; 8]> {
    not_negative("rate", rate)?;
    positive("service", service)?;
    positive("capacity", capacity.into())?;
    let queue = Queue::new(rate, service, capacity);
    Ok([
        queue.probability(0),
        queue.loss(),
        queue.carried(),
        queue.lost(),
        queue.length(),
        queue.waiting(),
        queue.delay(),
        queue.wait(),
    ])
}

/// Solves both layers for classes of (what they ask for, packets per second, seconds).
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "Python names them")]
pub(crate) fn pmqecn_solve(
    py: Python<'_>,
    classes: Vec<(String, f64, f64)>,
    service: f64,
    capacity: u32,
    link: f64,
    links: u32,
    objective: &str,
    seed: u64,
) -> PyResult<Solved> {
    positive("service", service)?;
    positive("capacity", capacity.into())?;
    positive("link", link)?;
    positive("links", links.into())?;
    if classes.is_empty() {
        return Err(input("rates: empty (needed: a rate for each class)"));
    }
    let class = |(quality, arrival, wait): (String, f64, f64)| {
        not_negative("rates", arrival)?;
        not_negative("waits", wait)?;
        Ok(Class { quality: named("class", &quality, &QUALITIES)?, arrival, wait })
    };
    let classes: PyResult<Vec<Class>> = classes.into_iter().map(class).collect();
    let objective = named("objective", objective, &OBJECTIVES)?;
    let evolution = Evolution::PMQECN;
    let optimizer =
        Optimizer { classes: classes?, service, capacity, link, links, objective, bounded: false, evolution };
    let solution = py.detach(|| optimizer.solve(&mut Random::stream(seed, "pmqecn")));
    Ok((
        solution.service,
        solution.thresholds,
        solution.arrival,
        solution.infeasible.map(Infeasible::name),
        solution.cost,
    ))
}

/// Most packets per second, or seconds; and the least packets per second of a port or link. Far beyond what has a meaning,
/// near enough that nothing overflows.
const MOST: f64 = 1e15;
const LEAST: f64 = 1e-9;

fn not_negative(name: &str, value: f64) -> PyResult<()> {
    let fits = (0.0..=MOST).contains(&value);
    if fits { Ok(()) } else { Err(input(format!("{name}: {value} (allowed: 0 to {MOST:e})"))) }
}

fn positive(name: &str, value: f64) -> PyResult<()> {
    let fits = (LEAST..=MOST).contains(&value);
    if fits { Ok(()) } else { Err(input(format!("{name}: {value} (allowed: {LEAST:e} to {MOST:e})"))) }
}

fn named<T: Copy>(what: &str, name: &str, known: &[(&str, T)]) -> PyResult<T> {
    known.iter().find(|(key, _)| *key == name).map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<&str> = known.iter().map(|(key, _)| *key).collect();
        input(format!("unknown {what} '{name}' (known are {})", names.join(", ")))
    })
}
