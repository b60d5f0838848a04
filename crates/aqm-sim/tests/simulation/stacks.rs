//! Ends that belong to others: their bytes arrive as they were sent, in time, and what they do wrong ends nobody else's run.

use crate::scenarios::{MS, SECOND, bottleneck, bulk, cbr, tcp};
use aqm_core::input_error::InputError;
use aqm_core::packet::Ecn;
use aqm_core::units::{Span, Time};
use aqm_sim::report::{Monitor, Report, RunError};
use aqm_sim::scenario::inputs::Inputs;
use aqm_sim::scenario::wire::Loss;
use aqm_sim::scenario::{Capacity, FlowGroup, Scenario, Transport, TransportSpec};
use aqm_sim::stack::{Endpoint, Ends, Info, MINIMAL, Stack, Task};
use aqm_sim::transport::Values;
use std::sync::{Arc, Mutex};

/// What a test wants an end to do wrong.
#[derive(Clone, Copy, PartialEq)]
enum Wrong {
    Nothing,
    SendsNothingAtAll,
    IsDueForEver,
    SaysMoreThanCame,
}

/// Numbers of datagrams, and when each was received.
type Seen = Arc<Mutex<Vec<(u64, Time)>>>;

/// Sends `left` numbered datagrams, a millisecond apart; the other end keeps what it gets, and answers each.
struct Counting {
    wrong: Wrong,
    left: u64,
    next: Option<Time>,
    answers: u64,
    sent: u64,
    bytes: u64,
    seen: Seen,
}

impl Endpoint for Counting {
    fn on_datagram(&mut self, datagram: &[u8], ecn: Ecn, now: Time) {
        let number = u64::from_le_bytes(datagram[..8].try_into().unwrap());
        assert!(datagram[8..].iter().all(|byte| *byte == number as u8), "the bytes of another datagram");
        assert_eq!(ecn, Ecn::Ect1);
        self.bytes += datagram.len() as u64;
        self.seen.lock().unwrap().push((number, now));
        self.answers += u64::from(self.next.is_none());
    }

    fn next_datagram(&mut self, datagram: &mut Vec<u8>, now: Time) -> Option<Ecn> {
        assert!(datagram.is_empty());
        let length = if self.answers > 0 {
            self.answers -= 1;
            20
        } else {
            self.next.filter(|at| *at <= now && self.left > 0)?;
            self.left -= 1;
            self.next = Some(now + Span::from_millis(1));
            1000 + self.sent as usize % 400
        };
        if self.wrong == Wrong::SendsNothingAtAll {
            return Some(Ecn::Ect1);
        }
        datagram.extend(self.sent.to_le_bytes());
        datagram.resize(length, self.sent as u8);
        self.sent += 1;
        Some(Ecn::Ect1)
    }

    fn deadline(&mut self) -> Option<Time> {
        if self.wrong == Wrong::IsDueForEver { Some(Time::ZERO) } else { self.next.filter(|_| self.left > 0) }
    }

    fn on_timer(&mut self, _: Time) {}

    fn delivered(&self) -> u64 {
        if self.wrong == Wrong::SaysMoreThanCame { 2 * self.bytes } else { self.bytes }
    }
}

struct Toy(Wrong, Seen);

impl Stack for Toy {
    fn info(&self) -> &'static Info {
        static INFO: Info = Info { name: "toy", summary: "numbered datagrams", ..MINIMAL };
        &INFO
    }

    fn connect(&self, _: &Values, task: Task) -> Result<Ends, InputError> {
        let end = |next, seen| {
            let Toy(wrong, _) = self;
            Box::new(Counting { wrong: *wrong, left: 500, next, answers: 0, sent: 0, bytes: 0, seen })
        };
        Ok(Ends { client: end(Some(task.start), Seen::default()), server: end(None, Arc::clone(&self.1)) })
    }
}

fn toy() -> FlowGroup {
    let named = TransportSpec { name: "toy".to_owned(), fields: serde_json::Map::new() };
    FlowGroup { start_ns: (0, 0), transport: Transport::Stack(named), ..bulk("toy", 1, tcp("cubic")) }
}

fn run(wrong: Wrong, scenario: &Scenario) -> (Result<Report, RunError>, Vec<(u64, Time)>) {
    let (mut inputs, seen) = (Inputs::default(), Seen::default());
    inputs.add_stack(Arc::new(Toy(wrong, Arc::clone(&seen)))).unwrap();
    let report = aqm_sim::run(scenario, &inputs, 1, &Monitor::default());
    let seen = seen.lock().unwrap().clone();
    (report, seen)
}

fn alone(aqm: &str) -> Scenario {
    Scenario { flows: vec![toy()], duration_ns: 2 * SECOND, warmup_ns: 100 * MS, ..bottleneck(aqm) }
}

#[test]
fn datagrams_arrive_as_they_were_sent_after_their_bits_and_the_propagation() {
    let (report, seen) = run(Wrong::Nothing, &alone("codel"));
    report.unwrap();
    assert_eq!(seen.len(), 500);
    for (place, (number, at)) in (0..).zip(seen) {
        assert_eq!(number, place);
        // Half of 40 ms, and 1000 bytes or more with 42 of headers through 1 Gbit/s, 100 Mbit/s and 1 Gbit/s.
        let bits = (1042 + number % 400) * 8;
        let expected = Span::from_millis(20) + Span::from_nanos(bits * 12);
        let delay = at.since(Time::ZERO + Span::from_millis(number));
        assert!(delay.as_nanos().abs_diff(expected.as_nanos()) < 10, "{number}: {delay}, not {expected}");
    }
}

#[test]
fn what_queues_drop_and_wires_lose_is_accounted_for() {
    let scenario = Scenario {
        capacity: Capacity::RateBps(8_000_000),
        flows: vec![toy(), cbr("cbr", 6_000_000, 1000)],
        loss: Loss::Random(0.05),
        ..alone("pie limit 10p")
    };
    let (report, seen) = run(Wrong::Nothing, &scenario);
    report.unwrap();
    assert!((50..480).contains(&seen.len()), "{}", seen.len());
}

#[test]
fn an_end_that_breaks_the_rules_is_named_and_holds_nothing_up() {
    let error = |wrong| match run(wrong, &alone("fifo")).0 {
        Ok(report) => report.warnings.join("; "),
        Err(error) => error.to_string(),
    };
    assert!(error(Wrong::SendsNothingAtAll).contains("a datagram of 0 bytes: it must have 1 to 65507"));
    assert!(error(Wrong::SaysMoreThanCame).contains("came in datagrams"));
    let scenario = Scenario { duration_ns: 10 * MS, warmup_ns: MS, ..alone("fifo") };
    let report = run(Wrong::IsDueForEver, &scenario).0.unwrap();
    assert!(report.events < 50_000, "{} events", report.events);
}
