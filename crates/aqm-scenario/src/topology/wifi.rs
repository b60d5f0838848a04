//! Wi-Fi behind a line: `wifi:stations=4:line=50mbit`, or what `--link "wifi ..."` says of its stations.

use super::layout::Layout;
use aqm_core::choices;
use aqm_core::input_error::InputError;
use aqm_core::params::Choice;
use aqm_path::kind::KindSpec;
use aqm_path::kinds::KINDS;
use aqm_path::mac::link::MULTICAST;
use aqm_sim::scenario::topology::{LinkQueue, TopologyLink};

/// Its name.
pub(crate) const NAME: &str = "wifi";

/// The rates of stations of which only the number is known: "Ending the Anomaly" (USENIX ATC 2017), section 4.1.
const FAST: &str = "ht-mcs15-400ns";
const SLOW: &str = "ht-mcs0-400ns";
/// The queue of a station: Linux' default txqueuelen.
const FIFO: &str = "fifo limit 1000p";
/// Links that are no bottleneck have this many times the rate of the fastest station.
const AT_ONCE: u64 = 1000;

choices! {
    /// What waits in front of the line.
    pub(super) enum LineQueue {
        /// A FIFO of 1000 packets.
        Fifo = "fifo",
        FqCoDel = "fq_codel",
        /// The AQM.
        Test = "test",
    }
}

/// The kind of link with so many stations, the last of them slow; with zero that of the defaults.
pub(super) fn link_of(count: u64) -> Result<KindSpec, InputError> {
    let fast = (1..count).map(|number| format!("fast{number}={FAST}"));
    let all: Vec<String> = fast.chain([format!("slow={SLOW}")]).collect();
    let stations = format!(" stations [{}]", all.join(", "));
    KindSpec::parse(&format!("{NAME}{}", if count == 0 { "" } else { &stations }), KINDS)
}

pub(super) fn build(layout: &mut Layout, rate: u64, rtt: u64, keys: &[u64]) -> Result<(), InputError> {
    let &[count, line, up, line_queue, buffer, up_buffer] = keys else { unreachable!("it has six keys") };
    let link = layout.link.clone().filter(|link| !link.stations().is_empty());
    let Some(link) = link else {
        return Err(InputError::new(
            "wifi needs a link with stations, as --link 'wifi stations [phone=ht-mcs7-400ns]'",
        ));
    };
    // Multicast is received and not sent, and only by a flow that names it.
    let (groups, stations): (Vec<String>, Vec<String>) =
        link.stations().into_iter().partition(|name| name == MULTICAST);
    if count != 0 && count != stations.len() as u64 {
        let problem = format!("the link has {}: give one of them", stations.len());
        return Err(InputError::field("stations", count, problem));
    }
    layout.sources.push("server".to_owned());
    layout.sinks.clone_from(&stations);
    let kind = link.to_string();
    let fast = rate.saturating_mul(AT_ONCE);
    let from_air = |layout: &mut Layout, to: &str| {
        layout.add(TopologyLink::new("air", to, Some(fast), 0, LinkQueue::Plain))
    };
    let on_air = |layout: &mut Layout, from: &str, queue: LinkQueue| {
        let link = TopologyLink::new(from, "air", None, 0, queue);
        layout.add(TopologyLink { medium: Some("air".to_owned()), kind: Some(kind.clone()), ..link })?;
        from_air(layout, from)
    };
    on_air(layout, "ap", LinkQueue::UnderTest)?;
    for station in &stations {
        on_air(layout, station, LinkQueue::Discipline(FIFO.to_owned()))?;
    }
    for group in &groups {
        from_air(layout, group)?;
        layout.add(TopologyLink::new(group, "ap", Some(fast), 0, LinkQueue::Plain))?;
    }
    let in_front = |rate, buffer| match (rate, LineQueue::ALL[line_queue as usize]) {
        (0, _) => LinkQueue::Plain,
        (_, LineQueue::Fifo) => LinkQueue::Discipline(format!("fifo limit {buffer}p")),
        (_, LineQueue::FqCoDel) => LinkQueue::Discipline("fq_codel".to_owned()),
        (_, LineQueue::Test) => LinkQueue::UnderTest,
    };
    let bits = if line == 0 { fast } else { line };
    let link = TopologyLink::new("server", "ap", Some(bits), rtt / 2, in_front(line, buffer));
    layout.add(TopologyLink { name: Some("line".to_owned()), ..link })?;
    let back = if up == 0 { bits } else { up };
    layout.add(TopologyLink::new("ap", "server", Some(back), rtt - rtt / 2, in_front(up, up_buffer)))?;
    if line != 0 {
        layout.measure = vec!["ap->air".to_owned(), "line".to_owned()];
    }
    Ok(())
}
