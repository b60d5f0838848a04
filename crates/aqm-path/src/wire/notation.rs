//! Impairments in the words of tc-netem(8), and back.

use super::{Loss, Reorder, Slots};
use aqm_core::input_error::InputError;
use aqm_core::units::{Bytes, Span, parse};
use std::fmt;
use std::str::FromStr;

const GEMODEL: &str = "gemodel P [R [1-H [1-K]]], as gemodel 1% 10%";
const STATE: &str = "state P13 [P31 [P32 [P23 P14]]], as state 1% 20% 30% 50% 0%";
const REORDER: &str = "a share, and how far they are apart if that is more than 1, as 25% gap 5";
const SLOT: &str = "the shortest and the longest time to get one, and the most packets or bytes in it, as 1ms 4ms packets 32";

/// A share in percent, with six digits.
pub fn percent(share: f64) -> String {
    let rounded: f64 = format!("{:.5e}", share * 100.0).parse().expect("a float is written");
    format!("{rounded}%")
}

/// A probability.
fn share(text: &str) -> Result<f64, InputError> {
    let share = parse::fraction(text)?;
    if (0.0..=1.0).contains(&share) { Ok(share) } else { Err(InputError::out_of_range(text, "0% to 100%")) }
}

/// A whole number above zero.
fn whole(text: &str) -> Result<u32, InputError> {
    let is_plain = text.bytes().all(|letter| letter.is_ascii_digit());
    let number = text.parse().ok().filter(|&number| is_plain && number > 0);
    number
        .ok_or_else(|| InputError::value(text, format_args!("is not a whole number from 1 to {}", u32::MAX)))
}

impl Loss {
    /// What a text may be.
    pub const NOTATIONS: [&str; 3] = ["a share, as 0.1%", GEMODEL, STATE];

    /// Refuses probabilities that are none.
    ///
    /// # Errors
    /// The probability and what it may be.
    pub fn check(&self) -> Result<(), InputError> {
        let (shares, sums) = match *self {
            Loss::Random(share) => (vec![share], vec![]),
            Loss::Gemodel { p, r, bad, good } => (vec![p, r, bad, good], vec![]),
            Loss::State { p13, p31, p32, p23, p14 } => {
                (vec![p13, p31, p32, p23, p14], vec![("P13 + P14", p13 + p14), ("P31 + P32", p31 + p32)])
            }
        };
        if let Some(share) = shares.iter().find(|share| !(0.0..=1.0).contains(*share)) {
            return Err(InputError::field("loss", share, "it must be within 0 and 1"));
        }
        match sums.iter().find(|(_, sum)| *sum > 1.0 + 1e-12) {
            Some((name, _)) => {
                Err(InputError::value(&self.to_string(), format_args!("has {name} above 100%")))
            }
            None => Ok(()),
        }
    }
}

impl FromStr for Loss {
    type Err = InputError;

    /// Reads netem's notation. Probabilities that are left out are netem's own.
    ///
    /// ```
    /// use aqm_path::wire::Loss;
    /// let loss: Loss = "gemodel 1% 10%".parse().unwrap();
    /// assert_eq!(loss, Loss::Gemodel { p: 0.01, r: 0.1, bad: 1.0, good: 0.0 });
    /// assert_eq!(loss.to_string(), "gemodel 1% 10% 100% 0%");
    /// assert_eq!("0.1%".parse(), Ok(Loss::Random(0.001)));
    /// ```
    fn from_str(text: &str) -> Result<Loss, InputError> {
        let mut words = text.split_whitespace();
        let model = words.next().unwrap_or_default();
        let loss = match model {
            "gemodel" | "state" => {
                let shares = words.map(share).collect::<Result<Vec<f64>, _>>()?;
                match (model, &shares[..]) {
                    ("gemodel", &[p]) => Loss::Gemodel { p, r: 1.0 - p, bad: 1.0, good: 0.0 },
                    ("gemodel", &[p, r]) => Loss::Gemodel { p, r, bad: 1.0, good: 0.0 },
                    ("gemodel", &[p, r, bad]) => Loss::Gemodel { p, r, bad, good: 0.0 },
                    ("gemodel", &[p, r, bad, good]) => Loss::Gemodel { p, r, bad, good },
                    ("state", &[p13]) => Loss::State { p13, p31: 1.0 - p13, p32: 0.0, p23: 1.0, p14: 0.0 },
                    ("state", &[p13, p31]) => Loss::State { p13, p31, p32: 0.0, p23: 1.0, p14: 0.0 },
                    ("state", &[p13, p31, p32]) => Loss::State { p13, p31, p32, p23: 1.0, p14: 0.0 },
                    ("state", &[p13, p31, p32, p23, p14]) => Loss::State { p13, p31, p32, p23, p14 },
                    ("gemodel", _) => return Err(not(text, GEMODEL)),
                    _ => return Err(not(text, STATE)),
                }
            }
            _ if !model.is_empty() && model.bytes().all(|letter| letter.is_ascii_alphabetic()) => {
                let known = Loss::NOTATIONS.join("; ");
                return Err(InputError::value(
                    text,
                    format_args!("has no model '{model}'; known are {known}"),
                )
                .near(model, ["gemodel", "state"].into_iter()));
            }
            _ => Loss::Random(share(text)?),
        };
        loss.check()?;
        Ok(loss)
    }
}

fn not(text: &str, allowed: &str) -> InputError {
    InputError::new(format!("'{text}': allowed is {allowed}")).of_value(text).allowing([allowed.to_owned()])
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (model, shares) = match *self {
            Loss::Random(share) => return f.write_str(&percent(share)),
            Loss::Gemodel { p, r, bad, good } => ("gemodel", vec![p, r, bad, good]),
            Loss::State { p13, p31, p32, p23, p14 } => ("state", vec![p13, p31, p32, p23, p14]),
        };
        let shares: Vec<String> = shares.into_iter().map(percent).collect();
        write!(f, "{model} {}", shares.join(" "))
    }
}

impl Reorder {
    /// What a text may be.
    pub const NOTATION: &str = REORDER;
}

impl FromStr for Reorder {
    type Err = InputError;

    /// Reads `SHARE [gap N]`.
    fn from_str(text: &str) -> Result<Reorder, InputError> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let reorder = match words[..] {
            [one] => Reorder { share: share(one)?, gap: 1 },
            [one, "gap", gap] => Reorder { share: share(one)?, gap: whole(gap)? },
            _ => return Err(not(text, REORDER)),
        };
        Ok(reorder)
    }
}

impl fmt::Display for Reorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&percent(self.share))?;
        if self.gap > 1 { write!(f, " gap {}", self.gap) } else { Ok(()) }
    }
}

impl Slots {
    /// What a text may be.
    pub const NOTATION: &str = SLOT;
}

impl FromStr for Slots {
    type Err = InputError;

    /// Reads `MIN [MAX] [packets N] [bytes B]`.
    ///
    /// ```
    /// use aqm_path::wire::Slots;
    /// let slots: Slots = "1ms 4ms packets 32".parse().unwrap();
    /// assert_eq!((slots.min_ns, slots.max_ns, slots.packets), (1_000_000, 4_000_000, Some(32)));
    /// ```
    fn from_str(text: &str) -> Result<Slots, InputError> {
        let mut words: Vec<&str> = text.split_whitespace().collect();
        let (mut packets, mut bytes) = (None, None);
        while let [.., name @ ("packets" | "bytes"), value] = words[..] {
            match name {
                "packets" => packets = Some(u64::from(whole(value)?)),
                _ => bytes = Some(parse::bytes(value)?.as_u64().max(1)),
            }
            words.truncate(words.len() - 2);
        }
        let (min, max) = match words[..] {
            [one] => (one, one),
            [min, max] => (min, max),
            _ => return Err(not(text, SLOT)),
        };
        let slots = Slots {
            min_ns: parse::span(min)?.as_nanos(),
            max_ns: parse::span(max)?.as_nanos(),
            packets,
            bytes,
        };
        slots.check().map_err(|problem| InputError::value(text, problem))?;
        Ok(slots)
    }
}

impl Slots {
    /// Refuses times that are none.
    ///
    /// # Errors
    /// What is wrong.
    pub fn check(&self) -> Result<(), &'static str> {
        match self {
            Slots { max_ns: 0, .. } => Err("has no time above zero"),
            Slots { min_ns, max_ns, .. } if min_ns > max_ns => Err("has a second time that is shorter"),
            Slots { packets: Some(0), .. } | Slots { bytes: Some(0), .. } => Err("has no room for a packet"),
            _ => Ok(()),
        }
    }
}

impl fmt::Display for Slots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", Span::from_nanos(self.min_ns), Span::from_nanos(self.max_ns))?;
        if let Some(packets) = self.packets {
            write!(f, " packets {packets}")?;
        }
        match self.bytes {
            Some(bytes) => write!(f, " bytes {}", Bytes::new(bytes)),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        for text in ["0%", "7%", "gemodel 1% 10% 70% 0.1%", "state 1% 20% 30% 50% 0%"] {
            assert_eq!(text.parse::<Loss>().unwrap().to_string(), text);
        }
        for text in ["25%", "25% gap 5"] {
            assert_eq!(text.parse::<Reorder>().unwrap().to_string(), text);
        }
        for text in ["1ms 4ms", "1ms 1ms packets 32 bytes 64kb"] {
            assert_eq!(text.parse::<Slots>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_cannot_be_is_refused_with_what_can() {
        let loss = |text: &str| text.parse::<Loss>().unwrap_err().to_string();
        assert!(loss("gemodel").ends_with(GEMODEL));
        assert!(loss("state 1% 2% 3% 4%").ends_with(STATE));
        assert!(loss("gemodl 1%").contains("has no model 'gemodl'; known are a share, as 0.1%; gemodel P"));
        assert!(loss("state 60% 10% 10% 10% 50%").contains("P13 + P14 above 100%"));
        assert!(loss("101%").contains("allowed is 0% to 100%"));
        assert!(
            "25% gap 0".parse::<Reorder>().unwrap_err().to_string().starts_with("'0' is not a whole number")
        );
        for (text, problem) in
            [("4ms 1ms", "shorter"), ("0ms", "no time"), ("1ms 2ms 3ms", "allowed is"), ("", "allowed is")]
        {
            assert!(text.parse::<Slots>().unwrap_err().to_string().contains(problem), "{text}");
        }
    }

    #[test]
    fn random_loss_is_a_number_in_data() {
        for (loss, data) in [
            (Loss::Random(0.25), "0.25"),
            (
                Loss::Gemodel { p: 0.5, r: 0.5, bad: 1.0, good: 0.0 },
                r#"{"gemodel":{"p":0.5,"r":0.5,"bad":1.0,"good":0.0}}"#,
            ),
        ] {
            assert_eq!(serde_json::to_string(&loss).unwrap(), data);
            assert_eq!(serde_json::from_str::<Loss>(data).unwrap(), loss);
        }
        assert!(serde_json::from_str::<Loss>(r#"{"gemodel":{"p":0.5}}"#).is_err());
    }
}
