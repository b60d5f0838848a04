//! A kind of link that is made up: bursts of several packets to one station, retries, and an outcome of each packet. It runs
//! through the checks of every run without a line of its own anywhere else.

use crate::extension::Extension;
use crate::report::{Monitor, RunError};
use crate::reporting::results::report;
use crate::scenario::Scenario;
use crate::scenario::inputs::Inputs;
use crate::simulation::build::Setup;
use aqm_core::params::{Kind, ParamSpec, Value as Default};
use aqm_core::random::Random;
use aqm_core::registry::DISCIPLINES;
use aqm_core::spec::Spec;
use aqm_core::units::{Bytes, Rate, Span, Time};
use aqm_path::device::burst::{Device, Frame, Next, Outcome, Queues, Transmitted, Whom};
use aqm_path::kind::{Capacity, LinkKind, Service};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};

const SECOND: u64 = 1_000_000_000;

/// Up to `most` packets of one station go at once, behind a preamble. Each fails by chance: it goes back, and after so many
/// tries it is lost.
struct Trains {
    most: usize,
    rate: Rate,
    preamble: Span,
    failure: f64,
    tries: u16,
    random: Random,
    ready: VecDeque<u32>,
    failed: BTreeMap<u32, u16>,
    fault: Option<Fault>,
    bursts: u64,
}

/// What may be wrong with a device.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    /// The hundredth burst leaves a packet out that was taken.
    Forgotten,
    /// ... has a packet twice.
    Doubled,
    /// ... has a packet of another number.
    Misnumbered,
    /// ... begins before it was asked.
    Early,
    /// ... ends with its beginning.
    NoTime,
    /// ... has more airtime than time.
    Airtime,
    /// ... has packets that are out after its end.
    Late,
    /// ... has packets out of order.
    Disorder,
    /// ... sends a packet without an attempt.
    NoAttempt,
    /// ... has no packets, though it took some.
    Empty,
    /// ... is announced as a wait.
    SaysWait,
    /// ... is announced as idleness.
    SaysIdle,
    /// The device waits for a time that is over.
    Past,
    /// It forgets a port that has something to send.
    Deaf,
    /// It lets what came back lie.
    BackForgotten,
}

const FAULTS: [Fault; 15] = [
    Fault::Forgotten,
    Fault::Doubled,
    Fault::Misnumbered,
    Fault::Early,
    Fault::NoTime,
    Fault::Airtime,
    Fault::Late,
    Fault::Disorder,
    Fault::NoAttempt,
    Fault::Empty,
    Fault::SaysWait,
    Fault::SaysIdle,
    Fault::Past,
    Fault::Deaf,
    Fault::BackForgotten,
];

impl Trains {
    fn new(most: usize, failure: f64, rate: Rate, random: Random) -> Trains {
        Trains {
            most,
            rate,
            preamble: Span::from_micros(100),
            failure,
            tries: 3,
            random,
            ready: VecDeque::new(),
            failed: BTreeMap::new(),
            fault: None,
            bursts: 0,
        }
    }

    fn outcome(&mut self, id: u32) -> Outcome {
        if self.random.uniform() >= self.failure {
            self.failed.remove(&id);
            return Outcome::Delivered;
        }
        let failed = self.failed.entry(id).or_default();
        *failed += 1;
        if *failed < self.tries {
            return Outcome::Requeued;
        }
        self.failed.remove(&id);
        Outcome::Lost
    }

    /// A burst with these packets.
    fn burst(&mut self, now: Time, train: Vec<Frame>, sent: &mut Vec<Transmitted>) -> Next {
        let mut out = now + self.preamble;
        for frame in train {
            let airtime = self.rate.time_for(Bytes::new(frame.length.into()));
            out += airtime;
            let outcome = self.outcome(frame.id);
            sent.push(Transmitted { frame, out, airtime, attempts: 1, outcome });
        }
        Next::Burst { start: now, end: out }
    }

    /// Puts a fault into a burst.
    fn spoil(&self, fault: Fault, now: Time, next: Next, sent: &mut Vec<Transmitted>) -> Next {
        let Next::Burst { start, end } = next else { return next };
        match fault {
            Fault::Forgotten => drop(sent.pop()),
            Fault::Doubled => sent.push(sent[0]),
            Fault::Misnumbered => sent[0].frame.id ^= 1,
            Fault::Early => return Next::Burst { start: Time::from_nanos(start.as_nanos() - 1), end },
            Fault::NoTime => return Next::Burst { start, end: start },
            Fault::Airtime => sent[0].airtime += end.since(start),
            Fault::Late => sent.iter_mut().for_each(|one| one.out += Span::from_secs(1)),
            Fault::Disorder => {
                let last = sent.len() - 1;
                sent[last].out = start;
            }
            Fault::NoAttempt => sent[0].attempts = 0,
            Fault::Empty => sent.clear(),
            Fault::SaysWait => return Next::WaitUntil(end),
            Fault::SaysIdle => return Next::Idle,
            Fault::Past => {
                sent.clear();
                return Next::WaitUntil(now);
            }
            Fault::Deaf | Fault::BackForgotten => {}
        }
        next
    }
}

impl Device for Trains {
    fn ready(&mut self, port: u32, _now: Time, _queues: &mut dyn Queues) {
        if !self.ready.contains(&port) {
            self.ready.push_back(port);
        }
    }

    fn next(&mut self, now: Time, queues: &mut dyn Queues, sent: &mut Vec<Transmitted>) -> Next {
        while let Some(port) = self.ready.pop_front() {
            let Some(first) = queues.pull(port, Whom::Any) else { continue };
            let mut train = vec![first];
            while train.len() < self.most
                && let Some(frame) = queues.pull(port, Whom::Station(first.station))
            {
                train.push(frame);
            }
            self.bursts += 1;
            let strikes = self.bursts >= 100;
            if !(strikes && self.fault == Some(Fault::Deaf)) {
                self.ready.push_back(port);
            }
            let next = self.burst(now, train, sent);
            return match self.fault.filter(|_| strikes) {
                Some(Fault::BackForgotten) if sent.iter().any(|one| one.outcome == Outcome::Requeued) => {
                    self.ready.clear();
                    next
                }
                Some(fault) => self.spoil(fault, now, next, sent),
                None => next,
            };
        }
        Next::Idle
    }

    fn reorders(&self) -> bool {
        true
    }
}

fn group(name: &str, class: u16, transport: &Value, source: &Value) -> Value {
    json!({"name": name, "count": 2, "class": class, "start_ns": [0, 0], "transport": transport, "source": source})
}

fn scenario(aqm: &str, flows: &[Value]) -> Value {
    json!({
        "aqm": aqm, "capacity": {"rate_bps": 20_000_000}, "rtt_ns": 20_000_000, "duration_ns": 3 * SECOND,
        "warmup_ns": SECOND / 2, "sample_ns": SECOND / 10, "flows": flows,
    })
}

/// Two TCP flows to station 0 and a stream of datagrams to station 1.
fn mixed(rate_bps: u64) -> Vec<Value> {
    let tcp =
        serde_json::to_value(crate::scenario::Transport::Tcp(crate::scenario::Tcp::parse("cubic").unwrap()));
    let bulk = json!({"bulk": {"size_bytes": null}});
    vec![
        group("tcp", 0, &tcp.unwrap(), &bulk),
        group(
            "udp",
            1,
            &json!({"udp": {"packet_bytes": 1000, "ecn": "off"}}),
            &json!({"cbr": {"rate_bps": rate_bps}}),
        ),
    ]
}

/// The kind's declaration.
static TRAINS: LinkKind = LinkKind {
    name: "trains",
    summary: "Bursts of packets of one station, with retries",
    reference: "made for the test",
    params: &[
        ParamSpec::new("packets", Kind::Count, Default::Count(4), (1.0, 64.0), "packets at once", "none"),
        ParamSpec::new("failure", Kind::Fraction, Default::Fraction(0.0), (0.0, 1.0), "failed tries", "none"),
        ParamSpec::new("fault", Kind::Count, Default::Count(0), (0.0, 15.0), "which fault, from one", "none"),
    ],
    of_link: &[],
    capacity: |_| Capacity::OfPath,
    stations: None,
    usual: None,
    service: Service::Bursts(|params, site| {
        let (most, failure) = (params.count("packets") as usize, params.number("failure"));
        let mut device = Trains::new(most, failure, site.ports[0].rate, site.random);
        device.fault = FAULTS.get((params.count("fault") as usize).wrapping_sub(1)).copied();
        Ok(Box::new(device))
    }),
};

static EXTENSION: Extension = Extension { link_kinds: &[&TRAINS], ..Extension::NOTHING };

/// Runs over trains; with `back` the reverse link is on the same medium.
fn run(scenario: &Value, kind: &str, back: bool, seed: u64) -> Result<crate::report::Report, RunError> {
    let mut scenario = scenario.clone();
    let link = |from, to, queue| json!({"from": from, "to": to, "rate_bps": 20_000_000, "delay_ns": 5_000_000, "queue": queue});
    let mut links = [link("a", "b", "under_test"), link("b", "a", "plain")];
    (links[0]["medium"], links[0]["kind"]) = (json!("air"), json!(kind));
    if back {
        links[1] = links[0].clone();
        (links[1]["from"], links[1]["to"]) = (json!("b"), json!("a"));
    }
    scenario["topology"] = json!({"links": links, "measured": 0});
    for flows in scenario["flows"].as_array_mut().unwrap() {
        (flows["from"], flows["to"]) = (json!(["a"]), json!(["b"]));
    }
    let scenario: Scenario = serde_json::from_value(scenario).unwrap();
    scenario.check().unwrap();
    let aqm = Spec::parse(&scenario.aqm).unwrap();
    let mut inputs = Inputs::default();
    inputs.add_extension(&EXTENSION);
    let mut setup = Setup::build(&scenario, &aqm, &inputs, seed, &Monitor::default())?;
    let (end, warmup) = (Time::from_nanos(scenario.duration_ns), Time::from_nanos(scenario.warmup_ns));
    setup.simulation.run(end, warmup, Span::from_nanos(scenario.sample_ns), &Monitor::default())?;
    report(setup, end)
}

#[test]
fn trains_carry_what_their_preambles_leave() {
    let flood = scenario("fifo limit 100p", &mixed(40_000_000)[1..]);
    let goodput =
        |most| run(&flood, &format!("trains packets {most}"), false, 1).unwrap().metrics["throughput_mbit"];
    // 1014 bytes take 405.6 us, and a preamble 100 us.
    for (most, share) in [(1, 405.6 / 505.6), (10, 4056.0 / 4156.0)] {
        let found = goodput(most);
        assert!((found / (20.0 * share) - 1.0).abs() < 0.01, "{most}: {found}");
    }
}

#[test]
fn retries_are_neither_departures_nor_drops() {
    let flood = scenario("fifo limit 100p", &mixed(40_000_000)[1..]);
    let report = run(&flood, "trains packets 8 failure 0.2", false, 1).unwrap();
    // Lost is what fails three times; all else was only late.
    let lost = report.metrics["path_loss_ratio"] - report.metrics["loss_ratio"];
    println!("{lost}: {:?}", report.metrics["utilization"]);
    let all = run(&flood, "trains packets 8", false, 1).unwrap();
    let times = all.metrics["throughput_mbit"] / report.metrics["throughput_mbit"];
    // Each packet is sent 1 + 0.2 + 0.04 times.
    assert!((times / 1.24 - 1.0).abs() < 0.05, "{times}");
}

#[test]
fn a_discipline_for_stations_learns_airtime_and_is_asked_for_one_station() {
    // Station 1 floods; airtime_fq gives both half of the time, a FIFO gives nearly all to the flood.
    let share = |aqm| {
        let report =
            run(&scenario(aqm, &mixed(40_000_000)), "trains packets 8 failure 0.05", false, 1).unwrap();
        report.metrics["class.tcp.goodput_mbit"] / report.metrics["goodput_mbit"]
    };
    let (fair, plain) = (share("airtime_fq"), share("fifo limit 100p"));
    assert!(fair > 0.35 && plain < 0.2, "{fair} {plain}");
}

#[test]
fn fifteen_planted_faults_are_reported_by_the_checks_of_a_run() {
    let flows = mixed(15_000_000);
    let trains = |fault: usize| {
        let kind = format!("trains packets 6 failure 0.1 fault {fault}");
        run(&scenario("fifo limit 100p", &flows), &kind, false, 1)
    };
    for (number, fault) in FAULTS.into_iter().enumerate() {
        let outcome = trains(number + 1);
        let problem = outcome.map(drop).expect_err(&format!("{fault:?}")).to_string();
        println!("{fault:?}: {problem}");
    }
    assert!(trains(0).is_ok());
}

/// Every discipline of the registry, with a short queue.
pub(super) fn any_discipline() -> impl Strategy<Value = String> {
    let specs: Vec<String> = DISCIPLINES
        .iter()
        .map(|info| {
            let has_limit = info.params.iter().any(|param| param.name == "limit");
            if has_limit { format!("{} limit 50p", info.name) } else { info.name.to_string() }
        })
        .collect();
    prop::sample::select(specs)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever its queue and its traffic, a kind that nobody knows passes the checks of a run.
    #[test]
    fn random_scenarios_pass_the_checks(
        aqm in any_discipline(),
        most in 1..20_usize,
        failure in 0.0..0.6_f64,
        rate_bps in 100_000..40_000_000_u64,
        back in any::<bool>(),
        seed in 1..1000_u64,
    ) {
        let mut one = scenario(&aqm, &mixed(rate_bps));
        one["duration_ns"] = json!(SECOND);
        run(&one, &format!("trains packets {most} failure {failure}"), back, seed).unwrap();
    }
}
