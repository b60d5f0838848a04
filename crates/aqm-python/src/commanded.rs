//! The discipline of an environment that decides about drops.

use aqm_core::backlog::Backlog;
use aqm_core::cx::Cx;
use aqm_core::discipline::{Blueprint, Built, Discipline, Group, Info, LIMIT, Traits};
use aqm_core::packet::Packet;
use aqm_core::params::{Kind, ParamError, ParamSpec, Params, Preset, Value};
use aqm_core::queue::Fifo;
use aqm_core::signal::{DropReason, MarkReason};
use aqm_core::units::Size;

/// Its name.
pub(crate) const NAME: &str = "commanded";

/// It signals with the probability that is set.
pub(crate) static INFO: Info = Info {
    name: NAME,
    group: Group::QueueLength,
    summary: "Signals with the probability that an environment chooses",
    reference: "aqmlab.environments",
    params: &[LIMIT, PROBABILITY],
    presets: &[Preset { name: "none", source: "aqmlab.environments", values: &[] }],
    probes: &[],
    traits: Traits {
        wakes: false,
        ecn: true,
        drops_queued: false,
        reorders_flows: false,
        reorders_within_flow: false,
        quiet_packets: 0,
        flow_state_bytes: 0,
    },
    deviations: "none",
    build: |Blueprint { params, .. }| -> Built {
        Ok(Box::new(Commanded {
            queue: Fifo::default(),
            limit: limit(params),
            probability: probability(params),
        }))
    },
};

const PROBABILITY: ParamSpec = ParamSpec::new(
    "probability",
    Kind::Fraction,
    Value::Fraction(0.0),
    (0.0, 1.0),
    "Share of arriving packets that are marked or dropped",
    "aqmlab.environments",
);

struct Commanded {
    queue: Fifo,
    limit: Size,
    probability: f64,
}

fn limit(params: &Params) -> Size {
    params.size(LIMIT.name).expect("limit has no auto")
}

fn probability(params: &Params) -> f64 {
    params.number(PROBABILITY.name)
}

impl Discipline for Commanded {
    fn enqueue(&mut self, mut packet: Packet, cx: &mut Cx<'_>) {
        if self.queue.backlog().would_exceed(self.limit, packet.length) {
            return cx.drop(packet, DropReason::Overlimit);
        }
        if cx.uniform() < self.probability && !cx.mark(&mut packet, MarkReason::Congestion) {
            return cx.drop(packet, DropReason::Congestion);
        }
        self.queue.push(packet);
    }

    fn dequeue(&mut self, _cx: &mut Cx<'_>) -> Option<Packet> {
        self.queue.pop()
    }

    fn backlog(&self) -> Backlog {
        self.queue.backlog()
    }

    fn change(&mut self, params: &Params, cx: &mut Cx<'_>) -> Result<(), ParamError> {
        (self.limit, self.probability) = (limit(params), probability(params));
        self.queue.trim(self.limit, cx);
        Ok(())
    }

    fn purge(&mut self, cx: &mut Cx<'_>) {
        self.queue.purge(cx);
    }

    fn state_bytes(&self) -> usize {
        size_of::<Commanded>()
    }
}
