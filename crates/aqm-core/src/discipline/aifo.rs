//! # What it does
//! One queue that admits an arriving packet if its rank is small compared with recent ones, given the space that is
//! left. Packets that a PIFO would drop are dropped at once; admitted packets leave in order of arrival.
//!
//! # Reference
//! Z. Yu et al., "Programmable Packet Scheduling with a Single Queue" (SIGCOMM 2021), algorithm 1; netx-repo/AIFO for the
//! values of its simulations.
//!
//! # Parameters
//! See `aqmlab aqm show aifo`.
//!
//! # Deviations
//! As in the authors' simulator a packet is compared with the window before it is added to it. The comparison with
//! the bound includes equality, as in the paper's equation (the simulator's does not). With a limit in bytes C and c
//! are bytes. Ranks: as in `pifo`.
//!
//! # Promises
//! Order kept; drops on arrival only, none while at most the headroom is used; no random numbers; never marks.

use super::single::{Gate, Single};
use super::{Blueprint, Built, Group, Info, LIMIT, ProbeSpec, Traits, ranked};
use crate::cx::Cx;
use crate::law::aifo::Window;
use crate::law::rank::Ranks;
use crate::packet::Packet;
use crate::params::{Kind, ParamError, ParamSpec, Params, Preset, Value};
use crate::queue::Fifo;
use crate::signal::DropReason;
use crate::units::Size;
use alloc::collections::VecDeque;

/// The registry entry.
pub static INFO: Info = Info {
    name: "aifo",
    group: Group::Flow,
    summary: "AIFO: a single queue that admits by rank what a PIFO would send",
    reference: "Yu 2021",
    params: &[
        LIMIT,
        ParamSpec::new(
            "headroom",
            Kind::Fraction,
            Value::Fraction(0.1),
            (0.0, 0.99),
            "Fraction of the limit that is open to every packet (k)",
            "Yu 2021, netx-repo/AIFO MainFigure7.java: 0.1",
        ),
        ParamSpec::new(
            "window",
            Kind::Count,
            Value::Count(20),
            (1.0, 65_536.0),
            "Ranks that a packet is compared with",
            "Yu 2021, netx-repo/AIFO MainFigure7.java: 20",
        ),
        ParamSpec::new(
            "sample",
            Kind::Count,
            Value::Count(15),
            (1.0, 1e6),
            "One packet in so many joins the window",
            "Yu 2021, netx-repo/AIFO MainFigure7.java: 15",
        ),
        ranked::RANK,
        ranked::SLACK,
        ranked::FLOWS,
    ],
    presets: &[
        Preset { name: "stfq", source: "Yu 2021 section 2: fair queueing; the limit is ours", values: &[] },
        Preset {
            name: "sigcomm21",
            source: "netx-repo/AIFO MainFigure7.java: 20 packets",
            values: &[("limit", Value::Size(Size::Packets(20)))],
        },
    ],
    probes: &[ProbeSpec {
        name: "last_quantile",
        unit: "fraction",
        help: "Smaller ranks, for the last packet",
    }],
    traits: Traits {
        wakes: false,
        ecn: false,
        drops_queued: false,
        reorders_flows: false,
        reorders_within_flow: false,
        quiet_packets: 2,
        flow_state_bytes: size_of::<u64>(),
    },
    deviations: "compares before the window moves; ranks as in pifo",
    build,
};

struct Settings {
    limit: Size,
    headroom: f64,
}

struct Aifo {
    settings: Settings,
    window: Window,
    ranks: Ranks,
    /// Ranks of queued packets, and possibly of some that were dropped from the end since.
    waiting: VecDeque<u64>,
    last_quantile: f64,
}

fn settings(params: &Params) -> Settings {
    let limit = params.size("limit").expect("limit has no auto");
    Settings { limit, headroom: params.number("headroom") }
}

fn build(Blueprint { params, .. }: Blueprint<'_>) -> Built {
    let window = Window::new(params.count("window") as usize, params.count("sample"));
    let (settings, ranks, waiting) = (settings(params), ranked::ranks(params), VecDeque::new());
    Ok(Single::boxed(params, Aifo { settings, window, ranks, waiting, last_quantile: 0.0 }))
}

impl Gate for Aifo {
    #[inline]
    fn admit(&mut self, packet: Packet, queue: &Fifo, cx: &mut Cx<'_>) -> Option<Packet> {
        let Settings { limit, headroom } = self.settings;
        self.waiting.truncate(queue.len());
        let rank = self.ranks.of(&packet, cx.now);
        let admitted = self.window.admits(rank, queue.backlog().in_unit_of(limit), limit.count(), headroom);
        self.last_quantile = self.window.quantile(rank);
        self.window.observe(rank);
        if !admitted {
            cx.drop(packet, DropReason::Congestion);
            return None;
        }
        self.ranks.queued(&packet, rank);
        self.waiting.push_back(rank);
        Some(packet)
    }

    #[inline]
    fn overflowed(&mut self, packet: &Packet, cx: &mut Cx<'_>) {
        let rank = self.ranks.of(packet, cx.now);
        self.last_quantile = self.window.quantile(rank);
        self.window.observe(rank);
    }

    #[inline]
    fn release(&mut self, queue: &mut Fifo, _cx: &mut Cx<'_>) -> Option<Packet> {
        self.waiting.truncate(queue.len());
        self.ranks.sent(self.waiting.pop_front()?);
        queue.pop()
    }

    fn change(&mut self, params: &Params, _cx: &mut Cx<'_>) -> Result<(), ParamError> {
        ranked::check(params, &self.ranks)?;
        let window = params.count("window");
        if !self.window.change(window as usize, params.count("sample")) {
            return Err(ParamError::relation("window", window, "cannot change while running"));
        }
        self.settings = settings(params);
        Ok(())
    }

    fn probe(&self, _queue: &Fifo, sink: &mut dyn FnMut(&str, f64)) {
        sink("last_quantile", self.last_quantile);
    }

    /// The rank of a queued packet counts as part of it.
    fn table_bytes(&self) -> usize {
        self.window.bytes() + self.ranks.table_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Host, ms, put_class, rest};

    #[test]
    fn a_packet_needs_a_smaller_rank_the_fuller_the_queue_is() {
        // C = 10, k = 0.2: two are always admitted; then a quantile of (10 - c) / 8, in a window of the last four
        // ranks.
        let mut host = Host::new("aifo rank priority limit 10p headroom 0.2 window 4 sample 1");
        let mut put = |cookie, class| {
            put_class(&mut host, cookie, class, 100);
            (host.probe("last_quantile"), host.dropped().len())
        };
        assert_eq!([put(0, 5), put(1, 1)], [(0.0, 0), (0.0, 0)]); // window 5, 1
        assert_eq!(put(2, 9), (1.0, 0)); // c = 2 is in the headroom; 5, 1, 9
        assert_eq!(put(3, 9), (2.0 / 3.0, 0)); // 2/3 <= 7/8; 5, 1, 9, 9
        assert_eq!(put(4, 10), (1.0, 1)); // 1 > 6/8; 1, 9, 9, 10
        assert_eq!(put(5, 10), (0.75, 1)); // 3/4 <= 6/8; 9, 9, 10, 10
        assert_eq!(put(6, 11), (1.0, 2)); // 1 > 5/8; 9, 10, 10, 11
        assert_eq!(put(7, 10), (0.25, 2)); // 1/4 <= 5/8
        assert_eq!(rest(&mut host), [0, 1, 2, 3, 5, 7]);
    }

    #[test]
    fn packets_dropped_at_the_limit_enter_the_window_too() {
        let mut host = Host::new("aifo rank priority limit 1p headroom 0.9 window 2 sample 1");
        (0..3).for_each(|cookie| put_class(&mut host, cookie, 7, 100)); // two of them dropped
        put_class(&mut host, 3, 8, 100);
        assert_eq!((host.probe("last_quantile"), host.dropped().len()), (1.0, 3));
        assert_eq!(host.log.dropped[0].1, crate::signal::DropReason::Overlimit);
    }

    #[test]
    fn a_greedy_flow_is_refused_and_a_modest_one_admitted() {
        let mut host = Host::new("aifo limit 20p headroom 0.1 window 20 sample 1");
        let mut refused = [0; 2];
        for round in 0..200u64 {
            // Flow 1 sends three packets where flow 2 sends one and two can leave.
            for cookie in 0..4 {
                let before = host.dropped().len();
                let flow = 1 + u64::from(cookie == 3);
                host.put(ms(round), 4 * round + cookie, flow, 1000);
                refused[flow as usize - 1] += host.dropped().len() - before;
            }
            for _ in 0..2 {
                host.get(ms(round));
            }
        }
        assert!(refused[0] > 350 && refused[1] < 20, "{refused:?}");
    }

    #[test]
    fn virtual_time_keeps_up_when_a_lower_limit_takes_packets_from_the_end() {
        let mut host = Host::new("aifo limit 10p headroom 0.99");
        (0..5).for_each(|cookie| host.put(ms(0), cookie, 1, 1000)); // 0 .. 4000
        host.qdisc.change(&[("limit", "2p")], ms(0), &mut host.log).unwrap();
        assert_eq!(host.dropped(), [4, 3, 2]);
        host.qdisc.change(&[("limit", "10p")], ms(0), &mut host.log).unwrap();
        host.put(ms(0), 5, 2, 700); // 0
        assert_eq!([0; 3].map(|_| host.get(ms(0)).unwrap()), [0, 1, 5]);
        assert_eq!(host.get(ms(0)), None);
        let error = host.qdisc.change(&[("window", "3")], ms(0), &mut host.log).unwrap_err();
        assert_eq!(error.param, "window");
    }
}
