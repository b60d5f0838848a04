//! The stations of a Wi-Fi channel in the notation of its link: `phone=ht-mcs15-400ns snr 25, tablet=ht-mcs0`.

use super::super::channel::Station;
use super::super::errors::{Errors, ModeTrace};
use super::super::rates::{Format, Mode};
use super::rates_file;
use aqm_core::input_error::InputError;
use aqm_core::params::{Notation, ReadFile};
use aqm_core::units::{Rate, Time, parse};
use std::collections::BTreeSet;
use std::fmt::Write;

/// The notation.
pub(super) static NOTATION: Notation = Notation {
    unit: "stations",
    form: "NAME=RATE|rates(FILE) [snr DB | loss SHARE] [at TIME RATE]... [leaves TIME], ... [, multicast[=RATE]]",
    examples: &[
        "phone=ht-mcs7-400ns",
        "near=vht-mcs8-2ss-80mhz snr 40, far=ht-mcs0 loss 0.1",
        "walker=ht-mcs15-400ns at 5s ht-mcs3 at 10s ht-mcs15-400ns",
        "guest=ht-mcs7 leaves 8s, host=ht-mcs7",
        "walker=rates(walk.txt) snr 20, host=ht-mcs7",
        "phone=ht-mcs7, multicast",
        "phone=ht-mcs7, multicast=ofdm-12 loss 0.01",
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
        "multicast",
        "phone=ht-mcs7, multicast=ht-mcs7",
        "phone=ht-mcs7, multicast at 5s ofdm-12",
        "phone=ht-mcs7, multicast leaves 5s",
        "phone=rates()",
        "phone=rates(walk.txt",
        "phone=rates(walk.txt) at 5s ofdm-54",
    ],
    canonical: |text| read(text).map(|stations| write(&stations)),
    with_files: Some(with_files),
};

/// The name of all that listen to multicast.
pub const MULTICAST: &str = "multicast";

/// The lowest mandatory rate of OFDM, at which multicast leaves unless another is set (Linux: `mcast_rate`).
const LOWEST_BASIC: &str = "ofdm-6";

/// A station by its name.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Named {
    pub(super) name: String,
    errors: Errors,
    modes: Modes,
    /// When it leaves.
    pub(super) leaves: Option<Time>,
}

/// The modes of a station.
#[derive(Clone, Debug, PartialEq)]
enum Modes {
    /// Since when each is used, the first from the beginning.
    Steps(Vec<(Time, Mode)>),
    /// They are in this file, which has not been read.
    File(String),
}

impl Named {
    fn steps(&self) -> &[(Time, Mode)] {
        match &self.modes {
            Modes::Steps(steps) => steps,
            Modes::File(_) => &[],
        }
    }

    /// Whether it stands for all that listen to multicast.
    pub(super) fn is_group(&self) -> bool {
        self.name == MULTICAST
    }

    /// The data rates of its modes; none while they are in a file.
    pub(super) fn rates(&self) -> impl Iterator<Item = Rate> {
        self.steps().iter().map(|(_, mode)| mode.rate())
    }

    /// The station.
    ///
    /// # Errors
    /// If its rates are in a file that nobody has read.
    pub(super) fn station(&self) -> Result<Station, InputError> {
        match &self.modes {
            Modes::Steps(steps) => {
                let (errors, is_group) = (self.errors, self.is_group());
                Ok(Station { modes: ModeTrace::new(steps.clone())?, errors, is_group })
            }
            Modes::File(name) => Err(InputError::value(name, "is a file of rates that was not read")),
        }
    }
}

/// Reads the stations of a channel.
pub(super) fn read(text: &str) -> Result<Vec<Named>, InputError> {
    let stations: Vec<Named> =
        text.split(',').map(|entry| read_one(entry.trim())).collect::<Result<_, _>>()?;
    let mut names = BTreeSet::new();
    if stations.iter().all(Named::is_group) {
        return Err(InputError::value(MULTICAST, "is nobody by itself: name a station, too"));
    }
    match stations.iter().find(|station| !names.insert(&station.name)) {
        Some(twice) => Err(InputError::new(format!("'{}' names two stations", twice.name))),
        None => Ok(stations),
    }
}

fn read_one(entry: &str) -> Result<Named, InputError> {
    let mut words = entry.split_whitespace();
    let first = words.next().unwrap_or_default();
    let named = if first == MULTICAST { Some((first, LOWEST_BASIC)) } else { first.split_once('=') };
    let Some((name, rate)) = named.filter(|(name, _)| !name.is_empty()) else {
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
    let file = rate.strip_prefix("rates(").map(|inside| inside.strip_suffix(')').unwrap_or_default());
    if file.is_some_and(str::is_empty) {
        return Err(within(InputError::value(rate, "names no file: write rates(FILE)")));
    }
    let mut steps = Vec::new();
    if file.is_none() {
        steps.push((Time::ZERO, rate.parse::<Mode>().map_err(within)?));
    }
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
            "at" if file.is_some() => {
                return Err(within(InputError::new("its file says when its rate changes: leave 'at' out")));
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
    let modes = file.map_or(Modes::Steps(steps), |file| Modes::File(file.to_owned()));
    let named = Named { name: name.to_owned(), errors, modes, leaves };
    if file.is_none() {
        named.station().map_err(within)?;
    }
    if named.is_group() {
        let is_basic = |mode: &Mode| matches!(mode.format(), Format::Dsss | Format::Ofdm);
        let stays = named.steps().len() == 1 && named.leaves.is_none();
        if !stays || !named.steps().iter().all(|(_, mode)| is_basic(mode)) {
            let problem = "is sent at one basic rate, as ofdm-6 or dsss-11, and does not leave";
            return Err(InputError::value(MULTICAST, problem));
        }
    }
    Ok(named)
}

/// The text with the rates of files.
fn with_files(text: &str, file: ReadFile<'_>) -> Result<String, InputError> {
    let mut stations = read(text)?;
    for named in &mut stations {
        if let Modes::File(name) = &named.modes {
            let (place, content) = file(name)?;
            let steps = rates_file::read(&place, &content);
            named.modes =
                Modes::Steps(steps.map_err(|error| error.within(format!("station {}", named.name)))?);
        }
    }
    Ok(write(&stations))
}

fn decibel(text: &str) -> Result<f64, InputError> {
    let number = text.strip_suffix("dB").unwrap_or(text).parse::<f64>();
    number.map_err(|_| InputError::value(text, "is not a number of dB"))
}

/// The text that is read alike.
fn write(stations: &[Named]) -> String {
    let mut text = String::new();
    for station in stations {
        let Named { name, errors, modes, leaves } = station;
        let comma = if text.is_empty() { "" } else { ", " };
        let _ = match modes {
            Modes::Steps(steps) => write!(text, "{comma}{name}={}", steps[0].1),
            Modes::File(file) => write!(text, "{comma}{name}=rates({file})"),
        };
        let _ = match errors {
            Errors::None => Ok(()),
            Errors::Snr(snr) => write!(text, " snr {snr}"),
            Errors::Rate(share) => write!(text, " loss {share}"),
        };
        for (time, mode) in station.steps().iter().skip(1) {
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
        assert_eq!(all[0].errors, Errors::Snr(40.0));
        assert_eq!(write(&all), "near=vht-mcs8-2ss-80mhz snr 40, far=ht-mcs0 at 5s ht-mcs1");
    }

    #[test]
    fn files_stand_for_the_rates_that_they_have() {
        let mut files = |name: &str| match name {
            "walk.txt" => Ok((format!("/tmp/{name}"), "0s ht-mcs7\n2s ht-mcs0".to_owned())),
            "bad.txt" => Ok((format!("/tmp/{name}"), "0s ht-mcs77".to_owned())),
            _ => Err(InputError::value(name, "is not there")),
        };
        let filled = with_files("a=rates(walk.txt) snr 20 leaves 4s, b=ofdm-6", &mut files);
        assert_eq!(filled.as_deref(), Ok("a=ht-mcs7 snr 20 at 2s ht-mcs0 leaves 4s, b=ofdm-6"));
        let problem = |text: &str, files: ReadFile<'_>| with_files(text, files).unwrap_err().to_string();
        let of_line = "station a: '/tmp/bad.txt' line 1: 'ht-mcs77': mcs is 77: HT has 0 to 31";
        assert_eq!(problem("a=rates(bad.txt)", &mut files), of_line);
        assert_eq!(problem("a=rates(none.txt)", &mut files), "'none.txt' is not there");
        let unread = read("a=rates(walk.txt)").unwrap()[0].station().unwrap_err().to_string();
        assert_eq!(unread, "'walk.txt' is a file of rates that was not read");
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
