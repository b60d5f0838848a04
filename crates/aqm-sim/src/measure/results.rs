//! From accumulated measurements to the named metrics of the contract.

use super::metrics::{FlowMetrics, Metrics};
use super::port::{FlowAtPort, PortMetrics};
use super::shares;
use crate::endpoint::flow::{Endpoints, Flow, Label};
use crate::network::graph::Capacity;
use crate::network::port::PortId;
use crate::report::{FlowRow, QueueRow, Report, RunError};
use crate::simulation::setup::Setup;
use crate::simulation::state::User;
use crate::traffic::action::Waited;
use crate::traffic::durations::Durations;
use crate::traffic::player::Viewing;
use crate::voice;
use aqm_core::units::{Span, Time};

/// Reports everything that the run has measured, and checks it.
pub(crate) fn report(setup: Setup, end: Time) -> Result<Report, RunError> {
    let Setup { mut simulation, labels, links, warnings } = setup;
    let metrics = &simulation.shared.metrics;
    let observers = simulation.measured.iter().filter_map(|&port| simulation.ports[port].device());
    let mut on_the_way = vec![0; metrics.groups.len()];
    for packet in simulation.shared.slab.iter().filter(|packet| packet.is_counted()) {
        let flow = &metrics.flows[packet.flow as usize];
        on_the_way[flow.group as usize] += u64::from(!flow.back);
    }
    let run = Run {
        end,
        ports: observers.filter_map(|device| device.observed.metrics.as_deref()).collect(),
        metrics,
        on_the_way: &on_the_way,
        flows: &simulation.flows,
        users: &simulation.users,
        labels: &labels,
        seconds: metrics.seconds(end),
    };

    let mut report = Report { warnings, events: simulation.handled, ..Report::default() };
    run.flow_metrics(&mut report, "", |_| true);
    run.feedback_metrics(&mut report);
    run.telemetry_metrics(&mut report);
    if let Some(monitor) = &metrics.flow_monitor {
        monitor.report(&mut report, end);
    }
    for (number, port) in run.ports.iter().enumerate() {
        if number == 0 {
            run.queue_metrics(&mut report, "", port);
        }
        if run.ports.len() > 1 {
            run.queue_metrics(&mut report, &port.prefix(), port);
            run.port_metrics(&mut report, &port.prefix(), port, |_| true);
        }
    }
    for (number, group) in metrics.groups.iter().enumerate() {
        run.flow_metrics(&mut report, &format!("class.{}.", group.name), |index| index == number);
    }
    report.flows = run.rows();
    let rates = simulation.network.links.iter().all(|link| matches!(link.capacity, Capacity::Rate(_)));
    shares::check(&report, rates)?;
    report.metrics.retain(|_, value| value.is_finite());
    if let Some(switches) = &simulation.shared.switches {
        let name = |port: PortId| links[port].0.as_str();
        report.metrics.extend(switches.metrics(name, end));
        report.warnings.extend(switches.misclassified().map(|port| {
            format!(
                "at {}: the program puts flow-controlled packets into another class than their sender's, so pauses miss the sender",
                name(port)
            )
        }));
        report.warnings.extend(switches.deadlock().map(|(at, circle)| {
            let ports: Vec<&str> = circle.iter().map(|port| name(*port)).collect();
            let (at, ports) = (at.as_secs_f64(), ports.join(", "));
            format!("deadlock of flow control, seen at {at}s: {ports} wait for each other permanently")
        }));
    }
    for (number, (port, (name, discipline))) in simulation.ports.iter().zip(links).enumerate() {
        if let Some(device) = port.device() {
            let counters = device.qdisc.counters();
            // What the switch refused arrived at the port, but not at the discipline.
            let switches = simulation.shared.switches.as_ref();
            let refused = switches.map(|switches| switches.refused(number)).unwrap_or_default();
            let filtered = switches.map(|switches| switches.filtered(number)).unwrap_or_default();
            report.queues.push(QueueRow {
                link: name,
                discipline: discipline.unwrap_or_default(),
                arrived: counters.arrived + refused.packets + filtered.packets,
                arrived_bytes: counters.arrived_bytes + refused.bytes + filtered.bytes,
                departed: counters.departed,
                departed_bytes: counters.departed_bytes,
                dropped_early: counters.dropped_early() + filtered.packets,
                dropped_overflow: counters.dropped_total() - counters.dropped_early() + refused.packets,
                marked: counters.marked + switches.map_or(0, |switches| switches.marked(number)),
                backlog: device.qdisc.backlog().packets,
            });
        }
    }
    report.bottleneck_packets = report.queues.iter().map(|queue| queue.departed).sum();
    simulation.check_emptied()?;
    if let Some(recorder) = simulation.shared.metrics.recorder {
        let (packets, is_complete) = recorder.finish();
        report.packets = packets;
        if !is_complete {
            report.warnings.push("there are more packets than are recorded".to_owned());
        }
    }
    report.series = simulation.shared.metrics.series;
    Ok(report)
}

/// Finite flows of some sizes, and the metrics of their slowdown.
struct SizeClass {
    mean: &'static str,
    p99: &'static str,
    /// Bytes of payload.
    above: u64,
    up_to: u64,
}

const KB: u64 = 1000;

/// All, and small, medium and large as in pFabric (Alizadeh et al., SIGCOMM 2013, section 5), MQ-ECN and TCN.
const SIZE_CLASSES: [SizeClass; 4] = [
    SizeClass { mean: "slowdown_mean", p99: "slowdown_p99", above: 0, up_to: u64::MAX },
    SizeClass { mean: "slowdown_small_mean", p99: "slowdown_small_p99", above: 0, up_to: 100 * KB },
    SizeClass {
        mean: "slowdown_medium_mean",
        p99: "slowdown_medium_p99",
        above: 100 * KB,
        up_to: 10_000 * KB,
    },
    SizeClass { mean: "slowdown_large_mean", p99: "slowdown_large_p99", above: 10_000 * KB, up_to: u64::MAX },
];

/// Completion time of a flow over that in an empty network.
fn slowdown(flow: &Flow, label: &Label) -> Option<f64> {
    Some(flow.completion()?.as_secs_f64() / label.ideal?.as_secs_f64())
}

/// The mean of `values`, and their 99th percentile by nearest rank, if there are any.
fn put_mean_and_p99<T>(
    put: &mut impl FnMut(&str, f64) -> T,
    (mean, p99): (&str, &str),
    mut values: Vec<f64>,
) {
    if values.is_empty() {
        return;
    }
    values.sort_by(f64::total_cmp);
    put(mean, values.iter().sum::<f64>() / values.len() as f64);
    let rank = (values.len() as f64 * 0.99).ceil() as usize;
    put(p99, values[rank - 1]);
}

/// One run while it is being reported.
struct Run<'a> {
    end: Time,
    /// The measured ports.
    ports: Vec<&'a PortMetrics>,
    metrics: &'a Metrics,
    /// Packets neither arrived nor lost, by group: they count in neither `lost` nor `delivered`.
    on_the_way: &'a [u64],
    flows: &'a [Flow],
    users: &'a [User],
    labels: &'a [Label],
    seconds: f64,
}

impl Run<'_> {
    /// INT headers read by endpoints, if there were any.
    fn telemetry_metrics(&self, report: &mut Report) {
        let telemetry = &self.metrics.telemetry;
        if telemetry.packets == 0 {
            return;
        }
        let mut put = |name: &str, value: u64| report.metrics.insert(name.to_owned(), value as f64);
        put("telemetry_packets", telemetry.packets);
        put("telemetry_hops", telemetry.hops);
        put("telemetry_queue_max_packets", telemetry.longest_queue.into());
    }

    /// Emissions of disciplines and programs, if there were any.
    fn feedback_metrics(&self, report: &mut Report) {
        let feedback = &self.metrics.feedback;
        if feedback.sent + feedback.delivered + feedback.unaddressed == 0 {
            return;
        }
        let mut put = |name: &str, value: u64| report.metrics.insert(name.to_owned(), value as f64);
        put("feedback_sent", feedback.sent);
        put("feedback_delivered", feedback.delivered);
        put("feedback_lost", feedback.lost);
        put("feedback_unaddressed", feedback.unaddressed);
        put("feedback_ignored", feedback.ignored);
    }

    /// Metrics of a queue and its link as a whole, under `prefix`.
    fn queue_metrics(&self, report: &mut Report, prefix: &str, port: &PortMetrics) {
        let (packets, bytes) = port.means(self.seconds);
        let mut put = |name: &str, value: f64| report.metrics.insert(format!("{prefix}{name}"), value);
        put("utilization", port.utilization(self.metrics.since(), self.end));
        put("queue_mean_packets", packets);
        put("queue_mean_bytes", bytes);
        put("queue_max_packets", port.max_packets as f64);
        put("queue_ewma_packets", port.ewma().1);
        put("drops_early", port.drops_early as f64);
        put("drops_overflow", port.drops_overflow as f64);
        if let Some(classified) = &port.classified {
            let (packets, flows) = classified.confusions();
            for ((name, of_packets), (_, of_flows)) in packets.shares().into_iter().zip(flows.shares()) {
                put(&format!("classifier_{name}"), of_packets);
                put(&format!("classifier_flow_{name}"), of_flows);
            }
        }
    }

    /// Metrics of the flows at a port whose group `chosen` accepts, under `prefix`.
    fn port_metrics(
        &self,
        report: &mut Report,
        prefix: &str,
        port: &PortMetrics,
        chosen: impl Fn(usize) -> bool + Copy,
    ) {
        let sum = |value: fn(&FlowAtPort) -> u64| {
            port.flows.iter().filter(|flow| chosen(flow.group as usize)).map(value).sum::<u64>()
        };
        let (arrived, dropped) = (sum(|flow| flow.arrived.into()), sum(|flow| flow.dropped.into()));
        let (departed, sojourn) = (sum(|flow| flow.departed.into()), port.sojourn(chosen));
        let mut put = |name: &str, value: f64| report.metrics.insert(format!("{prefix}{name}"), value);
        put("throughput_mbit", sum(|flow| flow.bytes) as f64 * 8.0 / 1e6 / self.seconds);
        put("packets_arrived", arrived as f64);
        put("loss_ratio", dropped as f64 / arrived as f64);
        put("marks", sum(|flow| flow.marked.into()) as f64);
        put("qdelay_mean_ms", sum(|flow| flow.sojourn_sum.as_nanos()) as f64 / departed as f64 / 1e6);
        for (name, quantile) in [
            ("qdelay_p50_ms", 0.5),
            ("qdelay_p95_ms", 0.95),
            ("qdelay_p99_ms", 0.99),
            ("qdelay_p999_ms", 0.999),
        ] {
            put(name, sojourn.quantile_ms(quantile).unwrap_or(f64::NAN));
        }
        if let Some(classified) = &port.classified {
            let of_chosen =
                |flow: usize| port.flows.get(flow).is_some_and(|flow| chosen(flow.group as usize));
            put("reported_ratio", classified.reported_ratio(of_chosen));
        }
        report.histograms.insert(format!("{prefix}qdelay"), (&sojourn).into());
    }

    /// Metrics of the flows whose group `chosen` accepts, under `prefix`.
    fn flow_metrics(&self, report: &mut Report, prefix: &str, chosen: impl Fn(usize) -> bool + Copy) {
        let flows = || {
            let all = self.metrics.flows.iter().zip(self.flows).zip(self.labels);
            all.filter(move |((metrics, _), _)| chosen(metrics.group as usize))
        };
        // Goodput counts the measured direction.
        let forward = || flows().filter(|((metrics, _), _)| !metrics.back);
        let mbit = |bytes: u64| bytes as f64 * 8.0 / 1e6 / self.seconds;
        let received =
            |value: fn(&FlowMetrics) -> u64| forward().map(|((metrics, _), _)| value(metrics)).sum::<u64>();
        let (delivered, lost) =
            (received(|flow| u64::from(flow.delivered)), received(|flow| u64::from(flow.lost)));
        let (owd, pdv) = self.metrics.one_way(chosen);

        let mut put = |name: &str, value: f64| report.metrics.insert(format!("{prefix}{name}"), value);
        put("goodput_mbit", mbit(received(FlowMetrics::payload)));
        put("packets_delivered", delivered as f64);
        put("path_loss_ratio", lost as f64 / (lost + delivered) as f64);
        let waiting = self.on_the_way.iter().enumerate().filter(|(group, _)| chosen(*group));
        let undelivered = lost + waiting.map(|(_, packets)| packets).sum::<u64>();
        put("undelivered_ratio", undelivered as f64 / (undelivered + delivered) as f64);
        let owd_ns: u128 = forward().map(|((metrics, _), _)| u128::from(metrics.owd_sum.as_nanos())).sum();
        put("owd_mean_ms", owd_ns as f64 / delivered as f64 / 1e6);
        put("owd_p99_ms", owd.quantile_ms(0.99).unwrap_or(f64::NAN));
        put("jitter_pdv_p99_ms", pdv.quantile_ms(0.99).unwrap_or(f64::NAN));
        let (ipdv_ns, pairs) = forward()
            .map(|((metrics, _), _)| metrics.ipdv_total())
            .fold((0, 0), |(sum, count), (span, n)| (sum + u128::from(span.as_nanos()), count + n));
        put("jitter_ipdv_mean_ms", ipdv_ns as f64 / pairs as f64 / 1e6);
        let (rtt_ns, samples) = forward()
            .filter_map(|((_, flow), _)| match &flow.endpoints {
                Endpoints::Tcp(connection) => Some(connection.sender.rtt().total()),
                Endpoints::Datagrams => None,
            })
            .fold((0, 0), |(sum, count), (span, n)| (sum + u128::from(span.as_nanos()), count + n));
        put("rtt_mean_ms", rtt_ns as f64 / samples as f64 / 1e6);
        let base = flows().map(|((_, _), label)| label.rtt.as_millis_f64());
        put("rtt_base_ms", base.fold(f64::INFINITY, f64::min));
        put("jain_index", self.metrics.jain(chosen, FlowMetrics::payload));

        let again = flows().map(|((_, flow), _)| flow.losses().retransmissions).sum::<u64>();
        put("retransmissions", again as f64);
        let times: Vec<f64> =
            flows().filter_map(|((_, flow), _)| Some(flow.completion()?.as_secs_f64())).collect();
        let finite = || flows().filter(|((_, flow), _)| flow.is_finite());
        if finite().next().is_some() {
            let started = finite().filter(|((_, flow), _)| flow.session.start <= self.end);
            put("started_flows", started.count() as f64);
            put("completed_flows", times.len() as f64);
        }
        put_mean_and_p99(&mut put, ("fct_mean_s", "fct_p99_s"), times);
        for class in SIZE_CLASSES {
            let of_class = |flow: &Flow| class.above < flow.session.size && flow.session.size <= class.up_to;
            let slowdowns = flows()
                .filter(|((_, flow), _)| of_class(flow))
                .filter_map(|((_, flow), label)| slowdown(flow, label))
                .collect();
            put_mean_and_p99(&mut put, (class.mean, class.p99), slowdowns);
        }
        self.waits(report, prefix, chosen);
        self.calls(report, prefix, chosen);
        self.viewings(report, prefix, chosen);
        if let Some(port) = self.ports.first() {
            self.port_metrics(report, prefix, port, chosen);
        }
        report.histograms.insert(format!("{prefix}owd"), (&owd).into());
        report.histograms.insert(format!("{prefix}pdv"), (&pdv).into());
    }

    /// How long the users of the groups that `chosen` accepts waited for transfers, calls, pages and queries.
    fn waits(&self, report: &mut Report, prefix: &str, chosen: impl Fn(usize) -> bool) {
        let mut kinds: Vec<(&Waited, Durations, u64)> = Vec::new();
        for user in self.users.iter().filter(|user| chosen(user.group)) {
            let Some((waited, durations)) = user.application.waits() else { continue };
            let unfinished = u64::from(user.application.is_waiting());
            match kinds.iter_mut().find(|(known, ..)| *known == waited) {
                Some((_, all, waiting)) => {
                    all.merge(durations);
                    *waiting += unfinished;
                }
                None => kinds.push((waited, durations.clone(), unfinished)),
            }
        }
        for (waited, durations, unfinished) in kinds {
            let mut put = |name: &str, value: f64| report.metrics.insert(format!("{prefix}{name}"), value);
            let in_unit = |name: &str, ms: f64| if name.ends_with("_s") { ms / 1e3 } else { ms };
            put(waited.completed, durations.count as f64);
            if let Some(requested) = waited.requested {
                put(requested, (durations.count + unfinished) as f64);
            }
            put(waited.mean, in_unit(waited.mean, durations.mean_ms()));
            let Some(histogram) = durations.histogram() else { continue };
            let (name, quantile) = waited.high;
            put(name, in_unit(name, histogram.quantile_ms(quantile).unwrap_or(f64::NAN)));
            report.histograms.insert(format!("{prefix}{}", waited.histogram), histogram.into());
        }
    }

    /// Mean opinion scores of the calls of the groups that `chosen` accepts, in both directions.
    fn calls(&self, report: &mut Report, prefix: &str, chosen: impl Fn(usize) -> bool) {
        let scores = |back: bool| -> Vec<f64> {
            let calls = self.metrics.flows.iter().zip(self.labels);
            calls
                .filter(|(flow, label)| label.voice && label.back == back && chosen(flow.group as usize))
                .map(|(flow, _)| voice::mean_opinion_score(flow.lost_share(), flow.delays()))
                .collect()
        };
        for (scores, mean, min) in
            [(scores(false), "mos_mean", "mos_min"), (scores(true), "mos_back_mean", "mos_back_min")]
        {
            if !scores.is_empty() {
                let mut put =
                    |name: &str, value: f64| report.metrics.insert(format!("{prefix}{name}"), value);
                put(mean, scores.iter().sum::<f64>() / scores.len() as f64);
                put(min, scores.iter().copied().fold(f64::INFINITY, f64::min));
            }
        }
    }

    /// Means over the viewers of the groups that `chosen` accepts.
    fn viewings(&self, report: &mut Report, prefix: &str, chosen: impl Fn(usize) -> bool) {
        let users = self.users.iter().filter(|user| chosen(user.group));
        let seen: Vec<Viewing> = users.filter_map(|user| user.application.viewing(self.end)).collect();
        if seen.is_empty() {
            return;
        }
        let sum = |value: fn(&Viewing) -> f64| seen.iter().map(value).sum::<f64>();
        let viewers = seen.len() as f64;
        let started: Vec<f64> = seen.iter().filter_map(|one| Some(one.startup?.as_secs_f64())).collect();
        let mut put = |name: &str, value: f64| report.metrics.insert(format!("{prefix}{name}"), value);
        let bitrates = sum(|one| one.bitrates_sum as f64);
        put("video_bitrate_mbit", bitrates / sum(|one| one.segments as f64) / 1e6);
        put("video_stall_s", sum(|one| one.stall.as_secs_f64()) / viewers);
        put("video_stalls", sum(|one| one.stalls as f64) / viewers);
        put("video_switches", sum(|one| one.switches as f64) / viewers);
        put("video_startup_s", started.iter().sum::<f64>() / started.len() as f64);
    }

    fn rows(&self) -> Vec<FlowRow> {
        let all = self.metrics.flows.iter().zip(self.flows).zip(self.labels).enumerate();
        all.map(|(id, ((metrics, flow), label))| {
            let at_port = self.ports.first().map(|port| port.flows[id]).unwrap_or_default();
            let mbit = |bytes: u64| bytes as f64 * 8.0 / 1e6 / self.seconds;
            let rtt = match &flow.endpoints {
                Endpoints::Tcp(connection) => connection.sender.rtt().mean_ms(),
                Endpoints::Datagrams => None,
            };
            let losses = flow.losses();
            FlowRow {
                id: id as u32,
                group: label.group.clone(),
                kind: label.kind.to_owned(),
                start_s: flow.session.start.as_secs_f64(),
                rtt_base_ms: label.rtt.as_millis_f64(),
                goodput_mbit: mbit(metrics.payload()),
                throughput_mbit: mbit(at_port.bytes),
                packets_arrived: at_port.arrived.into(),
                packets_dropped: at_port.dropped.into(),
                packets_delivered: metrics.delivered.into(),
                marks: at_port.marked.into(),
                owd_mean_ms: metrics.owd_sum.as_millis_f64() / f64::from(metrics.delivered),
                qdelay_mean_ms: at_port.sojourn_mean_ms(),
                rtt_mean_ms: rtt.unwrap_or(f64::NAN),
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
