//! Replay of a recorded conversation: the same turns and think times over a simulated network.

use super::action::Action;
use super::durations::Durations;
use super::kind::{Key, Over, SourceKind, Takes};
use crate::traffic::conversations::Turn;
use aqm_core::units::Time;

/// The one kind of flow that is a recorded conversation.
pub(super) static KINDS: &[SourceKind] = &[SourceKind {
    name: "replay",
    summary: "replay of a capture's TCP connections over simulated TCP, with its sizes and think times",
    over: Over::Tcp,
    transport: "cubic",
    keys: &[Key::new("file", "file", Takes::Capture, "", "capture to replay")],
    must: &["file"],
    form: "replay",
    ..SourceKind::PLAIN
}];

/// Both sides of a conversation. Directions: what the server sends, what the client sends.
#[derive(Clone, Debug)]
pub(crate) struct Dialogue {
    turns: Vec<Turn>,
    next: usize,
    /// When the client last sent something that was not answered yet.
    asked: Option<Time>,
    pub(super) done: Durations,
}

impl Dialogue {
    pub(crate) fn new(turns: Vec<Turn>) -> Dialogue {
        Dialogue { turns, next: 0, asked: None, done: Durations::default() }
    }

    /// The next turn begins.
    pub(super) fn wake(&mut self, now: Time, actions: &mut Vec<Action>) {
        let Some(turn) = self.turns.get(self.next) else { return };
        if turn.by_client {
            self.asked = Some(now);
        }
        actions.push(Action::Send { direction: usize::from(turn.by_client), bytes: turn.bytes });
    }

    pub(super) fn arrived(&mut self, now: Time, actions: &mut Vec<Action>) {
        if !self.turns[self.next].by_client
            && let Some(asked) = self.asked.take()
        {
            self.done.record(now.since(asked));
        }
        self.next += 1;
        if let Some(turn) = self.turns.get(self.next) {
            actions.push(Action::Wake(now + turn.wait));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aqm_core::units::Span;

    #[test]
    fn each_turn_waits_for_the_previous_one_and_an_exchange_is_a_request_and_its_response() {
        let at = |ms| Time::ZERO + Span::from_millis(ms);
        let turn = |by_client, ms, bytes| Turn { by_client, wait: Span::from_millis(ms), bytes };
        let mut dialogue =
            Dialogue::new(vec![turn(true, 0, 300), turn(false, 7, 2000), turn(false, 980, 500)]);
        let mut actions = Vec::new();
        dialogue.wake(at(0), &mut actions);
        dialogue.arrived(at(10), &mut actions);
        dialogue.wake(at(17), &mut actions);
        dialogue.arrived(at(40), &mut actions);
        dialogue.wake(at(1020), &mut actions);
        dialogue.arrived(at(1030), &mut actions);
        let send = |direction, bytes| Action::Send { direction, bytes };
        let expected =
            [send(1, 300), Action::Wake(at(17)), send(0, 2000), Action::Wake(at(1020)), send(0, 500)];
        assert_eq!(actions, expected);
        assert_eq!((dialogue.done.count, dialogue.done.mean_ms()), (1, 40.0));
    }
}
