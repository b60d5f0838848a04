//! What LRU-RED and Landmark LRU share: one queue under RED that spares the packets of flows that are not reported.

use super::red::{self, Red};
use super::{Discipline, ProbeSpec, Traits};
use crate::backlog::Backlog;
use crate::classifier::{Classifier, FlowKind};
use crate::cx::Cx;
use crate::link::Link;
use crate::packet::Packet;
use crate::params::{Kind, ParamError, ParamSpec, Params, Value};
use crate::units::Time;
use alloc::boxed::Box;
use alloc::vec::Vec;

pub(super) const CACHE: ParamSpec = ParamSpec::new(
    "cache",
    Kind::Count,
    Value::Count(500),
    (1.0, 65_536.0),
    "Flows in the list",
    "Li et al. 2021 section 4.2: 500 in the comparison",
);

pub(super) const THRESHOLD: ParamSpec = ParamSpec::new(
    "threshold",
    Kind::Count,
    Value::Count(5),
    (0.0, 1e9),
    "Packets beyond which a flow is reported",
    "Li et al. 2021: \"pre-defined\"; p_lth of SQM-LRU",
);

pub(super) const PROBES: &[ProbeSpec] = &[
    red::AVERAGE_QUEUE,
    red::DROP_PROBABILITY,
    ProbeSpec { name: "kept_flows", unit: "flows", help: "Flows in the classifier's list" },
    ProbeSpec { name: "reported_flows", unit: "flows", help: "Flows of the list that are reported" },
];

/// RED's: the queue is RED's, and the list is fixed.
pub(super) const TRAITS: Traits = red::TRAITS;

/// How parameters make a classifier.
pub(super) struct Make<C> {
    pub(super) new: fn(&Params) -> C,
    /// The parameters that it depends on.
    pub(super) of: &'static [&'static str],
}

impl<C> Make<C> {
    fn values(&self, params: &Params) -> Vec<Value> {
        self.of.iter().map(|name| params.get(name).clone()).collect()
    }
}

/// A queue under RED with a classifier before it.
pub(super) struct Reported<C> {
    red: Red,
    classifier: C,
    make: Make<C>,
    values: Vec<Value>,
}

impl<C: Classifier + 'static> Reported<C> {
    pub(super) fn boxed(
        params: &Params,
        link: &Link,
        make: Make<C>,
    ) -> Result<Box<dyn Discipline>, ParamError> {
        let red = Red::new(params, link, red::settings)?;
        Ok(Box::new(Reported { red, classifier: (make.new)(params), values: make.values(params), make }))
    }
}

impl<C: Classifier> Discipline for Reported<C> {
    #[inline]
    fn enqueue(&mut self, packet: Packet, cx: &mut Cx<'_>) {
        self.red.sample(cx.now);
        match cx.classify(&packet, &mut self.classifier) {
            FlowKind::Ltf => self.red.admit(packet, cx),
            FlowKind::Responsive => self.red.spare(packet, cx),
        }
    }

    #[inline]
    fn dequeue(&mut self, cx: &mut Cx<'_>) -> Option<Packet> {
        self.red.dequeue(cx)
    }

    fn backlog(&self) -> Backlog {
        self.red.backlog()
    }

    fn change(&mut self, params: &Params, cx: &mut Cx<'_>) -> Result<(), ParamError> {
        self.red.change(params, cx)?;
        let values = self.make.values(params);
        if values != self.values {
            // A list of another kind cannot take the old one's flows over.
            self.classifier = (self.make.new)(params);
            self.values = values;
        }
        Ok(())
    }

    fn purge(&mut self, cx: &mut Cx<'_>) {
        self.red.purge(cx);
    }

    fn probe(&self, now: Time, sink: &mut dyn FnMut(&str, f64)) {
        self.red.probe(now, sink);
        let (kept, reported) = self.classifier.flows();
        sink("kept_flows", kept as f64);
        sink("reported_flows", reported as f64);
    }

    fn state_bytes(&self) -> usize {
        size_of::<Reported<C>>() + self.values.len() * size_of::<Value>() + self.classifier.bytes()
    }
}
