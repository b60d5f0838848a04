//! The last check: every queue gives up what it claims to hold, and then nothing is left over.

use crate::report::RunError;
use crate::simulation::observer::PortObserver;
use crate::simulation::state::Simulation;
use aqm_core::backlog::Backlog;
use aqm_core::packet::Ecn;

impl Simulation {
    /// Empties every queue. What comes out was counted as waiting, by Little's law it had waited as long as the queue was
    /// long, and without it everything balances.
    pub(crate) fn check_emptied(&mut self) -> Result<(), RunError> {
        let now = self.shared.now;
        for port in 0..self.ports.len() {
            let Some(device) = self.ports[port].device_mut() else { continue };
            let (qdisc, mut observer) = PortObserver::of(device, port, &mut self.shared);
            qdisc.purge(now, &mut observer);
            let Backlog { packets, bytes } = device.observed.queued;
            if (packets, bytes) != (0, 0) {
                let what = format!("it claims {packets} packets ({bytes} bytes) that it does not have");
                return Err(self.failed(&self.network.link_name(port), &what));
            }
            let sojourn = device.qdisc.counters().sojourn_sum;
            let metrics = device.observed.metrics.as_deref();
            if let Some((queue, waits)) = metrics.and_then(|metrics| metrics.breaks_littles_law(sojourn)) {
                let what = format!(
                    "its queue over time is {queue} packets times ns, but packets have waited {waits} ns"
                );
                return Err(self.failed(&self.network.link_name(port), &what));
            }
        }
        self.check_marks()?;
        if self.shared.switches.as_ref().is_some_and(|switches| !switches.are_empty()) {
            return Err(self.failed("all switches", "something counts as waiting, but nothing does"));
        }
        self.check()
    }

    /// What was marked has arrived, was lost, or is on a wire.
    fn check_marks(&self) -> Result<(), RunError> {
        let mut under_way = vec![0; self.flows.len()];
        for packet in self.shared.slab.iter().filter(|packet| packet.ecn == Ecn::Ce) {
            under_way[packet.flow as usize] += 1;
        }
        for (number, (metrics, under_way)) in self.shared.metrics.flows.iter().zip(under_way).enumerate() {
            if metrics.marked != under_way {
                let counted = metrics.marked;
                let what = format!(
                    "{counted} marked packets neither arrived nor were lost, but {under_way} are under way"
                );
                return Err(self.failed(&format!("flow {number}"), &what));
            }
        }
        Ok(())
    }
}
