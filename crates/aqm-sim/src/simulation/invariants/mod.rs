//! Checks that every run passes.
//!
//! [`conservation`]: what a flow has sent was delivered, lost for a known cause, or is on its way. [`wires`]: no link is
//! faster or slower than its rate. [`liveness`]: whatever waits has an event. [`emptied`]: in the end nothing is left over.
//! `faults` are put in by tests, which see that these checks report them.

mod channels;
mod conservation;
mod emptied;
#[cfg(test)]
mod fault_tests;
#[cfg(test)]
mod faults;
mod liveness;
mod wires;

use crate::measure::metrics::Impossible;
use crate::network::port::PortId;
use crate::report::RunError;
use crate::simulation::state::{Device, Port, Simulation};
use aqm_core::backlog::Backlog;
use aqm_core::params::Value;
use aqm_core::units::Size;

/// Most disciplines, and most queues of packets in flight, that a sample looks at: in a large network all of them are in no
/// cache.
const AT_ONCE: usize = 256;

/// Those of `all` whose turn it is.
fn in_turn<T>(all: &[T], turn: usize) -> &[T] {
    all.chunks(AT_ONCE).nth(turn % all.len().div_ceil(AT_ONCE).max(1)).unwrap_or_default()
}

impl Simulation {
    /// What is cheap, of all or, where there are many, of those whose `turn` it is: every discipline keeps its packets and
    /// bytes, says how many, and stays within its limit; wires carry no more than they can.
    pub(in crate::simulation) fn check_in_turn(&self, turn: usize) -> Result<(), RunError> {
        self.check_queues(in_turn(&self.devices, turn))?;
        self.check_wires(in_turn(&self.in_flight, turn))
    }

    fn check_queues(&self, devices: &[PortId]) -> Result<(), RunError> {
        let may_hold = self.shared.switches.is_some();
        for &number in devices {
            let Some(device) = self.ports[number].device() else { continue };
            check_queue(device, may_hold || device.channel.is_some())
                .and_then(|()| self.check_goes_on(number, device))
                .map_err(|what| self.failed(&self.network.link_name(number), &what))?;
        }
        Ok(())
    }

    /// Packets and bytes are conserved at every port, on every wire and for every flow, and none was faster than
    /// propagation.
    pub(in crate::simulation) fn check(&self) -> Result<(), RunError> {
        self.check_channels()?;
        // Senders stop, with timers unset, where there is no room for what they send.
        self.check_room()?;
        self.check_queues(&self.devices)?;
        self.check_wires(&self.in_flight)?;
        let on_wires = self.in_flight.iter().map(|queue| queue.iter().count() as u64);
        let mut alive = self.shared.resolving + on_wires.sum::<u64>();
        for (number, port) in self.ports.iter().enumerate() {
            let (mut there, mut dropped) = (Backlog::default(), Backlog::default());
            if let Some(extras) = &port.extras {
                alive += extras.impaired.as_ref().map_or(0, |one| one.with_event);
                if let Some(device) = &extras.device {
                    add(&mut there, device.observed.queued.packets, device.observed.queued.bytes);
                    let sending = device.trace.as_ref().and_then(|trace| trace.sending());
                    let pauses =
                        self.shared.switches.iter().flat_map(|switches| switches.frames(number)).copied();
                    for id in device.ring.iter().copied().chain(sending.map(|(id, _)| *id)).chain(pauses) {
                        add(&mut there, 1, self.shared.slab[id].length.into());
                    }
                    for frame in self.inside_channel(number) {
                        add(&mut there, 1, frame.length.into());
                    }
                    let counters = device.qdisc.counters();
                    dropped = Backlog { packets: counters.dropped_total(), bytes: counters.dropped_bytes };
                }
            }
            alive += there.packets;
            add(&mut dropped, there.packets, there.bytes);
            if !port.balances(dropped) {
                return Err(self.failed(&self.network.link_name(number), &unbalanced(port, dropped)));
            }
        }
        if alive != self.shared.slab.alive() as u64 {
            let what = format!("{} packets exist, but {alive} are at ports", self.shared.slab.alive());
            return Err(self.failed("all ports", &what));
        }
        if !self.shared.slab.owns_records() {
            return Err(self.failed("all ports", "a record has no packet"));
        }
        if let Some(impossible) = self.shared.metrics.impossible {
            let (flow, what) = match impossible {
                Impossible::TooFast(flow) => (flow, "a packet was faster than propagation"),
                Impossible::MarkedNotEct(flow) => (flow, "a packet was marked that is not ECN-capable"),
                Impossible::SentWhilePaused(flow) => (flow, "a packet was sent while its class was paused"),
                Impossible::Incomplete(flow) => (flow, "a transfer ended before its last byte had arrived"),
                Impossible::Exchanged(flow) => (flow, "a packet arrived with the payload of another"),
            };
            return Err(self.failed(&format!("flow {flow}"), what));
        }
        self.check_flows()?;
        self.check_payloads()?;
        self.check_timers()?;
        self.check_propagation()?;
        self.check_capacities()
    }

    pub(in crate::simulation) fn failed(&self, place: &str, what: &str) -> RunError {
        RunError::Check(format!("at {}: {place}: {what}", self.shared.now))
    }
}

fn add(sum: &mut Backlog, packets: u64, bytes: u64) {
    sum.packets += packets;
    sum.bytes += bytes;
}

/// Bytes of the largest packet that a link carries, with any link-layer overhead.
const LARGEST_PACKET: u64 = 66_000;

/// Where ports pause, the shell `may_hold` a packet that the discipline has decided about and no longer counts: one more
/// than its limit may wait.
fn check_queue(device: &Device, may_hold: bool) -> Result<(), String> {
    device.qdisc.check().map_err(|violation| violation.to_string())?;
    let (queued, reported, longest) = (device.observed.queued, device.qdisc.backlog(), device.longest);
    if queued != reported {
        return Err(format!("the discipline says that {reported:?} waits, but {queued:?} does"));
    }
    let counted = if may_hold {
        let (packets, bytes) =
            (longest.packets.saturating_sub(1), longest.bytes.saturating_sub(LARGEST_PACKET));
        Backlog { packets, bytes }
    } else {
        longest
    };
    let emitted = device.qdisc.counters().emitted;
    if emitted > 0 && !device.qdisc.emits() {
        return Err(format!("the discipline has emitted {emitted} packets, but says that it never does"));
    }
    match device.qdisc.params().iter().find(|(param, _)| param.name == "limit") {
        Some((_, Value::Size(limit))) if counted.exceeds(*limit) => {
            let most = match limit {
                Size::Packets(_) => format!("{} packets", longest.packets),
                Size::Bytes(_) => format!("{} bytes", longest.bytes),
            };
            Err(format!("{most} waited in a queue limited to {limit}"))
        }
        _ => Ok(()),
    }
}

fn unbalanced(port: &Port, there: Backlog) -> String {
    let inside = port.inside();
    format!("{inside:?} came in and did not come out, but {there:?} was dropped or is inside")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_has_its_turn_and_few_are_looked_at_every_time() {
        for count in [0, 1, AT_ONCE, AT_ONCE + 1, 3 * AT_ONCE - 1] {
            let all: Vec<usize> = (0..count).collect();
            let turns = count.div_ceil(AT_ONCE).max(1);
            assert_eq!((0..turns).flat_map(|turn| in_turn(&all, turn)).copied().collect::<Vec<_>>(), all);
            assert_eq!(in_turn(&all, turns), in_turn(&all, 0));
        }
    }
}
