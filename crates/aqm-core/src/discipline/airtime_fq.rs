//! # What it does
//! A discipline for each station of a shared medium, served so that all stations use the same time of the medium and not
//! the same number of packets.
//!
//! # Reference
//! Høiland-Jørgensen, Kazior, Täht, Hurtig and Brunstrom, "Ending the Anomaly: Achieving Low Latency and Airtime Fairness
//! in WiFi", USENIX ATC 2017; Linux 6.1 net/mac80211 (`ieee80211_next_txq()`, `sta_update_codel_params()`).
//!
//! # Parameters
//! See `aqmlab aqm show airtime_fq`.
//!
//! # Deviations
//! The host numbers the stations, and says what a transmission took and what rate it expects; without a shared medium
//! there is one station. Each station has flow queues of its own, where Linux and the paper share theirs among all. At the
//! limit of all the longest station loses a packet, which its discipline chooses; in Linux it is the longest flow of all.
//! Access categories are the host's: it has one of these for each.
//!
//! # Promises
//! Order kept within a flow as the child keeps it; children decide on drops and marks, except at the limit of all. Stations
//! that always have packets use equal times, to within a transmission and a quantum; a station that leaves never delays
//! another.

use super::classful::{self, CHILD, Classful, LIMIT_OF_ALL, Layout, TRAITS};
use super::sharing::SHARING;
use super::{Blueprint, Built, Discipline, Group, Info, ProbeSpec, Traits};
use crate::backlog::Backlog;
use crate::choices;
use crate::cx::Cx;
use crate::packet::Packet;
use crate::params::{Kind, ParamError, ParamSpec, Params, Preset, Value};
use crate::scheduler::{Airtime, Rules, Sparse};
use crate::sent::Sent;
use crate::units::{Rate, Size, Span, Time};
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

/// The registry entry.
pub static INFO: Info = Info {
    name: "airtime_fq",
    group: Group::Station,
    summary: "Equal airtime for the stations of a shared medium, each with a discipline of its own",
    reference: "Høiland-Jørgensen et al., USENIX ATC 2017; Linux mac80211",
    params: &[
        LIMIT_OF_ALL.with_default(
            Value::Size(Size::Packets(8192)),
            "ieee80211_txq_setup_flows() of Linux 6.1: fq->limit 8192",
        ),
        SHARING,
        STATIONS,
        CHILD_OF_STATION,
        SCHEDULE,
        QUANTUM,
        SPARSE,
        RECEIVED,
        SLOW,
        SLOW_SHARED,
        SLOW_TARGET,
        SLOW_INTERVAL,
    ],
    presets: &[
        Preset {
            name: "linux",
            source: "ieee80211_next_txq() and sta_update_codel_params() of Linux 6.1 net/mac80211: the defaults are Linux's",
            values: &[],
        },
        Preset {
            name: "atc17",
            source: "USENIX ATC 2017: a list of new stations; CoDel's slow values below 12 Mbit/s; a quantum of 300 us as in ath9k (ATH_AIRTIME_QUANTUM)",
            values: &[
                ("quantum", Value::Span(Span::from_micros(300))),
                ("sparse", Value::Choice(Sparse::New.word())),
                ("slow", Value::Rate(Rate::from_mbit(12))),
                ("slow_shared", Value::Flag(false)),
            ],
        },
        Preset {
            name: "round_robin",
            source: "USENIX ATC 2017: FQ-MAC, the queues without the airtime scheduler",
            values: &[
                ("schedule", Value::Choice(Schedule::RoundRobin.word())),
                ("slow", Value::Rate(Rate::from_mbit(12))),
                ("slow_shared", Value::Flag(false)),
            ],
        },
    ],
    probes: &[
        ProbeSpec { name: "busy_classes", unit: "stations", help: "Stations for which packets wait" },
        ProbeSpec {
            name: "slow_stations",
            unit: "stations",
            help: "Stations whose CoDel has the slow values",
        },
    ],
    traits: Traits { ecn: true, quiet_packets: 0, ..TRAITS },
    deviations: "flow queues for each station; at the limit the longest station loses a packet, not the longest flow; access categories are the host's",
    build,
};

const STATIONS: ParamSpec = ParamSpec::new(
    "stations",
    Kind::Count,
    Value::Count(8),
    (1.0, 255.0),
    "Number of stations; packets for a higher one than the last belong to the last",
    "no reference has a number; the paper has 4 and 30",
);

const CHILD_OF_STATION: ParamSpec = CHILD
    .with_default(
        Value::Notation("fq_codel target 20ms interval 100ms quantum 300b"),
        "ieee80211_txq_setup_flows() and codel_params of Linux 6.1 net/mac80211",
    )
    .with_help("Discipline of each station; its limit is that of all stations unless given");

choices! {
    /// Which station sends next.
    enum Schedule {
        Airtime = "airtime",
        RoundRobin = "round_robin",
    }
}

const SCHEDULE: ParamSpec = ParamSpec::choice::<Schedule>(
    "schedule",
    "Who sends next: who has used least airtime, or each in turn",
    "USENIX ATC 2017",
);

const QUANTUM: ParamSpec = ParamSpec::new(
    "quantum",
    Kind::Span,
    Value::Span(Span::from_micros(256)),
    (1e3, 1e8),
    "Airtime that a station gets when it has none left and its turn comes",
    "IEEE80211_DEFAULT_AIRTIME_WEIGHT of Linux 6.1: 256 us",
);

const SPARSE: ParamSpec = ParamSpec::choice::<Sparse>(
    "sparse",
    "A station that had nothing goes to the head, to a list of new ones with one quantum, or to the end",
    "head: ieee80211_schedule_txq() of Linux 6.1; new: USENIX ATC 2017",
);

const RECEIVED: ParamSpec = ParamSpec::flag(
    "received",
    true,
    "The airtime of what stations send counts, too",
    "Linux 6.1: AIRTIME_USE_TX | AIRTIME_USE_RX",
);

const SLOW: ParamSpec = ParamSpec::new(
    "slow",
    Kind::Rate,
    Value::Rate(Rate::from_mbit(6)),
    (0.0, 1e10),
    "A station of which less is expected has CoDel with the slow values, and no ECN",
    "STA_SLOW_THRESHOLD of Linux 6.1: 6 Mbit/s",
);

const SLOW_SHARED: ParamSpec = ParamSpec::flag(
    "slow_shared",
    true,
    "That rate is multiplied by the number of stations",
    "sta_update_codel_params() of Linux 6.1",
);

const SLOW_TARGET: ParamSpec = ParamSpec::new(
    "slow_target",
    Kind::Span,
    Value::Span(Span::from_millis(50)),
    (1e3, 1e10),
    "Target of a slow station's CoDel",
    "sta_update_codel_params() of Linux 6.1; USENIX ATC 2017",
);

const SLOW_INTERVAL: ParamSpec = ParamSpec::new(
    "slow_interval",
    Kind::Span,
    Value::Span(Span::from_millis(300)),
    (1e3, 1e10),
    "Interval of a slow station's CoDel",
    "sta_update_codel_params() of Linux 6.1; USENIX ATC 2017",
);

const LAYOUT: Layout = Layout {
    classes: |params| classful::each(params, "stations", "station"),
    counted: "stations",
    priomap: None,
    by_class: false,
    by_station: true,
};

fn rules(params: &Params) -> Rules {
    Rules {
        by_airtime: params.choice::<Schedule>("schedule") == Schedule::Airtime,
        quantum: params.span("quantum"),
        sparse: params.choice("sparse"),
        counts_received: params.flag("received"),
    }
}

/// The rate below which a station is slow.
fn slow_below(params: &Params) -> u64 {
    let rate = params.rate("slow").expect("slow has no auto").as_bits_per_sec();
    rate.saturating_mul(if params.flag("slow_shared") { params.count("stations") } else { 1 })
}

/// What a slow station's CoDel is given.
fn slow_values(params: &Params) -> [(&'static str, Value); 3] {
    [
        ("target", Value::Span(params.span("slow_target"))),
        ("interval", Value::Span(params.span("slow_interval"))),
        ("ecn", Value::Flag(false)),
    ]
}

fn build(blueprint: Blueprint<'_>) -> Built {
    let params = blueprint.params;
    let count = params.count("stations") as usize;
    let adopt = |airtime: &mut Airtime, params: &Params| airtime.set_rules(rules(params));
    Ok(Box::new(AirtimeFq {
        stations: Classful::of(LAYOUT, blueprint, Airtime::new(count, rules(params)), adopt)?,
        expected: vec![None; count],
        slow: vec![false; count],
        slow_below: slow_below(params),
        slow_values: slow_values(params),
    }))
}

struct AirtimeFq {
    stations: Classful<Airtime>,
    /// What each station is expected to get alone, if that is known.
    expected: Vec<Option<Rate>>,
    slow: Vec<bool>,
    slow_below: u64,
    slow_values: [(&'static str, Value); 3],
}

impl AirtimeFq {
    /// Gives the child of a station the values for what is expected of it (`sta_update_codel_params()`).
    fn adapt(&mut self, number: usize, cx: &mut Cx<'_>) -> Result<(), ParamError> {
        let expected = self.expected[number].map(Rate::as_bits_per_sec);
        let slow = expected.is_some_and(|rate| rate > 0 && rate < self.slow_below);
        if slow != self.slow[number] {
            self.stations.change_child(number, if slow { &self.slow_values } else { &[] }, cx)?;
            self.slow[number] = slow;
        }
        Ok(())
    }
}

impl Discipline for AirtimeFq {
    #[inline]
    fn enqueue(&mut self, packet: Packet, cx: &mut Cx<'_>) {
        self.stations.enqueue_in(self.stations.of_station(packet.station), packet, cx);
    }

    #[inline]
    fn dequeue(&mut self, cx: &mut Cx<'_>) -> Option<Packet> {
        self.stations.dequeue(cx)
    }

    fn sent(&mut self, sent: &Sent, cx: &mut Cx<'_>) {
        self.stations.sent(sent, cx);
        let number = self.stations.of_station(sent.station);
        if sent.expected.is_some() && sent.expected != self.expected[number] {
            self.expected[number] = sent.expected;
            // A child that cannot have the slow values together keeps its own.
            let _ = self.adapt(number, cx);
        }
    }

    fn evict(&mut self, cx: &mut Cx<'_>) -> Option<Packet> {
        self.stations.evict(cx)
    }

    fn backlog(&self) -> Backlog {
        self.stations.backlog()
    }

    fn parts_limit(&self) -> Option<Size> {
        self.stations.parts_limit()
    }

    fn change(&mut self, params: &Params, cx: &mut Cx<'_>) -> Result<(), ParamError> {
        self.stations.change(params, cx)?;
        (self.slow_below, self.slow_values) = (slow_below(params), slow_values(params));
        // The children have what they were given: those of slow stations change again.
        self.slow.fill(false);
        for number in 0..self.slow.len() {
            let _ = self.adapt(number, cx);
        }
        Ok(())
    }

    fn purge(&mut self, cx: &mut Cx<'_>) {
        self.stations.purge(cx);
    }

    fn next_wakeup(&self) -> Option<Time> {
        self.stations.next_wakeup()
    }

    fn on_wakeup(&mut self, cx: &mut Cx<'_>) {
        self.stations.on_wakeup(cx);
    }

    fn probe(&self, now: Time, sink: &mut dyn FnMut(&str, f64)) {
        self.stations.probe(now, sink);
        sink("slow_stations", self.slow.iter().filter(|slow| **slow).count() as f64);
    }

    fn children(&self, visit: &mut dyn FnMut(&str, &dyn Discipline)) {
        self.stations.children(visit);
    }

    fn state_bytes(&self) -> usize {
        self.stations.state_bytes() + self.slow.len() * (size_of::<Option<Rate>>() + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Host, ms};
    use super::*;
    use alloc::vec::Vec;

    fn put(host: &mut Host, now: Time, cookie: u64, station: u8) {
        let mut packet = Packet::new(cookie, cookie, 1500);
        packet.station = station;
        host.enqueue(now, packet);
    }

    fn sent(host: &mut Host, station: u8, micros: u64, expected_mbit: u64) {
        let sent = Sent {
            station,
            class: 0,
            delivered: 1,
            attempts: 1,
            airtime: Span::from_micros(micros),
            received: false,
            expected: Some(Rate::from_bits_per_sec(expected_mbit * 1_000_000)),
        };
        host.qdisc.sent(&sent, ms(0), &mut host.log);
    }

    #[test]
    fn a_driver_fills_aggregates_station_by_station_and_airtime_decides() {
        let mut host = Host::new("airtime_fq stations 2 child [fifo] limit 100p");
        (0..40).for_each(|cookie| put(&mut host, ms(0), cookie, (cookie % 2) as u8));
        let mut order = Vec::new();
        for _ in 0..8 {
            let first = host.qdisc.dequeue(ms(0), &mut host.log).unwrap();
            let second = host.qdisc.dequeue_for(first.station, ms(0), &mut host.log).unwrap();
            assert_eq!((first.station, first.cookie + 2), (second.station, second.cookie));
            // Station 1 is ten times slower.
            sent(&mut host, first.station, if first.station == 0 { 200 } else { 2000 }, 10);
            order.push(first.station);
        }
        // The last to get a packet is at the head. 256 - 2000 = -1744 us, which seven quanta pay: meanwhile station 0 sends.
        assert_eq!(order, [1, 0, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn codel_is_slow_where_little_is_expected() {
        let mut host = Host::new("airtime_fq stations 4");
        let slow = |host: &Host| {
            let mut found = f64::NAN;
            host.qdisc
                .probe(ms(0), &mut |name, value| found = if name == "slow_stations" { value } else { found });
            found
        };
        sent(&mut host, 0, 100, 24);
        sent(&mut host, 1, 100, 23); // less than 6 Mbit/s times 4
        sent(&mut host, 2, 100, 5);
        assert_eq!(slow(&host), 2.0);
        sent(&mut host, 2, 100, 60);
        assert_eq!(slow(&host), 1.0);
        host.qdisc.change(&[("slow_shared", "off")], ms(0), &mut host.log).unwrap();
        assert_eq!(slow(&host), 0.0);
    }

    /// Drops of 100 packets that have waited for 200 ms, of which one leaves each 5 ms.
    fn drops_of_late_packets(expected_mbit: u64) -> usize {
        let mut host = Host::new("airtime_fq stations 1");
        sent(&mut host, 0, 0, expected_mbit);
        for cookie in 0..100 {
            let mut packet = Packet::new(cookie, 7, 1500);
            packet.station = 0;
            host.enqueue(ms(0), packet);
        }
        for step in 0..60 {
            host.get(ms(200 + 5 * step));
        }
        host.dropped().len()
    }

    #[test]
    fn slow_stations_lose_less_for_the_same_delay() {
        // CoDel drops after an interval above target (RFC 8289 section 5.4), here at 100, 200 and 270 of 295 ms; or at 300.
        assert_eq!((drops_of_late_packets(100), drops_of_late_packets(1)), (3, 0));
    }
}
