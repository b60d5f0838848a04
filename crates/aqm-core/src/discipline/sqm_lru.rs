//! # What it does
//! Two queues, each with a discipline of its own: the packets of non-responsive long-term fast flows, as M-LRU behind a
//! shadow queue reports them, go into the low one, all others into the high one; a scheduler chooses between them.
//!
//! # Reference
//! P. Li, X. Jiang, G. Jin, J. Zhong: "SQM-LRU: A Harmony Dual-Queue Management Algorithm Based on Shadow Queue and
//! Improved LRU in Wide Area Network", Sensors 21(10):3568 (2021): algorithms 1 and 2, Table 1.
//!
//! # Parameters
//! See `aqmlab aqm show sqm_lru`. What the paper leaves open or contradicts is a parameter: `p_samp` (Table 1 has 0.3,
//! algorithm 1 has 0.4), `sampling` (algorithm 1 takes a set, equation 1 one entry), the units (Table 1 has room for 20
//! LTF flows where 60 are), the scheduler's weights, and everything about the queues inside.
//!
//! # Deviations
//! The assumptions on algorithm 1 are listed in `classifier::MLru`. The paper's RED and CoDel are "improved" without a word
//! on how: they are the plain ones. `limit` holds for both queues together, and each may fill it until the other needs
//! room: the paper's "queue size 100" is `limit 200p high [codel limit 100p] low [red limit 100p]`. The head of a queue waits outside its discipline for
//! its turn. A change of the classifier's parameters starts it anew.
//!
//! # Promises
//! Order kept within a flow while it is taken for the same: one that is reported, or forgotten, has packets in both
//! queues for a while, and they may overtake each other. Memory fixed by shadow queue and list, for any number of flows.
//! Random numbers: one per packet for the classifier, then the children's.

mod turns;

use super::classful::{self, Classful, Inside, LIMIT_OF_ALL, Layout};
use super::sharing::SHARING;
use super::{Blueprint, Built, Discipline, Group, Info, ProbeSpec, Traits};
use crate::backlog::Backlog;
use crate::classifier::{Classifier, FlowKind, MLru, Sampling, Settings};
use crate::cx::Cx;
use crate::packet::Packet;
use crate::params::{Each, Kind, ParamError, ParamSpec, Params, PerClass, Preset, Value};
use crate::units::{Size, Time};
use alloc::boxed::Box;
use alloc::string::ToString;
use alloc::vec;
use turns::{Order, Turns};

/// The registry entry.
pub static INFO: Info = Info {
    name: "sqm_lru",
    group: Group::Flow,
    summary: "SQM-LRU: heavy flows found by a shadow queue and M-LRU go into a queue of their own",
    reference: "Li et al., Sensors 21(10):3568 (2021)",
    params: &[
        LIMIT_OF_ALL.with_help("Limit of both queues together, in packets or bytes"),
        SHARING,
        HIGH,
        LOW,
        SCHEDULER,
        WEIGHT,
        SQ,
        P_SAMP,
        SAMPLING,
        P_LTH,
        CACHE,
        LTF_UNIT,
    ],
    presets: &[
        Preset { name: "printed", source: "Li et al. 2021, Table 1", values: &[] },
        Preset {
            name: "consistent",
            source: "as printed, with room for the 60 LTF flows of section 4.1: 60 and 20, the \"~80\" of section 4.5",
            values: &[("cache", Value::Count(80)), ("ltf_unit", Value::Count(60))],
        },
    ],
    probes: &[
        ProbeSpec { name: "kept_flows", unit: "flows", help: "Flows in M-LRU's list" },
        ProbeSpec { name: "reported_flows", unit: "flows", help: "Flows of the list that are reported" },
        classful::PROBES[0],
    ],
    traits: Traits {
        ecn: false,
        drops_queued: true,
        reorders_within_flow: true,
        quiet_packets: 0,
        ..classful::TRAITS
    },
    deviations: "assumptions on algorithm 1; plain RED and CoDel; one limit for both queues; heads wait outside their queues",
    build,
};

const HIGH: ParamSpec = ParamSpec::child(
    "high",
    "codel",
    "Discipline for flows that are not reported; its limit is that of both unless given",
    "Li et al. 2021 section 3.6: CoDel",
);

const LOW: ParamSpec = ParamSpec::child(
    "low",
    "red",
    "Discipline for flows that are reported; its limit is that of both unless given",
    "Li et al. 2021 section 3.6: RED",
);

const SCHEDULER: ParamSpec = ParamSpec::choice::<Order>(
    "scheduler",
    "Who goes next: high and low queue in turn by weights (wrr, drr, wfq, qfq), one by one, or high first",
    "Li et al. 2021 section 3.6: WRR",
);

const WEIGHT: ParamSpec = ParamSpec::new(
    "weight",
    Kind::PerClass(Each::Count),
    Value::PerClass(PerClass::of(Each::Count, &[1])),
    (1.0, 1000.0),
    "Weights of high and low queue: packets in a round (wrr), shares (drr, wfq, qfq)",
    "Li et al. 2021: without a value",
);

const SQ: ParamSpec = ParamSpec::new(
    "sq",
    Kind::Count,
    Value::Count(200),
    (1.0, 65_536.0),
    "Entries of the shadow queue",
    "Li et al. 2021 Table 1: 200",
);

const P_SAMP: ParamSpec = ParamSpec::new(
    "p_samp",
    Kind::Fraction,
    Value::Fraction(0.3),
    (0.0, 1.0),
    "Share of the shadow queue that a packet is compared with",
    "Li et al. 2021 Table 1: 30 %; algorithm 1: 0.4",
);

const SAMPLING: ParamSpec = ParamSpec::choice::<Sampling>(
    "sampling",
    "Compare with a set of p_samp x sq entries, or with one entry with probability p_samp",
    "Li et al. 2021 algorithm 1: a set; equation 1: one",
);

const P_LTH: ParamSpec = ParamSpec::new(
    "p_lth",
    Kind::Count,
    Value::Count(5),
    (0.0, 1e9),
    "Matched packets beyond which a flow is reported",
    "Li et al. 2021 Table 1: 5",
);

const CACHE: ParamSpec = ParamSpec::new(
    "cache",
    Kind::Count,
    Value::Count(50),
    (2.0, 65_536.0),
    "Flows in M-LRU's list: those of both units",
    "Li et al. 2021 Table 1: 50; algorithm 1: 200",
);

const LTF_UNIT: ParamSpec = ParamSpec::new(
    "ltf_unit",
    Kind::Count,
    Value::Auto,
    (1.0, 65_535.0),
    "Those of the list that are for reported flows; the rest is for others",
    "Li et al. 2021 Table 1: 20 of 50",
)
.or_auto("two fifths of cache");

const LAYOUT: Layout = Layout {
    classes: |params| {
        let queue =
            |name: &'static str| Inside::new(params, name.to_string(), (name, None), params.child(name));
        vec![queue("high"), queue("low")]
    },
    counted: "",
    priomap: None,
    by_class: false,
    by_station: false,
};

fn settings(params: &Params) -> Result<Settings, ParamError> {
    let count = |name| params.count(name) as u32;
    let cache = count("cache");
    let ltf_unit = match params.get("ltf_unit") {
        Value::Auto => (cache * 2 / 5).max(1),
        _ => count("ltf_unit"),
    };
    if ltf_unit >= cache {
        return Err(ParamError::relation(
            "ltf_unit",
            ltf_unit,
            format_args!("must be below cache, which is {cache}"),
        ));
    }
    Ok(Settings {
        sq: count("sq"),
        p_samp: params.number("p_samp"),
        sampling: params.choice("sampling"),
        p_lth: count("p_lth"),
        ltf_unit,
        responsive_unit: cache - ltf_unit,
    })
}

/// The parameters of the classifier.
pub const CLASSIFIER: &[&str] = &["sq", "p_samp", "sampling", "p_lth", "cache", "ltf_unit"];

/// The classifier alone.
pub fn classifier(params: &Params) -> Result<MLru, ParamError> {
    settings(params).map(|settings| MLru::new(&settings))
}

struct SqmLru {
    classifier: MLru,
    settings: Settings,
    queues: Classful<Turns>,
}

fn build(blueprint: Blueprint<'_>) -> Built {
    let settings = settings(blueprint.params)?;
    let turns = Turns::new(blueprint.params);
    let queues = Classful::of(LAYOUT, blueprint, turns, Turns::adopt)?;
    Ok(Box::new(SqmLru { classifier: MLru::new(&settings), settings, queues }))
}

impl Discipline for SqmLru {
    #[inline]
    fn enqueue(&mut self, packet: Packet, cx: &mut Cx<'_>) {
        let queue = match cx.classify(&packet, &mut self.classifier) {
            FlowKind::Responsive => 0,
            FlowKind::Ltf => 1,
        };
        self.queues.enqueue_in(queue, packet, cx);
    }

    #[inline]
    fn dequeue(&mut self, cx: &mut Cx<'_>) -> Option<Packet> {
        self.queues.dequeue(cx)
    }

    fn evict(&mut self, cx: &mut Cx<'_>) -> Option<Packet> {
        self.queues.evict(cx)
    }

    fn backlog(&self) -> Backlog {
        self.queues.backlog()
    }

    fn parts_limit(&self) -> Option<Size> {
        self.queues.parts_limit()
    }

    fn change(&mut self, params: &Params, cx: &mut Cx<'_>) -> Result<(), ParamError> {
        let settings = settings(params)?;
        self.queues.change(params, cx)?;
        // Another scheduler does not know yet where packets wait.
        self.queues.activate_all();
        if settings != self.settings {
            (self.classifier, self.settings) = (MLru::new(&settings), settings);
        }
        Ok(())
    }

    fn purge(&mut self, cx: &mut Cx<'_>) {
        self.queues.purge(cx);
    }

    fn next_wakeup(&self) -> Option<Time> {
        self.queues.next_wakeup()
    }

    fn on_wakeup(&mut self, cx: &mut Cx<'_>) {
        self.queues.on_wakeup(cx);
    }

    fn probe(&self, now: Time, sink: &mut dyn FnMut(&str, f64)) {
        let (kept, reported) = self.classifier.flows();
        sink("kept_flows", kept as f64);
        sink("reported_flows", reported as f64);
        self.queues.probe(now, sink);
    }

    fn children(&self, visit: &mut dyn FnMut(&str, &dyn Discipline)) {
        self.queues.children(visit);
    }

    fn state_bytes(&self) -> usize {
        let own = size_of::<SqmLru>() - size_of::<Classful<Turns>>();
        own + self.classifier.bytes() + self.queues.scheduler().bytes() + self.queues.state_bytes()
    }
}

#[cfg(test)]
mod tests;
