//! One path, with its caller's ends.

use crate::packet::{Counters, ecn};
use crate::status::{Failure, Status};
use aqm_core::packet::Ecn;
use aqm_core::units::Time;
use aqm_testbed::{Arrival, Driven, Refusal};

/// A datagram that has come to an end.
#[repr(C)]
pub struct Datagram {
    /// When it came.
    pub time_ns: u64,
    /// How many bytes it has.
    pub length: usize,
    /// Number of the end.
    pub end: u32,
    /// Its ECN field: 3 (CE) if it was marked.
    pub ecn: u8,
}

impl Datagram {
    /// All of it but the bytes.
    fn of(arrival: &Arrival) -> Datagram {
        Datagram {
            time_ns: arrival.time.as_nanos(),
            length: arrival.datagram.len(),
            end: arrival.end as u32,
            ecn: arrival.ecn as u8,
        }
    }
}

pub(crate) struct Path {
    driven: Driven,
    /// What has arrived, until there is room for it.
    held: Option<Arrival>,
}

impl Path {
    pub(crate) fn new(description: &str, pairs: u32, seed: u64) -> Result<Path, Failure> {
        if pairs == 0 {
            return Err(Failure::input("pairs is 0: give the pairs of ends that are yours"));
        }
        let path = aqm_testbed::Path::parse(description).map_err(Failure::input)?;
        let driven = path.without_capture().drive(pairs, seed).map_err(Failure::input)?;
        Ok(Path { driven, held: None })
    }

    pub(crate) fn send(&mut self, end: u32, bytes: &[u8], field: u8, now: u64) -> Result<Status, Failure> {
        let ecn = ecn(field)?;
        if ecn == Ecn::Ce {
            return Err(Failure::input("ecn is 3: nobody has marked it yet, give 0 to 2"));
        }
        self.driven.send(end as usize, bytes, ecn, Time::from_nanos(now)).map_err(failure)?;
        Ok(Status::AqmlabOk)
    }

    /// What arrives next, but for its bytes. It stays until they are taken.
    pub(crate) fn wait(&mut self, until: u64) -> Result<Option<Datagram>, Failure> {
        if self.held.is_none() {
            self.held = self.driven.deliver(Time::from_nanos(until)).map_err(failure)?;
        }
        Ok(self.held.as_ref().map(Datagram::of))
    }

    /// The bytes of what has arrived, none if nothing has.
    pub(crate) fn take(&mut self, room: usize) -> Result<Vec<u8>, Failure> {
        let bytes = self.held.as_ref().map_or(0, |arrival| arrival.datagram.len());
        if bytes > room {
            return Err(Failure::input(format!(
                "a datagram of {bytes} bytes has arrived, and there is room for {room}"
            )));
        }
        Ok(self.held.take().map(|arrival| arrival.datagram).unwrap_or_default())
    }

    pub(crate) fn next_wakeup(&self) -> Option<u64> {
        let held = self.held.as_ref().map(|arrival| arrival.time);
        held.or_else(|| self.driven.next_wakeup()).map(Time::as_nanos)
    }

    pub(crate) fn counters(&self) -> Counters {
        Counters::of(self.driven.counters(), self.driven.backlog())
    }
}

/// The scenario of a description, as JSON.
pub(crate) fn scenario(description: &str) -> Result<String, Failure> {
    let path = aqm_testbed::Path::parse(description).map_err(Failure::input)?;
    let scenario = path.scenario().map_err(Failure::input)?;
    Ok(scenario.json().to_string())
}

/// The scenarios of a description with sweeps, as a JSON array.
pub(crate) fn sweep(description: &str) -> Result<String, Failure> {
    let paths = aqm_testbed::Path::sweep(description).map_err(Failure::input)?;
    let scenarios: Vec<String> = paths
        .iter()
        .map(|path| path.scenario().map(|scenario| scenario.json().to_string()))
        .collect::<Result<_, _>>()
        .map_err(Failure::input)?;
    Ok(format!("[{}]", scenarios.join(",")))
}

pub(crate) fn failure(refusal: Refusal) -> Failure {
    match refusal {
        Refusal::Time(text) => Failure::new(Status::AqmlabTime, text),
        Refusal::Input(text) => Failure::new(Status::AqmlabInput, text),
        Refusal::Defect(text) => Failure::new(Status::AqmlabDefect, text),
    }
}
