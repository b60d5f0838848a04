//! Every column of the time series, declared once. What a discipline shows of itself (`probe.NAME`) is declared by it.

use super::registry::{self, Family, Metric, Unit};

/// A column of the time series.
#[derive(Debug)]
pub struct Sampled {
    name: &'static str,
    /// How figures name it.
    pub label: &'static str,
    /// Its unit.
    pub unit: Unit,
}

/// Flows, by their numbers.
pub(crate) static FLOW: Family = Family { name: "flow", preposition: "of flow", is_dotted: false };

impl Sampled {
    /// The column with the name of a metric, which has what that is at each point.
    pub const fn of(metric: &'static Metric) -> Sampled {
        Sampled { name: metric.name(), label: metric.label, unit: metric.unit }
    }

    /// Its name, without that of a part.
    pub fn name(&self) -> &'static str {
        self.name
    }
}

const fn sampled(name: &'static str, label: &'static str, unit: Unit) -> Sampled {
    Sampled { name, label, unit }
}

/// The metric of this name, of one period.
const fn of(metric: &'static Metric) -> Sampled {
    Sampled::of(metric)
}

declare! {
    /// Every column.
    COLUMNS: Sampled;
    GOODPUT_MBIT = of(&registry::GOODPUT_MBIT);
    THROUGHPUT_MBIT = of(&registry::THROUGHPUT_MBIT);
    QDELAY_MS = sampled("qdelay_ms", "Queue delay", Unit::Ms);
    QUEUE_PACKETS = sampled("queue_packets", "Queue", Unit::Packets);
    QUEUE_BYTES = sampled("queue_bytes", "Queue", Unit::Bytes);
    RTT_MS = sampled("rtt_ms", "Round-trip time", Unit::Ms);
    JAIN_INDEX = sampled("jain_index", "Jain index since the start", Unit::One);
    DROPS = sampled("drops", "Drops", Unit::Packets);
    DROPS_EARLY = of(&registry::DROPS_EARLY);
    MARKS = of(&registry::MARKS);
    CLASSIFIER_ACCURACY = of(&registry::CLASSIFIER_ACCURACY);
    CLASSIFIER_PPV = of(&registry::CLASSIFIER_PPV);
    CLASSIFIER_TNR = of(&registry::CLASSIFIER_TNR);
    CLASSIFIER_NPV = of(&registry::CLASSIFIER_NPV);
    CLASSIFIER_RECALL = of(&registry::CLASSIFIER_RECALL);
    CLASSIFIER_F1 = of(&registry::CLASSIFIER_F1);
    DELIVERED_BYTES = sampled("delivered_bytes", "Payload delivered since the start", Unit::Bytes);
    CWND_BYTES = sampled("cwnd_bytes", "Congestion window", Unit::Bytes);
    RATE_MBIT = sampled("rate_mbit", "Rate", Unit::Mbit);
    TARGET_MBIT = sampled("target_mbit", "Target rate", Unit::Mbit);
    AIRTIME_SHARE = of(&registry::AIRTIME_SHARE);
    DELAY_TOTAL_MS = of(&registry::DELAY_TOTAL_MS);
}

/// Of what a classifier says, in the order of its shares.
pub(crate) static CLASSIFIED: [&Sampled; 6] = [
    &CLASSIFIER_ACCURACY,
    &CLASSIFIER_PPV,
    &CLASSIFIER_TNR,
    &CLASSIFIER_NPV,
    &CLASSIFIER_RECALL,
    &CLASSIFIER_F1,
];
