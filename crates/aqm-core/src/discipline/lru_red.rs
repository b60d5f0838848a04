//! # What it does
//! One queue under RED for the packets of flows that an LRU list reports as heavy; those of all others pass while the
//! average queue is below `max`.
//!
//! # Reference
//! Smitha and A. L. N. Reddy, "LRU-RED: An Active Queue Management Scheme to Contain High Bandwidth Flows at Congested
//! Routers", GLOBECOM 2001, as P. Li et al. compare with it (SQM-LRU, Sensors 21(10):3568, 2021, sections 1 and 4).
//!
//! # Parameters
//! See `aqmlab aqm show lru_red`.
//!
//! # Deviations
//! The paper's text was not available: the list is as Li et al. describe it, which has every flow enter (`insert 1`). How it
//! acts on RED is a choice: a reported flow's packets get RED's probability, all others none below `max` and RED's from
//! there on. A change of the list's parameters starts it anew.
//!
//! # Promises
//! Order kept; drops and marks on arrival only; memory fixed by the list, for any number of flows; at most two random
//! numbers per packet: the list's if `insert` is below one, then RED's.

use super::red;
use super::reported::{CACHE, Make, PROBES, Reported, THRESHOLD, TRAITS};
use super::{Blueprint, Built, Group, Info, LIMIT};
use crate::classifier::Lru;
use crate::params::{Kind, ParamSpec, Params, Preset, Value};

/// The registry entry.
pub static INFO: Info = Info {
    name: "lru_red",
    group: Group::Flow,
    summary: "LRU-RED: RED against the flows that an LRU list reports as heavy",
    reference: "Smitha and Reddy 2001, as compared with by Li et al., Sensors 21(10):3568 (2021)",
    params: &[
        LIMIT,
        CACHE,
        THRESHOLD,
        INSERT,
        red::MIN,
        red::MAX,
        red::PROBABILITY,
        red::W,
        red::BURST,
        red::GENTLE,
        red::ECN,
        red::HARDDROP,
        red::WAIT,
        red::AVPKT,
        red::BANDWIDTH,
        red::CODE,
    ],
    presets: &[
        Preset {
            name: "printed",
            source: "Li et al. 2021 section 4.2: a list of 500 that every flow enters; RED as red:floyd",
            values: &[],
        },
        Preset {
            name: "sampled",
            source: "our choice, after Smitha and Reddy 2001: flows enter with probability 1/50, and 20 more packets make one heavy",
            values: &[("insert", Value::Fraction(0.02)), ("threshold", Value::Count(20))],
        },
    ],
    probes: PROBES,
    traits: TRAITS,
    deviations: "The paper's text was not available: the list and how it acts on RED are assumptions",
    build,
};

const INSERT: ParamSpec = ParamSpec::new(
    "insert",
    Kind::Fraction,
    Value::Fraction(1.0),
    (0.0, 1.0),
    "Probability with which a flow that is not in the list enters it",
    "Li et al. 2021 section 1: every flow",
);

/// The parameters of the list.
pub const CLASSIFIER: &[&str] = &["cache", "threshold", "insert"];

/// The list alone.
pub fn classifier(params: &Params) -> Lru {
    let (cache, threshold) = (params.count("cache") as u32, params.count("threshold") as u32);
    Lru::new(cache, threshold, params.number("insert"))
}

fn build(Blueprint { params, link, .. }: Blueprint<'_>) -> Built {
    Reported::boxed(params, link, Make { new: classifier, of: CLASSIFIER })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Host, ms};
    use crate::signal::DropReason;

    /// Weight 1: the average is the queue that a packet finds. The curve is flat at one half up to `max`.
    const SMALL: &str = "lru_red cache 2 threshold 1 limit 9p min 1p max 6p w 1 probability 1";

    #[test]
    fn red_is_for_the_packets_of_reported_flows_alone() {
        let mut host = Host::scripted(SMALL, &[0.0]);
        // Flow 1 is reported with its second packet, which finds 3: dropped. The others pass.
        for (cookie, flow) in [(0, 2), (1, 3), (2, 1), (3, 1), (4, 2), (5, 3)] {
            host.put(ms(1), cookie, flow, 1000);
        }
        assert_eq!(host.log.dropped, [(3, DropReason::Congestion)]);
        assert_eq!((host.probe("kept_flows"), host.probe("reported_flows")), (2.0, 0.0));
        let counters = host.qdisc.counters();
        assert_eq!((counters.classified, counters.reported), (6, 1));
    }

    #[test]
    fn beyond_max_nobody_is_spared() {
        let mut host = Host::scripted(SMALL, &[0.0]);
        (0..8).for_each(|cookie| host.put(ms(1), cookie, cookie, 1000));
        assert_eq!(host.dropped(), [6, 7]);
    }

    #[test]
    fn a_new_list_starts_empty_and_a_new_curve_leaves_it_alone() {
        let mut host = Host::scripted(SMALL, &[0.9]);
        (0..3).for_each(|cookie| host.put(ms(1), cookie, 1, 1000));
        host.qdisc.change(&[("probability", "0.5")], ms(1), &mut host.log).unwrap();
        assert_eq!(host.probe("reported_flows"), 1.0);
        host.qdisc.change(&[("cache", "3")], ms(1), &mut host.log).unwrap();
        assert_eq!(host.probe("kept_flows"), 0.0);
    }
}
