//! What follows from several words of a qdisc together, as tc works it out before it asks the kernel.

use super::given::Given;
use super::listing::Form;
use super::{ewma, units};
use aqm_core::discipline::cake::LinkLayer;

/// Nothing follows.
pub(super) fn as_it_is(_: &mut Given, _: Form) -> Result<(), String> {
    Ok(())
}

/// tc-red(8): `limit` and `avpkt` are needed; `max` is a quarter of `limit`, `min` a third of `max`, and the weight follows
/// from `burst`.
pub(super) fn red(given: &mut Given, form: Form) -> Result<(), String> {
    let number = |given: &Given, name: &str| given.get(name).map(units::bytes).transpose();
    let (limit, avpkt) = (number(given, "limit")?, number(given, "avpkt")?);
    let Some(limit) = limit.filter(|limit| *limit > 0) else {
        return Err("'limit' is missing, which tc needs: give bytes, as limit 400000".to_owned());
    };
    if form != Form::Command {
        return Ok(());
    }
    let Some(avpkt) = avpkt.filter(|avpkt| *avpkt > 0) else {
        return Err("'avpkt' is missing, which tc needs: give bytes, as avpkt 1000".to_owned());
    };
    let thresholds = Thresholds::of(limit, number(given, "min")?, number(given, "max")?);
    given.set("min", units::size(&thresholds.min.to_string())?);
    given.set("max", units::size(&thresholds.max.to_string())?);
    let burst = given.unset("burst").map(|burst| units::count(&burst)).transpose()?;
    let burst =
        burst.filter(|burst| *burst > 0).unwrap_or((2 * thresholds.min + thresholds.max) / (3 * avpkt));
    given.set("w", ewma::weight(burst, thresholds.min as f64 / avpkt as f64)?.to_string());
    if given.get("bandwidth").is_none() {
        given.set("bandwidth", "10mbit".to_owned());
    }
    Ok(())
}

/// tc-choke(8): as RED, with packets.
pub(super) fn choke(given: &mut Given, form: Form) -> Result<(), String> {
    let number = |given: &Given, name: &str| {
        given.get(name).map(|text| units::count(text.trim_end_matches('p'))).transpose()
    };
    let Some(limit) = number(given, "limit")?.filter(|limit| *limit > 0) else {
        return Err("'limit' is missing, which tc needs: give packets, as limit 1000".to_owned());
    };
    if form != Form::Command {
        return Ok(());
    }
    let thresholds = Thresholds::of(limit, number(given, "min")?, number(given, "max")?);
    given.set("min", format!("{}p", thresholds.min));
    given.set("max", format!("{}p", thresholds.max));
    let burst = given.unset("burst").map(|burst| units::count(&burst)).transpose()?;
    let burst = burst.filter(|burst| *burst > 0).unwrap_or((2 * thresholds.min + thresholds.max) / 3);
    given.set("w", ewma::weight(burst, thresholds.min as f64)?.to_string());
    if given.get("bandwidth").is_none() {
        given.set("bandwidth", "10mbit".to_owned());
    }
    Ok(())
}

/// RED's thresholds, in the unit of the limit.
pub(super) struct Thresholds {
    pub(super) min: u64,
    pub(super) max: u64,
}

impl Thresholds {
    /// Those that are given, or tc's from the limit; zero counts as not given.
    pub(super) fn of(limit: u64, min: Option<u64>, max: Option<u64>) -> Thresholds {
        let min = min.filter(|min| *min > 0);
        let max = max.filter(|max| *max > 0).unwrap_or_else(|| min.map_or(limit / 4, |min| min * 3));
        Thresholds { min: min.unwrap_or(max / 3), max }
    }
}

/// What tc-dualpi2(8) works out from round-trip times, whatever else is given.
pub(super) const FROM_ROUND_TRIPS: [&str; 4] = ["target", "tupdate", "alpha", "beta"];

/// tc-dualpi2(8): with a round-trip time, values for the controller are ignored.
pub(super) fn dualpi2(given: &mut Given, _: Form) -> Result<(), String> {
    if given.get("typical_rtt").or(given.get("max_rtt")).is_some() {
        for name in FROM_ROUND_TRIPS {
            if given.unset(name).is_some() {
                given.idle.push((name.to_owned(), "it follows from typical_rtt and max_rtt"));
            }
        }
    }
    Ok(())
}

/// tc-cake(8): keywords for overheads add up, `raw` and `conservative` begin anew, `overhead N` takes their place.
pub(super) fn cake(given: &mut Given, _: Form) -> Result<(), String> {
    if given.get("bandwidth") == Some("auto") {
        given.unset("bandwidth");
    }
    let words = std::mem::take(&mut given.layer);
    if let [(word, _)] = &*words
        && (LinkLayer::keyword(word).is_some() || *word == "raw")
    {
        given.set("link_layer", (*word).to_owned());
        return Ok(());
    }
    let (mut overhead, mut is_raw, mut mpu, mut cells) = (None, false, None, None);
    for (word, value) in &words {
        let number = || units::signed(value);
        match *word {
            "overhead" => overhead = Some(number()?),
            "mpu" => mpu = Some(number()?),
            "noatm" | "atm" | "ptm" => cells = Some(*word),
            "ether-vlan" => overhead = Some(overhead.unwrap_or(0) + 4),
            "raw" => (overhead, is_raw, cells) = (Some(0), true, Some("noatm")),
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
        return Err("'raw' with an overhead counts from the device's frame: give overhead for the IP packet"
            .to_owned());
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
    if let Some(word) = cells.filter(|word| *word != "noatm") {
        given.set("cells", word.to_owned());
    }
    Ok(())
}
