//! The queue as S-PIE averages it (Zhao, Han and Du 2024, equation 11), which is ns-3's RED: weighted exponentially at each
//! arrival, w = 0.002. While the queue was empty, m full packets could have been sent, and the average decays m times more.

use aqm_core::backlog::Backlog;
use aqm_core::units::{Span, Time};
use aqm_sim::metrics::registry::{Better, Metric, Unit};
use aqm_sim::metrics::sampled::Sampled;
use aqm_sim::observer::{Answers, Info, Lost, LostBy, Observer, Packet, Port, Samples};

/// The entry of the list.
pub(crate) static INFO: Info = Info {
    name: "queue_ewma",
    summary: "the queue of each measured port, averaged with exponential weights as S-PIE does",
    reference: "S-PIE, equation 11; ns-3's RedQueueDisc::Estimator",
    metrics: &[&QUEUE_EWMA_PACKETS],
    series: &[&SAMPLED],
    build: |site| {
        Box::new(QueueAverage { ports: site.measured.iter().map(|port| Average::of(*port)).collect() })
    },
};

static QUEUE_EWMA_PACKETS: Metric = Metric::new(
    "queue_ewma_packets",
    "Weighted mean queue",
    Unit::Packets,
    1,
    Better::Lower,
    "backlog at arrivals, exponentially weighted as RED does, averaged over arrivals (S-PIE, eq. 11)",
);
static SAMPLED: Sampled = Sampled::of(&QUEUE_EWMA_PACKETS);

/// RED's queue weight.
const WEIGHT: f64 = 0.002;

/// The averages of the measured ports.
struct QueueAverage {
    ports: Vec<Average>,
}

/// That of one port.
struct Average {
    port: Port,
    value: f64,
    /// Its sum over arrivals, and their number.
    sum: f64,
    count: u64,
    empty_since: Time,
}

impl Average {
    fn of(port: Port) -> Average {
        Average { port, value: 0.0, sum: 0.0, count: 0, empty_since: Time::ZERO }
    }

    /// A packet finds `packets`.
    fn add(&mut self, packets: u64, now: Time) {
        let mut kept = 1.0 - WEIGHT;
        let full_packet = self.port.full_packet;
        if packets == 0 && full_packet > Span::ZERO {
            let idle = now.since(self.empty_since).as_nanos() / full_packet.as_nanos();
            kept = power(kept, idle + 1);
        }
        self.value = WEIGHT * packets as f64 + kept * self.value;
        self.sum += self.value;
        self.count += 1;
    }
}

/// `base` to a whole power, by squaring: the same bits everywhere.
fn power(mut base: f64, mut exponent: u64) -> f64 {
    let mut result = 1.0;
    while exponent > 0 {
        if exponent & 1 == 1 {
            result *= base;
        }
        base *= base;
        exponent >>= 1;
    }
    result
}

impl QueueAverage {
    fn at(&mut self, port: usize) -> Option<&mut Average> {
        self.ports.iter_mut().find(|average| average.port.number == port)
    }

    /// A packet is gone, and the port's queue holds `queued`.
    fn gone(&mut self, port: usize, queued: Backlog, now: Time) {
        if queued.packets == 0
            && let Some(average) = self.at(port)
        {
            average.empty_since = now;
        }
    }
}

impl Observer for QueueAverage {
    fn on_arrival(&mut self, port: usize, queued: Backlog, now: Time) {
        if let Some(average) = self.at(port) {
            average.add(queued.packets, now);
        }
    }

    fn on_dequeue(&mut self, _packet: &Packet, port: usize, queued: Backlog, _sojourn: Span, now: Time) {
        self.gone(port, queued, now);
    }

    fn on_drop(&mut self, lost: &Lost, now: Time) {
        if lost.by != LostBy::Wire {
            self.gone(lost.port, lost.queued, now);
        }
    }

    fn on_measuring(&mut self, _now: Time) {
        self.ports.iter_mut().for_each(|average| (average.sum, average.count) = (0.0, 0));
    }

    fn on_sample(&mut self, samples: &mut Samples<'_>, _now: Time) {
        for (number, average) in self.ports.iter().enumerate() {
            samples.put_at(number, &SAMPLED, average.value);
        }
    }

    fn report(&mut self, values: &mut Answers<'_>, _end: Time) {
        for (number, average) in self.ports.iter().enumerate() {
            values.put_at(number, &QUEUE_EWMA_PACKETS, average.sum / average.count as f64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aqm_sim::observer::{Site, reported};

    fn ms(millis: u64) -> Time {
        Time::from_nanos(millis * 1_000_000)
    }

    fn queued(packets: u64) -> Backlog {
        Backlog { packets, bytes: 0 }
    }

    #[test]
    fn arrivals_move_it_by_the_weight_and_an_empty_queue_lets_it_decay_by_full_packets() {
        let port = Port { number: 3, full_packet: Span::from_millis(2) };
        let mut observer = (INFO.build)(&Site { overhead: 0, measured: vec![port] });
        observer.on_arrival(3, queued(10), ms(0));
        observer.on_arrival(7, queued(1000), ms(0)); // not measured
        observer.on_dequeue(&Packet::default(), 3, queued(0), Span::ZERO, ms(10));
        // Empty for 5 ms: two full packets could have been sent, and this one counts too.
        observer.on_arrival(3, queued(0), ms(15));
        let (first, kept) = (0.02, 0.998_f64);
        let second = kept * kept * kept * first;
        let values = reported(observer.as_mut(), ms(20));
        assert!((values["queue_ewma_packets"] - (first + second) / 2.0).abs() < 1e-15);
        // What is measured later begins with the average as it is.
        observer.on_measuring(ms(20));
        observer.on_arrival(3, queued(1), ms(20));
        let values = reported(observer.as_mut(), ms(30));
        assert!((values["queue_ewma_packets"] - (0.002 + kept * second)).abs() < 1e-15);
    }
}
