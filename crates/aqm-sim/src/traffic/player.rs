//! Adaptive streaming: a player that chooses the bitrate of each segment from its buffer level.
//!
//! The algorithm is BBA-0 of Huang, Johari, McKeown, Trunnell, Watson, "A Buffer-Based Approach to Rate Adaptation",
//! SIGCOMM 2014, algorithm 1, with the proportions of its section 4: of a buffer of 240 s, 90 s are the reservoir and
//! the last 24 s the upper one.

use super::action::Action;
use super::kind::{Key, Over, SourceKind, Takes};
use super::source::Video;
use aqm_core::params::Kind as Unit;
use aqm_core::units::{Span, Time};

/// The one kind of flow that is a player.
pub(super) static KINDS: &[SourceKind] = &[SourceKind {
    name: "video",
    summary: "adaptive streaming by the buffer (BBA-0); stalls and bitrate are measured",
    reference: "Huang et al., SIGCOMM 2014",
    over: Over::Tcp,
    transport: "cubic",
    keys: &[
        Key::new(
            "ladder",
            "rates_bps",
            Takes::Ascending(Unit::Rate),
            "235kbit,375kbit,560kbit,750kbit,1050kbit,1750kbit,2350kbit,3mbit,4300kbit,5800kbit",
            "bitrates to choose from",
        ),
        Key::new("segment", "segment_ns", Takes::One(Unit::Span), "4s", "video in a segment"),
        Key::new(
            "buffer",
            "buffer_ns",
            Takes::One(Unit::Span),
            "240s",
            "video that the player keeps at most",
        ),
    ],
    form: "video",
    ..SourceKind::PLAIN
}];

/// Bytes of a request for a segment.
const REQUEST_BYTES: u64 = 300;

/// One player with its server. Directions: segments, requests.
#[derive(Clone, Debug)]
pub(crate) struct Player {
    video: Video,
    /// Index of the bitrate of the last segment asked for.
    level: usize,
    begun: Time,
    /// When the first segment had arrived.
    playing_since: Option<Time>,
    /// Video buffered at `at`.
    buffered: Span,
    at: Time,
    stalled: bool,
    pub(super) seen: Viewing,
}

/// Statistics of a viewer.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Viewing {
    /// Time from the start to the first picture, once there was one.
    pub(crate) startup: Option<Span>,
    /// Time without a picture afterwards, and how often.
    pub(crate) stall: Span,
    pub(crate) stalls: u64,
    /// Segments that have arrived, and the sum of their bitrates.
    pub(crate) segments: u64,
    pub(crate) bitrates_sum: u64,
    /// Segments with another bitrate than the one before.
    pub(crate) switches: u64,
}

impl Player {
    pub(crate) fn new(video: &Video) -> Player {
        Player {
            video: video.clone(),
            level: 0,
            begun: Time::MAX,
            playing_since: None,
            buffered: Span::ZERO,
            at: Time::ZERO,
            stalled: false,
            seen: Viewing::default(),
        }
    }

    /// The start, or space for another segment.
    pub(super) fn wake(&mut self, now: Time, actions: &mut Vec<Action>) {
        self.begun = self.begun.min(now);
        self.play_until(now);
        let level = next_level(&self.video, self.level, self.buffered);
        self.seen.switches += u64::from(level != self.level && self.playing_since.is_some());
        self.level = level;
        actions.push(Action::Send { direction: 1, bytes: REQUEST_BYTES });
    }

    pub(super) fn arrived(&mut self, direction: usize, now: Time, actions: &mut Vec<Action>) {
        let (rate, length) = (self.video.rates_bps[self.level], Span::from_nanos(self.video.segment_ns));
        if direction == 1 {
            let bits = u128::from(rate) * u128::from(length.as_nanos()) / 1_000_000_000;
            return actions.push(Action::Send { direction: 0, bytes: (bits as u64 / 8).max(1) });
        }
        self.play_until(now);
        if self.playing_since.is_none() {
            self.playing_since = Some(now);
            self.seen.startup = Some(now.since(self.begun));
        }
        self.buffered += length;
        self.stalled = false;
        self.seen.segments += 1;
        self.seen.bitrates_sum += rate;
        let full = Span::from_nanos(self.video.buffer_ns);
        match (self.buffered + length).saturating_sub(full) {
            Span::ZERO => self.wake(now, actions),
            surplus => actions.push(Action::Wake(now + surplus)),
        }
    }

    /// Plays buffered video until `now`, and stalls while there is none.
    fn play_until(&mut self, now: Time) {
        let passed = now.since(self.at);
        self.at = now;
        if self.playing_since.is_none() {
            return;
        }
        let dry = passed.saturating_sub(self.buffered);
        self.buffered = self.buffered.saturating_sub(passed);
        if dry > Span::ZERO {
            self.seen.stalls += u64::from(!self.stalled);
            self.seen.stall += dry;
            self.stalled = true;
        }
    }

    /// The warm-up is over: statistics start again, except the startup time.
    pub(super) fn forget(&mut self, now: Time) {
        self.play_until(now);
        self.seen = Viewing { startup: self.seen.startup, ..Viewing::default() };
    }

    /// Statistics of the viewer until `now`.
    pub(super) fn viewing(&self, now: Time) -> Viewing {
        let mut player = self.clone();
        player.play_until(now);
        player.seen
    }
}

/// BBA-0, algorithm 1: keep the bitrate until the map of the buffer reaches the next one up or down.
fn next_level(video: &Video, level: usize, buffered: Span) -> usize {
    let rates = &video.rates_bps;
    let top = rates.len() - 1;
    let (buffered, full) = (buffered.as_nanos(), video.buffer_ns);
    // 90 s and 216 s of 240 s.
    let (reservoir, upper) = (full / 8 * 3, full / 10 * 9);
    if buffered <= reservoir {
        return 0;
    }
    if buffered >= upper {
        return top;
    }
    let (lowest, highest) = (u128::from(rates[0]), u128::from(rates[top]));
    let share = (u128::from(buffered - reservoir), u128::from(upper - reservoir));
    let map = (lowest + (highest - lowest) * share.0 / share.1) as u64;
    if map >= rates[(level + 1).min(top)] {
        // The largest below the map.
        rates.iter().rposition(|rate| *rate < map).unwrap_or(0)
    } else if map <= rates[level.saturating_sub(1)] {
        // The smallest above it.
        rates.iter().position(|rate| *rate > map).unwrap_or(top)
    } else {
        level
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn video() -> Video {
        Video {
            rates_bps: vec![1_000_000, 2_000_000, 3_000_000, 5_000_000],
            segment_ns: 4_000_000_000,
            buffer_ns: 240_000_000_000,
        }
    }

    fn at(seconds: u64) -> Time {
        Time::ZERO + Span::from_secs(seconds)
    }

    fn level_at(seconds: u64, level: usize) -> usize {
        next_level(&video(), level, Span::from_secs(seconds))
    }

    #[test]
    fn the_bitrate_follows_the_map_of_the_buffer_with_hysteresis() {
        // The map rises from 1 Mbit/s at 90 s to 5 Mbit/s at 216 s: 31.5 s for each Mbit/s.
        assert_eq!(level_at(90, 3), 0);
        assert_eq!(level_at(216, 0), 3);
        // 2 Mbit/s at 121.5 s.
        assert_eq!(level_at(121, 0), 0);
        assert_eq!(level_at(122, 0), 1);
        // While rising, 3 Mbit/s once the map reaches it (153 s); the largest rate below the map.
        assert_eq!(level_at(152, 1), 1);
        assert_eq!(level_at(154, 1), 2);
        // While falling from 3 Mbit/s, nothing until the map has reached 2 Mbit/s; then the smallest above it.
        assert_eq!(level_at(125, 2), 2);
        assert_eq!(level_at(121, 2), 1);
    }

    #[test]
    fn a_player_starts_with_its_first_segment_and_stalls_when_its_buffer_is_empty() {
        let mut player = Player::new(&video());
        let mut actions = Vec::new();
        player.wake(at(1), &mut actions);
        player.arrived(1, at(2), &mut actions);
        // 4 s of 1 Mbit/s.
        assert_eq!(actions[1], Action::Send { direction: 0, bytes: 500_000 });
        player.arrived(0, at(3), &mut actions);
        assert_eq!(player.viewing(at(3)).startup, Some(Span::from_secs(2)));
        assert_eq!(actions[2], Action::Send { direction: 1, bytes: 300 });
        // The segment lasts until second 7; the next comes in second 10.
        assert_eq!(player.viewing(at(7)).stalls, 0);
        assert_eq!((player.viewing(at(9)).stall, player.viewing(at(9)).stalls), (Span::from_secs(2), 1));
        player.arrived(0, at(10), &mut actions);
        player.arrived(0, at(11), &mut actions);
        let seen = player.viewing(at(12));
        assert_eq!((seen.stall, seen.stalls, seen.segments), (Span::from_secs(3), 1, 3));
        assert_eq!(player.buffered, Span::from_secs(7));
    }

    #[test]
    fn a_stall_that_began_in_the_warm_up_is_not_a_new_one_after_it() {
        let mut player = Player::new(&video());
        player.wake(at(0), &mut Vec::new());
        player.arrived(0, at(1), &mut Vec::new());
        player.forget(at(7));
        let seen = player.viewing(at(9));
        assert_eq!(
            (seen.stall, seen.stalls, seen.startup),
            (Span::from_secs(2), 0, Some(Span::from_secs(1)))
        );
    }

    #[test]
    fn a_full_buffer_makes_the_player_wait_until_a_segment_fits() {
        let mut player = Player::new(&Video { buffer_ns: 10_000_000_000, ..video() });
        let mut actions = Vec::new();
        player.wake(at(0), &mut actions);
        player.arrived(0, at(0), &mut actions);
        actions.clear();
        // 8 s buffered; the next 4 s fit when 6 s are left.
        player.arrived(0, at(0), &mut actions);
        assert_eq!(actions, [Action::Wake(at(2))]);
    }
}
