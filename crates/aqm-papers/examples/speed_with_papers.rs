//! The simulator's example `speed` on a host that registers this crate: `switch=pmqecn`.

#[allow(dead_code, reason = "its main function is that of the other program")]
#[path = "../../aqm-sim/examples/speed.rs"]
mod speed;

use aqm_sim::scenario::inputs::Inputs;

fn main() {
    let mut inputs = Inputs::default();
    inputs.add_extension(&aqm_papers::EXTENSION);
    speed::run(&inputs);
}
