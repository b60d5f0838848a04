//! What a discipline may know about a packet.

use super::state::Shared;
use crate::endpoint::flow::Flow;
use crate::headers::TCP;
use crate::network::packet::{Packet, PacketId, Role};
use crate::network::records::Record;
use aqm_core::packet::{Packet as Metadata, TcpView};

/// What a discipline may know about a packet that arrives now.
#[inline(always)]
pub(super) fn metadata(flows: &[Flow], shared: &Shared, id: PacketId) -> Metadata {
    let packet = &shared.slab[id];
    let identity = &flows[packet.flow as usize].identity;
    if packet.role == Role::Feedback {
        return of_feedback(flows, shared, id, packet);
    }
    let mut metadata = Metadata {
        cookie: u64::from(id),
        flow: identity.hash,
        arrival: shared.now,
        source: identity.source,
        destination: identity.destination,
        length: packet.length,
        tcp: (identity.protocol == TCP).then_some(TcpView {
            seq: packet.number as u32,
            ack: packet.sack[0].0,
            payload: packet.payload as u16,
            flags: packet.flags,
            has_sack: packet.sack_count > 0,
        }),
        class: identity.class,
        // Switches know; no discipline of the registry reads it.
        ingress: 0,
        dscp: identity.dscp,
        ecn: packet.ecn,
        protocol: identity.protocol,
        station: 0,
    };
    if packet.role == Role::Ack {
        metadata.flow = !metadata.flow;
        (metadata.source, metadata.destination) = (metadata.destination, metadata.source);
        if let Some(tcp) = &mut metadata.tcp {
            (tcp.seq, tcp.ack, tcp.payload) = (0, packet.number as u32, 0);
        }
    }
    metadata
}

/// The same about a packet that another has emitted: a datagram to the flow's host.
#[cold]
fn of_feedback(flows: &[Flow], shared: &Shared, id: PacketId, packet: &Packet) -> Metadata {
    let identity = &flows[packet.flow as usize].identity;
    let mut metadata = Metadata::new(u64::from(id), !identity.hash, packet.length);
    metadata.destination = identity.source;
    if let Some(Record::Feedback(feedback)) = packet.record.map(|record| shared.slab.records[record]) {
        metadata.class = feedback.class;
    }
    metadata
}
