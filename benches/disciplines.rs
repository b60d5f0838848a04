//! Time per packet through the public interface, for every discipline under every load and for a plain ring; and time
//! per key for each kind of sketch.

#[path = "../crates/aqm-core/benches/common/mod.rs"]
mod common;

use aqm_core::registry::DISCIPLINES;
use aqm_core::sketch::{Conservative, CountMin, CountSketch, Sketch, mix};
use aqm_core::spec::Spec;
use common::{LOADS, Queue, Ring, Stage};
use criterion::Criterion;
use std::time::Duration;

fn measure(criterion: &mut Criterion, name: &str, mut stage: impl Stage) {
    criterion.bench_function(name, |bencher| bencher.iter(|| stage.step()));
}

/// An update and a query of a sketch of 1024 x 4 counters, both of other keys each time.
fn measure_sketch<S: Sketch>(criterion: &mut Criterion, kind: &str) {
    let mut sketch = S::new(1024, 4);
    let keys: Vec<u64> = (0..4096).map(mix).collect();
    let mut number = 0;
    criterion.bench_function(&format!("{kind}/update_query/1024x4"), |bencher| {
        bencher.iter(|| {
            number = (number + 1) % 4096;
            sketch.add(keys[number], 1);
            sketch.query(keys[number ^ 1])
        });
    });
}

fn main() {
    let mut criterion = Criterion::default()
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
        .configure_from_args();
    for load in LOADS {
        measure(&mut criterion, &format!("plain_ring/push_pop/{}", load.name), Ring::new(load));
        for info in DISCIPLINES {
            let spec = Spec::parse(info.name).expect("the registry knows its names");
            let name = format!("{}/enqueue_dequeue/{}", info.name, load.name);
            measure(&mut criterion, &name, Queue::new(&spec, load));
        }
    }
    measure_sketch::<CountMin>(&mut criterion, "count_min");
    measure_sketch::<Conservative>(&mut criterion, "conservative");
    measure_sketch::<CountSketch>(&mut criterion, "count_sketch");
    criterion.final_summary();
}
