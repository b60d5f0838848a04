//! A transport of sixty lines on the bench: it passes under PIE. This file may be copied into a package's `tests`.

use aqm_testbed::{Ecn, Endpoint, Ends, Info, InputError, MINIMAL, Path, Span, Stack, Task, Time, Values};
use std::collections::{BTreeSet, VecDeque};

/// Numbered datagrams that are not repeated; each is answered. The window grows by a packet each round trip and is halved for loss.
struct Sender {
    backs_off: bool,
    next: u64,
    window: f64,
    outstanding: BTreeSet<u64>,
    /// Losses of what was sent before this one have been reacted to.
    recovered: u64,
    silent_at: Time,
}

impl Endpoint for Sender {
    fn on_datagram(&mut self, answer: &[u8], _: Ecn, now: Time) {
        let number = u64::from_le_bytes(answer.try_into().unwrap());
        self.silent_at = now + Span::from_millis(1000);
        self.outstanding.remove(&number);
        self.window += 1.0 / self.window;
        // What three later ones have overtaken is lost.
        while let Some(lost) = self.outstanding.first().copied().filter(|first| first + 3 <= number) {
            self.outstanding.remove(&lost);
            if self.backs_off && lost >= self.recovered {
                self.window = (self.window / 2.0).max(1.0);
                self.recovered = self.next;
            }
        }
    }

    fn next_datagram(&mut self, datagram: &mut Vec<u8>, now: Time) -> Option<Ecn> {
        let begins = self.next > 0 || now >= self.silent_at;
        if !begins || self.outstanding.len() as f64 >= self.window {
            return None;
        }
        datagram.extend(self.next.to_le_bytes());
        datagram.resize(1200, 0);
        self.silent_at = now + Span::from_millis(1000);
        self.outstanding.insert(self.next);
        self.next += 1;
        Some(Ecn::NotEct)
    }

    fn deadline(&mut self) -> Option<Time> {
        Some(self.silent_at)
    }

    fn on_timer(&mut self, _: Time) {
        self.outstanding.clear();
        self.window = self.window.min(10.0);
    }

    fn delivered(&self) -> u64 {
        0
    }

    fn window(&self) -> Option<u64> {
        Some((self.window * 1200.0) as u64)
    }
}

#[derive(Default)]
struct Receiver {
    answers: VecDeque<Vec<u8>>,
    bytes: u64,
}

impl Endpoint for Receiver {
    fn on_datagram(&mut self, datagram: &[u8], _: Ecn, _: Time) {
        self.bytes += datagram.len() as u64;
        self.answers.push_back(datagram[..8].to_vec());
    }

    fn next_datagram(&mut self, datagram: &mut Vec<u8>, _: Time) -> Option<Ecn> {
        *datagram = self.answers.pop_front()?;
        Some(Ecn::NotEct)
    }

    fn deadline(&mut self) -> Option<Time> {
        None
    }

    fn on_timer(&mut self, _: Time) {}

    fn delivered(&self) -> u64 {
        self.bytes
    }
}

pub(crate) struct Aimd {
    pub(crate) backs_off: bool,
}

impl Stack for Aimd {
    fn info(&self) -> &'static Info {
        static INFO: Info = Info { name: "aimd", summary: "the toy of this test", ..MINIMAL };
        &INFO
    }

    fn connect(&self, _: &Values, task: Task) -> Result<Ends, InputError> {
        let sender = Sender {
            backs_off: self.backs_off,
            next: 0,
            window: 10.0,
            outstanding: BTreeSet::new(),
            recovered: 0,
            silent_at: task.start,
        };
        Ok(Ends { client: Box::new(sender), server: Box::<Receiver>::default() })
    }
}

pub(crate) fn path(backs_off: bool) -> Path {
    Path::new("10mbit", "40ms").aqm("pie").buffer("200p").stack(Aimd { backs_off }).duration("8s")
}

#[test]
fn two_flows_share_a_link_under_pie() {
    let run = path(true).flows("2*aimd").run(1);
    run.goodput("aimd").at_least(8.0);
    run.loss("aimd").at_most(0.02);
    run.qdelay_mean().at_most(30.0);
    run.fairness().at_least(0.8);
}

#[test]
fn the_same_seed_makes_the_same_run() {
    let goodput = || path(true).flows("2*aimd").run(1).goodput("aimd").value();
    assert_eq!(goodput(), goodput());
}
