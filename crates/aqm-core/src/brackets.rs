//! The words of a spec; brackets hold the spec of a child: `drr child [pie target 15ms] quantum 3000b`.

use alloc::vec::Vec;
use core::fmt;

/// How deep brackets may be nested.
const MAX_DEPTH: usize = 8;

/// What is wrong with the brackets of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BracketError {
    /// A word goes over into a bracket.
    NoSpace,
    /// More levels than there may be.
    TooDeep,
    /// One is closed that was not opened.
    NotOpened,
    /// One is opened that is not closed.
    NotClosed,
}

impl fmt::Display for BracketError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BracketError::NoSpace => f.write_str("has no space before '['"),
            BracketError::TooDeep => write!(f, "has brackets more than {MAX_DEPTH} deep"),
            BracketError::NotOpened => f.write_str("has a ']' without its '['"),
            BracketError::NotClosed => f.write_str("has a '[' without its ']'"),
        }
    }
}

impl core::error::Error for BracketError {}

/// The words of `text`, split at white space outside brackets, or what is wrong with its brackets. A word with
/// brackets keeps them.
pub fn words(text: &str) -> Result<Vec<&str>, BracketError> {
    let (mut words, mut depth, mut start) = (Vec::new(), 0, None);
    for (at, character) in text.char_indices() {
        match character {
            '[' if depth == 0 && start.is_some() => {
                return Err(BracketError::NoSpace);
            }
            '[' if depth == MAX_DEPTH => {
                return Err(BracketError::TooDeep);
            }
            '[' => {
                start = start.or(Some(at));
                depth += 1;
            }
            ']' if depth == 0 => return Err(BracketError::NotOpened),
            ']' => {
                depth -= 1;
                if depth == 0 {
                    words.extend(start.take().map(|start| &text[start..=at]));
                }
            }
            _ if depth > 0 => {}
            _ if character.is_whitespace() => words.extend(start.take().map(|start| &text[start..at])),
            _ => start = start.or(Some(at)),
        }
    }
    if depth > 0 {
        return Err(BracketError::NotClosed);
    }
    words.extend(start.map(|start| &text[start..]));
    Ok(words)
}

/// The text in the brackets of `word`, if it has brackets.
pub(crate) fn inside(word: &str) -> Option<&str> {
    word.strip_prefix('[')?.strip_suffix(']')
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn brackets_keep_words_together_to_any_allowed_depth() {
        assert_eq!(words(" a  [b [c d]] e[").unwrap_err().to_string(), "has no space before '['");
        assert_eq!(words(" a  [b [c d]] e\t[][f]"), Ok(alloc::vec!["a", "[b [c d]]", "e", "[]", "[f]"]));
        assert_eq!(inside("[b [c d]]"), Some("b [c d]"));
        assert_eq!(inside("b"), None);
    }

    #[test]
    fn brackets_that_do_not_match_or_are_nested_too_deep_are_refused() {
        assert_eq!(words("a [b [c]").unwrap_err().to_string(), "has a '[' without its ']'");
        assert_eq!(words("a [b]]").unwrap_err().to_string(), "has a ']' without its '['");
        let deep = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        assert!(words(&deep(8)).is_ok());
        assert_eq!(words(&deep(9)).unwrap_err().to_string(), "has brackets more than 8 deep");
        assert!(words(&deep(100_000)).is_err());
    }
}
