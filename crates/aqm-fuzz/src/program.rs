//! Whatever packets pass a switch's program, and whenever its control plane wakes: every packet that came in leaves or is
//! dropped, nothing that the program counts falls below zero, and what is due is never put off.

use crate::setting::{Setting, given};
use aqm_core::packet::{Ecn, Packet};
use aqm_core::random::Random;
use aqm_core::units::{Rate, Span, Time};
use aqm_sim::switch::control_plane::Program;
use aqm_sim::switch::declaration::Site;
use aqm_sim::switch::pipeline::{PacketView, QueueView};
use aqm_sim::switch::program::ProgramSpec;
use aqm_sim::switch::programs::PROGRAMS;
use arbitrary::Arbitrary;
use std::collections::VecDeque;

#[derive(Arbitrary, Debug)]
pub(crate) struct Run {
    program: u8,
    preset: u8,
    settings: Vec<Setting>,
    seed: u64,
    calls: Vec<Call>,
}

#[derive(Arbitrary, Debug)]
enum Call {
    Arrive {
        port: u8,
        flow: u8,
        dscp: u8,
        ecn: u8,
        length: u16,
    },
    Leave {
        port: u8,
    },
    /// The traffic manager drops the newest packet of a port.
    Drop {
        port: u8,
    },
    /// Microseconds.
    Wait(u16),
    /// Until the program has something to do.
    UntilDue,
}

const PORTS: usize = 3;
/// A control plane may be due every microsecond, and takes some to decide: after two decisions time stops, and packets go on.
const MOST_TIMERS: u32 = 4;

pub(crate) fn run(run: Run) {
    let info = PROGRAMS[usize::from(run.program) % PROGRAMS.len()];
    let preset = info.presets[usize::from(run.preset) % info.presets.len()].name;
    let mut text = format!("{}:{preset}", info.name);
    for (name, value) in given(&run.settings, info.params) {
        match value.as_str() {
            "on" => text += &format!(" {name}"),
            "off" => text += &format!(" no{name}"),
            value => text += &format!(" {name} {value}"),
        }
    }
    // The whole search takes milliseconds; what it is given and what follows from its answer is the same in the first of
    // its generations.
    if info.params.iter().any(|param| param.name == "generations") {
        text += " generations 1";
    }
    let spec = ProgramSpec::parse(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let rates = [1_000_000_000, 10_000_000, 0].map(Rate::from_bits_per_sec).to_vec();
    // A relation between parameters may not hold.
    let Ok(mut program) = spec.build(Site { rates, random: Random::seeded(run.seed) }) else { return };
    let mut queues: [VecDeque<Packet>; PORTS] = Default::default();
    let (mut now, mut timers, mut number) = (Time::ZERO, 0, 0);
    for call in run.calls {
        match call {
            Call::Arrive { port, flow, dscp, ecn, length } => {
                number += 1;
                // Packets leave by the ports that have a rate.
                let egress = usize::from(port) % (PORTS - 1);
                let mut packet = Packet::new(number, flow.into(), u32::from(length).max(1));
                packet.arrival = now;
                packet.dscp = dscp % 64;
                packet.ecn = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce][usize::from(ecn % 4)];
                let ingress = (port > 0).then_some(usize::from(port) % PORTS);
                let verdict = program.on_ingress(&PacketView { packet: &packet, ingress, egress, now });
                if let Some(emission) = verdict.emit {
                    assert_eq!((emission.flow, emission.to), (packet.flow, packet.source), "{spec}");
                    assert!(emission.length > 0, "{spec}");
                }
                if !verdict.drop {
                    queues[egress].push_back(packet);
                }
            }
            Call::Leave { port } => leave(&mut program, &mut queues, usize::from(port) % PORTS, now),
            Call::Drop { port } => {
                let egress = usize::from(port) % PORTS;
                if let Some(packet) = queues[egress].pop_back() {
                    program.on_drop(&PacketView { packet: &packet, ingress: None, egress, now });
                }
            }
            Call::Wait(micros) => {
                let until = now + Span::from_micros(micros.into());
                wait(&mut program, &mut now, until, &mut timers);
            }
            Call::UntilDue => {
                let until = now.max(program.next_event().unwrap_or(now));
                wait(&mut program, &mut now, until, &mut timers);
            }
        }
    }
    for port in 0..PORTS {
        while !queues[port].is_empty() {
            leave(&mut program, &mut queues, port, now);
        }
    }
}

/// Time passes until then, or until the timers are used up.
fn wait(program: &mut Program, now: &mut Time, until: Time, timers: &mut u32) {
    while let Some(due) = program.next_event().filter(|due| *due <= until) {
        if *timers == MOST_TIMERS {
            return;
        }
        *timers += 1;
        *now = due;
        program.advance(due);
        assert!(program.next_event().is_none_or(|next| next > due), "put off what is due");
    }
    *now = until;
}

/// The oldest packet of a port leaves, if there is one.
fn leave(program: &mut Program, queues: &mut [VecDeque<Packet>; PORTS], egress: usize, now: Time) {
    let Some(packet) = queues[egress].pop_front() else { return };
    let bytes = queues[egress].iter().map(|packet| u64::from(packet.length)).sum();
    let sojourn = now.since(packet.arrival);
    let queue = QueueView { packets: queues[egress].len() as u64, bytes, sojourn };
    program.on_egress(&PacketView { packet: &packet, ingress: None, egress, now }, &queue);
}
