//! Topologies by name and from files: what they build, and what is refused.
#![cfg(feature = "files")]

use aqm_core::input_error::InputError;
use aqm_core::units::{Rate, Span};
use aqm_path::kind::KindSpec;
use aqm_scenario::flows::{Catalogue, Files, NoFiles};
use aqm_scenario::options::Options;
use aqm_scenario::resolve::{Host, Resolved, resolve};
use aqm_scenario::topology::{KINDS, Layout, SizeLimit, Surroundings, read};
use aqm_sim::scenario::Scenario;
use aqm_sim::scenario::topology::LinkQueue;
use aqm_sim::switch::options::{BufferOptions, PfcOptions, SwitchOptions};
use aqm_sim::switch::programs::PROGRAMS;

const RTT_NS: u64 = 40_000_000;

/// A host with one file, and a value for one `$name`.
struct OneFile(String);

impl Files for OneFile {
    fn place(&self, name: &str) -> String {
        format!("folder/{name}")
    }

    fn read(&self, place: &str, most: usize) -> Result<String, InputError> {
        assert!(place == "folder/t.toml" && self.0.len() <= most);
        Ok(self.0.clone())
    }

    fn fill(&self, text: &str) -> Result<String, InputError> {
        Ok(text.replace("$delay", "7ms"))
    }
}

fn laid_out(text: &str, files: &dyn Files, limit: Option<SizeLimit<'_>>) -> Result<Layout, InputError> {
    let (rate, rtt) = (Rate::from_mbit(10), Span::from_nanos(RTT_NS));
    // Stations are those of the link.
    let link = KindSpec::parse("wifi", aqm_path::kinds::KINDS).unwrap();
    let link = text.starts_with("wifi").then_some(&link);
    let around = Surroundings { rate, rtt, files, programs: PROGRAMS, limit, link };
    read(text, &around).map(|layout| layout.expect("it is not the dumbbell"))
}

fn named(text: &str) -> Result<Layout, InputError> {
    laid_out(text, &NoFiles, None)
}

fn of_file(text: &str) -> Result<Layout, InputError> {
    laid_out("t.toml", &OneFile(text.to_owned()), None)
}

fn refused(layout: Result<Layout, InputError>) -> String {
    layout.unwrap_err().to_string()
}

/// A chain of three nodes, the switch in the middle, and more text.
fn chain(more: &str) -> Result<Layout, InputError> {
    let link = |from: &str, to: &str, queue: &str| {
        format!("[[link]]\nfrom = \"{from}\"\nto = \"{to}\"\ndelay = \"1ms\"\nqueue = \"{queue}\"\n")
    };
    // A key of the file itself comes before its first table.
    let links = link("a", "s", "plain") + &link("s", "b", "test");
    of_file(&if more.starts_with('[') { links + more } else { format!("{more}\n{links}") })
}

/// The delay of the only path between two nodes of a tree.
fn delay_ns(layout: &Layout, from: &str, to: &str) -> u64 {
    let mut reached = vec![(from, 0)];
    loop {
        if let Some((_, delay)) = reached.iter().find(|(node, _)| *node == to) {
            return *delay;
        }
        for link in &layout.links {
            let at = |name: &str| reached.iter().find(|(node, _)| *node == name).map(|(_, delay)| *delay);
            if let (Some(before), None) = (at(&link.from), at(&link.to)) {
                reached.push((&link.to, before + link.delay_ns));
            }
        }
    }
}

#[test]
fn every_kind_has_ends_a_measured_queue_and_the_round_trip_asked_for() {
    for kind in KINDS {
        let layout = named(kind.name).unwrap();
        assert_eq!(layout.links[layout.measured].queue, LinkQueue::UnderTest, "{}", kind.name);
        let (source, sink) = (&layout.sources[0], &layout.sinks[0]);
        let there_and_back = delay_ns(&layout, source, sink) + delay_ns(&layout, sink, source);
        assert!(there_and_back.abs_diff(RTT_NS) < 100, "{}: {there_and_back}", kind.name);
        let mut ends = layout.sources.iter().chain(&layout.sinks);
        assert!(ends.all(|end| layout.choose(end).is_ok()), "{}", kind.name);
    }
}

#[test]
fn wifi_lies_behind_a_line_and_its_stations_are_those_of_the_link() {
    let layout = named("wifi:line=50mbit:line_queue=test").unwrap();
    assert_eq!(layout.sinks, ["fast1", "fast2", "slow"]);
    assert_eq!(layout.measure, ["ap->air", "line"]);
    assert_eq!(layout.links.iter().filter(|link| link.medium.is_some()).count(), 4);
    assert_eq!(layout.links.iter().filter(|link| link.queue == LinkQueue::UnderTest).count(), 2);
    let layout = named("wifi:line=50mbit:up=10mbit:buffer=400:up_buffer=170").unwrap();
    let [down, up] = [layout.links.len() - 2, layout.links.len() - 1].map(|number| &layout.links[number]);
    assert_eq!(
        (down.rate_bps, &down.queue),
        (Some(50_000_000), &LinkQueue::Discipline("fifo limit 400p".to_owned()))
    );
    assert_eq!(
        (up.rate_bps, &up.queue),
        (Some(10_000_000), &LinkQueue::Discipline("fifo limit 170p".to_owned()))
    );
    let problem = refused(named("wifi:stations=4"));
    assert_eq!(problem, "topology: stations is 4: the link has 3: give one of them");
}

#[test]
fn a_campus_grows_by_sites_and_nearly_all_its_traffic_crosses_the_core() {
    let layout = named("campus:clients=64").unwrap();
    assert_eq!(layout.nodes().len(), 4 * 25 + 1);
    let sinks = [0, 15, 16, 63].map(|client| layout.sinks[client].as_str());
    assert_eq!(sinks, ["server1.0", "server1.3", "server2.0", "server0.3"]);
    assert_eq!(layout.links.iter().filter(|link| link.queue == LinkQueue::UnderTest).count(), 16);
    assert_eq!(named("campus").unwrap().nodes().len(), 25);
}

#[test]
fn a_file_gives_links_queues_and_ends() {
    let layout = of_file(
        r#"
        measured = "a->b"
        sources = ["a"]
        sinks = ["c"]
        [[link]]
        from = "a"
        to = "b"
        delay = "$delay"
        queue = "test"
        medium = "air"
        kind = "backoff until arrival"
        both = false
        [[link]]
        from = "b"
        to = "c"
        name = "last"
        rate = "100mbit"
        delay = "5ms"
        queue = "codel"
        back = "tc qdisc add dev eth0 root pfifo limit 100"
        loss = 0.01
        "#,
    )
    .unwrap();
    let discipline = |text: &str| LinkQueue::Discipline(text.to_owned());
    let queues: Vec<_> = layout.links.iter().map(|link| link.queue.clone()).collect();
    assert_eq!(queues, [LinkQueue::UnderTest, discipline("codel"), discipline("fifo:tail limit 100p")]);
    let [first, there, back] = &layout.links[..] else { panic!("{layout:?}") };
    assert_eq!((first.delay_ns, first.rate_bps), (7_000_000, None));
    assert_eq!(
        (first.kind.as_deref(), first.medium.as_deref()),
        (Some("backoff until arrival"), Some("air"))
    );
    assert_eq!((there.port(), back.port()), ("last".to_owned(), "c->b".to_owned()));
    assert_eq!((there.wire, there.wire.loss.mean()), (back.wire, 0.01));
    assert_eq!((layout.sources, layout.sinks), (vec!["a".to_owned()], vec!["c".to_owned()]));
}

#[test]
fn switches_take_the_same_options_in_a_name_and_in_a_file() {
    let buffer = Some(BufferOptions { size_bytes: 9 << 20, alpha: 0.5, reserve_bytes: 2048 });
    let pfc = |priorities: &[u8], headroom_bytes| {
        let (xoff_bytes, xon_bytes) = (96 << 10, 93 << 10);
        Some(PfcOptions {
            priorities: priorities.to_vec(),
            xoff_bytes,
            xon_bytes,
            headroom_bytes,
            quanta: u16::MAX,
        })
    };
    let program = Some("dscp:plain threshold 10kb".to_owned());
    let all = SwitchOptions { buffer, pfc: pfc(&[3], None), program };
    let keys = "buffer=9mb:alpha=0.5:reserve=2kb:xoff=96kb:priorities=3:program=dscp threshold 10kb";
    let layout = named(&format!("star:hosts=3:{keys}")).unwrap();
    assert_eq!(layout.switches.into_iter().collect::<Vec<_>>(), [("switch".to_owned(), all.clone())]);
    let table = "[switch]\nbuffer = \"9mb\"\nalpha = 0.5\nreserve = \"2kb\"\nprogram = \"dscp threshold 10kb\"\n\
                 pfc = { xoff = \"96kb\", priorities = [3] }";
    assert_eq!(chain(table).unwrap().switches["s"], all);
    let chosen = "[switch]\nnodes = [\"s\", \"b\"]\npfc = { xoff = \"96kb\", headroom = \"10kb\", priorities = [5, 0] }";
    let layout = chain(chosen).unwrap();
    assert_eq!(layout.switches.keys().collect::<Vec<_>>(), ["b", "s"]);
    assert_eq!(layout.switches["b"].pfc, pfc(&[0, 5], Some(10_240)));
    let equipped = |text: &str| named(text).unwrap().switches.into_keys().collect::<Vec<_>>();
    assert_eq!(equipped("leaf_spine:buffer=9mb"), ["leaf0", "leaf1", "spine0", "spine1"]);
    assert_eq!(equipped("many_to_one:xoff=96kb"), ["router"]);
    assert!(equipped("star").is_empty());
}

#[test]
fn a_wrong_name_is_refused_with_what_is_allowed() {
    for (text, wanted) in [
        ("starr", "topology: unknown topology 'starr', did you mean 'star'?"),
        ("star:host=3", "topology: unknown key 'host', did you mean 'hosts'?"),
        ("star:hosts", "topology: unknown key 'hosts'"),
        ("star:hosts=0", "topology: hosts: '0' is not a whole number from 1 to 10000"),
        ("asymmetric:up=0mbit", "topology: up: '0mbit' is zero"),
        ("bus:access=turn", "unknown access 'turn', did you mean 'turns'?; known are turns, backoff"),
        ("star:bufer=9mb", "unknown key 'bufer', did you mean 'buffer'?"),
        ("star:buffer=9", "buffer: '9' has no unit"),
        ("star:buffer=0b", "buffer: '0b' is out of range: allowed is 1b or more"),
        ("star:buffer=9mb:alpha=0", "alpha: '0' is out of range: allowed is a number above zero"),
        ("star:buffer=9mb:alpha=x", "alpha: 'x' is not a number"),
        ("star:alpha=1", "alpha: needs buffer beside it"),
        ("star:headroom=auto", "headroom: needs xoff beside it"),
        ("star:xoff=9kb:xon=10kb", "xon: '10kb' is more than xoff, 9kb"),
        ("star:xoff=9kb:priorities=3|8", "priorities: '8' is not a whole number from 0 to 7"),
        ("star:xoff=9kb:quanta=0", "quanta: '0' is not a whole number from 1 to 65535"),
        ("star:program=dspc", "program: unknown program 'dspc', did you mean 'dscp'?"),
        ("star:program=dscp treshold 1kb", "'treshold' is unknown, did you mean 'threshold'?"),
        ("t.toml", "'t.toml' is a file, and there are none here"),
    ] {
        let problem = refused(named(text));
        assert!(problem.contains(wanted), "{text}: {problem}");
    }
}

#[test]
fn a_wrong_file_is_refused_by_its_name_and_key() {
    let link = "[[link]]\nfrom = \"a\"\nto = \"b\"\n";
    for (text, wanted) in [
        ("x = 1".to_owned(), "unknown key 'x'"),
        (String::new(), "has no [[link]]"),
        ("x = ".to_owned(), "is not TOML"),
        ("\n  x 3".to_owned(), "(at line 2, column "),
        (format!("x = {}", "[".repeat(100_000)), "is not TOML"),
        (link.to_owned(), "link 0: delay is missing"),
        (format!("{link}delay = \"5\""), "link 0: '5' has no unit"),
        (format!("{link}delay = \"5ms\"\nrate = \"0bit\""), "link 0: rate: '0bit' is zero"),
        (
            format!("{link}delay = \"5ms\"\naccess = \"backoff\""),
            "link 0: access: the link's kind declares it: write kind = \"backoff\"",
        ),
        (format!("{link}delay = \"5ms\"\nboth = 3"), "link 0: both: '3' is neither true nor false"),
        (format!("{link}delay = \"5ms\"\nloss = \"200%\""), "link 0: loss: '200%' is"),
        (
            format!("{link}delay = \"5ms\"\nname = \"n\"\n{link}delay = \"5ms\"\nname = \"n\""),
            "link 1: name: 'n' is",
        ),
        (format!("{link}delay = \"5ms\""), "no link has queue = \"test\""),
        (format!("measured = \"b->c\"\n{link}delay = \"5ms\"\nqueue = \"test\""), "measured: unknown link"),
        (format!("sinks = [\"c\"]\n{link}delay = \"5ms\"\nqueue = \"test\""), "sinks: unknown node 'c'"),
    ] {
        let problem = refused(of_file(&text));
        assert!(
            problem.starts_with("topology: folder/t.toml: ") && problem.contains(wanted),
            "{text}: {problem}"
        );
        assert!(!problem.contains('\n'), "{problem}");
    }
    for (text, wanted) in [
        ("switch = 3", "switch: is not a table"),
        ("[switch]\nbufer = 1", "switch: unknown key 'bufer', did you mean 'buffer'?"),
        ("[switch]\npfc = \"96kb\"", "switch: pfc: '96kb' is not a table"),
        ("[switch]\npfc = { xof = \"96kb\" }", "switch: unknown key of pfc 'xof', did you mean 'xoff'?"),
        ("[switch]\npfc = { priorities = [3] }", "switch: pfc: xoff is missing"),
        ("[switch]\nbuffer = [\"9mb\"]", "switch: buffer: '[\"9mb\"]' is not one value"),
        ("[switch]\nbuffer = \"9mb\"\nnodes = [\"x\"]", "switch: unknown node 'x'"),
    ] {
        let problem = refused(chain(text));
        assert!(problem.contains(wanted), "{text}: {problem}");
    }
}

#[test]
fn more_links_than_the_limit_are_refused_before_they_are_built() {
    let limit = Some(SizeLimit { links: 1000, lifted_by: "--any-size" });
    let named = "leaf_spine:leaves=300:spines=200:hosts=200";
    let problem = refused(laid_out(named, &NoFiles, limit));
    assert!(
        problem.ends_with("it has more than 1000 links, and that many are built only with --any-size"),
        "{problem}"
    );
    let link = "{'from' = 'a', to = 'b', delay = '5ms'},";
    for text in ["[[link]]\nfrom = \"a\"\n".repeat(1001), format!("link = [{}", link.repeat(1001))] {
        let problem = refused(laid_out("t.toml", &OneFile(text), limit));
        assert!(problem.contains("t.toml: it has more than 1000 links"), "{problem}");
    }
}

#[test]
fn flows_ports_and_topology_stand_in_the_scenario() {
    let resolved = |text: &str| -> Result<Resolved, InputError> {
        let options = Options::parse(&format!("rate 10mbit; rtt 40ms; aqm fifo; {text}"))?;
        resolve(&options, &Host::new(&Catalogue::default(), &NoFiles))
    };
    let found =
        resolved("topology asymmetric:up=1mbit; flows 1*cubic; flows 1*cubic:from=h*:to=server").unwrap();
    let scenario = found.scenario;
    assert_eq!(
        (found.topology.as_str(), &scenario.measure[..]),
        ("asymmetric", &["down".to_owned(), "up".to_owned()][..])
    );
    let ends: Vec<_> = scenario.flows.iter().map(|group| (&group.from[..], &group.to[..])).collect();
    let (home, server) = (["home".to_owned()], ["server".to_owned()]);
    assert_eq!(ends, [(&server[..], &home[..]), (&home[..], &server[..])]);
    assert_eq!(Scenario::from_json(scenario.json()), Ok(scenario));
    assert_eq!(resolved("measure back, bottleneck").unwrap().scenario.measure, ["back", "bottleneck"]);
    for (text, wanted) in [
        ("measure bakc", "measure: unknown port 'bakc', did you mean 'back'?; known are bottleneck, back"),
        ("measure back,back", "measure: 'back' is given twice"),
        (
            "topology asymmetric; measure uo",
            "measure: unknown port 'uo', did you mean 'up'?; known are down, up",
        ),
        ("topology star:hosts=4; flows 1*cubic:from=h9", "flows: 'cubic': from: unknown node 'h9'"),
        ("flows 1*cubic:to=phone", "flows: 'cubic': to: 'phone' is no node: a dumbbell has none"),
    ] {
        let problem = resolved(text).unwrap_err().to_string();
        assert!(problem.starts_with(wanted), "{text}: {problem}");
    }
}

/// A host on which a station walks away.
struct Walk;

impl Files for Walk {
    fn place(&self, name: &str) -> String {
        format!("folder/{name}")
    }

    fn read(&self, place: &str, _: usize) -> Result<String, InputError> {
        match place {
            "folder/walk.txt" => Ok("0s ht-mcs7\n2s ht-mcs3\n5s ht-mcs0\n".to_owned()),
            "folder/t.toml" => {
                let links = [
                    ("server", "ap", ""),
                    ("ap", "air", ON_AIR),
                    ("air", "ap", ""),
                    ("a", "air", ON_AIR),
                    ("air", "a", ""),
                ];
                let link = |(from, to, more): &(&str, &str, &str)| {
                    let queue = if *from == "ap" { "test" } else { "plain" };
                    format!(
                        "[[link]]\nfrom = \"{from}\"\nto = \"{to}\"\ndelay = \"1ms\"\nboth = false\nqueue = \"{queue}\"\n{more}"
                    )
                };
                Ok(links.iter().map(link).collect())
            }
            _ => Err(InputError::value(place, "is not there")),
        }
    }
}

const ON_AIR: &str = "medium = \"air\"\nkind = \"wifi stations [a=rates(walk.txt)]\"\n";

#[test]
fn a_scenario_has_the_rates_of_a_stations_file() {
    let known = Catalogue::default();
    let host = Host::new(&known, &Walk);
    let of = |text: &str| resolve(&Options::parse(text).unwrap(), &host);
    let kinds = |found: Resolved| -> Vec<String> {
        found.scenario.topology.unwrap().links.into_iter().filter_map(|link| link.kind).collect()
    };
    let full = "wifi stations [a=ht-mcs7 at 2s ht-mcs3 at 5s ht-mcs0]";
    let link = "link wifi stations [a=rates(walk.txt)]; rtt 10ms; buffer 100p; aqm fifo; flows 1*cubic:to=a";
    assert_eq!(kinds(of(link).unwrap()), [full, full]);
    let file = "topology t.toml; rtt 10ms; buffer 100p; aqm fifo; flows 1*cubic:from=server:to=a";
    assert_eq!(kinds(of(file).unwrap()), [full, full]);
    let problem = of(&link.replace("walk.txt", "none.txt")).unwrap_err().to_string();
    assert!(problem.contains("'folder/none.txt' is not there") && !problem.contains('\n'), "{problem}");
}
