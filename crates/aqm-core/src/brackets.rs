//! The words of a spec; brackets hold the spec of a child: `drr child [pie target 15ms] quantum 3000b`.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// How deep brackets may be nested.
const MAX_DEPTH: usize = 8;

/// The words of `text`, split at white space outside brackets, or what is wrong with its brackets. A word with
/// brackets keeps them.
pub fn words(text: &str) -> Result<Vec<&str>, String> {
    let (mut words, mut depth, mut start) = (Vec::new(), 0, None);
    for (at, character) in text.char_indices() {
        match character {
            '[' if depth == 0 && start.is_some() => {
                return Err("has no space before '['".to_owned());
            }
            '[' if depth == MAX_DEPTH => {
                return Err(format!("has brackets more than {MAX_DEPTH} deep"));
            }
            '[' => {
                start = start.or(Some(at));
                depth += 1;
            }
            ']' if depth == 0 => return Err("has a ']' without its '['".to_owned()),
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
        return Err("has a '[' without its ']'".to_owned());
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

    #[test]
    fn brackets_keep_words_together_to_any_allowed_depth() {
        assert_eq!(words(" a  [b [c d]] e[").unwrap_err(), "has no space before '['");
        assert_eq!(words(" a  [b [c d]] e\t[][f]"), Ok(alloc::vec!["a", "[b [c d]]", "e", "[]", "[f]"]));
        assert_eq!(inside("[b [c d]]"), Some("b [c d]"));
        assert_eq!(inside("b"), None);
    }

    #[test]
    fn brackets_that_do_not_match_or_are_nested_too_deep_are_refused() {
        assert_eq!(words("a [b [c]").unwrap_err(), "has a '[' without its ']'");
        assert_eq!(words("a [b]]").unwrap_err(), "has a ']' without its '['");
        let deep = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        assert!(words(&deep(8)).is_ok());
        assert_eq!(words(&deep(9)).unwrap_err(), "has brackets more than 8 deep");
        assert!(words(&deep(100_000)).is_err());
    }
}
