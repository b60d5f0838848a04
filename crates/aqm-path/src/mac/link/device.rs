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
    channel: Channel,
    hosts: Hosts,
    names: Vec<String>,
}

/// The queues of the nodes, and the packets that the channel has of them.
struct Hosts {
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
}

impl Wifi {
    pub(super) fn new(
        channel: Channel,
        names: Vec<String>,
        access_point: u32,
        stations: Vec<Option<u32>>,
        overhead: u32,
    ) -> Wifi {
        let hosts = Hosts { access_point, stations, frames: Vec::new(), free: Vec::new(), overhead };
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
    fn peek(&mut self, queue: Queue, _now: Time, may: &dyn Fn(u8) -> bool) -> Option<u8> {
        let port = self.hosts.port(queue.node)?;
        if queue.node != ACCESS_POINT {
            return (self.queues.waiting(port) > 0 && may(ACCESS_POINT)).then_some(ACCESS_POINT);
        }
        let stations = 0..self.hosts.stations.len() as u8;
        let among = stations.filter(|station| may(*station)).fold(Stations::NONE, Stations::with);
        self.queues.next_station(port, among)
    }

    fn take(&mut self, queue: Queue, to: u8, _now: Time) -> Option<Msdu> {
        let port = self.hosts.port(queue.node)?;
        let whom = if queue.node == ACCESS_POINT { Whom::Station(to) } else { Whom::Any };
        let frame = self.queues.pull(port, whom)?;
        Some(Msdu { id: self.hosts.keep(frame), octets: frame.length - self.hosts.overhead })
    }

    fn waits(&mut self, queue: Queue, to: u8) -> bool {
        match self.hosts.port(queue.node) {
            None => false,
            Some(port) if queue.node == ACCESS_POINT => self.queues.waiting_for(port, to) > 0,
            Some(port) => self.queues.waiting(port) > 0,
        }
    }

    /// The sender's discipline learns of it, and that of the access point of what it has received.
    fn ended(&mut self, transmission: &Transmission) {
        let Transmission { queue, to, .. } = *transmission;
        let station = transmission.station();
        let sent = Sent {
            station: if queue.node == ACCESS_POINT { to } else { ACCESS_POINT },
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
            self.queues.sent(self.hosts.access_point, &Sent { station, received: true, ..sent });
        }
    }
}

impl Device for Wifi {
    fn ready(&mut self, port: u32, now: Time, queues: &mut dyn Queues) {
        // Access categories: all packets are best effort.
        let category = Category::BestEffort;
        if let Some(node) = self.hosts.node(port) {
            self.with(queues, |channel, at| channel.wake(Queue { node, category }, now, at));
        }
    }

    fn next(&mut self, now: Time, queues: &mut dyn Queues, sent: &mut Vec<Transmitted>) -> Next {
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
                Doing::At(time) => return Next::WaitUntil(time),
                Doing::Idle => return Next::Idle,
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
