//! Algorithms 1 and 2: the share test in front of the queue, PIE's controller behind it.

use super::assumptions::{AlphaDelay, CountAt, CountUnit, EqualShare, GateDelay, QuietRate, Rule, Updates};
use crate::cx::Cx;
use crate::discipline::Discipline;
use crate::discipline::pie;
use crate::discipline::single::{Gate, Single};
use crate::law::pie::{Ns3, Params as Law, QueueState, State};
use crate::law::{Pi, Shares};
use crate::link::Link;
use crate::packet::Packet;
use crate::params::{ParamError, Params};
use crate::queue::Fifo;
use crate::signal::{DropReason, MarkReason};
use crate::sketch::{Sketch, SketchKind};
use crate::units::{Size, Span, Time};
use alloc::boxed::Box;
use core::cmp::Ordering;

/// The settings.
struct Settings {
    limit: Size,
    law: Law,
    /// How a share that is dropped compares with the threshold.
    unfair: Ordering,
    equal_drops: bool,
    small_flows_use_p: bool,
    guard: bool,
    /// Eq. 3 as printed: alpha weighs the delay of the last period.
    alpha_on_old: bool,
    /// Algorithm 1 as printed: while at most this many bytes wait, a period leaves the probability as it is.
    update_above: Option<u64>,
    /// Congestion is judged by the delay after the last departure, not by that of the last period.
    judge_departures: bool,
    /// Eq. 6 as printed: the average departure rate outlives quiet periods.
    keeps_rate: bool,
    count_on_arrival: bool,
    count_bytes: bool,
    clear_period: Span,
    ecn: bool,
}

/// The law over a sketch of kind `S`: each kind is compiled separately, so that none pays for the others.
pub(super) struct SPie<S> {
    settings: Settings,
    kind: SketchKind,
    state: State,
    /// PIE is ns-3.27's, in which the paper was simulated.
    ns3: Ns3,
    /// The delay after the last departure, seconds; only kept if congestion is judged by it.
    left_behind: f64,
    sketch: S,
    shares: Shares,
    clear_at: Time,
    link: Link,
}

/// Counters per row, and rows.
fn sketch_size(params: &Params) -> (u32, u32) {
    (params.count("width") as u32, params.count("depth") as u32)
}

fn settings(params: &Params, link: &Link) -> Settings {
    let estimator = pie::estimator(params);
    let above_threshold = params.choice::<Updates>("updates") == Updates::AboveThreshold;
    Settings {
        limit: params.size("limit").expect("limit has no auto"),
        law: Law { estimator: Some(estimator), ..pie::common(params, &pie::MARK_THRESHOLD, link) },
        unfair: match params.choice("rule") {
            Rule::Text => Ordering::Greater,
            Rule::Algorithm2 => Ordering::Less,
        },
        equal_drops: params.choice::<EqualShare>("equal_share") == EqualShare::Drop,
        small_flows_use_p: params.flag("small_flows_use_p"),
        guard: params.flag("guard"),
        alpha_on_old: params.choice::<AlphaDelay>("alpha_delay") == AlphaDelay::Old,
        update_above: above_threshold.then_some(estimator.threshold),
        judge_departures: params.choice::<GateDelay>("gate_delay") == GateDelay::Departure,
        keeps_rate: params.choice::<QuietRate>("quiet_rate") == QuietRate::Keep,
        count_on_arrival: params.choice::<CountAt>("count_at") == CountAt::Enqueue,
        count_bytes: params.choice::<CountUnit>("count_unit") == CountUnit::Bytes,
        clear_period: params.span("clear_period"),
        ecn: params.flag("ecn"),
    }
}

impl Settings {
    /// Eq. 3: alpha weighs the current delay, as its text says, or the last one, as printed.
    fn eq_3(&self, qdelay: f64, old: f64) -> f64 {
        let Pi { target, alpha, beta } = self.law.pi;
        let weighed = if self.alpha_on_old { old } else { qdelay };
        alpha * (weighed - target) + beta * (qdelay - old)
    }
}

impl<S: Sketch + 'static> SPie<S> {
    /// A queue behind this law.
    pub(super) fn boxed(params: &Params, link: &Link) -> Box<dyn Discipline> {
        let settings = settings(params, link);
        let (width, depth) = sketch_size(params);
        let gate = SPie {
            kind: params.choice("sketch"),
            state: Ns3::start(&settings.law),
            ns3: Ns3::default(),
            left_behind: 0.0,
            clear_at: Time::ZERO + settings.clear_period,
            settings,
            sketch: S::new(width, depth),
            shares: Shares::default(),
            link: *link,
        };
        Single::boxed(params, gate)
    }

    /// Algorithm 2 from line 4 on: the reason to drop `packet`, if there is one.
    #[inline]
    fn decide(&mut self, packet: &Packet, seen: QueueState, cx: &mut Cx<'_>) -> Option<DropReason> {
        let Settings { law, small_flows_use_p, guard, .. } = &self.settings;
        self.ns3.begin_burst(law, &mut self.state);
        if *guard && Ns3::short(seen) {
            return None;
        }
        let congested = self.qdelay() >= law.pi.target / 3.0;
        if congested && self.unfair(packet.flow) {
            return Some(DropReason::Unfair);
        }
        let chance = (!congested || *small_flows_use_p) && self.state.burst_allowance() == Span::ZERO;
        let hit = chance && cx.uniform() < self.state.drop_prob();
        hit.then_some(DropReason::Congestion)
    }

    /// The delay by which congestion is judged (`del_cur` of line 4), seconds.
    #[inline]
    fn qdelay(&self) -> f64 {
        if self.settings.judge_departures { self.left_behind } else { self.state.qdelay() }
    }

    /// Eqs. 7 to 9 and line 12.
    #[inline]
    fn unfair(&self, flow: u64) -> bool {
        let share = self.shares.compare(self.sketch.query(flow));
        // While nothing is counted, no flow has a share that could reach the threshold.
        let equal = || share == Ordering::Equal && self.settings.equal_drops && self.shares.count() > 0;
        share == self.settings.unfair || equal()
    }

    /// Lines 7 and 8 (16 and 17), or section 3.2 at dequeue.
    #[inline]
    fn count(&mut self, packet: &Packet) {
        let value = if self.settings.count_bytes { packet.length } else { 1 };
        let before = self.sketch.add(packet.flow, value);
        self.shares.add(before, value);
    }

    /// Starts counting again at the latest multiple of the period.
    #[cold]
    fn clear(&mut self, now: Time) {
        self.sketch.clear();
        self.shares = Shares::default();
        let period = self.settings.clear_period.as_nanos();
        self.clear_at = Time::from_nanos((now.as_nanos() / period + 1).saturating_mul(period));
    }
}

impl<S: Sketch + 'static> Gate for SPie<S> {
    #[inline]
    fn admit(&mut self, mut packet: Packet, queue: &Fifo, cx: &mut Cx<'_>) -> Option<Packet> {
        if cx.now >= self.clear_at {
            self.clear(cx.now);
        }
        let seen = pie::seen(queue.backlog(), self.settings.limit);
        if let Some(reason) = self.decide(&packet, seen, cx) {
            // RFC 8033 section 5.1: above the threshold, packets are dropped, since senders may ignore marks.
            let marks = self.settings.ecn && self.state.drop_prob() <= self.settings.law.mark_threshold;
            if !(marks && cx.mark(&mut packet, MarkReason::Congestion)) {
                cx.drop(packet, reason);
                return None;
            }
        }
        if self.settings.count_on_arrival {
            self.count(&packet);
        }
        Some(packet)
    }

    #[inline]
    fn release(&mut self, queue: &mut Fifo, cx: &mut Cx<'_>) -> Option<Packet> {
        let packet = queue.pop()?;
        let (law, bytes_left) = (&self.settings.law, queue.backlog().bytes);
        Ns3::depart(law, &mut self.state, &packet, bytes_left, cx.now);
        if self.settings.judge_departures {
            self.left_behind = Ns3::current_qdelay(law, &self.state, bytes_left);
        }
        if !self.settings.count_on_arrival {
            if cx.now >= self.clear_at {
                self.clear(cx.now);
            }
            self.count(&packet);
        }
        Some(packet)
    }

    fn change(&mut self, params: &Params, cx: &mut Cx<'_>) -> Result<(), ParamError> {
        if params.choice::<SketchKind>("sketch") != self.kind {
            return Err(ParamError::relation("sketch", params.get("sketch"), "cannot change while running"));
        }
        let before = core::mem::replace(&mut self.settings, settings(params, &self.link));
        self.settings.law.adopt(&mut self.state, &before.law, cx.now);
        if self.settings.judge_departures && !before.judge_departures {
            self.left_behind = self.state.qdelay();
        }
        let (width, depth) = sketch_size(params);
        let resized = (width, depth) != self.sketch.size();
        if resized {
            self.sketch = S::new(width, depth);
        }
        // Counts in another unit, or of another event, are useless.
        let recount = before.count_bytes != self.settings.count_bytes
            || before.count_on_arrival != self.settings.count_on_arrival;
        if resized || recount || before.clear_period != self.settings.clear_period {
            self.clear(cx.now);
        }
        Ok(())
    }

    #[inline]
    fn next_wakeup(&self) -> Option<Time> {
        self.state.due()
    }

    fn on_wakeup(&mut self, queue: &Fifo, cx: &mut Cx<'_>) {
        let SPie { settings, state, ns3, .. } = self;
        let bytes = queue.backlog().bytes;
        state.catch_up(settings.law.tupdate, cx.now, |state| {
            if settings.update_above.is_none_or(|threshold| bytes > threshold) {
                ns3.calculate_p_by(&settings.law, state, bytes, settings.keeps_rate, |qdelay, old| {
                    settings.eq_3(qdelay, old)
                });
            }
        });
    }

    fn probe(&self, _queue: &Fifo, sink: &mut dyn FnMut(&str, f64)) {
        pie::probe(&self.state, self.qdelay(), sink);
        sink("share_threshold", self.shares.threshold());
        sink("counted", self.shares.count() as f64);
    }

    fn table_bytes(&self) -> usize {
        self.sketch.bytes()
    }
}
