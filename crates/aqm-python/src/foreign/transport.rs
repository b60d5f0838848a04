//! Transports that are written in Python, or that Python drives: a class makes both ends of each flow.
//!
//! A class is declared under a name of its own, and is a stack as those of other crates. What Python raises ends the run.

use super::params::{param_spec, values};
use super::stage::{fault, stop, visit};
use crate::error::input;
use aqm_core::packet::Ecn;
use aqm_core::params::ParamSpec;
use aqm_core::units::{Span, Time};
use aqm_sim::stack::{ECN, End, Ends, Info, MINIMAL, PACKET, Stack, Task};
use aqm_sim::transport::Values;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::collections::BTreeMap;
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
/// application writes over time; `source` tells its versions apart.
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
        ParamSpec::choice("ecn", &["classic"], "the class sets the ECN field itself", name)
    } else {
        ECN
    };
    let source = ParamSpec::choice("source", words(leak(source)), "hash of the class's source", name);
    let mut specs = vec![ecn, PACKET, source];
    for (param, text) in params {
        let spec = param_spec(name, leak(param), &text);
        specs.push(spec.map_err(|why| input(format!("{name}: params: {why}")))?);
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

    fn connect(&self, given: &Values, mut task: Task) -> Result<Ends, String> {
        let mut end = |role: &str| {
            let (size, start, seed) = (task.size, task.start.as_nanos(), task.random.next_u64());
            Python::attach(|py| {
                let made = values(py, given.iter())
                    .and_then(|values| visit(py, || self.make.call1(py, (role, values, size, start, seed))));
                match made {
                    Ok(object) => Ok(Box::new(ForeignEnd {
                        name: self.info.name,
                        marks: self.marks,
                        object,
                        has_failed: false,
                    })),
                    Err(error) => {
                        let fault = fault(py, self.info.name, error);
                        let why = fault.value(py).to_string();
                        stop(|| fault);
                        Err(why)
                    }
                }
            })
        };
        let (client, server) = (end("client")?, end("server")?);
        Ok(Ends { client, server })
    }
}

/// One end, which Python has.
struct ForeignEnd {
    name: &'static str,
    marks: bool,
    object: Py<PyAny>,
    has_failed: bool,
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
}

impl End for ForeignEnd {
    fn on_datagram(&mut self, datagram: &[u8], ecn: Ecn, now: Time) {
        self.ask(|py, object| {
            let bytes = PyBytes::new(py, datagram);
            object.call_method1(py, intern!(py, "receive"), (bytes, ecn as u8, now.as_nanos())).map(drop)
        });
    }

    fn next_datagram(&mut self, datagram: &mut Vec<u8>, now: Time) -> Option<Ecn> {
        let marks = self.marks;
        self.ask(|py, object| {
            let sent = object.call_method1(py, intern!(py, "send"), (now.as_nanos(),))?;
            let sent = sent.bind(py);
            if sent.is_none() {
                return Ok(None);
            }
            let (bytes, ecn) = match sent.extract::<(Bound<'_, PyAny>, u8)>() {
                Ok((bytes, ecn)) => (bytes, ecn),
                Err(_) => (sent.clone(), 0),
            };
            let bytes = bytes.cast::<PyBytes>().map_err(|_| {
                input(format!(
                    "send returned {sent}, which is neither bytes, nor bytes and an ECN field, nor None"
                ))
            })?;
            datagram.extend_from_slice(bytes.as_bytes());
            Ok(Some(match ecn {
                1 if marks => Ecn::Ect1,
                2 if marks => Ecn::Ect0,
                _ => Ecn::NotEct,
            }))
        })?
    }

    fn deadline(&mut self) -> Option<Time> {
        let at = self
            .ask(|py, object| object.call_method0(py, intern!(py, "deadline"))?.extract::<Option<u64>>(py));
        at?.map(Time::from_nanos)
    }

    fn on_timer(&mut self, now: Time) {
        self.ask(|py, object| object.call_method1(py, intern!(py, "on_timer"), (now.as_nanos(),)).map(drop));
    }

    fn write(&mut self, bytes: u64, now: Time) {
        self.ask(|py, object| {
            object.call_method1(py, intern!(py, "write"), (bytes, now.as_nanos())).map(drop)
        });
    }

    fn delivered(&self) -> u64 {
        let read = self.look(|py, object| object.getattr(py, intern!(py, "delivered"))?.extract(py));
        read.unwrap_or(0)
    }

    fn rtt(&self) -> Option<Span> {
        let read = self.look(|py, object| object.getattr(py, intern!(py, "rtt"))?.extract::<Option<u64>>(py));
        read?.map(Span::from_nanos)
    }

    fn window(&self) -> Option<u64> {
        self.look(|py, object| object.getattr(py, intern!(py, "window"))?.extract(py))?
    }
}
