//! How well a classifier does: what it says of each packet beside what the packet's flow is.
//!
//! A flow is non-responsive if it is carried by UDP: nothing that a queue does makes it send less. Positive means
//! non-responsive, as in the SQM-LRU paper's confusion matrix.

use crate::metrics::registry::*;

/// The metrics of [`Confusion::shares`]: of packets, and of flows.
pub(crate) static OF_PACKETS: [&Metric; 6] = [
    &CLASSIFIER_ACCURACY,
    &CLASSIFIER_PPV,
    &CLASSIFIER_TNR,
    &CLASSIFIER_NPV,
    &CLASSIFIER_RECALL,
    &CLASSIFIER_F1,
];
pub(crate) static OF_FLOWS: [&Metric; 6] = [
    &CLASSIFIER_FLOW_ACCURACY,
    &CLASSIFIER_FLOW_PPV,
    &CLASSIFIER_FLOW_TNR,
    &CLASSIFIER_FLOW_NPV,
    &CLASSIFIER_FLOW_RECALL,
    &CLASSIFIER_FLOW_F1,
];

/// What a port has seen of its classifier.
#[derive(Default)]
pub(crate) struct Classified {
    flows: Vec<FlowSeen>,
    /// Records that it read for them.
    read: u64,
    sample: Confusion,
}

/// Verdicts of the classifier on one flow's packets.
#[derive(Clone, Copy, Default)]
struct FlowSeen {
    unresponsive: bool,
    packets: u32,
    reported: u32,
}

impl Classified {
    /// A packet of flow number `flow` is classified, for which `read` records were read.
    pub(crate) fn count(&mut self, flow: u32, unresponsive: bool, reported: bool, read: u64) {
        let index = flow as usize;
        if index >= self.flows.len() {
            self.flows.resize(index + 1, FlowSeen::default());
        }
        let seen = &mut self.flows[index];
        seen.unresponsive = unresponsive;
        seen.packets += 1;
        seen.reported += u32::from(reported);
        self.read += read;
        self.sample.add(unresponsive, reported, 1);
    }

    /// The warm-up is over: everything begins again, but for the sample in flight.
    pub(crate) fn restart(&mut self) {
        self.flows.clear();
        self.read = 0;
    }

    /// By packets, and by flows: one is reported if more than half of its packets are.
    pub(crate) fn confusions(&self) -> (Confusion, Confusion) {
        let (mut packets, mut flows) = (Confusion::default(), Confusion::default());
        for seen in self.flows.iter().filter(|seen| seen.packets > 0) {
            packets.add(seen.unresponsive, true, seen.reported.into());
            packets.add(seen.unresponsive, false, (seen.packets - seen.reported).into());
            flows.add(seen.unresponsive, 2 * u64::from(seen.reported) > u64::from(seen.packets), 1);
        }
        (packets, flows)
    }

    /// Share of the packets that were reported, of the flows whose numbers `chosen` admits; `NaN` without packets.
    pub(crate) fn reported_ratio(&self, chosen: impl Fn(usize) -> bool) -> f64 {
        let seen = self.flows.iter().enumerate().filter(|(flow, _)| chosen(*flow));
        let (packets, reported) = seen.fold((0u64, 0u64), |(packets, reported), (_, seen)| {
            (packets + u64::from(seen.packets), reported + u64::from(seen.reported))
        });
        reported as f64 / packets as f64
    }

    /// Records read for a packet; `NaN` without packets.
    pub(crate) fn reads(&self) -> f64 {
        self.read as f64 / self.flows.iter().map(|seen| u64::from(seen.packets)).sum::<u64>() as f64
    }

    /// Takes the verdicts since the last sample.
    pub(crate) fn take_sample(&mut self) -> Confusion {
        std::mem::take(&mut self.sample)
    }
}

/// A confusion matrix.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Confusion {
    true_positive: u64,
    false_positive: u64,
    false_negative: u64,
    true_negative: u64,
}

impl Confusion {
    fn add(&mut self, unresponsive: bool, reported: bool, count: u64) {
        *match (unresponsive, reported) {
            (true, true) => &mut self.true_positive,
            (false, true) => &mut self.false_positive,
            (true, false) => &mut self.false_negative,
            (false, false) => &mut self.true_negative,
        } += count;
    }

    /// What is made of it: accuracy, PPV, TNR, NPV, recall and F1; a share of nothing is `NaN`. The SQM-LRU paper's
    /// equation 6 is NPV and calls it TNR.
    pub(crate) fn shares(self) -> [f64; 6] {
        let of = |part: u64, rest: u64| part as f64 / (part + rest) as f64;
        let (tp, fp, miss, tn) =
            (self.true_positive, self.false_positive, self.false_negative, self.true_negative);
        [of(tp + tn, fp + miss), of(tp, fp), of(tn, fp), of(tn, miss), of(tp, miss), of(2 * tp, fp + miss)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_those_of_the_matrix_and_flows_go_by_their_majority() {
        let mut classified = Classified::default();
        // Flow 0 is UDP: 3 of 4 packets are reported. Flow 2 is UDP: 1 of 2. Flow 1 is TCP: 1 of 10.
        let says = [(0, true, 3, 1), (2, true, 1, 1), (1, false, 1, 9)];
        for (flow, unresponsive, reported, passed) in says {
            (0..reported).for_each(|_| classified.count(flow, unresponsive, true, 3));
            (0..passed).for_each(|_| classified.count(flow, unresponsive, false, 1));
        }
        let (packets, flows) = classified.confusions();
        let matrix = Confusion { true_positive: 4, false_positive: 1, false_negative: 2, true_negative: 9 };
        assert_eq!(packets, matrix);
        let shares = [13.0 / 16.0, 4.0 / 5.0, 9.0 / 10.0, 9.0 / 11.0, 4.0 / 6.0, 8.0 / 11.0];
        assert_eq!(packets.shares(), shares);
        // Flow 0 is reported, flow 2 (one half) is not, flow 1 is not.
        let matrix = Confusion { true_positive: 1, false_positive: 0, false_negative: 1, true_negative: 1 };
        assert_eq!(flows, matrix);
        assert_eq!(classified.reported_ratio(|flow| flow == 1), 0.1);
        assert_eq!(classified.reads(), (5.0 * 3.0 + 11.0) / 16.0);
        assert_eq!((classified.take_sample(), classified.take_sample()), (packets, Confusion::default()));
    }
}
