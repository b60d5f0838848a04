//! What builds the topologies by name: each from a rate in bit/s, a round-trip time in nanoseconds and the values of its keys.

use super::layout::Layout;
use aqm_core::choices;
use aqm_core::input_error::InputError;
use aqm_core::params::Choice;
use aqm_sim::scenario::topology::{LinkQueue, TopologyLink};

choices! {
    /// Kinds of links that share a medium.
    pub(super) enum Access {
        Turns = "turns",
        Backoff = "backoff",
    }
}

/// Links of hosts are this much faster than the bottleneck where they are not meant to be one.
const ACCESS_FACTOR: u64 = 10;
const CLIENTS_OF_ROUTER: u64 = 4;
const CLIENTS_OF_SITE: u64 = 16;
const SERVERS_OF_SITE: u64 = 4;

const PLAIN: [LinkQueue; 2] = [LinkQueue::Plain, LinkQueue::Plain];
const TESTED: [LinkQueue; 2] = [LinkQueue::UnderTest, LinkQueue::Plain];

fn fast(rate: u64) -> u64 {
    rate.saturating_mul(ACCESS_FACTOR)
}

fn names(what: &str, count: u64) -> Vec<String> {
    (0..count).map(|number| format!("{what}{number}")).collect()
}

pub(super) fn parking_lot(layout: &mut Layout, rate: u64, rtt: u64, keys: &[u64]) -> Result<(), InputError> {
    let hops = keys[0];
    layout.sources.push("src".to_owned());
    layout.sinks.push("dst".to_owned());
    let (delay, fast) = (rtt / (2 * (hops + 2)), fast(rate));
    layout.both(("src", "r0"), fast, delay, PLAIN)?;
    for hop in 0..hops {
        let (here, next) = (format!("r{hop}"), format!("r{}", hop + 1));
        layout.both((&*here, &*next), rate, delay, TESTED)?;
        layout.both((format!("cross{hop}.src"), here), fast, delay, PLAIN)?;
        layout.both((next, format!("cross{hop}.dst")), fast, delay, PLAIN)?;
    }
    layout.measured = 2;
    layout.both((format!("r{hops}"), "dst"), fast, delay, PLAIN)
}

pub(super) fn star(layout: &mut Layout, rate: u64, rtt: u64, keys: &[u64]) -> Result<(), InputError> {
    let mut hosts = names("h", keys[0]);
    for host in &hosts {
        layout.both(("switch", host), rate, rtt / 4, TESTED)?;
    }
    let others = hosts.split_off(1);
    layout.sources = if others.is_empty() { hosts.clone() } else { others };
    layout.sinks = hosts;
    Ok(())
}

pub(super) fn many_to_one(layout: &mut Layout, rate: u64, rtt: u64, keys: &[u64]) -> Result<(), InputError> {
    layout.sources = names("s", keys[0]);
    layout.sinks.push("server".to_owned());
    layout.both(("router", "server"), rate, rtt / 4, TESTED)?;
    for sender in layout.sources.clone() {
        layout.both((sender, "router"), fast(rate), rtt / 4, PLAIN)?;
    }
    Ok(())
}

pub(super) fn many_to_many(layout: &mut Layout, rate: u64, rtt: u64, keys: &[u64]) -> Result<(), InputError> {
    layout.sources = names("s", keys[0]);
    layout.sinks = names("server", keys[1]);
    let delay = rtt / 6;
    layout.both(("router", "switch"), rate, delay, TESTED)?;
    for sender in layout.sources.clone() {
        layout.both((sender, "router"), fast(rate), delay, PLAIN)?;
    }
    for server in layout.sinks.clone() {
        layout.both(("switch", server), rate, delay, TESTED)?;
    }
    Ok(())
}

/// Sites of the large-network evaluation: four clients per router, four routers and four servers per switch.
pub(super) fn campus(layout: &mut Layout, rate: u64, rtt: u64, keys: &[u64]) -> Result<(), InputError> {
    let clients = keys[0];
    let sites = clients.div_ceil(CLIENTS_OF_SITE);
    // Client, router, switch (core, switch), server.
    let (delay, fast) = (rtt / if sites == 1 { 6 } else { 10 }, fast(rate));
    layout.sources = names("c", clients);
    for number in 0..clients {
        let (router, site) = (number / CLIENTS_OF_ROUTER, number / CLIENTS_OF_SITE);
        if number % CLIENTS_OF_ROUTER == 0 {
            layout.both((format!("r{router}"), format!("switch{site}")), rate, delay, TESTED)?;
        }
        layout.both((format!("c{number}"), format!("r{router}")), fast, delay, PLAIN)?;
        // To the servers of the next site: nearly all traffic crosses the core.
        layout.sinks.push(format!("server{}.{}", (site + 1) % sites, number % SERVERS_OF_SITE));
    }
    for site in 0..sites {
        let switch = format!("switch{site}");
        for server in 0..SERVERS_OF_SITE {
            layout.both((&*switch, format!("server{site}.{server}")), fast, delay, PLAIN)?;
        }
        if sites > 1 {
            layout.both((switch, "core"), fast, delay, PLAIN)?;
        }
    }
    Ok(())
}

pub(super) fn leaf_spine(layout: &mut Layout, rate: u64, rtt: u64, keys: &[u64]) -> Result<(), InputError> {
    let &[leaves, spines, hosts] = keys else { unreachable!("it has three keys") };
    let delay = rtt / 8;
    for number in 0..leaves {
        let leaf = format!("leaf{number}");
        for host in names(&format!("h{number}."), hosts) {
            layout.both((&*leaf, &*host), rate, delay, TESTED)?;
            if number == 0 { &mut layout.sinks } else { &mut layout.sources }.push(host);
        }
        for spine in names("spine", spines) {
            layout.both((&*leaf, spine), rate, delay, [LinkQueue::UnderTest, LinkQueue::UnderTest])?;
        }
    }
    if layout.sources.is_empty() {
        layout.sources = layout.sinks[1..].to_vec();
    }
    Ok(())
}

pub(super) fn shared_medium(
    layout: &mut Layout,
    rate: u64,
    rtt: u64,
    keys: &[u64],
) -> Result<(), InputError> {
    let delay = rtt / 4;
    layout.sources.push("server".to_owned());
    layout.sinks = names("station", keys[0]);
    for station in layout.sinks.clone() {
        for (from, to) in [("ap", &*station), (&*station, "ap")] {
            let link = TopologyLink::new(from, to, Some(rate), delay, LinkQueue::UnderTest);
            layout.add(TopologyLink { medium: Some("air".to_owned()), ..link })?;
        }
    }
    layout.both(("server", "ap"), fast(rate), delay, PLAIN)
}

pub(super) fn bus(layout: &mut Layout, rate: u64, rtt: u64, keys: &[u64]) -> Result<(), InputError> {
    let &[clients, servers, access] = keys else { unreachable!("it has three keys") };
    let kind = format!("{} until arrival", Access::ALL[access as usize].word());
    layout.sources = names("client", clients);
    layout.sinks = names("server", servers);
    for host in [layout.sources.clone(), layout.sinks.clone()].concat() {
        let link = TopologyLink::new(&host, "channel", Some(rate), rtt / 2, LinkQueue::UnderTest);
        layout.add(TopologyLink { medium: Some("channel".to_owned()), kind: Some(kind.clone()), ..link })?;
        layout.add(TopologyLink::new("channel", &host, Some(fast(rate)), 0, LinkQueue::Plain))?;
    }
    Ok(())
}

pub(super) fn asymmetric(layout: &mut Layout, rate: u64, rtt: u64, keys: &[u64]) -> Result<(), InputError> {
    layout.sources.push("server".to_owned());
    layout.sinks.push("home".to_owned());
    let up = if keys[0] == 0 { (rate / 10).max(1) } else { keys[0] };
    let delay = rtt / 6;
    for (from, to, bits, name) in [("isp", "modem", rate, "down"), ("modem", "isp", up, "up")] {
        let link = TopologyLink::new(from, to, Some(bits), delay, LinkQueue::UnderTest);
        layout.add(TopologyLink { name: Some(name.to_owned()), ..link })?;
        layout.measure.push(name.to_owned());
    }
    layout.both(("server", "isp"), fast(rate), delay, PLAIN)?;
    layout.both(("modem", "home"), fast(rate), delay, PLAIN)
}
