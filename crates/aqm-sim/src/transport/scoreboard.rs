//! The sender's scoreboard: the state of its outstanding segments (RFC 6675).

use aqm_core::units::{Span, Time};
use std::collections::VecDeque;

/// RFC 6675 section 2: DupThresh.
pub(crate) const DUP_THRESH: usize = 3;

/// One outstanding segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment {
    pub(crate) start: u64,
    /// When it was sent, the last time if more than once.
    pub(crate) sent_at: Time,
    pub(crate) length: u32,
    sacked: bool,
    lost: bool,
    /// Sent again since it was last found lost.
    pub(crate) retransmitted: bool,
    /// Sent again at any time: what arrives may be an earlier copy.
    pub(crate) resent: bool,
}

impl Segment {
    pub(crate) fn end(&self) -> u64 {
        self.start + u64::from(self.length)
    }
}

/// What a look for overdue segments found.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LossDetection {
    /// Whether any is lost.
    pub(crate) any: bool,
    /// When the last of the lost retransmissions was sent.
    pub(crate) resent_at: Option<Time>,
    /// When to look again.
    pub(crate) reordering_timer: Option<Time>,
}

/// Outstanding segments in order. `pipe` is kept up to date rather than recounted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scoreboard {
    segments: VecDeque<Segment>,
    /// RFC 6675 section 4: bytes believed to be in the network.
    pipe: u64,
    sacked_bytes: u64,
    /// End of the highest byte that a SACK block covered.
    highest_sacked: u64,
    /// Everything below that is not sacked is marked lost.
    lost_below: u64,
    /// No segment that starts below the first, or at or above the second, is lost and waits for its retransmission.
    retransmit_from: u64,
    retransmit_to: u64,
    /// Blocks of the last acknowledgment: most of a block is already known.
    seen: [(u64, u64); 4],
    /// How often segments were marked lost.
    marked_lost: u64,
}

/// When a segment counts as overdue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Overdue {
    /// Only segments sent before this one.
    pub(crate) newest: (Time, u64),
    /// Time from sending a segment until it is lost.
    pub(crate) after: Span,
}

impl Scoreboard {
    /// Bytes believed to be in the network.
    pub(crate) fn pipe(&self) -> u64 {
        self.pipe
    }

    /// Whether nothing is outstanding.
    pub(crate) fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// When the first outstanding segment was sent, the last time if more than once.
    pub(crate) fn first_sent_at(&self) -> Option<Time> {
        self.segments.front().map(|segment| segment.sent_at)
    }

    /// Outstanding segments.
    pub(crate) fn len(&self) -> usize {
        self.segments.len()
    }

    /// Bytes that SACK blocks cover.
    pub(crate) fn sacked_bytes(&self) -> u64 {
        self.sacked_bytes
    }

    /// How often segments were marked lost, those already lost included.
    pub(crate) fn marked_lost(&self) -> u64 {
        self.marked_lost
    }

    /// A new segment was sent.
    pub(crate) fn on_sent(&mut self, start: u64, length: u32, now: Time) {
        self.segments.push_back(Segment {
            start,
            sent_at: now,
            length,
            sacked: false,
            lost: false,
            retransmitted: false,
            resent: false,
        });
        self.pipe += u64::from(length);
    }

    /// Everything below `ack` has arrived. Returns how many of its bytes no SACK block had reported before. `arrived`
    /// sees these segments.
    pub(crate) fn on_cumulative_ack(&mut self, ack: u64, mut arrived: impl FnMut(&Segment)) -> u64 {
        let mut delivered = 0;
        while let Some(segment) = self.segments.front()
            && segment.end() <= ack
        {
            let length = u64::from(segment.length);
            if segment.sacked {
                self.sacked_bytes -= length;
            } else {
                self.pipe -= in_pipe(segment);
                delivered += length;
                arrived(segment);
            }
            self.segments.pop_front();
        }
        delivered
    }

    /// A SACK block reports `start..end`. Returns how many of its bytes are newly reported. `arrived` sees these
    /// segments.
    pub(crate) fn on_sack(&mut self, start: u64, end: u64, mut arrived: impl FnMut(&Segment)) -> u64 {
        // The known part of a block needs no second look.
        let known = self.seen.iter_mut().find(|seen| seen.0 == start && seen.1 <= end);
        let from = match known {
            Some(seen) => std::mem::replace(&mut seen.1, end),
            None => {
                self.seen.rotate_right(1);
                self.seen[0] = (start, end);
                start
            }
        };
        if from == end {
            return 0; // Most acknowledgments repeat blocks (RFC 2018 section 4).
        }
        let mut news = 0;
        let first = self.index_of(from);
        for segment in self.segments.range_mut(first..) {
            if segment.end() > end {
                break;
            }
            if !segment.sacked {
                self.pipe -= in_pipe(segment);
                segment.sacked = true;
                self.sacked_bytes += u64::from(segment.length);
                news += u64::from(segment.length);
                arrived(segment);
            }
        }
        self.highest_sacked = self.highest_sacked.max(end);
        news
    }

    /// Index of the first segment that does not start before `seq`. Most segments have the same length, so the index
    /// is guessed from the length of the first; it is searched for only if the guess fails.
    fn index_of(&self, seq: u64) -> usize {
        let Some(front) = self.segments.front() else { return 0 };
        let Some(offset) = seq.checked_sub(front.start) else { return 0 };
        let guess = offset as u32 as usize / front.length.max(1) as usize;
        match self.segments.get(guess) {
            Some(segment) if segment.start == seq => guess,
            _ => self.segments.partition_point(|segment| segment.start < seq),
        }
    }

    /// RFC 6675 section 4, IsLost: with DupThresh segments sacked above it, a segment is lost. Returns whether any is;
    /// `lost` sees them.
    pub(crate) fn detect_losses(&mut self, mut lost: impl FnMut(&Segment)) -> bool {
        if self.sacked_bytes == 0 {
            return false;
        }
        let mut above = 0;
        let mut index = self.index_of(self.highest_sacked);
        while index > 0 && above < DUP_THRESH {
            index -= 1;
            above += usize::from(self.segments[index].sacked);
        }
        if above < DUP_THRESH {
            return false;
        }
        let limit = self.segments[index].start;
        let mut any = false;
        let first = self.index_of(self.lost_below);
        for segment in self.segments.range_mut(first.min(index)..index) {
            if !segment.sacked && !segment.lost {
                segment.lost = true;
                self.pipe -= u64::from(segment.length);
                any = true;
                lost(segment);
            }
        }
        self.lost_below = self.lost_below.max(limit);
        self.retransmit_to = self.retransmit_to.max(limit);
        self.marked_lost += u64::from(any);
        any
    }

    /// RFC 8985 section 6.2 step 5: segments sent before one that arrived, and long enough ago, are lost. `lost` sees
    /// them.
    pub(crate) fn detect_overdue(
        &mut self,
        overdue: Overdue,
        now: Time,
        mut lost: impl FnMut(&Segment),
    ) -> LossDetection {
        let mut found = LossDetection::default();
        let mut index = 0;
        while let Some(segment) = self.segments.get_mut(index) {
            index += 1;
            if (segment.sent_at, segment.end()) >= overdue.newest {
                if segment.retransmitted {
                    continue;
                }
                break; // later segments were sent later still, or were sent again
            }
            if segment.sacked {
                // Nothing in its block is missing: with a hole far behind, most of the window is in one.
                let start = segment.start;
                if let Some(&(_, end)) = self.seen.iter().find(|seen| seen.0 <= start && start < seen.1) {
                    index = index.max(self.index_of(end));
                }
                continue;
            }
            if segment.lost && !segment.retransmitted {
                continue;
            }
            let lost_at = segment.sent_at + overdue.after;
            if lost_at > now {
                found.reordering_timer = found.reordering_timer.max(Some(lost_at));
                continue;
            }
            if segment.retransmitted {
                found.resent_at = found.resent_at.max(Some(segment.sent_at));
            }
            self.pipe -= in_pipe(segment);
            (segment.lost, segment.retransmitted) = (true, false);
            self.retransmit_from = self.retransmit_from.min(segment.start);
            self.lost_below = self.lost_below.max(segment.end());
            self.retransmit_to = self.retransmit_to.max(segment.end());
            found.any = true;
            lost(segment);
        }
        self.marked_lost += u64::from(found.any);
        found
    }

    /// Sends the newest segment again as a probe, although nothing says that it is lost.
    pub(crate) fn probe_newest(&mut self, now: Time) -> Option<(u64, u32)> {
        let segment = self.segments.back_mut()?;
        if !segment.retransmitted {
            self.pipe += u64::from(segment.length);
        }
        (segment.retransmitted, segment.resent, segment.sent_at) = (true, true, now);
        Some((segment.start, segment.length))
    }

    /// Marks the oldest segment lost (three duplicate ACKs or a partial ACK without SACK). Returns false if it
    /// already was.
    pub(crate) fn mark_first_lost(&mut self) -> bool {
        let Some(segment) = self.segments.front_mut() else { return false };
        self.retransmit_from = self.retransmit_from.min(segment.start);
        if segment.lost || segment.sacked {
            return false;
        }
        segment.lost = true;
        self.retransmit_to = self.retransmit_to.max(segment.end());
        self.pipe -= u64::from(segment.length);
        self.marked_lost += 1;
        true
    }

    /// The timer expired: everything not sacked counts as lost and is to be sent again (RFC 6675 section 5.1). `lost`
    /// sees what was not lost before.
    pub(crate) fn mark_all_lost(&mut self, mut lost: impl FnMut(&Segment)) {
        for segment in self.segments.iter_mut().filter(|segment| !segment.sacked) {
            if !segment.lost || segment.retransmitted {
                lost(segment);
            }
            (segment.lost, segment.retransmitted) = (true, false);
        }
        self.pipe = 0;
        self.marked_lost += 1;
        self.lost_below = self.segments.back().map_or(self.lost_below, Segment::end);
        (self.retransmit_from, self.retransmit_to) = (0, self.retransmit_to.max(self.lost_below));
    }

    /// The recovery was spurious: nothing was lost, and retransmitted segments are in flight once more only. What it sent
    /// again may be found lost, and be sent again, by a recovery that follows (RFC 6675 section 5 (4.3) sends what is lost).
    pub(crate) fn mark_none_lost(&mut self) {
        let mut pipe = 0;
        for segment in self.segments.iter_mut().filter(|segment| !segment.sacked) {
            (segment.lost, segment.retransmitted) = (false, false);
            pipe += u64::from(segment.length);
        }
        self.pipe = pipe;
        (self.lost_below, self.retransmit_from, self.retransmit_to) = (0, 0, 0);
    }

    /// Whether a segment that has not arrived is lost, sent again or not.
    pub(crate) fn has_lost(&self) -> bool {
        self.marked().any(|segment| segment.lost && !segment.sacked)
    }

    /// How many outstanding segments SACK has reported, are lost (sent again or not), and are under way once more.
    pub(crate) fn counts(&self) -> (u64, u64, u64) {
        let count =
            |is: fn(&Segment) -> bool| self.segments.iter().filter(|segment| is(segment)).count() as u64;
        let open = |is: fn(&Segment) -> bool| {
            self.segments.iter().filter(|segment| !segment.sacked && is(segment)).count() as u64
        };
        (count(|segment| segment.sacked), open(|segment| segment.lost), open(|segment| segment.retransmitted))
    }

    /// The segments among which those that are lost lie.
    fn marked(&self) -> impl Iterator<Item = &Segment> {
        self.segments.iter().take_while(|segment| segment.start < self.lost_below)
    }

    /// Segments that are lost and not yet sent again.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = &Segment> {
        self.segments.iter().filter(|segment| segment.lost && !segment.retransmitted && !segment.sacked)
    }

    /// Frees memory that a larger window needed: the ring runs through all its memory, and so through the caches.
    pub(crate) fn shrink(&mut self) {
        self.segments.shrink_to(2 * self.segments.len());
    }

    /// RFC 6675 section 4, NextSeg rule 1: the first lost segment not yet sent again. It counts as sent.
    #[inline]
    pub(crate) fn next_retransmission(&mut self, room: u64, now: Time) -> Option<(u64, u32)> {
        // So it is for most of a recovery.
        if self.retransmit_from >= self.retransmit_to {
            return None;
        }
        self.find_retransmission(room, now)
    }

    fn find_retransmission(&mut self, room: u64, now: Time) -> Option<(u64, u32)> {
        let first = self.index_of(self.retransmit_from);
        for segment in self.segments.range_mut(first..) {
            if segment.lost && !segment.retransmitted && !segment.sacked {
                if u64::from(segment.length) > room {
                    self.retransmit_from = segment.start;
                    return None;
                }
                (segment.retransmitted, segment.resent, segment.sent_at) = (true, true, now);
                self.pipe += u64::from(segment.length);
                self.retransmit_from = segment.end();
                return Some((segment.start, segment.length));
            }
            if !segment.lost && segment.start >= self.lost_below {
                break;
            }
        }
        self.retransmit_from = self.retransmit_from.max(self.retransmit_to);
        None
    }
}

fn in_pipe(segment: &Segment) -> u64 {
    let copies = u64::from(!segment.lost) + u64::from(segment.retransmitted);
    copies * u64::from(segment.length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ten_segments() -> Scoreboard {
        let mut board = Scoreboard::default();
        (0..10).for_each(|i| board.on_sent(i * 100, 100, Time::ZERO));
        board
    }

    #[test]
    fn a_segment_is_lost_once_three_above_it_are_sacked() {
        let mut board = ten_segments();
        assert!(board.on_sack(100, 300, |_| ()) > 0);
        assert!(!board.detect_losses(|_| ()));
        assert!(board.on_sack(100, 400, |_| ()) > 0);
        assert!(board.detect_losses(|_| ()));
        // Ten sent, three sacked, one lost: six in the pipe.
        assert_eq!(board.pipe(), 600);
        assert_eq!(board.next_retransmission(u64::MAX, Time::ZERO), Some((0, 100)));
        assert_eq!(board.next_retransmission(u64::MAX, Time::ZERO), None);
        assert_eq!(board.pipe(), 700);
    }

    #[test]
    fn a_repeated_block_reports_nothing_new() {
        let mut board = ten_segments();
        assert!(board.on_sack(200, 400, |_| ()) > 0);
        assert_eq!(board.on_sack(200, 400, |_| ()), 0);
        assert_eq!(board.sacked_bytes(), 200);
    }

    #[test]
    fn holes_between_sacked_blocks_are_retransmitted_in_order() {
        let mut board = ten_segments();
        board.on_sack(100, 200, |_| ());
        board.on_sack(300, 400, |_| ());
        board.on_sack(500, 1000, |_| ());
        board.detect_losses(|_| ());
        let again: Vec<_> = std::iter::from_fn(|| board.next_retransmission(u64::MAX, Time::ZERO)).collect();
        assert_eq!(again, [(0, 100), (200, 100), (400, 100)]);
    }

    #[test]
    fn every_hole_between_blocks_is_overdue() {
        let mut board = ten_segments();
        board.on_sack(100, 300, |_| ());
        board.on_sack(400, 700, |_| ());
        board.on_sack(400, 900, |_| ()); // grows by what is now known
        let overdue = Overdue { newest: (Time::ZERO, 900), after: Span::ZERO };
        let mut lost = Vec::new();
        let found = board.detect_overdue(overdue, Time::ZERO, |segment| lost.push(segment.start));
        assert_eq!((found.any, found.reordering_timer, lost), (true, None, vec![0, 300]));
        // Ten sent, seven sacked, two lost: the last is in the pipe.
        assert_eq!(board.pipe(), 100);
    }

    #[test]
    fn every_way_to_find_segments_lost_is_counted() {
        let mut board = ten_segments();
        board.on_sack(200, 500, |_| ());
        assert_eq!(board.marked_lost(), 0);
        board.detect_losses(|_| ());
        assert_eq!(board.marked_lost(), 1);
        board.detect_losses(|_| ());
        assert_eq!(board.marked_lost(), 1);
        let overdue = Overdue { newest: (Time::ZERO, 700), after: Span::ZERO };
        board.detect_overdue(overdue, Time::ZERO, |_| ());
        assert_eq!(board.marked_lost(), 2);
        board.mark_all_lost(|_| ());
        assert_eq!(board.marked_lost(), 3);
        let mut board = ten_segments();
        board.mark_first_lost();
        assert_eq!(board.marked_lost(), 1);
    }

    #[test]
    fn a_timeout_empties_the_pipe_and_keeps_what_was_sacked() {
        let mut board = ten_segments();
        board.on_sack(500, 600, |_| ());
        board.mark_all_lost(|_| ());
        assert_eq!(board.pipe(), 0);
        let again: Vec<_> = std::iter::from_fn(|| board.next_retransmission(u64::MAX, Time::ZERO)).collect();
        assert_eq!(again.len(), 9);
        board.on_cumulative_ack(1000, |_| ());
        assert!(board.is_empty());
        assert_eq!(board.pipe(), 0);
    }

    #[test]
    fn after_an_undone_timeout_no_segment_is_looked_at_for_losses() {
        let mut board = Scoreboard::default();
        (0..10_000).for_each(|i| board.on_sent(i * 100, 100, Time::ZERO));
        board.mark_all_lost(|_| ());
        assert_eq!(board.marked().count(), 10_000);
        board.next_retransmission(u64::MAX, Time::ZERO);
        board.mark_none_lost();
        // The window is acknowledged piece by piece, and each time asked whether anything is lost.
        let looked_at: usize = (1..10_000)
            .map(|i| {
                board.on_cumulative_ack(i * 100, |_| ());
                board.marked().count()
            })
            .sum();
        assert_eq!((looked_at, board.has_lost(), board.pipe()), (0, false, 100));
    }

    #[test]
    fn a_loss_after_an_undone_timeout_is_found_and_sent_again() {
        let mut board = ten_segments();
        board.mark_all_lost(|_| ());
        assert_eq!(board.next_retransmission(u64::MAX, Time::ZERO), Some((0, 100)));
        board.mark_none_lost();
        assert_eq!(board.next_retransmission(u64::MAX, Time::ZERO), None);
        board.on_sack(200, 500, |_| ());
        let mut lost = Vec::new();
        assert!(board.detect_losses(|segment| lost.push(segment.start)));
        assert_eq!(lost, [0, 100]);
        let again: Vec<_> = std::iter::from_fn(|| board.next_retransmission(u64::MAX, Time::ZERO)).collect();
        assert_eq!(again, [(0, 100), (100, 100)]);
    }

    #[test]
    fn what_an_undone_recovery_had_sent_again_is_found_among_later_losses() {
        let mut board = ten_segments();
        // Holes at the second and the sixth: both are lost and sent again.
        for (start, end) in [(0, 100), (200, 500), (600, 1000)] {
            board.on_sack(start, end, |_| ());
        }
        assert!(board.detect_losses(|_| ()));
        while board.next_retransmission(u64::MAX, Time::ZERO).is_some() {}
        board.mark_none_lost();
        assert_eq!((board.has_lost(), board.pipe()), (false, 200));
        board.on_sent(1000, 100, Time::ZERO);
        board.on_sack(1000, 1100, |_| ());
        assert!(board.detect_losses(|_| ()));
        let again: Vec<_> = std::iter::from_fn(|| board.next_retransmission(u64::MAX, Time::ZERO)).collect();
        assert_eq!((again, board.pipe()), (vec![(100, 100), (500, 100)], 200));
    }
}
