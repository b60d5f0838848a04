//! Every kind of flow as text: printing and reading are inverse, in full and with what differs from the default alone.

use aqm_core::input_error::InputError;
use aqm_scenario::flows::{Catalogue, Group, NoFiles, RENAMED, parse};

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
    for one in RENAMED {
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
