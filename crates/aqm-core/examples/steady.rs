//! Takes a number of steps under a load, for instruction counts: `steady SPEC LOAD STEPS`, or `steady plain_ring
//! ...`. `steady --list` prints the names of all disciplines.
//!
//! Prints the state of the discipline: `state_bytes N flow_state_bytes N`.

#[path = "../benches/common/mod.rs"]
mod common;

use aqm_core::registry::DISCIPLINES;
use aqm_core::spec::Spec;
use common::{LOADS, Queue, Ring, Stage};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().collect();
    if words.get(1).is_some_and(|word| word == "--list") {
        DISCIPLINES.iter().for_each(|info| println!("{}", info.name));
        return Ok(());
    }
    let [_, spec, load, steps] = words.as_slice() else { return Err("usage: steady SPEC LOAD STEPS".into()) };
    let load = LOADS.into_iter().find(|known| known.name == load).ok_or("unknown load")?;
    let steps: u64 = steps.parse()?;
    if spec == "plain_ring" {
        let mut ring = Ring::new(load);
        (0..steps).for_each(|_| ring.step());
    } else {
        let spec = Spec::parse(spec)?;
        let mut queue = Queue::new(&spec, load);
        (0..steps).for_each(|_| queue.step());
        let (state, flow) = (queue.qdisc().discipline().state_bytes(), spec.info.traits.flow_state_bytes);
        println!("state_bytes {state} flow_state_bytes {flow}");
    }
    Ok(())
}
