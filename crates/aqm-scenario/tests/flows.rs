//! Every kind of flow as text: printing and reading are inverse, in full and with what differs from the default alone.

use aqm_core::input_error::InputError;
use aqm_scenario::flows::{Catalogue, Group, NoFiles, parse};

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
        ("2*bbr:profile=linux:rack=on", "2*bbr1:profile=linux"),
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
