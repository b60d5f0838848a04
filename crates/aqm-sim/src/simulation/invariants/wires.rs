//! No link is faster or slower than its rate and its delay say: packets on a wire keep the distance that their length takes,
//! the last one arrives when it should, and none carries more than fits.

use crate::network::graph::Capacity;
use crate::network::in_flight::InFlightQueue;
use crate::network::port::{NONE, PortId};
use crate::report::RunError;
use crate::simulation::state::Simulation;
use aqm_core::units::{Bytes, Time};
use aqm_io::link_trace::OPPORTUNITY_BYTES;

/// Most packets of a wire that are looked at each time: samples may be many.
const NEWEST: usize = 20;

impl Simulation {
    /// The newest packets in flight in these queues follow each other behind every port no sooner than their serialisation
    /// takes.
    pub(in crate::simulation) fn check_wires(&self, queues: &[InFlightQueue]) -> Result<(), RunError> {
        // Of the ports that share a queue: the time by which the packet before must arrive.
        let mut latest: Vec<(PortId, Time)> = Vec::with_capacity(NEWEST);
        for queue in queues {
            latest.clear();
            for packet in queue.iter().rev().take(NEWEST) {
                let port = self.shared.sent_by(packet.id);
                let link = &self.network.links[port];
                // On an acknowledgment's path it is only known of the first when it arrives at the end.
                let is_first = queue.first().is_some_and(|first| first.id == packet.id);
                if packet.at < self.shared.now && (is_first || queue.ack_path == NONE) {
                    let what = format!("a packet was to arrive at {}", packet.at);
                    return Err(self.failed(&self.network.link_name(port), &what));
                }
                let Capacity::Rate(rate) = link.capacity else { continue };
                // Bursts have several packets, and their own rules.
                if self.ports[port].device().is_some_and(|device| device.channel.is_some()) {
                    continue;
                }
                let length = Bytes::new(self.shared.slab[packet.id].length.into());
                let behind = latest.iter_mut().find(|(other, _)| *other == port);
                if behind.as_ref().is_some_and(|(_, by)| packet.at > *by) {
                    let what = format!("a packet follows another sooner than {rate} allows");
                    return Err(self.failed(&self.network.link_name(port), &what));
                }
                let distance = rate.time_for(length).as_nanos();
                let by = Time::from_nanos(packet.at.as_nanos().saturating_sub(distance));
                match behind {
                    Some((_, latest)) => *latest = by,
                    None => latest.push((port, by)),
                }
            }
        }
        Ok(())
    }

    /// What a port has sent last arrives after propagation, unless it was lost, has an event of its own, or shares the event
    /// of the port behind.
    pub(in crate::simulation) fn check_propagation(&self) -> Result<(), RunError> {
        let mut last = vec![Time::ZERO; self.ports.len()];
        for packet in self.in_flight.iter().flat_map(|queue| queue.iter()) {
            let last = &mut last[self.shared.sent_by(packet.id)];
            *last = (*last).max(packet.at);
        }
        // What goes on at once is on the wire of the port behind.
        for port in &self.ports {
            if let Some(last) = last.get_mut(port.upstream as usize) {
                *last = Time::ZERO;
            }
        }
        for (number, (port, last)) in self.ports.iter().zip(last).enumerate() {
            let is_impaired = port.extras.as_ref().is_some_and(|extras| extras.impaired.is_some());
            let Some(out) = port.last_out().filter(|_| last != Time::ZERO && !is_impaired) else { continue };
            let arrives = out + self.network.links[number].delay;
            if last != arrives {
                let what = format!("the last packet arrives at {last}, not at {arrives}");
                return Err(self.failed(&self.network.link_name(number), &what));
            }
        }
        Ok(())
    }

    /// The last packet of every port took the time that its length needs, and no port with a discipline has carried more since the start of the run than its link could.
    pub(in crate::simulation) fn check_capacities(&self) -> Result<(), RunError> {
        for (number, port) in self.ports.iter().enumerate() {
            let Some(device) = port.device().filter(|device| device.channel.is_none()) else { continue };
            let counters = device.qdisc.counters();
            let (taken, fits) = match &self.network.links[number].capacity {
                Capacity::Rate(rate) => (
                    counters.departed_bytes as f64,
                    rate.as_bytes_per_sec_f64() * self.shared.now.since(Time::ZERO).as_secs_f64(),
                ),
                Capacity::Trace(trace) => {
                    let headers = counters.departed * u64::from(self.overhead);
                    let after = Time::from_nanos(self.shared.now.as_nanos() + 1);
                    let opportunities = trace.count_between(Time::ZERO, after);
                    (
                        (counters.departed_bytes - headers) as f64,
                        (opportunities * OPPORTUNITY_BYTES.as_u64()) as f64,
                    )
                }
            };
            let carried = taken - self.held(number);
            // Rounding: spans are whole nanoseconds, rounded up.
            if carried > fits * (1.0 + 1e-9) + 1.0 {
                let what = format!("{carried:.0} bytes were carried, but {fits:.0} fit");
                return Err(self.failed(&self.network.link_name(number), &what));
            }
        }
        let links = self.ports.iter().zip(&self.network.links);
        match links.map(|(port, link)| port.is_mistimed(link.capacity.mean_rate())).position(|wrong| wrong) {
            Some(port) => Err(self
                .failed(&self.network.link_name(port), "a packet was sent faster or slower than its rate")),
            None => Ok(()),
        }
    }

    /// Bytes that the device has taken from the discipline and not yet sent, those of the packet on the wire included; of IP
    /// packets where opportunities carry those.
    pub(crate) fn held(&self, number: PortId) -> f64 {
        let port = &self.ports[number];
        let Some(device) = port.device() else { return 0.0 };
        let (overhead, sending) = match &device.trace {
            Some(trace) => (self.overhead, trace.sending().map_or(0.0, |(_, left)| *left as f64)),
            None => (0, port.unsent(self.shared.now)),
        };
        let ring = device.ring.iter().map(|&id| f64::from(self.shared.slab[id].length - overhead));
        let bursts = self.inside_channel(number).map(|frame| f64::from(frame.length));
        ring.sum::<f64>() + bursts.sum::<f64>() + sending
    }
}
