//! Switches in their network: which ports are theirs, which ports obey their PAUSE frames, what programs they run, and
//! what came of it.

use crate::network::graph::{LinkId, Network, NodeId};
use crate::network::packet::PacketId;
use crate::network::port::PortId;
use crate::scenario::topology::refused;
use crate::switch::control_plane::Program;
use crate::switch::deadlock;
use crate::switch::declaration::Site;
use crate::switch::flow_control::{Account, Direction, FlowControl, Thresholds, sufficient_headroom};
use crate::switch::options::{PfcOptions, SwitchOptions};
use crate::switch::pause::{PRIORITIES, PauseFrame, PauseState, priority_of};
use crate::switch::pipeline::{Egress, Hops, Ingress, PacketView, QueueView};
use crate::switch::program::ProgramSpec;
use crate::switch::shared_buffer::SharedBuffer;
use crate::switch::{Refusal, Switch, Transit};
use aqm_core::input_error::InputError;
use aqm_core::packet::Packet as Metadata;
use aqm_core::paused::PausedClasses;
use aqm_core::random::Random;
use aqm_core::units::{Rate, Time};
use std::collections::{BTreeMap, VecDeque};

/// What switches have done, for the metrics.
#[derive(Default)]
pub(crate) struct SwitchTotals {
    /// Whether any switch has flow control, and the buffers that it controls.
    pub(crate) is_controlled: bool,
    pub(crate) accounts: Vec<Paused>,
    /// Packets that were lost at ports although these were paused in time.
    pub(crate) dropped: u64,
    /// When a deadlock was first seen.
    pub(crate) deadlock: Option<Time>,
    /// Packets that programs dropped, if there are programs.
    pub(crate) filtered: Option<u64>,
    /// Largest use of a shared buffer in bytes, and packets that found no room, if there are such buffers.
    pub(crate) buffers: Option<(u64, u64)>,
}

/// A priority of a port that a switch may pause: the paused port is named, not the switch that pauses it.
pub(crate) struct Paused {
    pub(crate) port: PortId,
    pub(crate) priority: u8,
    pub(crate) time_s: f64,
    pub(crate) xoff_frames: u64,
    pub(crate) xon_frames: u64,
    /// Bytes beyond XOFF that were needed, and that there are.
    pub(crate) headroom: u64,
    pub(crate) headroom_limit: u64,
    pub(crate) lost: u64,
}

/// The port of packets that came in by none: the switch itself sends them.
const NO_INGRESS: u16 = u16::MAX;

/// The switches of a network that have options.
pub(crate) struct Switches {
    switches: Vec<Installed>,
    /// Of every port of the network.
    ports: Vec<Attachment>,
    /// PAUSE frames, the whole run's.
    pub(crate) pauses: PauseCount,
    /// The first circle of paused buffers that was seen.
    deadlock: Option<(Time, Vec<PortId>)>,
    /// The first port to which a program sent flow-controlled packets in another class than theirs.
    misclassified: Option<PortId>,
    /// Whether any has flow control or a program.
    speaks: bool,
}

/// A switch and the ports around it, by their numbers in the switch.
struct Installed {
    switch: Switch,
    ports: Vec<Pair>,
    /// The program in its data plane, with its control plane.
    program: Option<Program>,
    /// The event that stands for its next refresh or the program's next timer, [`Time::MAX`] for none.
    timer: Time,
}

/// Both directions between a switch and a neighbour.
#[derive(Clone, Copy)]
struct Pair {
    out: Option<PortId>,
    into: Option<PortId>,
}

/// What a port of the network has to do with such switches.
#[derive(Default)]
struct Attachment {
    /// The switch that it belongs to, and its number there.
    owner: Option<(usize, usize)>,
    /// The switch that its wire leads to, and by which port.
    next: Option<(usize, usize)>,
    /// Whether it obeys PAUSE frames.
    pause: Option<PauseState>,
    /// The event that stands for the end of a pause, [`Time::MAX`] for none.
    expiry: Time,
    /// PAUSE frames that go before all other packets, and where the rest of their route is.
    frames: VecDeque<PacketId>,
    frame_route: u32,
    refused: Refused,
    /// What the program dropped on its way in, of that before the warm-up's end, and what it marked.
    filtered: Refused,
    filtered_before: u64,
    marked: u64,
    /// Flow-controlled packets that were dropped by disciplines behind it.
    dropped: u64,
}

/// PAUSE frames sent and received.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PauseCount {
    pub(crate) sent: u64,
    pub(crate) received: u64,
}

/// Packets that the switch kept from a port, and their bytes; the whole run's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Refused {
    pub(crate) packets: u64,
    pub(crate) bytes: u64,
}

impl Switches {
    /// The switches of a network whose packets have at most `packet` bytes; `None` if none has options. `program` reads
    /// their programs, which draw from streams of `seed`.
    ///
    /// # Errors
    /// One line about what cannot be.
    pub(crate) fn of(
        network: &Network,
        packet: u32,
        program: impl Fn(&str) -> Result<ProgramSpec, InputError>,
        seed: u64,
    ) -> Result<Option<Switches>, InputError> {
        if network.switches.is_empty() {
            return Ok(None);
        }
        let ports = network.links.iter().map(|_| Attachment { expiry: Time::MAX, ..Attachment::default() });
        let mut all = Switches {
            switches: Vec::new(),
            ports: ports.collect(),
            pauses: PauseCount::default(),
            deadlock: None,
            misclassified: None,
            speaks: network
                .switches
                .values()
                .any(|options| options.pfc.is_some() || options.program.is_some()),
        };
        // Programs may let packets grow.
        let grows = network.switches.values().any(|options| options.program.is_some());
        let packet = packet + if grows { Hops::MOST_BYTES } else { 0 };
        for (&node, options) in &network.switches {
            all.install(network, node, options, packet)?;
            if let Some(text) = &options.program
                && let Some(installed) = all.switches.last_mut()
            {
                let name = network.node_name(node);
                let rate = |pair: &Pair| {
                    pair.out.map_or(Rate::from_bits_per_sec(0), |out| network.links[out].capacity.mean_rate())
                };
                let rates = installed.ports.iter().map(rate).collect();
                let random = Random::stream(seed, &format!("{name} program"));
                let program = program(text).and_then(|spec| spec.build(Site { rates, random }));
                installed.program = Some(
                    program.map_err(|error| refused(format!("switch '{name}'"), error.within("program")))?,
                );
            }
        }
        Ok(Some(all))
    }

    fn install(
        &mut self,
        network: &Network,
        node: NodeId,
        options: &SwitchOptions,
        packet: u32,
    ) -> Result<(), InputError> {
        let number = self.switches.len();
        let pairs = pairs(network, node);
        for (port, pair) in pairs.iter().enumerate() {
            if let Some(out) = pair.out {
                self.ports[out].owner = Some((number, port));
            }
            if let Some(into) = pair.into {
                self.ports[into].next = Some((number, port));
            }
        }
        let mut buffer = None;
        if let Some(options) = &options.buffer {
            let (size, reserve, queues) =
                (options.size_bytes, options.reserve_bytes, pairs.len() * PRIORITIES);
            buffer = SharedBuffer::new(size, options.alpha, reserve, queues);
            if buffer.is_none() {
                return Err(refused(
                    format!("switch '{}'", network.node_name(node)),
                    InputError::field(
                        "reserve",
                        format_args!("{reserve}b"),
                        format_args!("{queues} queues have more than the {size}b of the buffer"),
                    ),
                ));
            }
        }
        let flow_control = match &options.pfc {
            Some(pfc) => self.flow_control(network, node, pfc, &pairs, packet)?,
            None => FlowControl::default(),
        };
        let switch = Switch::new(buffer, flow_control);
        self.switches.push(Installed { switch, ports: pairs, program: None, timer: Time::MAX });
        Ok(())
    }

    fn flow_control(
        &mut self,
        network: &Network,
        node: NodeId,
        pfc: &PfcOptions,
        pairs: &[Pair],
        packet: u32,
    ) -> Result<FlowControl, InputError> {
        let mut control = FlowControl::new(pfc.quanta);
        for (ingress, pair) in pairs.iter().enumerate() {
            let Some(into) = pair.into else { continue };
            let Some(out) = pair.out else {
                let (link, name) = (network.link_name(into), network.node_name(node));
                return Err(refused(
                    format!("switch '{name}'"),
                    InputError::new(format!("xoff needs a link back for {link}, for its PAUSE frames")),
                ));
            };
            let direction = |link: LinkId| {
                let link = &network.links[link];
                Direction { rate: link.capacity.mean_rate(), delay: link.delay + link.wire.longest_extra() }
            };
            let upstream = direction(into);
            self.ports[into].pause = Some(PauseState::new(upstream.rate));
            let needed = sufficient_headroom(upstream, direction(out), packet, pfc.priorities.len());
            let thresholds = Thresholds {
                xoff: pfc.xoff_bytes,
                xon: pfc.xon_bytes,
                headroom: pfc.headroom_bytes.unwrap_or(needed),
            };
            for &priority in &pfc.priorities {
                control.add(Account { ingress, priority }, thresholds, upstream.rate);
            }
        }
        Ok(control)
    }

    /// The way of a packet through the switch that `port` belongs to; `from` is the port that sent it there.
    fn transit(
        &self,
        port: PortId,
        from: Option<PortId>,
        class: u16,
        length: u32,
    ) -> Option<(usize, Transit)> {
        let (switch, egress) = self.ports[port].owner?;
        let next = from.and_then(|from| self.ports[from].next);
        let ingress = next.filter(|(to, _)| *to == switch).map(|(_, ingress)| ingress);
        Some((switch, Transit { ingress, egress, priority: priority_of(class), length }))
    }

    /// The port of a switch that a packet came in by, from 0; [`NO_INGRESS`] for none.
    pub(crate) fn ingress(&self, from: Option<PortId>) -> u16 {
        from.and_then(|from| self.ports[from].next).map_or(NO_INGRESS, |(_, ingress)| ingress as u16)
    }

    /// A packet has come to `port`, if that is a switch's; `from` is the port that sent it there.
    pub(crate) fn admit(
        &mut self,
        port: PortId,
        from: Option<PortId>,
        class: u16,
        length: u32,
        now: Time,
    ) -> Result<(), Refusal> {
        let Some((switch, transit)) = self.transit(port, from, class, length) else { return Ok(()) };
        let admitted = self.switches[switch].switch.admit(&transit, now);
        if admitted.is_err() {
            let refused = &mut self.ports[port].refused;
            refused.packets += 1;
            refused.bytes += u64::from(length);
        }
        admitted
    }

    /// The program that runs where `port` is, and the number of that port in its switch.
    fn program(&mut self, port: PortId) -> Option<(&mut Program, usize)> {
        let (switch, egress) = self.ports[port].owner?;
        Some((self.switches[switch].program.as_mut()?, egress))
    }

    /// The registers and tables of a switch's program.
    #[cfg(test)]
    pub(crate) fn program_state(&self, switch: usize) -> Option<&crate::switch::pipeline::State> {
        self.switches[switch].program.as_ref().map(Program::state)
    }

    /// Lets a switch run a program that no list has.
    #[cfg(test)]
    pub(crate) fn set_program(&mut self, switch: usize, program: Program) {
        self.switches[switch].program = Some(program);
        self.speaks = true;
    }

    /// Whether a program runs where `port` is.
    pub(crate) fn has_program(&self, port: PortId) -> bool {
        self.ports[port].owner.is_some_and(|(switch, _)| self.switches[switch].program.is_some())
    }

    /// Whether a program may put packets of a flow into other classes than theirs.
    pub(crate) fn reclassify(&self) -> bool {
        self.switches.iter().any(|installed| installed.program.is_some())
    }

    /// What the program makes of a packet that comes in and will leave by `port`; `None` if there is no program.
    pub(crate) fn on_ingress(&mut self, port: PortId, packet: &Metadata, now: Time) -> Option<Ingress> {
        let (program, egress) = self.program(port)?;
        let verdict = program.on_ingress(&view(packet, egress, now));
        if verdict.drop {
            let filtered = &mut self.ports[port].filtered;
            filtered.packets += 1;
            filtered.bytes += u64::from(packet.length);
        }
        Some(verdict)
    }

    /// What the program makes of a packet that leaves the queue of `port`; `None` if there is no program.
    pub(crate) fn on_egress(
        &mut self,
        port: PortId,
        packet: &Metadata,
        queue: &QueueView,
        now: Time,
    ) -> Option<Egress> {
        let (program, egress) = self.program(port)?;
        Some(program.on_egress(&view(packet, egress, now), queue))
    }

    /// A packet that had come in is dropped in front of `port`.
    pub(crate) fn on_drop(&mut self, port: PortId, packet: &Metadata, now: Time) {
        if let Some((program, egress)) = self.program(port) {
            program.on_drop(&view(packet, egress, now));
        }
    }

    /// The program has chosen a class for a packet of class `before` that came from `from`.
    pub(crate) fn check_class(&mut self, port: PortId, from: Option<PortId>, before: u16, after: u16) {
        if self.misclassified.is_some() || priority_of(before) == priority_of(after) {
            return;
        }
        let controlled = [before, after].into_iter().any(|class| {
            self.transit(port, from, class, 0)
                .is_some_and(|(switch, transit)| self.switches[switch].switch.controls(&transit))
        });
        self.misclassified = controlled.then_some(port);
    }

    /// The first port to which a program sent flow-controlled packets in another class than theirs: pauses then miss
    /// those who send them.
    pub(crate) fn misclassified(&self) -> Option<PortId> {
        self.misclassified
    }

    /// The program has marked a packet at `port`.
    pub(crate) fn count_mark(&mut self, port: PortId) {
        self.ports[port].marked += 1;
    }

    /// Packets that programs marked at a port, the whole run's.
    pub(crate) fn marked(&self, port: PortId) -> u64 {
        self.ports[port].marked
    }

    /// A packet that was admitted has left the queue of `port`, or was dropped there.
    pub(crate) fn release(
        &mut self,
        port: PortId,
        from: Option<PortId>,
        class: u16,
        length: u32,
        dropped: bool,
    ) {
        let Some((switch, transit)) = self.transit(port, from, class, length) else { return };
        let switch = &mut self.switches[switch].switch;
        if dropped
            && let (Some(from), Some(ingress)) = (from, transit.ingress)
            && switch.flow_control().controls(Account { ingress, priority: transit.priority })
        {
            self.ports[from].dropped += 1;
        }
        switch.release(&transit);
    }

    /// The switch that a port belongs to.
    pub(crate) fn owner(&self, port: PortId) -> Option<usize> {
        Some(self.ports[port].owner?.0)
    }

    /// Whether any switch may have a PAUSE frame to send, or a timer: those that only share their memory have not.
    #[inline]
    pub(crate) fn speaks(&self) -> bool {
        self.speaks
    }

    /// The next PAUSE frame that a switch must send: the port that it leaves by, and what it says.
    pub(crate) fn next_frame(&mut self, switch: usize) -> Option<(PortId, PauseFrame)> {
        let installed = &mut self.switches[switch];
        let (port, frame) = installed.switch.next_frame()?;
        Some((installed.ports[port].out?, frame))
    }

    /// Says again the pauses of a switch that would expire, and lets its control plane do what is due.
    pub(crate) fn refresh(&mut self, switch: usize, now: Time) {
        let installed = &mut self.switches[switch];
        installed.switch.refresh(now);
        if let Some(program) = &mut installed.program {
            program.advance(now);
        }
    }

    /// How many switches have options.
    pub(crate) fn len(&self) -> usize {
        self.switches.len()
    }

    /// The time for which a switch needs an event, if none stands for it yet; from here on one does.
    pub(crate) fn arm(&mut self, switch: usize) -> Option<Time> {
        let installed = &mut self.switches[switch];
        let program = installed.program.as_ref().and_then(Program::next_event);
        let next = installed.switch.next_refresh().into_iter().chain(program).min();
        let at = next.filter(|at| *at < installed.timer)?;
        installed.timer = at;
        Some(at)
    }

    /// Whether an event of a switch is the one that was armed last; it stands no longer.
    pub(crate) fn disarm(&mut self, switch: usize, now: Time) -> bool {
        let timer = &mut self.switches[switch].timer;
        let armed = *timer == now;
        if armed {
            *timer = Time::MAX;
        }
        armed
    }

    /// Where in the table the rest of the route is of PAUSE frames that leave by a port.
    pub(crate) fn frame_route(&self, port: PortId) -> u32 {
        self.ports[port].frame_route
    }

    /// Says where that is.
    pub(crate) fn set_frame_route(&mut self, port: PortId, route: u32) {
        self.ports[port].frame_route = route;
    }

    /// PAUSE frames that go before all other packets of a port.
    pub(crate) fn frames_mut(&mut self, port: PortId) -> &mut VecDeque<PacketId> {
        &mut self.ports[port].frames
    }

    /// The same, to count.
    pub(crate) fn frames(&self, port: PortId) -> &VecDeque<PacketId> {
        &self.ports[port].frames
    }

    /// Whether no switch accounts for a packet that waits.
    pub(crate) fn are_empty(&self) -> bool {
        self.switches.iter().all(|installed| installed.switch.is_empty())
    }

    /// The classes that a port must not serve.
    #[inline]
    pub(crate) fn paused_classes(&self, port: PortId) -> PausedClasses {
        self.ports[port].pause.as_ref().map_or(PausedClasses::NONE, PauseState::paused_classes)
    }

    /// A PAUSE frame has come over the wire of `out`: the port of the other direction obeys. Answers which that is.
    pub(crate) fn receive(&mut self, out: PortId, frame: PauseFrame, now: Time) -> Option<PortId> {
        let (switch, port) = self.ports[out].owner?;
        let upstream = self.switches[switch].ports[port].into?;
        self.ports[upstream].pause.as_mut()?.receive(frame, now);
        Some(upstream)
    }

    /// The time for which the end of a pause needs an event, if none stands for it yet; from here on one does.
    pub(crate) fn arm_expiry(&mut self, port: PortId) -> Option<Time> {
        let attachment = &mut self.ports[port];
        let at = attachment.pause.as_ref()?.next_expiry().filter(|at| *at < attachment.expiry)?;
        attachment.expiry = at;
        Some(at)
    }

    /// Ends the pauses of a port whose time is up.
    pub(crate) fn expire(&mut self, port: PortId, now: Time) {
        let attachment = &mut self.ports[port];
        if attachment.expiry == now {
            attachment.expiry = Time::MAX;
        }
        if let Some(pause) = &mut attachment.pause {
            pause.expire(now);
        }
    }

    /// Looks for a circle of paused buffers, and remembers the first.
    pub(crate) fn look_for_deadlock(&mut self, now: Time) {
        if self.deadlock.is_some() {
            return;
        }
        // A port and a priority are one number.
        let mut graph: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (port, attachment) in self.ports.iter().enumerate() {
            let Some((switch, ingress)) = attachment.next else { continue };
            let installed = &self.switches[switch];
            let Some(pause) = &attachment.pause else { continue };
            for priority in (0..PRIORITIES as u8).filter(|priority| pause.is_paused(*priority)) {
                let waits = installed.switch.flow_control().depends_on(Account { ingress, priority });
                let outs = waits.filter_map(|egress| installed.ports[egress].out);
                let number = |port: PortId| port * PRIORITIES + usize::from(priority);
                graph.insert(number(port), outs.map(number).collect());
            }
        }
        self.deadlock = deadlock::circle(&graph)
            .map(|circle| (now, circle.into_iter().map(|number| number / PRIORITIES).collect()));
    }

    /// When the first circle of paused buffers was seen, and the ports in it.
    pub(crate) fn deadlock(&self) -> Option<&(Time, Vec<PortId>)> {
        self.deadlock.as_ref()
    }

    /// Packets that found no room in front of a port, the whole run's.
    pub(crate) fn refused(&self, port: PortId) -> Refused {
        self.ports[port].refused
    }

    /// Packets that the program dropped on their way to a port, the whole run's.
    pub(crate) fn filtered(&self, port: PortId) -> Refused {
        self.ports[port].filtered
    }

    /// The warm-up is over: resets the counts.
    pub(crate) fn restart(&mut self, now: Time) {
        self.switches.iter_mut().for_each(|installed| installed.switch.restart());
        for attachment in &mut self.ports {
            attachment.dropped = 0;
            attachment.filtered_before = attachment.filtered.packets;
            if let Some(pause) = &mut attachment.pause {
                pause.restart(now);
            }
        }
    }

    /// What pauses, programs and buffers have done until `now`.
    pub(crate) fn totals(&self, now: Time) -> SwitchTotals {
        let mut totals =
            SwitchTotals { deadlock: self.deadlock.as_ref().map(|(at, _)| *at), ..SwitchTotals::default() };
        for installed in &self.switches {
            for (account, thresholds, counters) in installed.switch.flow_control().accounts() {
                totals.is_controlled = true;
                let Some(port) = installed.ports[account.ingress].into else { continue };
                let pause = self.ports[port].pause.as_ref();
                totals.accounts.push(Paused {
                    port,
                    priority: account.priority,
                    time_s: pause.map_or(0.0, |pause| pause.paused_time(account.priority, now).as_secs_f64()),
                    xoff_frames: counters.xoff_frames,
                    xon_frames: counters.xon_frames,
                    headroom: counters.headroom_needed,
                    headroom_limit: thresholds.headroom,
                    lost: counters.lost,
                });
            }
        }
        totals.dropped = self.ports.iter().map(|attachment| attachment.dropped).sum();
        if self.switches.iter().any(|installed| installed.program.is_some()) {
            let filtered = |port: &Attachment| port.filtered.packets - port.filtered_before;
            totals.filtered = Some(self.ports.iter().map(filtered).sum());
        }
        let buffers: Vec<_> =
            self.switches.iter().filter_map(|installed| installed.switch.buffer()).collect();
        if !buffers.is_empty() {
            let largest = buffers.iter().map(|buffer| buffer.largest()).max().unwrap_or(0);
            totals.buffers =
                Some((largest, self.switches.iter().map(|installed| installed.switch.refused()).sum()));
        }
        totals
    }
}

/// A packet as the program of its switch sees it.
fn view(packet: &Metadata, egress: usize, now: Time) -> PacketView<'_> {
    let ingress = (packet.ingress != NO_INGRESS).then_some(packet.ingress.into());
    PacketView { packet, ingress, egress, now }
}

/// The ports of a node: each link out of it with the link back, in order where there are several to a neighbour; then
/// the links that lead to it alone.
fn pairs(network: &Network, node: NodeId) -> Vec<Pair> {
    let mut into = network.into[node].clone();
    let mut pairs = Vec::new();
    for &out in &network.out[node] {
        let neighbour = network.links[out].to;
        let back = into.iter().position(|link| network.links[*link].from == neighbour);
        pairs.push(Pair { out: Some(out), into: back.map(|position| into.remove(position)) });
    }
    pairs.extend(into.into_iter().map(|link| Pair { out: None, into: Some(link) }));
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::graph::LinkSpec;
    use aqm_core::units::Span;
    use aqm_path::wire::Impairments;

    /// The headroom of a switch whose only link, 1 Gbit/s, has this jitter on the way to it.
    fn headroom(jitter_ns: u64, program: Option<&str>) -> u64 {
        let mut network = Network::default();
        let [host, node] = ["host", "switch"].map(|name| network.node(name.to_owned()));
        let plain = |from, to| {
            LinkSpec::plain(from, to, Rate::from_bits_per_sec(1_000_000_000), Span::from_micros(1))
        };
        let wire = Impairments { jitter_ns, ..Impairments::default() };
        network.link(LinkSpec { wire, ..plain(host, node) });
        network.link(plain(node, host));
        let pfc =
            PfcOptions { priorities: vec![0], xoff_bytes: 1, xon_bytes: 0, headroom_bytes: None, quanta: 9 };
        let program = program.map(str::to_owned);
        network.switches.insert(node, SwitchOptions { buffer: None, pfc: Some(pfc), program });
        let all = Switches::of(&network, 1514, ProgramSpec::parse, 1).unwrap().unwrap();
        all.switches[0].switch.flow_control().accounts().next().unwrap().1.headroom
    }

    #[test]
    fn headroom_is_enough_for_jitter_and_for_packets_that_grow() {
        // A packet and a PAUSE of 64 bytes before the sender knows, 2 us on the wires, two packets at the ends.
        assert_eq!(headroom(0, None), 1514 + 64 + 250 + 1 + 2 * 1514);
        assert_eq!(headroom(10_000, None), headroom(0, None) + 1250);
        // Telemetry of three hops is 40 bytes.
        assert_eq!(headroom(0, Some("dscp int")), headroom(0, None) + 3 * 40);
    }
}
