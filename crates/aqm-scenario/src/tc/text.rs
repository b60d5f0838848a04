//! Commands and printed lines of tc, as a [`Listing`]. Newlines are blanks: a shell loses them.

use super::listing::{Class, Form, Listing, Place, Qdisc, Verb};
use aqm_core::input_error::InputError;
use std::iter::Peekable;
use std::slice::Iter;

/// Objects of tc besides qdiscs, and their words, which end what stands before.
const OBJECTS: [&str; 4] = ["qdisc", "class", "filter", "action"];
/// Words of tc-stab(8) that have a value.
const STAB: [&str; 6] = ["mtu", "tsize", "mpu", "overhead", "linklayer", "data"];
/// tc's own options that have a value.
const WITH_VALUE: [&str; 6] = ["-n", "-net", "-netns", "-b", "-batch", "-cf"];

type Words<'a> = Peekable<Iter<'a, &'a str>>;

/// Reads all statements of a text; what is between them (`modprobe`, `ip link`, statistics) is passed over.
pub(super) fn read(text: &str) -> Result<Listing, InputError> {
    let mut listing = Listing::default();
    let tokens: Vec<&str> = text.split_whitespace().flat_map(apart).collect();
    let mut words = tokens.iter().peekable();
    while let Some(word) = words.next() {
        listing.check_size()?;
        if is_tc(word) {
            while let Some(option) = words.next_if(|word| word.starts_with('-')) {
                if WITH_VALUE.contains(option) {
                    words.next();
                }
            }
            match words.next() {
                Some(object) if names(object, "qdisc") => qdisc_command(&mut words, &mut listing)?,
                Some(object) if names(object, "class") => class_command(&mut words, &mut listing)?,
                Some(object) if names(object, "filter") || names(object, "action") => {}
                Some(object) => {
                    return Err(InputError::new(format!(
                        "tc: '{object}' is not among qdisc, class and filter"
                    )));
                }
                None => return Err(InputError::new("tc: the command ends after 'tc'")),
            }
        } else if *word == "qdisc" {
            // Lines of a batch file begin like what tc prints.
            match words.peek() {
                Some(next) if verb(next).is_ok() => qdisc_command(&mut words, &mut listing)?,
                _ => printed_qdisc(&mut words, &mut listing)?,
            }
        } else if *word == "class" {
            match words.peek() {
                Some(next) if verb(next).is_ok() => class_command(&mut words, &mut listing)?,
                _ => printed_class(&mut words, &mut listing)?,
            }
        }
    }
    Ok(listing)
}

/// A word without the shell's separator behind it, and the separator.
fn apart(word: &str) -> Vec<&str> {
    match word.strip_suffix(';') {
        Some("") | None => vec![word],
        Some(before) => vec![before, ";"],
    }
}

/// Whether a word is the program.
pub(super) fn is_tc(word: &str) -> bool {
    word == "tc" || word.ends_with("/tc")
}

/// Whether `word` is `whole` or an abbreviation of it, as tc takes them.
fn names(word: &str, whole: &str) -> bool {
    !word.is_empty() && whole.starts_with(word)
}

fn verb(word: &str) -> Result<Verb, InputError> {
    match word {
        "add" | "replace" | "link" => Ok(Verb::Add),
        "change" | "chg" => Ok(Verb::Change),
        "del" | "delete" => Ok(Verb::Delete),
        "show" | "list" | "ls" | "lst" => Ok(Verb::Show),
        _ => Err(InputError::new(format!(
            "tc qdisc: '{word}' is not among add, replace, change, del and show"
        ))),
    }
}

/// Whether the next word belongs to what is being read.
fn goes_on(words: &mut Words<'_>) -> bool {
    let Some(word) = words.peek() else { return false };
    let ends = ["Sent", ";", "&&", "||", "|", "ip", "sudo", "$"].contains(*word)
        || word.starts_with('#')
        || is_tc(word)
        || OBJECTS.contains(*word);
    !ends
}

/// The words up to the end of the statement; a shell's continued lines and redirections are none.
fn rest(words: &mut Words<'_>) -> Vec<String> {
    let mut found = Vec::new();
    while goes_on(words) {
        let word = words.next().expect("it was there");
        let is_rule = word.bytes().all(|byte| byte == b'-');
        if *word != "\\" && !word.contains(['>', '<']) && !is_rule {
            found.push((*word).to_owned());
        }
    }
    found
}

fn value<'a>(words: &mut Words<'a>, of: &str) -> Result<&'a str, InputError> {
    while words.next_if(|word| **word == "\\").is_some() {}
    if goes_on(words) {
        return Ok(words.next().expect("it was there"));
    }
    Err(InputError::new(format!("tc: '{of}' has no value")))
}

/// Takes the words of a size table.
fn stab(words: &mut Words<'_>) -> Result<Vec<String>, InputError> {
    let mut found = Vec::new();
    while let Some(word) = words.next_if(|word| STAB.contains(*word)) {
        found.extend([(*word).to_owned(), value(words, word)?.to_owned()]);
    }
    Ok(found)
}

fn qdisc_command(words: &mut Words<'_>, listing: &mut Listing) -> Result<(), InputError> {
    let verb = verb(words.next().ok_or_else(|| InputError::new("tc: the command ends after 'tc qdisc'"))?)?;
    let mut qdisc = Qdisc {
        kind: String::new(),
        handle: String::new(),
        device: String::new(),
        place: Place::Root,
        words: Vec::new(),
        stab: Vec::new(),
        form: Form::Command,
    };
    while goes_on(words) {
        let word = *words.next().expect("it was there");
        match word {
            "\\" => {}
            "dev" => value(words, word)?.clone_into(&mut qdisc.device),
            "handle" => value(words, word)?.clone_into(&mut qdisc.handle),
            "parent" => qdisc.place = Place::Under(value(words, word)?.to_owned()),
            "root" => qdisc.place = Place::Root,
            "ingress" | "clsact" => {
                (qdisc.place, qdisc.kind) = (Place::Ingress, word.to_owned());
                rest(words);
            }
            "stab" => qdisc.stab = stab(words)?,
            "estimator" | "est" => {
                value(words, word)?;
                value(words, word)?;
            }
            "ingress_block" | "egress_block" => drop(value(words, word)?),
            _ if word.contains(['>', '<']) => {}
            kind => {
                kind.clone_into(&mut qdisc.kind);
                qdisc.words = rest(words);
            }
        }
    }
    if qdisc.kind.is_empty() && matches!(verb, Verb::Add | Verb::Change) {
        return Err(InputError::new("tc: the command names no qdisc: tc qdisc add dev DEV root KIND ..."));
    }
    listing.put(verb, qdisc);
    Ok(())
}

/// What follows `qdisc` in a line that tc printed.
fn printed_qdisc(words: &mut Words<'_>, listing: &mut Listing) -> Result<(), InputError> {
    if !goes_on(words) {
        return Err(InputError::new("tc: the text ends after 'qdisc'"));
    }
    let kind = (*words.next().expect("it was there")).to_owned();
    let handle = words.next_if(|word| is_handle(word)).map_or("", |word| *word).to_owned();
    let mut qdisc = Qdisc {
        kind,
        handle,
        device: String::new(),
        place: Place::Root,
        words: Vec::new(),
        stab: Vec::new(),
        form: Form::Printed,
    };
    let head = ["dev", "root", "parent", "refcnt", "offloaded", "dead", "ingress_block", "egress_block"];
    while let Some(word) = words.next_if(|word| head.contains(*word)) {
        match *word {
            "dev" => value(words, word)?.clone_into(&mut qdisc.device),
            "parent" => qdisc.place = Place::Under(value(words, word)?.to_owned()),
            "refcnt" | "ingress_block" | "egress_block" => drop(value(words, word)?),
            _ => {}
        }
    }
    if matches!(&*qdisc.kind, "ingress" | "clsact") {
        qdisc.place = Place::Ingress;
    }
    let found = rest(words);
    // The size table comes after the qdisc's own words, with `tc -d`.
    let end = found.iter().position(|word| word == "linklayer").unwrap_or(found.len());
    qdisc.words = found[..end].to_vec();
    qdisc.stab = found[end..].to_vec();
    listing.put(Verb::Add, qdisc);
    Ok(())
}

/// Whether a word is a handle (`8001:`, `1:10`, `:4`), hexadecimal on both sides.
pub(super) fn is_handle(word: &str) -> bool {
    let Some((major, minor)) = word.split_once(':') else { return false };
    let is_hex = |part: &str| part.len() <= 8 && part.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hex(major) && is_hex(minor)
}

fn class_command(words: &mut Words<'_>, listing: &mut Listing) -> Result<(), InputError> {
    let verb = verb(words.next().ok_or_else(|| InputError::new("tc: the command ends after 'tc class'"))?)?;
    let mut class = Class {
        kind: String::new(),
        handle: String::new(),
        device: String::new(),
        parent: String::new(),
        words: Vec::new(),
    };
    while goes_on(words) {
        let word = *words.next().expect("it was there");
        match word {
            "\\" => {}
            "dev" => value(words, word)?.clone_into(&mut class.device),
            "classid" => value(words, word)?.clone_into(&mut class.handle),
            "parent" => value(words, word)?.clone_into(&mut class.parent),
            "root" => class.parent.clear(),
            "estimator" | "est" => {
                value(words, word)?;
                value(words, word)?;
            }
            kind => {
                kind.clone_into(&mut class.kind);
                class.words = rest(words);
            }
        }
    }
    let same = |other: &Class| other.device == class.device && other.handle == class.handle;
    match verb {
        Verb::Show => {}
        Verb::Delete => listing.classes.retain(|other| !same(other)),
        Verb::Add | Verb::Change => {
            listing.classes.retain(|other| !same(other));
            listing.classes.push(class);
        }
    }
    Ok(())
}

/// What follows `class` in a line that tc printed.
fn printed_class(words: &mut Words<'_>, listing: &mut Listing) -> Result<(), InputError> {
    let kind = value(words, "class")?.to_owned();
    let handle = value(words, "class")?.to_owned();
    let mut class = Class { kind, handle, device: String::new(), parent: String::new(), words: Vec::new() };
    while let Some(word) = words.next_if(|word| ["dev", "root", "parent", "leaf"].contains(*word)) {
        match *word {
            "dev" => value(words, word)?.clone_into(&mut class.device),
            "parent" => value(words, word)?.clone_into(&mut class.parent),
            "leaf" => drop(value(words, word)?),
            _ => {}
        }
    }
    class.words = rest(words);
    listing.classes.push(class);
    Ok(())
}
