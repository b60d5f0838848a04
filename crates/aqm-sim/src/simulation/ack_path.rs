//! The shared link of many acknowledgments: from the hosts of a dumbbell they come together on one link, on which nothing else
//! is sent, and part behind it. Where each of them is due at its host follows from when it enters the link, so there is one
//! event for both.
//!
//! The packets wait in the order in which they enter the link. When the first of them arrives at its host is computed as it
//! becomes the first, so that those that are sent later and enter earlier, because they are shorter, find their place: if
//! even the first is overtaken, what was computed for it is taken back.

use crate::endpoint::flow::Endpoints;
use crate::network::in_flight::InFlight;
use crate::network::port::{NONE, PortId};
use crate::simulation::event_queue::{EventKind, Target};
use crate::simulation::state::{AckPath, END, Simulation};
use crate::transport::MAX_SACK_BLOCKS;
use aqm_core::units::{Bytes, Rate, Span, Time};
use std::collections::BTreeMap;

/// Bytes by which the options of acknowledgments differ: SACK blocks (RFC 2018 section 3), which are more than those of a SYN.
const OPTIONS: u32 = 4 + 8 * MAX_SACK_BLOCKS as u32;

/// How a link is used.
struct Use {
    /// How often it is on a route, and how often on that of acknowledgments.
    all: usize,
    of_acks: usize,
    /// Lengths of the acknowledgments without options.
    shortest: u32,
    longest: u32,
    /// Delay and rate of the last links behind it, none where hosts are right behind it; and whether that is all there is, and
    /// the same for all.
    behind: Option<(Span, Rate)>,
    ends_alike: bool,
}

impl Simulation {
    /// Finds the links over which packets go on at once. The order in which they enter such a link must be that in which they
    /// arrive behind it: they are of similar length, and the link is slower than the rest of their way.
    pub(super) fn find_ack_paths(&mut self) {
        // Of each queue of packets in flight, where its packets go on; of each port, from which queue its packets come.
        let (mut onward, mut sources) = (BTreeMap::new(), BTreeMap::new());
        let mut from = END;
        for &to in &self.shared.routes {
            let before = std::mem::replace(&mut from, to);
            let Some(port) = self.ports.get(before as PortId) else {
                sources.insert(to, NONE);
                continue;
            };
            if self.ports.get(to as PortId).is_some_and(|port| port.upstream == before) {
                continue;
            }
            let next = onward.entry(port.line.in_flight).or_insert(to);
            *next = if *next == to && port.extras.is_none() { to } else { END };
            let source = sources.entry(to).or_insert(port.line.in_flight);
            *source = if *source == port.line.in_flight { *source } else { NONE };
        }
        let uses = self.uses();
        for (queue, port) in onward {
            let Some(found) = uses.get(&port) else { continue };
            let this = &self.ports[port as PortId];
            if sources[&port] == queue && this.extras.is_none() && found.keeps_order(this.rate()) {
                self.in_flight[queue as usize].ack_path = self.ack_paths.len() as u32;
                self.ack_paths.push(AckPath {
                    port: port as PortId,
                    entered: Time::ZERO,
                    before: [Time::ZERO; 2],
                    #[cfg(test)]
                    overtaken: 0,
                });
            }
        }
    }

    /// How the links are used that acknowledgments of TCP use.
    fn uses(&self) -> BTreeMap<u32, Use> {
        let mut uses = BTreeMap::new();
        for flow in self.flows.iter().filter(|flow| matches!(flow.endpoints, Endpoints::Tcp(_))) {
            let length = u32::from(flow.identity.headers) + self.overhead;
            let mut route = &self.shared.routes[flow.reverse.start()..];
            while let [port, behind @ ..] = route
                && *port != END
            {
                let last = self.ports.get(behind[0] as PortId);
                let ends = last.is_none_or(|last| last.upstream == *port && behind[1] == END);
                let last = last.map(|last| (last.line.delay, last.rate()));
                let found = uses.entry(*port).or_insert(Use {
                    all: 0,
                    of_acks: 0,
                    shortest: length,
                    longest: length,
                    behind: last,
                    ends_alike: true,
                });
                found.of_acks += 1;
                (found.shortest, found.longest) = (found.shortest.min(length), found.longest.max(length));
                found.ends_alike &= ends && found.behind == last;
                route = behind;
            }
        }
        for port in &self.shared.routes {
            if let Some(found) = uses.get_mut(port) {
                found.all += 1;
            }
        }
        uses
    }
}

impl Use {
    /// Whether packets end their way behind the link, which has this rate, in the order in which they entered it.
    fn keeps_order(&self, rate: Rate) -> bool {
        let shortest = rate.time_for(Bytes::new(self.shortest.into()));
        let longest = Bytes::new((self.longest + OPTIONS).into());
        let is_faster = self.behind.is_none_or(|(_, rate)| rate.time_for(longest) <= shortest);
        self.all == self.of_acks && self.ends_alike && is_faster
    }
}

impl Simulation {
    /// The first packet in flight goes on over the shared link, and arrives at the end of its route at the time that this
    /// answers.
    #[inline(always)]
    pub(super) fn go_on(&mut self, queue: usize) -> Time {
        let queue = &mut self.in_flight[queue];
        let path = &mut self.ack_paths[queue.ack_path as usize];
        let first = queue.first_mut().expect("a packet waits");
        let packet = &mut self.shared.slab[first.id];
        let shared = &mut self.ports[path.port];
        (path.entered, path.before[0]) = (first.at, shared.busy_until());
        first.at = shared.serialise(packet.length, first.at) + shared.line.delay;
        packet.next += 1;
        if let Some(last) = self.ports.get_mut(self.shared.routes[packet.next as usize] as PortId) {
            path.before[1] = last.busy_until();
            first.at = last.serialise(packet.length, first.at) + last.line.delay;
            packet.next += 1;
        }
        first.next = END;
        first.at
    }

    /// The same for one that none was before.
    #[cold]
    pub(super) fn begin_ack_path(&mut self, queue: usize) -> Time {
        self.go_on(queue)
    }

    /// A packet enters the shared link before others that were sent earlier.
    #[cold]
    pub(super) fn overtake(&mut self, number: u32, packet: InFlight) {
        let queue = &mut self.in_flight[number as usize];
        let path = &mut self.ack_paths[queue.ack_path as usize];
        #[cfg(test)]
        {
            path.overtaken += 1;
        }
        if packet.at >= path.entered {
            return queue.insert(packet);
        }
        let first = queue.first_mut().expect("only a packet that is there is overtaken");
        let overtaken = &mut self.shared.slab[first.id];
        let behind = self.shared.routes[overtaken.next as usize - 1] as PortId;
        if behind != path.port {
            self.ports[behind].take_back(path.before[1]);
            overtaken.next -= 1;
        }
        self.ports[path.port].take_back(path.before[0]);
        overtaken.next -= 1;
        (first.at, first.next) = (path.entered, path.port as u32);
        queue.insert_first(packet);
        let at = self.begin_ack_path(number as usize);
        self.shared.events.push_of_wire(self.shared.now, at, Target::new(EventKind::Arrival, number));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Monitor;
    use crate::reporting::results::report;
    use crate::scenario::inputs::Inputs;
    use crate::scenario::{Capacity, FlowGroup, Scenario, Tcp, Transport};
    use crate::simulation::build::Setup;
    use aqm_core::spec::Spec;

    /// Eight flows over 10 Mbit/s from hosts at 25 Mbit/s.
    fn scenario(transport: &str) -> Scenario {
        let mut flows = FlowGroup::bulk("tcp", 8, Transport::Tcp(Tcp::parse(transport).unwrap()));
        flows.start_ns = (0, 100_000_000);
        Scenario {
            access_rate_bps: Some(25_000_000),
            overhead_bytes: 0,
            duration_ns: 8_000_000_000,
            warmup_ns: 500_000_000,
            sample_ns: 100_000_000,
            flows: vec![flows],
            ..Scenario::new("fifo limit 12p", &Capacity::RateBps(10_000_000), Span::from_millis(20))
        }
    }

    /// The report without its number of events, how many links were found, and how often packets were overtaken there;
    /// `general`: acknowledgments have an event at each link.
    fn run(scenario: &Scenario, general: bool) -> (String, usize, usize) {
        let (aqm, monitor) = (Spec::parse(&scenario.aqm).unwrap(), Monitor::default());
        let mut setup = Setup::build(scenario, &aqm, &Inputs::default(), 1, &monitor).unwrap();
        let simulation = &mut setup.simulation;
        simulation.begin(Time::from_nanos(scenario.warmup_ns), Span::from_nanos(scenario.sample_ns));
        if general {
            simulation.in_flight.iter_mut().for_each(|queue| queue.ack_path = NONE);
        }
        let end = Time::from_nanos(scenario.duration_ns);
        simulation.advance(end, &monitor, |_| false).unwrap();
        simulation.end(end).unwrap();
        let overtaken = simulation.ack_paths.iter().map(|path| path.overtaken).sum();
        let found = simulation.ack_paths.len();
        let mut report = report(setup, end).unwrap();
        report.events = 0;
        (format!("{report:?}"), found, overtaken)
    }

    #[test]
    fn a_run_is_the_same_whether_acknowledgments_have_an_event_at_each_link_or_one_in_all() {
        // A full packet takes 1.2 ms: timers are due just after acknowledgments with SACK blocks, which are longer, have left.
        let mut overtaken = 0;
        for transport in ["newreno delack off", "newreno", "newreno delack 12003us", "cubic delack 1202us"] {
            let scenario = scenario(transport);
            let (closed, found, passed) = run(&scenario, false);
            assert!(closed == run(&scenario, true).0, "{transport}");
            assert_eq!(found, 1, "{transport}");
            overtaken += passed;
        }
        assert!(overtaken > 10, "{overtaken}");
    }

    #[test]
    fn where_the_order_of_arrivals_may_be_another_each_link_has_its_event() {
        let mut far = scenario("newreno");
        far.flows.push(FlowGroup {
            name: "far".to_owned(),
            rtt_ns: Some(40_000_000),
            ..far.flows[0].clone()
        });
        // Behind the link the shortest acknowledgment would overtake the longest.
        let slow = Scenario { access_rate_bps: Some(12_000_000), ..scenario("newreno") };
        for scenario in [far, slow] {
            assert_eq!(run(&scenario, false).1, 0);
        }
    }
}
