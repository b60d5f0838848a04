//! Packets from one end to the other until the command ends. One thread: it sleeps until a packet comes or one is due.

use crate::capture::Capture;
use crate::config::{Config, DataPath, LinkError};
use crate::direction::Direction;
use crate::ends::{Ends, TCP_RMEM, TCP_WMEM, ended};
use crate::in_flight::InFlight;
use crate::os::clock::{self, Clock};
use crate::os::frames::{BATCH, Sent};
use crate::os::port::Port;
use crate::os::process;
use crate::report::{self, Ended, Report};
use aqm_core::units::{Span, Time};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::path::Path;
use std::process::Child;

/// Numbers of the directions; that of a side is the number of the direction that it receives for.
const DOWN: usize = 0;
const UP: usize = 1;

/// The longest sleep: a clock that is looked at seldom is still looked at.
const LONGEST_SLEEP: Span = Span::from_secs(1);

/// Runs `command` behind a link, with `servers` at its far end, and says what the link has shown. The process that calls it
/// must have one thread, be started by process `parent`, and end afterwards: its namespaces are others from then on. `join`
/// is called in the namespace of the far end once that is set up, before servers start.
///
/// # Errors
/// What is asked for cannot be built, or the machine does not permit it. Nothing is left behind.
pub fn run(
    config: &Config,
    command: &[OsString],
    servers: &[Vec<OsString>],
    parent: u32,
    join: impl FnOnce() -> io::Result<()>,
) -> Result<Report, LinkError> {
    let period = Span::from_nanos(config.sample_ns);
    let down = Direction::new(&config.down, "down", config.seed, period)?;
    let up = Direction::new(&config.up, "up", config.seed, period)?;
    let samples = Some(create(&config.samples)?);
    let measure = process::open_pipe(&config.measure)
        .map_err(|error| LinkError::machine(&config.measure.display().to_string(), &error))?;
    let (mut ends, ports) = Ends::new(config)?;
    process::end_with(parent).map_err(|error| LinkError::machine("prctl", &error))?;
    let mut link = Link {
        path: ends.path,
        ports,
        directions: [down, up],
        capture: None,
        samples,
        measure,
        missed: [0; 2],
        faults: Vec::new(),
        gone: [false; 2],
        left: Vec::with_capacity(BATCH),
    };
    ends.join_outside(join)?;
    for server in servers {
        ends.serve(server)?;
    }
    let mut child = ends.command(command)?;
    // Until here an interrupt ends this process, and all: between two, of which one ignored it and the other was not there
    // yet, it would be lost.
    process::ignore_terminal();
    let real_time = clock::be_punctual();
    let cpu = clock::cpu();
    let (status, end) = link.carry(&mut child, config.capture.as_deref())?;
    let cpu_s = (clock::cpu().saturating_sub(cpu)) as f64 / 1e9;
    let tcp = [
        ("congestion_control", ends.end()),
        ("tcp_rmem", TCP_RMEM.to_string()),
        ("tcp_wmem", TCP_WMEM.to_string()),
        ("tcp_ecn", config.tcp_ecn().to_string()),
    ];
    Ok(link.report(tcp.into_iter().collect(), status, end, real_time, cpu_s))
}

/// Both directions with their interfaces: `down` receives from the first and sends to the second, `up` the other way round.
struct Link {
    path: DataPath,
    ports: [Port; 2],
    directions: [Direction; 2],
    capture: Option<Capture>,
    /// `None` once it could not be written.
    samples: Option<File>,
    measure: File,
    missed: [u64; 2],
    faults: Vec<String>,
    gone: [bool; 2],
    left: Vec<InFlight>,
}

impl Link {
    /// Carries packets until the command has ended; says how and when.
    fn carry(&mut self, child: &mut Child, capture: Option<&Path>) -> Result<(Ended, Time), LinkError> {
        let failed = |error: io::Error| LinkError::machine("the link", &error);
        let watch = process::watch(child.id()).map_err(failed)?;
        let clock = Clock::start();
        if let Some(path) = capture {
            self.capture = Some(Capture::create(path, clock.start_since_1970()).map_err(failed)?);
        }
        let mut next_sample = Time::ZERO;
        loop {
            let now = self.turn(&clock);
            if now >= next_sample {
                next_sample = self.sample(now);
            }
            let next = self.directions[0].next().min(self.directions[1].next()).min(next_sample);
            let sleep = if next > now { next.since(now) } else { Span::ZERO };
            let sources = [
                (!self.gone[0]).then(|| self.ports[0].as_fd()),
                (!self.gone[1]).then(|| self.ports[1].as_fd()),
                Some(watch.as_fd()),
                Some(self.measure.as_fd()),
            ];
            let ready = clock::wait(sources, sleep.min(LONGEST_SLEEP)).map_err(failed)?;
            let [far, near, command, measure] = ready;
            for (side, ready) in [far, near].into_iter().enumerate() {
                if ready.failed {
                    self.lose(side, clock.now());
                }
            }
            if measure.readable {
                let _ = self.measure.read(&mut [0; 64]).map_err(failed)?;
                let now = self.turn(&clock);
                self.directions.iter_mut().for_each(|direction| direction.restart(now));
            }
            if command.readable {
                let status = child.wait().map_err(failed)?;
                let end = self.turn(&clock);
                self.sample(end);
                self.directions.iter_mut().for_each(|direction| direction.finish(end));
                return Ok((ended(status), end));
            }
        }
    }

    /// Takes what has come, does what is due, and sends what has left.
    fn turn(&mut self, clock: &Clock) -> Time {
        let (now, stamp_now) = clock.now_and_stamp();
        for side in 0..2 {
            let direction = &mut self.directions[side];
            let mut capture = if side == UP { self.capture.as_mut() } else { None };
            self.ports[side].receive(|frame, stamp| {
                // A stamp may be of before a jump of its clock; what has none has come now.
                let age = Span::from_nanos(stamp.map_or(0, |stamp| stamp_now.saturating_sub(stamp)));
                if let Some(capture) = &mut capture {
                    capture.add(frame, now - age);
                }
                direction.arrive(frame, now - age);
            });
            direction.advance(now);
        }
        for side in 0..2 {
            self.send(side, clock);
        }
        now
    }

    /// Writes the samples up to `now`; says when the next is due.
    #[cold]
    fn sample(&mut self, now: Time) -> Time {
        let mut text = String::new();
        for (name, direction) in ["down", "up"].into_iter().zip(&mut self.directions) {
            for row in direction.samples(now) {
                text += &serde_json::json!({ "direction": name, "sample": row }).to_string();
                text.push('\n');
            }
        }
        if let Some(Err(error)) = self.samples.as_mut().map(|samples| samples.write_all(text.as_bytes())) {
            self.samples = None;
            self.faults.push(format!("samples end after {:.3} s: {error}", now.as_secs_f64()));
        }
        self.directions[0].next_sample()
    }

    /// Sends what has left the wire of a direction.
    fn send(&mut self, side: usize, clock: &Clock) {
        loop {
            let now = clock.now();
            self.left.clear();
            self.directions[side].leave(now, BATCH, &mut self.left);
            if self.left.is_empty() {
                return;
            }
            let mut first = 0;
            while first < self.left.len() {
                let (direction, waiting) = (&self.directions[side], &self.left[first..]);
                let sent = match self.gone[1 - side] {
                    true => Sent::Gone,
                    false => self.ports[1 - side].send(waiting.iter().map(|packet| direction.frame(*packet))),
                };
                let count = match sent {
                    Sent::Frames(count) => count,
                    Sent::Refused => 1,
                    Sent::Gone => waiting.len(),
                };
                for packet in &self.left[first..first + count] {
                    if side == DOWN
                        && let (Some(capture), Sent::Frames(_)) = (&mut self.capture, sent)
                    {
                        capture.add(self.directions[side].frame(*packet), now);
                    }
                    self.directions[side].sent(*packet, now, matches!(sent, Sent::Frames(_)));
                }
                first += count;
                if sent == Sent::Gone {
                    self.lose(1 - side, now);
                }
            }
        }
    }

    /// An interface is gone, or down: nothing passes it any more.
    #[cold]
    fn lose(&mut self, side: usize, now: Time) {
        if !self.gone[side] {
            self.gone[side] = true;
            let end = ["far", "near"][side];
            self.faults.push(format!(
                "the interface at the {end} end disappeared after {:.3} s: nothing was carried from then on",
                now.as_secs_f64()
            ));
        }
    }

    fn report(
        mut self,
        tcp: BTreeMap<&'static str, String>,
        command: Ended,
        end: Time,
        real_time: bool,
        cpu_s: f64,
    ) -> Report {
        for side in 0..2 {
            self.missed[side] = self.ports[side].missed();
        }
        if let Some(why) = self.capture.as_mut().and_then(Capture::finish) {
            self.faults.push(format!("the capture is not complete: {why}"));
        }
        let [down, up] = [0, 1].map(|side| {
            let direction = &self.directions[side];
            if let Some((rows, Some(why))) = direction.log() {
                self.faults.push(format!("the log ends after {rows} rows, and is not replayed: {why}"));
            }
            if let Err(violation) = direction.qdisc().check() {
                self.faults.push(violation.to_string());
            }
            port(direction, end, self.missed[side])
        });
        Report {
            command,
            warmup_s: self.directions[0].meter().began().as_secs_f64(),
            duration_s: end.since(self.directions[0].meter().began()).as_secs_f64(),
            down,
            up,
            path: self.path,
            real_time,
            cpu_s,
            tcp,
            faults: self.faults,
        }
    }
}

fn create(path: &Path) -> Result<File, LinkError> {
    File::create(path).map_err(|error| LinkError::machine(&path.display().to_string(), &error))
}

/// What one direction has shown.
fn port(direction: &Direction, end: Time, missed: u64) -> report::Port {
    let meter = direction.meter();
    let seconds = end.since(meter.began()).as_secs_f64();
    let mut metrics = BTreeMap::new();
    let mut put = |name, value: f64| {
        if value.is_finite() {
            metrics.insert(name, value);
        }
    };
    let queued = direction.qdisc().backlog();
    meter
        .queue
        .packets(seconds)
        .chain(meter.queue.whole(end, queued))
        .for_each(|(name, value)| put(name, value));
    put("utilization", direction.used() / direction.offered(end));
    put("owd_mean_ms", meter.one_way_sum as f64 / 1e6 / meter.delivered as f64);
    put("owd_p99_ms", meter.one_way.quantile_ms(0.99).unwrap_or(f64::NAN));
    put("packets_delivered", meter.delivered as f64);
    let log = direction.log();
    report::Port {
        metrics,
        sojourn: meter.queue.sojourn.iter().collect(),
        lateness_ms: report::lateness(&meter.lateness),
        missed,
        refused: meter.refused,
        malformed: meter.oversized,
        lost: meter.lost,
        duplicated: meter.duplicated,
        log_rows: log.as_ref().map(|(rows, _)| *rows),
        is_log_cut: log.is_some_and(|(_, failed)| failed.is_some()),
    }
}
