//! Groups of flows from their text.
//!
//! The laboratory's own flow specs are read in Python (`aqmlab.scenario.flows`): with distributions, files and kinds of traffic that
//! a scenario's file resolves before Rust sees it, in base units. A program in Rust or C has no Python, so what a test of a
//! transport needs of that form is read here. Names, keys and ranges are not declared again: each key goes to its control or
//! its stack ([`Tcp::with`], [`Named::with`]), and quantities to [`parse`].

use aqm_core::input_error::InputError;
use aqm_core::units::parse;
use aqm_sim::scenario::{EcnMode, FlowGroup, Named, Source, Tcp, Transport};
use aqm_sim::stack::Info;
use aqm_sim::transport::CONTROLS;

/// Flows of a group start within this time.
const APART_NS: u64 = 100_000_000;

/// What flows of datagrams take.
const UDP_KEYS: [&str; 5] = ["rate", "packet", "name", "start", "rtt"];

/// Reads `COUNT*KIND[:KEY=VALUE]...`; without a count it is one.
pub(crate) fn parse(text: &str, stacks: &[&'static Info]) -> Result<FlowGroup, InputError> {
    let mut parts = text.split(':');
    let head = parts.next().unwrap_or_default();
    let (count, kind) = head.split_once('*').unwrap_or(("1", head));
    let count = count.parse().map_err(|_| InputError::value(count, "is no number of flows"))?;
    let mut carrier = Carrier::new(kind, stacks)?;
    let (mut name, mut start, mut rtt_ns) = (kind.to_owned(), 0, None);
    let mut given = Vec::new();
    for part in parts {
        let (key, value) = part.split_once('=').ok_or_else(|| InputError::value(part, "is not KEY=VALUE"))?;
        if given.contains(&key) {
            return Err(InputError::new(format!("{key} is given twice")));
        }
        given.push(key);
        match key {
            "name" => value.clone_into(&mut name),
            "start" => start = span(key, value)?,
            "rtt" => rtt_ns = Some(span(key, value)?),
            _ => carrier.set(key, value)?,
        }
    }
    let (transport, source) = carrier.resolved()?;
    Ok(FlowGroup {
        name,
        count,
        start_ns: (start, start + APART_NS),
        apart_ns: 0,
        rtt_ns,
        from: Vec::new(),
        to: Vec::new(),
        transport,
        source,
        class: 0,
        dscp: 0,
    })
}

/// What carries the data, while its keys are read.
enum Carrier {
    Udp { rate_bps: Option<u64>, packet_bytes: u32 },
    Tcp { tcp: Box<Tcp>, size: Option<u64> },
    Stack { info: &'static Info, named: Named, size: Option<u64> },
}

impl Carrier {
    fn new(kind: &str, stacks: &[&'static Info]) -> Result<Carrier, InputError> {
        if let Some(info) = stacks.iter().find(|info| info.name == kind) {
            return Ok(Carrier::Stack { info, named: Named::new(info), size: None });
        }
        if kind == "udp" {
            return Ok(Carrier::Udp { rate_bps: None, packet_bytes: 1500 });
        }
        if let Ok(tcp) = Tcp::parse(kind) {
            return Ok(Carrier::Tcp { tcp: Box::new(tcp), size: None });
        }
        let attached = stacks.iter().map(|info| info.name);
        let known: Vec<&str> = attached.chain(["udp"]).chain(CONTROLS.iter().map(|info| info.name)).collect();
        Err(InputError::unknown("kind", kind, known.iter().copied()))
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), InputError> {
        match self {
            Carrier::Tcp { size, .. } | Carrier::Stack { size, .. } if key == "size" => {
                *size = Some(bytes(key, value)?);
            }
            Carrier::Tcp { tcp, .. } => **tcp = tcp.as_ref().clone().with(key, value)?,
            Carrier::Udp { rate_bps, .. } if key == "rate" => {
                *rate_bps = Some(
                    parse::rate(value)
                        .map_err(|error| InputError::from(error).within(key))?
                        .as_bits_per_sec(),
                );
            }
            Carrier::Udp { packet_bytes, .. } if key == "packet" => {
                *packet_bytes = u32::try_from(bytes(key, value)?).unwrap_or(u32::MAX);
            }
            Carrier::Udp { .. } => {
                return Err(InputError::unknown("key", key, UDP_KEYS.into_iter()));
            }
            Carrier::Stack { info, named, .. } => *named = named.clone().with(info, key, value)?,
        }
        Ok(())
    }

    fn resolved(self) -> Result<(Transport, Source), InputError> {
        let bulk = |size_bytes| Source::Bulk { size_bytes, stop_ns: None };
        Ok(match self {
            Carrier::Udp { rate_bps, packet_bytes } => {
                let rate_bps =
                    rate_bps.ok_or_else(|| InputError::new("udp needs a rate, as udp:rate=1mbit"))?;
                (Transport::Udp { packet_bytes, ecn: EcnMode::Off }, Source::Cbr { rate_bps })
            }
            Carrier::Tcp { tcp, size } => (Transport::Tcp(*tcp), bulk(size)),
            Carrier::Stack { named, size, .. } => (Transport::Stack(named), bulk(size)),
        })
    }
}

fn span(key: &str, text: &str) -> Result<u64, InputError> {
    Ok(parse::span(text).map_err(|error| InputError::from(error).within(key))?.as_nanos())
}

fn bytes(key: &str, text: &str) -> Result<u64, InputError> {
    Ok(parse::bytes(text).map_err(|error| InputError::from(error).within(key))?.as_u64())
}
