//! Topologies as people write them: `NAME[:key=value]...`, as `parking_lot:hops=3`, or the name of a TOML file of links.
//!
//! - [`KINDS`]: the topologies by name, with their keys.
//! - `file`: the notation of a file.
//! - `switches`: options of switches, in both notations.
//! - [`Layout`]: what they build: links, default ends of flows, measured ports.

#[cfg(feature = "files")]
mod file;
mod generators;
mod glob;
mod kinds;
mod layout;
mod switches;
mod wifi;

pub use kinds::{KINDS, Key, LARGEST_COUNT, Takes, TopologyKind};
pub(crate) use wifi::NAME as WIFI;

pub use layout::{Layout, MOST_LINKS, SizeLimit, Surroundings};

use crate::flows::Files;
use aqm_core::input_error::InputError;
use aqm_core::units::Rate;
use aqm_path::kind::{Capacity, KindSpec};
use aqm_path::kinds::KINDS as KINDS_OF_LINKS;

/// The topology of an option that is not given.
pub const DUMBBELL: &str = "dumbbell";

/// Reads a topology; the dumbbell is none.
///
/// # Errors
/// The key, its value, what is allowed and the nearest name; of a file also its name and the link.
///
/// ```
/// use aqm_core::units::{Rate, Span};
/// use aqm_scenario::flows::NoFiles;
/// use aqm_scenario::topology::{Surroundings, read};
/// let (rate, rtt) = (Rate::from_mbit(10), Span::from_millis(40));
/// let around = Surroundings { rate, rtt, files: &NoFiles, programs: &[], limit: None, link: None };
/// let layout = read("parking_lot:hops=2", &around).unwrap().unwrap();
/// assert_eq!(layout.choose("r*").unwrap(), ["r0", "r1", "r2"]);
/// let error = read("star:host=3", &around).unwrap_err().to_string();
/// assert!(error.starts_with("topology: unknown key 'host', did you mean 'hosts'?"));
/// ```
pub fn read(text: &str, around: &Surroundings<'_>) -> Result<Option<Layout>, InputError> {
    if text == DUMBBELL {
        return Ok(None);
    }
    let layout = if text.ends_with(FILE) { of_file(text, around) } else { of_kind(text, around) };
    layout.map(Some).map_err(|error| error.of_option("topology"))
}

/// The rate of a topology's measured link, if its file says it: by its rate, or by its kind.
///
/// # Errors
/// If the file cannot be read, or a kind is wrong.
pub(crate) fn own_rate(text: &str, around: &Surroundings<'_>) -> Result<Option<Rate>, InputError> {
    if !text.ends_with(FILE) {
        return Ok(None);
    }
    let layout = of_file(text, around).map_err(|error| error.of_option("topology"))?;
    let link = &layout.links[layout.measured];
    if let Some(bits) = link.rate_bps {
        return Ok(Some(Rate::from_bits_per_sec(bits)));
    }
    let kind = link.kind.as_deref().map(|kind| KindSpec::parse(kind, KINDS_OF_LINKS)).transpose();
    let kind = kind.map_err(|error| error.within(layout.name.clone()).of_option("topology"))?;
    Ok(kind.and_then(|kind| match kind.capacity() {
        Capacity::Rate(rate) => Some(rate),
        Capacity::OfPath | Capacity::Trace(_) => None,
    }))
}

/// The texts of a topology's file that may hold `$names`; of a name there are none.
///
/// # Errors
/// If the file cannot be read.
pub fn texts(text: &str, files: &dyn Files, limit: Option<SizeLimit<'_>>) -> Result<Vec<String>, InputError> {
    if !text.ends_with(FILE) {
        return Ok(Vec::new());
    }
    texts_of_file(text, files, limit).map_err(|error| error.of_option("topology"))
}

const FILE: &str = ".toml";

#[cfg(feature = "files")]
use file::{read as of_file, texts as texts_of_file};

#[cfg(not(feature = "files"))]
fn of_file(text: &str, _: &Surroundings<'_>) -> Result<Layout, InputError> {
    Err(InputError::value(text, "is a file, and there are none here"))
}

#[cfg(not(feature = "files"))]
fn texts_of_file(text: &str, _: &dyn Files, _: Option<SizeLimit<'_>>) -> Result<Vec<String>, InputError> {
    Err(InputError::value(text, "is a file, and there are none here"))
}

/// The kind of link of a topology that names none: of `wifi` as many stations as it says, of others nothing.
///
/// # Errors
/// The number of stations, and what is allowed.
pub(crate) fn implied_link(text: &str) -> Result<Option<KindSpec>, InputError> {
    let mut parts = text.split(':').map(str::trim);
    let name = parts.next();
    let Some(kind) = KINDS.iter().find(|kind| kind.name == WIFI && name == Some(WIFI)) else {
        return Ok(None);
    };
    let stations = &kind.keys[0];
    let given = parts.filter_map(|part| part.split_once('=')).rfind(|(key, _)| key.trim() == stations.name);
    let count = given.map_or(Ok(0), |(_, count)| stations.read(count.trim()))?;
    wifi::link_of(count).map(Some)
}

fn of_kind(text: &str, around: &Surroundings<'_>) -> Result<Layout, InputError> {
    let mut parts = text.split(':').map(str::trim);
    let name = parts.next().unwrap_or_default().to_lowercase().replace('-', "_");
    let kind = KINDS.iter().find(|kind| kind.name == name).ok_or_else(|| {
        let names = std::iter::once(DUMBBELL).chain(KINDS.iter().map(|kind| kind.name));
        InputError::unknown("topology", &name, names).noting("a file's name ends in .toml")
    })?;
    let mut values: Vec<&str> = kind.keys.iter().map(|key| key.default).collect();
    let mut of_switches: Vec<(&str, String)> = Vec::new();
    let own = kind.keys.iter().map(|key| key.name);
    let known: Vec<&str> = own.chain(switches::KEYS.into_iter().filter(|_| kind.has_switches)).collect();
    for pair in parts {
        let (key, value) =
            pair.split_once('=').map_or((pair, None), |(key, value)| (key.trim(), Some(value.trim())));
        let (Some(value), Some(found)) = (value, known.iter().find(|name| **name == key)) else {
            return Err(InputError::unknown("key", key, known.iter().copied()));
        };
        match kind.keys.iter().position(|own| own.name == key) {
            Some(place) => values[place] = value,
            None => {
                of_switches.retain(|(name, _)| name != found);
                of_switches.push((found, value.to_owned()));
            }
        }
    }
    let pairs = kind.keys.iter().zip(values);
    let values: Vec<u64> = pairs.map(|(key, text)| key.read(text)).collect::<Result<_, _>>()?;
    let mut layout = Layout::new(kind.name, around.limit);
    layout.link = around.link.cloned();
    (kind.build)(&mut layout, around.rate.as_bits_per_sec(), around.rtt.as_nanos(), &values)?;
    layout.equip(switches::options(&of_switches, around.programs)?, "")?;
    Ok(layout)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_topology_says_how_many_stations_there_are() {
        let stations = |text: &str| implied_link(text).unwrap().map_or(Vec::new(), |link| link.stations());
        assert_eq!(stations("wifi:line=50mbit"), ["fast1", "fast2", "slow"]);
        assert_eq!(stations("wifi:stations=2"), ["fast1", "slow"]);
        assert_eq!(stations("wifi:stations=30").len(), 30);
        assert!(stations("star:hosts=3").is_empty());
        let problem = implied_link("wifi:stations=0").err().unwrap().to_string();
        assert_eq!(problem, "stations: '0' is not a whole number from 1 to 10000");
    }
}
