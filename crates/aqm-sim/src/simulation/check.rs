//! Checks that every run passes.

use super::state::Simulation;
use crate::network::in_flight::InFlightQueue;
use crate::report::RunError;

impl Simulation {
    /// Packets and bytes are conserved at the bottleneck, and the metrics' backlog is the discipline's own.
    pub(super) fn check_bottleneck(&self) -> Result<(), RunError> {
        let fail = |what: String| Err(RunError::Check(format!("at {}: {what}", self.now)));
        let Some(device) = self.ports[self.bottleneck].device() else { return Ok(()) };
        if let Err(violation) = device.qdisc.check() {
            return fail(violation.to_string());
        }
        let (queue, backlog) = (&self.metrics.queue, device.qdisc.backlog());
        if (queue.packets, queue.bytes) != (backlog.packets, backlog.bytes) {
            return fail(format!("the metrics and the discipline disagree about the backlog, {backlog:?}"));
        }
        Ok(())
    }

    /// Packets are conserved at every link, and none was faster than propagation.
    pub(super) fn check(&self) -> Result<(), RunError> {
        self.check_bottleneck()?;
        let fail = |what: String| Err(RunError::Check(format!("at {}: {what}", self.now)));
        let mut in_flight = vec![0_u64; self.ports.len()];
        for packet in self.in_flight.iter().flat_map(InFlightQueue::iter) {
            in_flight[packet.port as usize] += 1;
        }
        let mut alive = 0;
        for (number, (link, mut inside)) in self.ports.iter().zip(in_flight).enumerate() {
            let mut dropped = 0;
            if let Some(extras) = &link.extras {
                inside += extras.impairment.as_ref().map_or(0, |impairment| impairment.jittered);
                if let Some(device) = &extras.device {
                    let sending = device.trace.as_ref().is_some_and(|trace| trace.sending.is_some());
                    let waiting = device.qdisc.backlog().packets + device.ring.len() as u64;
                    inside += waiting + u64::from(sending);
                    let counters = device.qdisc.counters();
                    if counters.emitted > 0 {
                        let emitted = counters.emitted;
                        return fail(format!(
                            "link {number} does not carry the {emitted} packets that its discipline sends back"
                        ));
                    }
                    dropped = counters.dropped_total();
                }
            }
            if link.inside != dropped + inside {
                let balance = link.inside;
                return fail(format!(
                    "link {number} does not conserve packets: {balance} more went in than came out, but {dropped} were dropped and {inside} are inside"
                ));
            }
            alive += inside;
        }
        if alive != self.slab.alive() as u64 {
            return fail(format!("{} packets exist, but {alive} are somewhere", self.slab.alive()));
        }
        if let Some(flow) = self.metrics.too_fast {
            return fail(format!("flow {flow} has packets faster than its propagation delay"));
        }
        Ok(())
    }
}
