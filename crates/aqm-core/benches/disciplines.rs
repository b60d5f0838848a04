//! Time per packet through the public interface, every discipline under every load, beside a plain ring.

mod common;

use aqm_core::registry::DISCIPLINES;
use aqm_core::spec::Spec;
use common::{LOADS, Queue, Ring, Stage};
use criterion::Criterion;
use std::time::Duration;

fn measure(criterion: &mut Criterion, name: &str, mut stage: impl Stage) {
    criterion.bench_function(name, |bencher| bencher.iter(|| stage.step()));
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
    criterion.final_summary();
}
