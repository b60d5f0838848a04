//! The words of a script.

use super::problem::shortened;

/// A word, and the line that it is on.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Token {
    pub(super) line: usize,
    pub(super) kind: Kind,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    /// `--name=value`, to the end of the line.
    Option(String, String),
    /// A number as it is written, with its sign.
    Number(String),
    Word(String),
    Text(String),
    /// `` `commands` ``
    Shell(String),
    /// `%{ code }%`
    Code(String),
    /// `...`
    Ellipsis,
    Symbol(char),
}

impl Kind {
    /// As in an error.
    pub(super) fn shown(&self) -> String {
        match self {
            Kind::Option(name, value) => format!("'--{}={}'", shortened(name), shortened(value)),
            Kind::Number(text) | Kind::Word(text) => format!("'{}'", shortened(text)),
            Kind::Text(text) => format!("\"{}\"", shortened(text)),
            Kind::Shell(text) => format!("'`{}`'", shortened(text)),
            Kind::Code(text) => format!("'%{{ {} }}%'", shortened(text)),
            Kind::Ellipsis => "'...'".to_owned(),
            Kind::Symbol(symbol) => format!("'{symbol}'"),
        }
    }
}

/// The words of `text`; comments are left out.
///
/// # Errors
/// The line, and what is wrong there.
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, (usize, String)> {
    let mut reader = Reader { rest: text, line: 1, is_line_start: true };
    let mut tokens = Vec::new();
    while let Some(token) = reader.token()? {
        tokens.push(token);
    }
    Ok(tokens)
}

struct Reader<'a> {
    rest: &'a str,
    line: usize,
    /// Whether only space precedes on this line: an option begins there.
    is_line_start: bool,
}

impl<'a> Reader<'a> {
    fn token(&mut self) -> Result<Option<Token>, (usize, String)> {
        self.skip_space()?;
        let line = self.line;
        let at_start = std::mem::replace(&mut self.is_line_start, false);
        let Some(first) = self.rest.chars().next() else { return Ok(None) };
        let kind = if self.rest.starts_with("--") && at_start {
            let text = self.take(self.rest.find('\n').unwrap_or(self.rest.len()));
            let text = text[2..].split("//").next().unwrap_or_default().trim();
            let (name, value) = text.split_once('=').unwrap_or((text, ""));
            Kind::Option(name.trim().to_owned(), value.trim().to_owned())
        } else if self.rest.starts_with("...") {
            self.take(3);
            Kind::Ellipsis
        } else if self.rest.starts_with("%{") {
            Kind::Code(self.enclosed("%{", "}%")?)
        } else if first == '`' {
            Kind::Shell(self.enclosed("`", "`")?)
        } else if first == '"' {
            Kind::Text(self.enclosed("\"", "\"")?)
        } else if let Some(length) = number(self.rest) {
            Kind::Number(self.take(length).to_owned())
        } else if is_word(first) {
            let length = self.rest.find(|c| !is_word(c)).unwrap_or(self.rest.len());
            Kind::Word(self.take(length).to_owned())
        } else {
            self.take(first.len_utf8());
            Kind::Symbol(first)
        };
        Ok(Some(Token { line, kind }))
    }

    fn skip_space(&mut self) -> Result<(), (usize, String)> {
        loop {
            let blank = self.rest.find(|c: char| !c.is_whitespace()).unwrap_or(self.rest.len());
            self.is_line_start |= self.rest[..blank].contains('\n');
            self.take(blank);
            if self.rest.starts_with("//") {
                self.take(self.rest.find('\n').unwrap_or(self.rest.len()));
            } else if self.rest.starts_with("/*") {
                self.enclosed("/*", "*/")?;
            } else {
                return Ok(());
            }
        }
    }

    /// What stands between `open`, which comes next, and `close`.
    fn enclosed(&mut self, open: &str, close: &str) -> Result<String, (usize, String)> {
        let line = self.line;
        self.take(open.len());
        let Some(end) = self.rest.find(close) else {
            return Err((line, format!("'{open}' has no '{close}'")));
        };
        let inner = self.take(end).to_owned();
        self.take(close.len());
        Ok(inner)
    }

    fn take(&mut self, length: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(length);
        self.line += taken.matches('\n').count();
        self.rest = rest;
        taken
    }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// How many bytes the number has that `text` begins with: whole, with a fraction or hexadecimal. What goes on as a word is one.
fn number(text: &str) -> Option<usize> {
    let digits = |text: &str| text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    if let Some(hex) = text.strip_prefix("0x") {
        let length = hex.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(hex.len());
        return (length > 0).then_some(2 + length);
    }
    let sign = usize::from(text.starts_with('-'));
    let whole = digits(&text[sign..]);
    let after = &text[sign + whole..];
    let fraction = after.strip_prefix('.').map_or(0, digits);
    if fraction > 0 {
        return Some(sign + whole + 1 + fraction);
    }
    (whole > 0 && !after.starts_with(is_word)).then_some(sign + whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<Kind> {
        tokens(text).unwrap().into_iter().map(|token| token.kind).collect()
    }

    #[test]
    fn times_sequence_numbers_and_flags_are_apart() {
        let number = |text: &str| Kind::Number(text.to_owned());
        let word = |text: &str| Kind::Word(text.to_owned());
        let symbol = Kind::Symbol;
        assert_eq!(kinds("+.3~+.303"), [symbol('+'), number(".3"), symbol('~'), symbol('+'), number(".303")]);
        assert_eq!(kinds("0...0.010"), [number("0"), Kind::Ellipsis, number("0.010")]);
        let segment = [number("1"), symbol(':'), number("11"), symbol('('), number("10"), symbol(')')];
        assert_eq!(kinds("P. 1:11(10)"), [&[word("P"), symbol('.')][..], &segment].concat());
        assert_eq!(kinds("-1 EAGAIN 0x7f"), [number("-1"), word("EAGAIN"), number("0x7f")]);
    }

    #[test]
    fn comments_are_left_out_and_lines_are_counted() {
        let found = tokens("// one\n/* two\n three */ 4 // five\n--a_b=c d // e\n`x\ny` %{ z }%").unwrap();
        let lines: Vec<usize> = found.iter().map(|token| token.line).collect();
        assert_eq!(lines, [3, 4, 5, 6]);
        assert_eq!(found[1].kind, Kind::Option("a_b".to_owned(), "c d".to_owned()));
        assert_eq!(found[3].kind, Kind::Code(" z ".to_owned()));
    }

    #[test]
    fn what_does_not_end_is_refused() {
        for (text, open) in [("1\n`abc", "`"), ("1\n%{ a", "%{"), ("1\n\"a", "\""), ("1\n/* a", "/*")] {
            let (line, problem) = tokens(text).unwrap_err();
            assert_eq!(line, 2);
            assert!(problem.starts_with(&format!("'{open}' has no")), "{problem}");
        }
    }
}
