//! Printing and reading are inverse, for links of every kind and for sweeps: what was printed reads as what was printed.
//! Scenarios and flows are in `resolver.rs`.

use aqm_core::params::{Kind, ParamSpec};
use aqm_core::random::Random;
use aqm_path::kind::{KindSpec, LinkKind};
use aqm_path::kinds::KINDS;
use aqm_scenario::sweep::points::points;
use std::collections::BTreeMap;

const LINKS: u64 = 10_000;
const SWEEPS: u64 = 10_000;

fn one_of<'a, T: ?Sized>(all: &[&'a T], random: &mut Random) -> &'a T {
    all[random.below(all.len() as u64) as usize]
}

/// A value of a parameter, most often an allowed one.
fn value(param: &ParamSpec, random: &mut Random) -> String {
    let (low, high) = param.range;
    let between = |random: &mut Random| low + (high - low).min(1e12) * random.uniform().powi(8);
    let whole = |random: &mut Random| between(random).ceil() as u64;
    match param.kind {
        _ if !param.auto.is_empty() && random.below(5) == 0 => "auto".to_owned(),
        Kind::Choice(words) => one_of(words, random).to_owned(),
        Kind::Flag => one_of(&["on", "off"], random).to_owned(),
        Kind::Notation(notation) => format!("[{}]", one_of(notation.examples, random)),
        Kind::Count => whole(random).to_string(),
        Kind::Bytes => format!("{}b", whole(random)),
        Kind::Rate => format!("{}bit", whole(random)),
        Kind::Span => format!("{}ns", whole(random)),
        Kind::Fraction | Kind::Number => between(random).to_string(),
        Kind::Name => one_of(&["a.down", "of-the.trace", "-"], random).to_owned(),
        _ => param.default.to_string(),
    }
}

fn link(kind: &LinkKind, random: &mut Random) -> String {
    let mut text = kind.name.to_owned();
    for param in kind.params {
        if random.below(3) == 0 {
            text += &format!(" {} {}", param.name, value(param, random));
        }
    }
    text
}

#[test]
fn a_printed_link_reads_as_the_link_that_was_printed() {
    let mut random = Random::seeded(1);
    let mut read: BTreeMap<&str, u64> = BTreeMap::new();
    for _ in 0..LINKS {
        let kind = one_of(KINDS, &mut random);
        let text = link(kind, &mut random);
        let Ok(spec) = KindSpec::parse(&text, KINDS) else { continue };
        let again = KindSpec::parse(&spec.to_string(), KINDS);
        let again = again.unwrap_or_else(|error| panic!("{text}: {spec}: {error}"));
        assert_eq!((again.kind().name, again.params()), (spec.kind().name, spec.params()), "{text}: {spec}");
        assert_eq!(again.to_string(), spec.to_string());
        *read.entry(kind.name).or_default() += 1;
    }
    for kind in KINDS {
        let count = read.get(kind.name).copied().unwrap_or(0);
        assert!(count > LINKS / 20, "{}: {count} links, {read:?}", kind.name);
    }
}

/// Options with up to three names swept over them.
fn sweep(random: &mut Random) -> Vec<(String, String)> {
    let mut pairs = vec![("aqm", "codel target $target".to_owned()), ("flows", "$senders*$cc".to_owned())];
    let mut names: Vec<(&str, Vec<&str>)> = vec![
        ("rate", vec!["10mbit", "1mbit..100mbit*3", "1mbit..50mbit*7log", "1mbit,5.5mbit , 20mbit"]),
        ("rtt", vec!["40ms", "1ms..100ms*5log", "20ms,1.5ms,100us", "100us..7ms*9"]),
        ("target", vec!["5ms", "1ms..20ms*4", "5ms,20ms,33.3ms"]),
        ("senders", vec!["3", "1..5*5", "1,2,30"]),
        ("cc", vec!["cubic", "cubic,newreno", "bbr1,cubic:mss=1000b"]),
        ("loss", vec!["0.5%", "0%..1%*3", "0.1%,0%"]),
        ("buffer", vec!["64kb", "1bdp,100p", "50ms"]),
    ];
    let mut swept: Vec<(&str, String)> = Vec::new();
    for _ in 0..=random.below(3) {
        let (name, values) = names.remove(random.below(names.len() as u64) as usize);
        swept.push(("sweep", format!("{name}={}", one_of(&values, random))));
    }
    // What is not swept has its first value.
    for (name, values) in names {
        match name {
            "rate" | "rtt" | "loss" | "buffer" => pairs.push((name, values[0].to_owned())),
            _ => pairs.iter_mut().for_each(|(_, text)| *text = text.replace(&format!("${name}"), values[0])),
        }
    }
    pairs.into_iter().chain(swept).map(|(name, text)| (name.to_owned(), text)).collect()
}

fn borrowed(pairs: &[(String, String)]) -> Vec<(&str, &str)> {
    pairs.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect()
}

#[test]
fn the_values_of_a_sweep_listed_are_the_same_sweep() {
    let mut random = Random::seeded(1);
    let (mut read, mut most) = (0, 0);
    for _ in 0..SWEEPS {
        let pairs = sweep(&mut random);
        let Ok(found) = points(&borrowed(&pairs)) else { continue };
        // A range is printed as its values, in the order in which they came.
        let mut values: Vec<(String, Vec<String>)> = Vec::new();
        for point in &found {
            for (name, value) in point.values() {
                match values.iter_mut().find(|(known, _)| known == name) {
                    Some((_, known)) if !known.contains(value) => known.push(value.clone()),
                    Some(_) => {}
                    None => values.push((name.clone(), vec![value.clone()])),
                }
            }
        }
        let given = pairs.iter().filter(|(name, _)| name != "sweep").cloned();
        let swept =
            values.into_iter().map(|(name, all)| ("sweep".to_owned(), format!("{name}={}", all.join(","))));
        let printed: Vec<(String, String)> = given.chain(swept).collect();
        let again =
            points(&borrowed(&printed)).unwrap_or_else(|error| panic!("{pairs:?}: {printed:?}: {error}"));
        assert_eq!(again, found, "{pairs:?}: {printed:?}");
        (read, most) = (read + 1, most.max(found.len()));
    }
    assert!(read > SWEEPS / 2 && most > 50, "{read} of {SWEEPS} sweeps, with {most} points at most");
}
