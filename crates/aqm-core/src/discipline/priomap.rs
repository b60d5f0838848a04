//! Linux's bands by type of service: a packet has a priority, and a map gives each priority its band.
//!
//! tc-prio(8) has the table of types of service; `rt_tos2priority()` and `prio2band` of Linux have the same in two
//! steps. The types are those of RFC 1349, which the three lower bits of the DSCP were.

use crate::choices;
use crate::packet::Packet;
use crate::params::{Each, Kind, ParamError, ParamSpec, Params, PerClass, Value};

/// Linux's priorities of packets, from 0 on.
pub(super) const PRIORITIES: usize = 16;

/// The band of each priority in `pfifo_fast`, and in `prio` unless given: tc-prio(8).
pub(super) const LINUX: [u8; PRIORITIES] = [1, 2, 2, 2, 1, 2, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1];

/// The priority of a code point (Linux's names of them: TC_PRIO_BESTEFFORT, BULK, INTERACTIVE, INTERACTIVE_BULK).
#[inline]
pub(super) fn priority(dscp: u8) -> usize {
    // Minimise delay is bit 2, maximise throughput bit 1; maximise reliability, bit 0, decides nothing.
    [0, 2, 6, 4][usize::from(dscp >> 1 & 3)]
}

/// The parameter `priomap`.
pub(super) const PRIOMAP: ParamSpec = ParamSpec::new(
    "priomap",
    Kind::PerClass(Each::Count),
    Value::PerClass(PerClass::of(Each::Count, &[1, 2, 2, 2, 1, 2, 0, 0, 1])),
    (0.0, 15.0),
    "Band of each priority from 0 to 15; further ones have the last that is given",
    "tc-prio(8): 1 2 2 2 1 2 0 0 1 1 1 1 1 1 1 1",
);

choices! {
    /// Where a packet's priority comes from.
    pub(super) enum Priority {
        Tos = "tos",
        Class = "class",
    }
}

/// The parameter `priority`.
pub(super) const PRIORITY: ParamSpec = ParamSpec::choice::<Priority>(
    "priority",
    "Where a packet's priority comes from: its type of service (DSCP), or its class, as by a socket's SO_PRIORITY",
    "tc-prio(8): the type of service of what is forwarded",
);

/// Which band a packet belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Priomap {
    bands: [u8; PRIORITIES],
    by_class: bool,
}

/// Reads a map from parameters.
pub(super) type ReadPriomap = fn(&Params) -> Result<Priomap, ParamError>;

impl Priomap {
    /// The map that `params` have for so many `bands`.
    pub(super) fn new(params: &Params) -> Result<Priomap, ParamError> {
        let map = params.per_class("priomap");
        Priomap::of(params, map.as_slice(), map.of_class(PRIORITIES))
    }

    /// The bands of `map`, and `rest` for further priorities.
    pub(super) fn of(params: &Params, map: &[u64], rest: u64) -> Result<Priomap, ParamError> {
        let (count, given) = (params.count("bands"), params.get("priomap"));
        if map.len() > PRIORITIES {
            let problem = format_args!("has {} bands: there are {PRIORITIES} priorities", map.len());
            return Err(ParamError::relation("priomap", given, problem));
        }
        if let Some(band) = map.iter().find(|band| **band >= count) {
            let problem = format_args!("names band {band}: the last of {count} bands is {}", count - 1);
            return Err(ParamError::relation("priomap", given, problem));
        }
        let bands = core::array::from_fn(|priority| map.get(priority).copied().unwrap_or(rest) as u8);
        Ok(Priomap { bands, by_class: params.choice::<Priority>("priority") == Priority::Class })
    }

    /// The band of a packet.
    #[inline]
    pub(super) fn band(&self, packet: &Packet) -> usize {
        // Linux takes the lower four bits of a priority: TC_PRIO_MAX.
        let priority = if self.by_class { usize::from(packet.class) } else { priority(packet.dscp) };
        usize::from(self.bands[priority % PRIORITIES])
    }
}
