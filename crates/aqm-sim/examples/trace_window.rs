//! Replays events to one congestion control, and writes its window after each: the Rust half of its oracle.
//!
//! Standard input, times in nanoseconds, sizes in bytes:
//!
//! ```text
//! tcp cubic mss 1000b           a congestion control and its keys
//! ack 50000000 1000 50000000    time, newly acknowledged, smoothed round trip
//! limited 60000000 1000 50000000   the same, of an application that does not use the window
//! congestion 100000             a loss or a mark; outstanding
//! timeout 5000                  the timer expires
//! again 5000                    and once more for the same segment
//! idle                          the connection sends again after idle time
//! ```
//!
//! Standard output: congestion window and slow start threshold, one line per event.

use aqm_core::units::{Span, Time};
use aqm_sim::transport::{IsolatedControl, Tcp};
use std::error::Error;
use std::fmt::Write as _;
use std::io::Read as _;

fn main() -> Result<(), Box<dyn Error>> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    let mut lines = text.lines();
    let spec = lines.next().and_then(|line| line.strip_prefix("tcp ")).ok_or("expected a line 'tcp ...'")?;
    let mut control = IsolatedControl::new(&Tcp::parse(spec)?);
    let mut windows = String::new();
    for line in lines {
        play(line, &mut control).map_err(|error| format!("'{line}': {error}"))?;
        writeln!(windows, "{} {}", control.cwnd(), control.ssthresh())?;
    }
    print!("{windows}");
    Ok(())
}

/// Replays one line.
fn play(line: &str, control: &mut IsolatedControl) -> Result<(), Box<dyn Error>> {
    let mut words = line.split_whitespace();
    let event = words.next().ok_or("is empty")?;
    let numbers = words.map(str::parse).collect::<Result<Vec<u64>, _>>()?;
    match (event, numbers.as_slice()) {
        ("ack" | "limited", &[now, bytes, rtt]) => {
            control.acknowledge(bytes, Time::from_nanos(now), Span::from_nanos(rtt), event == "ack");
        }
        ("congestion", &[flight]) => control.congestion(flight),
        ("timeout" | "again", &[flight]) => control.timeout(flight, event == "timeout"),
        ("idle", []) => control.idle(),
        _ => return Err("is no event".into()),
    }
    Ok(())
}
