//! # What it does
//! Bands: the first ones under strict priority, the others in turn, each for its quantum of bytes, while those have nothing.
//! Each band has a discipline of its own.
//!
//! # Reference
//! Linux `sch_ets`, tc-ets(8); IEEE 802.1Qaz, Enhanced Transmission Selection.
//!
//! # Parameters
//! See `aqmlab aqm show ets`.
//!
//! # Deviations
//! No filters. Without a map, Linux has all traffic in the last band; here each priority has the band of its number. The head of a sharing band is taken from its child at the start of its turn, and waits there if the deficit is
//! too small: Linux asks its child to keep it, so that a law at the head decides a turn early here and there. A limit for all
//! bands beside that of each child: the longest band gives way (see `sharing`); Linux has only those of the children, as here
//! with `limit auto`.
//!
//! # Promises
//! Order kept within a band, and so within a flow that keeps its priority; children decide on drops and marks, except at the
//! limit of all bands. A band that holds no more than its part of the limit loses no packet to another.

use super::classful::{self, CHILD, Classful, LIMIT_OF_ALL, Layout, PROBES, TRAITS};
use super::priomap::{PRIOMAP, PRIORITY, Priomap, Priority};
use super::sharing::SHARING;
use super::{Blueprint, Built, Group, Info};
use crate::params::{Each, Kind, ParamError, ParamSpec, Params, PerClass, Preset, Value};
use crate::scheduler::Ets;
use alloc::boxed::Box;
use alloc::vec::Vec;

/// The registry entry.
pub static INFO: Info = Info {
    name: "ets",
    group: Group::Class,
    summary: "Strict priority among the first bands, shares of bytes among the others (802.1Qaz)",
    reference: "Linux ets; tc-ets(8); IEEE 802.1Qaz",
    params: &[
        LIMIT_OF_ALL.with_help("Limit of all bands together, in packets or bytes"),
        SHARING,
        BANDS,
        STRICT,
        QUANTA,
        PRIOMAP
            .with_reference("tc-ets(8): without a map, the last band for all")
            .auto_unless_given("that of its number, or the last")
            .with_help("Band of each priority from 0 to 15; further ones have the last band"),
        PRIORITY.with_default(Value::Choice(Priority::Class.word()), "the host's classes"),
        CHILD.with_help("Discipline of each band; its limit is that of all bands unless given"),
    ],
    presets: &[
        Preset {
            name: "even",
            source: "tc-ets(8), example: eight bands with the MTU as quantum",
            values: &[],
        },
        Preset {
            name: "linux",
            source: "ets_qdisc_change() of Linux 6.1 net/sched/sch_ets.c, tc-ets(8); a pfifo of txqueuelen (1000) packets in each band",
            values: &[("limit", Value::Auto), ("priority", Value::Choice(Priority::Tos.word()))],
        },
    ],
    probes: PROBES,
    traits: TRAITS,
    deviations: "no filters; without a map a priority has the band of its number; a head may wait outside its child for its turn; a limit for all bands beside that of each child",
    build,
};

const BANDS: ParamSpec = ParamSpec::new(
    "bands",
    Kind::Count,
    Value::Count(8),
    (1.0, 16.0),
    "Number of bands",
    "tc-ets(8), example: 8, from 1 to 16",
);

const STRICT: ParamSpec = ParamSpec::new(
    "strict",
    Kind::Count,
    Value::Count(0),
    (0.0, 16.0),
    "How many bands, from the first on, are under strict priority",
    "tc-ets(8): 0",
);

const QUANTA: ParamSpec = ParamSpec::new(
    "quanta",
    Kind::PerClass(Each::Bytes),
    Value::PerClass(PerClass::of(Each::Bytes, &[1514])),
    (1.0, 1e6),
    "Bytes in one round of each band that is not strict; further ones have the last that is given",
    "tc-ets(8): the MTU of the interface",
);

const LAYOUT: Layout = Layout {
    classes: |params| classful::each(params, "bands", "band"),
    counted: "bands",
    priomap: Some(priomap),
    by_class: false,
    by_station: false,
};

/// The bands of priorities: what the map leaves out is in the last one (`ets_qdisc_change()`). Quanta are checked beside it,
/// before anything is changed.
fn priomap(params: &Params) -> Result<Priomap, ParamError> {
    quanta(params)?;
    let bands = params.count("bands");
    match params.get("priomap") {
        Value::PerClass(map) => Priomap::of(params, map.as_slice(), bands - 1),
        _ => Priomap::of(params, &(0..bands).collect::<Vec<_>>(), bands - 1),
    }
}

/// The quantum of each band that is not strict.
fn quanta(params: &Params) -> Result<Vec<u32>, ParamError> {
    let (bands, strict) = (params.count("bands"), params.count("strict"));
    let Some(sharing) = bands.checked_sub(strict) else {
        let problem = format_args!("is more than there are: bands is {bands}");
        return Err(ParamError::relation("strict", strict, problem));
    };
    let quanta = params.per_class("quanta");
    let given = quanta.as_slice().len();
    // One for all is no list.
    if given > 1 && given as u64 > sharing {
        let problem = format_args!("has {given} quanta: {sharing} of {bands} bands are not strict");
        return Err(ParamError::relation("quanta", quanta, problem));
    }
    Ok((0..sharing as usize).map(|band| quanta.of_class(band) as u32).collect())
}

fn scheduler(params: &Params) -> Result<Ets, ParamError> {
    Ok(Ets::new(params.count("strict") as usize, quanta(params)?))
}

fn adopt(ets: &mut Ets, params: &Params) {
    let changed = scheduler(params).expect("quanta were checked with the map");
    if changed.strict() == ets.strict() {
        ets.set_quanta(&quanta(params).expect("as above"));
    } else {
        *ets = changed;
    }
}

fn build(blueprint: Blueprint<'_>) -> Built {
    let scheduler = scheduler(blueprint.params)?;
    Ok(Box::new(Classful::of(LAYOUT, blueprint, scheduler, adopt)?))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Host, ms, put_class, rest};
    use crate::link::Link;
    use crate::random::Random;
    use crate::spec::Spec;
    use crate::units::Rate;
    use alloc::string::{String, ToString};

    fn fill(host: &mut Host, classes: &[u16]) {
        for (cookie, class) in classes.iter().enumerate() {
            put_class(host, cookie as u64, *class, 1000);
        }
    }

    #[test]
    fn strict_bands_go_before_those_that_share() {
        // tc-ets(8): three strict bands, and three with 35, 30 and 25 %, here of 2000, 1000 and 1000 bytes.
        let mut host = Host::new("ets bands 6 strict 3 quanta 2000b,1000b,1000b");
        fill(&mut host, &[5, 5, 4, 4, 3, 3, 3, 3, 2, 0, 1]);
        assert_eq!(rest(&mut host), [9, 10, 8, 0, 2, 4, 5, 1, 3, 6, 7]);
    }

    #[test]
    fn what_the_map_leaves_out_is_in_the_last_band() {
        let mut host = Host::new("ets bands 4 strict 4 priomap 3,2");
        fill(&mut host, &[0, 1, 2, 9]);
        assert_eq!(rest(&mut host), [1, 0, 2, 3]);
        let mut host = Host::new("ets bands 3 strict 3"); // each its own
        fill(&mut host, &[2, 9, 1, 0]);
        assert_eq!(rest(&mut host), [3, 2, 0, 1]);
        // By type of service, as Linux gives forwarded packets their priority.
        let mut host = Host::new("ets:linux bands 2 strict 2 priomap 1,1,1,1,1,1,0");
        for (cookie, dscp) in [(0, 0), (1, 0x10 >> 2)] {
            let mut packet = crate::packet::Packet::new(cookie, cookie, 1000);
            packet.dscp = dscp;
            host.enqueue(ms(0), packet);
        }
        assert_eq!(rest(&mut host), [1, 0]);
    }

    #[test]
    fn changes_take_effect_while_packets_wait() {
        let mut host = Host::new("ets bands 2 quanta 1000b");
        fill(&mut host, &[0, 0, 0, 1, 1, 1]);
        assert_eq!([host.get(ms(1)), host.get(ms(1))], [Some(0), Some(3)]);
        host.qdisc.change(&[("strict", "1")], ms(1), &mut host.log).unwrap();
        assert_eq!(rest(&mut host), [1, 2, 4, 5]);
        host.qdisc.change(&[("strict", "0"), ("quanta", "2000b,1000b")], ms(1), &mut host.log).unwrap();
        fill(&mut host, &[0, 0, 0, 1, 1]);
        assert_eq!(rest(&mut host), [0, 1, 3, 2, 4]);
        for (name, value) in [("strict", "3"), ("quanta", "1b,2b,3b"), ("priomap", "2")] {
            assert!(host.qdisc.change(&[(name, value)], ms(1), &mut host.log).is_err(), "{name}");
        }
    }

    #[test]
    fn more_than_there_are_bands_is_refused() {
        let refusal = |text: &str| -> String {
            let spec = Spec::parse(text).unwrap();
            let link = Link::new(Rate::from_mbit(1));
            spec.build(link, Random::seeded(1)).err().unwrap().to_string()
        };
        let strict = refusal("ets bands 2 strict 3");
        assert_eq!(strict, "ets: parameter 'strict': '3' is more than there are: bands is 2");
        let quanta = refusal("ets bands 3 strict 2 quanta 1kb,2kb");
        assert!(quanta.ends_with("has 2 quanta: 1 of 3 bands are not strict"), "{quanta}");
        assert!(refusal("ets bands 2 priomap 0,2").contains("names band 2: the last of 2 bands is 1"));
    }
}
