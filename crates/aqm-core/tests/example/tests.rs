//! The example of docs/dev/aqm.md works as that page says.

use crate::discipline::example::INFO;
use crate::discipline::testing::{Host, ms};
use crate::random::Random;
use crate::spec::Spec;

#[test]
fn the_example_of_a_discipline_signals_to_packets_that_find_others() {
    let spec = Spec::parse_as(&INFO, &INFO.presets[0], "probability 1").unwrap();
    let mut host = Host::of(&spec, Random::seeded(1));
    host.put_ect(ms(0), 0, 0, 1000);
    host.put_ect(ms(0), 1, 0, 1000);
    host.put(ms(0), 2, 0, 1000);
    assert_eq!((host.marked(), host.dropped()), (alloc::vec![1], alloc::vec![2]));
}
