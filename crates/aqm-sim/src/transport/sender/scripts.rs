//! Runs the scripts in `scripts/`, in the manner of packetdrill: acknowledgments in, segments out, with times,
//! computed by hand.
//!
//! A script has one event per line: milliseconds, then the event; `#` starts a comment. Segments have 100 bytes and
//! are numbered from 0. A first line with `tcp` sets up the connection, as in `Tcp::parse`.
//!
//! ```text
//! tcp newreno sack off
//!   0  write all            # the application hands over this many segments, or more than will be sent
//!   0  > 0-9                # the sender sends segments 0 to 9 at 0 ms: exactly these, or the script fails
//!  50  < 2 sack 4-5,8 ece   # everything before segment 2 has arrived, and 4, 5 and 8; `ece`: with ECN-Echo
//!  50  < 3..7               # five acknowledgments, one after another
//!  51  < 8 echo 12 ce 300   # echoes the timestamp of 12 ms, not of a round trip ago; CE on 300 bytes so far
//! 250  timer                # the timer is due now, not before, and fires
//! 250  > 8 9/cwr 3/plain    # `/cwr`: with CWR; `/plain`: Not-ECT on a connection with ECN
//! 250  = cwnd 5.5 ssthresh 5 deadline 650 retransmissions 1 timeouts 1 recoveries 0
//! ```
//!
//! A line `rtt 44` changes the round-trip time that acknowledgments echo, initially 50 ms. `cwnd` and `ssthresh` are
//! in segments, rounded to the decimals in the script.
#![allow(clippy::disallowed_methods, reason = "a test may open files")]

use super::*;
use crate::transport::testing::{MSS, settings};
use aqm_core::units::Span;
use std::path::Path;

struct Player {
    sender: Sender,
    rtt: Span,
    /// AccECN's counter.
    ce: u32,
    /// Sent segments that no line has expected yet.
    sent: Vec<String>,
}

impl Player {
    fn line(&mut self, line: &str) -> Result<(), String> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (head, rest) = words.split_first().expect("empty lines are skipped");
        if *head == "tcp" {
            self.sender = Sender::new(&connection(rest)?, Random::seeded(1));
            return Ok(());
        }
        if *head == "rtt" {
            self.rtt = milliseconds(rest.first().ok_or("rtt needs a time")?)?;
            return Ok(());
        }
        let now = Time::ZERO + milliseconds(head)?;
        let (event, rest) = rest.split_first().ok_or("a time alone is no event")?;
        if !matches!(*event, ">" | "=") {
            self.nothing_left()?;
        }
        match *event {
            "write" => self.sender.write(match rest.first() {
                Some(&"all") => u64::MAX,
                Some(count) => whole(count)? * MSS,
                None => return Err("write needs a number of segments".to_owned()),
            }),
            "<" => return self.acknowledge(rest, now),
            "timer" => {
                let due = self.sender.deadline();
                if due != Some(now) {
                    return Err(format!("the timer is due at {due:?}"));
                }
                self.sender.on_timer(now);
            }
            ">" => {
                self.send(now);
                let expected =
                    rest.iter().map(|item| segments(item)).collect::<Result<Vec<_>, _>>()?.concat();
                let sent = std::mem::take(&mut self.sent);
                return if sent == expected { Ok(()) } else { Err(format!("sent {}", sent.join(" "))) };
            }
            "=" => return rest.chunks(2).try_for_each(|pair| self.compare(pair)),
            other => return Err(format!("'{other}' is no event")),
        }
        self.send(now);
        Ok(())
    }

    fn send(&mut self, now: Time) {
        let ecn = self.sender.settings.feedback.is_ecn();
        while let Some(segment) = self.sender.poll(now) {
            let plain = if ecn && segment.ecn == Ecn::NotEct { "/plain" } else { "" };
            let cwr = if segment.cwr { "/cwr" } else { "" };
            self.sent.push(format!("{}{plain}{cwr}", segment.seq / MSS));
        }
    }

    fn nothing_left(&self) -> Result<(), String> {
        if self.sent.is_empty() { Ok(()) } else { Err(format!("before this, sent {}", self.sent.join(" "))) }
    }

    fn acknowledge(&mut self, words: &[&str], now: Time) -> Result<(), String> {
        let (numbers, options) = words.split_first().ok_or("an acknowledgment needs a number")?;
        let (first, last) = numbers.split_once("..").unwrap_or((numbers, numbers));
        let echo = Time::ZERO + now.since(Time::ZERO + self.rtt);
        let mut ack = Acknowledgment { echo, ..Acknowledgment::default() };
        let number = whole(first)?;
        let mut options = options.iter();
        while let Some(option) = options.next() {
            if *option == "ece" {
                ack.ece = true;
                continue;
            }
            let value = options.next().ok_or(format!("{option} needs a value"))?;
            match *option {
                "sack" => {
                    for block in value.split(',') {
                        let (start, end) = range(block)?;
                        let offset = |segment: u64| ((segment - number) * MSS) as u32;
                        ack.sack[usize::from(ack.sack_count)] = (offset(start), offset(end + 1));
                        ack.sack_count += 1;
                    }
                }
                "echo" => ack.echo = Time::ZERO + milliseconds(value)?,
                "ce" => self.ce = whole(value)? as u32,
                other => return Err(format!("'{other}' is nothing that an acknowledgment has")),
            }
        }
        ack.report = self.ce;
        for number in number..=whole(last)? {
            self.sender.on_ack(&Acknowledgment { ack: number * MSS, ..ack }, now);
            self.send(now);
        }
        Ok(())
    }

    fn compare(&self, pair: &[&str]) -> Result<(), String> {
        let [name, expected] = pair else { return Err("a comparison needs a name and a value".to_owned()) };
        let losses = self.sender.losses();
        let in_segments = |bytes: u64| {
            let decimals = expected.split_once('.').map_or(0, |(_, decimals)| decimals.len());
            format!("{:.decimals$}", bytes as f64 / MSS as f64)
        };
        let value = match *name {
            "cwnd" => in_segments(self.sender.cwnd()),
            "ssthresh" => in_segments(self.sender.control.window.ssthresh),
            "deadline" => {
                let due = self.sender.deadline().ok_or("no timer runs")?;
                due.since(Time::ZERO).as_millis_f64().to_string()
            }
            "retransmissions" => losses.retransmissions.to_string(),
            "timeouts" => losses.timeouts.to_string(),
            "recoveries" => losses.recoveries.to_string(),
            other => return Err(format!("'{other}' cannot be compared")),
        };
        if value == *expected { Ok(()) } else { Err(format!("{name} is {value}")) }
    }
}

/// The connection of `words`, with the usual segments and every one of them acknowledged.
fn connection(words: &[&str]) -> Result<Tcp, String> {
    Tcp::parse(&words.join(" "))?.with("mss", &format!("{MSS}b"))?.with("delack", "off")
}

fn whole(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("'{text}' is not a number"))
}

fn milliseconds(text: &str) -> Result<Span, String> {
    let ms: f64 = text.parse().map_err(|_| format!("'{text}' is not a time in milliseconds"))?;
    Ok(Span::from_nanos((ms * 1e6) as u64))
}

fn range(text: &str) -> Result<(u64, u64), String> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    Ok((whole(first)?, whole(last)?))
}

/// `3-5/cwr`, written out.
fn segments(text: &str) -> Result<Vec<String>, String> {
    let (numbers, flags) = text.split_at(text.find('/').unwrap_or(text.len()));
    let (first, last) = range(numbers)?;
    Ok((first..=last).map(|number| format!("{number}{flags}")).collect())
}

fn play(script: &str) -> Result<(), String> {
    let mut player = Player {
        sender: Sender::new(&settings("newreno"), Random::seeded(1)),
        rtt: Span::from_millis(50),
        ce: 0,
        sent: Vec::new(),
    };
    for (number, line) in script.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if !line.is_empty() {
            player.line(line).map_err(|problem| format!("line {}, '{line}': {problem}", number + 1))?;
        }
    }
    player.nothing_left()
}

#[test]
fn every_script_passes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/transport/sender/scripts");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(paths.len() >= 16, "{paths:?}");
    let wrong: Vec<String> = paths
        .iter()
        .filter_map(|path| {
            let problem = play(&std::fs::read_to_string(path).unwrap()).err()?;
            Some(format!("{}: {problem}", path.file_name().unwrap_or_default().display()))
        })
        .collect();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn a_script_that_is_wrong_fails_where_it_is_wrong() {
    for (script, problem) in [
        ("0 write 2\n0 > 0", "line 2, '0 > 0': sent 0 1"),
        ("0 write 2", "before this"),
        ("0 write 2\n1 = cwnd 10", "before this"),
        ("0 write 2\n0 > 0-1\n199 timer", "line 3, '199 timer': the timer is due"),
        ("0 = cwnd 11", "cwnd is 10"),
        ("tcp cubik", "did you mean 'cubic'"),
        ("tcp cubic iww 10", "did you mean 'iw'"),
        ("0 > 0", "line 1"),
    ] {
        let answer = play(script).unwrap_err();
        assert!(answer.contains(problem), "{script}: {answer}");
    }
}
