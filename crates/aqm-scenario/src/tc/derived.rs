//! What follows from several words of a qdisc together, as tc works it out before it asks the kernel.

use super::given::Given;
use super::listing::Form;
use super::units;
use aqm_core::discipline::cake::{Cells, LinkLayer};
use aqm_core::input_error::InputError;
use aqm_core::params::Choice;

/// Nothing follows.
pub(super) fn as_it_is(_: &mut Given, _: Form) -> Result<(), InputError> {
    Ok(())
}

/// tc-red(8): `limit` and `avpkt` are needed. Thresholds and weight that are not given the discipline derives as tc does; the
/// bandwidth is 10 Mbit/s.
pub(super) fn red(given: &mut Given, form: Form) -> Result<(), InputError> {
    needed(given, "limit", "bytes, as limit 400000")?;
    if form != Form::Command {
        return Ok(());
    }
    needed(given, "avpkt", "bytes, as avpkt 1000")?;
    defaults(given);
    Ok(())
}

/// tc-choke(8): as RED, with packets of 1000 bytes unless given.
pub(super) fn choke(given: &mut Given, form: Form) -> Result<(), InputError> {
    needed(given, "limit", "packets, as limit 1000")?;
    if form == Form::Command {
        defaults(given);
    }
    Ok(())
}

fn needed(given: &Given, word: &str, what: &str) -> Result<(), InputError> {
    match given.get(word) {
        None | Some("0b" | "0p") => {
            Err(InputError::new(format!("'{word}' is missing, which tc needs: give {what}")))
        }
        Some(_) => Ok(()),
    }
}

/// A value of zero counts as none.
fn defaults(given: &mut Given) {
    for word in ["min", "max", "burst"] {
        if matches!(given.get(word), Some("0b" | "0p" | "0")) {
            given.unset(word);
        }
    }
    if given.get("bandwidth").is_none() {
        given.set("bandwidth", "10mbit".to_owned());
    }
}

/// What tc-dualpi2(8) works out from round-trip times, whatever else is given.
pub(super) const FROM_ROUND_TRIPS: [&str; 4] = ["target", "tupdate", "alpha", "beta"];

/// tc-dualpi2(8): with a round-trip time, values for the controller are ignored.
pub(super) fn dualpi2(given: &mut Given, _: Form) -> Result<(), InputError> {
    if given.get("typical_rtt").or(given.get("max_rtt")).is_some() {
        for name in FROM_ROUND_TRIPS {
            if given.unset(name).is_some() {
                given.idle.push((name.to_owned(), "it follows from typical_rtt and max_rtt"));
            }
        }
    }
    Ok(())
}

/// Priorities of packets, of which tc-prio(8)'s map gives each a band.
pub(super) const PRIORITIES: usize = 16;

/// iproute2's `q_prio.c`: priorities beyond the map have the band of priority 0, best effort.
pub(super) fn prio(given: &mut Given, _: Form) -> Result<(), InputError> {
    if let Some(map) = given.get("priomap") {
        let mut bands: Vec<&str> = map.split(',').collect();
        bands.resize(PRIORITIES.max(bands.len()), bands[0]);
        let map = bands.join(",");
        given.set("priomap", map);
    }
    Ok(())
}

/// The quantum of an interface's full packet, which tc-ets(8) deduces for bands without one.
const FULL: &str = "1514";

/// iproute2's `q_ets.c` and `ets_qdisc_change()`: there are as many bands as are strict or have a quantum, unless more are asked
/// for; what the map leaves out is in the last band.
pub(super) fn ets(given: &mut Given, _: Form) -> Result<(), InputError> {
    let number = |given: &Given, word: &str| {
        given.get(word).map_or(0, |text| text.parse::<usize>().unwrap_or(usize::MAX))
    };
    let strict = number(given, "strict");
    let list = |given: &Given, word: &str| -> Vec<String> {
        given.get(word).map_or_else(Vec::new, |text| text.split(',').map(str::to_owned).collect())
    };
    let mut quanta = list(given, "quanta");
    let least = strict.saturating_add(quanta.len());
    let bands = match number(given, "bands") {
        0 => least,
        bands if bands < least => {
            return Err(InputError::new(format!(
                "bands {bands} is less than {strict} strict ones and {} quanta",
                quanta.len()
            )));
        }
        bands => bands,
    };
    if bands == 0 {
        let what = "'bands', 'strict' or 'quanta' is missing, of which tc needs one: give bands 8";
        return Err(InputError::new(what));
    }
    if bands > PRIORITIES {
        return Err(InputError::new(format!("bands {bands}: allowed are {PRIORITIES}")));
    }
    if quanta.iter().any(|quantum| quantum == "0") {
        return Err(InputError::new("quanta: tc refuses a quantum of 0"));
    }
    given.set("bands", bands.to_string());
    if bands > strict {
        quanta.resize(bands - strict, FULL.to_owned());
        let quanta: Vec<String> = quanta.iter().map(|bytes| format!("{bytes}b")).collect();
        given.set("quanta", quanta.join(","));
    }
    let mut map = list(given, "priomap");
    map.resize(PRIORITIES.max(map.len()), (bands - 1).to_string());
    given.set("priomap", map.join(","));
    Ok(())
}

/// Parameters of RED in the queues of `sfq`, which `redflowlimit` switches on.
pub(super) const RED_OF_SFQ: [&str; 8] =
    ["min", "max", "burst", "avpkt", "probability", "w", "ecn", "harddrop"];

/// tc-sfq(8): RED needs `redflowlimit`, which the kernel does not know and tc does not print: thresholds are in the line.
pub(super) fn sfq(given: &mut Given, form: Form) -> Result<(), InputError> {
    if given.get("redflowlimit").is_none()
        && let Some(word) = RED_OF_SFQ.into_iter().find(|word| given.get(word).is_some())
    {
        let max = given.get("max").map(str::to_owned);
        match (form, max) {
            (Form::Printed | Form::Json, Some(max)) => given.set("redflowlimit", max),
            _ => {
                let what = "bytes, as redflowlimit 100000";
                return Err(InputError::new(format!("'{word}' needs 'redflowlimit': give {what}")));
            }
        }
    }
    Ok(())
}

/// tc-cake(8): keywords for overheads add up, `raw` and `conservative` start over, `overhead N` takes their place.
pub(super) fn cake(given: &mut Given, _: Form) -> Result<(), InputError> {
    if given.get("bandwidth") == Some("auto") {
        given.unset("bandwidth");
    }
    if given.get("fwmark") == Some("0") {
        given.unset("fwmark");
    }
    let words = std::mem::take(&mut given.layer);
    let names: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
    let is_keyword = |word: &str| LinkLayer::keyword(word).is_some();
    match *names {
        [word] if is_keyword(word) || word == "raw" => {
            given.set("link_layer", word.to_owned());
            return Ok(());
        }
        ["ether-vlan"] => {
            given.set("ether_vlan", "on".to_owned());
            return Ok(());
        }
        [word, "ether-vlan"] if is_keyword(word) => {
            given.set("link_layer", word.to_owned());
            given.set("ether_vlan", "on".to_owned());
            return Ok(());
        }
        _ => {}
    }
    let (mut overhead, mut is_raw, mut mpu, mut cells) = (None, false, None, None);
    for (word, value) in &words {
        let number = || units::signed(value);
        match *word {
            "overhead" => overhead = Some(number()?),
            "mpu" => mpu = Some(number()?),
            "noatm" | "atm" | "ptm" => cells = Cells::of_word(word),
            "ether-vlan" => overhead = Some(overhead.unwrap_or(0) + 4),
            "raw" => (overhead, is_raw, cells) = (Some(0), true, Some(Cells::None)),
            _ => {
                let layer = LinkLayer::keyword(word).expect("the table has no other words");
                let before = if *word == "conservative" { 0 } else { overhead.unwrap_or(0) };
                overhead = Some(before + layer.overhead);
                // tc's `ethernet` says nothing about cells, others nothing about mpu.
                cells = if *word == "ethernet" { cells } else { Some(layer.cells) };
                mpu = if layer.mpu > 0 { Some(layer.mpu as i32) } else { mpu };
            }
        }
    }
    if is_raw && overhead.is_some_and(|bytes| bytes != 0) {
        return Err(InputError::new(
            "'raw' with an overhead counts from the device's frame: give overhead for the IP packet",
        ));
    }
    if is_raw {
        given.set("link_layer", "raw".to_owned());
    } else if let Some(bytes) = overhead {
        given.set("overhead", format!("{bytes}b"));
    }
    if let Some(bytes) = mpu.filter(|bytes| *bytes > 0) {
        given.set("mpu", format!("{bytes}b"));
    }
    // Without cells is what every layer but those of DSL has.
    if let Some(cells) = cells.filter(|cells| *cells != Cells::None) {
        given.set("cells", cells.word().to_owned());
    }
    Ok(())
}
