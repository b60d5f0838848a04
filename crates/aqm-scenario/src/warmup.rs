//! The warm-up: the time at the start of a run that is not measured.

use aqm_core::input_error::InputError;
use aqm_core::units::{Span, parse};

/// What the warm-up is unless given.
pub const AUTO: &str = "auto";
/// As [`AUTO`], and longer where MSER-5 finds that a run is not steady yet.
pub const MSER5: &str = "mser5";

const SHORTEST: Span = Span::from_millis(5_000);
const ROUND_TRIPS: u64 = 20;
const MILLISECOND_NS: u64 = 1_000_000;

/// A warm-up, and by which rule it is as long.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Warmup {
    /// How long it is.
    pub span: Span,
    /// How that follows from the text.
    pub rule: String,
}

/// What an automatic warm-up depends on.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// How long the run is.
    pub duration: Span,
    /// The longest base round-trip time.
    pub rtt: Span,
    /// Whether any flow reacts to the network.
    pub reacts: bool,
    /// When the last flow has started.
    pub latest_start: Span,
}

/// Resolves a warm-up: a time below the duration, `auto` or `mser5`.
///
/// # Errors
/// The value and what is allowed.
///
/// ```
/// use aqm_core::units::Span;
/// use aqm_scenario::warmup::{Run, resolve};
/// let run = Run { duration: Span::from_secs(30), rtt: Span::from_millis(40), reacts: true, latest_start: Span::ZERO };
/// assert_eq!(resolve("auto", &run).unwrap().span, Span::from_secs(5));
/// assert_eq!(resolve("auto", &Run { duration: Span::from_secs(10), ..run }).unwrap().span, Span::from_millis(3333));
/// let error = resolve("30s", &run).unwrap_err();
/// assert!(error.to_string().contains("allowed is a time below the duration (30s), auto or mser5"));
/// ```
pub fn resolve(text: &str, run: &Run) -> Result<Warmup, InputError> {
    let (duration, found) = (run.duration, |span, rule: &str| Ok(Warmup { span, rule: rule.to_owned() }));
    if text != AUTO && text != MSER5 {
        let span = parse::span(text)?;
        if span >= duration {
            let allowed = format!("a time below the duration ({duration}), {AUTO} or {MSER5}");
            return Err(InputError::out_of_range(text, allowed));
        }
        return found(span, "as given");
    }
    if !run.reacts {
        return found(Span::ZERO, "auto: none, since nothing reacts to the network");
    }
    let (mut span, mut rule) = (
        SHORTEST.max(Span::from_nanos(run.rtt.as_nanos().saturating_mul(ROUND_TRIPS))),
        "auto: the longer of 5s and 20 round trips",
    );
    let third = duration.as_nanos() / 3;
    if span.as_nanos() > third {
        let whole = third / MILLISECOND_NS * MILLISECOND_NS;
        span = Span::from_nanos(if whole == 0 { third } else { whole });
        rule = "auto: a third of the duration, which is less than 5s or 20 round trips";
    }
    if span < run.latest_start && run.latest_start.as_nanos() < duration.as_nanos() / 2 {
        return found(run.latest_start, "auto: until the last flow has started");
    }
    found(span, rule)
}
