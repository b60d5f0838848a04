//! # What it does
//! One queue under RED for the packets of flows that a Landmark-LRU list reports as heavy; those of all others pass while
//! the average queue is below `max`.
//!
//! # Reference
//! L. Che and B. Qiu, "Landmark LRU: An Efficient Scheme for the Detection of Elephant Flows at Internet Routers", IEEE
//! Communications Letters 10(7):567-569, 2006, as P. Li et al. compare with it (SQM-LRU, Sensors 21(10):3568, 2021,
//! section 4).
//!
//! # Parameters
//! See `aqmlab aqm show l_lru`.
//!
//! # Deviations
//! Che's and Qiu's text was not available: where new flows enter and what happens above the landmark is an assumption
//! (`classifier::LandmarkLru`), as is the place of the landmark, the middle. How the list acts on RED: as in `lru_red`.
//!
//! # Promises
//! Order kept; drops and marks on arrival only; memory fixed by the list, for any number of flows; one random number
//! per packet while the average is on RED's curve.

use super::red;
use super::reported::{Make, PROBES, Reported, THRESHOLD, TRAITS};
use super::{Blueprint, Built, Group, Info, LIMIT};
use crate::classifier::LandmarkLru;
use crate::params::{Kind, ParamSpec, Params, Preset, Value};

/// The registry entry.
pub static INFO: Info = Info {
    name: "l_lru",
    group: Group::Flow,
    summary: "Landmark LRU: RED against the flows that a list with a landmark reports as heavy",
    reference: "Che and Qiu 2006, as compared with by Li et al., Sensors 21(10):3568 (2021)",
    params: &[
        LIMIT,
        CACHE,
        LANDMARK,
        THRESHOLD,
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
    presets: &[Preset {
        name: "printed",
        source: "Li et al. 2021 section 4.2: a list of 500; RED as red:floyd",
        values: &[],
    }],
    probes: PROBES,
    traits: TRAITS,
    deviations: "Che's and Qiu's text was not available: the landmark and how the list acts on RED are assumptions",
    build,
};

const CACHE: ParamSpec = ParamSpec::new(
    "cache",
    Kind::Count,
    Value::Count(500),
    (4.0, 65_536.0),
    "Flows in the list",
    "Li et al. 2021 section 4.2: 500 in the comparison",
);

const LANDMARK: ParamSpec = ParamSpec::new(
    "landmark",
    Kind::Fraction,
    Value::Fraction(0.5),
    (0.0, 1.0),
    "Share of the list that is above the landmark",
    "no reference had a number at hand: the middle",
);

/// The parameters of the list.
pub const CLASSIFIER: &[&str] = &["cache", "landmark", "threshold"];

/// The list alone.
pub fn classifier(params: &Params) -> LandmarkLru {
    let (cache, threshold) = (params.count("cache") as u32, params.count("threshold") as u32);
    LandmarkLru::new(cache, params.number("landmark"), threshold)
}

fn build(Blueprint { params, link, .. }: Blueprint<'_>) -> Built {
    Reported::boxed(params, link, Make { new: classifier, of: CLASSIFIER })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Host, ms};

    #[test]
    fn a_flow_that_was_reported_stays_so_through_a_flood_of_others() {
        let spec = "l_lru cache 4 threshold 1 limit 99p min 1p max 90p w 1 probability 1";
        let mut host = Host::scripted(spec, &[0.001]);
        host.put(ms(1), 0, 1, 1000);
        host.put(ms(1), 1, 1, 1000);
        (2..60).for_each(|cookie| host.put(ms(1), cookie, cookie, 1000));
        host.put(ms(1), 99, 1, 1000);
        assert_eq!(host.dropped(), [99]);
    }
}
