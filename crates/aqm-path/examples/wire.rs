//! What a wire does to each packet of a steady stream, for a comparison with netem.
//!
//! `wire IMPAIRMENTS DELAY_NS EVERY_NS PACKETS SEED`, the first as JSON, as in a scenario. Prints a line for each packet: the
//! nanoseconds from its leaving the device to its arrival; nothing if it is lost, and two numbers if it arrives twice.
#![allow(clippy::disallowed_methods, reason = "it reads its arguments")]

use aqm_core::units::{Span, Time};
use aqm_path::wire::{Impairments, Passage, Wire};
use std::fmt::Write as _;

const PACKET_BYTES: u32 = 514;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [impairments, delay, every, packets, seed] = arguments.as_slice() else {
        panic!("wire IMPAIRMENTS DELAY_NS EVERY_NS PACKETS SEED");
    };
    let impairments: Impairments = serde_json::from_str(impairments).expect("impairments as JSON");
    let number = |text: &String| text.parse::<u64>().expect("a whole number");
    let mut wire = Wire::new(Span::from_nanos(number(delay)), impairments, number(seed), "wire");
    let mut lines = String::new();
    for packet in 0..number(packets) {
        let out = Time::from_nanos(packet * number(every));
        let after = |at: Time| at.since(out).as_nanos();
        match wire.pass(out, PACKET_BYTES) {
            Passage::Lost => lines.push('\n'),
            Passage::Arrives(at) => writeln!(lines, "{}", after(at)).expect("a string takes all"),
            Passage::Twice([first, second]) => {
                writeln!(lines, "{} {}", after(first), after(second)).expect("a string takes all");
            }
        }
    }
    print!("{lines}");
}
