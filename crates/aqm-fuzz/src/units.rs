//! Whatever a quantity's text is, it is refused or its canonical form reads as the same quantity.

use aqm_core::units::parse;

pub(crate) fn run(text: &str) {
    if let Ok(rate) = parse::rate(text) {
        assert_eq!(parse::rate(&rate.to_string()), Ok(rate));
    }
    if let Ok(span) = parse::span(text) {
        assert_eq!(parse::span(&span.to_string()), Ok(span));
    }
    if let Ok(bytes) = parse::bytes(text) {
        assert_eq!(parse::bytes(&bytes.to_string()), Ok(bytes));
    }
    if let Ok(size) = parse::size(text) {
        assert_eq!(parse::size(&size.to_string()), Ok(size));
    }
    if let Ok(frequency) = parse::frequency(text) {
        assert_eq!(parse::frequency(&format!("{frequency}hz")), Ok(frequency));
    }
    if let Ok(percent) = parse::percent(text) {
        assert_eq!(parse::percent(&format!("{percent}%")), Ok(percent));
    }
    if let Ok(fraction) = parse::fraction(text) {
        assert_eq!(parse::fraction(&fraction.to_string()), Ok(fraction));
    }
}
