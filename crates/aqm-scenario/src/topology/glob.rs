//! Globs, as shells and Python's `fnmatch` have them: `*`, `?`, `[abc]`, `[a-c]`, `[!a]`; case matters.

/// Whether a name matches a pattern, in time that grows with the product of their lengths at most.
pub(super) fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (parsed(pattern), name.chars().collect::<Vec<char>>());
    let (mut at, mut place) = (0, 0);
    // Behind the last star, and what it had taken so far.
    let mut star: Option<(usize, usize)> = None;
    while place < name.len() {
        match pattern.get(at) {
            Some(Part::Any) => {
                at += 1;
                star = Some((at, place));
            }
            Some(part) if part.takes(name[place]) => {
                at += 1;
                place += 1;
            }
            _ => {
                // The star takes one more.
                let Some((behind, taken)) = star else { return false };
                star = Some((behind, taken + 1));
                (at, place) = (behind, taken + 1);
            }
        }
    }
    pattern[at..].iter().all(|part| matches!(part, Part::Any))
}

/// A part of a pattern.
enum Part {
    /// Any characters.
    Any,
    One,
    Letter(char),
    /// Any of these ranges, or none of them.
    Set {
        ranges: Vec<(char, char)>,
        is_negated: bool,
    },
}

impl Part {
    fn takes(&self, letter: char) -> bool {
        match self {
            Part::Any => false,
            Part::One => true,
            Part::Letter(own) => *own == letter,
            Part::Set { ranges, is_negated } => {
                ranges.iter().any(|(low, high)| (*low..=*high).contains(&letter)) != *is_negated
            }
        }
    }
}

fn parsed(pattern: &str) -> Vec<Part> {
    let letters: Vec<char> = pattern.chars().collect();
    let (mut parts, mut at) = (Vec::new(), 0);
    while at < letters.len() {
        let (part, length) = match letters[at] {
            '*' => (Part::Any, 1),
            '?' => (Part::One, 1),
            '[' => {
                set(&letters[at + 1..]).map_or((Part::Letter('['), 1), |(part, length)| (part, length + 2))
            }
            letter => (Part::Letter(letter), 1),
        };
        parts.push(part);
        at += length;
    }
    parts
}

/// The set at the beginning of what follows a bracket, and its length without the closing one; a bracket that is not closed
/// stands for itself, and the first letter of a set may be a closing one.
fn set(letters: &[char]) -> Option<(Part, usize)> {
    let is_negated = letters.first() == Some(&'!');
    let first = usize::from(is_negated);
    let end = first + 1 + letters.get(first + 1..)?.iter().position(|letter| *letter == ']')?;
    let (inner, mut ranges, mut at) = (&letters[first..end], Vec::new(), 0);
    while at < inner.len() {
        if let [low, '-', high, ..] = inner[at..] {
            ranges.push((low, high));
            at += 3;
        } else {
            ranges.push((inner[at], inner[at]));
            at += 1;
        }
    }
    Some((Part::Set { ranges, is_negated }, end))
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn patterns_match_as_in_a_shell() {
        for (pattern, name, is_match) in [
            ("a", "a", true),
            ("a", "A", false),
            ("a", "ab", false),
            ("*", "", true),
            ("r*", "r12", true),
            ("*.src", "cross0.src", true),
            ("*a*b", "xaxxbab", true),
            ("*a*b", "xaxxba", false),
            ("h?", "h1", true),
            ("h?", "h12", false),
            ("N1[0-3]", "N12", true),
            ("N1[0-3]", "N14", false),
            ("[!a]b", "cb", true),
            ("[!a]b", "ab", false),
            ("[]a]", "]", true),
            ("[a-]", "-", true),
            ("[a", "[a", true),
            ("s->[", "s->[", true),
            ("a*", "", false),
        ] {
            assert_eq!(matches(pattern, name), is_match, "{pattern} {name}");
        }
    }

    #[test]
    fn stars_take_no_exponential_time() {
        assert!(!matches(&"*a".repeat(500), &"a".repeat(400)));
    }
}
