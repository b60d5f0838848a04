//! The first test of docs/how-to/test-transport.md.

use aqm_testbed::Path;

#[test]
fn two_cubic_flows_share_a_link_under_pie() {
    let run = Path::new("10mbit", "40ms").aqm("pie").flows("2*cubic").run(1);
    run.goodput("cubic").at_least(8.0);
    run.qdelay_mean().at_most(30.0);
}
