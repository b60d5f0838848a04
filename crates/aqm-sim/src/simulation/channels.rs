//! Ports whose device sends bursts: the device says what goes when, and the simulation carries it out.

use super::state::{Channel, Simulation};
use crate::network::graph::OnMedium;
use crate::network::port::PortId;
use crate::scenario::topology::refused;
use aqm_core::input_error::InputError;
use aqm_core::random::Random;
use aqm_core::sent::Sent;
use aqm_core::units::Span;
use aqm_path::device::burst::{Device, Frame, Next, Outcome, Queues, Transmitted, Whom};
use aqm_path::device::supervised::Supervised;
use aqm_path::kind::{Served, Service, Site};
use aqm_path::medium::{Medium, Sharing};

/// The queues of a channel's ports.
struct OfPorts<'a>(&'a mut Simulation);

impl Queues for OfPorts<'_> {
    fn pull(&mut self, port: u32, whom: Whom) -> Option<Frame> {
        let id = self.0.pull(port as PortId, whom)?;
        let packet = &self.0.shared.slab[id];
        let station = self.0.station_of(packet.flow);
        Some(Frame { id, port, station, length: packet.length })
    }

    fn waiting(&self, port: u32) -> u64 {
        let waits = |device: &super::state::Device| device.ring.len() as u64 + device.observed.queued.packets;
        self.0.ports[port as PortId].device().map_or(0, waits)
    }
}

impl Simulation {
    /// Builds the media of the network and the devices that serve them.
    pub(crate) fn attach_media(&mut self, seed: u64) -> Result<(), InputError> {
        for OnMedium { name, links } in std::mem::take(&mut self.network.media) {
            let ports: Vec<PortId> = links.iter().map(|(link, _)| *link).collect();
            let spec = &links[0].1;
            match spec.kind().service {
                Service::Medium(sharing) => self.share(&ports, &name, sharing(spec.params()), seed),
                Service::Bursts(build) => {
                    let mut served = Vec::with_capacity(links.len());
                    for (link, spec) in &links {
                        let rate = self.network.links[*link].capacity.mean_rate();
                        served.push(Served { port: *link as u32, rate, params: spec.params() });
                    }
                    let random = Random::stream(seed, &format!("{name} channel"));
                    let site = Site { ports: &served, overhead: self.overhead, random };
                    let device = build(spec.params(), site).map_err(|error| error.within(spec.kind().name));
                    self.attach(ports, device.map_err(|error| refused(format!("link {name}"), error))?);
                }
                Service::Line | Service::Opportunities => unreachable!("no link of this kind is on a medium"),
            }
        }
        Ok(())
    }

    /// Puts ports, which have disciplines, on a medium.
    fn share(&mut self, ports: &[PortId], name: &str, sharing: Sharing, seed: u64) {
        for &port in ports {
            let delay = self.network.links[port].delay;
            let own = self.ports[port].device_mut().expect("a port on a medium has a discipline");
            own.medium = Some(self.media.len() as u32);
            own.hold = if sharing.until_arrival { delay } else { Span::ZERO };
        }
        self.media.push(Medium::new(name, sharing.access, seed));
    }

    /// Lets a device serve these ports, which have disciplines, in place of their own devices.
    fn attach(&mut self, ports: Vec<PortId>, device: Box<dyn Device>) {
        for &port in &ports {
            let own = self.ports[port].device_mut().expect("a port of a channel has a discipline");
            (own.channel, own.ring_packets, own.trace) = (Some(self.channels.len() as u32), 1, None);
        }
        self.channels.push(Channel { device: Some(Box::new(Supervised::new(device))), ports });
    }

    /// A port of a channel has something to send.
    #[inline(never)]
    pub(super) fn ready_on_channel(&mut self, port: PortId, channel: usize) {
        let now = self.shared.now;
        let Some(mut device) = self.channels[channel].device.take() else { return };
        self.set_busy(port, true);
        device.ready(port as u32, now);
        if !device.is_sending(now) {
            self.ask_device(channel, &mut device);
        }
        self.channels[channel].device = Some(device);
    }

    /// The device of a channel wanted to be asked again; an event from before another port was ready is over.
    #[inline(never)]
    pub(super) fn on_channel_due(&mut self, channel: usize) {
        let now = self.shared.now;
        let Some(mut device) = self.channels[channel].device.take() else { return };
        if device.due() == Some(now) {
            self.ask_device(channel, &mut device);
        }
        self.channels[channel].device = Some(device);
    }

    /// What next?
    fn ask_device(&mut self, channel: usize, device: &mut Supervised) {
        let now = self.shared.now;
        let awaited = device.due().filter(|due| *due > now);
        self.settle(&device.ended(now));
        let (next, sent) = device.next(now, &mut OfPorts(self));
        if let Next::Burst { .. } = next {
            self.begin_burst(sent);
        }
        for place in 0..self.channels[channel].ports.len() {
            let port = self.channels[channel].ports[place];
            // A port of which the device knows that something waits is not announced again.
            let waits = OfPorts(self).waiting(port as u32) > 0;
            self.set_busy(port, waits && next != Next::Idle);
            // Only a discipline that wakes may keep a packet that it has.
            let shapes = self.ports[port].device().is_some_and(|own| own.wakes);
            if next == Next::Idle && waits && !shapes {
                device.breaks("it is idle, but packets wait that it could send");
            }
            self.arm_wakeup(port);
        }
        if let Some(due) = device.due().filter(|due| Some(*due) != awaited) {
            self.shared.ready_at(due.max(now), self.channels[channel].ports[0] as u32);
        }
    }

    /// What of a burst arrives is on its wire from the beginning: when it is out is known.
    fn begin_burst(&mut self, sent: &[Transmitted]) {
        for one in sent.iter().filter(|one| one.outcome == Outcome::Delivered) {
            self.depart(one.frame.port as PortId, one.frame.id, one.out);
        }
    }

    /// A burst has ended: disciplines learn what became of their packets, and what was not delivered is lost or goes back.
    fn settle(&mut self, burst: &[Transmitted]) {
        // The last first: they keep their order.
        for Transmitted { frame, .. } in burst.iter().rev().filter(|one| one.outcome == Outcome::Requeued) {
            if let Some(own) = self.ports[frame.port as PortId].device_mut() {
                own.ring.push_front(frame.id);
            }
        }
        let mut reports: Vec<(PortId, Sent)> = Vec::new();
        for Transmitted { frame, airtime, attempts, outcome, .. } in burst {
            let (port, station) = (frame.port as PortId, frame.station);
            if *outcome == Outcome::Lost {
                self.ports[port].leave(frame.length);
                self.lose_on_wire(port, frame.id);
            }
            let place = reports.iter().position(|(of, sent)| *of == port && sent.station == station);
            let place = place.unwrap_or_else(|| {
                let nothing = Sent {
                    station,
                    class: u16::from(station),
                    delivered: 0,
                    attempts: 0,
                    airtime: Span::ZERO,
                    received: false,
                    expected: None,
                };
                reports.push((port, nothing));
                reports.len() - 1
            });
            let (_, sent) = &mut reports[place];
            sent.delivered += u16::from(*outcome == Outcome::Delivered);
            sent.attempts += attempts;
            sent.airtime += *airtime;
        }
        for (port, sent) in reports {
            self.tell(port, &sent);
        }
    }

    fn set_busy(&mut self, port: PortId, busy: bool) {
        if let Some(own) = self.ports[port].device_mut() {
            own.busy = busy;
        }
    }

    /// The station that a flow's packets are for: until links name stations, the class of the flow is the number of its own.
    pub(super) fn station_of(&self, flow: u32) -> u8 {
        self.flows[flow as usize].identity.class as u8
    }

    /// The next packet of a port for this next hop: one that came back, or the discipline's choice.
    fn pull(&mut self, port: PortId, whom: Whom) -> Option<u32> {
        let back = &self.ports[port].device()?.ring;
        let place = match whom {
            Whom::Any => (!back.is_empty()).then_some(0),
            Whom::Station(station) => {
                back.iter().position(|id| self.station_of(self.shared.slab[*id].flow) == station)
            }
        };
        match place {
            Some(place) => self.ports[port].device_mut()?.ring.remove(place),
            None => self.dequeue_for(port, whom),
        }
    }
}
