//! RED in each queue of SFQ: Linux's `redflowlimit` (`sfq_enqueue()` of net/sched/sch_sfq.c, tc-sfq(8)).

use super::red;
use crate::cx::Cx;
use crate::law::Verdict;
use crate::law::idle::Idle;
use crate::law::red::{Params as Law, Shape, State};
use crate::packet::Packet;
use crate::params::{Kind, ParamError, ParamSpec, Params, Value};
use crate::signal::MarkReason;
use crate::units::{Bytes, Size, Span, Time};
use alloc::vec;
use alloc::vec::Vec;

pub(super) const REDFLOWLIMIT: ParamSpec = ParamSpec::new(
    "redflowlimit",
    Kind::Bytes,
    Value::Auto,
    (1.0, 1e12),
    "RED in each queue, whose thresholds follow from this: those below have an effect with it alone",
    "tc-sfq(8): off",
)
.or_auto("no RED");

pub(super) const MIN: ParamSpec = ParamSpec::new(
    "min",
    Kind::Bytes,
    Value::Auto,
    (1.0, 1e12),
    "Average of a queue below which RED drops nothing",
    "tc-sfq(8): max/3",
)
.or_auto("a third of max");

pub(super) const MAX: ParamSpec = ParamSpec::new(
    "max",
    Kind::Bytes,
    Value::Auto,
    (1.0, 1e12),
    "Average of a queue from which on RED drops every packet",
    "tc-sfq(8): redflowlimit/4",
)
.or_auto("a quarter of redflowlimit");

pub(super) const PROBABILITY: ParamSpec = ParamSpec::new(
    "probability",
    Kind::Fraction,
    Value::Fraction(0.02),
    (0.0, 1.0),
    "Drop probability at max",
    "tc-sfq(8): 0.02",
);

pub(super) const AVPKT: ParamSpec = ParamSpec::new(
    "avpkt",
    Kind::Bytes,
    Value::Bytes(Bytes::new(1000)),
    (1.0, 1e6),
    "Mean packet, by which the weight follows from burst",
    "tc-sfq(8): 1000",
);

pub(super) const BURST: ParamSpec = ParamSpec::new(
    "burst",
    Kind::Count,
    Value::Auto,
    (1.0, 1e6),
    "Packets of avpkt that may arrive at an empty queue before the average reaches min; the weight follows from it",
    "tc-sfq(8): (2 min + max) / (3 avpkt)",
)
.or_auto("(2 min + max) / (3 avpkt)");

pub(super) const W: ParamSpec = ParamSpec::new(
    "w",
    Kind::Fraction,
    Value::Auto,
    (1e-9, 1.0),
    "Weight of a sample in the average; tc prints its logarithm as ewma",
    "iproute2 tc_red.c: from burst",
)
.or_auto("from burst, as tc derives it");

pub(super) const ECN: ParamSpec =
    ParamSpec::flag("ecn", false, "RED marks ECN-capable packets instead of dropping them", "tc-sfq(8): off");

pub(super) const HARDDROP: ParamSpec =
    ParamSpec::flag("harddrop", false, "From max on, drop ECN-capable packets too", "tc-sfq(8): off");

/// RED over the queues of one SFQ.
pub(super) struct FlowRed {
    law: Law,
    ecn: bool,
    harddrop: bool,
    states: Vec<State>,
}

/// What is to become of an arriving packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Enters,
    /// It is dropped, or with headdrop the oldest of its queue.
    Drop,
}

impl FlowRed {
    /// As `params` have it, for so many queues; `None` without `redflowlimit`.
    pub(super) fn read(params: &Params, queues: usize) -> Result<Option<FlowRed>, ParamError> {
        let bytes = |name| params.bytes(name).map(Bytes::as_u64);
        let Some(limit) = bytes("redflowlimit") else { return Ok(None) };
        let max = bytes("max").unwrap_or(limit / 4);
        let min = bytes("min").unwrap_or(max / 3);
        if max > limit {
            let problem = format_args!("is larger than redflowlimit, which is {}", Bytes::new(limit));
            return Err(ParamError::relation("max", Bytes::new(max), problem));
        }
        if min > max {
            let problem = format_args!("must be at most max, which is {}", Bytes::new(max));
            return Err(ParamError::relation("min", Bytes::new(min), problem));
        }
        let law = Law {
            min: min as f64,
            max: max as f64,
            max_p: params.number("probability"),
            weight: red::weight(params, Size::Bytes(min), Size::Bytes(max))?,
            shape: Shape::Linear,
            gentle: false,
            wait: false,
            mean_packet: None,
            // `red_calc_qavg_no_idle_time()`: an empty queue has no average.
            packet_time: Span::ZERO,
            idle: Idle::Ns3,
        };
        let states = vec![State::default(); queues];
        Ok(Some(FlowRed { law, ecn: params.flag("ecn"), harddrop: params.flag("harddrop"), states }))
    }

    /// Takes the averages of `before`, whose parameters were others.
    pub(super) fn adopt(&mut self, before: FlowRed) {
        self.states = before.states;
    }

    /// A packet joins queue `number`, which holds `bytes`, after the hash has changed: the average follows, from its start on.
    pub(super) fn rejoin(&mut self, number: usize, bytes: u64, now: Time) {
        if bytes == 0 {
            self.states[number] = State::default();
        }
        self.law.sample(&mut self.states[number], bytes, now);
    }

    /// Judges a packet that arrives at queue `number`, which holds `bytes`: marks it, or before it the oldest, if that is given.
    pub(super) fn arrive(
        &mut self,
        number: usize,
        bytes: u64,
        oldest: Option<&mut Packet>,
        packet: &mut Packet,
        cx: &mut Cx<'_>,
    ) -> Fate {
        if bytes == 0 {
            // An empty queue restarts.
            self.states[number] = State::default();
            return Fate::Enters;
        }
        self.law.sample(&mut self.states[number], bytes, cx.now);
        let verdict = self.law.decide(&mut self.states[number], packet.length, || cx.uniform());
        let marks = match verdict {
            Verdict::Admit => return Fate::Enters,
            Verdict::Signal => self.ecn,
            Verdict::Drop => self.ecn && !self.harddrop,
        };
        let is_marked = marks
            && (oldest.is_some_and(|oldest| cx.mark(oldest, MarkReason::Congestion))
                || cx.mark(packet, MarkReason::Congestion));
        if is_marked { Fate::Enters } else { Fate::Drop }
    }

    /// Bytes of state beyond the settings.
    pub(super) fn state_bytes(&self) -> usize {
        size_of::<FlowRed>() + self.states.len() * size_of::<State>()
    }
}
