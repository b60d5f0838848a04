//! Applications: what both ends of a connection do when something has arrived. Sans I/O: events in, wishes out.
//!
//! An application has pipes, each one direction of a TCP connection, numbered from zero.

use super::dialogue::EXCHANGE;
use super::{Client, Dialogue, Durations, Player, Viewing};
use aqm_core::units::Time;

/// An application, client and server in one.
#[derive(Clone, Debug)]
pub(crate) enum Application {
    /// Asks, waits for everything, pauses, asks again.
    Client(Box<Client>),
    /// Streams video.
    Player(Box<Player>),
    /// Says again what was recorded.
    Dialogue(Box<Dialogue>),
}

/// What an application wants done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wish {
    /// So many bytes sent on a pipe; the application hears of it when all of them have arrived.
    Send { pipe: usize, bytes: u64 },
    /// To be woken. One call at a time is outstanding.
    Wake(Time),
}

impl Application {
    /// The start, or the time of the last [`Wish::Wake`].
    pub(crate) fn wake(&mut self, now: Time, wishes: &mut Vec<Wish>) {
        match self {
            Application::Client(client) => client.wake(now, wishes),
            Application::Player(player) => player.wake(now, wishes),
            Application::Dialogue(dialogue) => dialogue.wake(now, wishes),
        }
    }

    /// Everything sent on `pipe` so far has arrived.
    pub(crate) fn arrived(&mut self, pipe: usize, now: Time, wishes: &mut Vec<Wish>) {
        match self {
            Application::Client(client) => client.arrived(pipe, now, wishes),
            Application::Player(player) => player.arrived(pipe, now, wishes),
            Application::Dialogue(dialogue) => dialogue.arrived(now, wishes),
        }
    }

    /// The warm-up is over: the record begins anew.
    pub(crate) fn forget(&mut self, now: Time) {
        match self {
            Application::Client(client) => client.done.clear(),
            Application::Player(player) => player.forget(now),
            Application::Dialogue(dialogue) => dialogue.done.clear(),
        }
    }

    /// How long the user waited each time, and what that is called.
    pub(crate) fn waits(&self) -> Option<(&'static Waited, &Durations)> {
        match self {
            Application::Client(client) => Some((client.waited, &client.done)),
            Application::Player(_) => None,
            Application::Dialogue(dialogue) => Some((&EXCHANGE, &dialogue.done)),
        }
    }

    /// What a viewer got until `now`.
    pub(crate) fn viewing(&self, now: Time) -> Option<Viewing> {
        match self {
            Application::Client(_) | Application::Dialogue(_) => None,
            Application::Player(player) => Some(player.viewing(now)),
        }
    }
}

/// What a user waits for, and the metrics that tell how long.
#[derive(Debug, PartialEq)]
pub(crate) struct Waited {
    /// Name of the histogram.
    pub(crate) histogram: &'static str,
    /// Mean; a name in `_s` is in seconds, one in `_ms` in milliseconds.
    pub(crate) mean: &'static str,
    /// A high percentile, and which.
    pub(crate) high: (&'static str, f64),
    /// How often it was waited for in vain no longer.
    pub(crate) completed: &'static str,
}
