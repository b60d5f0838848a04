//! Replays events to one congestion control, and writes its window after each: the Rust half of its oracle.
//!
//! Standard input, times in nanoseconds, sizes in bytes. What follows in pairs may be left out:
//!
//! ```text
//! tcp cubic mss 1000b           a congestion control and its keys
//! random 17 4                   64-bit numbers that replace the random stream, repeated (may be left out)
//! ack 50000000 1000 50000000 marked 500 flight 9000 una 1000 next 9000 note 20000
//!                               time, newly acknowledged, smoothed round trip; marked of these, outstanding before,
//!                               everything below arrived, everything below was sent, the receiver's report
//! limited 60000000 1000 50000000   the same, of an application that does not use the window
//! congestion 100000             a loss or a mark; outstanding
//! timeout 5000                  the timer expires
//! again 5000                    and once more for the same segment
//! idle                          the connection sends again after idle time
//! sample 50000000 1000 rate 20000 prior 0 acked 1000 lost 0 rtt 50000000 srtt 50000000 inflight 0 before 1000
//!                               time, delivered over the connection's life; the sample of the delivery rate in
//!                               bytes per second, and what was in flight; `limited 1` by the application, `full 1`
//!                               by the window, `recovery` 1 fast, 2 after a timeout, `lostby` and `tx` of the sample
//! lost 50000000 9000 1000 tx 9000 lostby 1000 delivered 9000
//!                               time, start and length of a lost segment; in flight when it was sent, lost since
//! spurious                      nothing was lost in this recovery
//! restart 60000000 srtt 50000000   the application of a control with samples sends again
//! ```
//!
//! Standard output: congestion window, slow start threshold and pacing rate (`-` without one), one line per event.

use aqm_core::random::Random;
use aqm_core::units::{Span, Time};
use aqm_sim::transport::{Acked, IsolatedControl, LostSegment, Moment, RateSample, Recovery, Tcp};
use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::io::Read as _;

fn main() -> Result<(), Box<dyn Error>> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    let mut lines = text.lines().peekable();
    let spec = lines.next().and_then(|line| line.strip_prefix("tcp ")).ok_or("expected a line 'tcp ...'")?;
    let random = match lines.peek().and_then(|line| line.strip_prefix("random ")) {
        Some(numbers) => {
            let numbers = numbers.split_whitespace().map(str::parse).collect::<Result<Vec<u64>, _>>()?;
            lines.next();
            Random::script(numbers)
        }
        None => Random::seeded(0),
    };
    let mut control = IsolatedControl::new(&Tcp::parse(spec)?, random);
    let mut answers = String::new();
    for line in lines {
        play(line, &mut control).map_err(|error| format!("'{line}': {error}"))?;
        let rate = control.rate().map_or_else(|| "-".to_owned(), |rate| rate.to_string());
        writeln!(answers, "{} {} {rate}", control.cwnd(), control.ssthresh())?;
    }
    print!("{answers}");
    Ok(())
}

/// Replays one line.
fn play(line: &str, control: &mut IsolatedControl) -> Result<(), Box<dyn Error>> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let named =
        words.iter().skip(1).position(|word| word.parse::<u64>().is_err()).map_or(words.len(), |at| at + 1);
    let numbers = words[1..named].iter().map(|word| word.parse()).collect::<Result<Vec<u64>, _>>()?;
    let mut pairs = BTreeMap::new();
    for pair in words[named..].chunks(2) {
        let [name, value] = pair else { return Err("has a name without a value".into()) };
        pairs.insert(*name, value.parse::<u64>()?);
    }
    let get = |name: &str| pairs.get(name).copied().unwrap_or(0);
    let span = |name: &str| Span::from_nanos(get(name));
    match (words[0], numbers.as_slice()) {
        (event @ ("ack" | "limited"), &[now, bytes, rtt]) => {
            let acked = Acked::new(bytes, Time::from_nanos(now), Span::from_nanos(rtt));
            let flight = pairs.get("flight").copied().unwrap_or(bytes);
            let (marked, una, next, report) = (get("marked"), get("una"), get("next"), get("note") as u32);
            control.acknowledge(&Acked { marked, flight, una, next, report, ..acked }, event == "ack");
        }
        ("sample", &[now, delivered]) => {
            let rs = RateSample {
                delivery_rate: get("rate") as f64,
                is_app_limited: get("limited") == 1,
                delivered: delivered.saturating_sub(get("prior")),
                prior_delivered: get("prior"),
                newly_acked: get("acked"),
                newly_lost: get("lost"),
                tx_in_flight: get("tx"),
                lost: get("lostby"),
                rtt: pairs.contains_key("rtt").then(|| span("rtt")),
            };
            let recovery = match get("recovery") {
                0 => Recovery::Open,
                1 => Recovery::Fast,
                _ => Recovery::Timeout,
            };
            let (inflight, prior_inflight) = (get("inflight"), get("before"));
            let now = Time::from_nanos(now);
            control.sample(
                rs,
                delivered,
                get("full") == 1,
                Moment { now, prior_inflight, inflight, recovery, srtt: span("srtt") },
            );
        }
        ("restart", &[now]) => {
            let now = Time::from_nanos(now);
            let recovery = Recovery::Open;
            control.restart(Moment { now, prior_inflight: 0, inflight: 0, recovery, srtt: span("srtt") });
        }
        ("lost", &[now, start, length]) => control.lost(&LostSegment {
            start,
            length,
            is_app_limited: get("limited") == 1,
            tx_in_flight: get("tx"),
            lost: get("lostby"),
            delivered: get("delivered"),
            now: Time::from_nanos(now),
        }),
        ("spurious", []) => control.spurious(),
        ("congestion", &[flight]) => control.congestion(flight),
        ("timeout" | "again", &[flight]) => control.timeout(flight, words[0] == "timeout"),
        ("idle", []) => control.idle(),
        _ => return Err("is no event".into()),
    }
    Ok(())
}
