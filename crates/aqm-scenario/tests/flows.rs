//! Every kind of flow as text: printing and reading are inverse, in full and with what differs from the default alone.

use aqm_core::input_error::InputError;
use aqm_core::params::{Kind, ParamSpec, Value};
use aqm_core::random::Random;
use aqm_core::units::Span;
use aqm_scenario::flows::{Catalogue, Group, Key, NoFiles, RENAMED, parse};
use aqm_sim::traffic::Takes;
use aqm_sim::transport::{Relation, socket};
use serde_json::json;

/// A value that every key of these names takes.
const EXAMPLES: [(&str, &str); 8] = [
    ("rate", "3mbit"),
    ("rates", "1mbit..3mbit"),
    ("window", "20p"),
    ("size", "exp(10kb)"),
    ("gap", "1ms"),
    ("load", "60%"),
    ("file", "lan.pcap"),
    ("servers", "4"),
];

fn read(text: &str) -> Result<Group, InputError> {
    parse(text, &Catalogue::default(), &NoFiles)
}

fn is_inverse(text: &str) {
    let group = read(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let simulated = group.group().unwrap_or_else(|error| panic!("{text}: {error}"));
    for written in [group.to_string(), group.short()] {
        let again = read(&written).unwrap_or_else(|error| panic!("{written}: {error}"));
        assert_eq!(again.group().as_ref(), Ok(&simulated), "{written}");
        assert_eq!((again.to_string(), again.short()), (group.to_string(), group.short()), "{written}");
    }
}

#[test]
fn every_kind_over_every_transport_and_profile_reads_back() {
    let mut tried = 0;
    for kind in Catalogue::default().kinds() {
        let must = kind.must().iter().map(|name| {
            let (_, value) = EXAMPLES.iter().find(|(known, _)| known == name).expect("there is an example");
            format!(":{name}={value}")
        });
        let must: String = must.collect();
        let transports = kind.transports();
        for carrier in &transports {
            let over = if transports.len() > 1 { format!(":transport={carrier}") } else { String::new() };
            let is_tcp =
                read(&format!("2*{}{must}{over}", kind.name())).unwrap().transport().form().0 == "tcp";
            let profiles: &[&str] =
                if is_tcp { &["", ":profile=rfc", ":profile=linux", ":profile=ns3"] } else { &[""] };
            for profile in profiles {
                is_inverse(&format!("2*{}{must}{over}{profile}", kind.name()));
                is_inverse(&format!(
                    "7*{}{must}{over}{profile}:name=x:start=1s..2s:spacing=3ms:class=2",
                    kind.name()
                ));
                tried += 2;
            }
        }
    }
    assert!(tried > 500, "{tried}");
}

#[test]
fn a_value_at_its_default_is_not_printed() {
    for (text, short) in [
        ("cubic", "1*cubic"),
        ("8*newreno:sack=on:minrto=200ms", "8*newreno"),
        ("2*cubic:profile=linux:recovery=linux:recovery.rack=on", "2*cubic:profile=linux"),
        ("1*cubic:recovery=linux:acks=rfc:recovery.frto=on", "1*cubic:recovery=linux"),
        ("2*bbr:profile=linux:recovery.rack=on", "2*bbr1:profile=linux"),
        ("1*cbr:rate=1000kbit:packet=1500b:transport=udp", "1*cbr:rate=1mbit"),
    ] {
        assert_eq!(read(text).unwrap().short(), short);
    }
}

#[test]
fn an_error_knows_option_path_value_and_the_nearest_name() {
    let error = read("2*cubic:iw=0").unwrap_err();
    assert_eq!((error.option.as_str(), error.value.as_str()), ("flows", "0"));
    assert_eq!(error.path, ["'2*cubic:iw=0'", "iw"]);
    assert_eq!(error.allowed, ["1 to 10000"]);
    assert_eq!(error.to_string(), "flows: '2*cubic:iw=0': iw: '0' is out of range: allowed is 1 to 10000");
    let error = read("2*cubik").unwrap_err();
    assert_eq!((error.value.as_str(), error.nearest.as_deref()), ("cubik", Some("cubic")));
}

#[test]
fn a_group_of_rules_has_a_profile_of_its_own() {
    let rules = |text: &str| {
        let group = read(text).unwrap();
        ["recovery.rack", "acks.psh", "handshake"].map(|key| group.text(key).unwrap().to_owned())
    };
    assert_eq!(rules("cubic"), ["off", "off", "off"]);
    assert_eq!(rules("cubic:profile=linux"), ["on", "on", "on"]);
    assert_eq!(rules("cubic:profile=linux:recovery=rfc"), ["off", "on", "on"]);
    assert_eq!(rules("cubic:acks=linux"), ["off", "on", "off"]);
    let error = read("cubic:acks=lunix").unwrap_err().to_string();
    assert_eq!(
        error,
        "flows: 'cubic:acks=lunix': acks 'lunix' is not one of rfc, linux, ns3, did you mean 'linux'?"
    );
    // Rate-based senders have a key of this name.
    assert_eq!(read("1*dcqcn:line=1mbit:recovery=none").unwrap().text("recovery"), Some("none"));
}

#[test]
fn an_old_key_is_answered_with_the_new_one_and_its_value() {
    let known = Catalogue::default();
    let keys = known.kind("cubic").unwrap().keys(None);
    let renamed: Vec<_> = RENAMED.iter().filter(|one| one.old != one.new).collect();
    assert_eq!((RENAMED.len(), renamed.len()), (52, 32));
    // Those of a package's sockets are known where a host has them.
    for one in RENAMED.iter().filter(|one| !one.new.starts_with("app.")) {
        let key = keys.iter().find(|key| key.name == one.new).unwrap_or_else(|| panic!("{}", one.new));
        assert!(one.values.iter().all(|(_, new)| key.words.contains(new) || ["on", "off"].contains(new)));
        assert_eq!(keys.iter().any(|key| key.name == one.old), one.old == one.new, "{}", one.old);
    }
    for (old, says) in [
        ("rack=on", "'rack' is now 'recovery.rack': write recovery.rack=on"),
        ("stack=linux", "'stack' is now 'profile': write profile=linux"),
        ("hystart=on", "'hystart' is now 'slow_start.hystart': write slow_start.hystart=plusplus"),
        ("synloss=ignored", "'synloss' is now 'recovery.syn_loss': write recovery.syn_loss=off"),
    ] {
        let error = read(&format!("2*cubic:{old}")).unwrap_err();
        assert_eq!(error.to_string(), format!("flows: '2*cubic:{old}': {says}"));
        assert!(says.contains(&format!("'{}'", error.allowed[0])));
    }
}

#[test]
fn keys_of_sockets_are_those_of_a_host_that_has_them() {
    static INFO: socket::Info = socket::Info {
        name: "app",
        summary: "a socket",
        keys: &[
            ParamSpec::new("app.listen", Kind::Span, Value::Span(Span::ZERO), (0.0, 1e18), "", ""),
            ParamSpec::new("app.sndbuf", Kind::Size, Value::Auto, (1.0, 1e18), "", ""),
        ],
        relations: &[Relation { given: ("app.listen", "1s"), needs: ("handshake", "on") }],
        write_bytes: |_| None,
        build: |_, _| unreachable!("nothing runs here"),
    };
    let known = Catalogue::default().with_sockets(&[&INFO]);
    let of_host = |text: &str| parse(text, &known, &NoFiles);
    let socket =
        |text: &str| serde_json::to_value(of_host(text).unwrap().group().unwrap()).unwrap()["socket"].clone();
    // Of the values only what differs is in the scenario, and nothing where nothing does.
    assert_eq!(socket("cubic:app.sndbuf=2p"), json!({"socket": "app", "sndbuf_bytes": 2 * 1448}));
    assert_eq!(socket("cubic:app.listen=off"), json!(null));
    assert_eq!(of_host("cubic:app.sndbuf=2p").unwrap().short(), "1*cubic:app.sndbuf=2p");
    let problem = |text: &str| of_host(text).unwrap_err().to_string();
    assert!(problem("cubic:app.listen=1s").ends_with("app.listen=1s needs handshake=on"));
    assert!(problem("cubic:listen=1s").ends_with("'listen' is now 'app.listen': write app.listen=1s"));
    assert!(problem("cbr:app.sndbuf=2p").ends_with("'app.sndbuf' means nothing for cbr over udp"));
    // They are not offered to those who mistype.
    assert!(!problem("cubic:app.snbduf=2p").contains("app.sndbuf"));
    for text in ["cubic:listen=1s", "cubic:app.sndbuf=2p"] {
        let name = text[6..].split('=').next().unwrap();
        assert!(read(text).unwrap_err().to_string().contains(&format!("unknown key '{name}'")));
    }
}

/// A value of a key, by its declaration.
fn some_value(key: &Key, random: &mut impl FnMut(u64) -> u64) -> Option<String> {
    let (low, high) = key.range;
    let (low, widest) = (low.max(1.0), if high < low { 1e9 } else { (high - low.max(1.0)).min(1e9) });
    let number = low as u64 + random(widest as u64 + 1);
    Some(match (key.takes, key.unit()) {
        (Takes::Range, _) => format!("{}ms..{}ms", random(100), 100 + random(900)),
        (Takes::One(_) | Takes::Drawn(_), Some(Kind::Span)) => format!("{number}ns"),
        (Takes::One(_) | Takes::Drawn(_), Some(Kind::Bytes)) => format!("{number}b"),
        (Takes::One(_), Some(Kind::Size)) => format!("{}p", 1 + random(100)),
        (Takes::One(_), Some(Kind::Count)) => number.to_string(),
        (Takes::One(_), Some(Kind::Rate)) => format!("{}kbit", 1 + random(100_000)),
        (Takes::One(_), Some(Kind::Fraction)) => format!("{}%", 1 + random(100)),
        (Takes::One(_), Some(Kind::Flag)) => ["on", "off"][random(2) as usize].to_owned(),
        (Takes::One(_), Some(Kind::Choice(_))) => {
            key.words[random(key.words.len() as u64) as usize].to_owned()
        }
        (Takes::Name, _) => format!("group{}", random(9)),
        _ => return None,
    })
}

#[test]
fn ten_thousand_groups_read_back_as_they_were() {
    let known = Catalogue::default();
    let kinds = known.kinds();
    let mut state = Random::seeded(1);
    let mut random = |below: u64| state.below(below);
    let (mut read_back, mut refused) = (0, 0);
    while read_back < 10_000 {
        let kind = &kinds[random(kinds.len() as u64) as usize];
        let transports = kind.transports();
        let carrier = transports[random(transports.len() as u64) as usize];
        let over = kind.carrier(carrier).unwrap();
        let mut text = format!("{}*{}", 1 + random(20), kind.name());
        for key in kind.keys(Some(over)) {
            let must = kind.must().contains(&key.name) || over.must().contains(&key.name);
            let value = match key.name {
                "transport" => Some(carrier.to_owned()),
                name if must => EXAMPLES.iter().find(|one| one.0 == name).map(|one| one.1.to_owned()),
                _ if random(6) > 0 => None,
                _ => some_value(&key, &mut random),
            };
            text += &value.map_or(String::new(), |value| format!(":{}={value}", key.name));
        }
        // Values that exclude each other are refused, as they are when written by hand.
        match read(&text).and_then(|group| group.group()) {
            Ok(_) => is_inverse(&text),
            Err(_) => {
                refused += 1;
                continue;
            }
        }
        read_back += 1;
    }
    assert!(refused < 30_000, "{refused} refused");
}
