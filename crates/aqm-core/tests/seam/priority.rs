//! Children: two bands under strict priority, each with any discipline of the registry.

use super::{PLAIN, info, spec};
use crate::common::rig::{Rig, What};
use crate::common::{every_preset, parse};
use aqm_core::backlog::Backlog;
use aqm_core::cx::Cx;
use aqm_core::discipline::{Blueprint, Built, Discipline, Info, Traits};
use aqm_core::packet::{Ecn, Packet};
use aqm_core::params::{ParamError, Params};
use aqm_core::spec::Spec;
use aqm_core::units::{Span, Time};
use std::cell::RefCell;
use std::collections::BTreeMap;

const TRAITS: Traits =
    Traits { drops_queued: true, reorders_flows: true, ecn: true, quiet_packets: 0, ..PLAIN };
static PRIORITY: Info = info("priority", &[], TRAITS, build);
static WAKING: Info = info("priority", &[], Traits { wakes: true, ..TRAITS }, build);
static REORDERING: Info = info("priority", &[], Traits { reorders_within_flow: true, ..TRAITS }, build);
static WAKING_AND_REORDERING: Info =
    info("priority", &[], Traits { wakes: true, reorders_within_flow: true, ..TRAITS }, build);

thread_local! {
    /// The spec of both bands: `build` is a plain function and has no other way to get it.
    static BAND: RefCell<Option<Spec>> = const { RefCell::new(None) };
}

/// Class 0 first, all others after it.
struct Priority {
    bands: [Box<dyn Discipline>; 2],
}

fn build(blueprint: Blueprint<'_>) -> Built {
    let spec = BAND.with_borrow(|band| band.clone().expect("the test says what the bands run"));
    let band = || (spec.info.build)(Blueprint { info: spec.info, params: &spec.params, ..blueprint });
    Ok(Box::new(Priority { bands: [band()?, band()?] }))
}

impl Discipline for Priority {
    fn enqueue(&mut self, packet: Packet, cx: &mut Cx<'_>) {
        self.bands[usize::from(packet.class > 0)].enqueue(packet, cx);
    }

    fn dequeue(&mut self, cx: &mut Cx<'_>) -> Option<Packet> {
        self.bands.iter_mut().find_map(|band| band.dequeue(cx))
    }

    fn backlog(&self) -> Backlog {
        let [first, second] = self.bands.each_ref().map(|band| band.backlog());
        Backlog { packets: first.packets + second.packets, bytes: first.bytes + second.bytes }
    }

    fn change(&mut self, _params: &Params, _cx: &mut Cx<'_>) -> Result<(), ParamError> {
        Ok(())
    }

    fn purge(&mut self, cx: &mut Cx<'_>) {
        self.bands.iter_mut().for_each(|band| band.purge(cx));
    }

    fn next_wakeup(&self) -> Option<Time> {
        self.bands.iter().filter_map(|band| band.next_wakeup()).min()
    }

    fn on_wakeup(&mut self, cx: &mut Cx<'_>) {
        self.bands.iter_mut().for_each(|band| band.on_wakeup(cx));
    }

    fn children(&self, visit: &mut dyn FnMut(&str, &dyn Discipline)) {
        for (name, band) in ["first", "second"].into_iter().zip(&self.bands) {
            visit(name, &**band);
        }
    }

    fn state_bytes(&self) -> usize {
        size_of::<Priority>() + self.bands.iter().map(|band| band.state_bytes()).sum::<usize>()
    }
}

/// Two bands of `band`.
fn over(band: &Spec) -> Rig {
    BAND.set(Some(band.clone()));
    let parent = match (band.info.traits.wakes, band.info.traits.reorders_within_flow) {
        (false, false) => &PRIORITY,
        (true, false) => &WAKING,
        (false, true) => &REORDERING,
        (true, true) => &WAKING_AND_REORDERING,
    };
    Rig::new(&spec(parent), 1)
}

#[test]
fn the_first_band_is_served_before_the_second() {
    let mut rig = over(&parse("fifo"));
    // The rig's packets carry their flow modulo 3 as class.
    for flow in [1, 2, 3, 4, 6] {
        rig.arrive(flow, 1000, Ecn::NotEct);
    }
    let order: Vec<u64> = std::iter::from_fn(|| rig.serve()).collect();
    assert_eq!(order, [2, 4, 0, 1, 3]);
}

#[test]
fn children_can_be_visited_by_name() {
    let mut rig = over(&parse("fifo"));
    for flow in [1, 2, 3] {
        rig.arrive(flow, 1000, Ecn::NotEct);
    }
    let mut seen = Vec::new();
    rig.qdisc()
        .discipline()
        .children(&mut |name, child| seen.push((name.to_owned(), child.backlog().packets)));
    assert_eq!(seen, [("first".to_owned(), 1), ("second".to_owned(), 2)]);
}

#[test]
fn every_discipline_can_be_a_child() {
    // What a preset looks for may not come up here (dAQM has presets for single features); some preset's law must act.
    let mut early_drops = BTreeMap::new();
    for band in every_preset() {
        let mut rig = over(&band);
        let mut early = 0;
        for number in 0..8000u64 {
            rig.arrive(number % 6, 1000, [Ecn::NotEct, Ecn::Ect0][number as usize % 2]);
            rig.advance(Span::from_micros(300));
            if number % 3 > 0 {
                rig.serve();
            }
            rig.advance(Span::from_micros(300));
            early = rig.qdisc().counters().dropped_early();
        }
        let has_law = band.info.traits.quiet_packets != u64::MAX;
        assert!(early == 0 || has_law, "{band}: {early} early drops by children without a law");
        *early_drops.entry((band.info.name, has_law)).or_insert(0) += early;
        rig.reset();
        assert_eq!(rig.serve(), None);
    }
    for ((name, has_law), early) in early_drops {
        assert_eq!(early > 0, has_law, "{name}: {early} early drops by the children");
    }
}

#[test]
fn drops_of_children_reach_the_observer_of_the_parent() {
    let mut rig = over(&parse("fifo limit 2p"));
    for flow in [0, 0, 0, 1] {
        rig.arrive(flow, 1000, Ecn::NotEct);
    }
    let dropped = rig.events().iter().filter(|event| matches!(event.what, What::Dropped(2, ..))).count();
    assert_eq!((dropped, rig.qdisc().counters().dropped_total()), (1, 1));
}
