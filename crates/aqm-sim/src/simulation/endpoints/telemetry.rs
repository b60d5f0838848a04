//! What switches on the path say in the packets themselves (INT).

use crate::endpoint::flow::Endpoints;
use crate::network::packet::PacketId;
use crate::network::records::Record;
use crate::simulation::state::Simulation;
use crate::switch::pipeline::Hops;

impl Simulation {
    /// A packet with a record has reached the end of its route: its endpoint reads what it says.
    #[cold]
    pub(super) fn read_telemetry(&mut self, id: PacketId) {
        let packet = &self.shared.slab[id];
        let Some(Record::Telemetry(hops)) = packet.record.map(|record| self.shared.slab.records[record])
        else {
            return;
        };
        self.shared.metrics.telemetry.count(&hops);
        self.flows[packet.flow as usize].endpoints.on_telemetry(&hops);
    }
}

impl Endpoints {
    /// A packet says what its queues were, the first hop first.
    fn on_telemetry(&mut self, _hops: &Hops) {
        match self {
            // None acts on it.
            Endpoints::Tcp(_) | Endpoints::Datagrams => {}
        }
    }
}
