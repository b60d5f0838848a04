//! The values of all parameters of one discipline.

use super::{
    Child, Choice, Kind, Notation, ParamError, ParamSpec, Params, PerClass, Preset, ReadChild, ReadFile,
    Value, did_you_mean, same_name,
};
use crate::input_error::InputError;
use crate::units::{Bytes, Rate, Size, Span};
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

impl Params {
    /// Every parameter at its declared default, then with `preset`; `read` parses disciplines in them.
    ///
    /// # Panics
    /// If the preset names an undeclared parameter or has a refused value; the conformance tests try every preset.
    pub fn new(specs: &'static [ParamSpec], preset: &Preset, read: ReadChild) -> Params {
        let resolved = |spec: &ParamSpec, value: &Value| match (spec.kind, value) {
            (Kind::Notation(notation), Value::Notation(text)) => {
                Value::Text((notation.canonical)(text).expect("declarations are in their notation"))
            }
            (_, Value::Notation(text)) => Value::Children(alloc::vec![
                read(text).expect("declarations name disciplines that there are")
            ]),
            (_, value) => value.clone(),
        };
        let values = specs.iter().map(|spec| resolved(spec, &spec.default)).collect();
        let mut params = Params { specs, values, given: alloc::vec![false; specs.len()] };
        for (name, value) in preset.values {
            let index = params.index(name).expect("presets name declared parameters");
            params.values[index] =
                specs[index].check(resolved(&specs[index], value)).expect("presets hold allowed values");
        }
        params
    }

    /// Sets one parameter by name.
    pub fn set(&mut self, name: &str, value: Value) -> Result<(), ParamError> {
        let index = self.find(name)?;
        self.values[index] = self.specs[index].check(value)?;
        self.given[index] = true;
        Ok(())
    }

    /// Sets one parameter from text; `read` parses disciplines in brackets.
    pub fn set_text(&mut self, name: &str, text: &str, read: ReadChild) -> Result<(), ParamError> {
        let index = self.find(name)?;
        self.values[index] = self.specs[index].parse(text, read)?;
        self.given[index] = true;
        Ok(())
    }

    /// Puts the content of files in place of their names, where a notation names some.
    ///
    /// # Errors
    /// If a file cannot be read, or has what a notation does not.
    pub fn read_files(&mut self, read: ReadFile<'_>) -> Result<(), InputError> {
        for (spec, value) in self.specs.iter().zip(&mut self.values) {
            if let (Kind::Notation(Notation { with_files: Some(with_files), .. }), Value::Text(text)) =
                (spec.kind, value)
            {
                *text = with_files(text, read)?;
            }
        }
        Ok(())
    }

    /// Whether the user gave this parameter (rather than a preset or a default).
    pub fn is_given(&self, name: &str) -> bool {
        self.index(name).is_some_and(|index| self.given[index])
    }

    /// Declarations with their values.
    pub fn iter(&self) -> impl Iterator<Item = (&'static ParamSpec, &Value)> {
        self.specs.iter().zip(&self.values)
    }

    /// The parameters given by the user, in the notation of the parser, each with a space before it.
    pub fn given(&self) -> String {
        let mut text = String::new();
        for (param, value) in self.iter().filter(|(param, _)| self.is_given(param.name)) {
            text += &match (param.kind, value) {
                (Kind::Flag, Value::Flag(true)) => format!(" {}", param.name),
                (Kind::Flag, _) => format!(" no{}", param.name),
                (_, Value::Children(children)) => {
                    children.iter().map(|child| format!(" {} [{child}]", param.name)).collect()
                }
                _ => format!(" {} {value}", param.name),
            };
        }
        text
    }

    /// All direct children, as given.
    pub fn all_children(&self) -> impl Iterator<Item = &Child> {
        let lists = self.values.iter().filter_map(|value| match value {
            Value::Children(children) => Some(children),
            _ => None,
        });
        lists.flatten()
    }

    /// Names of all parameters.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.specs.iter().map(|spec| spec.name)
    }

    /// How many disciplines this one will contain, at all depths: one for each of its classes or bands.
    pub fn disciplines_inside(&self) -> u64 {
        let inside = |(param, value): (&ParamSpec, &Value)| {
            let Value::Children(children) = value else { return 0 };
            let sizes = children.iter().map(|child| 1u64.saturating_add(child.params.disciplines_inside()));
            let counted = ["classes", "bands"].into_iter().find(|name| self.index(name).is_some());
            let classes = match counted {
                Some(name) if param.kind == Kind::Children => self.count(name) as usize,
                _ => children.len(),
            };
            let last = sizes.clone().next_back().unwrap_or(0);
            let further = classes.saturating_sub(children.len()) as u64;
            sizes.take(classes).fold(further.saturating_mul(last), u64::saturating_add)
        };
        self.iter().map(inside).fold(0, u64::saturating_add)
    }

    /// The value of a declared parameter.
    ///
    /// # Panics
    /// If no such parameter is declared. The typed readers below also panic on another kind. Both are errors in the
    /// discipline's own file.
    pub fn get(&self, name: &str) -> &Value {
        &self.values[self.index(name).unwrap_or_else(|| panic!("parameter '{name}' is not declared"))]
    }

    /// A length of time.
    pub fn span(&self, name: &str) -> Span {
        match self.get(name) {
            Value::Span(span) => *span,
            other => wrong_kind(name, other),
        }
    }

    /// A bit rate, or `None` for `auto`.
    pub fn rate(&self, name: &str) -> Option<Rate> {
        match self.get(name) {
            Value::Rate(rate) => Some(*rate),
            Value::Auto => None,
            other => wrong_kind(name, other),
        }
    }

    /// A number of bytes, or `None` for `auto`.
    pub fn bytes(&self, name: &str) -> Option<Bytes> {
        match self.get(name) {
            Value::Bytes(bytes) => Some(*bytes),
            Value::Auto => None,
            other => wrong_kind(name, other),
        }
    }

    /// A number of bytes that may be negative, or `None` for `auto`.
    pub fn signed_bytes(&self, name: &str) -> Option<i64> {
        match self.get(name) {
            Value::SignedBytes(bytes) => Some(*bytes),
            Value::Auto => None,
            other => wrong_kind(name, other),
        }
    }

    /// A queue size, or `None` for `auto`.
    pub fn size(&self, name: &str) -> Option<Size> {
        match self.get(name) {
            Value::Size(size) => Some(*size),
            Value::Auto => None,
            other => wrong_kind(name, other),
        }
    }

    /// A fraction, a gain per second or a plain number.
    pub fn number(&self, name: &str) -> f64 {
        match self.get(name) {
            Value::Fraction(number) | Value::Frequency(number) | Value::Number(number) => *number,
            Value::Percent(number) => *number / 100.0,
            other => wrong_kind(name, other),
        }
    }

    /// A whole number.
    pub fn count(&self, name: &str) -> u64 {
        match self.get(name) {
            Value::Count(count) => *count,
            other => wrong_kind(name, other),
        }
    }

    /// Whether a flag is on.
    pub fn flag(&self, name: &str) -> bool {
        match self.get(name) {
            Value::Flag(on) => *on,
            other => wrong_kind(name, other),
        }
    }

    /// Text in a notation of the discipline's own.
    pub fn text(&self, name: &str) -> &str {
        match self.get(name) {
            Value::Text(text) => text,
            other => wrong_kind(name, other),
        }
    }

    /// The name of something that the host knows, or `None` for `auto`.
    pub fn name(&self, name: &str) -> Option<&str> {
        match self.get(name) {
            Value::Name(given) => Some(given),
            Value::Auto => None,
            other => wrong_kind(name, other),
        }
    }

    /// The chosen variant.
    pub fn choice<C: Choice>(&self, name: &str) -> C {
        self.choice_or_auto(name).unwrap_or_else(|| wrong_kind(name, &Value::Auto))
    }

    /// The chosen variant, or `None` for `auto`.
    pub fn choice_or_auto<C: Choice>(&self, name: &str) -> Option<C> {
        match self.get(name) {
            value @ Value::Choice(word) => Some(C::of_word(word).unwrap_or_else(|| wrong_kind(name, value))),
            Value::Auto => None,
            other => wrong_kind(name, other),
        }
    }

    /// Numbers, bytes or times for each class.
    pub fn per_class(&self, name: &str) -> &PerClass {
        match self.get(name) {
            Value::PerClass(list) => list,
            other => wrong_kind(name, other),
        }
    }

    /// The children of a classful discipline: at least one.
    pub fn children(&self, name: &str) -> &[Child] {
        match self.get(name) {
            Value::Children(children) => children,
            other => wrong_kind(name, other),
        }
    }

    /// The child of this name.
    pub fn child(&self, name: &str) -> &Child {
        &self.children(name)[0]
    }

    /// The declaration of this name, or the nearest name.
    pub(crate) fn declared(&self, name: &str) -> Result<&'static ParamSpec, ParamError> {
        self.find(name).map(|index| &self.specs[index])
    }

    fn index(&self, name: &str) -> Option<usize> {
        self.specs.iter().position(|spec| same_name(spec.name, name))
    }

    fn find(&self, name: &str) -> Result<usize, ParamError> {
        self.index(name).ok_or_else(|| {
            let names = self.specs.iter().map(|spec| spec.name);
            let allowed: Vec<_> = names.clone().collect();
            ParamError {
                param: name.to_owned(),
                value: String::new(),
                problem: format!("is unknown{}; known are {}", did_you_mean(name, names), allowed.join(", ")),
                inside: None,
            }
        })
    }
}

fn wrong_kind(name: &str, value: &Value) -> ! {
    panic!("parameter '{name}' is declared as another kind than {value:?}")
}
