//! The stations of a Wi-Fi channel in the notation of its link: `phone=ht-mcs15-400ns snr 25, tablet=ht-mcs0`.

use super::super::channel::Station;
use super::super::errors::{Errors, ModeTrace};
use super::super::rates::Mode;
use aqm_core::input_error::InputError;
use aqm_core::params::Notation;
use aqm_core::units::{Rate, Time, parse};
use std::collections::BTreeSet;
use std::fmt::Write;

/// The notation.
pub(super) static NOTATION: Notation = Notation {
    unit: "stations",
    form: "NAME=RATE [snr DB | loss SHARE] [at TIME RATE]... [leaves TIME], ...",
    examples: &[
        "phone=ht-mcs7-400ns",
        "near=vht-mcs8-2ss-80mhz snr 40, far=ht-mcs0 loss 0.1",
        "walker=ht-mcs15-400ns at 5s ht-mcs3 at 10s ht-mcs15-400ns",
        "guest=ht-mcs7 leaves 8s, host=ht-mcs7",
    ],
    refused: &[
        "",
        "phone",
        "phone=",
        "phone=ht-mcs99",
        "vht-mcs0",
        "phone=ofdm-54, phone=ofdm-6",
        "phone=ofdm-54 snr",
        "phone=ofdm-54 snr 25 loss 0.1",
        "phone=ofdm-54 loss 1",
        "phone=ofdm-54 at 5s",
        "phone=ofdm-54 at 5s ofdm-6 at 5s ofdm-12",
        "phone=ofdm-54 at 0s ofdm-6",
        "phone=ofdm-54 far",
        "phone=ofdm-54 leaves",
        "phone=ofdm-54 leaves 0s",
        "phone=ofdm-54 leaves 2s leaves 3s",
        "a b=ofdm-54",
    ],
    canonical: |text| read(text).map(|stations| write(&stations)),
};

/// A station by its name.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Named {
    pub(super) name: String,
    pub(super) station: Station,
    /// As it is written: the modes and since when each is used.
    steps: Vec<(Time, Mode)>,
    /// When it leaves.
    pub(super) leaves: Option<Time>,
}

impl Named {
    /// The data rates of its modes.
    pub(super) fn rates(&self) -> impl Iterator<Item = Rate> {
        self.steps.iter().map(|(_, mode)| mode.rate())
    }
}

/// Reads the stations of a channel.
pub(super) fn read(text: &str) -> Result<Vec<Named>, InputError> {
    let stations: Vec<Named> =
        text.split(',').map(|entry| read_one(entry.trim())).collect::<Result<_, _>>()?;
    let mut names = BTreeSet::new();
    match stations.iter().find(|station| !names.insert(&station.name)) {
        Some(twice) => Err(InputError::new(format!("'{}' names two stations", twice.name))),
        None => Ok(stations),
    }
}

fn read_one(entry: &str) -> Result<Named, InputError> {
    let mut words = entry.split_whitespace();
    let first = words.next().unwrap_or_default();
    let Some((name, rate)) = first.split_once('=').filter(|(name, _)| !name.is_empty()) else {
        let problem = "is no station with its rate: write NAME=RATE, as phone=ht-mcs7-400ns";
        return Err(InputError::value(entry, problem));
    };
    // Names of nodes: metrics have them between dots.
    if let Some(bad) =
        name.chars().find(|letter| !letter.is_ascii_alphanumeric() && *letter != '-' && *letter != '_')
    {
        return Err(InputError::value(
            name,
            format_args!("has a '{bad}': a name has letters, digits, - and _"),
        ));
    }
    let within = |error: InputError| error.within(format!("station {name}"));
    let mut steps = vec![(Time::ZERO, rate.parse::<Mode>().map_err(within)?)];
    let (mut errors, mut leaves) = (Errors::None, None);
    while let Some(key) = words.next() {
        let mut value = |what: &str| {
            let missing = || within(InputError::new(format!("'{key}' lacks its {what}")));
            words.next().ok_or_else(missing)
        };
        match key {
            "snr" | "loss" if errors != Errors::None => {
                return Err(within(InputError::new("losses are by snr or by loss, given once")));
            }
            "snr" => errors = Errors::Snr(decibel(value("number of dB")?).map_err(within)?),
            "loss" => {
                let share = value("share")?;
                errors = Errors::Rate(parse::fraction(share).map_err(|error| within(error.into()))?);
            }
            "at" => {
                let time = parse::span(value("time")?).map_err(|error| within(error.into()))?;
                let mode = value("rate")?.parse::<Mode>().map_err(within)?;
                steps.push((Time::ZERO + time, mode));
            }
            "leaves" => {
                let time = Time::ZERO + parse::span(value("time")?).map_err(|error| within(error.into()))?;
                if time == Time::ZERO || leaves.replace(time).is_some() {
                    return Err(within(InputError::new("it leaves once, later than at the beginning")));
                }
            }
            _ => {
                let words = ["snr", "loss", "at", "leaves"];
                return Err(within(InputError::unknown("word", key, words.into_iter())));
            }
        }
    }
    errors.check().map_err(within)?;
    let modes = ModeTrace::new(steps.clone()).map_err(within)?;
    Ok(Named { name: name.to_owned(), station: Station { modes, errors }, steps, leaves })
}

fn decibel(text: &str) -> Result<f64, InputError> {
    let number = text.strip_suffix("dB").unwrap_or(text).parse::<f64>();
    number.map_err(|_| InputError::value(text, "is not a number of dB"))
}

/// The text that is read alike.
fn write(stations: &[Named]) -> String {
    let mut text = String::new();
    for Named { name, station, steps, leaves } in stations {
        let comma = if text.is_empty() { "" } else { ", " };
        let _ = write!(text, "{comma}{name}={}", steps[0].1);
        let _ = match station.errors {
            Errors::None => Ok(()),
            Errors::Snr(snr) => write!(text, " snr {snr}"),
            Errors::Rate(share) => write!(text, " loss {share}"),
        };
        for (time, mode) in &steps[1..] {
            let _ = write!(text, " at {} {mode}", time.since(Time::ZERO));
        }
        if let Some(time) = leaves {
            let _ = write!(text, " leaves {}", time.since(Time::ZERO));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stations_are_written_as_they_are_read() {
        for text in NOTATION.examples {
            let written = (NOTATION.canonical)(text).unwrap();
            assert_eq!((NOTATION.canonical)(&written).as_ref(), Ok(&written));
        }
        let all = read("near=vht-mcs8-2ss-80mhz snr 40, far=ht-mcs0 at 5s ht-mcs1").unwrap();
        assert_eq!(all.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), ["near", "far"]);
        assert_eq!(all[0].station.errors, Errors::Snr(40.0));
        assert_eq!(write(&all), "near=vht-mcs8-2ss-80mhz snr 40, far=ht-mcs0 at 5s ht-mcs1");
    }

    #[test]
    fn what_cannot_be_is_refused_in_one_line() {
        for text in NOTATION.refused {
            assert!((NOTATION.canonical)(text).is_err(), "{text}");
        }
        let problem = |text: &str| (NOTATION.canonical)(text).unwrap_err().to_string();
        assert_eq!(problem("tablet=ht-mcs32"), "station tablet: 'ht-mcs32': mcs is 32: HT has 0 to 31");
        assert_eq!(
            problem("a=ofdm-6 sn 3"),
            "station a: unknown word 'sn', did you mean 'snr'?; known are snr, loss, at, leaves"
        );
        assert_eq!(problem("a=ofdm-6, a=ofdm-9"), "'a' names two stations");
    }
}
