//! A discipline as words of tc: the way back through the same table.

use super::given::LAYER;
use super::kinds::{KINDS, Kind, Word};
use super::{derived, ewma};
use aqm_core::discipline::fifo::Policy;
use aqm_core::input_error::InputError;
use aqm_core::params::Value;
use aqm_core::spec::Spec;
use aqm_core::units::{Rate, Size};

/// Bytes of a full packet in an Ethernet frame, which is what a packet of a limit counts where the kernel counts bytes.
const FULL: u64 = 1514;

/// What follows `tc qdisc add dev DEV root`, for a link of this rate. Every value that tc has a word for is written, and one that
/// was given and that tc has no word for is refused.
pub(super) fn qdisc(spec: &Spec, rate: Rate) -> Result<String, InputError> {
    let name = spec.info.name;
    let kind = kind(spec).ok_or_else(|| InputError::new(format!("'{name}' is no qdisc of Linux")))?;
    let mut words = Words { spec, text: kind.name.to_owned(), done: Vec::new() };
    let own = match kind.name {
        "red" => words.red(rate),
        "choke" => words.choke(rate),
        "dualpi2" => {
            words.dualpi2();
            Ok(())
        }
        "ets" => words.ets(),
        "sfq" => words.sfq(),
        _ => Ok(()),
    };
    own.map_err(|problem| InputError::new(format!("{name}: {problem}")))?;
    for (word, does) in kind.words {
        words.put(word, *does).map_err(|problem| InputError::new(format!("{name}: {problem}")))?;
    }
    // What has a word to switch it on alone is off without it.
    for (_, does) in kind.words {
        if let Word::Flag(param, "on") = does
            && words.has(param)
            && is_text(spec.params.get(param), "off")
        {
            words.done.push(param);
        }
    }
    match kind.name {
        "cake" => words.layer(),
        // The qdisc's name says which packet goes.
        "pfifo" | "bfifo" | "pfifo_head_drop" => words.done.push("drop"),
        _ => {}
    }
    if let Some(name) =
        spec.params.names().find(|name| spec.params.is_given(name) && !words.done.contains(name))
    {
        return Err(InputError::new(format!("{}: tc has no word for '{name}'", spec.info.name)));
    }
    Ok(words.text)
}

/// The qdisc of a discipline; that of a FIFO depends on its limit and policy.
fn kind(spec: &Spec) -> Option<&'static Kind> {
    let is_bytes = || matches!(spec.params.get("limit"), Value::Size(Size::Bytes(_)));
    let name = match (spec.info.name, spec.info.name == "fifo" && is_bytes()) {
        ("fifo", is_bytes) => match (spec.params.choice("drop"), is_bytes) {
            (Policy::Tail, false) => "pfifo",
            (Policy::Tail, true) => "bfifo",
            (Policy::Head, false) => "pfifo_head_drop",
            _ => return None,
        },
        (name, _) => name,
    };
    KINDS.iter().find(|kind| kind.name == name)
}

struct Words<'a> {
    spec: &'a Spec,
    text: String,
    /// The parameters that are written.
    done: Vec<&'static str>,
}

impl Words<'_> {
    fn push(&mut self, words: &str) {
        self.text.push(' ');
        self.text.push_str(words);
    }

    fn has(&self, param: &str) -> bool {
        self.spec.params.names().any(|name| name == param)
    }

    fn put(&mut self, word: &str, does: Word) -> Result<(), InputError> {
        let (Word::Value(param, _)
        | Word::List(param, _)
        | Word::Masked(param, _)
        | Word::Flag(param, _)
        | Word::Keyword(param)) = does
        else {
            return Ok(());
        };
        if param == LAYER || !self.has(param) || self.done.contains(&param) {
            return Ok(());
        }
        let value = self.spec.params.get(param);
        match does {
            Word::Value(_, _) if *value == Value::Auto => return Ok(()),
            Word::Value(_, quantity) => {
                let written = quantity
                    .write(value)
                    .map_err(|problem| InputError::new(format!("{word}: '{value}' {problem}")))?;
                self.push(&format!("{word} {written}"));
            }
            Word::List(_, count) => {
                // Those beyond a list have its last value here, and none in tc.
                let Value::PerClass(list) = value else { return Ok(()) };
                let numbers: Vec<String> = (0..count).map(|place| list.of_class(place).to_string()).collect();
                self.push(&format!("{word} {}", numbers.join(" ")));
            }
            Word::Masked(_, mask) => {
                // Without a mask tc leaves the word out: every packet is meant.
                let bits = self.spec.params.count(mask);
                if bits != 0 {
                    self.push(&format!("{word} {:#x}/{bits:#x}", self.spec.params.count(param)));
                }
                self.done.push(mask);
            }
            Word::Flag(_, text) if is_text(value, text) => self.push(word),
            Word::Keyword(_) if is_text(value, word) => self.push(word),
            _ => return Ok(()),
        }
        self.done.push(param);
        Ok(())
    }

    /// Bytes of a threshold, whose packets are full ones; none where Linux finds it from the limit as tc does.
    fn bytes(&self, param: &'static str) -> Result<Option<u64>, InputError> {
        match self.spec.params.get(param) {
            Value::Size(Size::Packets(count)) => Ok(Some(count * FULL)),
            // Of other presets, a threshold in bytes scales the probability by a packet's length, which Linux does not.
            Value::Size(Size::Bytes(count)) if param == "limit" || self.is_linux() => Ok(Some(*count)),
            Value::Auto if self.is_linux() => Ok(None),
            _ => Err(InputError::new("for Linux give min and max in packets")),
        }
    }

    fn is_linux(&self) -> bool {
        self.spec.preset.name == "linux"
    }

    /// Linux compares bytes, and does not scale its probability by a packet's length: packets of a threshold are full ones.
    fn red(&mut self, rate: Rate) -> Result<(), InputError> {
        let limit = self.bytes("limit")?.expect("limit has no auto");
        let (min, max) = (self.bytes("min")?, self.bytes("max")?);
        self.thresholds([Some(limit), min, max], rate, 1.0)
    }

    /// CHOKe counts packets.
    fn choke(&mut self, rate: Rate) -> Result<(), InputError> {
        let count = |param: &'static str| match self.spec.params.get(param) {
            Value::Size(Size::Packets(count)) => Ok(Some(*count)),
            Value::Auto if self.is_linux() => Ok(None),
            _ => Err(InputError::new(format!("for Linux give {param} in packets"))),
        };
        let (limit, min, max) = (count("limit")?, count("min")?, count("max")?);
        self.thresholds([limit, min, max], rate, self.average_packet() as f64)
    }

    /// As given, or as tc-choke(8) has it; other presets than Linux's count full packets.
    fn average_packet(&self) -> u64 {
        let counts = self.spec.params.is_given("avpkt") || self.is_linux();
        self.spec.params.bytes("avpkt").filter(|_| counts).map_or(FULL, |bytes| bytes.as_u64())
    }

    /// What RED and CHOKe have in common: limit, min and max, whose unit is `unit` bytes.
    fn thresholds(&mut self, sizes: [Option<u64>; 3], rate: Rate, unit: f64) -> Result<(), InputError> {
        let params = &self.spec.params;
        if params.flag("gentle") {
            return Err(InputError::new("for Linux give nogentle: it has no gentle RED"));
        }
        let (average, bandwidth) = (self.average_packet(), params.rate("bandwidth").unwrap_or(rate));
        for (word, size) in ["limit", "min", "max"].into_iter().zip(sizes) {
            if let Some(size) = size {
                self.push(&format!("{word} {size}"));
            }
        }
        self.push(&format!("avpkt {average} bandwidth {bandwidth}"));
        if let (Value::Auto, Value::Fraction(weight)) = (params.get("burst"), params.get("w")) {
            let Some(min) = sizes[1] else { return Err(InputError::new("for Linux give min with w")) };
            self.push(&format!("burst {}", ewma::burst(*weight, min as f64 * unit / average as f64)?));
        }
        self.done.extend(["limit", "min", "max", "w", "avpkt", "bandwidth", "gentle"]);
        Ok(())
    }

    /// From round-trip times tc works out the controller itself.
    fn dualpi2(&mut self) {
        if ["typical_rtt", "max_rtt"].iter().any(|name| *self.spec.params.get(name) != Value::Auto) {
            self.done.extend(derived::FROM_ROUND_TRIPS);
        }
    }

    /// Bands that share have a quantum each; without a map, each priority has the band of its number.
    fn ets(&mut self) -> Result<(), InputError> {
        let params = &self.spec.params;
        let (bands, strict) = (params.count("bands"), params.count("strict"));
        let sharing = bands
            .checked_sub(strict)
            .ok_or_else(|| InputError::new("more bands are strict than there are"))?;
        let map = match params.get("priomap") {
            Value::PerClass(map) => map.as_slice().to_vec(),
            _ => (0..bands).collect(),
        };
        let words = |numbers: Vec<u64>| numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(" ");
        let quanta =
            words((0..sharing as usize).map(|band| params.per_class("quanta").of_class(band)).collect());
        self.push(&format!("bands {bands}"));
        if strict > 0 {
            self.push(&format!("strict {strict}"));
        }
        if sharing > 0 {
            self.push(&format!("quanta {quanta}"));
        }
        self.push(&format!("priomap {}", words(map)));
        self.done.extend(["bands", "strict", "quanta", "priomap"]);
        Ok(())
    }

    /// RED's words stand behind `redflowlimit` alone; a weight has no word but the burst that it follows from.
    fn sfq(&mut self) -> Result<(), InputError> {
        let params = &self.spec.params;
        if *params.get("redflowlimit") == Value::Auto {
            self.done.extend(derived::RED_OF_SFQ);
        } else if let (Value::Auto, Value::Fraction(weight)) = (params.get("burst"), params.get("w")) {
            let Some(min) = params.bytes("min") else {
                return Err(InputError::new("for Linux give min with w"));
            };
            let mean = params.bytes("avpkt").expect("avpkt has no auto").as_u64() as f64;
            let burst = ewma::burst(*weight, min.as_u64() as f64 / mean)?;
            self.push(&format!("burst {burst}"));
            self.done.extend(["burst", "w"]);
        } else {
            self.done.push("w");
        }
        Ok(())
    }

    /// CAKE's link layer: a keyword, or what was given in its place.
    fn layer(&mut self) {
        let params = &self.spec.params;
        let layer = params.get("link_layer");
        let (overhead, mpu, cells) =
            (params.signed_bytes("overhead"), params.bytes("mpu"), params.get("cells"));
        if overhead.is_none() || !is_text(layer, "raw") {
            self.text += &format!(" {layer}");
        }
        if let Some(bytes) = overhead {
            self.text += &format!(" overhead {bytes}");
        }
        if let Some(bytes) = mpu {
            self.text += &format!(" mpu {}", bytes.as_u64());
        }
        if let Value::Choice(word) = cells {
            self.text += &format!(" {word}");
        }
        if params.flag("ether_vlan") {
            self.text += " ether-vlan";
        }
        // Linux limits CAKE's memory, which is large; packets are not counted.
        self.done.extend(["link_layer", "overhead", "mpu", "cells", "ether_vlan", "via_ethernet", "limit"]);
    }
}

fn is_text(value: &Value, text: &str) -> bool {
    value.to_string() == text
}
