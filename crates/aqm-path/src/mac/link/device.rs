//! The device: the channel's law between the queues of a host and the air.

use super::super::category::Category;
use super::super::channel::{
    ACCESS_POINT, Channel, MediumTotals, Msdu, Next as Doing, Outcome as Response, Queue, Source,
    StationTotals, Transmission,
};
use crate::device::burst::{Air, Device, Frame, Next, Outcome, Queues, Transmitted, Whom};
use aqm_core::sent::Sent;
use aqm_core::stations::Stations;
use aqm_core::units::{Span, Time};

/// An access point and its stations as a device: the packets that it takes stay with it until they are delivered or
/// given up.
pub(super) struct Wifi {
    pub(super) channel: Channel,
    hosts: Hosts,
    names: Vec<String>,
}

/// The queues of the nodes, and the packets that the channel has of them.
pub(super) struct Hosts {
    /// The port of the access point.
    access_point: u32,
    /// Those of stations, by their numbers; not all of them send.
    stations: Vec<Option<u32>>,
    /// The packets that the channel has, by the numbers that it knows them by.
    frames: Vec<Frame>,
    /// Numbers to be given again.
    free: Vec<u64>,
    /// Bytes of a packet that Wi-Fi does not send.
    overhead: u32,
    /// Whether queues number their next hops by category and station, or by station alone.
    by_category: bool,
    /// Stations that will leave, and when; the next last.
    leaving: Vec<(Time, u8)>,
    /// Those that have left: what comes for them or from them is given up.
    gone: Stations,
}

impl Wifi {
    pub(super) fn new(channel: Channel, names: Vec<String>, hosts: Hosts) -> Wifi {
        Wifi { channel, hosts, names }
    }

    /// Calls the channel with the queues at hand, and takes what it gives up from the host.
    fn with<R>(&mut self, queues: &mut dyn Queues, call: impl FnOnce(&mut Channel, &mut At<'_>) -> R) -> R {
        let result = call(&mut self.channel, &mut At { hosts: &mut self.hosts, queues });
        for dropped in self.channel.take_dropped() {
            queues.lose(self.hosts.give_back(dropped.id));
        }
        result
    }
}

impl Hosts {
    pub(super) fn new(
        access_point: u32,
        stations: Vec<Option<u32>>,
        overhead: u32,
        by_category: bool,
        mut leaving: Vec<(Time, u8)>,
    ) -> Hosts {
        leaving.sort_unstable_by(|one, other| other.cmp(one));
        let (frames, free, gone) = (Vec::new(), Vec::new(), Stations::NONE);
        Hosts { access_point, stations, frames, free, overhead, by_category, leaving, gone }
    }

    /// Gives up what waits at a station that has left.
    fn empty(&self, station: u8, queues: &mut dyn Queues) {
        let Some(port) = self.port(station) else { return };
        for &category in self.categories() {
            let whom = self.next_hop(Queue { node: station, category }, ACCESS_POINT);
            while let Some(frame) = queues.pull(port, whom) {
                queues.lose(frame);
            }
        }
    }

    /// The categories in which packets may wait.
    fn categories(&self) -> &'static [Category] {
        if self.by_category { &Category::ALL } else { &[Category::BestEffort] }
    }

    /// The number that a queue's discipline has for a receiver.
    fn next_hop(&self, queue: Queue, to: u8) -> Whom {
        let category = queue.category as u8;
        match (queue.node, self.by_category) {
            (ACCESS_POINT, false) => Whom::Station(to),
            (ACCESS_POINT, true) => Whom::Station(category * self.stations.len() as u8 + to),
            (_, false) => Whom::Any,
            (_, true) => Whom::Station(category),
        }
    }

    /// Whether packets wait for a receiver.
    fn waits(&self, queue: Queue, to: u8, queues: &dyn Queues) -> bool {
        let Some(port) = self.port(queue.node) else { return false };
        match self.next_hop(queue, to) {
            Whom::Any => queues.waiting(port) > 0,
            Whom::Station(number) => queues.waiting_for(port, number) > 0,
        }
    }

    /// Whether packets wait in a category.
    fn has_any(&self, queue: Queue, queues: &dyn Queues) -> bool {
        if queue.node != ACCESS_POINT {
            return self.waits(queue, ACCESS_POINT, queues);
        }
        (0..self.stations.len() as u8).any(|station| self.waits(queue, station, queues))
    }

    fn port(&self, node: u8) -> Option<u32> {
        if node == ACCESS_POINT { Some(self.access_point) } else { self.stations[usize::from(node)] }
    }

    fn node(&self, port: u32) -> Option<u8> {
        if port == self.access_point {
            return Some(ACCESS_POINT);
        }
        self.stations.iter().position(|own| *own == Some(port)).map(|station| station as u8)
    }

    fn keep(&mut self, frame: Frame) -> u64 {
        match self.free.pop() {
            Some(number) => {
                self.frames[number as usize] = frame;
                number
            }
            None => {
                self.frames.push(frame);
                self.frames.len() as u64 - 1
            }
        }
    }

    fn give_back(&mut self, number: u64) -> Frame {
        self.free.push(number);
        self.frames[number as usize]
    }
}

/// The queues as the channel asks for them.
struct At<'a> {
    hosts: &'a mut Hosts,
    queues: &'a mut dyn Queues,
}

impl Source for At<'_> {
    fn peek(&mut self, queue: Queue, _now: Time, except: Stations) -> Option<u8> {
        let port = self.hosts.port(queue.node)?;
        if self.hosts.gone.contains(queue.node) {
            return None;
        }
        if queue.node != ACCESS_POINT {
            let waits = self.hosts.waits(queue, ACCESS_POINT, &*self.queues);
            return (waits && !except.contains(ACCESS_POINT)).then_some(ACCESS_POINT);
        }
        let count = self.hosts.stations.len() as u8;
        let number = |station: u8| match self.hosts.next_hop(queue, station) {
            Whom::Station(number) => number,
            Whom::Any => station,
        };
        let gone = self.hosts.gone;
        let among = if except == Stations::NONE {
            Stations::range(number(0), count)
        } else {
            let allowed = (0..count).filter(|station| gone.contains(*station) || !except.contains(*station));
            allowed.map(number).fold(Stations::NONE, Stations::with)
        };
        loop {
            let station = self.queues.next_station(port, among)? % count;
            if !gone.contains(station) {
                return Some(station);
            }
            let frame = self.queues.pull(port, self.hosts.next_hop(queue, station))?;
            self.queues.lose(frame);
        }
    }

    fn take(&mut self, queue: Queue, to: u8, _now: Time) -> Option<Msdu> {
        let port = self.hosts.port(queue.node)?;
        let frame = self.queues.pull(port, self.hosts.next_hop(queue, to))?;
        Some(Msdu { id: self.hosts.keep(frame), octets: frame.length - self.hosts.overhead })
    }

    fn waits(&mut self, queue: Queue, to: u8) -> bool {
        self.hosts.waits(queue, to, &*self.queues)
    }

    /// The sender's discipline learns of it, and that of the access point of what it has received.
    fn ended(&mut self, transmission: &Transmission) {
        let Transmission { queue, to, .. } = *transmission;
        let station = transmission.station();
        let number = |queue: Queue, to: u8| match self.hosts.next_hop(queue, to) {
            Whom::Station(number) => number,
            Whom::Any => ACCESS_POINT,
        };
        let sent = Sent {
            station: number(queue, to),
            class: 0,
            delivered: transmission.acknowledged,
            attempts: transmission.mpdus,
            airtime: transmission.airtime,
            received: false,
            // Without rate control a station is expected to get what its mode carries.
            expected: Some(transmission.mode.rate()),
        };
        if let Some(port) = self.hosts.port(queue.node) {
            self.queues.sent(port, &sent);
        }
        if queue.node != ACCESS_POINT && transmission.outcome == Response::Answered {
            let station = number(Queue { node: ACCESS_POINT, ..queue }, station);
            self.queues.sent(self.hosts.access_point, &Sent { station, received: true, ..sent });
        }
    }
}

impl Device for Wifi {
    fn ready(&mut self, port: u32, now: Time, queues: &mut dyn Queues) {
        let Some(node) = self.hosts.node(port) else { return };
        if self.hosts.gone.contains(node) {
            return self.hosts.empty(node, queues);
        }
        for &category in self.hosts.categories() {
            let queue = Queue { node, category };
            if !self.hosts.by_category || self.hosts.has_any(queue, queues) {
                self.with(queues, |channel, at| channel.wake(queue, now, at));
            }
        }
    }

    fn next(&mut self, now: Time, queues: &mut dyn Queues, sent: &mut Vec<Transmitted>) -> Next {
        while let Some((_, station)) = self.hosts.leaving.pop_if(|(time, _)| *time <= now) {
            self.hosts.gone = self.hosts.gone.with(station);
            self.with(queues, |channel, at| channel.leave(station, now, at));
            self.hosts.empty(station, queues);
        }
        let leaves = self.hosts.leaving.last().map(|(time, _)| *time);
        loop {
            match self.with(queues, |channel, at| channel.poll(now, at)) {
                Doing::Begun => {
                    for released in self.channel.released() {
                        let frame = self.hosts.give_back(released.id);
                        // Airtime is counted for transmissions, not for packets.
                        let (airtime, outcome) = (Span::ZERO, Outcome::Delivered);
                        sent.push(Transmitted { frame, out: released.at, airtime, attempts: 1, outcome });
                    }
                    let end = self.channel.busy_until().unwrap_or(now);
                    return Next::Burst { start: now, end };
                }
                Doing::Ended => {}
                Doing::At(time) => return Next::WaitUntil(leaves.map_or(time, |leaves| leaves.min(time))),
                Doing::Idle => return leaves.map_or(Next::Idle, Next::WaitUntil),
            }
        }
    }

    fn takes_ahead(&self) -> bool {
        true
    }

    fn air(&self) -> Option<Air<'_>> {
        let stations: Vec<StationTotals> =
            (0..self.names.len()).map(|station| *self.channel.station(station as u8)).collect();
        let medium: MediumTotals = *self.channel.medium();
        Some(Air { names: &self.names, stations, medium })
    }

    fn check(&self, now: Time) -> Result<(), String> {
        self.channel.check(now)
    }
}
