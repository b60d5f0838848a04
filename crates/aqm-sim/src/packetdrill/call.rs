//! A system call as a script writes it: `setsockopt(4, SOL_TCP, TCP_NODELAY, [1], 4) = 0`.

use super::cursor::{Cursor, found};
use super::lexer::Kind;
use super::problem::Refusal;
use super::script::Call;

/// An argument: a number, a name, names joined by `|`, a number in brackets, or anything else.
#[derive(Clone, Debug, PartialEq)]
enum Argument {
    Number(i64),
    Names(Vec<String>),
    Boxed(i64),
    Text(String),
    Other,
}

/// The most that a script writes, in bytes.
const MOST: i64 = 1 << 31;
/// How deep brackets may nest.
const DEEPEST: usize = 20;

pub(super) fn parse(words: &mut Cursor<'_>) -> Result<Call, Refusal> {
    let Some(Kind::Word(name)) = words.next() else { return Err("expected a call".into()) };
    words.expect('(')?;
    let mut arguments = Vec::new();
    let mut written = 0;
    while !words.symbol(')') {
        arguments.push(argument(words, &mut written)?);
        if !words.symbol(',') && words.peek() != Some(&Kind::Symbol(')')) {
            return Err(found("',' or ')'", words.peek()));
        }
    }
    words.expect('=')?;
    let result = match words.next() {
        Some(Kind::Number(text)) => number(text)?,
        // A question mark: any result.
        Some(Kind::Symbol('?')) => 0,
        other => return Err(found("the result, a number", other)),
    };
    // What comes after it: the name of an error, and a note in parentheses.
    if matches!(words.peek(), Some(Kind::Word(_))) {
        words.next();
    }
    if words.symbol('(') {
        while !words.symbol(')') {
            if words.next().is_none() {
                return Err("')' is missing".into());
            }
        }
    }
    interpret(name, &arguments, result, written)
}

fn number(text: &str) -> Result<i64, Refusal> {
    let number = match text.strip_prefix("0x") {
        Some(hex) => i64::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    };
    number
        .filter(|number| number.abs() <= MOST)
        .ok_or_else(|| Refusal::from(format!("'{text}' is no whole number up to {MOST}")))
}

/// An argument; `written` gets the bytes of vectors in it.
fn argument(words: &mut Cursor<'_>, written: &mut i64) -> Result<Argument, Refusal> {
    Ok(match words.next() {
        Some(Kind::Number(text)) => Argument::Number(number(text)?),
        Some(Kind::Word(first)) => {
            let mut names = vec![first.clone()];
            while words.symbol('|') {
                match words.next() {
                    Some(Kind::Word(next)) => names.push(next.clone()),
                    other => return Err(found("a name", other)),
                }
            }
            if matches!(words.peek(), Some(Kind::Symbol('(' | '='))) {
                skip(words, written)?;
                return Ok(Argument::Other);
            }
            Argument::Names(names)
        }
        Some(Kind::Text(text)) => Argument::Text(text.clone()),
        Some(Kind::Ellipsis) => Argument::Other,
        Some(Kind::Symbol('[')) => {
            if let (Some(Kind::Number(text)), Some(Kind::Symbol(']'))) = (words.peek(), words.peek_second()) {
                words.next();
                words.next();
                return Ok(Argument::Boxed(number(text)?));
            }
            brackets(words, written, DEEPEST)?;
            Argument::Other
        }
        Some(Kind::Symbol('{')) => {
            brackets(words, written, DEEPEST)?;
            Argument::Other
        }
        other => return Err(found("an argument", other)),
    })
}

/// Passes the rest of an argument that is not understood, up to the comma or parenthesis after it.
fn skip(words: &mut Cursor<'_>, written: &mut i64) -> Result<(), Refusal> {
    loop {
        match words.peek() {
            Some(Kind::Symbol(',' | ')')) => return Ok(()),
            None => return Err("')' is missing".into()),
            Some(Kind::Symbol('(' | '[' | '{')) => {
                words.next();
                brackets(words, written, DEEPEST)?;
            }
            _ => {
                words.next();
            }
        }
    }
}

/// Passes what is in brackets, whose first one was passed. `{..., 40}` are 40 bytes of a vector.
fn brackets(words: &mut Cursor<'_>, written: &mut i64, depth: usize) -> Result<(), Refusal> {
    if depth == 0 {
        return Err(format!("more than {DEEPEST} levels of brackets").into());
    }
    let mut after_ellipsis = false;
    loop {
        match words.next() {
            None => return Err("a bracket does not end".into()),
            Some(Kind::Symbol(')' | ']' | '}')) => return Ok(()),
            Some(Kind::Symbol('(' | '[' | '{')) => brackets(words, written, depth - 1)?,
            Some(Kind::Number(text)) if after_ellipsis => *written = (*written + number(text)?).min(MOST),
            Some(Kind::Ellipsis) => {
                after_ellipsis = words.symbol(',');
                continue;
            }
            _ => {}
        }
        after_ellipsis = false;
    }
}

fn interpret(name: &str, arguments: &[Argument], result: i64, written: i64) -> Result<Call, Refusal> {
    let named = |word: &str| {
        arguments.iter().any(
            |argument| matches!(argument, Argument::Names(names) if names.iter().any(|name| name == word)),
        )
    };
    let descriptor = match arguments.first() {
        Some(Argument::Number(number)) => *number,
        _ => -1,
    };
    let value = || match arguments.get(3) {
        Some(Argument::Boxed(number) | Argument::Number(number)) => *number,
        _ => -1,
    };
    let fails = result < 0;
    Ok(match name {
        "connect" => Call::Connect,
        "listen" => Call::Listen,
        "accept" | "accept4" => Call::Accept(result),
        // The socket takes what the script says: how much memory it has is not modelled.
        "write" | "send" | "sendto" | "sendmsg" | "writev" => {
            if fails {
                return Err(Refusal::unsupported(format!("{name} that fails is not modelled")));
            }
            if name == "sendmsg" && written != result {
                return Err(format!("{name} has {written} bytes and takes {result}").into());
            }
            Call::Write {
                bytes: result.unsigned_abs(),
                more: named("MSG_MORE"),
                ends_record: named("MSG_EOR"),
            }
        }
        "close" => Call::Close(descriptor),
        "shutdown" if named("SHUT_RD") => Call::Nothing,
        "shutdown" => Call::Shutdown,
        "setsockopt" if named("TCP_MAXSEG") => Call::SetMss(in_range(value(), 1, 65_535)? as u32),
        "getsockopt" if named("TCP_MAXSEG") => Call::GetMss(in_range(value(), 0, 65_535)? as u32),
        "setsockopt" if named("TCP_NODELAY") => Call::Nodelay(value() != 0),
        "setsockopt" if named("TCP_CORK") => Call::Cork(value() != 0),
        "setsockopt" if named("TCP_CONGESTION") => match arguments.get(3) {
            Some(Argument::Text(control)) => Call::SetControl(control.clone()),
            _ => return Err("TCP_CONGESTION needs a name in quotes".into()),
        },
        "setsockopt" if CHANGES_NOTHING.iter().any(|option| named(option)) => Call::Nothing,
        "getsockopt" if CHANGES_NOTHING.iter().any(|option| named(option)) => Call::Nothing,
        "setsockopt" | "getsockopt" => {
            let names: Vec<&str> = arguments
                .iter()
                .filter_map(|argument| match argument {
                    Argument::Names(names) => names.first().map(String::as_str),
                    _ => None,
                })
                .collect();
            return Err(Refusal::unsupported(format!(
                "the socket option {} is not modelled",
                names.join(" ")
            )));
        }
        "socket" | "bind" | "fcntl" | "read" | "recv" | "recvmsg" | "recvfrom" => Call::Nothing,
        _ => return Err(Refusal::unsupported(format!("the call '{name}' is not modelled"))),
    })
}

/// Socket options that change nothing about what a sender sends, or set memory, which is not modelled.
const CHANGES_NOTHING: &[&str] = &[
    "SO_REUSEADDR",
    "SO_SNDBUF",
    "SO_RCVBUF",
    "SO_ERROR",
    "IP_MTU_DISCOVER",
    "IP_TOS",
    "TCP_NOTSENT_LOWAT",
    "TCP_QUICKACK",
];

fn in_range(value: i64, least: i64, most: i64) -> Result<i64, Refusal> {
    if (least..=most).contains(&value) {
        Ok(value)
    } else {
        Err(format!("{value}: allowed is {least} to {most}").into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packetdrill::parse::script;
    use crate::packetdrill::script::Action;

    fn call(text: &str) -> Result<Call, String> {
        let script = script("a", &format!("0 {text}"), &|_| Err(String::new()))
            .map_err(|problem| problem.to_string())?;
        match script.events.into_iter().next().map(|event| event.action) {
            Some(Action::Call(call)) if true => Ok(call),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn calls_of_a_sender_are_read() {
        let write = |bytes, more, ends_record| Call::Write { bytes, more, ends_record };
        for (text, expected) in [
            ("write(4, ..., 1000) = 1000", write(1000, false, false)),
            ("write(4, ..., 59000) = 26000", write(26_000, false, false)),
            ("send(4, ..., 400, MSG_EOR) = 400", write(400, false, true)),
            (
                "sendmsg(4, {msg_name(...)=..., msg_iov(2)=[{..., 40}, {..., 60}], msg_flags=0}, MSG_MORE) = 100",
                write(100, true, false),
            ),
            ("connect(3, ..., ...) = -1 EINPROGRESS (Operation now in progress)", Call::Connect),
            ("fcntl(3, F_GETFL) = 0x2 (flags O_RDWR)", Call::Nothing),
            ("fcntl(3, F_SETFL, O_RDWR|O_NONBLOCK) = 0", Call::Nothing),
            ("accept(3, ..., ...) = 4", Call::Accept(4)),
            ("setsockopt(3, SOL_TCP, TCP_MAXSEG, [1100], 4) = 0", Call::SetMss(1100)),
            ("setsockopt(4, SOL_TCP, TCP_CORK, [1], 4) = 0", Call::Cork(true)),
            ("setsockopt(4, SOL_TCP, TCP_CONGESTION, \"reno\", 4) = 0", Call::SetControl("reno".to_owned())),
            ("close(4) = 0", Call::Close(4)),
        ] {
            assert_eq!(call(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn other_calls_are_refused_by_name() {
        for (text, problem) in [
            (
                "poll([{fd=4, events=POLLOUT, revents=POLLOUT}], 1, 1000) = 1",
                "the call 'poll' is not modelled",
            ),
            (
                "setsockopt(4, SOL_TCP, TCP_FOO, [1], 4) = 0",
                "the socket option SOL_TCP TCP_FOO is not modelled",
            ),
            ("setsockopt(3, SOL_TCP, TCP_MAXSEG, [0], 4) = 0", "allowed is 1 to 65535"),
            ("write(4, ..., 5) = 99999999999", "is no whole number up to"),
            ("sendmsg(4, {msg_iov(1)=[{..., 40}]}, 0) = 41", "sendmsg has 40 bytes and takes 41"),
            ("write(4, {", "a bracket does not end"),
        ] {
            let found = call(text).unwrap_err();
            assert!(found.contains(problem), "{text}: {found}");
        }
        let deep = format!("write(4, {}", "{".repeat(100_000));
        assert!(call(&deep).unwrap_err().contains("20 levels"));
    }
}
