//! tc's text, read by tc's rules and translated: `tc qdisc add|replace|change dev eth0 root ...`, lines of `tc qdisc show`
//! (with `-s` and `-d`), of `tc class show`, and the JSON of `tc -j`.
//!
//! A number without a unit is what it is to tc in its place (`units`); every word of a qdisc is in one table (`kinds`).
//! A text with several qdiscs has one root, or ends with `use` and a handle or a device. Whatever the text is, time and
//! memory are bounded by its length, which is bounded.

mod children;
mod derived;
mod ewma;
mod given;
mod json;
mod kinds;
mod link;
mod listing;
mod parse;
mod quantity;
mod refused;
mod table;
mod text;
mod translation;
mod tree;
mod units;
mod write;

use aqm_core::input_error::InputError;
use aqm_core::spec::Spec;
use aqm_core::units::Rate;
use listing::Listing;
pub use table::{Entry, table};
pub use translation::Translation;

/// The longest text: `tc -s qdisc show` of a machine with hundreds of queues is shorter.
const LONGEST: usize = 1 << 20;

/// Whether a text is tc's: a command (perhaps behind a prompt or `sudo`), a printed line, or JSON.
///
/// ```
/// use aqm_scenario::tc::is_tc;
/// assert!(is_tc("tc qdisc add dev eth0 root cake") && is_tc("qdisc fq_codel 0: root"));
/// assert!(is_tc("[{\"kind\":\"pie\"}]") && is_tc("# tc -s qdisc show"));
/// assert!(!is_tc("tcn threshold 1ms") && !is_tc("cake nat"));
/// ```
pub fn is_tc(text: &str) -> bool {
    let mut words = text.split_whitespace().skip_while(|word| ["#", "$", "sudo", "doas"].contains(word));
    words.next().is_some_and(|word| word == "qdisc" || text::is_tc(word)) || is_json(text)
}

fn is_json(text: &str) -> bool {
    let text = text.trim_start();
    let inner = text.strip_prefix('[').map_or(text, str::trim_start);
    inner.starts_with('{')
}

/// Translates tc's text.
///
/// ```
/// use aqm_scenario::tc::translate;
/// let found = translate("qdisc fq_codel 8001: dev eth0 root refcnt 2 limit 1000p flows 256 noecn").unwrap();
/// assert_eq!(found.spec.to_string(), "fq_codel:linux limit 1000p flows 256 noecn");
/// let found = translate("tc qdisc replace dev eth0 root cake bandwidth 9mbit nat split-gso").unwrap();
/// assert_eq!(found.spec.to_string(), "cake:linux bandwidth 9mbit");
/// assert!(found.notes[0].starts_with("nat has no effect"));
/// assert!(translate("tc qdisc add dev eth0 root hhf").unwrap_err().to_string().contains("fq_codel"));
/// ```
pub fn translate(text: &str) -> Result<Translation, InputError> {
    if text.len() > LONGEST {
        return Err(InputError::new(format!("tc: the text has {} bytes: allowed are {LONGEST}", text.len())));
    }
    let (text, wanted) = wanted(text);
    let listing: Listing = if is_json(text) { json::read(text)? } else { text::read(text)? };
    tree::translate(&listing, wanted)
}

/// The text without its last two words, if they are `use` and what to use.
fn wanted(text: &str) -> (&str, Option<&str>) {
    let whole = text.trim_end();
    let Some((before, wanted)) = whole.rsplit_once(char::is_whitespace) else { return (whole, None) };
    let before = before.trim_end();
    match before.strip_suffix("use") {
        Some(rest) if rest.ends_with([' ', '\n', '\t', ']', '}']) => (rest.trim_end(), Some(wanted)),
        _ => (whole, None),
    }
}

/// The words of tc for a discipline at a link of this rate: what follows `tc qdisc add dev DEV root`.
///
/// Every value that tc has a word for is written. One that was given and that tc has no word for is refused, as is a discipline
/// that is no qdisc of Linux.
///
/// ```
/// use aqm_core::{spec::Spec, units::Rate};
/// use aqm_scenario::tc::{translate, words};
/// let rate = Rate::from_bits_per_sec(10_000_000);
/// let spec = Spec::parse("codel target 10ms limit 100p").unwrap();
/// let text = words(&spec, rate).unwrap();
/// assert_eq!(text, "codel limit 100 target 10ms interval 100ms noecn");
/// let back = translate(&format!("tc qdisc add dev eth0 root {text}")).unwrap();
/// assert_eq!(back.spec.params.span("target"), spec.params.span("target"));
/// assert_eq!(words(&Spec::parse("daqm").unwrap(), rate).unwrap_err().to_string(), "'daqm' is no qdisc of Linux");
/// ```
pub fn words(spec: &Spec, link: Rate) -> Result<String, InputError> {
    write::qdisc(spec, link)
}
