//! The assertions in `%{ ... }%`: the part of Python that compares numbers.

use super::problem::{Refusal, shortened};
use std::collections::BTreeMap;

/// Statements.
#[derive(Debug)]
pub(super) struct Code(Vec<Statement>);

#[derive(Debug)]
enum Statement {
    /// What is asserted, as it is written too.
    Assert(Expression, String),
    Assign(String, Expression),
    /// `print(...)`: nothing is checked.
    Nothing,
}

#[derive(Debug)]
enum Expression {
    Number(f64),
    Name(String),
    Not(Box<Expression>),
    Minus(Box<Expression>),
    Binary(Box<Expression>, &'static str, Box<Expression>),
    /// `a <= b < c`: each is compared with the next.
    Compared(Box<Expression>, Vec<(&'static str, Expression)>),
}

/// How deep parentheses and signs may nest.
const DEEPEST: usize = 50;

impl Code {
    /// Reads statements, separated by line ends and semicolons; `#` begins a comment.
    pub(super) fn parse(text: &str) -> Result<Code, Refusal> {
        let mut statements = Vec::new();
        for text in split(text)? {
            statements.push(statement(&text)?);
        }
        Ok(Code(statements))
    }

    /// Runs them. `known` are variables that earlier code set, and `of_tcp` has those of the connection.
    pub(super) fn run(
        &self,
        known: &mut BTreeMap<String, f64>,
        of_tcp: &dyn Fn(&str) -> Option<f64>,
    ) -> Result<(), Refusal> {
        for statement in &self.0 {
            match statement {
                Statement::Assert(expression, text) => {
                    let look_up = |name: &str| known.get(name).copied().or_else(|| of_tcp(name));
                    if expression.value(&look_up)? == 0.0 {
                        let mut names = Vec::new();
                        expression.names(&mut names);
                        names.retain(|name| name.starts_with("tcpi_") || name.starts_with("aqmlab_"));
                        let found: Vec<String> = names
                            .iter()
                            .filter_map(|name| look_up(name).map(|value| format!("{name} is {value}")))
                            .collect();
                        return Err(format!("not so: {}; {}", shortened(text), found.join(", ")).into());
                    }
                }
                Statement::Assign(name, expression) => {
                    let look_up = |name: &str| known.get(name).copied().or_else(|| of_tcp(name));
                    let value = expression.value(&look_up)?;
                    known.insert(name.clone(), value);
                }
                Statement::Nothing => {}
            }
        }
        Ok(())
    }
}

/// The statements of `text`, each on one line.
fn split(text: &str) -> Result<Vec<String>, Refusal> {
    let (mut statements, mut current) = (Vec::new(), String::new());
    let mut open = 0_usize;
    let mut quote = None;
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (Some(end), _) => {
                current.push(letter);
                if letter == end {
                    quote = None;
                }
            }
            (None, '\'' | '"') => {
                quote = Some(letter);
                current.push(letter);
            }
            (None, '#') => while letters.next_if(|next| *next != '\n').is_some() {},
            (None, '\\') if letters.peek() == Some(&'\n') => {
                letters.next();
            }
            (None, '\n' | ';') if open == 0 => statements.push(std::mem::take(&mut current)),
            (None, '\n') => current.push(' '),
            _ => {
                match letter {
                    '(' => open += 1,
                    ')' => open = open.saturating_sub(1),
                    _ => {}
                }
                current.push(letter);
            }
        }
    }
    if quote.is_some() || open > 0 {
        return Err(format!("'{}' does not end", shortened(&current)).into());
    }
    statements.push(current);
    statements.retain(|statement| !statement.trim().is_empty());
    Ok(statements)
}

fn statement(text: &str) -> Result<Statement, Refusal> {
    let text = text.trim();
    if text.starts_with("print") {
        return Ok(Statement::Nothing);
    }
    if let Some(asserted) = text.strip_prefix("assert").filter(|rest| rest.starts_with([' ', '(', '\t'])) {
        let asserted = asserted.trim();
        let mut parser = Parser { rest: asserted, depth: 0 };
        let expression = parser.disjunction()?;
        // After a comma comes the message, which says nothing about the sender.
        if !parser.rest.is_empty() && !parser.rest.starts_with(',') {
            return Err(format!("'{}' is not understood", shortened(parser.rest)).into());
        }
        let written = asserted[..asserted.len() - parser.rest.len()].trim().to_owned();
        return Ok(Statement::Assert(expression, written));
    }
    if let Some((target, value)) = text.split_once('=') {
        // `a += 1` is `a = a + 1`.
        let operator = ["+", "-", "*"].into_iter().find(|operator| target.ends_with(operator));
        let name = target.strip_suffix(operator.unwrap_or_default()).unwrap_or(target).trim().to_owned();
        if is_name(&name) {
            let mut parser = Parser { rest: value.trim(), depth: 0 };
            let mut expression = parser.disjunction()?;
            if let Some(operator) = operator {
                let before = Box::new(Expression::Name(name.clone()));
                expression = Expression::Binary(before, operator, Box::new(expression));
            }
            if parser.rest.is_empty() {
                return Ok(Statement::Assign(name, expression));
            }
        }
    }
    Err(format!("'{}' is not understood; known are assertions and assignments", shortened(text)).into())
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

struct Parser<'a> {
    rest: &'a str,
    depth: usize,
}

impl Parser<'_> {
    fn disjunction(&mut self) -> Result<Expression, Refusal> {
        let mut left = self.conjunction()?;
        while self.word("or") {
            left = Expression::Binary(Box::new(left), "or", Box::new(self.conjunction()?));
        }
        Ok(left)
    }

    fn conjunction(&mut self) -> Result<Expression, Refusal> {
        let mut left = self.negation()?;
        while self.word("and") {
            left = Expression::Binary(Box::new(left), "and", Box::new(self.negation()?));
        }
        Ok(left)
    }

    fn negation(&mut self) -> Result<Expression, Refusal> {
        if !self.word("not") {
            return self.comparison();
        }
        self.deeper(|parser| Ok(Expression::Not(Box::new(parser.negation()?))))
    }

    fn comparison(&mut self) -> Result<Expression, Refusal> {
        let first = self.sum()?;
        let mut others = Vec::new();
        while let Some(operator) = self.symbol(&["==", "!=", "<=", ">=", "<", ">"]) {
            others.push((operator, self.sum()?));
        }
        if others.is_empty() {
            return Ok(first);
        }
        Ok(Expression::Compared(Box::new(first), others))
    }

    fn sum(&mut self) -> Result<Expression, Refusal> {
        let mut left = self.product()?;
        while let Some(operator) = self.symbol(&["+", "-"]) {
            left = Expression::Binary(Box::new(left), operator, Box::new(self.product()?));
        }
        Ok(left)
    }

    fn product(&mut self) -> Result<Expression, Refusal> {
        let mut left = self.factor()?;
        while let Some(operator) = self.symbol(&["//", "*", "/", "%"]) {
            left = Expression::Binary(Box::new(left), operator, Box::new(self.factor()?));
        }
        Ok(left)
    }

    fn factor(&mut self) -> Result<Expression, Refusal> {
        if self.symbol(&["-"]).is_some() {
            return self.deeper(|parser| Ok(Expression::Minus(Box::new(parser.factor()?))));
        }
        if self.symbol(&["("]).is_some() {
            return self.deeper(|parser| {
                let inner = parser.disjunction()?;
                match parser.symbol(&[")"]) {
                    Some(_) => Ok(inner),
                    None => Err(format!("')' is missing before '{}'", shortened(parser.rest)).into()),
                }
            });
        }
        let end = self.rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '.'));
        let (word, _) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        let value = match word.strip_prefix("0x") {
            Some(hex) => u64::from_str_radix(hex, 16).ok().map(|value| value as f64),
            None if word.starts_with(|c: char| c.is_ascii_digit() || c == '.') => word.parse().ok(),
            None if is_name(word) => {
                self.take(word.len());
                return Ok(Expression::Name(word.to_owned()));
            }
            None => None,
        };
        let value = value.ok_or_else(|| {
            let found = if self.rest.is_empty() { "the end" } else { self.rest };
            format!("expected a number or a name, found '{}'", shortened(found))
        })?;
        self.take(word.len());
        Ok(Expression::Number(value))
    }

    fn deeper(
        &mut self,
        parse: impl FnOnce(&mut Self) -> Result<Expression, Refusal>,
    ) -> Result<Expression, Refusal> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(format!("more than {DEEPEST} levels of parentheses and signs").into());
        }
        let expression = parse(self);
        self.depth -= 1;
        expression
    }

    fn word(&mut self, word: &str) -> bool {
        let follows = self.rest.strip_prefix(word).is_some_and(|after| after.starts_with([' ', '(', '\t']));
        if follows {
            self.take(word.len());
        }
        follows
    }

    fn symbol(&mut self, allowed: &[&'static str]) -> Option<&'static str> {
        let found = allowed.iter().copied().find(|symbol| self.rest.starts_with(symbol))?;
        self.take(found.len());
        Some(found)
    }

    fn take(&mut self, length: usize) {
        self.rest = self.rest[length..].trim_start();
    }
}

impl Expression {
    fn value(&self, look_up: &dyn Fn(&str) -> Option<f64>) -> Result<f64, Refusal> {
        Ok(match self {
            Expression::Number(number) => *number,
            Expression::Name(name) => look_up(name)
                .ok_or_else(|| Refusal::from(format!("'{}' is not known here", shortened(name))))?,
            Expression::Not(inner) => truth(inner.value(look_up)? == 0.0),
            Expression::Minus(inner) => -inner.value(look_up)?,
            Expression::Binary(left, operator, right) => {
                let left = left.value(look_up)?;
                match (*operator, left != 0.0) {
                    ("or", true) | ("and", false) => return Ok(left),
                    _ => {}
                }
                let right = right.value(look_up)?;
                match *operator {
                    "+" => left + right,
                    "-" => left - right,
                    "*" => left * right,
                    "/" | "//" | "%" if right == 0.0 => return Err("division by zero".into()),
                    "/" => left / right,
                    "//" => (left / right).floor(),
                    "%" => left - right * (left / right).floor(),
                    _ => right,
                }
            }
            Expression::Compared(first, others) => {
                let mut left = first.value(look_up)?;
                for (operator, right) in others {
                    let right = right.value(look_up)?;
                    let holds = match *operator {
                        "==" => left == right,
                        "!=" => left != right,
                        "<=" => left <= right,
                        ">=" => left >= right,
                        "<" => left < right,
                        _ => left > right,
                    };
                    if !holds {
                        return Ok(0.0);
                    }
                    left = right;
                }
                1.0
            }
        })
    }

    /// The names in it.
    fn names<'a>(&'a self, names: &mut Vec<&'a str>) {
        match self {
            Expression::Number(_) => {}
            Expression::Name(name) => names.push(name),
            Expression::Not(inner) | Expression::Minus(inner) => inner.names(names),
            Expression::Binary(left, _, right) => {
                left.names(names);
                right.names(names);
            }
            Expression::Compared(first, others) => {
                first.names(names);
                others.iter().for_each(|(_, other)| other.names(names));
            }
        }
    }
}

fn truth(holds: bool) -> f64 {
    f64::from(u8::from(holds))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(text: &str) -> Result<(), String> {
        let of_tcp = |name: &str| (name == "tcpi_snd_cwnd").then_some(10.0);
        let code = Code::parse(text).map_err(|refusal| refusal.to_string())?;
        code.run(&mut BTreeMap::new(), &of_tcp).map_err(|refusal| refusal.to_string())
    }

    #[test]
    fn what_holds_passes() {
        for text in [
            " assert tcpi_snd_cwnd == 10, tcpi_snd_cwnd ",
            "assert 9 <= tcpi_snd_cwnd <= 11, 'cwnd=%d; #' % tcpi_snd_cwnd\n# a comment; nothing\n",
            "LIMIT = 0x7ffffffe\nLIMIT += 1; assert LIMIT == 2147483647; assert LIMIT > tcpi_snd_cwnd",
            "assert tcpi_snd_cwnd == 9 or not (tcpi_snd_cwnd != 5 + 2 * 3 - 1),\\\n 1; print(tcpi_snd_cwnd)",
            "assert 7 // 2 == 3 and 7 % 4 == 3 and -7 / 2 == -3.5 and (-7) % 4 == 1",
        ] {
            run(text).unwrap_or_else(|problem| panic!("{text}: {problem}"));
        }
    }

    #[test]
    fn what_does_not_hold_says_what_is() {
        let problem = run("assert tcpi_snd_cwnd == 11, 'x'").unwrap_err();
        assert_eq!(problem, "not so: tcpi_snd_cwnd == 11; tcpi_snd_cwnd is 10");
        assert!(run("assert 9 < 10 < 10").is_err());
    }

    #[test]
    fn what_is_not_understood_is_named() {
        for (text, problem) in [
            ("assert tcpi_rto_min == 1", "'tcpi_rto_min' is not known here"),
            ("import os", "'import os' is not understood"),
            ("assert (1", "'assert (1' does not end"),
            ("assert (1 2)", "')' is missing before '2)'"),
            ("assert 'a", "does not end"),
            ("assert", "is not understood"),
            ("assert 1 +", "found 'the end'"),
            ("assert 1 2", "'2' is not understood"),
            ("assert 1 / 0 == 1", "division by zero"),
            ("x = ", "found 'the end'"),
        ] {
            let found = run(text).unwrap_err();
            assert!(found.contains(problem), "{text}: {found}");
        }
        assert!(run(&format!("assert {}1", "-".repeat(100_000))).unwrap_err().contains("50 levels"));
        assert!(
            run(&format!("assert {}1{}", "(".repeat(60), ")".repeat(60))).unwrap_err().contains("50 levels")
        );
        assert!(run(&format!("assert {}1", "not ".repeat(60))).unwrap_err().contains("50 levels"));
    }
}
