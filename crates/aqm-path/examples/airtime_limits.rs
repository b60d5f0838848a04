//! What a channel asks of its host and takes while airtime is limited (AQL), for a comparison with another implementation.
//!
//! Reads lines from stdin: `limits LOW HIGH DEVICE` in microseconds; `station MODE [AT_US MODE]...` for each station, in the order
//! of their numbers; `arrival TIME_US CATEGORY NODE TO OCTETS`, in the order of time, with `ap` for the access point.
//! Prints what happened, in its order: `ask CATEGORY BITS` (for each station, whether it may have more), `take CATEGORY TO
//! OCTETS TIME_US`, `sent CATEGORY TO PACKETS` for packets that were acknowledged in the order in which they were taken.
#![allow(clippy::disallowed_methods, reason = "it reads what it is given")]

use aqm_core::stations::Stations;
use aqm_core::units::{Span, Time};
use aqm_path::mac::airtime::Band;
use aqm_path::mac::aql::Limits;
use aqm_path::mac::category::Category;
use aqm_path::mac::channel::{
    ACCESS_POINT, Channel, Config, Msdu, Next, Outcome, Queue, Source, Station, Transmission,
};
use aqm_path::mac::errors::{Errors, ModeTrace};
use std::collections::{BTreeMap, VecDeque};
use std::io::Read;

/// A packet: its receiver and octets.
type Packet = (u8, u32);

struct Host {
    stations: u8,
    queues: BTreeMap<Queue, VecDeque<Packet>>,
    taken: u64,
}

impl Source for Host {
    fn peek(&mut self, queue: Queue, _now: Time, except: Stations) -> Option<u8> {
        let next = self.queues.get(&queue).and_then(|packets| packets.front()).map(|packet| packet.0)?;
        if queue.node != ACCESS_POINT {
            return (!except.contains(next)).then_some(next);
        }
        let bits = (0..self.stations).map(|station| if except.contains(station) { '0' } else { '1' });
        println!("ask {} {}", queue.category as u8, bits.collect::<String>());
        (!except.contains(next)).then_some(next)
    }

    fn take(&mut self, queue: Queue, to: u8, now: Time) -> Option<Msdu> {
        let packets = self.queues.get_mut(&queue)?;
        let (next, octets) = *packets.front()?;
        if next != to {
            return None;
        }
        packets.pop_front();
        if queue.node == ACCESS_POINT {
            println!("take {} {to} {octets} {}", queue.category as u8, now.as_nanos() / 1_000);
        }
        self.taken += 1;
        Some(Msdu { id: self.taken, octets })
    }

    fn waits(&mut self, queue: Queue, to: u8) -> bool {
        self.queues.get(&queue).is_some_and(|packets| packets.iter().any(|packet| packet.0 == to))
    }

    fn ended(&mut self, sent: &Transmission) {
        if sent.queue.node == ACCESS_POINT && sent.outcome == Outcome::Answered {
            println!("sent {} {} {}", sent.queue.category as u8, sent.to, sent.acknowledged);
        }
    }
}

fn micros(text: &str) -> Span {
    Span::from_micros(text.parse().expect("microseconds"))
}

fn station(words: &[&str]) -> Station {
    let mode = |text: &str| text.parse().expect("a mode");
    let mut steps = vec![(Time::ZERO, mode(words[0]))];
    steps.extend(words[1..].chunks(2).map(|pair| (Time::ZERO + micros(pair[0]), mode(pair[1]))));
    Station {
        modes: ModeTrace::new(steps).expect("in the order of time"),
        errors: Errors::None,
        is_group: false,
    }
}

fn main() {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).expect("it is text");
    // Nothing is lost for good: what leaves the device is what was acknowledged.
    let mut config =
        Config { driver: 64, retries: 255, lifetime: Span::from_secs(1_000), ..Config::of(Band::Ghz5) };
    let (mut stations, mut arrivals) = (Vec::new(), VecDeque::new());
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[0] {
            "limits" => {
                let [low, high, device] = [1, 2, 3].map(|place| micros(words[place]));
                config.aql = Some(Limits { low, high, device });
            }
            "station" => stations.push(station(&words[1..])),
            _ => {
                let node = |text: &str| text.parse().unwrap_or(ACCESS_POINT);
                let category = Category::ALL[words[2].parse::<usize>().expect("a category")];
                let queue = Queue { node: node(words[3]), category };
                let octets: u32 = words[5].parse().expect("octets");
                arrivals.push_back((Time::ZERO + micros(words[1]), queue, (node(words[4]), octets)));
            }
        }
    }
    let mut host = Host { stations: stations.len() as u8, queues: BTreeMap::new(), taken: 0 };
    let mut channel = Channel::new(config, stations, 1, "limits").expect("a channel");
    let mut now = Time::ZERO;
    loop {
        while arrivals.front().is_some_and(|(time, ..)| *time <= now) {
            let Some((_, queue, packet)) = arrivals.pop_front() else { break };
            host.queues.entry(queue).or_default().push_back(packet);
            channel.wake(queue, now, &mut host);
        }
        let next = channel.poll(now, &mut host);
        assert!(channel.take_dropped().is_empty(), "nothing is given up");
        channel.check(now).expect("its books are right");
        let arrival = arrivals.front().map(|(time, ..)| *time);
        match (next, arrival) {
            (Next::Begun | Next::Ended, _) => {}
            (Next::At(time), Some(arrival)) => now = time.min(arrival),
            (Next::At(time), None) => now = time,
            (Next::Idle, Some(arrival)) => now = arrival,
            (Next::Idle, None) => return,
        }
    }
}
