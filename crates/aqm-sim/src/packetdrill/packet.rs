//! A TCP segment as a script writes it: `[ect0] P. 1:1001(1000) ack 1 win 5 <sack 1:2,nop,nop>`.

use super::cursor::{Cursor, found};
use super::lexer::Kind;

use super::problem::{Refusal, shortened};
use super::script::{Codepoints, Packet, TcpOptions};
use crate::transport::flags;
use aqm_core::packet::Ecn;

/// The largest sequence number.
const LARGEST: u64 = u32::MAX as u64;

pub(super) fn parse(words: &mut Cursor<'_>) -> Result<Packet, Refusal> {
    let mut packet = Packet::default();
    if words.symbol('[') {
        packet.ecn = Some(codepoints(words.next())?);
        words.expect(']')?;
    }
    packet.flags = flags_of(words)?;
    packet.seq = words.whole("a sequence number", LARGEST)?;
    words.expect(':')?;
    let end = words.whole("a sequence number", LARGEST)?;
    words.expect('(')?;
    packet.payload = words.whole("the payload", LARGEST)?;
    words.expect(')')?;
    if end.checked_sub(packet.seq) != Some(packet.payload) {
        let (seq, length) = (packet.seq, i128::from(end) - i128::from(packet.seq));
        return Err(format!("the segment {seq}:{end} has {length} bytes, not {}", packet.payload).into());
    }
    if words.word("ack") {
        packet.ack = Some(words.whole("ack", LARGEST)?);
    }
    if words.word("win") {
        packet.window = Some(words.whole("win", 65_535)?);
    }
    if words.word("urg") {
        words.whole("urg", 65_535)?;
    }
    if words.symbol('<') {
        packet.options = options(words)?;
    }
    Ok(packet)
}

fn codepoints(token: Option<&Kind>) -> Result<Codepoints, Refusal> {
    let word = match token {
        Some(Kind::Word(word)) => word.as_str(),
        other => return Err(found("ect0, ect1, ect01, ce or noecn", other)),
    };
    Ok(match word {
        "noecn" => Codepoints::Exactly(Ecn::NotEct),
        "ect0" => Codepoints::Exactly(Ecn::Ect0),
        "ect1" => Codepoints::Exactly(Ecn::Ect1),
        "ce" => Codepoints::Exactly(Ecn::Ce),
        "ect01" => Codepoints::Capable,
        _ => return Err(found("ect0, ect1, ect01, ce or noecn", token)),
    })
}

/// `SEW`, `S.`, `.`; a flag is a letter, and `.` is ACK. PSH depends on how Linux stores data, and is not compared.
fn flags_of(words: &mut Cursor<'_>) -> Result<u8, Refusal> {
    let mut bits = 0;
    if let Some(Kind::Word(letters)) = words.peek() {
        words.next();
        for letter in letters.chars() {
            bits |= match letter {
                'F' => flags::FIN,
                'S' => flags::SYN,
                'R' => flags::RST,
                'E' => flags::ECE,
                'W' => flags::CWR,
                'P' | 'A' => 0,
                _ => {
                    return Err(format!(
                        "'{}' is no flag; known are F, S, R, P, E, W, A and '.'",
                        shortened(letters)
                    )
                    .into());
                }
            };
        }
    } else if words.peek() != Some(&Kind::Symbol('.')) {
        return Err(found("the flags", words.peek()));
    }
    if words.symbol('.') {
        bits |= flags::ACK;
    }
    // `.E` and the like: the order of flags is free.
    if matches!(words.peek_second(), Some(Kind::Number(_)))
        && let Some(Kind::Word(_)) = words.peek()
    {
        bits |= flags_of(words)?;
    }
    Ok(bits)
}

/// What stands in angle brackets; `<...>` leaves the options open.
fn options(words: &mut Cursor<'_>) -> Result<Option<TcpOptions>, Refusal> {
    if words.peek() == Some(&Kind::Ellipsis) {
        words.next();
        words.expect('>')?;
        return Ok(None);
    }
    let mut options = TcpOptions::default();
    if words.symbol('>') {
        return Ok(Some(options));
    }
    loop {
        let token = words.next();
        let Some(Kind::Word(name)) = token else { return Err(found("an option", token)) };
        match name.as_str() {
            "nop" | "eol" => {}
            "mss" => options.mss = Some(words.whole("mss", 65_535)? as u32),
            "sackOK" => options.sack_permitted = true,
            "wscale" => options.wscale = Some(words.whole("wscale", 14)? as u8),
            "TS" => {
                if !words.word("val") {
                    return Err(found("val", words.peek()));
                }
                let value = words.whole("TS val", LARGEST)? as u32;
                if !words.word("ecr") {
                    return Err(found("ecr", words.peek()));
                }
                options.timestamp = Some((value, words.whole("TS ecr", LARGEST)? as u32));
            }
            "sack" => {
                while matches!(words.peek(), Some(Kind::Number(_))) {
                    let start = words.whole("a sequence number", LARGEST)?;
                    words.expect(':')?;
                    let end = words.whole("a sequence number", LARGEST)?;
                    if start >= end || options.sack.len() == 4 {
                        return Err(format!("the block {start}:{end} is empty or a fifth one").into());
                    }
                    options.sack.push((start, end));
                }
            }
            "ECN" => {
                while let Some(Kind::Word(field)) = words.peek() {
                    if !matches!(field.as_str(), "e0b" | "e1b" | "ceb") {
                        break;
                    }
                    words.next();
                    let bytes = words.whole("a counter", LARGEST)? as u32;
                    if field == "ceb" {
                        options.ce_bytes = Some(bytes);
                    }
                }
            }
            "FO" | "FOEXP" | "md5" => {
                return Err(Refusal::unsupported(format!("the option '{name}' is not modelled")));
            }
            other => return Err(format!("the option '{}' is not understood", shortened(other)).into()),
        }
        if words.symbol('>') {
            return Ok(Some(options));
        }
        if !words.symbol(',') {
            return Err(found("',' or '>'", words.peek()));
        }
    }
}
