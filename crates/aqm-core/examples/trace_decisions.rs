//! Replays a trace through one discipline and writes every decision: the Rust half of the oracle tests.
//!
//! Standard input, words separated by spaces, times in nanoseconds that never decrease:
//!
//! ```text
//! spec codel target 5ms ecn          the discipline, as on the command line
//! rate 10000000                      of the link, bit/s
//! random 17 18446744073709551615     the random numbers that it draws, 64 bits each, again from the first at the end
//! arrive 1000 0 3 1514 2             time, packet, flow, bytes, ECN field (0 to 3)
//! serve 2000                         the link asks for a packet
//! serve_for 2500 3                   time, station that it asks for a packet of
//! sent 2600 3 400000 0               time, station, nanoseconds of airtime, 1 if the station sent
//! change 3000 target 10ms            time, parameter, value
//! random 3000 17 18446744073709551615   time, random numbers from here on
//! probe 4000
//! ```
//!
//! A packet's class is its flow modulo 4, its code point DF, AF11, AF12 or AF13 accordingly, unless a sixth word
//! gives the code point; two more words make it an acknowledgment, with its number and TCP flags. Four flows share
//! each source, and every third flow a destination; a packet's station is its flow modulo 4. Standard output: `enqueued P`, `dropped P REASON`, `marked P`,
//! `departed P`, `empty`, `changed`, `probe NAME VALUE`.
//! Wake-ups that are due are delivered before each line.

use aqm_core::link::Link;
use aqm_core::packet::{Ecn, Packet, TcpView};
use aqm_core::qdisc::Qdisc;
use aqm_core::random::Random;
use aqm_core::sent::Sent;
use aqm_core::signal::{DropPoint, DropReason, Emission, MarkReason, Observer};
use aqm_core::spec::Spec;
use aqm_core::units::{Rate, Span, Time};
use std::error::Error;
use std::fmt::Write as _;
use std::io::Read as _;

/// Decisions, in order.
#[derive(Default)]
struct Log {
    text: String,
    arriving: Option<u64>,
}

impl Log {
    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        writeln!(self.text, "{line}").expect("a string takes everything");
    }
}

impl Observer for Log {
    fn on_drop(&mut self, packet: Packet, reason: DropReason, _point: DropPoint) {
        if self.arriving == Some(packet.cookie) {
            self.arriving = None;
        }
        self.line(format_args!("dropped {} {}", packet.cookie, reason.name()));
    }

    fn on_mark(&mut self, packet: &Packet, _reason: MarkReason) {
        self.line(format_args!("marked {}", packet.cookie));
    }

    fn on_emit(&mut self, emission: Emission) {
        self.line(format_args!("emitted for {} {:?}", emission.flow, emission.values));
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    replay(|text| Ok(Spec::parse(text)?))
}

/// Replays standard input; `read` reads the discipline.
pub(crate) fn replay(read: impl Fn(&str) -> Result<Spec, Box<dyn Error>>) -> Result<(), Box<dyn Error>> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    let mut lines = text.lines();
    let mut header = |word: &str| {
        let line = lines.next().and_then(|line| line.strip_prefix(word)).map(str::trim);
        line.ok_or_else(|| format!("expected a line '{word} ...'"))
    };
    let spec = read(header("spec")?)?;
    let rate = Rate::from_bits_per_sec(header("rate")?.parse()?);
    let numbers = header("random")?.split_whitespace().map(str::parse).collect::<Result<Vec<u64>, _>>()?;
    let mut qdisc = spec.build(Link::new(rate), Random::script(numbers))?;
    let mut log = Log::default();
    for line in lines {
        play(line, &mut qdisc, &mut log).map_err(|error| format!("'{line}': {error}"))?;
        qdisc.check()?;
    }
    print!("{}", log.text);
    Ok(())
}

/// Replays one line.
fn play(line: &str, qdisc: &mut Qdisc, log: &mut Log) -> Result<(), Box<dyn Error>> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [op, time, rest @ ..] = words.as_slice() else { return Err("too short".into()) };
    let now = Time::from_nanos(time.parse()?);
    while let Some(due) = qdisc.next_wakeup().filter(|due| *due <= now) {
        qdisc.wake(due, log);
    }
    match (*op, rest) {
        ("arrive", [cookie, flow, length, ecn, more @ ..]) => {
            let mut packet = Packet::new(cookie.parse()?, flow.parse()?, length.parse()?);
            packet.class = (packet.flow % 4) as u16;
            packet.dscp = [0, 10, 12, 14][packet.flow as usize % 4];
            packet.station = (packet.flow % 4) as u8;
            (packet.source, packet.destination) = (packet.flow as u32 / 4, packet.flow as u32 % 3);
            if let [dscp, ..] = more {
                packet.dscp = dscp.parse()?;
            }
            if let [_, ack, flags] = more {
                let (ack, flags) = (ack.parse()?, flags.parse()?);
                packet.tcp = Some(TcpView { seq: 0, ack, payload: 0, flags, has_sack: false });
            }
            packet.ecn = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce][ecn.parse::<usize>()?];
            log.arriving = Some(packet.cookie);
            qdisc.enqueue(packet, now, log);
            if let Some(cookie) = log.arriving.take() {
                log.line(format_args!("enqueued {cookie}"));
            }
        }
        ("serve", []) => match qdisc.dequeue(now, log) {
            Some(packet) => log.line(format_args!("departed {}", packet.cookie)),
            None => log.line(format_args!("empty")),
        },
        ("serve_for", [station]) => match qdisc.dequeue_for(station.parse()?, now, log) {
            Some(packet) => log.line(format_args!("departed {}", packet.cookie)),
            None => log.line(format_args!("empty")),
        },
        ("sent", [station, nanos, received]) => {
            let (airtime, received) = (Span::from_nanos(nanos.parse()?), *received == "1");
            let sent = Sent {
                station: station.parse()?,
                class: 0,
                delivered: 1,
                attempts: 1,
                airtime,
                received,
                expected: None,
            };
            qdisc.sent(&sent, now, log);
        }
        ("change", [name, value]) => {
            qdisc.change(&[(name, value)], now, log)?;
            log.line(format_args!("changed"));
        }
        ("random", [_, ..]) => {
            qdisc.set_random(Random::script(
                rest.iter().map(|number| number.parse()).collect::<Result<_, _>>()?,
            ));
        }
        ("probe", []) => {
            qdisc.probe(now, &mut |name, value| log.line(format_args!("probe {name} {value:?}")));
        }
        _ => return Err("unknown".into()),
    }
    Ok(())
}
