//! Wi-Fi behind a line: `wifi:stations=4:line=50mbit`, or what `--link "wifi ..."` says of its stations.

use super::kinds::{Key, Takes};
use super::layout::Layout;
use aqm_core::input_error::InputError;
use aqm_path::kind::KindSpec;
use aqm_path::kinds::KINDS;
use aqm_sim::scenario::topology::{LinkQueue, TopologyLink};

/// Its name.
pub(crate) const NAME: &str = "wifi";

pub(super) const KEYS: &[Key] = &[
    Key::count("stations", "", "stations, the last of them slow; those of the link unless given"),
    Key {
        name: "line",
        takes: Takes::Rate,
        default: "",
        help: "rate of the line to the access point in both directions; so fast that nothing waits unless given",
    },
    Key {
        name: "line_queue",
        takes: Takes::Choice(&["fifo", "test"]),
        default: "fifo",
        help: "what waits in front of the line: a FIFO of 1000 packets, or the AQM too",
    },
];

/// The rates of stations of which only the number is known: "Ending the Anomaly" (USENIX ATC 2017), section 4.1.
const FAST: &str = "ht-mcs15-400ns";
const SLOW: &str = "ht-mcs0-400ns";
/// The queue of a station, and of a line without AQM: Linux' default txqueuelen.
const FIFO: &str = "fifo limit 1000p";
/// Links that are no bottleneck have this many times the rate of the fastest station.
const AT_ONCE: u64 = 1000;

/// The kind of link of a topology that names none: of `wifi` as many stations as it says, of others nothing.
///
/// # Errors
/// The number of stations, and what is allowed.
pub(crate) fn implied_link(text: &str) -> Result<Option<KindSpec>, InputError> {
    let mut parts = text.split(':').map(str::trim);
    if parts.next() != Some(NAME) {
        return Ok(None);
    }
    let key = &KEYS[0];
    let given =
        parts.filter_map(|part| part.split_once('=')).filter(|(name, _)| name.trim() == key.name).last();
    let link = match given {
        None => NAME.to_owned(),
        Some((_, count)) => {
            let count = key.read(count.trim())?;
            let fast = (1..count).map(|number| format!("fast{number}={FAST}"));
            let all: Vec<String> = fast.chain([format!("slow={SLOW}")]).collect();
            format!("{NAME} stations [{}]", all.join(", "))
        }
    };
    KindSpec::parse(&link, KINDS).map(Some)
}

pub(super) fn build(layout: &mut Layout, rate: u64, rtt: u64, keys: &[u64]) -> Result<(), InputError> {
    let &[count, line, line_queue] = keys else { unreachable!("it has three keys") };
    let link = layout.link.clone().filter(|link| !link.stations().is_empty());
    let Some(link) = link else {
        return Err(InputError::new(
            "wifi needs a link with stations, as --link 'wifi stations [phone=ht-mcs7-400ns]'",
        ));
    };
    let stations = link.stations();
    if count != 0 && count != stations.len() as u64 {
        let problem = format!("the link has {}: give one of them", stations.len());
        return Err(InputError::field("stations", count, problem));
    }
    layout.sources.push("server".to_owned());
    layout.sinks.clone_from(&stations);
    let kind = link.to_string();
    let fast = rate.saturating_mul(AT_ONCE);
    let on_air = |layout: &mut Layout, from: &str, queue: LinkQueue| {
        let link = TopologyLink::new(from, "air", None, 0, queue);
        layout.add(TopologyLink { medium: Some("air".to_owned()), kind: Some(kind.clone()), ..link })?;
        let (from, to) = ("air", from);
        layout.add(TopologyLink::new(from, to, Some(fast), 0, LinkQueue::Plain))
    };
    on_air(layout, "ap", LinkQueue::UnderTest)?;
    for station in &stations {
        on_air(layout, station, LinkQueue::Discipline(FIFO.to_owned()))?;
    }
    let down = match (line, line_queue) {
        (0, _) => LinkQueue::Plain,
        (_, 0) => LinkQueue::Discipline(FIFO.to_owned()),
        _ => LinkQueue::UnderTest,
    };
    let bits = if line == 0 { fast } else { line };
    let link = TopologyLink::new("server", "ap", Some(bits), rtt / 2, down);
    layout.add(TopologyLink { name: Some("line".to_owned()), ..link })?;
    layout.add(TopologyLink::new("ap", "server", Some(bits), rtt - rtt / 2, LinkQueue::Plain))?;
    if line != 0 {
        layout.measure = vec!["ap->air".to_owned(), "line".to_owned()];
    }
    Ok(())
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
