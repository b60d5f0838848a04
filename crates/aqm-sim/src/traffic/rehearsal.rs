//! An application at work on a network that it has for itself: how much it asks for.

use super::action::Action;
use super::application::Application;
use super::offer::{Load, Terms};
use aqm_core::units::{Bytes, Time};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// After so many actions an application goes on as before.
const MOST_ACTIONS: usize = 2_000;
/// Segments of an initial window (RFC 6928).
const INITIAL_WINDOW: f64 = 10.0;

/// What an application is notified of; a wake-up, or an arrival on a direction.
type Event = Reverse<(Time, usize, Option<usize>)>;

impl Application {
    /// What it sends in each direction from `start` until the end of the terms. Its first `there` directions follow
    /// the data, the others lead back. Data take their time on the line, after those before them, half a round trip,
    /// and one more for each time that the initial window has to double.
    pub(super) fn rehearse(mut self, there: usize, start: Time, terms: &Terms<'_>) -> [Load; 2] {
        let end = Time::ZERO + terms.within;
        let (mut loads, mut free) = ([Load::default(); 2], [start; 2]);
        let mut events: BinaryHeap<Event> = BinaryHeap::from([Reverse((start, 0, None))]);
        let (mut actions, mut count, mut reached) = (Vec::new(), 0, end);
        while let Some(Reverse((now, _, what))) = events.pop() {
            if now >= end {
                break;
            }
            if count >= MOST_ACTIONS && now > start {
                reached = now;
                break;
            }
            match what {
                None => self.wake(now, &mut actions),
                Some(direction) => self.arrived(direction, now, &mut actions),
            }
            for action in actions.drain(..) {
                count += 1;
                match action {
                    Action::Wake(at) => events.push(Reverse((at, count, None))),
                    Action::Send { direction, bytes } => {
                        let side = usize::from(direction >= there);
                        loads[side].messages += 1.0;
                        loads[side].bytes += bytes as f64;
                        let windows = bytes as f64 / (INITIAL_WINDOW * terms.payload);
                        let doublings = libm::log2(windows + 1.0).floor() as u64;
                        free[side] = free[side].max(now) + terms.line.time_for(Bytes::new(bytes));
                        let arrives = free[side] + terms.rtt / 2 + terms.rtt * doublings;
                        events.push(Reverse((arrives, count, Some(direction))));
                    }
                }
            }
        }
        let longer = end.since(start).as_secs_f64() / reached.since(start).as_secs_f64().max(1e-9);
        let most = terms.line.as_bytes_per_sec_f64() * terms.within.as_secs_f64();
        loads.map(|load| {
            // What was asked for last may not fit into the rest of the time.
            let bytes = (load.bytes * longer).min(most);
            Load {
                messages: load.messages * longer * (bytes / (load.bytes * longer).max(1.0)).min(1.0),
                bytes,
            }
        })
    }
}
