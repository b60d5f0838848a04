//! The words of a script, one after another.

use super::lexer::{Kind, Token};
use super::problem::Refusal;

/// The words that remain.
pub(super) struct Cursor<'a> {
    tokens: &'a [Token],
    place: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(tokens: &'a [Token]) -> Cursor<'a> {
        Cursor { tokens, place: 0 }
    }

    pub(super) fn peek(&self) -> Option<&'a Kind> {
        self.tokens.get(self.place).map(|token| &token.kind)
    }

    /// The word after the next one.
    pub(super) fn peek_second(&self) -> Option<&'a Kind> {
        self.tokens.get(self.place + 1).map(|token| &token.kind)
    }

    pub(super) fn next(&mut self) -> Option<&'a Kind> {
        let token = self.peek();
        self.place += 1;
        token
    }

    /// The line of the next word.
    pub(super) fn line(&self) -> usize {
        let last = self.tokens.len().saturating_sub(1);
        self.tokens.get(self.place.min(last)).map_or(1, |token| token.line)
    }

    /// Whether `symbol` comes next; then it is passed.
    pub(super) fn symbol(&mut self, symbol: char) -> bool {
        let comes = self.peek() == Some(&Kind::Symbol(symbol));
        self.place += usize::from(comes);
        comes
    }

    pub(super) fn expect(&mut self, symbol: char) -> Result<(), Refusal> {
        if self.symbol(symbol) { Ok(()) } else { Err(found(&format!("'{symbol}'"), self.peek())) }
    }

    /// Whether `word` comes next; then it is passed.
    pub(super) fn word(&mut self, word: &str) -> bool {
        let comes = matches!(self.peek(), Some(Kind::Word(next)) if next == word);
        self.place += usize::from(comes);
        comes
    }

    /// A whole number from 0 to `most`.
    pub(super) fn whole(&mut self, name: &str, most: u64) -> Result<u64, Refusal> {
        let token = self.next();
        let number = match token {
            Some(Kind::Number(text)) => whole(text),
            _ => return Err(found(&format!("{name}, a whole number"), token)),
        };
        match number {
            Some(number) if number <= most => Ok(number),
            _ => Err(format!(
                "{name} is {}: allowed is 0 to {most}",
                token.map_or_else(String::new, Kind::shown)
            )
            .into()),
        }
    }
}

/// `expected`, but something else was `found`.
pub(super) fn found(expected: &str, found: Option<&Kind>) -> Refusal {
    let found = found.map_or_else(|| "the end".to_owned(), Kind::shown);
    format!("expected {expected}, found {found}").into()
}

fn whole(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}
