//! # What it does
//! The congestion point of PMQECN. Packets are put into virtual queues, which are counters; a virtual queue is served in
//! weighted rounds by giving its packets to three classes, which a strict-priority discipline serves in order; a virtual queue
//! that is longer than its threshold returns a message to the source of each packet that leaves it, with what arrives of the
//! class and what should. The [control plane](super::control) sets weights, thresholds and those rates.
//!
//! `strategy` puts what the paper compares PMQECN with on the same virtual queues, as its authors did: DCQCN and P4QCN by the
//! queue of the port, TCN by the time that a packet waited.
//!
//! # Reference
//! Y. Liu et al., "A multi-queue-based ECN marking strategy for multi-class QoS guarantee in programmable networks", PeerJ
//! Computer Science 10:e2382 (2024), algorithms 1 and 2, figure 4; `p4/pmqecn.p4` is the same in P4.
//!
//! # Deviations
//! Classes go by DiffServ code point where the paper has addresses. Counters go down with packets that the queue drops; the
//! authors' leak (`leak`).

use super::control::{Registers, Settings, Solver};
use super::evolution::Evolution;
use super::optimizer::{Objective, Quality};
use aqm_core::choices;
use aqm_core::packet::Ecn;
use aqm_core::params::{Each, Kind, ParamError, ParamSpec, Params, PerClass, Preset, Value};
use aqm_core::signal::Emission;
use aqm_core::units::{Bytes, Rate, Span};
use aqm_sim::switch::control_plane::{ControlPlane, Program};
use aqm_sim::switch::declaration::{Info, Site};
use aqm_sim::switch::pipeline::{
    Egress, Ingress, PacketView, Pipeline, QueueView, RegisterId, State, TableId, Telemetry,
};

/// The registry entry.
pub(crate) static INFO: Info = Info {
    name: "pmqecn",
    summary: "Virtual queues in weighted rounds, thresholds and rates from a queueing model (PMQECN)",
    reference: "Liu et al., PeerJ CS 2024",
    params: PARAMS,
    presets: &[
        Preset {
            name: "consistent",
            source: "rounds that the queues have room for; normalised objectives; rates after each period",
            values: &[],
        },
        Preset {
            name: "text",
            source: "Liu et al. 2024, equations 10 to 14, algorithms 1 and 2, figure 4",
            values: &[
                ("objective", Value::Choice(Objective::Printed.word())),
                ("round", Value::Count(0)),
                ("weight", Value::Count(3)),
                ("hold", Value::Flag(true)),
            ],
        },
        Preset {
            name: "artifact",
            source: "YXY-1998/OUR-ECN",
            values: &[
                ("objective", Value::Choice(Objective::Printed.word())),
                ("round", Value::Count(0)),
                ("weight", Value::Count(300)),
                ("refill", Value::Choice(Refill::Round.word())),
                ("hold", Value::Flag(true)),
                ("leak", Value::Flag(true)),
                ("bounded", Value::Flag(true)),
            ],
        },
    ],
    telemetry: "lambda and lambda* of the packet's class, packets per second",
    feedback: "packets in the port's queue, lambda and lambda* of the class, packets per second",
    build,
};

/// Strict-priority classes that a virtual queue uses; BMv2's 7, 6 and 5.
const BANDS: usize = 3;

const AUTHORS: &str = "YXY-1998/OUR-ECN";

const PARAMS: &[ParamSpec] = &[
    ParamSpec::choice::<Strategy>(
        "strategy",
        "What is marked or notified: pmqecn the virtual queue, p4qcn the source and dcqcn the packet at the port's queue, tcn the \
         packet that waited long",
        "Liu et al. 2024, section Experiment",
    ),
    ParamSpec::new(
        "codepoints",
        Kind::PerClass(Each::Count),
        Value::PerClass(PerClass::of(Each::Count, &[46, 26])),
        (0.0, 63.0),
        "Code points of the first class (voice) and the second (video); all others are the third (files)",
        "RFC 3246 (EF is 46), RFC 2597 (AF31 is 26)",
    ),
    ParamSpec::new(
        "threshold",
        Kind::Count,
        Value::Count(21),
        (0.0, 1e9),
        "Packets beyond which there is congestion: of a virtual queue until the control plane says otherwise, or of the port",
        "YXY-1998/OUR-ECN: 64 / 3; table 3: 11 for DCQCN and P4QCN",
    ),
    ParamSpec::new(
        "sojourn",
        Kind::Span,
        Value::Span(Span::from_micros(680)),
        (1.0, 1e12),
        "Wait from which TCN marks",
        "Bai et al. 2016: 0.17 round-trip times, here of 4 ms",
    ),
    ParamSpec::new(
        "weight",
        Kind::Count,
        Value::Count(4),
        (1.0, 1e9),
        "Packets of a class in a round, until the control plane says otherwise",
        "figure 4 has 3; YXY-1998/OUR-ECN 300",
    ),
    ParamSpec::new(
        "round",
        Kind::Count,
        Value::Count(12),
        (0.0, 1e9),
        "Packets in a round of all classes, of which each has its share; 0 is Gamma, as algorithm 2 has it",
        "not in the paper; a class that never reaches its weight is not held back",
    ),
    ParamSpec::choice::<Refill>(
        "refill",
        "When a band takes packets of a class again: as its packets leave, or when the class has none in lower bands",
        "Liu et al. 2024, figure 4: the length of its packets in a priority queue; YXY-1998/OUR-ECN: round",
    ),
    ParamSpec::choice::<Queues>(
        "queues",
        "virtual: three strict-priority classes serve the virtual queues in rounds; real: each has a class of its own, \
         which the discipline serves in its way",
        "Liu et al. 2024, figure 4: virtual",
    ),
    ParamSpec::new(
        "capacity",
        Kind::Count,
        Value::Count(64),
        (1.0, 1e9),
        "N, packets that fit into the switch",
        "BMv2's queues",
    ),
    ParamSpec::new(
        "packet",
        Kind::Bytes,
        Value::Bytes(Bytes::new(1000)),
        (1.0, 65_535.0),
        "Bytes of a packet on the link, by which rates are counted in packets",
        "YXY-1998/OUR-ECN: 100",
    ),
    ParamSpec::new(
        "link",
        Kind::Rate,
        Value::Auto,
        (1.0, 1e13),
        "C, the bandwidth of a link",
        "table 3: 10 Mbit/s",
    )
    .or_auto("the fastest port's"),
    ParamSpec::choice::<Objective>(
        "objective",
        "How the objectives of the classes are added",
        "Liu et al. 2024, equation 14",
    ),
    ParamSpec::flag(
        "bounded",
        false,
        "Service rates are searched below N packets per second, not below Gamma",
        AUTHORS,
    ),
    ParamSpec::flag("leak", false, "Packets that the queue drops stay in the counters", AUTHORS),
    ParamSpec::choice::<Notify>(
        "notify",
        "Whose source is notified by pmqecn and p4qcn: that of ECN-capable packets, or of all IP packets",
        "Liu et al. 2024, introduction: \"applicable to all IP packets\"",
    ),
    ParamSpec::flag("hold", false, "A period without a solution leaves the rates as they were", AUTHORS),
    ParamSpec::new(
        "period",
        Kind::Span,
        Value::Span(Span::from_secs(2)),
        (1000.0, 1e15),
        "From one look of the control plane at the counters to the next",
        AUTHORS,
    ),
    ParamSpec::new(
        "delay",
        Kind::Span,
        Value::Span(Span::from_millis(50)),
        (0.0, 1e15),
        "From a look of the control plane until what it decides is in force",
        "a solve takes less here",
    ),
    ParamSpec::new(
        "generations",
        Kind::Count,
        Value::Count(Evolution::PMQECN.generations as u64),
        (1.0, 1e6),
        "How often the search for the best rates challenges all its points at most: fewer are faster and less exact",
        "YXY-1998/OUR-ECN: GA/a/main2.py",
    ),
    ParamSpec::flag("int", false, "Lets packets carry on what their queues were", AUTHORS),
];

choices! {
    /// What is marked or notified.
    enum Strategy {
        Pmqecn = "pmqecn",
        Dcqcn = "dcqcn",
        P4qcn = "p4qcn",
        Tcn = "tcn",
        None = "none",
    }
}

choices! {
    /// When a band takes packets of a class again.
    enum Refill {
        Departure = "departure",
        Round = "round",
    }
}

choices! {
    /// What the classes have.
    enum Queues {
        Virtual = "virtual",
        Real = "real",
    }
}

choices! {
    /// Whose source is notified.
    enum Notify {
        Ect = "ect",
        All = "all",
    }
}

struct Switch {
    strategy: Strategy,
    /// From code point to class.
    classes: TableId,
    count: usize,
    registers: Registers,
    /// The virtual queues, packets.
    waiting: RegisterId,
    /// Packets that a band has taken of a virtual queue and not given back.
    used: RegisterId,
    /// Of the port's queue, for strategies that go by it.
    threshold: u64,
    sojourn: Span,
    /// Whether a band takes packets again only when the class has none in lower bands.
    by_round: bool,
    /// Whether each virtual queue has a class of its own.
    real: bool,
    /// Whether dropped packets stay counted.
    leaks: bool,
    /// Whether the sources of packets that are not ECN-capable are notified, too.
    notifies_all: bool,
    telemetry: bool,
}

/// Bytes of a message: a minimal Ethernet frame with room for an IP header, the INT option and its hop.
const MESSAGE_BYTES: u32 = 64;

fn build(params: &Params, site: Site) -> Result<Program, ParamError> {
    let codepoints = params.per_class("codepoints");
    let count = codepoints.as_slice().len() + 1;
    let size = count * site.rates.len();
    let mut state = State::default();
    let registers = Registers::add(&mut state, size);
    let waiting = state.add_registers(size);
    let used = state.add_registers(size * BANDS);
    let threshold = params.count("threshold");
    state.registers_mut(registers.thresholds).fill(threshold);
    state.registers_mut(registers.weights).fill(params.count("weight"));
    let classes = state.add_table(count as u64 - 1);
    for (class, codepoint) in (0..).zip(codepoints.as_slice()) {
        state.set_entry(classes, *codepoint, class);
    }
    let strategy = params.choice("strategy");
    let control = (strategy == Strategy::Pmqecn).then(|| -> Box<dyn ControlPlane> {
        Box::new(Solver::new(settings(params, &site.rates, count), registers, site.random))
    });
    let pipeline = Switch {
        strategy,
        classes,
        count,
        registers,
        waiting,
        used,
        threshold,
        sojourn: params.span("sojourn"),
        by_round: params.choice::<Refill>("refill") == Refill::Round,
        real: params.choice::<Queues>("queues") == Queues::Real,
        leaks: params.flag("leak"),
        notifies_all: params.choice::<Notify>("notify") == Notify::All,
        telemetry: params.flag("int"),
    };
    Ok(Program::new(Box::new(pipeline), state, control))
}

/// How the control plane works on ports of these rates.
fn settings(params: &Params, rates: &[Rate], classes: usize) -> Settings {
    let bits = 8.0 * params.bytes("packet").map_or(1500.0, |bytes| bytes.as_u64() as f64);
    let packets = |rate: &Rate| rate.as_bits_per_sec() as f64 / bits;
    let fastest = rates.iter().map(packets).fold(0.0, f64::max);
    let quality = |class| match class {
        _ if class + 1 == classes => Quality::File,
        0 => Quality::Voice,
        _ => Quality::Video,
    };
    Settings {
        classes: (0..classes).map(quality).collect(),
        services: rates.iter().map(packets).collect(),
        capacity: params.count("capacity") as u32,
        link: params.rate("link").map_or(fastest, |rate| packets(&rate)),
        objective: params.choice("objective"),
        bounded: params.flag("bounded"),
        round: Some(params.count("round") as u32).filter(|round| *round > 0),
        evolution: Evolution { generations: params.count("generations") as usize, ..Evolution::PMQECN },
        hold: params.flag("hold"),
        period: params.span("period"),
        delay: params.span("delay"),
    }
}

impl Switch {
    /// The place of a packet's port and class in the registers.
    fn place(&self, view: &PacketView<'_>, state: &State) -> usize {
        view.egress * self.count + state.lookup(self.classes, view.packet.dscp.into()) as usize
    }

    /// The first band that the virtual queue's weight leaves a place in; the last takes whatever comes.
    fn band(&self, place: usize, state: &State) -> usize {
        let (used, weight) = (state.registers(self.used), state.registers(self.registers.weights)[place]);
        (0..BANDS - 1).find(|band| used[place * BANDS + band] < weight).unwrap_or(BANDS - 1)
    }

    /// A packet of a band waits no longer; answers how many of its virtual queue still do.
    ///
    /// By rounds, a class that has packets in the lowest band gets none into the others before those have left; they never
    /// do while another class, within its weight, fills the link.
    fn leave(&self, place: usize, band: usize, dropped: bool, state: &mut State) -> u64 {
        let used = state.registers_mut(self.used);
        let lower_are_empty =
            used[place * BANDS + band + 1..(place + 1) * BANDS].iter().all(|taken| *taken == 0);
        if dropped || !self.by_round || lower_are_empty {
            let taken = &mut used[place * BANDS + band];
            *taken = taken.saturating_sub(1);
        }
        let waiting = &mut state.registers_mut(self.waiting)[place];
        *waiting -= 1;
        let waiting = *waiting;
        if waiting == 0 {
            state.registers_mut(self.used)[place * BANDS..(place + 1) * BANDS].fill(0);
        }
        waiting
    }

    fn band_of(view: &PacketView<'_>) -> usize {
        usize::from(view.packet.class).min(BANDS - 1)
    }
}

impl Pipeline for Switch {
    fn on_ingress(&mut self, view: &PacketView<'_>, state: &mut State) -> Ingress {
        let place = self.place(view, state);
        state.registers_mut(self.registers.arrivals)[place] += 1;
        state.registers_mut(self.waiting)[place] += 1;
        if self.real {
            return Ingress { class: Some((place % self.count) as u16), ..Ingress::default() };
        }
        let band = self.band(place, state);
        state.registers_mut(self.used)[place * BANDS + band] += 1;
        Ingress { class: Some(band as u16), ..Ingress::default() }
    }

    fn on_egress(&mut self, view: &PacketView<'_>, queue: &QueueView, state: &mut State) -> Egress {
        let place = self.place(view, state);
        let waiting = self.leave(place, Switch::band_of(view), false, state);
        state.registers_mut(self.registers.waits)[place] = queue.sojourn.as_nanos();
        let of = |array| state.registers(array)[place];
        let (rate, best) = (of(self.registers.rates), of(self.registers.best_rates));
        let can_mark = matches!(view.packet.ecn, Ecn::Ect0 | Ecn::Ect1);
        let by_message = matches!(self.strategy, Strategy::Pmqecn | Strategy::P4qcn);
        let congested = (can_mark || by_message && self.notifies_all)
            && match self.strategy {
                Strategy::Pmqecn => waiting > of(self.registers.thresholds),
                Strategy::Dcqcn | Strategy::P4qcn => queue.packets >= self.threshold,
                Strategy::Tcn => queue.sojourn >= self.sojourn,
                Strategy::None => false,
            };
        let tells = congested && by_message;
        let message = || Emission {
            flow: view.packet.flow,
            to: view.packet.source,
            length: MESSAGE_BYTES,
            class: 0,
            values: [queue.packets, rate, best],
        };
        Egress {
            mark: congested && !tells,
            emit: tells.then(message),
            telemetry: self.telemetry.then(|| Telemetry::new(queue.packets, [rate, best])),
        }
    }

    fn on_drop(&mut self, view: &PacketView<'_>, state: &mut State) {
        if self.leaks {
            return;
        }
        let place = self.place(view, state);
        self.leave(place, Switch::band_of(view), true, state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aqm_core::packet::Packet;
    use aqm_core::random::Random;
    use aqm_core::units::Time;
    use aqm_sim::switch::program::ProgramSpec;
    use std::collections::VecDeque;

    const DSCP: [u8; 3] = [46, 26, 0];

    /// A port with three bands of a few places each, and the program in front of it and behind it.
    struct Port {
        program: Program,
        bands: [VecDeque<Packet>; BANDS],
        room: usize,
        drops: usize,
        notified: Vec<[u64; 3]>,
        marked: usize,
    }

    fn view(packet: &Packet) -> PacketView<'_> {
        PacketView { packet, ingress: Some(0), egress: 0, now: Time::ZERO }
    }

    impl Port {
        fn new(text: &str, room: usize) -> Port {
            let rates = vec![Rate::from_bits_per_sec(800_000)];
            let site = Site { rates, random: Random::seeded(1) };
            let program = ProgramSpec::parse_among(text, crate::PROGRAMS).unwrap().build(site).unwrap();
            Port { program, bands: Default::default(), room, drops: 0, notified: Vec::new(), marked: 0 }
        }

        fn put(&mut self, class: usize) {
            self.put_with(class, Ecn::Ect1);
        }

        fn put_with(&mut self, class: usize, ecn: Ecn) {
            let mut packet = Packet::new(class as u64, class as u64, 100);
            (packet.dscp, packet.ecn) = (DSCP[class], ecn);
            let class = self.program.on_ingress(&view(&packet)).class.unwrap();
            packet.class = class;
            if self.bands[usize::from(packet.class)].len() == self.room {
                self.program.on_drop(&view(&packet));
                self.drops += 1;
            } else {
                self.bands[usize::from(packet.class)].push_back(packet);
            }
        }

        /// Sends one packet; answers its class.
        fn send(&mut self) -> Option<usize> {
            let packet = self.bands.iter_mut().find_map(VecDeque::pop_front)?;
            let packets = self.bands.iter().map(VecDeque::len).sum::<usize>() as u64;
            let queue = QueueView { packets, bytes: 100 * packets, sojourn: Span::from_millis(packets) };
            let egress = self.program.on_egress(&view(&packet), &queue);
            self.notified.extend(egress.emit.map(|emission| emission.values));
            self.marked += usize::from(egress.mark);
            Some(packet.flow as usize)
        }

        /// The virtual queues; the seventh array of registers.
        fn counters(&self) -> Vec<u64> {
            let mut state = State::default();
            let waiting = (0..7).map(|_| state.add_registers(0)).last().unwrap();
            self.program.state().registers(waiting).to_vec()
        }

        fn waiting(&self, class: usize) -> u64 {
            self.bands.iter().flatten().filter(|packet| packet.flow as usize == class).count() as u64
        }
    }

    #[test]
    fn virtual_queues_are_what_waits_whatever_is_dropped() {
        // The authors' counters only went down when a packet left: at the end one of them held 1583 of 64 packets.
        let mut random = Random::seeded(7);
        let mut port = Port::new("pmqecn weight 3", 8);
        for _ in 0..20_000 {
            if random.uniform() < 0.55 {
                port.put(random.below(3) as usize);
            } else {
                port.send();
            }
            assert_eq!(port.counters(), [0, 1, 2].map(|class| port.waiting(class)));
        }
        assert!(port.drops > 1000, "{}", port.drops);
        while port.send().is_some() {}
        assert_eq!(port.counters(), [0; 3]);
    }

    #[test]
    fn counters_that_leak_keep_what_was_dropped() {
        let mut port = Port::new("pmqecn weight 3 leak", 8);
        (0..100).for_each(|_| port.put(0));
        while port.send().is_some() {}
        assert!(port.drops > 70, "{}", port.drops);
        assert_eq!(port.counters(), [port.drops as u64, 0, 0]);
    }

    #[test]
    fn with_a_weight_of_three_classes_take_turns_by_threes() {
        // Figure 4: what came first does not hold the others up.
        for refill in ["departure", "round"] {
            let mut port = Port::new(&format!("pmqecn weight 3 refill {refill}"), 64);
            // A virtual queue that was empty restarts.
            for _ in 0..3 {
                for class in [0, 0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 2] {
                    port.put(class);
                }
                let order: Vec<usize> = std::iter::from_fn(|| port.send()).collect();
                assert_eq!(order, [0, 0, 0, 1, 1, 1, 2, 2, 2, 0, 0, 0, 2], "{refill}");
            }
        }
    }

    #[test]
    fn real_queues_have_a_class_each_whatever_their_weights() {
        let mut port = Port::new("pmqecn queues real weight 1", 64);
        for class in [2, 0, 1, 2, 0, 1] {
            port.put(class);
        }
        // The port of this test is strict-priority: each class is served to its end.
        let order: Vec<usize> = std::iter::from_fn(|| port.send()).collect();
        assert_eq!(order, [0, 0, 1, 1, 2, 2]);
        assert_eq!(port.counters(), [0; 3]);
    }

    #[test]
    fn three_busy_classes_share_the_port_by_their_weights() {
        let mut port = Port::new("pmqecn weight 4", 64);
        let mut sent = [0; 3];
        for _ in 0..3000 {
            // The first class sends four times as much as the others.
            [0, 0, 0, 0, 1, 2].into_iter().for_each(|class| port.put(class));
            for _ in 0..3 {
                sent[port.send().unwrap()] += 1;
            }
        }
        assert!(sent.iter().all(|sent| (2700..=3300).contains(sent)), "{sent:?}");
    }

    #[test]
    fn by_rounds_a_class_within_its_weight_starves_one_that_is_beyond_it() {
        for (refill, least, most) in [("round", 0, 50), ("departure", 900, 1100)] {
            let mut port = Port::new(&format!("pmqecn weight 4 refill {refill}"), 64);
            (0..80).for_each(|_| port.put(1));
            let mut sent = [0; 3];
            for _ in 0..2000 {
                // The first class alone fills the link.
                port.put(0);
                port.put(1);
                sent[port.send().unwrap()] += 1;
            }
            assert!((least..=most).contains(&sent[1]), "{refill}: {sent:?}");
        }
    }

    #[test]
    fn each_packet_that_leaves_too_long_a_virtual_queue_tells_its_source() {
        let mut port = Port::new("pmqecn threshold 5 weight 300", 64);
        (0..10).for_each(|_| port.put(1));
        (0..4).for_each(|_| port.put(0));
        while port.send().is_some() {}
        // Ten of the second class: behind the first four of them more than five wait. No rates are known yet.
        assert_eq!(port.notified, [13, 12, 11, 10].map(|packets| [packets, 0, 0]));
        assert_eq!(port.marked, 0);
    }

    #[test]
    fn the_control_plane_is_told_what_classes_ask_for_and_how_long_their_last_packets_waited() {
        let params = Params::new(PARAMS, &INFO.presets[0], |_| unreachable!("no parameter is a discipline"));
        let settings = settings(&params, &[Rate::from_mbit(8)], 4);
        assert_eq!(settings.classes, [Quality::Voice, Quality::Video, Quality::Video, Quality::File]);
        assert_eq!(settings.services, [1000.0]);
        let mut port = Port::new("pmqecn", 64);
        (0..3).for_each(|_| port.put(1));
        port.send();
        // Behind it two wait; here a packet's sojourn is a millisecond for each.
        let mut state = State::default();
        let waits = (0..2).map(|_| state.add_registers(0)).last().unwrap();
        assert_eq!(port.program.state().registers(waits), [0, 2_000_000, 0]);
    }

    #[test]
    fn the_other_strategies_go_by_the_port_or_by_the_wait() {
        for (strategy, notified, marked) in [
            ("p4qcn threshold 11", 4, 0),
            ("dcqcn threshold 11", 0, 4),
            ("tcn sojourn 8ms", 0, 7),
            ("none", 0, 0),
        ] {
            let mut port = Port::new(&format!("pmqecn strategy {strategy}"), 64);
            (0..15).for_each(|number| port.put(number % 3));
            while port.send().is_some() {}
            assert_eq!((port.notified.len(), port.marked), (notified, marked), "{strategy}");
        }
    }

    #[test]
    fn sources_without_ecn_are_notified_if_all_are_but_never_marked() {
        for (text, notified) in [
            ("pmqecn threshold 5", 0),
            ("pmqecn threshold 5 notify all", 9),
            ("pmqecn strategy p4qcn threshold 11 notify all", 4),
            ("pmqecn strategy dcqcn threshold 11 notify all", 0),
        ] {
            let mut port = Port::new(text, 64);
            (0..15).for_each(|_| port.put_with(1, Ecn::NotEct));
            while port.send().is_some() {}
            assert_eq!((port.notified.len(), port.marked), (notified, 0), "{text}");
        }
    }
}
