//! What the network loses, by flow and by cause, the whole run's. Where it is lost it is counted a second time: by
//! disciplines, switches and impairments.

use super::ledger::{Item, Tally};
use crate::network::packet::Packet;

/// Why a packet was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// A discipline dropped it.
    Discipline,
    /// The buffer of a switch was full, or the headroom of its flow control.
    Buffer,
    /// The program of a switch dropped it.
    Program,
    /// Random loss on the wire.
    Impairment,
}

impl Cause {
    pub(crate) const ALL: [Cause; 4] = [Cause::Discipline, Cause::Buffer, Cause::Program, Cause::Impairment];
}

/// Packets lost.
#[derive(Default)]
pub(crate) struct Losses {
    by_cause: [u64; Cause::ALL.len()],
    flows: Vec<LossesOf>,
    /// PAUSE frames.
    pub(crate) pauses: u64,
    pub(crate) doubled_pauses: u64,
}

/// Packets of one flow lost, and data among them when measuring began; and what came into being on the way.
#[derive(Clone, Copy, Default)]
pub(crate) struct LossesOf {
    pub(crate) tally: Tally,
    pub(crate) data_before: u64,
    /// Packets that a wire has doubled.
    pub(crate) doubled: Tally,
}

impl Losses {
    pub(crate) fn add_flow(&mut self) {
        self.flows.push(LossesOf::default());
    }

    /// Measuring begins.
    pub(crate) fn restart(&mut self) {
        self.flows.iter_mut().for_each(|flow| flow.data_before = flow.tally.data);
    }

    pub(crate) fn count(&mut self, packet: &Packet, cause: Cause) {
        self.by_cause[cause as usize] += 1;
        match Item::of(packet) {
            Item::Pause => self.pauses += 1,
            _ => self.flows[packet.flow as usize].tally.add(packet),
        }
    }

    /// A wire has doubled a packet.
    pub(crate) fn double(&mut self, packet: &Packet) {
        match Item::of(packet) {
            Item::Pause => self.doubled_pauses += 1,
            _ => self.flows[packet.flow as usize].doubled.add(packet),
        }
    }

    /// What two flows have lost changes places.
    #[cfg(test)]
    pub(crate) fn exchange(&mut self, one: usize, other: usize) {
        self.flows.swap(one, other);
    }

    /// A data packet of a flow counts as lost no more.
    #[cfg(test)]
    pub(crate) fn forget_one(&mut self, flow: usize, cause: Cause) {
        self.by_cause[cause as usize] -= 1;
        self.flows[flow].tally.data -= 1;
    }

    pub(crate) fn of_flow(&self, flow: usize) -> LossesOf {
        self.flows[flow]
    }

    pub(crate) fn by(&self, cause: Cause) -> u64 {
        self.by_cause[cause as usize]
    }
}
