//! Ports that are served late. Between two samples nobody looks at a queue, and what a packet meets in it depends on those that
//! came before, not on what happens elsewhere meanwhile. So packets that wait for such a port lie where they were sent, until
//! the packets behind it run out, or a sample is due: then the port catches up, arrival by arrival and transmission by
//! transmission, each with its own time. No event stands for either while it is busy.
//!
//! Arrivals and ends of transmissions fall together where flows send to the beat of their acknowledgments. The first of both
//! is then the one whose event would have been made first, and that follows from what is known: the event of an arrival would
//! have been made at the arrival before it, as packets travel longer than any is sent, and that of the end as the transmission
//! began.

use crate::endpoint::flow::Endpoints;
use crate::network::in_flight::InFlight;
use crate::network::port::PortId;
use crate::simulation::forwarding::offer;
use crate::simulation::metadata::metadata;
use crate::simulation::state::{END, LatePort, Simulation};
use crate::transport::MAX_SACK_BLOCKS;
use aqm_core::units::{Bytes, Span, Time};
use std::collections::BTreeMap;

/// Bytes by which options make packets of TCP longer: SACK blocks (RFC 2018 section 3), which are more than those of a SYN.
const OPTIONS: u32 = 4 + 8 * MAX_SACK_BLOCKS as u32;

/// How a port with a discipline is used: the queues of packets in flight to it and behind it, and the delays there.
#[derive(Clone, Copy)]
struct Use {
    from: u32,
    to: u32,
    before: Span,
    behind: Span,
    longest: u32,
}

impl Use {
    /// Both together, if the queues are the same.
    fn and(self, other: Use) -> Option<Use> {
        ((self.from, self.to) == (other.from, other.to)).then(|| Use {
            before: self.before.min(other.before),
            behind: self.behind.min(other.behind),
            longest: self.longest.max(other.longest),
            ..self
        })
    }
}

impl Simulation {
    /// Finds the ports that are served late: straight ones, to which packets come over the equal links of their hosts, and
    /// behind which they end their way in one queue.
    pub(super) fn find_late_ports(&mut self) {
        if self.has_emissions() || !self.replays.is_empty() {
            return;
        }
        let mut uses: BTreeMap<PortId, Option<Use>> = BTreeMap::new();
        for flow in &self.flows {
            let longest = match &flow.endpoints {
                Endpoints::Tcp(connection) => connection.sender.parameters().0 + OPTIONS,
                Endpoints::Datagrams => flow.session.piece,
            };
            let longest = longest + u32::from(flow.identity.headers) + self.overhead;
            let is_known = flow.session.stack.is_none() && flow.session.rate_endpoints.is_none();
            for route in [flow.forward, flow.reverse] {
                let links = self.shared.routes[route.start()..].iter().take_while(|port| **port != END);
                let route: Vec<PortId> = links.map(|&port| port as PortId).collect();
                for &port in &route {
                    if self.ports[port].device().is_some_and(|device| device.is_straight) {
                        let found = self.use_of(port, &route, longest).filter(|_| is_known);
                        let all = uses.entry(port).or_insert(found);
                        *all = all.zip(found).and_then(|(one, other)| one.and(other));
                    }
                }
            }
        }
        for (port, found) in uses {
            let Some(found) = found.filter(|found| self.can_be_late(port, found)) else { continue };
            let late = self.late_ports.len() as u32;
            for queue in [found.from, found.to] {
                self.in_flight[queue as usize].late = late;
            }
            if let Some(device) = self.ports[port].device_mut() {
                (device.is_direct, device.is_straight, device.late) = (false, false, late);
            }
            self.late_ports.push(LatePort {
                port,
                from: found.from as usize,
                to: found.to as usize,
                behind: found.behind,
                arrived: false,
                next: Time::MAX,
                needed: Time::MAX,
                armed: Time::MAX,
            });
        }
    }

    /// How packets of a route use a port, if they come from a host's link, and end their way behind it.
    fn use_of(&self, port: PortId, route: &[PortId], longest: u32) -> Option<Use> {
        let &[first, second, ref rest @ ..] = route else { return None };
        let host = &self.ports[first];
        if second != port || host.extras.is_some() {
            return None;
        }
        let this = &self.ports[port].line;
        let (to, behind) = match rest {
            [] => (this.in_flight, this.delay),
            &[last] => {
                let last = &self.ports[last];
                (last.line.in_flight, this.delay + (last.upstream == port as u32).then_some(last.line.delay)?)
            }
            _ => return None,
        };
        Some(Use { from: host.line.in_flight, to, before: host.line.delay, behind, longest })
    }

    /// Whether no other packets are in the queues, and all travel to the port longer than it sends any of them, and less long
    /// than from one sample to the next.
    fn can_be_late(&self, port: PortId, found: &Use) -> bool {
        let length = Bytes::new(found.longest.into());
        let sends = self.ports[port].rate().time_for(length);
        let mut longest = Span::ZERO;
        let mut before = END;
        let is_alone = self.shared.routes.iter().all(|&next| {
            let Some(this) = self.ports.get(std::mem::replace(&mut before, next) as PortId) else {
                return true;
            };
            if this.line.in_flight == found.from {
                longest = longest.max(this.line.delay + this.rate().time_for(length));
            }
            (this.line.in_flight != found.from || next == port as u32)
                && (this.line.in_flight != found.to || next == END)
        });
        let ends_alone = self.ports.iter().enumerate().all(|(number, other)| {
            other.line.in_flight != found.to || number == port || other.upstream == port as u32
        });
        is_alone && ends_alone && found.before > sends && longest < self.sample_period
    }

    /// The port does what is due by `until`. Answers when an event must stand for it, [`Time::MAX`] if none need: packets
    /// behind it arrive before.
    #[inline(never)]
    pub(super) fn catch_up(&mut self, late: usize, until: Time) -> Time {
        let now = self.shared.now;
        let LatePort { port, from, to, behind, mut arrived, .. } = self.late_ports[late];
        let mut end = self.transmission_end(port);
        loop {
            let arrival = self.in_flight[from].due();
            if arrival.min(end) > until {
                self.shared.now = now;
                let this = &mut self.late_ports[late];
                (this.arrived, this.next) = (arrived, if end == Time::MAX { arrival } else { end });
                this.needed = this.next + behind;
                let is_needed = self.in_flight[to].due() >= this.needed;
                return if is_needed { this.next } else { Time::MAX };
            }
            if arrival < end || (arrival == end && !arrived) {
                self.shared.now = arrival;
                let InFlight { id, .. } = self.in_flight[from].pop();
                if self.looks_ahead {
                    self.look_ahead(from);
                }
                arrived = true;
                let packet = self.take_hop(id);
                let this = &mut self.ports[port];
                this.enter(packet.length);
                let device = this.device_mut().expect("a late port has a device");
                offer::<true>(device, port, id, metadata(&self.flows, &self.shared, id), &mut self.shared);
                if end == Time::MAX {
                    end = self.send_from_straight(port).unwrap_or(Time::MAX);
                }
            } else {
                self.shared.now = end;
                arrived = false;
                end = self.send_directly::<true>(port).unwrap_or(Time::MAX);
            }
        }
    }

    /// When the transmission of a port with a device ends, [`Time::MAX`] if there is none.
    fn transmission_end(&self, port: PortId) -> Time {
        self.ports[port].device().filter(|device| device.busy).map_or(Time::MAX, |device| device.until)
    }

    /// All late ports do what is due by `until`.
    pub(super) fn catch_up_all(&mut self, until: Time) {
        for late in 0..self.late_ports.len() {
            let next = self.catch_up(late, until);
            self.arm_late(late, next);
        }
    }

    /// Makes sure that an event stands for a late port at `next`, if that is a time.
    fn arm_late(&mut self, late: usize, next: Time) {
        let this = &mut self.late_ports[late];
        if next < this.armed {
            this.armed = next;
            self.shared.ready_at(next, this.port as u32);
        }
    }

    /// The event that stands for a late port. Answers when the next one is due.
    pub(super) fn on_late_port_ready(&mut self, late: usize) -> Option<Time> {
        self.late_ports[late].armed = Time::MAX;
        let next = self.catch_up(late, self.shared.now);
        self.late_ports[late].armed = next;
        Some(next).filter(|next| *next != Time::MAX)
    }

    /// Packets behind a late port run out: `packet` is the one that arrives now. Answers when the next one does.
    #[cold]
    pub(super) fn refill_behind(&mut self, queue: usize, packet: InFlight) -> Time {
        // It stays until there are others, for which no event need be made then.
        let late = self.in_flight[queue].late as usize;
        self.in_flight[queue].put_back(packet);
        self.catch_up(late, self.shared.now);
        self.in_flight[queue].pop();
        let (again, this) = (self.in_flight[queue].due(), &self.late_ports[late]);
        if again >= this.needed {
            self.arm_late(late, this.next);
        }
        again
    }

    /// The first packet of a queue is on its way, and arrives at `at`. Answers whether it is on its way to a late port, which needs
    /// no event for it but this.
    #[cold]
    pub(super) fn begin_late(&mut self, queue: usize, at: Time) -> bool {
        let late = self.in_flight[queue].late as usize;
        let this = &self.late_ports[late];
        if this.from != queue {
            return false;
        }
        if self.transmission_end(this.port) == Time::MAX {
            let this = &mut self.late_ports[late];
            (this.next, this.needed) = (at, at + this.behind);
            if self.in_flight[this.to].due() >= this.needed {
                self.arm_late(late, at);
            }
        }
        true
    }

    /// A packet comes to a late port that has overtaken another on its way.
    #[cold]
    pub(super) fn enter_late(&mut self, late: usize, id: u32) {
        let now = self.shared.now;
        self.catch_up(late, Time::from_nanos(now.as_nanos() - 1));
        let port = self.late_ports[late].port;
        let device = self.ports[port].device_mut().expect("a late port has a device");
        offer::<true>(device, port, id, metadata(&self.flows, &self.shared, id), &mut self.shared);
        if !device.busy {
            self.send_from_straight(port);
            self.late_ports[late].arrived = false;
        }
        let next = self.catch_up(late, now);
        self.arm_late(late, next);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Monitor;
    use crate::reporting::results::report;
    use crate::scenario::inputs::Inputs;
    use crate::scenario::{Capacity, EcnMode, FlowGroup, Scenario, Source, Tcp, Transport};
    use crate::simulation::build::Setup;
    use aqm_core::random::Random;
    use aqm_core::spec::Spec;

    fn scenario(aqm: &str, transport: &str, flows: u32) -> Scenario {
        let mut group = FlowGroup::bulk("tcp", flows, Transport::Tcp(Tcp::parse(transport).unwrap()));
        group.start_ns = (0, 100_000_000);
        Scenario {
            duration_ns: 6_000_000_000,
            warmup_ns: 500_000_000,
            sample_ns: 100_000_000,
            flows: vec![group],
            ..Scenario::new(aqm, &Capacity::RateBps(10_000_000), Span::from_millis(20))
        }
    }

    /// The report without its number of events, that number, and how many ports were late; `general`: none is.
    fn run(scenario: &Scenario, general: bool) -> (String, u64, usize) {
        let (aqm, monitor) = (Spec::parse(&scenario.aqm).unwrap(), Monitor::default());
        let mut setup = Setup::build(scenario, &aqm, &Inputs::default(), 1, &monitor).unwrap();
        let simulation = &mut setup.simulation;
        simulation.begin(Time::from_nanos(scenario.warmup_ns), Span::from_nanos(scenario.sample_ns));
        if !general {
            simulation.find_late_ports();
        }
        let end = Time::from_nanos(scenario.duration_ns);
        simulation.advance(end, &monitor, |_| false).unwrap();
        simulation.end(end).unwrap();
        let late = simulation.late_ports.len();
        let mut report = report(setup, end).unwrap();
        let events = std::mem::take(&mut report.events);
        (format!("{report:?}"), events, late)
    }

    /// Fails if a run differs when ports are served late; answers whether any is.
    fn is_late(scenario: &Scenario) -> bool {
        let (late, fewer, found) = run(scenario, false);
        let (events, more, none) = run(scenario, true);
        assert!(late == events, "{scenario:?}");
        assert_eq!((none, fewer < more), (0, found > 0), "{scenario:?}: {fewer} of {more} events");
        found > 0
    }

    #[test]
    fn a_run_is_the_same_whether_a_port_is_served_late_or_by_its_events() {
        for aqm in ["fifo limit 12p", "codel ecn on", "fq_codel", "red", "choke", "sfq", "drr"] {
            for transport in ["newreno delack off", "cubic", "bbr3", "newreno sack off", "dctcp handshake on"]
            {
                for flows in [1, 7, 40] {
                    assert!(is_late(&scenario(aqm, transport, flows)), "{aqm}, {transport}, {flows}");
                }
            }
        }
    }

    #[test]
    fn a_run_is_the_same_where_packets_of_all_lengths_overtake_each_other() {
        let mut random = Random::stream(1, "late ports");
        let mut late = 0;
        for _ in 0..60 {
            let mut mixed = scenario("fq_codel", "cubic handshake on", 1 + random.below(9) as u32);
            let access = 1 + random.below(12);
            let rate_bps = 1_000_000 * (2 + random.below(60));
            (mixed.capacity, mixed.access_rate_bps) = (Capacity::RateBps(rate_bps), Some(rate_bps * access));
            mixed.rtt_ns = 1_000_000 * (1 + random.below(100));
            mixed.sample_ns = 1_000_000 * (5 + random.below(200));
            mixed.duration_ns = 3_000_000_000;
            for (name, rate_bps, packet_bytes) in [("voice", 64_000, 200), ("video", 900_000, 1200)] {
                let transport = Transport::Udp { packet_bytes, ecn: EcnMode::default() };
                let source = Source::Cbr { rate_bps };
                let count = 1 + random.below(3) as u32;
                mixed.flows.push(FlowGroup { source, ..FlowGroup::bulk(name, count, transport) });
            }
            late += usize::from(is_late(&mixed));
        }
        assert!(late > 30, "{late}");
    }

    #[test]
    fn a_port_is_served_by_its_events_where_it_is_not_known_what_comes_first() {
        // Other flows come over other links, a packet takes longer to send than to come, somebody looks on, or it is sampled sooner.
        let plain = scenario("fifo limit 12p", "cubic", 2);
        let mut far = plain.clone();
        far.flows.push(FlowGroup {
            name: "far".to_owned(),
            rtt_ns: Some(40_000_000),
            ..far.flows[0].clone()
        });
        let slow = Scenario { capacity: Capacity::RateBps(400_000), ..plain.clone() };
        let often = Scenario { sample_ns: 2_000_000, ..plain.clone() };
        let shaped = Scenario { aqm: "cake".to_owned(), ..plain };
        for scenario in [far, slow, often, shaped] {
            assert!(!is_late(&scenario), "{scenario:?}");
        }
    }
}
