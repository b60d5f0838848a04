//! How something is refused.

use std::fmt::Display;

/// A refusal is one line, unless it quotes more (JSON can escape line ends).
pub(crate) fn one_line(given: &str, error: &impl Display) {
    let error = error.to_string();
    assert!(given.contains(['\n', '\\']) || !error.contains('\n'), "{given:?}: {error}");
}
