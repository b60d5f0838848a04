//! Transports that are written in Python, or that Python drives: a class makes both ends of each flow.
//!
//! A class is declared under a name of its own, and is a stack as those of other crates. What Python raises ends the run.

use super::answers::{done, refused, whole};
use super::params::{param_spec, values};
use super::stage::{fault, stop, visit};
use crate::error::{input, wrong};
use aqm_core::input_error::InputError;
use aqm_core::packet::Ecn;
use aqm_core::params::ParamSpec;
use aqm_core::units::{Span, Time};
use aqm_sim::stack::{ECN, Endpoint, Ends, Info, LARGEST_DATAGRAM, MINIMAL, PACKET, Stack, Task};
use aqm_sim::transport::{EcnMode, Values};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

static DECLARED: Mutex<BTreeMap<&'static str, Arc<ForeignStack>>> = Mutex::new(BTreeMap::new());

/// A declared class.
struct ForeignStack {
    info: &'static Info,
    /// Whether its datagrams may be ECN-capable.
    marks: bool,
    /// Makes an end from its role, the values of its parameters, the payload to send, the start and a seed.
    make: Py<PyAny>,
}

/// Declares a class: its parameters with their defaults in tc's notation; whether it sets the ECN field and takes what an
/// application writes over time; `source` distinguishes its versions.
#[pyfunction]
#[pyo3(signature = (name, summary, params, marks, writes, source, make))]
pub(crate) fn declare_transport(
    name: String,
    summary: String,
    params: Vec<(String, String)>,
    marks: bool,
    writes: bool,
    source: String,
    make: Py<PyAny>,
) -> PyResult<()> {
    let name: &'static str = leak(name);
    let words = |word: &'static str| -> &'static [&'static str] { Vec::leak(vec![word]) };
    let ecn = if marks {
        ParamSpec::one_of("ecn", words(EcnMode::Classic.word()), "the class sets the ECN field itself", name)
    } else {
        ECN
    };
    let source = ParamSpec::one_of("source", words(leak(source)), "hash of the class's source", name);
    let mut specs = vec![ecn, PACKET, source];
    for (param, text) in params {
        let spec = param_spec(name, leak(param), &text);
        specs.push(spec.map_err(|error| wrong(error.within("params").within(name)))?);
    }
    let info: &'static Info = Box::leak(Box::new(Info {
        name,
        summary: leak(summary),
        reference: name,
        params: Vec::leak(specs),
        writes,
        ..MINIMAL
    }));
    let stack = Arc::new(ForeignStack { info, marks, make });
    let old = DECLARED.lock().unwrap_or_else(PoisonError::into_inner).insert(name, stack);
    // Python may run when the old class goes: not while the lock is held.
    drop(old);
    Ok(())
}

/// The declared classes.
pub(crate) fn declared_transports() -> Vec<Arc<dyn Stack>> {
    let declared = DECLARED.lock().unwrap_or_else(PoisonError::into_inner);
    declared.values().map(|one| Arc::clone(one) as Arc<dyn Stack>).collect()
}

fn leak(text: String) -> &'static str {
    Box::leak(text.into_boxed_str())
}

impl Stack for ForeignStack {
    fn info(&self) -> &'static Info {
        self.info
    }

    fn connect(&self, given: &Values, mut task: Task) -> Result<Ends, InputError> {
        let packet = given.bytes(PACKET.name).map_or(u64::MAX, |bytes| bytes.as_u64());
        let datagram = packet.saturating_sub(self.info.headers.into());
        let largest = (LARGEST_DATAGRAM.min(usize::try_from(datagram).unwrap_or(usize::MAX)), packet);
        let mut end = |role: &str| {
            let (size, start, seed) = (task.size, task.start.as_nanos(), task.random.next_u64());
            Python::attach(|py| {
                let made = values(py, given.iter())
                    .and_then(|values| visit(py, || self.make.call1(py, (role, values, size, start, seed))));
                match made {
                    Ok(object) => {
                        let end = ForeignEnd {
                            name: self.info.name,
                            marks: self.marks,
                            largest,
                            object,
                            has_failed: false,
                            now: Time::ZERO,
                            at_once: 0,
                            stalls: 0,
                            arrived: 0,
                            delivered: AtomicU64::new(0),
                        };
                        let end =
                            end.checked().ok_or_else(|| InputError::new("its attributes are not allowed"))?;
                        Ok(Box::new(end) as Box<dyn Endpoint>)
                    }
                    Err(error) => {
                        let fault = fault(py, self.info.name, error);
                        let why = fault.value(py).to_string();
                        stop(|| fault);
                        Err(InputError::new(why))
                    }
                }
            })
        };
        let (client, server) = (end("client")?, end("server")?);
        Ok(Ends { client, server })
    }
}

/// So many deadlines in a row that have passed, without a datagram sent or received, are an endless loop.
const MOST_STALLS: u32 = 100;
/// So many datagrams at one instant are an endless loop: more than any window of the paths that are simulated holds.
const MOST_AT_ONCE: u32 = 100_000;
/// The least time between two deadlines of an end: a microsecond, as the simulator's own.
const SHORTEST_WAIT_NS: u64 = 1_000;
/// No round-trip time is longer, and no window larger.
const LONGEST_RTT_NS: u64 = 100_000_000_000;
const LARGEST_WINDOW: u64 = 1_000_000_000_000;

/// One end, which Python has.
struct ForeignEnd {
    name: &'static str,
    marks: bool,
    /// Most bytes of a datagram, and of the packet that it makes.
    largest: (usize, u64),
    object: Py<PyAny>,
    has_failed: bool,
    /// The time of the last call, and how many datagrams have left at it.
    now: Time,
    at_once: u32,
    /// Deadlines in a row that had passed.
    stalls: u32,
    /// Bytes of the datagrams that have arrived, and what the application had got of them when that was last asked.
    arrived: u64,
    delivered: AtomicU64,
}

impl ForeignEnd {
    /// Asks Python; nothing once it has failed.
    fn ask<R>(&mut self, question: impl FnOnce(Python<'_>, &Py<PyAny>) -> PyResult<R>) -> Option<R> {
        if self.has_failed {
            return None;
        }
        let answer = self.look(question);
        self.has_failed = answer.is_none();
        answer
    }

    fn look<R>(&self, question: impl FnOnce(Python<'_>, &Py<PyAny>) -> PyResult<R>) -> Option<R> {
        Python::attach(|py| match visit(py, || question(py, &self.object)) {
            Ok(answer) => Some(answer),
            Err(error) => {
                stop(|| fault(py, self.name, error));
                None
            }
        })
    }

    fn fail(&mut self, problem: String) {
        self.has_failed = true;
        stop(|| Python::attach(|py| fault(py, self.name, input(problem))));
    }

    /// Time has come to `now`.
    fn reach(&mut self, now: Time) {
        if now != self.now {
            (self.now, self.at_once) = (now, 0);
        }
    }

    /// Checks what a new end says of itself before anything has happened.
    fn checked(self) -> Option<ForeignEnd> {
        self.look(|py, object| {
            delivered(object.bind(py), 0, self.arrived)?;
            rtt(object.bind(py))?;
            window(object.bind(py))
        })?;
        Some(self)
    }

    /// A datagram that Python returned: its bytes, and its ECN field.
    fn datagram<'py>(&self, sent: &Bound<'py, PyAny>) -> PyResult<(Bound<'py, PyBytes>, Ecn)> {
        let allowed = "bytes, a tuple of bytes and an ECN field, or None";
        let (bytes, field) = match sent.cast::<PyTuple>() {
            Ok(pair) if pair.len() == 2 => (pair.get_item(0)?, Some(pair.get_item(1)?)),
            _ => (sent.clone(), None),
        };
        let bytes = bytes.cast_into::<PyBytes>().map_err(|_| refused("send returned", sent, allowed))?;
        let (length, (largest, packet)) = (bytes.as_bytes().len(), self.largest);
        if !(1..=largest).contains(&length) {
            return Err(input(format!(
                "send returned a datagram of {length} bytes: allowed are 1 to {largest}, since the key packet is {packet}b"
            )));
        }
        let Some(field) = field else { return Ok((bytes, Ecn::NotEct)) };
        let allowed = if self.marks {
            "0 (not ECN-capable), 1 (ECT(1)) or 2 (ECT(0))"
        } else {
            "0, since the class does not declare ecn = True"
        };
        let ecn = match whole("send returned the ECN field", &field, allowed)? {
            Some(0) => Ecn::NotEct,
            Some(1) if self.marks => Ecn::Ect1,
            Some(2) if self.marks => Ecn::Ect0,
            _ => return Err(refused("send returned the ECN field", &field, allowed)),
        };
        Ok((bytes, ecn))
    }
}

/// What an end has delivered: never less than `before`, and no more than has arrived.
fn delivered(object: &Bound<'_, PyAny>, before: u64, arrived: u64) -> PyResult<u64> {
    let value = object.getattr(intern!(object.py(), "delivered"))?;
    let allowed =
        format!("a whole number of bytes from {before}, what it was before, to {arrived}, what has arrived");
    match whole("delivered is", &value, &allowed)? {
        Some(bytes) if (i128::from(before)..=i128::from(arrived)).contains(&bytes) => Ok(bytes as u64),
        _ => Err(refused("delivered is", &value, &allowed)),
    }
}

fn rtt(object: &Bound<'_, PyAny>) -> PyResult<Option<Span>> {
    let value = object.getattr(intern!(object.py(), "rtt"))?;
    Ok(within("rtt is", &value, LONGEST_RTT_NS, "nanoseconds")?.map(Span::from_nanos))
}

fn window(object: &Bound<'_, PyAny>) -> PyResult<Option<u64>> {
    let value = object.getattr(intern!(object.py(), "window"))?;
    within("window is", &value, LARGEST_WINDOW, "bytes")
}

/// A whole number from zero on, or none.
fn within(what: &str, value: &Bound<'_, PyAny>, most: u64, unit: &str) -> PyResult<Option<u64>> {
    let allowed = format!("a whole number of {unit} from 0 to {most}, or None");
    match whole(what, value, &allowed)? {
        None => Ok(None),
        Some(number) if (0..=i128::from(most)).contains(&number) => Ok(Some(number as u64)),
        Some(_) => Err(refused(what, value, &allowed)),
    }
}

impl Endpoint for ForeignEnd {
    fn on_datagram(&mut self, datagram: &[u8], ecn: Ecn, now: Time) {
        self.reach(now);
        (self.stalls, self.at_once) = (0, 0);
        self.arrived += datagram.len() as u64;
        self.ask(|py, object| {
            let bytes = PyBytes::new(py, datagram);
            let returned =
                object.call_method1(py, intern!(py, "receive"), (bytes, ecn as u8, now.as_nanos()))?;
            done("receive", returned.bind(py))
        });
    }

    fn next_datagram(&mut self, datagram: &mut Vec<u8>, now: Time) -> Option<Ecn> {
        self.reach(now);
        if self.at_once == MOST_AT_ONCE {
            self.fail(format!(
                "send returned the last of {MOST_AT_ONCE} datagrams at {} ns: it must return None when no more leave now",
                now.as_nanos()
            ));
        }
        if self.has_failed {
            return None;
        }
        let sent = self.look(|py, object| {
            let sent = object.call_method1(py, intern!(py, "send"), (now.as_nanos(),))?;
            if sent.is_none(py) {
                return Ok(None);
            }
            let (bytes, ecn) = self.datagram(sent.bind(py))?;
            datagram.extend_from_slice(bytes.as_bytes());
            Ok(Some(ecn))
        });
        self.has_failed = sent.is_none();
        let ecn = sent??;
        self.stalls = 0;
        self.at_once += 1;
        Some(ecn)
    }

    fn deadline(&mut self) -> Option<Time> {
        const ALLOWED: &str = "whole nanoseconds, or None";
        let at = self.ask(|py, object| {
            let returned = object.call_method0(py, intern!(py, "deadline"))?;
            whole("deadline returned", returned.bind(py), ALLOWED)
        });
        let returned = at??;
        // A time below zero is as past as zero.
        let at = returned.clamp(0, u64::MAX.into()) as u64;
        if at >= self.now.as_nanos().saturating_add(SHORTEST_WAIT_NS) {
            self.stalls = 0;
        } else {
            self.stalls += 1;
            if self.stalls == MOST_STALLS {
                self.fail(format!(
                    "deadline returned {returned} at {} ns, the last of {MOST_STALLS} times without a datagram sent or received: it must return a later time, or None",
                    self.now.as_nanos()
                ));
                return None;
            }
        }
        Some(Time::from_nanos(at))
    }

    fn on_timer(&mut self, now: Time) {
        self.reach(now);
        self.ask(|py, object| {
            let returned = object.call_method1(py, intern!(py, "on_timer"), (now.as_nanos(),))?;
            done("on_timer", returned.bind(py))
        });
    }

    fn write(&mut self, bytes: u64, now: Time) {
        self.reach(now);
        (self.stalls, self.at_once) = (0, 0);
        self.ask(|py, object| {
            let returned = object.call_method1(py, intern!(py, "write"), (bytes, now.as_nanos()))?;
            done("write", returned.bind(py))
        });
    }

    fn delivered(&self) -> u64 {
        let before = self.delivered.load(Ordering::Relaxed);
        if self.has_failed {
            return before;
        }
        let read = self.look(|py, object| delivered(object.bind(py), before, self.arrived));
        let delivered = read.unwrap_or(before);
        self.delivered.store(delivered, Ordering::Relaxed);
        delivered
    }

    fn rtt(&self) -> Option<Span> {
        self.look(|py, object| rtt(object.bind(py)))?
    }

    fn window(&self) -> Option<u64> {
        self.look(|py, object| window(object.bind(py)))?
    }
}
