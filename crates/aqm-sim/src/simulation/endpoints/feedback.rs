//! What disciplines, programs and receivers tell senders.

use crate::measure::metrics::Impossible;
use crate::network::packet::PacketId;
use crate::network::records::Record;
use crate::simulation::state::Simulation;

impl Simulation {
    /// A packet that a discipline has emitted reaches the host that it is for.
    #[cold]
    pub(super) fn deliver_feedback(&mut self, id: PacketId) {
        let packet = self.shared.slab[id];
        let record = packet.record.map(|record| self.shared.slab.records[record]);
        self.shared.slab.remove(id);
        let Some(Record::Feedback(feedback)) = record else { return };
        self.shared.metrics.feedback.delivered += 1;
        if self.shared.now < feedback.earliest {
            self.shared.metrics.impossible = Some(Impossible::TooFast(packet.flow));
        }
        let flow = &mut self.flows[packet.flow as usize];
        flow.session.ledger.received.feedback += 1;
        // What the values mean, the discipline or program documents. Others than rate-based senders know of no such messages.
        self.on_rate_feedback(packet.flow as usize, feedback.values);
    }
}
