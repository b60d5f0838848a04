//! Ports whose device sends bursts: the device says what goes when, and the simulation carries it out.

use super::air_use::{Waits, airtime_shares};
use super::observer::PortObserver;
use super::state::{Channel, Simulation};
use crate::metrics::registry::STATION;
use crate::network::graph::{LinkId, OnMedium, Queue};
use crate::network::packet::PacketId;
use crate::network::port::PortId;
use crate::scenario::topology::refused;
use aqm_core::by_category;
use aqm_core::discipline::Group;
use aqm_core::input_error::InputError;
use aqm_core::random::Random;
use aqm_core::registry;
use aqm_core::sent::Sent;
use aqm_core::stations::Stations;
use aqm_core::units::Span;
use aqm_path::device::burst::{Device, Frame, Next, Outcome, Queues, Transmitted, Whom};
use aqm_path::device::supervised::Supervised;
use aqm_path::kind::{Served, Service, Site};
use aqm_path::mac::category::{Category, Mapping};
use aqm_path::mac::link::dscp_map;
use aqm_path::medium::{Medium, Sharing};
use aqm_path::placement::Placement;

/// The next hop of packets that are for no station: from a station to its access point.
const NO_STATION: u8 = u8::MAX;

/// The queues of a channel's ports.
struct OfPorts<'a> {
    simulation: &'a mut Simulation,
    channel: usize,
}

impl Queues for OfPorts<'_> {
    fn pull(&mut self, port: u32, whom: Whom) -> Option<Frame> {
        let id = self.simulation.pull(port as PortId, whom, self.channel)?;
        let station = self.simulation.station_of(id, self.channel);
        Some(Frame { id, port, station, length: self.simulation.shared.slab[id].length })
    }

    fn waiting(&self, port: u32) -> u64 {
        self.simulation.ports[port as PortId].device().map_or(0, |own| own.waiting())
    }

    fn waiting_for(&self, port: u32, station: u8) -> u64 {
        let device = self.simulation.ports[port as PortId].device();
        let waiting = device.and_then(|device| device.observed.of_station.get(usize::from(station)));
        waiting.map_or(0, |waiting| u64::from(*waiting))
    }

    fn next_station(&mut self, port: u32, among: Stations) -> Option<u8> {
        let now = self.simulation.shared.now;
        let device = self.simulation.ports[port as PortId].device_mut()?;
        let (qdisc, mut observer) = PortObserver::of(device, port as PortId, &mut self.simulation.shared);
        qdisc.peek_among(among, now, &mut observer).map(|packet| packet.station)
    }

    fn sent(&mut self, port: u32, sent: &Sent) {
        self.simulation.tell(port as PortId, sent);
    }

    fn lose(&mut self, frame: Frame) {
        self.simulation.ports[frame.port as PortId].leave(frame.length);
        self.simulation.lose_on_wire(frame.port as PortId, frame.id);
    }
}

impl Simulation {
    /// Builds the media of the network and the devices that serve them.
    pub(crate) fn attach_media(&mut self, placement: Option<Placement>, seed: u64) -> Result<(), InputError> {
        for OnMedium { name, links } in std::mem::take(&mut self.network.media) {
            let ports: Vec<PortId> = links.iter().map(|(link, _)| *link).collect();
            let spec = &links[0].1;
            match spec.kind().service {
                Service::Medium(sharing) => self.share(&ports, &name, sharing(spec.params()), seed),
                Service::Bursts(build) => {
                    let mut served = Vec::with_capacity(links.len());
                    for (link, spec) in &links {
                        let rate = self.network.links[*link].capacity.mean_rate();
                        let from = self.network.node_name(self.network.links[*link].from);
                        let (has_stations, by_category) = self.sits(*link);
                        let placed = Placement::of(placement, has_stations, by_category);
                        served.push(Served { port: *link as u32, rate, params: spec.params(), from, placed });
                    }
                    let random = Random::stream(seed, &format!("{name} channel"));
                    let site = Site { ports: &served, overhead: self.overhead, random };
                    let device = build(spec.params(), site).map_err(|error| error.within(spec.kind().name));
                    let by_category = served.iter().any(|port| port.placed.by_category);
                    let map = by_category.then(|| dscp_map(spec.params()));
                    device
                        .and_then(|device| self.attach(ports, device, map))
                        .map_err(|error| refused(format!("medium {name}"), error))?;
                }
                Service::Line | Service::Opportunities => unreachable!("no link of this kind is on a medium"),
            }
        }
        Ok(())
    }

    /// Whether the discipline of a port has a queue for each station, and whether it is there for each access category.
    fn sits(&self, port: PortId) -> (bool, bool) {
        let Queue::Discipline { spec, .. } = &self.network.links[port].queue else { return (false, false) };
        if spec.info.name != by_category::INFO.name {
            return (spec.info.group == Group::Station, false);
        }
        let child = registry::find(spec.params.child("child").name);
        (child.is_some_and(|info| info.group == Group::Station), true)
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
    fn attach(
        &mut self,
        ports: Vec<PortId>,
        device: Box<dyn Device>,
        dscp_map: Option<Mapping>,
    ) -> Result<(), InputError> {
        // One that takes packets ahead hears of each, as one with a ring does.
        let ring_packets = if device.takes_ahead() { u32::MAX } else { 1 };
        let names = device.air().map_or(Vec::new(), |air| air.names.to_vec());
        for &port in &ports {
            let own = self.ports[port].device_mut().expect("a port of a channel has a discipline");
            (own.channel, own.ring_packets, own.trace) =
                (Some(self.channels.len() as u32), ring_packets, None);
            own.observed.of_station = vec![0; if dscp_map.is_some() { 4 * names.len() } else { names.len() }];
        }
        let receivers = if names.is_empty() { Vec::new() } else { self.receivers(&ports, &names)? };
        self.channels.push(Channel {
            device: Some(Box::new(Supervised::new(device))),
            ports,
            receivers,
            dscp_map,
            waits: vec![Waits::default(); names.len()],
            before: None,
            sampled: None,
            parts: names.iter().map(|name| STATION.part(name)).collect(),
        });
        Ok(())
    }

    /// Of each link, the station that it leads to from the air, which is the node that the links of these ports lead to.
    fn receivers(&self, ports: &[PortId], names: &[String]) -> Result<Vec<Option<u8>>, InputError> {
        let (links, air) = (&self.network.links, self.network.links[ports[0]].to);
        if let Some(other) = ports.iter().find(|port| links[**port].to != air) {
            let [air, other] = [air, links[*other].to].map(|node| self.network.node_name(node));
            let problem = format!("links of stations lead to one node, but here to '{air}' and '{other}'");
            return Err(InputError::new(problem));
        }
        let mut receivers = vec![None; links.len()];
        for (station, name) in names.iter().enumerate() {
            let leads = |link: &&LinkId| self.network.node_name(links[**link].to) == name;
            let Some(link) = self.network.out[air].iter().find(leads) else {
                let air = self.network.node_name(air);
                return Err(InputError::new(format!("no link leads from '{air}' to station '{name}'")));
            };
            receivers[*link] = Some(station as u8);
        }
        Ok(receivers)
    }

    /// A port of a channel has something to send.
    #[inline(never)]
    pub(super) fn ready_on_channel(&mut self, port: PortId, channel: usize) {
        let now = self.shared.now;
        let Some(mut device) = self.channels[channel].device.take() else { return };
        if let Some(own) = self.ports[port].device_mut() {
            own.busy = true;
        }
        device.ready(port as u32, now, &mut OfPorts { simulation: self, channel });
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
        let reports_itself = device.takes_ahead();
        self.settle(&device.ended(now), reports_itself);
        let (next, sent) = device.next(now, &mut OfPorts { simulation: self, channel });
        if let Next::Burst { .. } = next {
            self.begin_burst(sent);
        }
        for place in 0..self.channels[channel].ports.len() {
            let port = self.channels[channel].ports[place];
            let Some(own) = self.ports[port].device_mut() else { continue };
            // A port of which the device knows that something waits is not announced again.
            let waits = own.waiting() > 0;
            own.busy = waits && next != Next::Idle;
            if own.wakes {
                self.arm_wakeup(port);
            } else if next == Next::Idle && waits {
                // Only a discipline that wakes may keep a packet that it has.
                device.breaks("it is idle, but packets wait that it could send");
            }
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

    /// A burst has ended: disciplines learn what became of their packets unless the device `reports_itself`, and what was not
    /// delivered is lost or goes back.
    fn settle(&mut self, burst: &[Transmitted], reports_itself: bool) {
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
            if reports_itself {
                continue;
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

    /// The number of the next hop of a packet at a port of a channel: its station, and with access categories its category,
    /// too. A device without stations gets the class of the flow.
    pub(super) fn station_of(&self, id: PacketId, channel: usize) -> u8 {
        let flow = &self.flows[self.shared.slab[id].flow as usize].identity;
        let Channel { receivers, dscp_map, waits, .. } = &self.channels[channel];
        if receivers.is_empty() {
            return flow.class as u8;
        }
        let station = self.receiver_of(id, channel);
        match dscp_map {
            None => station.unwrap_or(NO_STATION),
            Some(map) => {
                let category = Category::of(flow.dscp, *map) as u8;
                station.map_or(category, |station| category * waits.len() as u8 + station)
            }
        }
    }

    /// The station that a packet is for: that to which the next link of its route leads; none from a station.
    fn receiver_of(&self, id: PacketId, channel: usize) -> Option<u8> {
        let next = self.shared.routes[self.shared.slab[id].next as usize] as usize;
        self.channels[channel].receivers.get(next).copied().flatten()
    }

    /// Notes the use of the air before measuring begins.
    pub(super) fn restart_channels(&mut self) {
        for channel in &mut self.channels {
            channel.before = channel.air_use();
        }
    }

    /// Adds to the point of the time series what stations have used since the last.
    pub(super) fn sample_channels(&mut self) {
        for channel in &mut self.channels {
            let Some(used) = channel.air_use() else { continue };
            let stations = used.since(channel.sampled.as_ref());
            for ((part, station), share) in channel.parts.iter().zip(&stations).zip(airtime_shares(&stations))
            {
                self.shared.metrics.sample_station(part, share, station.delay_ms());
            }
            channel.sampled = Some(used);
        }
    }

    /// The next packet of a port for this next hop: one that came back, or the discipline's choice.
    fn pull(&mut self, port: PortId, whom: Whom, channel: usize) -> Option<PacketId> {
        let back = &self.ports[port].device()?.ring;
        let place = match whom {
            Whom::Any => (!back.is_empty()).then_some(0),
            Whom::Station(station) => back.iter().position(|id| self.station_of(*id, channel) == station),
        };
        match place {
            Some(place) => self.ports[port].device_mut()?.ring.remove(place),
            None => {
                let taken = self.dequeue_for(port, whom)?;
                if let Some(station) = self.receiver_of(taken.id, channel) {
                    let waits = &mut self.channels[channel].waits[usize::from(station)];
                    waits.packets += 1;
                    waits.sojourn += taken.sojourn;
                }
                Some(taken.id)
            }
        }
    }
}
