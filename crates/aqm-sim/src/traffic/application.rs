//! Applications: both ends of a connection react to data that arrives. Sans I/O: events in, actions out.
//!
//! An application sends in the directions of its TCP connections, numbered from zero.

use super::action::{Action, Wait};
use super::client::Client;
use super::dialogue::Dialogue;
use super::durations::Durations;
use super::player::{Player, Viewing};
use aqm_core::units::Time;

/// An application, client and server in one.
#[derive(Clone, Debug)]
pub(crate) enum Application {
    /// Asks, waits for all answers, pauses, asks again.
    Client(Box<Client>),
    /// Streams video.
    Player(Box<Player>),
    /// Replays a recorded conversation.
    Dialogue(Box<Dialogue>),
}

impl Application {
    /// The start, or the time of the last [`Action::Wake`].
    pub(crate) fn wake(&mut self, now: Time, actions: &mut Vec<Action>) {
        match self {
            Application::Client(client) => client.wake(now, actions),
            Application::Player(player) => player.wake(now, actions),
            Application::Dialogue(dialogue) => dialogue.wake(now, actions),
        }
    }

    /// Everything sent on `direction` so far has arrived.
    pub(crate) fn arrived(&mut self, direction: usize, now: Time, actions: &mut Vec<Action>) {
        match self {
            Application::Client(client) => client.arrived(direction, now, actions),
            Application::Player(player) => player.arrived(direction, now, actions),
            Application::Dialogue(dialogue) => dialogue.arrived(now, actions),
        }
    }

    /// The warm-up is over: statistics start again.
    pub(crate) fn forget(&mut self, now: Time) {
        match self {
            Application::Client(client) => client.done.clear(),
            Application::Player(player) => player.forget(now),
            Application::Dialogue(dialogue) => dialogue.done.clear(),
        }
    }

    /// What the user waits for, and the waiting times.
    pub(crate) fn waits(&self) -> Option<(Wait, &Durations)> {
        match self {
            Application::Client(client) => Some((client.waited, &client.done)),
            Application::Player(_) => None,
            Application::Dialogue(dialogue) => Some((Wait::Exchange, &dialogue.done)),
        }
    }

    /// Whether the user waits for something now.
    pub(crate) fn is_waiting(&self) -> bool {
        match self {
            Application::Client(client) => client.is_waiting(),
            Application::Player(_) | Application::Dialogue(_) => false,
        }
    }

    /// Statistics of a viewer until `now`.
    pub(crate) fn viewing(&self, now: Time) -> Option<Viewing> {
        match self {
            Application::Client(_) | Application::Dialogue(_) => None,
            Application::Player(player) => Some(player.viewing(now)),
        }
    }
}
