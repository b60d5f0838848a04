//! The path that is tested on.

use crate::flows;
use crate::folder;
use crate::outcome::Outcome;
use aqm_core::units::{Span, parse};
use aqm_io::link_trace::LinkTrace;
use aqm_sim::report::Monitor;
use aqm_sim::scenario::inputs::Inputs;
use aqm_sim::scenario::{Capacity, FlowGroup, Scenario, Tap};
use aqm_sim::stack::{Info, Stack};
use std::fmt::Display;
use std::path::PathBuf;
use std::sync::Arc;

/// A bottleneck with what goes through it. Quantities are texts in tc's notation (`10mbit`, `40ms`, `100p`); each method
/// panics, naming the text, if it cannot be read.
#[derive(Clone)]
pub struct Path {
    capacity: Capacity,
    rtt: Span,
    aqm: String,
    buffer: Option<String>,
    loss: f64,
    duration: Span,
    warmup: Span,
    flows: Vec<FlowGroup>,
    inputs: Inputs,
    stacks: Vec<&'static Info>,
    folder: PathBuf,
}

impl Path {
    /// A link of this rate, with this round-trip time without queues; its queue is a FIFO, and it runs for 10 s.
    #[track_caller]
    pub fn new(rate: &str, rtt: &str) -> Path {
        let rate = read("rate", parse::rate(rate));
        Path::over(Capacity::RateBps(rate.as_bits_per_sec()), Inputs::default(), rtt)
    }

    /// A link with the delivery opportunities of a trace in mahimahi's format: the text of its file.
    #[track_caller]
    pub fn traced(trace: &str, rtt: &str) -> Path {
        let trace = read("link trace", LinkTrace::parse("trace", trace.as_bytes()));
        let mut inputs = Inputs::default();
        inputs.add_link_trace("trace", trace);
        Path::over(Capacity::Trace("trace".to_owned()), inputs, rtt)
    }

    #[track_caller]
    fn over(capacity: Capacity, inputs: Inputs, rtt: &str) -> Path {
        let path = Path {
            capacity,
            rtt: span("rtt", rtt),
            aqm: "fifo".to_owned(),
            buffer: None,
            loss: 0.0,
            duration: Span::from_millis(10_000),
            warmup: Span::ZERO,
            flows: Vec::new(),
            inputs,
            stacks: Vec::new(),
            folder: folder::usual(),
        };
        #[cfg(feature = "quinn")]
        let path = path.stack(aqm_quinn::Quinn);
        path
    }

    /// The discipline of the bottleneck's queue, as the laboratory writes it: `pie`, `codel target 10ms ecn`.
    #[must_use]
    pub fn aqm(self, text: &str) -> Path {
        Path { aqm: text.to_owned(), ..self }
    }

    /// How much the queue holds at most: its key `limit`, as `100p`.
    #[must_use]
    pub fn buffer(self, limit: &str) -> Path {
        Path { buffer: Some(limit.to_owned()), ..self }
    }

    /// Random loss behind the queue, as `0.1%`.
    #[track_caller]
    #[must_use]
    pub fn loss(self, share: &str) -> Path {
        Path { loss: read("loss", parse::fraction(share)), ..self }
    }

    /// How long it runs.
    #[track_caller]
    #[must_use]
    pub fn duration(self, time: &str) -> Path {
        Path { duration: span("duration", time), ..self }
    }

    /// What is left out of all means and percentiles; nothing unless given.
    #[track_caller]
    #[must_use]
    pub fn warmup(self, time: &str) -> Path {
        Path { warmup: span("warmup", time), ..self }
    }

    /// Attaches a transport: `flows` knows it by the name that it declares.
    #[track_caller]
    #[must_use]
    pub fn stack(mut self, stack: impl Stack + 'static) -> Path {
        self.stacks.push(stack.info());
        read("stack", self.inputs.add_stack(Arc::new(stack)));
        self
    }

    /// Adds flows: `COUNT*KIND[:KEY=VALUE]...`. Kinds are the native congestion controls, `udp` (with its `rate`) and what is
    /// attached. Each takes `name`, `start`, `rtt`, `size` (TCP and attached ones) and its own keys. Flows of a group start within
    /// 100 ms.
    #[track_caller]
    #[must_use]
    pub fn flows(mut self, text: &str) -> Path {
        let group = read(&format!("flows '{text}'"), flows::parse(text, &self.stacks));
        self.flows.push(group);
        self
    }

    /// Where figure and capture of a failed assertion go; `target/testbed/` and the test's name unless given.
    #[must_use]
    pub fn folder(self, folder: impl Into<PathBuf>) -> Path {
        Path { folder: folder.into(), ..self }
    }

    /// Runs it. The same seed gives the same packets.
    ///
    /// # Panics
    /// With what is wrong, if it cannot be run.
    #[track_caller]
    pub fn run(&self, seed: u64) -> Outcome {
        let limit = self.buffer.as_ref().map(|limit| format!(" limit {limit}")).unwrap_or_default();
        let scenario = Scenario {
            duration_ns: self.duration.as_nanos(),
            warmup_ns: self.warmup.as_nanos(),
            sample_ns: (self.duration.as_nanos() / 200).max(1_000_000),
            flow_series: true,
            loss: self.loss,
            record: Some(Tap::Receivers),
            flows: self.flows.clone(),
            ..Scenario::new(&format!("{}{limit}", self.aqm), &self.capacity, self.rtt)
        };
        match aqm_sim::run(&scenario, &self.inputs, seed, &Monitor::default()) {
            Ok(report) => Outcome::new(report, &scenario, seed, self.folder.clone()),
            Err(error) => panic!("{error}"),
        }
    }
}

#[track_caller]
fn span(key: &str, text: &str) -> Span {
    read(key, parse::span(text))
}

/// What was read, or a panic where the caller wrote it.
#[track_caller]
fn read<T>(key: &str, result: Result<T, impl Display>) -> T {
    match result {
        Ok(value) => value,
        Err(problem) => panic!("{key}: {problem}"),
    }
}
