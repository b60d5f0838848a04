//! The buffer of a bottleneck: `1000p`, `64kb`, `200ms` or `1bdp`.

use aqm_core::input_error::InputError;
use aqm_core::units::{Rate, Size, Span, parse};

/// What a buffer is unless given: a bandwidth-delay product.
pub const USUAL: &str = "1bdp";

/// A buffer of so many bandwidth-delay products holds so many packets at least: fewer make every discipline a short FIFO.
const SMALLEST_PACKETS: u64 = 20;

/// A buffer, and by which rule it is as large.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Buffer {
    /// How much it holds.
    pub size: Size,
    /// How that follows from the text.
    pub rule: String,
}

/// What a buffer in time or in bandwidth-delay products depends on.
#[derive(Clone, Copy, Debug)]
pub struct Bottleneck {
    /// The rate; of a recorded link the mean.
    pub rate: Rate,
    /// Whether the rate is the mean of a recorded link.
    pub is_recorded: bool,
    /// The longest base round-trip time.
    pub rtt: Span,
    /// Bytes of a full packet on the wire.
    pub packet_bytes: u64,
}

/// Resolves a buffer. In time or in bandwidth-delay products it is in packets of full size, or in bytes if the rate is a
/// recorded link's mean.
///
/// # Errors
/// The value and what is allowed.
///
/// ```
/// use aqm_core::units::{Rate, Span};
/// use aqm_scenario::buffer::{Bottleneck, resolve};
/// let (rate, rtt) = (Rate::from_bits_per_sec(10_000_000), Span::from_millis(40));
/// let link = Bottleneck { rate, is_recorded: false, rtt, packet_bytes: 1514 };
/// let found = resolve("1bdp", &link).unwrap();
/// assert_eq!((found.size.to_string(), found.rule), ("34p".to_owned(), "1bdp at 40ms, in packets of 1514b".to_owned()));
/// assert_eq!(resolve("1mb", &link).unwrap().size.to_string(), "1mb");
/// assert!(resolve("2bpd", &link).unwrap_err().to_string().contains("such as 1000p, 64kb, 200ms or 1bdp"));
/// ```
pub fn resolve(text: &str, link: &Bottleneck) -> Result<Buffer, InputError> {
    let text = text.trim().to_ascii_lowercase();
    let rate = link.rate.as_bits_per_sec() as f64;
    if let Some(products) = products(&text) {
        let number: f64 = products.parse().map_err(|_| refused(&text))?;
        let bits = number * rate * link.rtt.as_nanos() as f64 / 1e9;
        return Ok(link.holding(bits, SMALLEST_PACKETS, format!("{products}bdp at {}", link.rtt)));
    }
    if is_time(&text) {
        let span = parse::span(&text)?;
        if span == Span::ZERO {
            return Err(InputError::out_of_range(&text, "a buffer above zero"));
        }
        let bits = rate * span.as_nanos() as f64 / 1e9;
        return Ok(link.holding(bits, 1, format!("{span} at the bottleneck's rate")));
    }
    let size = parse::size(&text).map_err(|_| refused(&text))?;
    if size.count() == 0 {
        return Err(InputError::out_of_range(&text, "a buffer above zero"));
    }
    Ok(Buffer { size, rule: "as given".to_owned() })
}

impl Bottleneck {
    /// The buffer for so many bits.
    fn holding(&self, bits: f64, smallest: u64, rule: String) -> Buffer {
        // Rounded up; a small tolerance keeps 20.000000001 at 20.
        let packets = (bits / 8.0 / self.packet_bytes as f64 - 1e-6).ceil().max(0.0) as u64;
        let (packets, rule) = if packets < smallest {
            (smallest, format!("{rule} would be {packets}p: at least {smallest}p"))
        } else {
            (packets, rule)
        };
        if self.is_recorded {
            let bytes = ((bits / 8.0).round_ties_even() as u64).max(smallest * self.packet_bytes);
            let rule = format!("{rule}, of the trace's mean rate {}", mbit(self.rate));
            return Buffer { size: Size::Bytes(bytes), rule };
        }
        let rule = format!("{rule}, in packets of {}b", self.packet_bytes);
        Buffer { size: Size::Packets(packets), rule }
    }
}

fn refused(text: &str) -> InputError {
    let allowed = "1000p, 64kb, 200ms or 1bdp";
    InputError::value(text, format!("is not a buffer such as {allowed}")).allowing([allowed.to_owned()])
}

/// The number in front of `bdp`.
fn products(text: &str) -> Option<&str> {
    let number = text.strip_suffix("bdp")?.trim_end();
    let is_plain = |digits: &str| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    let (before, after) = number.split_once('.').unwrap_or((number, "0"));
    (is_plain(before) && is_plain(after)).then_some(number)
}

fn is_time(text: &str) -> bool {
    let unit = text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    unit.len() < text.len()
        && ["ns", "us", "ms", "s", "nsec", "nsecs", "usec", "usecs", "msec", "msecs", "sec", "secs"]
            .contains(&unit.trim_start())
}

/// A mean rate with four digits.
fn mbit(rate: Rate) -> String {
    let rounded: f64 =
        format!("{:.3e}", rate.as_bits_per_sec() as f64 / 1e6).parse().expect("a float is written");
    format!("{rounded}mbit")
}
