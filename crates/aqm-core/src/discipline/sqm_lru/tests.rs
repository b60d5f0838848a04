use super::super::testing::{Host, ms, rest};
use alloc::string::ToString;

/// Every packet matches that has a predecessor among the last four; the third of a flow is reported.
const SMALL: &str = "sqm_lru sq 4 p_samp 1 p_lth 1 cache 3 ltf_unit 1 high [fifo] low [fifo]";

/// Flow 1 with packets 0 to 5, of which the first two are not yet reported; then flow 2 with packets 10 to 12.
fn fill(host: &mut Host) {
    (0..6).for_each(|cookie| host.put(ms(1), cookie, 1, 1000));
    (10..12).for_each(|cookie| host.put(ms(1), cookie, 2, 1000));
}

fn spec(more: &str) -> alloc::string::String {
    [SMALL, more].join(" ")
}

#[test]
fn reported_flows_have_a_queue_of_their_own() {
    let mut host = Host::new(&spec("scheduler sp"));
    fill(&mut host);
    assert_eq!((host.probe("reported_flows"), host.probe("busy_classes")), (1.0, 2.0));
    let counters = host.qdisc.counters();
    assert_eq!((counters.classified, counters.reported), (8, 4));
    assert_eq!(rest(&mut host), [0, 1, 10, 11, 2, 3, 4, 5]);
}

#[test]
fn the_scheduler_shares_by_its_weights_and_can_become_another() {
    for (scheduler, order) in [
        ("wrr", [0, 2, 1, 3, 10, 4, 11, 5]),
        ("wrr weight 2,1", [0, 1, 2, 10, 11, 3, 4, 5]),
        ("rr weight 2,1", [0, 2, 1, 3, 10, 4, 11, 5]),
        ("drr weight 2,1", [0, 1, 10, 2, 11, 3, 4, 5]), // 3028 bytes are three packets
        ("wfq weight 2,1", [0, 1, 2, 10, 11, 3, 4, 5]),
        ("sp", [0, 1, 10, 11, 2, 3, 4, 5]),
    ] {
        let mut host = Host::new(&spec(&["scheduler", scheduler].join(" ")));
        fill(&mut host);
        assert_eq!(rest(&mut host), order, "{scheduler}");
    }
    for scheduler in ["wrr", "rr", "sp", "drr", "wfq", "qfq"] {
        let mut host = Host::new(SMALL);
        fill(&mut host);
        host.qdisc.change(&[("scheduler", scheduler)], ms(1), &mut host.log).unwrap();
        assert_eq!(rest(&mut host).len(), 8, "{scheduler}");
    }
}

#[test]
fn each_queue_has_its_own_discipline_and_limit_within_the_limit_of_both() {
    let children = "high [fifo limit 1p] low [fifo limit 3p]";
    let mut host = Host::new(&spec(children));
    fill(&mut host);
    assert_eq!(host.dropped(), [1, 5, 10, 11]);
    let mut host = Host::new(&spec("limit 5p"));
    fill(&mut host);
    assert_eq!(host.dropped(), [5, 10, 11]);
}

#[test]
fn a_change_of_the_classifier_starts_it_anew_and_a_change_of_a_queue_does_not() {
    let mut host = Host::new(SMALL);
    fill(&mut host);
    host.qdisc.change(&[("low", "[fifo limit 50p]")], ms(1), &mut host.log).unwrap();
    assert_eq!(host.probe("reported_flows"), 1.0);
    host.qdisc.change(&[("p_lth", "7")], ms(1), &mut host.log).unwrap();
    assert_eq!(host.probe("kept_flows"), 0.0);
    let error = host.qdisc.change(&[("high", "[codel]")], ms(1), &mut host.log).unwrap_err().to_string();
    assert_eq!(
        error,
        "parameter 'high': '[codel:rfc8289]' cannot become another discipline while packets may wait"
    );
    assert_eq!(rest(&mut host).len(), 8);
}
