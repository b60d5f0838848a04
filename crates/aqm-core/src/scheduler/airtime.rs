//! Airtime fairness: stations of a shared medium send for equal times, not equal packets or bytes. What a transmission took
//! is known when it has ended: until then a station may be chosen again.
//!
//! Linux 6.1 `ieee80211_next_txq()` and `ieee80211_sta_register_airtime()` (net/mac80211); Høiland-Jørgensen et al., "Ending
//! the Anomaly", USENIX ATC 2017, algorithm 3.

use super::{Heads, Scheduler};
use crate::choices;
use crate::units::Span;
use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;

choices! {
    /// Who goes first when a station that had nothing gets a packet.
    pub enum Sparse {
        /// It does, until its deficit is negative (`ieee80211_schedule_txq()` adds it at the head).
        Head = "head",
        /// It does, for one quantum: there is a list of new stations, as FQ-CoDel has one of new flows (algorithm 3).
        New = "new",
        /// Nobody: it goes to the end.
        Off = "off",
    }
}

/// How stations take turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// By the time that they used; otherwise each has one transmission a round.
    pub by_airtime: bool,
    /// What a negative deficit grows by each time the station is passed over.
    pub quantum: Span,
    /// Who goes first.
    pub sparse: Sparse,
    /// Whether what stations send counts, too.
    pub counts_received: bool,
}

/// Serves stations in turn by the airtime that they used.
#[derive(Clone, Debug)]
pub struct Airtime {
    rules: Rules,
    stations: Vec<Station>,
    new: VecDeque<usize>,
    old: VecDeque<usize>,
    /// Without airtime: the first of the list has had its transmission.
    served: bool,
}

#[derive(Clone, Copy, Debug)]
struct Station {
    /// Nanoseconds that it may still use.
    deficit: i64,
    active: bool,
}

impl Airtime {
    /// `count` stations that have a quantum each.
    pub fn new(count: usize, rules: Rules) -> Airtime {
        let station = Station { deficit: nanos(rules.quantum), active: false };
        let lists = || VecDeque::with_capacity(count);
        Airtime { rules, stations: vec![station; count], new: lists(), old: lists(), served: false }
    }

    /// New rules, from the next choice on.
    pub fn set_rules(&mut self, rules: Rules) {
        self.rules = rules;
        // Without a list of new stations those on it are the first of the others.
        while !(rules.by_airtime && rules.sparse == Sparse::New)
            && let Some(station) = self.new.pop_back()
        {
            self.old.push_front(station);
        }
    }

    /// The next of those stations that `may` send.
    pub fn select_among(&mut self, may: &dyn Fn(usize) -> bool, heads: &mut Heads<'_>) -> Option<usize> {
        if self.rules.by_airtime {
            self.select_by_airtime(Some(may), heads)
        } else {
            self.select_in_rounds(Some(may), heads)
        }
    }

    /// Bytes of state beyond the scheduler itself.
    pub fn state_bytes(&self) -> usize {
        self.stations.len() * (size_of::<Station>() + 2 * size_of::<usize>())
    }

    /// Whether the first in turn has used what it may: then it has a quantum more, and its turn is over.
    fn has_used_up(&mut self, station: usize) -> bool {
        let deficit = &mut self.stations[station].deficit;
        // Linux passes over a station that owes time, algorithm 3 also over one that has none left.
        let over = *deficit < 0 || (self.rules.sparse == Sparse::New && *deficit == 0);
        if over {
            *deficit += nanos(self.rules.quantum);
        }
        over
    }

    /// A station that may not send goes to the end, as one does that owes time.
    #[inline(always)]
    fn select_by_airtime(
        &mut self,
        may: Option<&dyn Fn(usize) -> bool>,
        heads: &mut Heads<'_>,
    ) -> Option<usize> {
        loop {
            if let Some(may) = may
                && !self.new.iter().chain(&self.old).any(|station| may(*station))
            {
                return None;
            }
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let first = *list.front()?;
            if self.has_used_up(first) || may.is_some_and(|may| !may(first)) {
                self.leave(is_new);
                self.old.push_back(first);
            } else if heads(first).is_some() {
                return Some(first);
            } else {
                self.leave(is_new);
                if is_new {
                    // Otherwise a station could stay new by sending little at a time (RFC 8290 section 4.2).
                    self.old.push_back(first);
                } else {
                    self.stations[first].active = false;
                }
            }
        }
    }

    /// The first of a list leaves it.
    fn leave(&mut self, is_new: bool) {
        let list = if is_new { &mut self.new } else { &mut self.old };
        list.pop_front();
    }

    #[inline(always)]
    fn select_in_rounds(
        &mut self,
        may: Option<&dyn Fn(usize) -> bool>,
        heads: &mut Heads<'_>,
    ) -> Option<usize> {
        if core::mem::take(&mut self.served) && !self.old.is_empty() {
            self.old.rotate_left(1);
        }
        loop {
            let first = *self.old.front()?;
            if let Some(may) = may
                && !may(first)
            {
                self.old.iter().find(|station| may(**station))?;
                self.old.pop_front();
                self.old.push_back(first);
            } else if heads(first).is_some() {
                self.served = true;
                return Some(first);
            } else {
                self.old.pop_front();
                self.stations[first].active = false;
            }
        }
    }
}

impl Scheduler for Airtime {
    fn activate(&mut self, station: usize) {
        if core::mem::replace(&mut self.stations[station].active, true) {
            return;
        }
        match self.rules.sparse {
            _ if !self.rules.by_airtime => self.old.push_back(station),
            Sparse::Head => self.old.push_front(station),
            Sparse::New => self.new.push_back(station),
            Sparse::Off => self.old.push_back(station),
        }
    }

    fn select(&mut self, heads: &mut Heads<'_>) -> Option<usize> {
        if self.rules.by_airtime {
            self.select_by_airtime(None, heads)
        } else {
            self.select_in_rounds(None, heads)
        }
    }

    fn of_stations(&mut self) -> Option<&mut Airtime> {
        Some(self)
    }

    /// An empty station leaves at its next turn: until then a packet for it finds it in its place.
    fn sent(&mut self, station: usize, _length: u32, emptied: bool) {
        // In Linux it leaves at once, and the next packet puts it at the head again.
        if emptied && self.rules.by_airtime && self.rules.sparse == Sparse::Head {
            self.old.retain(|one| *one != station);
            self.stations[station].active = false;
        }
    }

    fn charge(&mut self, station: usize, airtime: Span, received: bool) {
        if !received || self.rules.counts_received {
            self.stations[station].deficit -= nanos(airtime);
        }
    }

    fn clear(&mut self) {
        self.new.clear();
        self.old.clear();
        self.served = false;
        self.stations.iter_mut().for_each(|station| station.active = false);
    }
}

fn nanos(span: Span) -> i64 {
    i64::try_from(span.as_nanos()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUANTUM: Span = Span::from_micros(256);
    const LINUX: Rules =
        Rules { by_airtime: true, quantum: QUANTUM, sparse: Sparse::Head, counts_received: true };

    /// The stations that are chosen when each transmission takes the time of its station in microseconds; all of them
    /// always have packets.
    fn order(airtime: &mut Airtime, micros: &[u64], transmissions: usize) -> Vec<usize> {
        (0..transmissions)
            .map(|_| {
                let station = airtime.select(&mut |_| Some(1500)).unwrap();
                airtime.sent(station, 1500, false);
                airtime.charge(station, Span::from_micros(micros[station]), false);
                station
            })
            .collect()
    }

    fn active(rules: Rules, count: usize) -> Airtime {
        let mut airtime = Airtime::new(count, rules);
        (0..count).rev().for_each(|station| airtime.activate(station));
        airtime
    }

    #[test]
    fn a_slow_station_sends_as_long_as_fast_ones_and_so_less_often() {
        for sparse in [Sparse::Head, Sparse::New, Sparse::Off] {
            let mut airtime = active(Rules { sparse, ..LINUX }, 3);
            let micros = [400, 400, 4000];
            let chosen = order(&mut airtime, &micros, 2100);
            let time =
                |station| chosen.iter().filter(|one| **one == station).count() as u64 * micros[station];
            let total: u64 = (0..3).map(time).sum();
            for station in 0..3 {
                let share = time(station) as f64 / total as f64;
                assert!((share - 1.0 / 3.0).abs() < 0.004, "{sparse:?}: station {station} has {share}");
            }
        }
    }

    #[test]
    fn in_rounds_each_has_one_transmission() {
        let mut airtime = active(Rules { by_airtime: false, ..LINUX }, 3);
        assert_eq!(order(&mut airtime, &[400, 400, 4000], 7), [2, 1, 0, 2, 1, 0, 2]);
    }

    #[test]
    fn linux_adds_one_quantum_each_time_it_passes_over() {
        let mut airtime = active(LINUX, 2);
        // 256 - 600 = -344: + 256 = -88 and to the tail; station 1 the same; 0: + 256 = 168 and to the tail; 1 the same; 0 sends.
        assert_eq!(order(&mut airtime, &[600, 600], 3), [0, 1, 0]);
        assert_eq!(airtime.stations.iter().map(|one| one.deficit).collect::<Vec<_>>(), [-432_000, 168_000]);
    }

    #[test]
    fn a_station_that_had_nothing_goes_first_until_it_has_used_its_time() {
        for (sparse, expected) in
            [(Sparse::Head, [2, 2, 0]), (Sparse::New, [2, 2, 0]), (Sparse::Off, [0, 2, 2])]
        {
            let mut airtime = Airtime::new(3, Rules { sparse, ..LINUX });
            airtime.activate(1);
            airtime.activate(0);
            if sparse != Sparse::Head {
                // Into the order in which Linux has them.
                airtime.clear();
                airtime.activate(0);
                airtime.activate(1);
            }
            // Both have used their time once.
            order(&mut airtime, &[300, 300, 150], 2);
            airtime.activate(2);
            assert_eq!(order(&mut airtime, &[300, 300, 150], 3), expected, "{sparse:?}");
        }
    }

    #[test]
    fn a_station_that_may_not_send_goes_to_the_end() {
        for rules in [LINUX, Rules { sparse: Sparse::New, ..LINUX }, Rules { by_airtime: false, ..LINUX }] {
            let mut airtime = active(rules, 3);
            let first = airtime.select(&mut |_| Some(100)).unwrap();
            let others = |station: usize| station != first;
            for _ in 0..4 {
                let chosen = airtime.select_among(&others, &mut |_| Some(100)).unwrap();
                assert_ne!(chosen, first);
                airtime.charge(chosen, Span::from_micros(300), false);
            }
            assert_eq!(airtime.select_among(&|_| false, &mut |_| Some(100)), None);
            // Its turn comes again.
            assert!((0..3).any(|_| {
                let chosen = airtime.select(&mut |_| Some(100)).unwrap();
                airtime.charge(chosen, Span::from_micros(300), false);
                chosen == first
            }));
        }
    }

    #[test]
    fn what_a_station_sends_counts_if_the_rules_say_so() {
        for (counts_received, deficit) in [(true, -44_000), (false, 256_000)] {
            let mut airtime = Airtime::new(1, Rules { counts_received, ..LINUX });
            airtime.charge(0, Span::from_micros(300), true);
            assert_eq!(airtime.stations[0].deficit, deficit);
        }
    }

    #[test]
    fn empty_stations_leave_and_nothing_is_chosen_from_none() {
        for sparse in [Sparse::Head, Sparse::New, Sparse::Off] {
            for by_airtime in [true, false] {
                let mut airtime = active(Rules { sparse, by_airtime, ..LINUX }, 3);
                assert_eq!(airtime.select(&mut |_| None), None);
                assert_eq!(airtime.select(&mut |_| Some(100)), None);
                airtime.activate(1);
                assert_eq!(airtime.select(&mut |_| Some(100)), Some(1));
            }
        }
    }
}
