//! From accumulated measurements to the named metrics of the contract.

use super::completion::{self, Watched};
use super::{air, shares};
use crate::endpoint::flow::{Flow, Label};
use crate::measure::classified::{OF_FLOWS, OF_PACKETS};
use crate::measure::metrics::{FlowMetrics, Metrics, Share};
use crate::measure::port::PortMetrics;
use crate::metrics::registry::*;
use crate::network::graph::{Capacity, Queue};
use crate::network::port::PortId;
use crate::report::{FlowRow, QueueRow, Report, RunError};
use crate::simulation::build::Setup;
use crate::simulation::state::User;
use crate::simulation::switches::SwitchTotals;
use crate::traffic::action::Wait;
use crate::traffic::durations::Durations;
use crate::traffic::player::Viewing;
use crate::traffic::voice;
use aqm_core::packet::Ecn;
use aqm_core::units::{Span, Time};
use aqm_io::histogram::Histogram;
use std::collections::BTreeMap;

/// Reports everything that the run has measured, and checks it.
pub(crate) fn report(setup: Setup, end: Time) -> Result<Report, RunError> {
    let Setup { mut simulation, labels, warnings } = setup;
    // They have seen the run: what is emptied below is no part of it.
    let observers = std::mem::take(&mut simulation.shared.metrics.observers);
    let metrics = &simulation.shared.metrics;
    let devices = simulation.measured.iter().filter_map(|&port| simulation.ports[port].device());
    let mut on_the_way = vec![0; metrics.groups.len()];
    for packet in simulation.shared.slab.iter().filter(|packet| packet.is_counted()) {
        let share = &metrics.shares[packet.flow as usize];
        on_the_way[share.group as usize] += u64::from(!share.back);
    }
    let run = Run {
        end,
        ports: devices.filter_map(|device| device.observed.metrics.as_deref()).collect(),
        metrics,
        one_way: metrics.one_way(),
        on_the_way: &on_the_way,
        flows: &simulation.flows,
        users: &simulation.users,
        labels: &labels,
        seconds: metrics.seconds(end),
        overhead: simulation.overhead,
    };

    let mut report = Report { warnings, events: simulation.handled(), ..Report::default() };
    run.flow_metrics(&mut report, &Part::WHOLE, |_| true);
    run.feedback_metrics(&mut report);
    run.telemetry_metrics(&mut report);
    for mut observer in observers {
        observer.report(&mut report, end);
    }
    for (number, port) in run.ports.iter().enumerate() {
        let channel = simulation.ports[simulation.measured[number]].device().and_then(|own| own.channel);
        let channel = channel.map(|channel| &simulation.channels[channel as usize]);
        let on_air = channel.and_then(|channel| air::busy_share(channel, metrics.since(), end));
        if number == 0 {
            run.queue_metrics(&mut report, &Part::WHOLE, port, on_air);
        }
        if run.ports.len() > 1 {
            run.queue_metrics(&mut report, &port.part, port, on_air);
            run.port_metrics(&mut report, &port.part, port, |_| true);
        }
    }
    for (number, group) in metrics.groups.iter().enumerate() {
        run.flow_metrics(&mut report, &group.part, |index| index == number);
    }
    report.flows = run.rows();
    report.warnings.extend(run.failures());
    let links = &simulation.network.links;
    let rates = links.iter().all(|link| matches!(link.capacity, Capacity::Rate(_)));
    let delays = links.iter().all(|link| link.least_delay() == link.delay);
    shares::check(&report, rates && delays, delays)?;
    air::report(&mut report, &simulation.channels, metrics.since(), end);
    report.metrics.keep_finite();
    if let Some(switches) = &simulation.shared.switches {
        let name = |port: PortId| simulation.network.link_name(port);
        switch_metrics(&mut report, &switches.totals(end), name);
        report.warnings.extend(switches.misclassified().map(|port| {
            format!(
                "at {}: the program puts flow-controlled packets into another class than their sender's, so pauses miss the sender",
                name(port)
            )
        }));
        report.warnings.extend(switches.deadlock().map(|(at, circle)| {
            let ports: Vec<String> = circle.iter().map(|port| name(*port)).collect();
            let (at, ports) = (at.as_secs_f64(), ports.join(", "));
            format!("deadlock of flow control, seen at {at}s: {ports} wait for each other permanently")
        }));
    }
    for &number in &simulation.devices {
        if let (Some(device), Queue::Discipline { spec, .. }) =
            (simulation.ports[number].device(), &simulation.network.links[number].queue)
        {
            let counters = device.qdisc.counters();
            // What the switch refused arrived at the port, but not at the discipline.
            let switches = simulation.shared.switches.as_ref();
            let refused = switches.map(|switches| switches.refused(number)).unwrap_or_default();
            let filtered = switches.map(|switches| switches.filtered(number)).unwrap_or_default();
            report.queues.push(QueueRow {
                link: simulation.network.link_name(number),
                discipline: spec.to_string(),
                arrived: counters.arrived + refused.packets + filtered.packets,
                arrived_bytes: counters.arrived_bytes + refused.bytes + filtered.bytes,
                departed: counters.departed,
                departed_bytes: counters.departed_bytes,
                dropped_early: counters.dropped_early() + filtered.packets,
                dropped_overflow: counters.lost() - counters.dropped_early() + refused.packets,
                ack_drops: counters.filtered(),
                marked: counters.marked + switches.map_or(0, |switches| switches.marked(number)),
                backlog: device.qdisc.backlog().packets,
            });
        }
    }
    report.bottleneck_packets = report.queues.iter().map(|queue| queue.departed).sum();
    simulation.check_emptied()?;
    report.series = simulation.shared.metrics.series.into();
    Ok(report)
}

/// Finite flows of some sizes, and the mean of their slowdown.
static SIZE_CLASSES: [(&Distribution, &Metric); 4] = [
    (&SLOWDOWN, &SLOWDOWN_MEAN),
    (&SLOWDOWN_SMALL, &SLOWDOWN_SMALL_MEAN),
    (&SLOWDOWN_MEDIUM, &SLOWDOWN_MEDIUM_MEAN),
    (&SLOWDOWN_LARGE, &SLOWDOWN_LARGE_MEAN),
];

/// The metrics of a wait: the times, their mean, how many ended, and how many ended or were not over at the end of the
/// run, where that is known.
struct Waited(&'static Distribution, &'static Metric, &'static Metric, Option<&'static Metric>);

const fn waited(wait: Wait) -> Waited {
    match wait {
        Wait::Transfer => {
            Waited(&TRANSFER, &TRANSFER_MEAN_S, &TRANSFERS_COMPLETED, Some(&TRANSFERS_REQUESTED))
        }
        Wait::Rpc => Waited(&RPC_LATENCY, &RPC_LATENCY_MEAN_MS, &RPCS_COMPLETED, Some(&RPCS_REQUESTED)),
        Wait::Page => Waited(&PAGE_LOAD, &PAGE_LOAD_MEAN_S, &PAGES_COMPLETED, Some(&PAGES_REQUESTED)),
        Wait::Query => Waited(&QUERY, &QUERY_MEAN_MS, &QUERIES_COMPLETED, Some(&QUERIES_REQUESTED)),
        Wait::Exchange => Waited(&EXCHANGE, &EXCHANGE_MEAN_MS, &EXCHANGES_COMPLETED, None),
    }
}

/// Completion time of a flow over that in an empty network.
fn slowdown(flow: &Flow, label: &Label) -> Option<f64> {
    Some(flow.completion()?.as_secs_f64() / label.ideal?.as_secs_f64())
}

/// Puts the mean of `values`, and their percentiles by nearest rank, if there are any.
fn put_flows(
    report: &mut Report,
    part: &Part,
    of: &'static Distribution,
    mean: &Metric,
    mut values: Vec<f64>,
) {
    if values.is_empty() {
        return;
    }
    values.sort_by(f64::total_cmp);
    report.metrics.put(part, mean, values.iter().sum::<f64>() / values.len() as f64);
    for (metric, quantile) in of.percentiles() {
        let rank = (values.len() as f64 * quantile).ceil() as usize;
        report.metrics.put(part, metric, values[rank - 1]);
    }
}

/// Puts a histogram of durations and its percentiles.
fn put_histogram(report: &mut Report, part: &Part, of: &'static Distribution, histogram: &Histogram) {
    for (metric, quantile) in of.percentiles() {
        let ms = histogram.quantile_ms(quantile).unwrap_or(f64::NAN);
        report.metrics.put(part, metric, metric.unit.of_ms(ms));
    }
    report.histograms.insert(part.of(of.name), histogram.into());
}

/// What switches have done, if they have such options; `name` says what a port is called.
fn switch_metrics(report: &mut Report, totals: &SwitchTotals, name: impl Fn(PortId) -> String) {
    let (mut frames, mut time_s, mut lost, mut headroom) = (0, 0.0, totals.dropped, 0);
    for one in &totals.accounts {
        frames += one.xoff_frames;
        time_s += one.time_s;
        lost += one.lost;
        headroom = headroom.max(one.headroom);
        if one.headroom == 0 && one.time_s == 0.0 {
            continue;
        }
        let part = PORT.part(&format!("{}.p{}", name(one.port), one.priority));
        let mut put = |metric: &Metric, value: f64| report.metrics.put(&part, metric, value);
        put(&PAUSE_FRAMES, one.xoff_frames as f64);
        put(&RESUME_FRAMES, one.xon_frames as f64);
        put(&PAUSED_S, one.time_s);
        put(&PFC_HEADROOM_BYTES, one.headroom as f64);
        put(&PFC_HEADROOM_LIMIT_BYTES, one.headroom_limit as f64);
        put(&PFC_LOSSES, one.lost as f64);
    }
    let mut put = |metric: &Metric, value: f64| report.metrics.put(&Part::WHOLE, metric, value);
    if totals.is_controlled {
        put(&PAUSE_FRAMES, frames as f64);
        put(&PAUSED_S, time_s);
        put(&PFC_LOSSES, lost as f64);
        put(&PFC_HEADROOM_BYTES, headroom as f64);
    }
    if let Some(at) = totals.deadlock {
        put(&PFC_DEADLOCK_S, at.as_secs_f64());
    }
    if let Some(packets) = totals.filtered {
        put(&PROGRAM_DROPS, packets as f64);
    }
    if let Some((largest, refused)) = totals.buffers {
        put(&BUFFER_MAX_BYTES, largest as f64);
        put(&BUFFER_DROPS, refused as f64);
    }
}

/// One run while it is being reported.
struct Run<'a> {
    end: Time,
    /// The measured ports.
    ports: Vec<&'a PortMetrics>,
    metrics: &'a Metrics,
    /// One-way delays and their variation, by group.
    one_way: Vec<(Histogram, Histogram)>,
    /// Packets neither arrived nor lost, by group: they count in neither `lost` nor `delivered`.
    on_the_way: &'a [u64],
    flows: &'a [Flow],
    users: &'a [User],
    labels: &'a [Label],
    seconds: f64,
    /// Link-layer bytes of every packet.
    overhead: u32,
}

/// One flow of it.
struct OneFlow<'a> {
    metrics: &'a FlowMetrics,
    share: &'a Share,
    flow: &'a Flow,
    label: &'a Label,
}

impl Run<'_> {
    fn all_flows(&self) -> impl Iterator<Item = OneFlow<'_>> {
        let Metrics { flows, shares, .. } = self.metrics;
        let all = flows.iter().zip(shares).zip(self.flows).zip(self.labels);
        all.map(|(((metrics, share), flow), label)| OneFlow { metrics, share, flow, label })
    }

    /// INT headers read by endpoints, if there were any.
    fn telemetry_metrics(&self, report: &mut Report) {
        let telemetry = &self.metrics.telemetry;
        if telemetry.packets == 0 {
            return;
        }
        let mut put = |metric: &Metric, value: u64| report.metrics.put(&Part::WHOLE, metric, value as f64);
        put(&TELEMETRY_PACKETS, telemetry.packets);
        put(&TELEMETRY_HOPS, telemetry.hops);
        put(&TELEMETRY_QUEUE_MAX_PACKETS, telemetry.longest_queue.into());
    }

    /// Emissions of disciplines and programs, if there were any.
    fn feedback_metrics(&self, report: &mut Report) {
        let feedback = &self.metrics.feedback;
        if feedback.sent + feedback.delivered + feedback.unaddressed == 0 {
            return;
        }
        let mut put = |metric: &Metric, value: u64| report.metrics.put(&Part::WHOLE, metric, value as f64);
        put(&FEEDBACK_SENT, feedback.sent);
        put(&FEEDBACK_DELIVERED, feedback.delivered);
        put(&FEEDBACK_LOST, feedback.lost);
        put(&FEEDBACK_UNADDRESSED, feedback.unaddressed);
        put(&FEEDBACK_IGNORED, feedback.ignored);
    }

    /// Metrics of a queue and its link as a whole, as those of `part`. Where stations share the air, the use of the link is that
    /// of the air: a driver takes packets faster than they are sent.
    fn queue_metrics(&self, report: &mut Report, part: &Part, port: &PortMetrics, on_air: Option<f64>) {
        let (packets, bytes) = port.queue.means(self.seconds);
        let mut put = |metric: &Metric, value: f64| report.metrics.put(part, metric, value);
        let of_link = || port.utilization(self.metrics.since(), self.end, self.overhead);
        put(&UTILIZATION, on_air.unwrap_or_else(of_link));
        put(&QUEUE_MEAN_PACKETS, packets);
        put(&QUEUE_MEAN_BYTES, bytes);
        put(&QUEUE_MAX_PACKETS, port.queue.max_packets as f64);
        put(&DROPS_EARLY, port.signals.early as f64);
        put(&DROPS_OVERFLOW, port.signals.overflow as f64);
        if port.signals.filtered > 0 {
            put(&ACK_DROPS, port.signals.filtered as f64);
        }
        if let Some(classified) = &port.classified {
            let (packets, flows) = classified.confusions();
            for (metrics, shares) in [(&OF_PACKETS, packets.shares()), (&OF_FLOWS, flows.shares())] {
                metrics.iter().zip(shares).for_each(|(metric, share)| put(metric, share));
            }
            put(&CLASSIFIER_READS, classified.reads());
        }
    }

    /// Metrics of the flows at a port whose group `chosen` accepts, as those of `part`.
    fn port_metrics(
        &self,
        report: &mut Report,
        part: &Part,
        port: &PortMetrics,
        chosen: impl Fn(usize) -> bool + Copy,
    ) {
        let (totals, sojourn) = (port.totals(chosen), port.sojourn(chosen));
        let mut put = |metric: &Metric, value: f64| report.metrics.put(part, metric, value);
        put(&THROUGHPUT_MBIT, totals.throughput_mbit(self.seconds));
        put(&PACKETS_ARRIVED, totals.arrived as f64);
        put(&LOSS_RATIO, totals.loss_ratio());
        put(&MARKS, totals.marks as f64);
        put(&QDELAY_MEAN_MS, totals.qdelay_mean_ms());
        if let Some(classified) = &port.classified {
            let of_chosen =
                |flow: usize| port.flows.get(flow).is_some_and(|flow| chosen(flow.group as usize));
            put(&REPORTED_RATIO, classified.reported_ratio(of_chosen));
        }
        put_histogram(report, part, &QDELAY, &sojourn);
    }

    /// Metrics of the flows whose group `chosen` accepts, as those of `part`.
    fn flow_metrics(&self, report: &mut Report, part: &Part, chosen: impl Fn(usize) -> bool + Copy) {
        let flows = || self.all_flows().filter(move |one| chosen(one.share.group as usize));
        // Goodput counts the measured direction.
        let forward = || flows().filter(|one| !one.share.back);
        let mbit = |bytes: u64| bytes as f64 * 8.0 / 1e6 / self.seconds;
        let received = |value: fn(&FlowMetrics) -> u64| forward().map(|one| value(one.metrics)).sum::<u64>();
        let (delivered, lost) =
            (received(|flow| u64::from(flow.delivered)), received(|flow| u64::from(flow.lost)));
        let (mut owd, mut pdv) = (Histogram::default(), Histogram::default());
        for (_, group) in self.one_way.iter().enumerate().filter(|(group, _)| chosen(*group)) {
            owd.merge(&group.0);
            pdv.merge(&group.1);
        }

        let mut put = |metric: &Metric, value: f64| report.metrics.put(part, metric, value);
        put(&GOODPUT_MBIT, mbit(forward().map(|one| one.share.payload()).sum()));
        put(&PACKETS_DELIVERED, delivered as f64);
        put(&PATH_LOSS_RATIO, lost as f64 / (lost + delivered) as f64);
        let waiting = self.on_the_way.iter().enumerate().filter(|(group, _)| chosen(*group));
        let undelivered = lost + waiting.map(|(_, packets)| packets).sum::<u64>();
        put(&UNDELIVERED_RATIO, undelivered as f64 / (undelivered + delivered) as f64);
        let owd_ns: u128 = forward().map(|one| u128::from(one.metrics.owd_sum.as_nanos())).sum();
        put(&OWD_MEAN_MS, owd_ns as f64 / delivered as f64 / 1e6);
        let (ipdv_ns, pairs) = forward()
            .map(|one| one.metrics.ipdv_total())
            .fold((0, 0), |(sum, count), (span, n)| (sum + u128::from(span.as_nanos()), count + n));
        put(&JITTER_IPDV_MEAN_MS, ipdv_ns as f64 / pairs as f64 / 1e6);
        let (squares, freedom) = forward()
            .map(|one| (one.metrics.squares(), one.metrics.delivered.saturating_sub(1)))
            .fold((0.0, 0), |(sum, count), (squares, n)| (sum + squares, count + u64::from(n)));
        put(&JITTER_SD_MS, (squares / freedom as f64).sqrt());
        let (rtt_ns, samples) = forward()
            .map(|one| one.flow.round_trips())
            .fold((0, 0), |(sum, count), (span, n)| (sum + u128::from(span.as_nanos()), count + n));
        put(&RTT_MEAN_MS, rtt_ns as f64 / samples as f64 / 1e6);
        let base = flows().map(|one| one.label.rtt.as_millis_f64());
        put(&RTT_BASE_MS, base.fold(f64::INFINITY, f64::min));
        put(&JAIN_INDEX, self.metrics.jain(chosen, Share::payload));

        let again = flows().map(|one| one.flow.losses().retransmissions).sum::<u64>();
        put(&RETRANSMISSIONS, again as f64);
        let stacks = || flows().filter_map(|one| one.flow.session.stack.as_deref());
        if stacks().next().is_some() {
            let with = |field: Ecn| stacks().map(|ends| ends.fields[field as usize]).sum::<u64>() as f64;
            put(&ECN_ECT0_PACKETS, with(Ecn::Ect0));
            put(&ECN_ECT1_PACKETS, with(Ecn::Ect1));
            put(&ECN_CE_PACKETS, with(Ecn::Ce));
        }
        let times: Vec<f64> = flows().filter_map(|one| Some(one.flow.completion()?.as_secs_f64())).collect();
        let finite = || flows().filter(|one| one.flow.is_finite());
        if finite().next().is_some() {
            let watched: Vec<Watched> = finite()
                .filter(|one| one.flow.session.start <= self.end)
                .map(|one| Watched {
                    // After its stop a flow sends nothing more, and cannot complete.
                    seconds: self.end.min(one.flow.session.stop).since(one.flow.session.start).as_secs_f64(),
                    completed: one.flow.completion().map(Span::as_secs_f64),
                })
                .collect();
            put(&STARTED_FLOWS, watched.len() as f64);
            put(&COMPLETED_FLOWS, times.len() as f64);
            if let Some(horizon) = completion::horizon(&watched) {
                put(&FCT_RESTRICTED_S, completion::restricted_mean(&watched, horizon));
                put(&FCT_HORIZON_S, horizon);
            }
        }
        put_flows(report, part, &FCT, &FCT_MEAN_S, times);
        for (class, mean) in SIZE_CLASSES {
            let slowdowns = flows()
                .filter(|one| class.takes(one.flow.session.size))
                .filter_map(|one| slowdown(one.flow, one.label))
                .collect();
            put_flows(report, part, class, mean, slowdowns);
        }
        self.waits(report, part, chosen);
        self.calls(report, part, chosen);
        self.viewings(report, part, chosen);
        if let Some(port) = self.ports.first() {
            self.port_metrics(report, part, port, chosen);
        }
        put_histogram(report, part, &OWD, &owd);
        put_histogram(report, part, &PDV, &pdv);
    }

    /// How long the users of the groups that `chosen` accepts waited for transfers, calls, pages and queries.
    fn waits(&self, report: &mut Report, part: &Part, chosen: impl Fn(usize) -> bool) {
        let mut kinds: Vec<(Wait, Durations, u64)> = Vec::new();
        for user in self.users.iter().filter(|user| chosen(user.group)) {
            let Some((wait, durations)) = user.application.waits() else { continue };
            let unfinished = u64::from(user.application.is_waiting());
            match kinds.iter_mut().find(|(known, ..)| *known == wait) {
                Some((_, all, waiting)) => {
                    all.merge(durations);
                    *waiting += unfinished;
                }
                None => kinds.push((wait, durations.clone(), unfinished)),
            }
        }
        for (wait, durations, unfinished) in kinds {
            let Waited(of, mean, completed, requested) = waited(wait);
            let mut put = |metric: &Metric, value: f64| report.metrics.put(part, metric, value);
            put(completed, durations.count as f64);
            if let Some(requested) = requested {
                put(requested, (durations.count + unfinished) as f64);
            }
            put(mean, mean.unit.of_ms(durations.mean_ms()));
            if let Some(histogram) = durations.histogram() {
                put_histogram(report, part, of, histogram);
            }
        }
    }

    /// Mean opinion scores of the calls of the groups that `chosen` accepts, in both directions.
    fn calls(&self, report: &mut Report, part: &Part, chosen: impl Fn(usize) -> bool) {
        let scores = |back: bool| -> Vec<f64> {
            let is_call = |one: &OneFlow<'_>| one.label.voice && one.label.back == back;
            self.all_flows()
                .filter(|one| is_call(one) && chosen(one.share.group as usize))
                .map(|one| voice::mean_opinion_score(one.metrics.lost_share(), one.metrics.delays()))
                .collect()
        };
        for (scores, mean, min) in
            [(scores(false), &MOS_MEAN, &MOS_MIN), (scores(true), &MOS_BACK_MEAN, &MOS_BACK_MIN)]
        {
            if !scores.is_empty() {
                let mut put = |metric: &Metric, value: f64| report.metrics.put(part, metric, value);
                put(mean, scores.iter().sum::<f64>() / scores.len() as f64);
                put(min, scores.iter().copied().fold(f64::INFINITY, f64::min));
            }
        }
    }

    /// Means over the viewers of the groups that `chosen` accepts.
    fn viewings(&self, report: &mut Report, part: &Part, chosen: impl Fn(usize) -> bool) {
        let users = self.users.iter().filter(|user| chosen(user.group));
        let seen: Vec<Viewing> = users.filter_map(|user| user.application.viewing(self.end)).collect();
        if seen.is_empty() {
            return;
        }
        let sum = |value: fn(&Viewing) -> f64| seen.iter().map(value).sum::<f64>();
        let viewers = seen.len() as f64;
        let started: Vec<f64> = seen.iter().filter_map(|one| Some(one.startup?.as_secs_f64())).collect();
        let mut put = |metric: &Metric, value: f64| report.metrics.put(part, metric, value);
        let bitrates = sum(|one| one.bitrates_sum as f64);
        put(&VIDEO_BITRATE_MBIT, bitrates / sum(|one| one.segments as f64) / 1e6);
        put(&VIDEO_STALL_S, sum(|one| one.stall.as_secs_f64()) / viewers);
        put(&VIDEO_STALLS, sum(|one| one.stalls as f64) / viewers);
        put(&VIDEO_SWITCHES, sum(|one| one.switches as f64) / viewers);
        put(&VIDEO_STARTUP_S, started.iter().sum::<f64>() / started.len() as f64);
    }

    /// What ended connections of real transports before their work was done.
    fn failures(&self) -> Vec<String> {
        let mut failures: BTreeMap<(&str, String), u64> = BTreeMap::new();
        for one in self.all_flows() {
            if let Some(failure) = one.flow.failure() {
                *failures.entry((&one.label.group, failure)).or_default() += 1;
            }
        }
        let words = |((group, why), count)| format!("{count} of the flows '{group}' ended too soon: {why}");
        failures.into_iter().map(words).collect()
    }

    fn rows(&self) -> Vec<FlowRow> {
        let all = self.all_flows().enumerate();
        all.map(|(id, OneFlow { metrics, share, flow, label })| {
            let at_port = self.ports.first().map(|port| port.flows[id]).unwrap_or_default();
            let mbit = |bytes: u64| bytes as f64 * 8.0 / 1e6 / self.seconds;
            let (rtt, samples) = flow.round_trips();
            let losses = flow.losses();
            FlowRow {
                id: id as u32,
                group: label.group.clone(),
                kind: label.kind.to_owned(),
                start_s: flow.session.start.as_secs_f64(),
                rtt_base_ms: label.rtt.as_millis_f64(),
                goodput_mbit: mbit(share.payload()),
                throughput_mbit: mbit(at_port.bytes),
                packets_arrived: at_port.arrived.into(),
                packets_dropped: at_port.dropped.into(),
                packets_delivered: metrics.delivered.into(),
                marks: at_port.marked.into(),
                owd_mean_ms: metrics.owd_sum.as_millis_f64() / f64::from(metrics.delivered),
                qdelay_mean_ms: at_port.sojourn_mean_ms(),
                rtt_mean_ms: rtt.as_millis_f64() / samples as f64,
                retransmissions: losses.retransmissions,
                recoveries: losses.recoveries,
                timeouts: losses.timeouts,
                fct_s: flow.completion().map_or(f64::NAN, Span::as_secs_f64),
                size_bytes: if flow.is_finite() { flow.session.size as f64 } else { f64::NAN },
                slowdown: slowdown(flow, label).unwrap_or(f64::NAN),
            }
        })
        .collect()
    }
}
