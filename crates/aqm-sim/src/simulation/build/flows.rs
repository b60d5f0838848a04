//! Builds the flows of a group: endpoints and applications of each member.

use crate::endpoint::flow::{Endpoints, FlowSetup, Identity, Label};
use crate::endpoint::rate_sender::RateEndpoints;
use crate::endpoint::stack::StackEnds;
use crate::endpoint::tcp::Connection;
use crate::headers::{IPV6_EXTRA, TCP, TCP_HEADERS, UDP, UDP_HEADERS};
use crate::network::hosts::{Ends, Host};
use crate::network::ideal::Train;
use crate::network::path::Path;
use crate::report::RunError;
use crate::scenario::inputs::Inputs;
use crate::scenario::{FlowGroup, Source};
use crate::simulation::carrier::Carrier;
use crate::simulation::state::{Simulation, User};
use crate::stack::Task;
use crate::traffic::application::Application;
use crate::traffic::arrivals::Arrivals;
use crate::traffic::client::Client;
use crate::traffic::dialogue::Dialogue;
use crate::traffic::distribution::Distribution;
use crate::traffic::player::Player;
use aqm_core::input_error::InputError;
use aqm_core::packet::Ecn;
use aqm_core::random::Random;
use aqm_core::units::{Bytes, Rate, Span, Time};

/// Flows that a workload may bring.
const MOST_FLOWS: f64 = 100_000.0;

/// One member of a group, to be added to the simulation.
pub(crate) struct Member<'a> {
    pub(crate) simulation: &'a mut Simulation,
    pub(crate) labels: &'a mut Vec<Label>,
    /// Number of its group.
    pub(crate) number: usize,
    pub(crate) group: &'a FlowGroup,
    /// Its number within the group.
    pub(crate) index: u32,
    /// Its name, which its random streams carry.
    pub(crate) name: String,
    /// The paths between its hosts.
    pub(crate) paths: &'a [Path],
    pub(crate) inputs: &'a Inputs,
    /// What carries its data.
    pub(crate) carrier: &'a Carrier<'a>,
    pub(crate) seed: u64,
}

/// One flow of a member: one direction of a connection.
struct Direction<'a> {
    name: &'a str,
    path: &'a Path,
    back: bool,
    /// Whether the other direction's handshake has opened the connection.
    open: bool,
    source: Option<Arrivals>,
    start: Time,
    size: Option<u64>,
}

impl Member<'_> {
    /// Adds what the member sends and what answers it; `capacity` and `end` bound a workload.
    pub(crate) fn add_flows(&mut self, capacity: Rate, end: Time) -> Result<(), RunError> {
        let (earliest, latest) = self.group.start_ns;
        let delay = self.stream("start").below(latest.saturating_sub(earliest) + 1);
        let turn = self.group.spacing_ns.saturating_mul(u64::from(self.index));
        let start = Time::from_nanos(earliest.saturating_add(delay).saturating_add(turn));
        let group = self.group;
        match &group.source {
            Source::Rounds(round) => {
                let mut directions = Vec::new();
                let backs: &[bool] = if round.request.is_some() { &[false, true] } else { &[false] };
                for &back in backs {
                    for connection in 0..round.connections {
                        let name = format!("{}.{connection}{}", self.name, if back { ".back" } else { "" });
                        let path = &self.paths[connection as usize % self.paths.len()];
                        directions.push(self.add(Direction {
                            name: &name,
                            path,
                            back,
                            open: !back && round.request.is_some(),
                            source: None,
                            start,
                            size: None,
                        })?);
                    }
                }
                let client = Client::new(round, self.stream("client"));
                self.add_user(Application::Client(Box::new(client)), start, directions);
            }
            Source::Video(video) => {
                let mut directions = Vec::new();
                for back in [false, true] {
                    let name = format!("{}{}", self.name, if back { ".back" } else { "" });
                    let path = &self.paths[0];
                    directions.push(self.add(Direction {
                        name: &name,
                        path,
                        back,
                        open: !back,
                        source: None,
                        start,
                        size: None,
                    })?);
                }
                self.add_user(Application::Player(Box::new(Player::new(video))), start, directions);
            }
            Source::Replay { file } => self.add_conversations(file, start)?,
            Source::Workload { size, load } => self.add_workload(size, *load, capacity, start, end)?,
            Source::Bulk { .. }
            | Source::Cbr { .. }
            | Source::OnOff { .. }
            | Source::Poisson { .. }
            | Source::Steps { .. }
            | Source::Arrivals { .. }
            | Source::Voip => {
                if let Source::Arrivals { gap, .. } = &group.source {
                    self.check_gap(gap, capacity)?;
                }
                let (size, both_ways) = match group.source {
                    Source::Bulk { size_bytes, .. } => (size_bytes, false),
                    Source::Arrivals { both_ways, .. } => (None, both_ways),
                    _ => (None, group.source == Source::Voip),
                };
                let source = Arrivals::new(&group.source, self.carrier.piece(), self.stream("source"));
                let name = self.name.clone();
                self.add(Direction {
                    name: &name,
                    path: &self.paths[0],
                    back: false,
                    open: false,
                    source,
                    start,
                    size,
                })?;
                if both_ways {
                    let source =
                        Arrivals::new(&group.source, self.carrier.piece(), self.stream("source back"));
                    let (name, path) = (format!("{name}.back"), &self.paths[0]);
                    self.add(Direction {
                        name: &name,
                        path,
                        back: true,
                        open: true,
                        source,
                        start,
                        size: None,
                    })?;
                }
            }
        }
        Ok(())
    }

    /// Messages that come sooner than the bottleneck sends a byte are never sent: such a run does nothing but drop them.
    fn check_gap(&self, gap: &Distribution, capacity: Rate) -> Result<(), RunError> {
        let byte = capacity.time_for(Bytes::new(1));
        if gap.mean() >= byte.as_nanos() as f64 || byte <= Span::from_nanos(1) {
            return Ok(());
        }
        Err(RunError::Input(self.group.refused(InputError::field(
            "gap",
            format_args!("{} on average", Span::from_nanos(gap.mean() as u64)),
            format_args!("it must be {byte} at least, in which {capacity} sends a byte"),
        ))))
    }

    /// Flows whose starts are a Poisson process, as many as give the load: each member brings its share.
    fn add_workload(
        &mut self,
        size: &Distribution,
        load: f64,
        capacity: Rate,
        start: Time,
        end: Time,
    ) -> Result<(), RunError> {
        let share = load / f64::from(self.group.count);
        let gap_ns = size.mean() / (share * capacity.as_bytes_per_sec_f64()) * 1e9;
        let expected = end.since(start).as_nanos() as f64 / gap_ns * f64::from(self.group.count);
        if expected > MOST_FLOWS || expected.is_nan() {
            return Err(RunError::Input(self.group.refused(InputError::new(format!(
                "a load of {load} would bring {expected:.0} flows: at most {MOST_FLOWS} can be, so shorten the run or lower rate or load"
            )))));
        }
        let gap = Distribution::Exponential { mean: gap_ns as u64 };
        let mut random = self.stream("workload");
        let mut at = start + gap.span(&mut random);
        let mut number = 0;
        while at < end {
            let name = format!("{}.{number}", self.name);
            let size = Some(size.sample(&mut random).max(1));
            self.add(Direction {
                name: &name,
                path: &self.paths[0],
                back: false,
                open: false,
                source: None,
                start: at,
                size,
            })?;
            at += gap.span(&mut random);
            number += 1;
        }
        Ok(())
    }

    /// The conversations of a capture, each over a connection of its own.
    fn add_conversations(&mut self, file: &str, start: Time) -> Result<(), RunError> {
        for (number, conversation) in self.inputs.conversations(file)?.iter().enumerate() {
            let start = start + conversation.start + conversation.turns[0].wait;
            let by_client = conversation.turns[0].by_client;
            let mut directions = Vec::new();
            for back in [false, true] {
                let name = format!("{}.{number}{}", self.name, if back { ".back" } else { "" });
                let path = &self.paths[0];
                directions.push(self.add(Direction {
                    name: &name,
                    path,
                    back,
                    open: back != by_client,
                    source: None,
                    start,
                    size: None,
                })?);
            }
            let dialogue = Dialogue::new(conversation.turns.clone());
            self.add_user(Application::Dialogue(Box::new(dialogue)), start, directions);
        }
        Ok(())
    }

    fn add_user(&mut self, application: Application, start: Time, directions: Vec<u32>) {
        self.simulation.add_user(User { application, group: self.number, start, directions });
    }

    fn stream(&self, what: &str) -> Random {
        Random::stream(self.seed, &format!("{} {what}", self.name))
    }

    fn refused(&self, problem: InputError) -> RunError {
        RunError::Input(self.group.refused(problem))
    }

    fn add(&mut self, direction: Direction<'_>) -> Result<u32, RunError> {
        let group = self.group;
        let mut hashes = Random::stream(0, direction.name);
        let random = Random::stream(self.seed, &format!("{} congestion control", direction.name));
        let (there, here) = (&direction.path.forward, &direction.path.reverse);
        let (forward, reverse) = if direction.back { (here, there) } else { (there, here) };
        let (mut rate_ends, mut stack_ends) = (None, None);
        let (endpoints, headers, kind, protocol, ecn) = match self.carrier {
            Carrier::Udp(_, ecn) => {
                let kind = if direction.back { "udp-back" } else { "udp" };
                (Endpoints::Datagrams, UDP_HEADERS, kind, UDP, ecn.codepoint())
            }
            Carrier::Tcp(tcp, socket) => {
                let headers = TCP_HEADERS + if tcp.flag("ipv6") { IPV6_EXTRA } else { 0 };
                let syn = if tcp.recovery().ect_syn { tcp.ecn().codepoint() } else { Ecn::NotEct };
                let settings = if direction.open { tcp.opened() } else { (*tcp).clone() };
                let kind = if direction.back { "tcp-back" } else { tcp.info().name };
                let socket = socket.as_ref().map(|socket| socket.build(&settings));
                let connection = Connection::new(&settings, socket, random);
                (Endpoints::Tcp(Box::new(connection)), headers, kind, TCP, syn)
            }
            Carrier::Rate(rated) => {
                let links = &self.simulation.network.links;
                let first = forward.get(usize::from(direction.path.delayed));
                let first = first.map(|&link| links[link].capacity.mean_rate());
                let line = first.unwrap_or(Rate::from_bits_per_sec(u64::MAX));
                rate_ends =
                    Some(Box::new(RateEndpoints::new(rated, line, direction.start, direction.size, random)));
                (Endpoints::Datagrams, UDP_HEADERS, rated.info().name, UDP, rated.ecn().codepoint())
            }
            Carrier::Stack(stack) => {
                let is_written = group.source.is_written_one_way();
                if is_written && !stack.info().writes {
                    let stack = stack.info().name;
                    return Err(self.refused(InputError::new(format!(
                        "{stack} takes no data that an application writes over time: it carries bulk data and workloads"
                    ))));
                }
                let size = if is_written { Some(0) } else { direction.size };
                let task = Task { size, start: direction.start, random };
                let ends =
                    stack.stack.connect(&stack.values, task).map_err(|problem| self.refused(problem))?;
                let info = stack.info();
                stack_ends = Some(Box::new(StackEnds::new(ends)));
                (Endpoints::Datagrams, info.headers, info.name, info.protocol, Ecn::NotEct)
            }
        };
        let (from, to) = if direction.back { (&group.to, &group.from) } else { (&group.from, &group.to) };
        let back = direction.path.rtt.saturating_sub(direction.path.propagation);
        let flow = self.simulation.add_flow(FlowSetup {
            group: self.number,
            forward,
            reverse,
            propagation: if direction.back { back } else { direction.path.propagation },
            identity: Identity {
                hash: hashes.next_u64(),
                source: host(from, self.index, hashes.next_u64()),
                destination: host(to, self.index, hashes.next_u64()),
                class: group.class,
                headers,
                dscp: group.dscp,
                protocol,
                ecn,
                back: direction.back,
            },
            endpoints,
            rate_endpoints: rate_ends,
            stack: stack_ends,
            source: direction.source,
            piece: self.carrier.piece(),
            start: direction.start,
            stop: match group.source {
                Source::Bulk { stop_ns: Some(at), .. } => Time::from_nanos(at),
                _ => Time::MAX,
            },
            size: direction.size,
        });
        let rtt: Span = direction.path.rtt;
        let voice = group.source == Source::Voip;
        let links = forward.iter().map(|&link| &self.simulation.network.links[link]);
        let ideal = direction.size.map(|size| {
            let headers = u32::from(headers);
            let piece = self.carrier.piece();
            let payload = if let Carrier::Tcp(..) = self.carrier { piece } else { piece - headers };
            let train = Train::of(size, payload, headers + self.simulation.overhead);
            train.completion(links.map(|link| (link.capacity.mean_rate(), link.delay)))
        });
        let [near, far] = direction.path.ends.map(Host::Node);
        let hosts = if direction.back { [far, near] } else { [near, far] };
        let ends = Ends { hosts, ports: None };
        self.labels.push(Label {
            group: group.name.clone(),
            kind,
            rtt,
            ideal,
            voice,
            back: direction.back,
            ends,
        });
        Ok(flow)
    }
}

/// The hash of a host: by its name if it has one, else of its own.
fn host(names: &[String], index: u32, own: u64) -> u32 {
    let name = names.get(index as usize % names.len().max(1));
    name.map_or(own, |name| Random::stream(0, &format!("host {name}")).next_u64()) as u32
}
