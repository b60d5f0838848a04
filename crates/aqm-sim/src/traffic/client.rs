//! Clients that ask, wait for all of the answers, pause, and ask again: file transfers, remote procedure calls, web
//! pages, queries to many servers at once.
//!
//! A round asks for a number of objects over a number of connections, one object at a time on each. A connection asks
//! for the next object when an answer has arrived on it. The round is over with its last answer. Connections stay
//! open.

use super::action::{Action, Wait};
use super::distribution::Distribution;
use super::durations::Durations;
use super::kind::{Key, Over, SourceKind, Takes};
use super::source::{Exchange, MOST_CONNECTIONS, Round};
use aqm_core::params::{Kind as Unit, Value};
use aqm_core::random::Random;
use aqm_core::units::Time;

const SIZE: Key = Key::new(
    "size",
    "size",
    Takes::Drawn(Unit::Bytes),
    "",
    "payload of a file, an answer, an object of a page",
);
const REQUEST: Key =
    Key::new("request", "request", Takes::Drawn(Unit::Bytes), "300b", "payload of a request");
const PAUSE: Key = Key::new(
    "pause",
    "pause",
    Takes::Drawn(Unit::Span),
    "",
    "pause from the end of a file, call, page or query to the next",
);

const fn connections(name: &'static str, default: &'static str, help: &'static str) -> Key {
    Key::new(name, "connections", Takes::One(Unit::Count), default, help).within(1.0, MOST_CONNECTIONS as f64)
}

/// The declaration that most clients share.
const CLIENT: SourceKind =
    SourceKind { over: Over::Tcp, transport: "cubic", form: "rounds", ..SourceKind::PLAIN };

/// The kinds of flow that are a client.
pub(super) static KINDS: &[SourceKind] = &[
    SourceKind {
        name: "ftp",
        summary: "files one after another, with pauses",
        keys: &[SIZE, PAUSE],
        defaults: &[("size", "1mb"), ("pause", "exp(1s)")],
        constants: &[("exchange", Value::Choice(Exchange::Transfer.word()))],
        ..CLIENT
    },
    SourceKind {
        name: "rpc",
        summary: "request and response; the latency of each call is measured",
        keys: &[SIZE, REQUEST, PAUSE],
        defaults: &[("size", "exp(10kb)"), ("pause", "exp(100ms)")],
        constants: &[("exchange", Value::Choice(Exchange::Rpc.word()))],
        ..CLIENT
    },
    SourceKind {
        name: "web",
        summary: "web pages of many objects over parallel connections; page-load times are measured",
        reference: "RFC 7928 section 5.2",
        keys: &[
            SIZE,
            REQUEST,
            Key::new("objects", "objects", Takes::Drawn(Unit::Count), "50", "objects of a page"),
            connections("connections", "6", "connections that load a page"),
            PAUSE,
        ],
        defaults: &[("size", "lognormal(10kb,1)"), ("pause", "exp(5s)")],
        constants: &[("exchange", Value::Choice(Exchange::Page.word()))],
        ..CLIENT
    },
    SourceKind {
        name: "incast",
        summary: "a query that many servers answer at once, repeated; its completion times are measured",
        keys: &[
            SIZE,
            REQUEST,
            connections("servers", "32", "servers that answer, each over a connection"),
            PAUSE,
        ],
        defaults: &[("size", "32kb"), ("pause", "100ms")],
        constants: &[("exchange", Value::Choice(Exchange::Query.word()))],
        ..CLIENT
    },
];

/// One client with its servers. Directions: answers on connection 0, 1, ..., then requests in the same order.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    round: Round,
    random: Random,
    started: Time,
    /// Objects of this round that were not asked for yet.
    unasked: u64,
    /// Answers that have not arrived.
    outstanding: u64,
    /// Size of the answer that each connection owes.
    owed: Vec<u64>,
    pub(super) waited: Wait,
    pub(super) done: Durations,
}

impl Client {
    pub(crate) fn new(round: &Round, random: Random) -> Client {
        let waited = match round.exchange {
            Exchange::Transfer => Wait::Transfer,
            Exchange::Rpc => Wait::Rpc,
            Exchange::Page => Wait::Page,
            Exchange::Query => Wait::Query,
        };
        Client {
            round: round.clone(),
            random,
            started: Time::ZERO,
            unasked: 0,
            outstanding: 0,
            owed: vec![0; round.connections as usize],
            waited,
            done: Durations::default(),
        }
    }

    pub(super) fn wake(&mut self, now: Time, actions: &mut Vec<Action>) {
        self.started = now;
        let one_each = u64::from(self.round.connections);
        let objects = self.round.objects.as_ref();
        self.unasked = objects.map_or(one_each, |objects| objects.sample(&mut self.random).max(1));
        for connection in 0..self.owed.len() {
            self.ask(connection, actions);
        }
    }

    pub(super) fn arrived(&mut self, direction: usize, now: Time, actions: &mut Vec<Action>) {
        let connections = self.owed.len();
        if direction >= connections {
            let connection = direction - connections;
            return actions.push(Action::Send { direction: connection, bytes: self.owed[connection] });
        }
        self.outstanding -= 1;
        self.ask(direction, actions);
        if self.outstanding == 0 {
            self.done.record(now.since(self.started));
            actions.push(Action::Wake(now + self.round.pause.span(&mut self.random)));
        }
    }

    /// Whether a round is not over yet.
    pub(super) fn is_waiting(&self) -> bool {
        self.outstanding > 0
    }

    /// Asks for the next object, if there is one. Its size is drawn here, so that the n-th object is the same in
    /// whatever order answers arrive.
    fn ask(&mut self, connection: usize, actions: &mut Vec<Action>) {
        if self.unasked == 0 {
            return;
        }
        self.unasked -= 1;
        self.outstanding += 1;
        let size = self.round.size.sample(&mut self.random).max(1);
        self.owed[connection] = size;
        actions.push(match &self.round.request {
            Some(request) => {
                let bytes = draw_request(request, &mut self.random);
                Action::Send { direction: self.owed.len() + connection, bytes }
            }
            None => Action::Send { direction: connection, bytes: size },
        });
    }
}

fn draw_request(request: &Distribution, random: &mut Random) -> u64 {
    request.sample(random).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use aqm_core::units::Span;

    fn constant(value: u64) -> Distribution {
        Distribution::Constant { value }
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn page(objects: u64) -> Client {
        let round = Round {
            exchange: Exchange::Page,
            connections: 2,
            objects: Some(constant(objects)),
            request: Some(constant(300)),
            size: constant(5000),
            pause: constant(1_000_000_000),
        };
        Client::new(&round, Random::seeded(1))
    }

    fn actions(act: impl FnOnce(&mut Vec<Action>)) -> Vec<Action> {
        let mut actions = Vec::new();
        act(&mut actions);
        actions
    }

    #[test]
    fn a_page_ends_with_its_last_object_and_the_next_one_follows_after_a_pause() {
        let mut client = page(3);
        let request = |connection: usize| Action::Send { direction: 2 + connection, bytes: 300 };
        let answer = |connection: usize| Action::Send { direction: connection, bytes: 5000 };
        assert_eq!(actions(|out| client.wake(at(0), out)), [request(0), request(1)]);
        assert_eq!(actions(|out| client.arrived(3, at(10), out)), [answer(1)]);
        assert_eq!(actions(|out| client.arrived(2, at(11), out)), [answer(0)]);
        // The third object is asked for on the connection that is free first.
        assert_eq!(actions(|out| client.arrived(1, at(20), out)), [request(1)]);
        assert_eq!(actions(|out| client.arrived(0, at(22), out)), []);
        assert_eq!(actions(|out| client.arrived(3, at(30), out)), [answer(1)]);
        assert!(client.is_waiting());
        assert_eq!(actions(|out| client.arrived(1, at(40), out)), [Action::Wake(at(1040))]);
        assert!(!client.is_waiting());
        assert_eq!((client.done.count, client.done.mean_ms()), (1, 40.0));
        assert_eq!(actions(|out| client.wake(at(1040), out)), [request(0), request(1)]);
    }

    #[test]
    fn a_page_of_one_object_needs_one_connection() {
        let mut client = page(1);
        assert_eq!(actions(|out| client.wake(at(0), out)), [Action::Send { direction: 2, bytes: 300 }]);
    }

    #[test]
    fn the_sizes_of_a_page_do_not_depend_on_which_answer_comes_first() {
        let sizes = |first: usize| {
            let mut client = page(4);
            client.round.size = Distribution::Uniform { low: 1, high: 1_000_000 };
            actions(|out| client.wake(at(0), out));
            let mut sizes = client.owed.clone();
            for connection in [first, 1 - first] {
                actions(|out| client.arrived(connection, at(1), out));
                sizes.push(client.owed[connection]);
            }
            sizes
        };
        assert_eq!(sizes(0), sizes(1));
    }

    #[test]
    fn a_transfer_has_no_request() {
        let mut client = page(1);
        client.round.request = None;
        assert_eq!(actions(|out| client.wake(at(0), out)), [Action::Send { direction: 0, bytes: 5000 }]);
        assert_eq!(actions(|out| client.arrived(0, at(7), out)), [Action::Wake(at(1007))]);
        assert_eq!(client.done.mean_ms(), 7.0);
    }
}
