//! A path whose caller is the ends: it hands over what they send, and gets what arrives.

use crate::outcome::Outcome;
use aqm_core::backlog::Backlog;
use aqm_core::counters::Counters;
use aqm_core::input_error::InputError;
use aqm_core::packet::Ecn;
use aqm_core::spec::Spec;
use aqm_core::units::Time;
use aqm_sim::report::RunError;
use aqm_sim::scenario::inputs::Inputs;
use aqm_sim::scenario::{FlowGroup, Scenario, Source, Transport, TransportSpec};
use aqm_sim::stack::{Endpoint, Ends, Info, LARGEST_DATAGRAM, MINIMAL, Stack, Task};
use aqm_sim::stepped::Stepped;
use aqm_sim::transport::Values;
use std::collections::VecDeque;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The caller's ends as a kind of flow.
static OWN: Info = Info { name: "own", summary: "the caller's", ..MINIMAL };

/// A path in the hands of a caller with a loop of his own. Ends have numbers: what an even one sends goes through the
/// bottleneck to the odd one after it, and what that sends comes back beside the queue. In figures and assertions these flows are
/// `own`.
///
/// ```
/// use aqm_testbed::{Ecn, Path, Span, Time};
/// let ms = |ms| Time::ZERO + Span::from_millis(ms);
/// let mut path = Path::new("10mbit", "40ms").aqm("pie").flows("2*cubic").drive(1, 7).unwrap();
/// path.send(0, b"hello", Ecn::NotEct, ms(100)).unwrap();
/// let arrival = path.deliver(ms(500)).unwrap().unwrap();
/// assert_eq!((arrival.end, arrival.datagram.as_slice()), (1, b"hello".as_slice()));
/// // Half the round trip, and the queue that the others have made.
/// assert!(arrival.time > ms(120));
/// ```
pub struct Driven {
    run: Stepped,
    post: Post,
    ends: usize,
    scenario: Scenario,
    seed: u64,
    folder: PathBuf,
}

/// A datagram that has come to an end.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Arrival {
    /// Number of the end.
    pub end: usize,
    /// When it came.
    pub time: Time,
    /// Its ECN field, [`Ecn::Ce`] if it was marked.
    pub ecn: Ecn,
    /// Its bytes.
    pub datagram: Vec<u8>,
}

/// Why a call was not made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Its time is before that of an earlier call.
    Time(String),
    /// What it was given is not allowed.
    Input(String),
    /// A defect of the simulator.
    Defect(String),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Refusal::Time(text) | Refusal::Input(text) | Refusal::Defect(text)) = self;
        f.write_str(text)
    }
}

impl std::error::Error for Refusal {}

impl From<RunError> for Refusal {
    fn from(error: RunError) -> Refusal {
        match error {
            RunError::Input(_) => Refusal::Input(error.to_string()),
            _ => Refusal::Defect(error.to_string()),
        }
    }
}

impl Driven {
    /// What `scenario` makes of the caller's flows and the others.
    pub(crate) fn new(
        pairs: u32,
        seed: u64,
        mut inputs: Inputs,
        folder: PathBuf,
        scenario: impl FnOnce(Option<FlowGroup>) -> Result<Scenario, InputError>,
    ) -> Result<Driven, InputError> {
        let post = Post::default();
        inputs.add_stack(Arc::new(Own(post.clone())))?;
        let scenario = scenario((pairs > 0).then(|| group(pairs)))?;
        let aqm = Spec::parse(&scenario.aqm)?;
        let run = Stepped::new(&aqm, &scenario, &inputs, seed).map_err(|error| match error {
            RunError::Input(error) => error,
            other => InputError::new(other.to_string()),
        })?;
        Ok(Driven { run, post, ends: 2 * pairs as usize, scenario, seed, folder })
    }

    /// An end sends a datagram of 1 to 65507 bytes; on the wire UDP's and IP's headers come to it.
    ///
    /// # Errors
    /// For an end that is not there, a datagram without bytes or with too many, a time before that of an earlier call or behind the
    /// path's duration. Nothing has happened then.
    pub fn send(&mut self, end: usize, datagram: &[u8], ecn: Ecn, now: Time) -> Result<(), Refusal> {
        if end >= self.ends {
            return Err(Refusal::Input(format!("there is no end {end}: there are {}", self.ends)));
        }
        Driven::check_length(datagram.len())?;
        self.check_time(now)?;
        self.run.advance_until(now, || false)?;
        self.post.open().leaving = Some((end, ecn, datagram.to_vec()));
        self.run.ask(end / 2);
        Ok(())
    }

    /// Whether a datagram may have so many bytes.
    ///
    /// # Errors
    /// If not, with what is allowed.
    pub fn check_length(bytes: usize) -> Result<(), Refusal> {
        if (1..=LARGEST_DATAGRAM).contains(&bytes) {
            return Ok(());
        }
        Err(Refusal::Input(format!("the datagram has {bytes} bytes: it must have 1 to {LARGEST_DATAGRAM}")))
    }

    /// Goes on until a datagram comes to one of the ends, or to `until`. What came before is returned first, in order.
    ///
    /// # Errors
    /// For a time before that of an earlier call, or behind the path's duration.
    pub fn deliver(&mut self, until: Time) -> Result<Option<Arrival>, Refusal> {
        self.check_time(until)?;
        if self.post.open().arrived.is_empty() {
            let post = self.post.clone();
            self.run.advance_until(until, || !post.open().arrived.is_empty())?;
        }
        Ok(self.post.open().arrived.pop_front())
    }

    /// When the next thing happens on the path, though perhaps nothing arrives then; none if nothing happens any more.
    pub fn next_wakeup(&self) -> Option<Time> {
        let arrived = self.post.open().arrived.front().map(|arrival| arrival.time);
        let end = self.end();
        arrived.or_else(|| self.run.next_event()).filter(|time| *time <= end)
    }

    /// The time that was reached.
    pub fn now(&self) -> Time {
        self.run.now()
    }

    /// What the bottleneck's queue has counted.
    pub fn counters(&self) -> &Counters {
        self.run.counters()
    }

    /// What waits in the bottleneck's queue.
    pub fn backlog(&self) -> Backlog {
        self.run.backlog()
    }

    /// Lets the path run to its end, without a word from the caller, and gives what there is to assert about.
    ///
    /// # Panics
    /// With a defect of the simulator.
    #[track_caller]
    pub fn finish(self) -> Outcome {
        match self.run.report() {
            Ok(report) => Outcome::new(report, &self.scenario, self.seed, self.folder),
            Err(error) => panic!("{error}"),
        }
    }

    fn end(&self) -> Time {
        Time::from_nanos(self.scenario.duration_ns)
    }

    fn check_time(&self, time: Time) -> Result<(), Refusal> {
        let (reached, end) = (self.run.now(), self.end());
        let [at, past, last] = [time, reached, end].map(Time::as_nanos);
        if time < reached {
            return Err(Refusal::Time(format!("{at} ns is before {past} ns, the time of an earlier call")));
        }
        if time > end {
            return Err(Refusal::Input(format!(
                "{at} ns is behind the path's duration, {last} ns: make it longer"
            )));
        }
        Ok(())
    }
}

/// The caller's flows.
fn group(pairs: u32) -> FlowGroup {
    FlowGroup {
        name: OWN.name.to_owned(),
        count: pairs,
        start_ns: (0, 0),
        spacing_ns: 0,
        socket: None,
        rtt_ns: None,
        from: Vec::new(),
        to: Vec::new(),
        transport: Transport::Stack(TransportSpec::new(&OWN)),
        source: Source::Bulk { size_bytes: None, stop_ns: None },
        class: 0,
        dscp: 0,
    }
}

/// Where caller and simulator leave datagrams for each other.
#[derive(Clone, Default)]
struct Post(Arc<Mutex<Bag>>);

#[derive(Default)]
struct Bag {
    /// What is being sent: by which end, and how.
    leaving: Option<(usize, Ecn, Vec<u8>)>,
    arrived: VecDeque<Arrival>,
    /// How many ends have been handed out.
    connected: usize,
}

impl Post {
    fn open(&self) -> MutexGuard<'_, Bag> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Own(Post);

impl Stack for Own {
    fn info(&self) -> &'static Info {
        &OWN
    }

    fn connect(&self, _: &Values, _: Task) -> Result<Ends, InputError> {
        let mut bag = self.0.open();
        let client = bag.connected;
        bag.connected += 2;
        let end = |number| Box::new(OwnEnd { number, post: self.0.clone(), delivered: 0 });
        Ok(Ends { client: end(client), server: end(client + 1) })
    }
}

/// An end of the caller's, as the simulator sees it.
struct OwnEnd {
    number: usize,
    post: Post,
    delivered: u64,
}

impl Endpoint for OwnEnd {
    fn on_datagram(&mut self, datagram: &[u8], ecn: Ecn, now: Time) {
        self.delivered += datagram.len() as u64;
        let arrival = Arrival { end: self.number, time: now, ecn, datagram: datagram.to_vec() };
        self.post.open().arrived.push_back(arrival);
    }

    fn next_datagram(&mut self, datagram: &mut Vec<u8>, _: Time) -> Option<Ecn> {
        let (_, ecn, bytes) = self.post.open().leaving.take_if(|(end, _, _)| *end == self.number)?;
        datagram.extend(bytes);
        Some(ecn)
    }

    fn deadline(&mut self) -> Option<Time> {
        None
    }

    fn on_timer(&mut self, _: Time) {}

    fn delivered(&self) -> u64 {
        self.delivered
    }
}
