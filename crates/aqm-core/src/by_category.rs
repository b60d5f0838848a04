//! # What it does
//! A discipline for each access category of a medium that stations share, as `mq` has one for each hardware queue.
//!
//! # Reference
//! Linux 6.1 `mq` (`net/sched/sch_mq.c`) over the four queues of a wireless interface, and mac80211, which has queues and
//! airtime deficits for each access category (`local->active_txqs[ac]`, `sta->airtime[ac].deficit`).
//!
//! # Parameters
//! The number of stations, and the discipline of each category.
//!
//! # Deviations
//! It is in no registry: hosts put it around the discipline that they were given. The host numbers the next hops by
//! category and station: number = category · stations + station. A child knows the stations alone.
//!
//! # Promises
//! Categories do not wait for each other: a packet that one of them has decided about, but which may not leave now, holds back
//! only its own category. A host that asks for any packet gets the highest category's.

use crate::backlog::Backlog;
use crate::cx::Cx;
use crate::discipline::{Blueprint, Built, Discipline, Group, Info, OF_CLASSES, Traits};
use crate::packet::Packet;
use crate::params::{Kind, ParamError, ParamSpec, Params, Preset, Value};
use crate::sent::Sent;
use crate::signal::DropReason;
use crate::stations::{NextHop, Stations};
use crate::units::Time;
use alloc::boxed::Box;
use alloc::vec::Vec;

/// Access categories: background, best effort, video, voice.
pub const CATEGORIES: u8 = 4;

/// The most stations whose numbers fit.
pub const MOST_STATIONS: u8 = 64;

/// The category and the station of a next hop.
pub const fn category_and_station(number: u8, stations: u8) -> (u8, u8) {
    (number / stations, number % stations)
}

/// The declaration, which hosts add to those of the registry.
pub static INFO: Info = Info {
    name: "by_category",
    group: Group::Class,
    summary: "A discipline for each access category",
    reference: "Linux mq and mac80211",
    params: &[
        ParamSpec::new(
            "stations",
            Kind::Count,
            Value::Count(1),
            (1.0, MOST_STATIONS as f64),
            "Number of stations; of a queue for one next hop it is 1",
            "no reference has a number",
        ),
        ParamSpec::child("child", "fifo", "Discipline of each category", "Linux mq: net.core.default_qdisc"),
    ],
    presets: &[Preset { name: "mq", source: "Linux 6.1 sch_mq.c", values: &[] }],
    probes: &[],
    traits: Traits { ecn: true, quiet_packets: 0, ..OF_CLASSES },
    deviations: "in no registry; the host numbers next hops by category and station",
    build,
};

fn build(blueprint: Blueprint<'_>) -> Built {
    let Blueprint { params, link, build_child, .. } = blueprint;
    let own = || build_child(params.child("child"), link);
    let categories = (0..CATEGORIES)
        .map(|_| Ok(Category { child: own()?, held: None, backlog: Backlog::default() }))
        .collect::<Result<Vec<_>, ParamError>>()?;
    Ok(Box::new(ByCategory { stations: params.count("stations") as u8, categories }))
}

struct Category {
    child: Box<dyn Discipline>,
    /// What the child has decided about, and the host may not send yet; its next hop is the host's number.
    held: Option<Packet>,
    /// Of both.
    backlog: Backlog,
}

impl Category {
    fn count(&mut self) {
        self.backlog = self.child.backlog();
        self.held.iter().for_each(|packet| self.backlog.add(packet));
    }
}

struct ByCategory {
    stations: u8,
    categories: Vec<Category>,
}

impl ByCategory {
    /// Does something to the child of each category.
    fn of_each(&mut self, cx: &mut Cx<'_>, mut act: impl FnMut(u8, &mut dyn Discipline, &mut Cx<'_>)) {
        for (number, own) in (0..CATEGORIES).zip(&mut self.categories) {
            let first = number * self.stations;
            cx.at_station(first, NextHop::Any, |cx| act(number, &mut *own.child, cx));
            own.count();
        }
    }

    /// The next hops of a category among these, as its child numbers them; `None` if there are none.
    fn within(&self, wanted: NextHop, category: u8) -> Option<NextHop> {
        let of = |number: u8| category_and_station(number, self.stations);
        match wanted {
            NextHop::Any => Some(NextHop::Any),
            NextHop::Station(number) => (of(number).0 == category).then_some(NextHop::Station(of(number).1)),
            NextHop::Among(all) => {
                let first = category * self.stations;
                let own = (0..self.stations).filter(|station| all.contains(first + station));
                let own = own.fold(Stations::NONE, Stations::with);
                (own != Stations::NONE).then_some(NextHop::Among(own))
            }
        }
    }
}

impl Discipline for ByCategory {
    fn enqueue(&mut self, mut packet: Packet, cx: &mut Cx<'_>) {
        let (category, station) = category_and_station(packet.station, self.stations);
        packet.station = station;
        let own = &mut self.categories[usize::from(category)];
        cx.at_station(category * self.stations, NextHop::Any, |cx| own.child.enqueue(packet, cx));
        own.count();
    }

    fn dequeue(&mut self, cx: &mut Cx<'_>) -> Option<Packet> {
        let wanted = cx.next_hop();
        for category in (0..CATEGORIES).rev() {
            let Some(local) = self.within(wanted, category) else { continue };
            let first = category * self.stations;
            let own = &mut self.categories[usize::from(category)];
            if own.held.is_none() {
                let next = cx.at_station(first, local, |cx| own.child.dequeue(cx));
                own.held = next.map(|packet| Packet { station: first + packet.station, ..packet });
            }
            let taken = own.held.take_if(|packet| wanted.contains(packet.station));
            own.count();
            if taken.is_some() {
                return taken;
            }
        }
        None
    }

    fn put_back(&mut self, packet: Packet) -> Option<Packet> {
        let (category, _) = category_and_station(packet.station, self.stations);
        let own = &mut self.categories[usize::from(category)];
        // Of each category the host has one packet at most.
        let refused = own.held.replace(packet);
        own.count();
        refused
    }

    fn sent(&mut self, sent: &Sent, cx: &mut Cx<'_>) {
        let (category, station) = category_and_station(sent.station, self.stations);
        self.of_each(cx, |number, child, cx| {
            if number == category {
                child.sent(&Sent { station, ..*sent }, cx);
            }
        });
    }

    fn backlog(&self) -> Backlog {
        let sum = |all: Backlog, own: &Category| Backlog {
            packets: all.packets + own.backlog.packets,
            bytes: all.bytes + own.backlog.bytes,
        };
        self.categories.iter().fold(Backlog::default(), sum)
    }

    fn change(&mut self, params: &Params, cx: &mut Cx<'_>) -> Result<(), ParamError> {
        let params = &params.child("child").params;
        let mut result = Ok(());
        self.of_each(cx, |_, child, cx| {
            if result.is_ok() {
                result = child.change(params, cx);
            }
        });
        result
    }

    fn purge(&mut self, cx: &mut Cx<'_>) {
        self.categories.iter_mut().filter_map(|own| own.held.take()).for_each(|packet| {
            cx.drop(packet, DropReason::Reconfigured);
        });
        self.of_each(cx, |_, child, cx| child.purge(cx));
    }

    fn next_wakeup(&self) -> Option<Time> {
        self.categories.iter().filter_map(|own| own.child.next_wakeup()).min()
    }

    fn on_wakeup(&mut self, cx: &mut Cx<'_>) {
        self.of_each(cx, |_, child, cx| child.on_wakeup(cx));
    }

    fn children(&self, visit: &mut dyn FnMut(&str, &dyn Discipline)) {
        for (own, name) in self.categories.iter().zip(["background", "best_effort", "video", "voice"]) {
            visit(name, &*own.child);
        }
    }

    fn state_bytes(&self) -> usize {
        size_of::<ByCategory>() + self.categories.iter().map(|own| own.child.state_bytes()).sum::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::Link;
    use crate::qdisc::Qdisc;
    use crate::random::Random;
    use crate::signal::{DropPoint, Emission, Observer, Unobserved};
    use crate::spec::Spec;
    use crate::units::Rate;

    const STATIONS: u8 = 3;

    fn qdisc(child: &str) -> Qdisc {
        let text = alloc::format!("by_category stations {STATIONS} child [{child}]");
        let spec = Spec::parse_among(&text, &[&INFO]).unwrap();
        spec.build(Link::new(Rate::from_mbit(10)), Random::seeded(1)).unwrap()
    }

    fn put(qdisc: &mut Qdisc, cookie: u64, category: u8, station: u8) {
        let mut packet = Packet::new(cookie, cookie, 1000);
        packet.station = category * STATIONS + station;
        qdisc.enqueue(packet, Time::ZERO, &mut Unobserved);
    }

    fn of(category: u8, stations: &[u8]) -> Stations {
        stations.iter().fold(Stations::NONE, |set, station| set.with(category * STATIONS + station))
    }

    #[test]
    fn a_category_does_not_wait_for_another() {
        let mut qdisc = qdisc("fifo");
        put(&mut qdisc, 1, 1, 0);
        put(&mut qdisc, 2, 3, 2);
        put(&mut qdisc, 3, 1, 2);
        let mut peek = |set| qdisc.peek_among(set, Time::ZERO, &mut Unobserved).map(|packet| packet.cookie);
        // Best effort has decided about its first packet, which is for station 0; voice still has its own.
        assert_eq!(
            [peek(of(1, &[0, 2])), peek(of(3, &[0, 1, 2])), peek(of(1, &[2]))],
            [Some(1), Some(2), None]
        );
        assert_eq!(qdisc.backlog().packets, 3);
        let mut take =
            |number| qdisc.dequeue_for(number, Time::ZERO, &mut Unobserved).map(|packet| packet.cookie);
        assert_eq!([take(3 * STATIONS + 2), take(STATIONS + 2), take(STATIONS)], [Some(2), None, Some(1)]);
        assert_eq!(take(STATIONS + 2), Some(3));
        assert!(qdisc.check().is_ok() && qdisc.backlog().packets == 0);
    }

    /// The next hops of what was dropped.
    #[derive(Default)]
    struct Dropped(Vec<u8>);

    impl Observer for Dropped {
        fn on_drop(&mut self, packet: Packet, _: DropReason, _: DropPoint) {
            self.0.push(packet.station);
        }

        fn on_emit(&mut self, _: Emission) {}
    }

    #[test]
    fn the_host_hears_of_drops_by_its_own_numbers() {
        let (mut qdisc, mut dropped) = (qdisc("fifo limit 1p"), Dropped::default());
        for cookie in 0..3 {
            let mut packet = Packet::new(cookie, cookie, 1000);
            packet.station = 2 * STATIONS + 1;
            qdisc.enqueue(packet, Time::ZERO, &mut dropped);
        }
        qdisc.peek_among(of(2, &[1]), Time::ZERO, &mut dropped);
        qdisc.peek_among(of(0, &[1]), Time::ZERO, &mut dropped);
        qdisc.purge(Time::ZERO, &mut dropped);
        assert_eq!(dropped.0, [2 * STATIONS + 1; 3]);
        assert!(qdisc.check().is_ok());
    }

    #[test]
    fn any_packet_is_the_highest_categorys() {
        let mut qdisc = qdisc("fifo");
        (0..4).for_each(|category| put(&mut qdisc, u64::from(category), category, 1));
        let order = core::iter::from_fn(|| qdisc.dequeue(Time::ZERO, &mut Unobserved));
        assert_eq!(order.map(|packet| packet.cookie).collect::<Vec<_>>(), [3, 2, 1, 0]);
    }

    #[test]
    fn stations_keep_their_queues_in_each_category() {
        let mut qdisc = qdisc("airtime_fq stations 3");
        for cookie in 0..12 {
            put(&mut qdisc, cookie, (cookie % 4) as u8, (cookie / 4) as u8);
        }
        // The station that came last is at the head; station 1 is passed over, in its category alone.
        let next = qdisc.peek_among(of(2, &[0, 2]), Time::ZERO, &mut Unobserved).map(|packet| packet.station);
        assert_eq!(next, Some(2 * STATIONS + 2));
        let next = qdisc.dequeue_for(2 * STATIONS + 1, Time::ZERO, &mut Unobserved);
        assert!(next.is_none(), "station 2's was decided about");
        assert_eq!(
            qdisc.dequeue_for(STATIONS + 1, Time::ZERO, &mut Unobserved).map(|one| one.cookie),
            Some(5)
        );
        qdisc.purge(Time::ZERO, &mut Unobserved);
        assert!(qdisc.check().is_ok() && qdisc.backlog().packets == 0);
    }
}
