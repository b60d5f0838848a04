//! Priority flow control (IEEE 802.1Qbb) at a switch: who fills its buffer must pause.
//!
//! Bytes are counted where they came in, per ingress port and priority, from the packet's arrival until it goes to the
//! wire. Beyond XOFF the upstream port is paused; what is in flight meanwhile goes into headroom, which belongs to this
//! port and priority alone. At XON or below, with no headroom in use, the upstream port may go on.
//!
//! The priority is that of the packet's class behind the ingress program, if there is one: a program that chooses classes
//! on a switch with flow control must leave lossless packets in their own. What is simpler than the standard says
//! [`pause`](super::pause).

use super::pause::{FRAME_BYTES, PauseFrame, pause_time};
use aqm_core::units::{Bytes, Rate, Span, Time};
use std::collections::{BTreeMap, BTreeSet};

/// Thresholds of one ingress port and priority, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thresholds {
    /// What may wait before the upstream port is paused.
    pub xoff: u64,
    /// It may go on when no more than this waits.
    pub xon: u64,
    /// Room beyond XOFF.
    pub headroom: u64,
}

/// What counts for one ingress port and priority.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IngressCounters {
    /// PAUSE frames sent, refreshes included.
    pub xoff_frames: u64,
    /// Frames sent that let the upstream port go on.
    pub xon_frames: u64,
    /// The most headroom that was in use, or would have been had there been enough, bytes.
    pub headroom_needed: u64,
    /// Packets lost in spite of flow control, because the headroom was full.
    pub lost: u64,
}

/// One lossless priority at one ingress port.
#[derive(Clone, Debug)]
struct Ingress {
    thresholds: Thresholds,
    /// After what time a pause is repeated, and when that is, if the upstream port is paused.
    refresh: Span,
    refresh_at: Option<Time>,
    /// Bytes that wait within XOFF and beyond it.
    shared: u64,
    headroom: u64,
    /// Bytes by the egress port that they wait for.
    waiting: BTreeMap<usize, u64>,
    counters: IngressCounters,
}

/// Where and why a lossless packet waits: the key to its account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Account {
    /// Port that it came in by.
    pub ingress: usize,
    /// Its priority.
    pub priority: u8,
}

/// The accounts of a switch. Ports and priorities without one are not flow-controlled.
#[derive(Clone, Debug, Default)]
pub struct FlowControl {
    quanta: u16,
    accounts: BTreeMap<Account, Ingress>,
    /// When each account that pauses must say so again, the first of them first.
    refreshes: BTreeSet<(Time, Account)>,
}

impl FlowControl {
    /// Flow control whose PAUSE frames say `quanta`.
    pub fn new(quanta: u16) -> FlowControl {
        FlowControl { quanta, ..FlowControl::default() }
    }

    /// Controls what comes in by a port with a priority; `upstream` is the rate of the link that leads there.
    pub fn add(&mut self, account: Account, thresholds: Thresholds, upstream: Rate) {
        let ingress = Ingress {
            thresholds,
            // A frame takes one quantum: sooner, frames would pile up.
            refresh: (pause_time(self.quanta, upstream) / 2).max(pause_time(1, upstream)),
            refresh_at: None,
            shared: 0,
            headroom: 0,
            waiting: BTreeMap::new(),
            counters: IngressCounters::default(),
        };
        self.accounts.insert(account, ingress);
    }

    /// Whether such packets are flow-controlled.
    #[inline]
    pub fn controls(&self, account: Account) -> bool {
        self.accounts.contains_key(&account)
    }

    /// A packet has come in that will wait for port `egress`; `free` bytes of the buffer are left for what is within
    /// XOFF. Answers how many of them it takes, or `None` if the headroom is full and the packet is lost; and the frame
    /// that must go upstream.
    pub fn admit(
        &mut self,
        account: Account,
        egress: usize,
        length: u32,
        free: u64,
        now: Time,
    ) -> (Option<u64>, Option<PauseFrame>) {
        let quanta = self.quanta;
        let Some(ingress) = self.accounts.get_mut(&account) else { return (None, None) };
        let length = u64::from(length);
        let shared = length.min(ingress.thresholds.xoff - ingress.shared).min(free);
        let headroom = ingress.headroom + length - shared;
        ingress.counters.headroom_needed = ingress.counters.headroom_needed.max(headroom);
        let admitted = headroom <= ingress.thresholds.headroom;
        if admitted {
            ingress.shared += shared;
            ingress.headroom = headroom;
            *ingress.waiting.entry(egress).or_default() += length;
        } else {
            ingress.counters.lost += 1;
        }
        // When nothing waits, nothing leaves that could end the pause.
        let pauses = headroom > 0 && !ingress.waiting.is_empty() && ingress.refresh_at.is_none();
        let frame = pauses.then(|| ingress.pause(account, quanta, now));
        self.refreshes.extend(frame.and(ingress.refresh_at).map(|at| (at, account)));
        (admitted.then_some(shared), frame)
    }

    /// A packet that was admitted has left. Answers how many bytes of the buffer it gives back (headroom is freed
    /// first), and the frame that must go upstream.
    pub fn release(&mut self, account: Account, egress: usize, length: u32) -> (u64, Option<PauseFrame>) {
        let Some(ingress) = self.accounts.get_mut(&account) else { return (0, None) };
        let length = u64::from(length);
        let headroom = length.min(ingress.headroom);
        ingress.headroom -= headroom;
        ingress.shared -= length - headroom;
        let waiting = ingress.waiting.entry(egress).or_default();
        *waiting -= length;
        if *waiting == 0 {
            ingress.waiting.remove(&egress);
        }
        let over = ingress.headroom == 0 && ingress.shared <= ingress.thresholds.xon;
        let resumes = if over { ingress.refresh_at.take() } else { None };
        let frame = resumes.map(|at| {
            self.refreshes.remove(&(at, account));
            ingress.counters.xon_frames += 1;
            PauseFrame { priority: account.priority, quanta: 0 }
        });
        (length - headroom, frame)
    }

    /// When a pause must be repeated: halfway through the one before, so that it arrives in time.
    pub fn next_refresh(&self) -> Option<Time> {
        self.refreshes.first().map(|(at, _)| *at)
    }

    /// The frames that are due: the port that each of them goes out by, and what it says.
    pub fn refresh(&mut self, now: Time) -> Vec<(usize, PauseFrame)> {
        let quanta = self.quanta;
        let mut frames = Vec::new();
        while let Some((at, account)) = self.refreshes.first().copied()
            && at <= now
        {
            self.refreshes.pop_first();
            let Some(ingress) = self.accounts.get_mut(&account) else { continue };
            frames.push((account.ingress, ingress.pause(account, quanta, now)));
            self.refreshes.extend(ingress.refresh_at.map(|at| (at, account)));
        }
        frames
    }

    /// Whether the upstream port of an account must pause.
    pub fn pauses(&self, account: Account) -> bool {
        self.accounts.get(&account).is_some_and(|ingress| ingress.refresh_at.is_some())
    }

    /// The egress ports on which an account depends: what waits for such a port alone keeps the upstream port paused
    /// until that port sends.
    pub fn depends_on(&self, account: Account) -> impl Iterator<Item = usize> + '_ {
        let paused = self.accounts.get(&account).filter(|ingress| ingress.refresh_at.is_some());
        paused.into_iter().flat_map(|ingress| {
            let holds =
                |(egress, bytes): (&usize, &u64)| (*bytes > ingress.thresholds.xon).then_some(*egress);
            ingress.waiting.iter().filter_map(holds)
        })
    }

    /// Whether nothing waits of what is flow-controlled.
    pub(super) fn is_empty(&self) -> bool {
        self.accounts
            .values()
            .all(|account| account.shared + account.headroom == 0 && account.waiting.is_empty())
    }

    /// Every account with its thresholds and counters.
    pub fn accounts(&self) -> impl Iterator<Item = (Account, Thresholds, IngressCounters)> + '_ {
        self.accounts.iter().map(|(account, ingress)| (*account, ingress.thresholds, ingress.counters))
    }

    /// Resets the counts of PAUSE frames, losses and headroom.
    pub fn restart(&mut self) {
        for ingress in self.accounts.values_mut() {
            ingress.counters = IngressCounters { headroom_needed: ingress.headroom, ..Default::default() };
        }
    }
}

impl Ingress {
    fn pause(&mut self, account: Account, quanta: u16, now: Time) -> PauseFrame {
        self.counters.xoff_frames += 1;
        self.refresh_at = Some(now + self.refresh);
        PauseFrame { priority: account.priority, quanta }
    }
}

/// One direction of the link between a switch and its upstream port.
#[derive(Clone, Copy, Debug)]
pub struct Direction {
    /// Rate.
    pub rate: Rate,
    /// The longest propagation delay, jitter included.
    pub delay: Span,
}

/// The headroom that suffices for an ingress port and priority, in bytes, where packets have at most `packet` bytes and
/// `priorities` share the port, for a PAUSE that is obeyed at once.
///
/// The PAUSE waits for a packet that is being sent and for those of the other priorities, is serialised, and takes the
/// reverse path; the upstream port finishes a packet that it has just begun; and what it sent takes the path here. The
/// packet that crosses XOFF may be beyond it but for one byte.
pub fn sufficient_headroom(to_switch: Direction, back: Direction, packet: u32, priorities: usize) -> u64 {
    let frames = u64::from(FRAME_BYTES) * priorities as u64;
    let waiting = back.rate.time_for(Bytes::new(u64::from(packet) + frames));
    let in_flight = to_switch.rate.bytes_in(waiting + back.delay + to_switch.delay).as_u64() + 1;
    in_flight + 2 * u64::from(packet)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GBIT: Rate = Rate::from_bits_per_sec(1_000_000_000);
    const ACCOUNT: Account = Account { ingress: 2, priority: 3 };
    const THRESHOLDS: Thresholds = Thresholds { xoff: 10_000, xon: 8_000, headroom: 3_000 };
    const PAUSE: PauseFrame = PauseFrame { priority: 3, quanta: 1000 };
    const RESUME: PauseFrame = PauseFrame { priority: 3, quanta: 0 };

    fn flow_control() -> FlowControl {
        let mut control = FlowControl::new(1000);
        control.add(ACCOUNT, THRESHOLDS, GBIT);
        control
    }

    fn us(micros: u64) -> Time {
        Time::ZERO + Span::from_micros(micros)
    }

    /// Lets packets of 1000 bytes in; what the last one got.
    fn admit(control: &mut FlowControl, count: u64) -> (Option<u64>, Option<PauseFrame>) {
        admit_for(control, 0, count)
    }

    /// The same for an egress port.
    fn admit_for(control: &mut FlowControl, egress: usize, count: u64) -> (Option<u64>, Option<PauseFrame>) {
        (0..count).map(|_| control.admit(ACCOUNT, egress, 1000, u64::MAX, us(0))).last().unwrap()
    }

    /// Lets packets of 1000 bytes leave.
    fn release(control: &mut FlowControl, count: u64) -> (u64, Option<PauseFrame>) {
        (0..count).map(|_| control.release(ACCOUNT, 0, 1000)).last().unwrap()
    }

    #[test]
    fn the_packet_that_goes_beyond_xoff_pauses_upstream_once() {
        let mut control = flow_control();
        assert_eq!(admit(&mut control, 10), (Some(1000), None));
        assert!(!control.pauses(ACCOUNT));
        assert_eq!(admit(&mut control, 1), (Some(0), Some(PAUSE)));
        assert_eq!(admit(&mut control, 1), (Some(0), None));
        assert!(control.pauses(ACCOUNT));
    }

    #[test]
    fn upstream_goes_on_at_xon() {
        let mut control = flow_control();
        admit(&mut control, 12);
        // Headroom is freed first: the shared part gets back what was taken from it.
        assert_eq!(release(&mut control, 2), (0, None));
        assert_eq!(release(&mut control, 1), (1000, None));
        assert_eq!(release(&mut control, 1), (1000, Some(RESUME)));
        assert_eq!(release(&mut control, 1), (1000, None));
        assert_eq!(control.next_refresh(), None);
    }

    #[test]
    fn what_the_headroom_does_not_hold_is_lost_and_the_need_is_known() {
        let mut control = flow_control();
        assert_eq!(admit(&mut control, 13), (Some(0), None));
        assert_eq!(admit(&mut control, 1), (None, None));
        let (_, _, counters) = control.accounts().next().unwrap();
        assert_eq!((counters.lost, counters.headroom_needed, counters.xoff_frames), (1, 4_000, 1));
        control.restart();
        assert_eq!(control.accounts().next().unwrap().2.headroom_needed, 3_000);
    }

    #[test]
    fn a_lost_packet_pauses_nobody_for_ever_when_nothing_waits() {
        let mut control = FlowControl::new(1000);
        control.add(ACCOUNT, Thresholds { xoff: 600, xon: 600, headroom: 0 }, GBIT);
        assert_eq!(admit(&mut control, 1), (None, None));
        assert!(!control.pauses(ACCOUNT));
        // What waits ends the pause when it leaves.
        assert_eq!(control.admit(ACCOUNT, 0, 500, u64::MAX, us(0)), (Some(500), None));
        assert_eq!(admit(&mut control, 1), (None, Some(PAUSE)));
        assert_eq!(control.release(ACCOUNT, 0, 500), (500, Some(RESUME)));
    }

    #[test]
    fn a_packet_may_lie_on_both_sides_of_xoff_and_a_full_buffer_counts_as_beyond_it() {
        let mut control = flow_control();
        admit(&mut control, 9);
        assert_eq!(control.admit(ACCOUNT, 0, 1500, u64::MAX, us(0)), (Some(1000), Some(PAUSE)));
        assert_eq!(control.release(ACCOUNT, 0, 1500), (1000, None));
        let mut control = flow_control();
        assert_eq!(control.admit(ACCOUNT, 0, 1500, 600, us(0)), (Some(600), Some(PAUSE)));
        assert_eq!(control.release(ACCOUNT, 0, 1500), (600, Some(RESUME)));
    }

    #[test]
    fn a_pause_is_said_again_half_way_through_as_long_as_it_is_needed() {
        let mut control = flow_control();
        admit(&mut control, 11);
        // 1000 quanta at 1 Gbit/s are 512 us.
        assert_eq!(control.next_refresh(), Some(us(256)));
        assert_eq!(control.refresh(us(255)), []);
        assert_eq!(control.refresh(us(256)), [(2, PAUSE)]);
        assert_eq!(control.next_refresh(), Some(us(512)));
        assert_eq!(release(&mut control, 3), (1000, Some(RESUME)));
        assert_eq!(control.refresh(us(512)), []);
        let (_, _, counters) = control.accounts().next().unwrap();
        assert_eq!((counters.xoff_frames, counters.xon_frames), (2, 1));
    }

    #[test]
    fn a_paused_account_depends_on_the_ports_that_alone_keep_it_beyond_xon() {
        let mut control = flow_control();
        admit_for(&mut control, 5, 9);
        assert_eq!(control.depends_on(ACCOUNT).count(), 0, "not paused yet");
        admit_for(&mut control, 6, 3);
        assert_eq!(control.depends_on(ACCOUNT).collect::<Vec<_>>(), [5]);
        control.release(ACCOUNT, 5, 1000);
        assert_eq!(control.depends_on(ACCOUNT).count(), 0, "8000 bytes for port 5 are not beyond XON");
    }

    #[test]
    fn the_sufficient_headroom_is_two_propagation_delays_three_packets_and_the_frame() {
        // 1 Gbit/s and 10 us: 2 x 1250 bytes in flight, 3 x 1500, 64, and one for rounding.
        let link = Direction { rate: GBIT, delay: Span::from_micros(10) };
        assert_eq!(sufficient_headroom(link, link, 1500, 1), 2500 + 4500 + 64 + 1);
        assert_eq!(sufficient_headroom(link, link, 1500, 3), 2500 + 4500 + 3 * 64 + 1);
        // A slow reverse path makes the PAUSE late: 1564 bytes take ten times as long there.
        let slow = Direction { rate: Rate::from_bits_per_sec(100_000_000), ..link };
        assert_eq!(sufficient_headroom(link, slow, 1500, 1), 2500 + 15_640 + 3000 + 1);
    }

    #[test]
    fn a_pause_is_said_again_no_sooner_than_a_frame_takes() {
        let mut control = FlowControl::new(1);
        let rate = Rate::from_bits_per_sec(1_000_000_000_000);
        control.add(ACCOUNT, THRESHOLDS, rate);
        let now = Time::from_nanos(7);
        let (_, frame) = control.admit(ACCOUNT, 0, 1000, 0, now);
        assert!(frame.is_some());
        // 64 bytes take 0.512 ns, of which half would be the same instant.
        assert_eq!(control.next_refresh(), Some(Time::from_nanos(8)));
    }

    #[test]
    fn the_first_of_several_pauses_is_said_again_first() {
        let mut control = flow_control();
        let second = Account { ingress: 4, ..ACCOUNT };
        control.add(second, THRESHOLDS, GBIT);
        let us = |micros| Time::ZERO + Span::from_micros(micros);
        // 1000 quanta are 512 us at 1 Gbit/s: after half of them the pause is repeated.
        control.admit(second, 0, 1000, 0, us(10));
        control.admit(ACCOUNT, 0, 1000, 0, us(20));
        assert_eq!(control.next_refresh(), Some(us(266)));
        assert_eq!(control.refresh(us(266)), [(4, PAUSE)]);
        assert_eq!(control.next_refresh(), Some(us(276)));
        control.release(ACCOUNT, 0, 1000);
        assert_eq!(control.next_refresh(), Some(us(522)));
        control.release(second, 0, 1000);
        assert_eq!(control.next_refresh(), None);
    }
}
