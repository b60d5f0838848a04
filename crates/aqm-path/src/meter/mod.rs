//! The metrics of a queue, computed here and nowhere else: simulator, live link and kernel engine feed what they see.
//!
//! A host with accounts of its own (the simulator has one per flow) uses the parts: [`queue`], what waited over time;
//! [`signals`], drops and marks; [`totals`], what the metrics are of counts and sums. Others have a [`Meter`].

pub mod queue;
pub mod recorded;
pub mod signals;
pub mod totals;

use aqm_core::backlog::Backlog;
use aqm_core::signal::DropReason;
use aqm_core::units::{Span, Time};
use aqm_io::histogram::Histogram;
use queue::QueueOverTime;
use signals::Signals;
use totals::{Totals, quantiles};

/// Everything that a queue shows since measuring began.
#[derive(Clone, Debug, Default)]
pub struct Meter {
    /// What has waited.
    pub queue: QueueOverTime,
    /// Drops and marks.
    pub signals: Signals,
    /// Sojourn times of packets that left.
    pub sojourn: Histogram,
    arrived: u64,
    departed: u64,
    bytes: u64,
    sojourn_sum: Span,
}

impl Meter {
    /// Measures from `now` on, when `queued` waits.
    pub fn since(now: Time, queued: Backlog) -> Meter {
        Meter { queue: QueueOverTime::since(now, queued), signals: Signals::since(now), ..Meter::default() }
    }

    /// A packet arrives.
    pub fn arrive(&mut self) {
        self.arrived += 1;
    }

    /// A packet that arrived at this time is dropped.
    pub fn drop(&mut self, arrival: Time, reason: DropReason) {
        self.signals.drop(arrival, reason);
    }

    /// A packet that arrived at this time is marked.
    pub fn mark(&mut self, arrival: Time) {
        self.signals.mark(arrival);
    }

    /// A packet of this length leaves the queue.
    pub fn depart(&mut self, bytes: u64, sojourn: Span) {
        self.departed += 1;
        self.bytes += bytes;
        self.sojourn_sum += sojourn;
        self.sojourn.record(sojourn.as_nanos());
    }

    /// Its counts and sums.
    pub fn totals(&self) -> Totals {
        Totals {
            arrived: self.arrived,
            dropped: self.signals.dropped(),
            marks: self.signals.marks,
            departed: self.departed,
            bytes: self.bytes,
            sojourn_nanos: u128::from(self.sojourn_sum.as_nanos()),
        }
    }

    /// The metrics of the packets over `seconds`, by their names in the contract; what is undefined is no number.
    ///
    /// ```
    /// use aqm_core::units::{Span, Time};
    /// use aqm_path::meter::Meter;
    /// let mut meter = Meter::since(Time::ZERO, Default::default());
    /// meter.arrive();
    /// meter.depart(1250, Span::from_millis(2));
    /// let metrics: std::collections::BTreeMap<_, _> = meter.packets(1.0).collect();
    /// assert_eq!((metrics["throughput_mbit"], metrics["qdelay_mean_ms"], metrics["loss_ratio"]), (0.01, 2.0, 0.0));
    /// ```
    pub fn packets(&self, seconds: f64) -> impl Iterator<Item = (&'static str, f64)> {
        self.totals().named(seconds).into_iter().chain(quantiles(&self.sojourn))
    }

    /// The metrics of the queue as a whole until `now`, while `queued` waits.
    pub fn whole(&self, now: Time, queued: Backlog) -> impl Iterator<Item = (&'static str, f64)> {
        let mut queue = self.queue.clone();
        queue.advance(queued, now);
        let (packets, bytes) = queue.means(now.since(self.signals.began()).as_secs_f64());
        [
            ("queue_mean_packets", packets),
            ("queue_mean_bytes", bytes),
            ("queue_max_packets", queue.max_packets as f64),
            ("drops_early", self.signals.early as f64),
            ("drops_overflow", self.signals.overflow as f64),
            ("ack_drops", self.signals.filtered as f64),
        ]
        .into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::totals::QUANTILES;
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn a_queue_of_four_packets_by_hand() {
        let at = |ms| Time::ZERO + Span::from_millis(ms);
        let one = |packets: u64| Backlog { packets, bytes: packets * 1000 };
        // One packet is there when measuring begins at 10 ms. It is dropped: it is not of the sample.
        let mut meter = Meter::since(at(10), one(1));
        meter.queue.advance(one(1), at(20));
        meter.drop(at(5), DropReason::Congestion);
        for (arrival, waits) in [(20, 1), (30, 2), (30, 3)] {
            meter.queue.advance(one(waits - 1), at(arrival));
            meter.arrive();
            meter.queue.reach(one(waits));
        }
        meter.mark(at(20));
        meter.queue.advance(one(3), at(40));
        meter.drop(at(30), DropReason::Overlimit);
        meter.depart(1000, Span::from_millis(20));
        meter.queue.advance(one(1), at(60));
        meter.depart(1000, Span::from_millis(30));
        let found: BTreeMap<_, _> = meter.packets(0.1).chain(meter.whole(at(110), one(0))).collect();
        // 1 packet for 10 ms, 1 for 10 ms, 3 for 10 ms, 1 for 20 ms, none for 50 ms.
        for (name, value) in [
            ("packets_arrived", 3.0),
            ("loss_ratio", 1.0 / 3.0),
            ("marks", 1.0),
            ("throughput_mbit", 0.16),
            ("qdelay_mean_ms", 25.0),
            ("queue_mean_packets", 0.7),
            ("queue_mean_bytes", 700.0),
            ("queue_max_packets", 3.0),
            ("drops_early", 0.0),
            ("drops_overflow", 1.0),
            ("ack_drops", 0.0),
        ] {
            assert!((found[name] - value).abs() < 1e-12, "{name}: {}", found[name]);
        }
        assert!((found["qdelay_p99_ms"] / 30.0 - 1.0).abs() < 0.02);
    }

    /// The recorded events and metrics of `tests/meter`: this, the simulator, a live link and the kernel engine agree.
    #[test]
    fn recorded_events_give_the_metrics_of_their_definitions() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/meter");
        let read = |name: &str| std::fs::read_to_string(format!("{folder}/{name}")).unwrap();
        let wanted: serde_json::Value = serde_json::from_str(&read("metrics.json")).unwrap();
        let [since, until] =
            ["since_ns", "until_ns"].map(|key| Time::from_nanos(wanted[key].as_u64().unwrap()));
        let (mut meter, mut queued, mut arrivals) = (Meter::default(), Backlog::default(), BTreeMap::new());
        let mut recorded: BTreeMap<u64, recorded::Recorded> = BTreeMap::new();
        for line in read("events.csv").lines().skip(1) {
            let words: Vec<&str> = line.split(',').collect();
            let [time, packet, bytes] = [0, 2, 3].map(|place| words[place].parse::<u64>().unwrap());
            let now = Time::from_nanos(time);
            if now >= since && meter.signals.began() == Time::ZERO {
                meter.queue.advance(queued, since);
                meter = Meter::since(since, queued);
            }
            meter.queue.advance(queued, now);
            if words[1] == "arrive" {
                arrivals.insert(packet, now);
                recorded
                    .insert(packet, recorded::Recorded { arrived: now, left: None, bytes, is_marked: false });
                meter.arrive();
                queued = Backlog { packets: queued.packets + 1, bytes: queued.bytes + bytes };
                continue;
            }
            let arrival = arrivals[&packet];
            match words[1] {
                "mark" => {
                    meter.mark(arrival);
                    recorded.get_mut(&packet).unwrap().is_marked = true;
                    continue;
                }
                "depart" => {
                    meter.depart(bytes, now.since(arrival));
                    recorded.get_mut(&packet).unwrap().left = Some(now);
                }
                "early" => meter.drop(arrival, DropReason::Congestion),
                _ => meter.drop(arrival, DropReason::Overlimit),
            }
            // Only now is it known that the packet before stayed.
            if words[1] != "overlimit" {
                meter.queue.reach(queued);
            }
            queued = Backlog { packets: queued.packets - 1, bytes: queued.bytes - bytes };
        }
        let seconds = until.since(since).as_secs_f64();
        let found: BTreeMap<_, _> = meter.packets(seconds).chain(meter.whole(until, queued)).collect();
        let wanted = wanted["metrics"].as_object().unwrap();
        assert_eq!(found.len(), wanted.len());
        let agrees = |name: &str, value: f64| {
            let wanted = wanted[name].as_f64().unwrap();
            let within = if QUANTILES.iter().any(|(one, _)| *one == name) { 1.0 / 64.0 } else { 1e-12 };
            assert!((value - wanted).abs() <= within * wanted, "{name}: {value}, not {wanted}");
        };
        found.iter().for_each(|(name, value)| agrees(name, *value));
        // Taps at both ends of the queue; what still waited at the end has not left.
        let taps = Meter::of_recorded(recorded.into_values(), since, until);
        let waits = queued.packets as f64;
        for (name, value) in taps.packets(seconds) {
            // A tap cannot tell a packet that still waits from a lost one.
            let value = if name == "loss_ratio" { value - waits / found["packets_arrived"] } else { value };
            if name == "loss_ratio" {
                assert!((value - found[name]).abs() < 1e-12, "{value}");
            } else {
                agrees(name, value);
            }
        }
    }
}
