//! Disciplines that are written in Python: slow, for teaching and trying. Core and simulator do not know of them.
//!
//! A class is declared under a name that begins with `python:`, and becomes an entry like those of the registry. A
//! discipline keeps the packets itself, checks its limit, and gives Python handles: so a packet can be lost or invented
//! neither there nor here. What Python raises ends the run: the discipline holds its packets from then on, tells the
//! monitor to stop, and leaves the exception where the run's caller finds it.

mod answers;
mod declared;
mod params;
mod stage;
mod transport;

pub(crate) use declared::{PREFIX, spec};
pub(crate) use stage::staged;
pub(crate) use transport::{declare_transport, declared_transports};

use crate::error::{input, wrong};
use answers::{done, shown};
use aqm_core::backlog::Backlog;
use aqm_core::cx::Cx;
use aqm_core::discipline::{Blueprint, Built, Discipline, Group, Info, LIMIT, ProbeSpec, Traits};
use aqm_core::input_error::InputError;
use aqm_core::packet::{Ecn, Packet};
use aqm_core::params::{ParamError, Params, Preset};
use aqm_core::signal::{DropReason, MarkReason};
use aqm_core::units::{Size, Span, Time};
use declared::{PRESET, declare, make_of};
use params::{param_spec, values};
use pyo3::exceptions::PyAttributeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use stage::{fault, stop, visit};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

/// The shortest time after which a discipline is asked again: far below that of a packet.
const SHORTEST_WAIT_NS: u64 = 1_000;

/// So many wake-ups in a row that bring neither time nor packets on are an error.
const MOST_STALLS: u32 = 100;

/// So many disciplines were built.
static BUILT: AtomicU64 = AtomicU64::new(0);

/// Declares a class: its parameters with their defaults in tc's notation, its probes and traits.
#[pyfunction]
#[pyo3(signature = (name, summary, params, probes, traits, wakes, make))]
pub(crate) fn declare_discipline(
    name: String,
    summary: String,
    params: Vec<(String, String)>,
    probes: Vec<(String, String)>,
    traits: &Bound<'_, PyDict>,
    wakes: bool,
    make: Py<PyAny>,
) -> PyResult<()> {
    let trait_ =
        |key: &str| -> PyResult<bool> { traits.get_item(key)?.map_or(Ok(false), |value| value.extract()) };
    let quiet = traits.get_item("quiet_packets")?.map_or(Ok(0), |value| value.extract())?;
    let traits = Traits {
        wakes,
        ecn: trait_("ecn")?,
        drops_queued: trait_("drops_queued")?,
        reorders_flows: trait_("reorders_flows")?,
        reorders_within_flow: trait_("reorders_within_flow")?,
        quiet_packets: quiet,
        flow_state_bytes: 0,
    };
    // Declarations live as long as the registry's: a class that changes leaves its old one behind.
    let name: &'static str = leak(name);
    let mut specs = vec![LIMIT.with_reference(name)];
    for (param, text) in params {
        let spec = param_spec(name, leak(param), &text)
            .map_err(|error| wrong(error.within("params").within(name)))?;
        if spec.name == LIMIT.name {
            specs[0] = spec;
        } else {
            specs.push(spec);
        }
    }
    let probe = |(name, unit): (String, String)| ProbeSpec {
        name: leak(name),
        unit: leak(unit),
        help: "see its class",
    };
    let info = Info {
        name,
        group: Group::Queue,
        summary: leak(summary),
        reference: name,
        params: Vec::leak(specs),
        presets: Vec::leak(vec![Preset { name: PRESET, source: name, values: &[] }]),
        probes: Vec::leak(probes.into_iter().map(probe).collect()),
        traits,
        deviations: "none",
        build,
    };
    declare(info, make);
    Ok(())
}

fn leak(text: String) -> &'static str {
    Box::leak(text.into_boxed_str())
}

fn build(Blueprint { info, params, link, .. }: Blueprint<'_>) -> Built {
    Python::attach(|py| {
        let make = make_of(py, info.name);
        let made = values(py, params.iter())
            .and_then(|values| visit(py, || make.call1(py, (values, link.rate.as_bits_per_sec(), link.mtu))));
        match made {
            Ok(object) => Ok(Box::new(Foreign {
                info,
                object,
                owner: BUILT.fetch_add(1, Ordering::Relaxed),
                held: BTreeMap::new(),
                backlog: Backlog::default(),
                arrived: 0,
                limit: params.size(LIMIT.name).unwrap_or(Size::Packets(1000)),
                asked: None,
                wakeup: None,
                stalls: 0,
                is_seeded: false,
                has_failed: false,
            }) as Box<dyn Discipline>),
            Err(error) => {
                let fault = fault(py, info.name, error);
                let why = fault.value(py).to_string();
                stop(|| fault);
                Err(ParamError::relation(LIMIT.name, "", why))
            }
        }
    })
}

/// What a packet is known by: the discipline that it came to, and its place among those that came.
#[derive(Clone, Copy)]
struct Ticket {
    owner: u64,
    number: u64,
}

/// What Python reads of a packet.
const FIELDS: [&str; 9] =
    ["arrival", "destination", "dscp", "ecn", "flow", "length", "protocol", "source", "traffic_class"];

/// A packet as Python sees it.
#[pyclass(frozen, name = "Packet", module = "aqmlab._native")]
pub(crate) struct Handle {
    ticket: Ticket,
    /// Hash of the flow.
    #[pyo3(get)]
    flow: u64,
    /// Bytes on the link.
    #[pyo3(get)]
    length: u32,
    /// When it came, nanoseconds.
    #[pyo3(get)]
    arrival: u64,
    /// Hash of the source host.
    #[pyo3(get)]
    source: u32,
    /// Hash of the destination host.
    #[pyo3(get)]
    destination: u32,
    /// Traffic class.
    #[pyo3(get)]
    traffic_class: u16,
    /// DiffServ code point.
    #[pyo3(get)]
    dscp: u8,
    /// IP protocol number.
    #[pyo3(get)]
    protocol: u8,
    ecn: AtomicU8,
}

#[pymethods]
impl Handle {
    /// ECN field: 0 not ECN-capable, 1 ECT(1), 2 ECT(0), 3 CE.
    #[getter]
    fn ecn(&self) -> u8 {
        self.ecn.load(Ordering::Relaxed)
    }

    /// A field that there is not: those that there are.
    fn __getattr__(&self, name: &str) -> PyResult<()> {
        Err(PyAttributeError::new_err(
            InputError::unknown("field of a packet", name, FIELDS.into_iter()).to_string(),
        ))
    }

    fn __repr__(&self) -> String {
        format!("<packet {} of flow {}, {} bytes>", self.ticket.number, self.flow, self.length)
    }
}

/// What a discipline in Python asks for during a call.
enum Signal {
    Drop(Ticket, DropReason),
    Mark(Ticket, MarkReason),
}

/// The base of disciplines in Python: how they drop and mark.
#[pyclass(subclass, name = "Signals", module = "aqmlab._native")]
#[derive(Default)]
pub(crate) struct Signals(Vec<Signal>);

#[pymethods]
impl Signals {
    #[new]
    #[pyo3(signature = (*_arguments, **_options))]
    fn new(_arguments: &Bound<'_, PyTuple>, _options: Option<&Bound<'_, PyDict>>) -> Signals {
        Signals::default()
    }

    /// Drops a packet that arrived and was not sent: out of fairness (`unfair`), or to signal congestion.
    #[pyo3(signature = (packet, reason = "congestion"))]
    fn drop(&mut self, packet: &Handle, reason: &str) -> PyResult<()> {
        let mut known = DropReason::ALL.iter().filter(|one| **one != DropReason::Unspecified);
        let allowed = known.clone().map(|one| one.name()).collect::<Vec<_>>().join(", ");
        let unknown = || input(format!("drop: there is no reason '{reason}': allowed are {allowed}"));
        let reason = known.find(|one| one.name() == reason).ok_or_else(unknown)?;
        self.0.push(Signal::Drop(packet.ticket, *reason));
        Ok(())
    }

    /// Marks a packet; `False` if it is not ECN-capable, and is to be dropped instead.
    #[pyo3(signature = (packet, reason = "congestion"))]
    fn mark(&mut self, packet: &Handle, reason: &str) -> PyResult<bool> {
        let reason = match reason {
            "congestion" => MarkReason::Congestion,
            "threshold" => MarkReason::Threshold,
            _ => {
                let allowed =
                    [MarkReason::Congestion, MarkReason::Threshold].map(MarkReason::name).join(", ");
                return Err(input(format!("mark: there is no reason '{reason}': allowed are {allowed}")));
            }
        };
        match packet.ecn.swap(if packet.ecn() == 0 { 0 } else { Ecn::Ce as u8 }, Ordering::Relaxed) {
            0 => Ok(false),
            3 => Ok(true),
            _ => {
                self.0.push(Signal::Mark(packet.ticket, reason));
                Ok(true)
            }
        }
    }
}

/// A discipline in Python.
struct Foreign {
    info: &'static Info,
    object: Py<PyAny>,
    /// Tells it from every other discipline of this process.
    owner: u64,
    /// The packets that Python has, by number of arrival.
    held: BTreeMap<u64, (Packet, Py<Handle>)>,
    backlog: Backlog,
    arrived: u64,
    limit: Size,
    /// What `next_wakeup` returned, and when the discipline is woken for it.
    asked: Option<u64>,
    wakeup: Option<Time>,
    /// Wake-ups and calls for a packet in a row that brought neither time nor packets on.
    stalls: u32,
    is_seeded: bool,
    has_failed: bool,
}

impl Foreign {
    fn take(&mut self, number: u64) -> Option<Packet> {
        let (packet, _) = self.held.remove(&number)?;
        self.backlog.packets -= 1;
        self.backlog.bytes -= u64::from(packet.length);
        Some(packet)
    }

    /// The number of a packet that it has; else an error says that it had it, or that another run has.
    fn held_number(&self, what: &str, ticket: Ticket) -> PyResult<u64> {
        let Ticket { owner, number } = ticket;
        if owner != self.owner {
            return Err(input(format!(
                "{what} packet {number} of another run: what a class holds is shared by all runs, \
                 and what __init__ makes is not"
            )));
        }
        let is_held = self.held.contains_key(&number);
        is_held
            .then_some(number)
            .ok_or_else(|| input(format!("{what} packet {number}, which it sent or dropped before")))
    }

    fn fail(&mut self, error: PyErr) {
        self.has_failed = true;
        self.wakeup = None;
        stop(|| Python::attach(|py| fault(py, self.info.name, error)));
    }

    /// Makes one call, and does what it asks for; nothing once Python has failed.
    fn call<R>(
        &mut self,
        cx: &mut Cx<'_>,
        call: impl FnOnce(Python<'_>, &mut Foreign, &mut Cx<'_>) -> PyResult<R>,
    ) -> Option<R> {
        if self.has_failed {
            return None;
        }
        let result = Python::attach(|py| {
            visit(py, || {
                let result = call(py, self, cx)?;
                self.signal(py, cx)?;
                if self.info.traits.wakes {
                    let asked = self.object.call_method0(py, intern!(py, "next_wakeup"))?;
                    self.asked = nanoseconds(asked.bind(py))?;
                    self.wakeup = self.asked.map(|asked| Time::from_nanos(asked).max(soonest(cx.now)));
                }
                Ok(result)
            })
        });
        result.map_err(|error| self.fail(error)).ok()
    }

    /// After a call that brought no packet on: too many of them, while the time it asks for is not even later, are an
    /// endless loop.
    fn check_stall(&mut self, now: Time) {
        let Some(asked) = self.asked.filter(|asked| Time::from_nanos(*asked) < soonest(now)) else {
            self.stalls = 0;
            return;
        };
        self.stalls += 1;
        if self.stalls == MOST_STALLS {
            self.fail(input(format!(
                "next_wakeup returned {asked} at {} ns, the last of {MOST_STALLS} times without a packet sent: it must \
                 return a later time, or None",
                now.as_nanos()
            )));
        }
    }

    fn signal(&mut self, py: Python<'_>, cx: &mut Cx<'_>) -> PyResult<()> {
        let signals = std::mem::take(&mut self.object.bind(py).cast::<Signals>()?.try_borrow_mut()?.0);
        for signal in signals {
            match signal {
                Signal::Drop(ticket, reason) => {
                    let number = self.held_number("drops", ticket)?;
                    let packet = self.take(number).expect("it is held");
                    cx.drop(packet, reason);
                }
                Signal::Mark(..) if !self.info.traits.ecn => {
                    return Err(input(
                        "mark: the class does not declare ecn = True: allowed is drop".to_owned(),
                    ));
                }
                Signal::Mark(ticket, reason) => {
                    let number = self.held_number("marks", ticket)?;
                    let (packet, _) = self.held.get_mut(&number).expect("it is held");
                    cx.mark(packet, reason);
                }
            }
        }
        Ok(())
    }

    /// Drops the newest packets until at most `limit` are left.
    fn trim(&mut self, limit: Size, cx: &mut Cx<'_>) {
        while self.backlog.exceeds(limit) {
            let (number, (_, handle)) =
                self.held.last_key_value().expect("what exceeds a limit is not empty");
            let (number, handle) = (*number, Python::attach(|py| handle.clone_ref(py)));
            self.call(cx, |py, this, _| {
                let returned = this.object.call_method1(py, intern!(py, "remove"), (handle,))?;
                done("remove", returned.bind(py))
            });
            match self.take(number) {
                Some(packet) => cx.drop(packet, DropReason::Reconfigured),
                None => self.fail(input(format!("remove drops packet {number}, which is dropped anyway"))),
            }
        }
    }
}

/// What a probe has: not a number (NaN) where there is nothing to show.
fn number(probe: &str, value: &Bound<'_, PyAny>) -> PyResult<f64> {
    value.extract().map_err(|_| match value.repr() {
        Ok(shown) => input(format!("probe '{probe}': {shown} is not a number")),
        Err(error) => error,
    })
}

/// The soonest time at which a discipline is asked again.
fn soonest(now: Time) -> Time {
    now + Span::from_nanos(SHORTEST_WAIT_NS)
}

/// A time that `next_wakeup` returned; one below zero is as past as zero.
fn nanoseconds(returned: &Bound<'_, PyAny>) -> PyResult<Option<u64>> {
    let whole: Option<i128> = returned.extract().map_err(|_| {
        input(format!("next_wakeup returned {returned}, which is neither whole nanoseconds nor None"))
    })?;
    Ok(whole.map(|whole| whole.clamp(0, u64::MAX.into()) as u64))
}

impl Discipline for Foreign {
    fn enqueue(&mut self, packet: Packet, cx: &mut Cx<'_>) {
        if self.backlog.would_exceed(self.limit, packet.length) {
            return cx.drop(packet, DropReason::Overlimit);
        }
        self.arrived += 1;
        self.backlog.packets += 1;
        self.backlog.bytes += u64::from(packet.length);
        self.stalls = 0;
        let number = self.arrived;
        let handle = Handle {
            ticket: Ticket { owner: self.owner, number },
            flow: packet.flow,
            length: packet.length,
            arrival: packet.arrival.as_nanos(),
            source: packet.source,
            destination: packet.destination,
            traffic_class: packet.class,
            dscp: packet.dscp,
            protocol: packet.protocol,
            ecn: AtomicU8::new(packet.ecn as u8),
        };
        let handle = Python::attach(|py| Py::new(py, handle)).expect("there is memory for a packet");
        let given = Python::attach(|py| handle.clone_ref(py));
        self.held.insert(number, (packet, handle));
        self.call(cx, |py, this, cx| {
            if !this.is_seeded {
                this.is_seeded = true;
                let random = this.object.getattr(py, intern!(py, "random"))?;
                random.call_method1(py, intern!(py, "seed"), (cx.below(1 << 53),))?;
            }
            let returned =
                this.object.call_method1(py, intern!(py, "enqueue"), (given, cx.now.as_nanos()))?;
            done("enqueue", returned.bind(py))
        });
    }

    fn dequeue(&mut self, cx: &mut Cx<'_>) -> Option<Packet> {
        let sent = self.call(cx, |py, this, cx| {
            let sent = this.object.call_method1(py, intern!(py, "dequeue"), (cx.now.as_nanos(),))?;
            if sent.is_none(py) {
                return Ok(None);
            }
            let handle = sent.bind(py).cast::<Handle>().map_err(|_| {
                let sent = shown(sent.bind(py));
                input(format!("dequeue returned {sent}, which is neither a packet nor None"))
            })?;
            // What it drops meanwhile it cannot send.
            this.signal(py, cx)?;
            this.held_number("sends", handle.get().ticket).map(Some)
        });
        match sent {
            Some(Some(number)) => {
                self.stalls = 0;
                self.take(number)
            }
            Some(None) => {
                if self.backlog.packets > 0 && self.wakeup.is_none() {
                    let waiting = self.backlog.packets;
                    self.fail(input(format!("dequeue returned None while {waiting} packets wait")));
                }
                self.check_stall(cx.now);
                None
            }
            // Python has failed: the run is over, and what is left leaves in order.
            None => {
                self.held.first_key_value().map(|(number, _)| *number).and_then(|number| self.take(number))
            }
        }
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn change(&mut self, params: &Params, cx: &mut Cx<'_>) -> Result<(), ParamError> {
        self.call(cx, |py, this, _| {
            for (name, value) in values(py, params.iter())? {
                this.object.bind(py).setattr(name.cast::<pyo3::types::PyString>()?, value)?;
            }
            Ok(())
        });
        self.limit = params.size(LIMIT.name).unwrap_or(self.limit);
        self.trim(self.limit, cx);
        Ok(())
    }

    fn purge(&mut self, cx: &mut Cx<'_>) {
        // The instance in Python is not asked: it ends with its backlog, and a run that begins again makes another.
        while let Some((number, _)) = self.held.last_key_value() {
            let packet = self.take(*number).expect("it was seen");
            cx.drop(packet, DropReason::Reconfigured);
        }
    }

    fn next_wakeup(&self) -> Option<Time> {
        self.wakeup
    }

    fn on_wakeup(&mut self, cx: &mut Cx<'_>) {
        if self.info.traits.wakes {
            self.call(cx, |py, this, cx| {
                let returned =
                    this.object.call_method1(py, intern!(py, "on_wakeup"), (cx.now.as_nanos(),))?;
                done("on_wakeup", returned.bind(py))
            });
            if self.backlog.packets > 0 && self.asked <= Some(cx.now.as_nanos()) {
                // What is still due is for the link to take, as soon as it is free.
                self.wakeup = None;
            }
            self.check_stall(cx.now);
        }
    }

    fn probe(&self, _now: Time, sink: &mut dyn FnMut(&str, f64)) {
        for probe in self.info.probes {
            let value = Python::attach(|py| {
                let read = || number(probe.name, self.object.getattr(py, probe.name)?.bind(py));
                visit(py, read).unwrap_or_else(|error| {
                    stop(|| fault(py, self.info.name, error));
                    f64::NAN
                })
            });
            sink(probe.name, value);
        }
    }

    fn state_bytes(&self) -> usize {
        size_of::<Foreign>()
    }
}
