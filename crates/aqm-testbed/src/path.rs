//! The path that is tested on.

use crate::driven::Driven;
use crate::folder;
use crate::outcome::Outcome;
use aqm_core::input_error::InputError;
use aqm_core::units::Rate;
use aqm_io::link_trace::LinkTrace;
use aqm_scenario::flows::{self, Catalogue, NoFiles};
use aqm_scenario::options::Options;
use aqm_scenario::resolve::{Host, resolve};
use aqm_scenario::sweep::points::{self, Point};
use aqm_sim::report::Monitor;
use aqm_sim::scenario::inputs::Inputs;
use aqm_sim::scenario::{FlowGroup, Scenario, Tap};
use aqm_sim::stack::{Info, Stack};
use std::fmt::Display;
use std::path::PathBuf;
use std::sync::Arc;

/// A bottleneck with what goes through it. Quantities are texts in tc's notation (`10mbit`, `40ms`, `100p`); each method
/// panics, naming the text, if it cannot be read. The run reports what concerns several of them.
#[derive(Clone)]
pub struct Path {
    options: Options,
    /// The mean rate of a recorded link, which is there in place of a rate.
    traced: Option<Rate>,
    inputs: Inputs,
    stacks: Vec<&'static Info>,
    folder: PathBuf,
    record: Option<Tap>,
}

/// The name of a recorded link among the inputs.
const TRACE: &str = "trace";

impl Path {
    /// A link of this rate, with this round-trip time without queues; its queue is a FIFO, its flows are `1*cubic` and it runs
    /// for 30 s by default.
    #[track_caller]
    pub fn new(rate: &str, rtt: &str) -> Path {
        Path::blank().with("rate", rate).with("rtt", rtt)
    }

    /// A link with the delivery opportunities of a trace in mahimahi's format: the text of its file.
    #[track_caller]
    pub fn traced(trace: &str, rtt: &str) -> Path {
        let trace = read("link trace", LinkTrace::parse("trace", trace.as_bytes()));
        let mut path = Path::blank().with("rtt", rtt);
        path.traced = Some(trace.mean_rate());
        path.inputs.add_link_trace(TRACE, trace);
        path
    }

    /// Reads `OPTION VALUE; OPTION VALUE; ...`, the options of `aqmlab compare` but those that name files: `rate` and `rtt`
    /// have to be there.
    ///
    /// # Errors
    /// One line that names the option, its value and what is allowed.
    ///
    /// ```
    /// use aqm_testbed::Path;
    /// let path = Path::parse("rate 10mbit; rtt 40ms; aqm pie target 10ms; buffer 200p; flows 2*cubic").unwrap();
    /// path.run(1).goodput("cubic").at_least(8.0);
    /// assert!(Path::parse("rate 10mbit; rrt 40ms").is_err_and(|error| error.to_string().contains("did you mean 'rtt'?")));
    /// ```
    pub fn parse(text: &str) -> Result<Path, InputError> {
        let path = Path { options: Options::parse(text)?, ..Path::blank() };
        path.scenario().map(|_| path)
    }

    /// Reads a sweep: the same with `sweep NAME=VALUES` for each option, or `$NAME` in other options, that varies. The last
    /// varies first.
    ///
    /// # Errors
    /// One line that names the option or the swept name, the value and what is allowed.
    ///
    /// ```
    /// use aqm_testbed::Path;
    /// let paths = Path::sweep("rate 10mbit; aqm codel target $target; sweep rtt=20ms,40ms; sweep target=5ms,20ms").unwrap();
    /// for path in &paths {
    ///     path.run(1).goodput("cubic").at_least(8.0);
    /// }
    /// assert_eq!(paths.len(), 4);
    /// ```
    pub fn sweep(text: &str) -> Result<Vec<Path>, InputError> {
        let path = |point: &Point| {
            let path = Path { options: point.options.clone(), ..Path::blank() };
            path.scenario().map_err(|error| point.error(error)).map(|_| path)
        };
        points::parse(text)?.iter().map(path).collect()
    }

    /// All but what has to be given.
    fn blank() -> Path {
        let path = Path {
            options: Options::default(),
            traced: None,
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

    /// Attaches a transport: `flows` knows it by the name that it declares, which is no other kind's.
    ///
    /// Stop and wait, with a key of its own for how long it waits:
    ///
    /// ```
    /// use aqm_testbed::params::{Kind, ParamSpec, Value};
    /// use aqm_testbed::{ECN, Ecn, Endpoint, Ends, Info, InputError, MINIMAL, PACKET, Path, Span, Stack, Task, Time, Values};
    ///
    /// const PATIENCE: ParamSpec = ParamSpec::new(
    ///     "patience", Kind::Span, Value::Span(Span::from_millis(200)), (1.0, 1e10), "until it sends again", "this example",
    /// );
    ///
    /// /// Sends a datagram of 1000 bytes, and the next when that was answered.
    /// struct Client { begins: Time, patience: Span, number: u64, waits_until: Option<Time> }
    ///
    /// impl Endpoint for Client {
    ///     fn on_datagram(&mut self, answer: &[u8], _: Ecn, _: Time) {
    ///         if answer == self.number.to_le_bytes() {
    ///             (self.number, self.waits_until) = (self.number + 1, None);
    ///         }
    ///     }
    ///     // Asked after each of the other calls until it has nothing to send; before its time has come it has nothing.
    ///     fn next_datagram(&mut self, datagram: &mut Vec<u8>, now: Time) -> Option<Ecn> {
    ///         if now < self.begins || self.waits_until.is_some_and(|until| now < until) {
    ///             return None;
    ///         }
    ///         self.waits_until = Some(now + self.patience);
    ///         datagram.extend(self.number.to_le_bytes());
    ///         datagram.resize(1000, 0);
    ///         Some(Ecn::NotEct)
    ///     }
    ///     fn deadline(&mut self) -> Option<Time> {
    ///         Some(self.waits_until.unwrap_or(self.begins))
    ///     }
    ///     fn on_timer(&mut self, _: Time) {}
    ///     // Its application only sends.
    ///     fn delivered(&self) -> u64 {
    ///         0
    ///     }
    /// }
    ///
    /// /// Answers each datagram with its number.
    /// #[derive(Default)]
    /// struct Server { answers: Vec<Vec<u8>>, bytes: u64 }
    ///
    /// impl Endpoint for Server {
    ///     fn on_datagram(&mut self, datagram: &[u8], _: Ecn, _: Time) {
    ///         self.bytes += datagram.len() as u64;
    ///         self.answers.push(datagram[..8].to_vec());
    ///     }
    ///     fn next_datagram(&mut self, datagram: &mut Vec<u8>, _: Time) -> Option<Ecn> {
    ///         *datagram = self.answers.pop()?;
    ///         Some(Ecn::NotEct)
    ///     }
    ///     fn deadline(&mut self) -> Option<Time> {
    ///         None
    ///     }
    ///     fn on_timer(&mut self, _: Time) {}
    ///     fn delivered(&self) -> u64 {
    ///         self.bytes
    ///     }
    /// }
    ///
    /// struct StopAndWait;
    ///
    /// impl Stack for StopAndWait {
    ///     fn info(&self) -> &'static Info {
    ///         static INFO: Info = Info { name: "stopandwait", params: &[ECN, PACKET, PATIENCE], ..MINIMAL };
    ///         &INFO
    ///     }
    ///     fn connect(&self, values: &Values, task: Task) -> Result<Ends, InputError> {
    ///         let patience = values.span("patience");
    ///         let client = Client { begins: task.start, patience, number: 0, waits_until: None };
    ///         Ok(Ends { client: Box::new(client), server: Box::<Server>::default() })
    ///     }
    /// }
    ///
    /// let path = Path::new("10mbit", "40ms").stack(StopAndWait).loss("1%").duration("10s");
    /// let run = path.flows("1*stopandwait:patience=100ms").run(1);
    /// // 1000 bytes each 40.9 ms: 1028 bytes and 14 of Ethernet take 0.8 ms there.
    /// run.goodput("stopandwait").at_least(0.17);
    /// run.goodput("stopandwait").at_most(0.20);
    /// ```
    ///
    /// # Panics
    /// If the name is that of another kind of flow.
    #[track_caller]
    #[must_use]
    pub fn stack(mut self, stack: impl Stack + 'static) -> Path {
        let name = stack.info().name;
        if self.known().kind(name).is_some() {
            panic!("stack: '{name}' is a kind of flow already: give the transport another name");
        }
        self.stacks.push(stack.info());
        read("stack", self.inputs.add_stack(Arc::new(stack)));
        self
    }

    /// Adds flows: `COUNT*KIND[:KEY=VALUE]...`, as the laboratory writes them, of every kind that it lists and of what is
    /// attached. They start within the first second unless their `start` says otherwise. A group is called as its kind; a second
    /// of the same kind is `cubic-2` unless it has a `name`.
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
        let scenario = match self.recorded(None) {
            Ok(scenario) => scenario,
            Err(problem) => panic!("{problem}"),
        };
        match aqm_sim::run(&scenario, &self.inputs, seed, &Monitor::default()) {
            Ok(report) => Outcome::new(report, &scenario, seed, self.folder.clone()),
            Err(error) => panic!("{error}"),
        }
    }

    /// The path at its beginning, for a caller who has a loop of his own: as many `pairs` of ends as he moves himself.
    ///
    /// # Errors
    /// One line that says why it cannot be run.
    pub fn drive(&self, pairs: u32, seed: u64) -> Result<Driven, InputError> {
        Driven::new(pairs, seed, self.inputs.clone(), self.folder.clone(), |own| self.recorded(own))
    }

    /// The same with its files in a folder within its own.
    pub(crate) fn in_folder(&self, name: &str) -> Path {
        self.clone().folder(self.folder.join(name))
    }

    /// The name of the group of flows that was added last.
    pub(crate) fn last_group(&self) -> String {
        let groups = flows::parse_all(self.options.texts("flows"), &self.known(), &NoFiles);
        let last = groups.ok().and_then(|groups| groups.last().map(|group| group.name().to_owned()));
        last.unwrap_or_default()
    }

    /// What is simulated, as `aqmlab compare` resolves the same options.
    ///
    /// # Errors
    /// One line that names the option, its value and what is allowed.
    pub fn scenario(&self) -> Result<Scenario, InputError> {
        self.resolved(None)
    }

    /// The same with the flows of a caller who drives the path, and with what is recorded of it.
    fn recorded(&self, own: Option<FlowGroup>) -> Result<Scenario, InputError> {
        Ok(Scenario { record: self.record, ..self.resolved(own)? })
    }

    fn resolved(&self, own: Option<FlowGroup>) -> Result<Scenario, InputError> {
        let mut options = self.options.clone();
        if !options.is_given("aqm") {
            options.give("aqm", "fifo")?;
        }
        let known = self.known();
        let link_trace = self.traced.map(|mean| (TRACE, mean));
        let mut host = Host::new(&known, &NoFiles);
        (host.link_trace, host.own) = (link_trace, own);
        resolve(&options, &host).map(|found| found.scenario)
    }

    fn known(&self) -> Catalogue {
        Catalogue::new([], self.stacks.iter().copied())
    }

    fn set(&mut self, name: &str, text: &str) -> Result<(), InputError> {
        match name {
            "flows" => {
                self.options.give(name, text)?;
                flows::parse_all(self.options.texts(name), &self.known(), &NoFiles)?;
            }
            "aqm" => {
                aqm_scenario::discipline(text).map_err(|error| error.of_option(name))?;
                self.options.replace(name, text)?;
            }
            "rate" if is_of_bytes(text) => {
                let problem = "has bytes per second, as tc reads 'bps': write bits, as 10mbit";
                return Err(InputError::value(text, problem).of_option(name));
            }
            _ => self.options.replace(name, text)?,
        }
        Ok(())
    }

    #[track_caller]
    fn with(mut self, key: &str, value: &str) -> Path {
        match self.set(key, value) {
            Ok(()) => self,
            Err(problem) => panic!("{problem}"),
        }
    }
}

/// Whether a rate is one of bytes, which nobody means in a test, where there is no place for a warning.
fn is_of_bytes(rate: &str) -> bool {
    rate.trim().to_ascii_lowercase().ends_with("bps")
}

/// What was read, or a panic where the caller wrote it.
#[track_caller]
fn read<T>(key: &str, result: Result<T, impl Display>) -> T {
    match result {
        Ok(value) => value,
        Err(problem) => panic!("{key}: {problem}"),
    }
}
