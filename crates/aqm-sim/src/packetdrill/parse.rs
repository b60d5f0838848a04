//! A script from its words: options, and events each of which begins with its time.

use super::call;
use super::code::Code;
use super::cursor::{Cursor, found};
use super::lexer::{Kind, tokens};
use super::packet;
use super::problem::{Problem, Refusal, shortened};
use super::script::{Action, Event, Options, Script, When};
use super::shell::{Include, commands};
use aqm_core::units::Span;

/// The longest script, in bytes.
const LONGEST: usize = 1 << 20;
/// The latest time of an event, in seconds.
const LATEST: u64 = 1_000_000;

/// Reads `text` of `file`. `include` reads the files that its commands name.
pub(super) fn script(file: &str, text: &str, include: Include<'_>) -> Result<Script, Problem> {
    if text.len() > LONGEST {
        return Err(Problem::new(file, 1, format!("longer than {LONGEST} bytes")));
    }
    let tokens = tokens(text).map_err(|(line, problem)| Problem::new(file, line, problem))?;
    let mut words = Cursor::new(&tokens);
    let mut script = Script::default();
    while words.peek().is_some() {
        let line = words.line();
        if let Err(refusal) = item(&mut words, &mut script, include) {
            return Err(refusal.at(file, line));
        }
    }
    Ok(script)
}

/// An option, or an event.
fn item(words: &mut Cursor<'_>, script: &mut Script, include: Include<'_>) -> Result<(), Refusal> {
    let line = words.line();
    if let Some(Kind::Option(name, value)) = words.peek() {
        words.next();
        return set_option(&mut script.options, name, value);
    }
    // Commands before, between and after the events have no time: they run when their turn comes.
    let when = match words.peek() {
        Some(Kind::Shell(_)) => When::After(Span::ZERO, Span::ZERO),
        _ => when(words)?,
    };
    let action = match words.peek() {
        Some(Kind::Symbol('<')) => {
            words.next();
            Action::Inject(packet::parse(words)?)
        }
        Some(Kind::Symbol('>')) => {
            words.next();
            Action::Expect(packet::parse(words)?)
        }
        Some(Kind::Code(text)) => {
            words.next();
            Action::Check(Code::parse(text)?)
        }
        Some(Kind::Shell(text)) => {
            words.next();
            Action::Shell(commands(text, include).map_err(Refusal::into_unsupported)?)
        }
        Some(Kind::Word(_)) => Action::Call(call::parse(words)?),
        other => return Err(found("an event", other)),
    };
    if matches!(when, When::Any) && !matches!(action, Action::Expect(_)) {
        return Err("only a segment that is expected may come at any time".into());
    }
    script.events.push(Event { line, when, action });
    Ok(())
}

/// `0.1`, `+.1`, `+.1~+.2`, `0...0.1` and `*`.
fn when(words: &mut Cursor<'_>) -> Result<When, Refusal> {
    if words.symbol('*') {
        return Ok(When::Any);
    }
    let relative = words.symbol('+');
    let first = time(words)?;
    let mut last = first;
    if words.symbol('~') {
        if relative {
            words.expect('+')?;
        }
        last = time(words)?;
        if last < first {
            return Err("the last time is before the first".into());
        }
    } else if words.peek() == Some(&Kind::Ellipsis) {
        // When a system call that waits returns: nothing that a sender does.
        words.next();
        words.symbol('+');
        time(words)?;
    }
    Ok(if relative { When::After(first, last) } else { When::At(first, last) })
}

fn time(words: &mut Cursor<'_>) -> Result<Span, Refusal> {
    match words.next() {
        Some(Kind::Number(text)) => Ok(seconds(text)?),
        other => Err(found("a time in seconds", other)),
    }
}

/// A decimal number of seconds, exactly: digits beyond nanoseconds are cut.
fn seconds(text: &str) -> Result<Span, Refusal> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits: String = fraction.chars().chain("000000000".chars()).take(9).collect();
    let whole: Option<u64> = if whole.is_empty() { Some(0) } else { whole.parse().ok() };
    match (whole.filter(|whole| *whole <= LATEST), digits.parse::<u64>()) {
        (Some(whole), Ok(nanos)) => Ok(Span::from_nanos(whole * 1_000_000_000 + nanos)),
        _ => Err(format!("'{}' is no time from 0 to {LATEST} seconds", shortened(text)).into()),
    }
}

fn set_option(options: &mut Options, name: &str, value: &str) -> Result<(), Refusal> {
    let microseconds = || -> Result<Span, Refusal> {
        let number = value.parse::<u64>().ok().filter(|number| *number <= LATEST);
        let number = number.ok_or_else(|| {
            Refusal::from(format!("--{name} is '{}': allowed is 0 to {LATEST}", shortened(value)))
        })?;
        Ok(Span::from_micros(number))
    };
    match name {
        "tolerance_usecs" => options.tolerance = microseconds()?,
        "tolerance_percent" => {
            let percent = value.parse::<f64>().ok().filter(|percent| (0.0..=100.0).contains(percent));
            let percent = percent.ok_or_else(|| {
                Refusal::from(format!("--{name} is '{}': allowed is 0 to 100", shortened(value)))
            })?;
            options.tolerance_share = (percent * 1000.0) as u64;
        }
        "tcp_ts_tick_usecs" => {
            options.tick = microseconds()?;
            if options.tick == Span::ZERO {
                return Err(format!("--{name} is '0': allowed is 1 to {LATEST}").into());
            }
        }
        "strict_segments" => options.strict = true,
        "tcp" => options.tcp = Some(value.trim_matches('"').to_owned()),
        "complete" => options.complete = true,
        // Addresses, the interface and what packetdrill prints: nothing that a sender does.
        "ip_version" | "local_ip" | "remote_ip" | "gateway_ip" | "netmask_ip" | "bind_port"
        | "connect_port" | "mtu" | "verbose" | "dry_run" | "non_fatal" | "init_scripts"
        | "persistent_tun_dev" | "tun_dev" => {}
        _ => return Err(format!("--{} is no option that is known here", shortened(name)).into()),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packetdrill::script::Packet;
    use crate::transport::flags;

    fn read(text: &str) -> Result<Script, Problem> {
        script("a.pkt", text, &|path| Err(format!("{path} is not there")))
    }

    #[test]
    fn each_event_has_its_time() {
        let text = "0 listen(3, 1) = 0\n+.1 < . 1:1(0) ack 1 win 5\n+.3~+.303 > . 1:1(0) ack 1\n* > . 1:1(0) ack 1\n\
                    +0...0.5 connect(3, ..., ...) = 0\n1.5~1.6 > . 1:1(0) ack 1\n+0 %{ assert 1 }%\n`sysctl -q a=1`";
        let script = read(text).unwrap();
        let ms = Span::from_millis;
        let zero = Span::ZERO;
        let times: Vec<When> = script.events.iter().map(|event| event.when).collect();
        assert_eq!(
            times[..3],
            [When::At(zero, zero), When::After(ms(100), ms(100)), When::After(ms(300), ms(303))]
        );
        assert_eq!(times[3..6], [When::Any, When::After(zero, zero), When::At(ms(1500), ms(1600))]);
        assert_eq!(
            script.events.iter().map(|event| event.line).collect::<Vec<_>>(),
            [1, 2, 3, 4, 5, 6, 7, 8]
        );
    }

    #[test]
    fn a_segment_has_its_fields() {
        let script = read("0 < [ect0] SEW 0:0(0) win 100 <mss 1000,nop,nop,sackOK,wscale 7>\n0 > . 1:1001(1000) ack 1 <...>").unwrap();
        let Action::Inject(syn) = &script.events[0].action else { panic!() };
        assert_eq!((syn.flags, syn.window, syn.ack), (flags::SYN | flags::ECE | flags::CWR, Some(100), None));
        let options = syn.options.as_ref().unwrap();
        assert_eq!((options.mss, options.sack_permitted, options.wscale), (Some(1000), true, Some(7)));
        let Action::Expect(data) = &script.events[1].action else { panic!() };
        let expected = Packet { flags: flags::ACK, seq: 1, payload: 1000, ack: Some(1), ..Packet::default() };
        assert_eq!(*data, expected);
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        for (text, problem) in [
            ("\n0 < . 1:1(1) ack 1", "a.pkt:2: the segment 1:1 has 0 bytes, not 1"),
            ("0 < Q 1:1(0)", "a.pkt:1: 'Q' is no flag"),
            ("0 < . 1:1(0) ack 1 <foo 1>", "a.pkt:1: the option 'foo' is not understood"),
            ("0 < . 1:1(0) <sack 1:2", "a.pkt:1: expected ',' or '>', found the end"),
            ("0 frob(3) = 0", "a.pkt:1: the call 'frob' is not modelled"),
            ("0 write(3, ..., 5)", "a.pkt:1: expected '=', found the end"),
            ("0", "a.pkt:1: expected an event, found the end"),
            ("-1 close(3) = 0", "a.pkt:1: '-1' is no time from 0 to 1000000 seconds"),
            ("99999999999999999999 close(3) = 0", "a.pkt:1: '99999999999999999999' is no time"),
            ("+2~+1 > . 1:1(0)", "a.pkt:1: the last time is before the first"),
            ("* close(3) = 0", "a.pkt:1: only a segment that is expected may come at any time"),
            ("--frob=1", "a.pkt:1: --frob is no option that is known here"),
            ("--tolerance_usecs=x", "a.pkt:1: --tolerance_usecs is 'x'"),
            ("--tolerance_percent=nan", "a.pkt:1: --tolerance_percent is 'nan'"),
            ("--tcp_ts_tick_usecs=0", "a.pkt:1: --tcp_ts_tick_usecs is '0'"),
            ("0 < . 1:9999999999(9999999998)", "a.pkt:1: a sequence number is '9999999999'"),
            ("`rm -rf /`", "a.pkt:1: 'rm -rf /': not a command that sets up a sender"),
            ("0 < . 1:1(0) ack 1 <mss 99999999>", "a.pkt:1: mss is '99999999': allowed is 0 to 65535"),
        ] {
            let found = read(text).unwrap_err().to_string();
            assert!(found.starts_with(problem), "{text}: {found}");
        }
        assert!(read(&" ".repeat(LONGEST + 1)).unwrap_err().to_string().contains("longer than"));
    }
}
