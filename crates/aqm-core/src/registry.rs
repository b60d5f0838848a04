//! The list of disciplines. The command line, files, Python, documentation, conformance tests, golden runs and
//! benchmarks all take it from here.

use crate::classifier::Classifier;
use crate::discipline::{
    Blueprint, Built, Info, afd, aifo, airtime_fq, ared, blue, cake, choke, cobalt, codel, daqm, dctcp_step,
    docsis_pie, drr, dualpi2, ecn_ramp, ets, feng_ared, fifo, fq, fq_cobalt, fq_codel, fq_pie, l_lru,
    lru_red, mq_ecn, nlred, pfifo_fast, pi, pi2, pie, pifo, prio, qfq, red, rem, rr, s_pie, sfb, sfq, sp,
    sp_pifo, sqm_lru, tcn, wfq, wred, wrr,
};
use crate::link::Link;
use crate::params::{Child, ParamError, Params, same_name};
use alloc::boxed::Box;

/// Every discipline, in the order and groups of listings.
pub static DISCIPLINES: &[&Info] = &[
    &fifo::INFO,
    &pfifo_fast::INFO,
    &red::INFO,
    &ared::INFO,
    &feng_ared::INFO,
    &nlred::INFO,
    &wred::INFO,
    &blue::INFO,
    &rem::INFO,
    &pi::INFO,
    &dctcp_step::INFO,
    &ecn_ramp::INFO,
    &codel::INFO,
    &cobalt::INFO,
    &pie::INFO,
    &docsis_pie::INFO,
    &pi2::INFO,
    &dualpi2::INFO,
    &tcn::INFO,
    &daqm::INFO,
    &fq::INFO,
    &fq_codel::INFO,
    &fq_cobalt::INFO,
    &fq_pie::INFO,
    &cake::INFO,
    &choke::INFO,
    &sfb::INFO,
    &afd::INFO,
    &sfq::INFO,
    &pifo::INFO,
    &sp_pifo::INFO,
    &aifo::INFO,
    &s_pie::INFO,
    &lru_red::INFO,
    &l_lru::INFO,
    &sqm_lru::INFO,
    &sp::INFO,
    &prio::INFO,
    &ets::INFO,
    &rr::INFO,
    &wrr::INFO,
    &drr::INFO,
    &wfq::INFO,
    &qfq::INFO,
    &mq_ecn::INFO,
    &airtime_fq::INFO,
];

/// A classifier as a part of its own, and the discipline whose parameters and presets it takes.
#[non_exhaustive]
pub struct ClassifierInfo {
    /// Its name.
    pub name: &'static str,
    /// The discipline that it is a part of.
    pub discipline: &'static Info,
    /// Those of its parameters that the classifier alone takes.
    pub params: &'static [&'static str],
    /// Makes one from the parameters of that discipline, or says which relation between them does not hold.
    pub build: fn(&Params) -> Result<Box<dyn Classifier>, ParamError>,
}

/// Every classifier.
pub static CLASSIFIERS: &[ClassifierInfo] = &[
    ClassifierInfo {
        name: "lru",
        discipline: &lru_red::INFO,
        params: lru_red::CLASSIFIER,
        build: |params| Ok(Box::new(lru_red::classifier(params))),
    },
    ClassifierInfo {
        name: "l_lru",
        discipline: &l_lru::INFO,
        params: l_lru::CLASSIFIER,
        build: |params| Ok(Box::new(l_lru::classifier(params))),
    },
    ClassifierInfo {
        name: "m_lru",
        discipline: &sqm_lru::INFO,
        params: sqm_lru::CLASSIFIER,
        build: |params| Ok(Box::new(sqm_lru::classifier(params)?)),
    },
];

/// What a scheduler promises to classes that always have packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Promise {
    /// A class sends only while those before it have nothing.
    Priority,
    /// Packets in proportion to the parameter of this name, or as many of each class.
    Packets(Option<&'static str>),
    /// Bytes in proportion to the parameter of this name.
    Bytes(&'static str),
}

/// What a scheduler promises to its classes; conformance holds it to that under floods.
#[non_exhaustive]
pub struct SchedulerInfo {
    /// The scheduler.
    pub discipline: &'static Info,
    /// Its promise.
    pub promise: Promise,
}

/// Every discipline that serves classes.
pub static SCHEDULERS: &[SchedulerInfo] = &[
    SchedulerInfo { discipline: &pfifo_fast::INFO, promise: Promise::Priority },
    SchedulerInfo { discipline: &sp::INFO, promise: Promise::Priority },
    SchedulerInfo { discipline: &prio::INFO, promise: Promise::Priority },
    SchedulerInfo { discipline: &ets::INFO, promise: Promise::Bytes("quanta") },
    SchedulerInfo { discipline: &ets::INFO, promise: Promise::Priority },
    SchedulerInfo { discipline: &rr::INFO, promise: Promise::Packets(None) },
    SchedulerInfo { discipline: &wrr::INFO, promise: Promise::Packets(Some("weight")) },
    SchedulerInfo { discipline: &drr::INFO, promise: Promise::Bytes("quantum") },
    SchedulerInfo { discipline: &wfq::INFO, promise: Promise::Bytes("weight") },
    SchedulerInfo { discipline: &qfq::INFO, promise: Promise::Bytes("weight") },
    SchedulerInfo { discipline: &mq_ecn::INFO, promise: Promise::Bytes("quantum") },
];

/// The discipline of this name; hyphens, underscores and case do not matter.
pub fn find(name: &str) -> Option<&'static Info> {
    DISCIPLINES.iter().copied().find(|info| same_name(info.name, name))
}

/// Builds the discipline that is declared as `info`, in the registry or outside.
pub fn build(info: &'static Info, params: &Params, link: &Link) -> Built {
    (info.build)(Blueprint { info, params, link, build_child })
}

fn build_child(child: &Child, link: &Link) -> Built {
    build(of(child), &child.params, link)
}

/// Whether a child, at any depth, asks for wake-ups.
pub fn wakes(child: &Child) -> bool {
    of(child).traits.wakes || child.params.all_children().any(wakes)
}

/// Whether a child, at any depth, reorders packets of a flow.
pub fn reorders(child: &Child) -> bool {
    of(child).traits.reorders_within_flow || child.params.all_children().any(reorders)
}

fn of(child: &Child) -> &'static Info {
    find(child.name).expect("children are read by the names of this list")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_preset_of_linux_sets_something_or_says_that_the_defaults_are_linux_s() {
        for info in DISCIPLINES {
            for preset in info.presets.iter().filter(|preset| preset.name == "linux") {
                let says = preset.source.contains("the defaults are Linux's");
                assert!(preset.values.is_empty() == says, "{}: {}", info.name, preset.source);
            }
        }
    }

    #[test]
    fn a_preset_of_linux_names_the_functions_or_the_prototype_that_it_follows() {
        for info in DISCIPLINES {
            for preset in info.presets.iter().filter(|preset| preset.name == "linux") {
                let names = ["()", "prototype"].iter().any(|word| preset.source.contains(word));
                assert!(names, "{}: {}", info.name, preset.source);
            }
        }
    }
}
