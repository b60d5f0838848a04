//! Options of the switches of a topology: shared buffer, priority flow control, a program.

use crate::flows::whole_within;
use aqm_core::input_error::InputError;
use aqm_core::units::parse;
use aqm_sim::switch::declaration::Info;
use aqm_sim::switch::options::{BufferOptions, PfcOptions, SwitchOptions};
use aqm_sim::switch::program::ProgramSpec;

/// Keys of the shared buffer; the others need the first.
pub(super) const OF_BUFFER: [&str; 3] = ["buffer", "alpha", "reserve"];
/// Keys of priority flow control; the others need the first.
pub(super) const OF_PFC: [&str; 5] = ["xoff", "xon", "headroom", "priorities", "quanta"];
/// A program stands for itself: `program=dscp codepoints 46,26 int`.
pub(super) const PROGRAM: &str = "program";
/// The keys of a topology by name, as in `star:buffer=9mb:xoff=96kb:priorities=3`.
pub(super) const KEYS: [&str; 9] =
    ["buffer", "alpha", "reserve", "xoff", "xon", "headroom", "priorities", "quanta", "program"];

const PRIORITIES: u64 = 8;
/// IEEE 802.1Qbb has no default; two full packets keep XON and XOFF apart.
const XON_BELOW_XOFF_BYTES: u64 = 3 * 1024;

/// The options of a switch from the values of [`KEYS`]; nothing if none is given.
///
/// # Errors
/// The key, the value and what is allowed.
pub(super) fn options(
    values: &[(&str, String)],
    programs: &[&'static Info],
) -> Result<Option<SwitchOptions>, InputError> {
    let of = |name: &str| values.iter().find(|(key, _)| *key == name).map(|(_, text)| text.as_str());
    for keys in [&OF_BUFFER[..], &OF_PFC[..]] {
        let leader = keys[0];
        if let Some(alone) = keys.iter().find(|key| of(leader).is_none() && of(key).is_some()) {
            return Err(InputError::new(format!("needs {leader} beside it")).within(*alone));
        }
    }
    if values.is_empty() {
        return Ok(None);
    }
    let mut found = SwitchOptions::default();
    if let Some(size) = of("buffer") {
        found.buffer = Some(BufferOptions {
            size_bytes: bytes("buffer", size, 1)?,
            alpha: of("alpha").map_or(Ok(1.0), alpha)?,
            reserve_bytes: of("reserve").map_or(Ok(0), |text| bytes("reserve", text, 0))?,
        });
    }
    if let Some(xoff) = of("xoff") {
        found.pfc = Some(pfc(xoff, of)?);
    }
    if let Some(text) = of(PROGRAM) {
        let program = ProgramSpec::parse_among(text, programs).map_err(|error| error.within(PROGRAM))?;
        found.program = Some(program.to_string());
    }
    Ok(Some(found))
}

fn pfc<'a>(text: &str, of: impl Fn(&str) -> Option<&'a str>) -> Result<PfcOptions, InputError> {
    let xoff = bytes("xoff", text, 1)?;
    let xon =
        of("xon").map_or(Ok(xoff.saturating_sub(XON_BELOW_XOFF_BYTES)), |text| bytes("xon", text, 0))?;
    if xon > xoff {
        let written = of("xon").unwrap_or_default();
        return Err(InputError::value(written, format_args!("is more than xoff, {text}")).within("xon"));
    }
    let headroom = of("headroom").filter(|text| *text != "auto");
    Ok(PfcOptions {
        priorities: priorities(of("priorities").unwrap_or("0"))?,
        xoff_bytes: xoff,
        xon_bytes: xon,
        headroom_bytes: headroom.map(|text| bytes("headroom", text, 0)).transpose()?,
        quanta: of("quanta").map_or(Ok(u16::MAX), quanta)?,
    })
}

fn bytes(key: &str, text: &str, least: u64) -> Result<u64, InputError> {
    let count = parse::bytes(text).map_err(|error| InputError::from(error).within(key))?.as_u64();
    if count < least {
        return Err(InputError::out_of_range(text, format!("{least}b or more")).within(key));
    }
    Ok(count)
}

fn alpha(text: &str) -> Result<f64, InputError> {
    let problem = |error: InputError| error.within("alpha");
    let alpha: f64 = text.parse().map_err(|_| problem(InputError::value(text, "is not a number")))?;
    if alpha > 0.0 && alpha.is_finite() {
        return Ok(alpha);
    }
    Err(problem(InputError::out_of_range(text, "a number above zero")))
}

fn priorities(text: &str) -> Result<Vec<u8>, InputError> {
    let read = |part| whole_within(part, 0, PRIORITIES - 1).map(|priority| priority as u8);
    let mut found = text.split('|').map(read).collect::<Result<Vec<u8>, _>>();
    if let Ok(priorities) = &mut found {
        priorities.sort_unstable();
        priorities.dedup();
    }
    found.map_err(|error| error.within("priorities"))
}

fn quanta(text: &str) -> Result<u16, InputError> {
    let quanta = whole_within(text, 1, u64::from(u16::MAX)).map_err(|error| error.within("quanta"))?;
    Ok(quanta as u16)
}
