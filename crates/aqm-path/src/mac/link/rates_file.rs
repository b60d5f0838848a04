//! A station's rates over time from a file: lines of a time and a rate, as `1.5s ht-mcs3`.

use super::super::rates::Mode;
use aqm_core::input_error::InputError;
use aqm_core::units::{Time, parse};

/// More would make scenarios of megabytes.
const MOST: usize = 10_000;

/// Reads a file, which errors call `place`. What follows a `#` is a comment; a rate that does not change is left out.
///
/// # Errors
/// The file, the line, the value and what is allowed.
pub(super) fn read(place: &str, content: &str) -> Result<Vec<(Time, Mode)>, InputError> {
    let mut steps: Vec<(Time, Mode)> = Vec::new();
    let mut last: Option<Time> = None;
    for (number, line) in content.lines().enumerate() {
        let at = |error: InputError| error.within(format!("'{place}' line {}", number + 1));
        let text = line.split('#').next().unwrap_or_default();
        let words: Vec<&str> =
            text.split([',', ' ', '\t']).map(str::trim).filter(|word| !word.is_empty()).collect();
        let [time, rate] = words[..] else {
            if words.is_empty() {
                continue;
            }
            return Err(at(InputError::value(text.trim(), "is not a time and a rate, as '1.5s ht-mcs3'")));
        };
        let time = Time::ZERO + parse::span(time).map_err(|error| at(error.into()))?;
        let mode: Mode = rate.parse().map_err(at)?;
        match last {
            None if time != Time::ZERO => {
                return Err(at(InputError::value(words[0], "is not 0s: the first line says how it begins")));
            }
            Some(before) if before >= time => {
                let problem = format!("does not come after {}", before.since(Time::ZERO));
                return Err(at(InputError::value(words[0], problem)));
            }
            _ => last = Some(time),
        }
        if steps.last().is_none_or(|(_, before)| *before != mode) {
            steps.push((time, mode));
        }
        if steps.len() > MOST {
            return Err(at(InputError::new(format!("more than {MOST} changes of rate"))));
        }
    }
    if steps.is_empty() {
        let problem = "has no line of a time and a rate, as '0s ht-mcs7'";
        return Err(InputError::value(place, problem));
    }
    Ok(steps)
}

#[cfg(test)]
mod tests {
    use super::*;
    use aqm_core::units::Span;

    #[test]
    fn each_line_is_a_time_and_a_rate() {
        let content = "# walks away\n0s ht-mcs15-400ns\r\n\n1500ms, ht-mcs3 # behind the door\n2s\tht-mcs3\n3s ht-mcs0\n";
        let at = |millis: u64| Time::ZERO + Span::from_millis(millis);
        let mode = |text: &str| text.parse::<Mode>().unwrap();
        let steps =
            [(at(0), mode("ht-mcs15-400ns")), (at(1500), mode("ht-mcs3")), (at(3000), mode("ht-mcs0"))];
        assert_eq!(read("walk.txt", content).as_deref(), Ok(&steps[..]));
    }

    #[test]
    fn a_line_that_cannot_be_is_named() {
        for (content, problem) in [
            ("", "'walk.txt' has no line of a time and a rate, as '0s ht-mcs7'"),
            ("0s", "'walk.txt' line 1: '0s' is not a time and a rate, as '1.5s ht-mcs3'"),
            (
                "0s ht-mcs7 snr 5",
                "'walk.txt' line 1: '0s ht-mcs7 snr 5' is not a time and a rate, as '1.5s ht-mcs3'",
            ),
            ("1s ht-mcs7", "'walk.txt' line 1: '1s' is not 0s: the first line says how it begins"),
            ("0s ht-mcs7\n1s ht-mcs32", "'walk.txt' line 2: 'ht-mcs32': mcs is 32: HT has 0 to 31"),
            ("0s ht-mcs7\n2s ht-mcs3\n2s ht-mcs0", "'walk.txt' line 3: '2s' does not come after 2s"),
        ] {
            assert_eq!(read("walk.txt", content).unwrap_err().to_string(), problem);
        }
        assert!(
            read("walk.txt", "0s ht-mcs7\n-1s ht-mcs3")
                .unwrap_err()
                .to_string()
                .starts_with("'walk.txt' line 2: '-1s'")
        );
        let many: String = (0..=MOST).map(|number| format!("{number}ms ht-mcs{}\n", number % 2)).collect();
        assert_eq!(
            read("f", &many).unwrap_err().to_string(),
            "'f' line 10001: more than 10000 changes of rate"
        );
    }
}
