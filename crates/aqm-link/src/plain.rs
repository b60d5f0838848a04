//! Packets from one end to the other and nothing else, as whoever forwards them would: what no link can be faster than.

use crate::config::{Config, LinkError};
use crate::ends::Ends;
use crate::os::clock::{self, Clock};
use crate::os::frames::{BATCH, Sent};
use crate::os::port::Port;
use crate::os::process;
use aqm_core::units::Span;
use std::ffi::OsString;
use std::io;
use std::os::fd::AsFd;

/// The longest sleep.
const LONGEST_SLEEP: Span = Span::from_secs(1);

/// What passed.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Forwarded {
    /// Packets that were sent on, in both directions.
    pub packets: u64,
    /// Packets that found the ring of their interface full, or had no room where they were sent to.
    pub missed: u64,
    /// From the command's start to its end, in seconds.
    pub duration_s: f64,
    /// Processor time of the thread that forwards.
    pub cpu_s: f64,
}

/// Forwards between the ends of a link, whose settings are those of `config`, until `command` ends. As for
/// [`run`](crate::run::run), the process must have one thread, be started by process `parent`, and end afterwards.
///
/// # Errors
/// The command cannot be run, or the machine does not permit it.
pub fn run(config: &Config, command: &[OsString], parent: u32) -> Result<Forwarded, LinkError> {
    let failed = |error: io::Error| LinkError::machine("a plain loop", &error);
    let (ends, [mut far, mut near]) = Ends::new(config)?;
    process::end_with(parent).map_err(failed)?;
    let mut child = ends.command(command)?;
    let watch = process::watch(child.id()).map_err(failed)?;
    clock::be_punctual();
    let (clock, cpu) = (Clock::start(), clock::cpu());
    let (mut batch, mut packets, mut refused) = (Batch::default(), 0, 0);
    loop {
        let sources = [Some(near.as_fd()), Some(far.as_fd()), Some(watch.as_fd())];
        let [_, _, ended] = clock::wait(sources, LONGEST_SLEEP).map_err(failed)?;
        for (received, sent) in [batch.forward(&mut near, &far), batch.forward(&mut far, &near)] {
            packets += sent;
            refused += received - sent;
        }
        if ended.readable {
            child.wait().map_err(failed)?;
            return Ok(Forwarded {
                packets,
                missed: refused + near.missed() + far.missed(),
                duration_s: clock.now().as_secs_f64(),
                cpu_s: clock::cpu().saturating_sub(cpu) as f64 / 1e9,
            });
        }
    }
}

/// Frames for one call of the kernel.
#[derive(Default)]
struct Batch {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Batch {
    /// Sends on what has come; says how many frames came, and how many had room.
    fn forward(&mut self, from: &mut Port, to: &Port) -> (u64, u64) {
        let mut sent = 0;
        let received = from.receive(|frame, _| {
            self.bytes.extend_from_slice(frame);
            self.ends.push(self.bytes.len());
            if self.ends.len() == BATCH {
                sent += self.send(to);
            }
        });
        sent += self.send(to);
        (received as u64, sent)
    }

    /// Sends all, and says how many had room.
    fn send(&mut self, to: &Port) -> u64 {
        let (mut first, mut sent) = (0, 0);
        while first < self.ends.len() {
            let starts = (first..self.ends.len()).map(|at| if at == 0 { 0 } else { self.ends[at - 1] });
            let frames = starts.zip(&self.ends[first..]).map(|(start, end)| &self.bytes[start..*end]);
            match to.send(frames) {
                Sent::Frames(count) => (first, sent) = (first + count, sent + count as u64),
                Sent::Refused => first += 1,
                Sent::Gone => break,
            }
        }
        self.bytes.clear();
        self.ends.clear();
        sent
    }
}
