//! The path that is tested on.

use crate::driven::Driven;
use crate::folder;
use crate::outcome::Outcome;
use crate::seeds::Seeds;
use aqm_core::input_error::InputError;
use aqm_core::spec::Spec;
use aqm_core::units::{Rate, Span, parse};
use aqm_io::link_trace::LinkTrace;
use aqm_scenario::buffer::{self, Bottleneck, Buffer};
use aqm_scenario::flows::{self, Catalogue, Group, NoFiles};
use aqm_scenario::warmup::{self, Run};
use aqm_sim::report::Monitor;
use aqm_sim::scenario::inputs::Inputs;
use aqm_sim::scenario::{Capacity, FlowGroup, Scenario, Tap};
use aqm_sim::stack::{Info, Stack};
use std::fmt::Display;
use std::path::PathBuf;
use std::sync::Arc;

/// What a path can be told as text; `flows` as often as there are groups.
const KEYS: [&str; 8] = ["rate", "rtt", "aqm", "buffer", "loss", "flows", "duration", "warmup"];
/// Bytes of a full IP packet.
const FULL_IP_PACKET: u32 = 1500;
/// Those of them without which there is none.
const NEEDED: [&str; 2] = ["rate", "rtt"];

/// A bottleneck with what goes through it. Quantities are texts in tc's notation (`10mbit`, `40ms`, `100p`); each method
/// panics, naming the text, if it cannot be read.
#[derive(Clone)]
pub struct Path {
    capacity: Capacity,
    rtt: Span,
    aqm: Spec,
    /// As it was written.
    aqm_text: String,
    buffer: Option<String>,
    loss: f64,
    duration: Span,
    warmup: String,
    flows: Vec<Group>,
    inputs: Inputs,
    stacks: Vec<&'static Info>,
    folder: PathBuf,
    record: Option<Tap>,
}

impl Path {
    /// A link of this rate, with this round-trip time without queues; its queue is a FIFO, and it runs for 10 s.
    #[track_caller]
    pub fn new(rate: &str, rtt: &str) -> Path {
        Path::blank().with("rate", rate).with("rtt", rtt)
    }

    /// A link with the delivery opportunities of a trace in mahimahi's format: the text of its file.
    #[track_caller]
    pub fn traced(trace: &str, rtt: &str) -> Path {
        let trace = read("link trace", LinkTrace::parse("trace", trace.as_bytes()));
        let mut path = Path::blank().with("rtt", rtt);
        path.inputs.add_link_trace("trace", trace);
        path.capacity = Capacity::Trace("trace".to_owned());
        path
    }

    /// Reads `KEY VALUE; KEY VALUE; ...`: `rate` and `rtt`, and perhaps the others that are methods here.
    ///
    /// # Errors
    /// One line that names the key, its value and what is allowed. What concerns several keys is told by the run.
    ///
    /// ```
    /// use aqm_testbed::Path;
    /// let path = Path::parse("rate 10mbit; rtt 40ms; aqm pie target 10ms; buffer 200p; flows 2*cubic").unwrap();
    /// path.run(1).goodput("cubic").at_least(8.0);
    /// assert!(Path::parse("rate 10mbit; rrt 40ms").is_err_and(|error| error.to_string().contains("did you mean 'rtt'?")));
    /// ```
    pub fn parse(text: &str) -> Result<Path, InputError> {
        let (mut path, mut given) = (Path::blank(), Vec::new());
        for part in text.split([';', '\n']).map(str::trim).filter(|part| !part.is_empty()) {
            let (key, value) = part
                .split_once(char::is_whitespace)
                .ok_or_else(|| InputError::new(format!("'{part}' is not KEY VALUE")))?;
            if key != "flows" && given.contains(&key) {
                return Err(InputError::new(format!("{key} is given twice")));
            }
            path.set(key, value.trim_start())?;
            given.push(key);
        }
        match NEEDED.iter().find(|key| !given.contains(*key)) {
            Some(missing) => {
                Err(InputError::new(format!("{missing} is missing: give it as in 'rate 10mbit; rtt 40ms'")))
            }
            None => Ok(path),
        }
    }

    /// All but what has to be given.
    fn blank() -> Path {
        let path = Path {
            capacity: Capacity::RateBps(0),
            rtt: Span::ZERO,
            aqm: read("aqm", aqm_scenario::discipline("fifo")),
            aqm_text: "fifo".to_owned(),
            buffer: None,
            loss: 0.0,
            duration: Span::from_millis(10_000),
            warmup: warmup::AUTO.to_owned(),
            flows: Vec::new(),
            inputs: Inputs::default(),
            stacks: Vec::new(),
            folder: folder::usual(),
            record: Some(Tap::Queue),
        };
        #[cfg(feature = "quinn")]
        let path = path.stack(aqm_quinn::Quinn);
        path
    }

    /// The discipline of the bottleneck's queue, as the laboratory writes it: `pie`, `codel target 10ms ecn`.
    #[track_caller]
    #[must_use]
    pub fn aqm(self, text: &str) -> Path {
        self.with("aqm", text)
    }

    /// How much the queue holds at most, as `100p`, `64kb`, `200ms` or `1bdp`: what it holds unless given. A discipline whose
    /// text has another limit is refused.
    #[track_caller]
    #[must_use]
    pub fn buffer(self, limit: &str) -> Path {
        self.with("buffer", limit)
    }

    /// Random loss behind the queue, as `0.1%`.
    #[track_caller]
    #[must_use]
    pub fn loss(self, share: &str) -> Path {
        self.with("loss", share)
    }

    /// How long it runs.
    #[track_caller]
    #[must_use]
    pub fn duration(self, time: &str) -> Path {
        self.with("duration", time)
    }

    /// What is left out of all means and percentiles: a time, or `auto`, which it is unless given: the longer of 5 s and 20
    /// round trips, but a third of the duration at most, and nothing where nothing reacts to the network.
    #[track_caller]
    #[must_use]
    pub fn warmup(self, time: &str) -> Path {
        self.with("warmup", time)
    }

    /// Attaches a transport: `flows` knows it by the name that it declares.
    #[track_caller]
    #[must_use]
    pub fn stack(mut self, stack: impl Stack + 'static) -> Path {
        self.stacks.push(stack.info());
        read("stack", self.inputs.add_stack(Arc::new(stack)));
        self
    }

    /// Adds flows: `COUNT*KIND[:KEY=VALUE]...`, as the laboratory writes them, of every kind that it lists and of what is
    /// attached. They start within the first second unless their `start` says otherwise.
    #[track_caller]
    #[must_use]
    pub fn flows(self, text: &str) -> Path {
        self.with("flows", text)
    }

    /// Where figure and capture of a failed assertion go; `target/testbed/` and the test's name unless given.
    #[must_use]
    pub fn folder(self, folder: impl Into<PathBuf>) -> Path {
        Path { folder: folder.into(), ..self }
    }

    /// Records no packets: a failed assertion has its figure alone. A recorded packet takes some 200 bytes of memory.
    #[must_use]
    pub fn without_capture(self) -> Path {
        Path { record: None, ..self }
    }

    /// Runs it. The same seed gives the same packets.
    ///
    /// # Panics
    /// With what is wrong, if it cannot be run.
    #[track_caller]
    pub fn run(&self, seed: u64) -> Outcome {
        let scenario = read("path", self.scenario(None));
        match aqm_sim::run(&scenario, &self.inputs, seed, &Monitor::default()) {
            Ok(report) => Outcome::new(report, &scenario, seed, self.folder.clone()),
            Err(error) => panic!("{error}"),
        }
    }

    /// Runs it once for each seed, for conditions that must hold in all of them, or in so many.
    ///
    /// # Panics
    /// With what is wrong, if it cannot be run.
    #[track_caller]
    pub fn over(&self, seeds: impl IntoIterator<Item = u64>) -> Seeds {
        Seeds::new(self.clone(), seeds)
    }

    /// The path at its beginning, for a caller who has a loop of his own: as many `pairs` of ends as he moves himself.
    ///
    /// # Errors
    /// One line that says why it cannot be run.
    pub fn drive(&self, pairs: u32, seed: u64) -> Result<Driven, InputError> {
        Driven::new(pairs, seed, self.inputs.clone(), self.folder.clone(), |own| self.scenario(own))
    }

    /// The same with its files in a folder within its own.
    pub(crate) fn in_folder(&self, name: &str) -> Path {
        self.clone().folder(self.folder.join(name))
    }

    /// The name of the group of flows that was added last.
    pub(crate) fn last_group(&self) -> String {
        self.flows.last().map_or_else(String::new, |group| group.name().to_owned())
    }

    /// What is simulated: the flows of a caller who drives the path, and those of this one.
    fn scenario(&self, own: Option<FlowGroup>) -> Result<Scenario, InputError> {
        let groups: Vec<FlowGroup> = self.flows.iter().map(Group::group).collect::<Result<_, _>>()?;
        let reacts = own.is_some() || self.flows.iter().any(Group::reacts);
        let latest = self.flows.iter().map(Group::latest_start_ns).max().unwrap_or(0);
        let longest = groups.iter().filter_map(|group| group.rtt_ns).map(Span::from_nanos).max();
        let rtt = self.rtt.max(longest.unwrap_or(Span::ZERO));
        let run = Run { duration: self.duration, rtt, reacts, latest_start: Span::from_nanos(latest) };
        let warmup = warmup::resolve(&self.warmup, &run).map_err(|error| error.of_option("warmup"))?;
        let plain = Scenario::new("", &self.capacity, self.rtt);
        let buffer = self.resolved_buffer(rtt, plain.overhead_bytes)?;
        let aqm = aqm_scenario::holding(self.aqm.clone(), buffer.size);
        let aqm = aqm.map_err(|error| error.of_option("aqm"))?;
        Ok(Scenario {
            aqm: aqm.to_string(),
            duration_ns: self.duration.as_nanos(),
            warmup_ns: warmup.span.as_nanos(),
            mser5: self.warmup == warmup::MSER5,
            sample_ns: (self.duration.as_nanos() / 200).max(1_000_000),
            flow_series: true,
            loss: self.loss,
            record: self.record,
            flows: own.into_iter().chain(groups).collect(),
            ..plain
        })
    }

    /// The buffer of the bottleneck, whose longest round-trip time is `rtt`.
    fn resolved_buffer(&self, rtt: Span, overhead: u32) -> Result<Buffer, InputError> {
        let text = self.buffer.as_deref().unwrap_or(buffer::USUAL);
        let (rate, is_recorded) = match &self.capacity {
            Capacity::RateBps(rate) => (Rate::from_bits_per_sec(*rate), false),
            Capacity::Trace(name) => (self.inputs.link_trace(name)?.mean_rate(), true),
        };
        let packet_bytes = u64::from(FULL_IP_PACKET + overhead);
        let link = Bottleneck { rate, is_recorded, rtt, packet_bytes };
        buffer::resolve(text, &link).map_err(|error| error.of_option("buffer"))
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), InputError> {
        let about = |error: InputError| if KEYS.contains(&key) { error.of_option(key) } else { error };
        self.read(key, value).map_err(about)
    }

    fn read(&mut self, key: &str, value: &str) -> Result<(), InputError> {
        let span = || parse::span(value);
        match key {
            "rate" => self.capacity = Capacity::RateBps(parse::rate(value)?.as_bits_per_sec()),
            "rtt" => self.rtt = span()?,
            "aqm" => {
                self.aqm = aqm_scenario::discipline(value)?;
                value.clone_into(&mut self.aqm_text);
                self.check_buffer()?;
            }
            "buffer" => {
                self.buffer = Some(value.to_owned());
                self.resolved_buffer(self.rtt, 0)?;
                self.check_buffer()?;
            }
            "loss" => self.loss = parse::fraction(value)?,
            "duration" => self.duration = span()?,
            "warmup" => {
                if value != warmup::AUTO && value != warmup::MSER5 {
                    span()?;
                }
                value.clone_into(&mut self.warmup);
            }
            "flows" => {
                let known = Catalogue::new([], self.stacks.iter().copied());
                let mut group = flows::parse(value, &known, &NoFiles)?;
                group.set_apart(&self.flows)?;
                self.flows.push(group);
            }
            _ => return Err(InputError::unknown("key", key, KEYS.into_iter())),
        }
        Ok(())
    }

    /// The queue's limit is given once, or twice the same: the rule of the laboratory's scenarios.
    fn check_buffer(&self) -> Result<(), InputError> {
        let Some(text) = &self.buffer else { return Ok(()) };
        let given = self.resolved_buffer(self.rtt, 0)?.size;
        match aqm_scenario::limit_of(&self.aqm) {
            Some(own) if own != given => {
                let problem =
                    format!("'{}' has limit {own}, but buffer is {text}: give one of them", self.aqm_text);
                Err(InputError::new(problem).of_option("aqm"))
            }
            _ => Ok(()),
        }
    }

    #[track_caller]
    fn with(mut self, key: &str, value: &str) -> Path {
        match self.set(key, value) {
            Ok(()) => self,
            Err(problem) => panic!("{problem}"),
        }
    }
}

/// What was read, or a panic where the caller wrote it.
#[track_caller]
fn read<T>(key: &str, result: Result<T, impl Display>) -> T {
    match result {
        Ok(value) => value,
        Err(problem) => panic!("{key}: {problem}"),
    }
}
