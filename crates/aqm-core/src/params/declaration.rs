//! How a parameter is declared.

use super::{Choice, Kind, ParamSpec, TcNumber, Value};
use core::mem;

impl ParamSpec {
    /// Declares a parameter. `range` is in the base unit: nanoseconds, bit/s, bytes, packets or plain.
    pub const fn new(
        name: &'static str,
        kind: Kind,
        default: Value,
        range: (f64, f64),
        help: &'static str,
        reference: &'static str,
    ) -> ParamSpec {
        let (auto, auto_word, keywords, tc_number) = ("", "", false, TcNumber::Same);
        ParamSpec { name, kind, default, range, auto, auto_word, keywords, tc_number, help, reference }
    }

    /// Declares a flag.
    pub const fn flag(
        name: &'static str,
        default: bool,
        help: &'static str,
        reference: &'static str,
    ) -> ParamSpec {
        ParamSpec::new(name, Kind::Flag, Value::Flag(default), (0.0, 1.0), help, reference)
    }

    /// Declares a choice between the variants of `C`; the first is the default.
    pub const fn choice<C: Choice>(
        name: &'static str,
        help: &'static str,
        reference: &'static str,
    ) -> ParamSpec {
        ParamSpec::one_of(name, C::WORDS, help, reference)
    }

    /// Declares a choice between words, of which the first is the default: for some variants of a choice, or in another
    /// order, and for words that are known at run time.
    pub const fn one_of(
        name: &'static str,
        words: &'static [&'static str],
        help: &'static str,
        reference: &'static str,
    ) -> ParamSpec {
        let default = Value::Choice(words[0]);
        ParamSpec::new(name, Kind::Choice(words), default, (0.0, 0.0), help, reference)
    }

    /// Declares a choice whose words need no parameter name, as tc's keywords (`cake diffserv4`); the first is the
    /// default.
    pub const fn keywords<C: Choice>(
        name: &'static str,
        help: &'static str,
        reference: &'static str,
    ) -> ParamSpec {
        let mut spec = ParamSpec::choice::<C>(name, help, reference);
        spec.keywords = true;
        spec
    }

    /// Declares the children of a classful discipline, `fifo` by default.
    pub const fn children(name: &'static str, help: &'static str, reference: &'static str) -> ParamSpec {
        ParamSpec::new(name, Kind::Children, Value::Notation("fifo"), (0.0, 1.0), help, reference)
    }

    /// Declares one child, `default` in tc's notation by default.
    pub const fn child(
        name: &'static str,
        default: &'static str,
        help: &'static str,
        reference: &'static str,
    ) -> ParamSpec {
        ParamSpec::new(name, Kind::Child, Value::Notation(default), (0.0, 1.0), help, reference)
    }

    /// The same with another default, taken from `reference`.
    pub const fn with_default(mut self, default: Value, reference: &'static str) -> ParamSpec {
        // Constants cannot run destructors; a declared value owns nothing to free.
        mem::forget(mem::replace(&mut self.default, default));
        self.with_reference(reference)
    }

    /// The same with another description.
    pub const fn with_help(mut self, help: &'static str) -> ParamSpec {
        self.help = help;
        self
    }

    /// The same with another source of the default.
    pub const fn with_reference(mut self, reference: &'static str) -> ParamSpec {
        self.reference = reference;
        self
    }

    /// The same with `auto` as default, derived as `how` says.
    pub const fn auto_unless_given(self, how: &'static str) -> ParamSpec {
        let reference = self.reference;
        self.with_default(Value::Auto, reference).or_auto(how)
    }

    /// Allows `auto`, derived as `how` says.
    pub const fn or_auto(mut self, how: &'static str) -> ParamSpec {
        self.auto = how;
        self
    }

    /// The same where tc counts a number without a unit so.
    pub const fn tc_counts(mut self, tc_number: TcNumber) -> ParamSpec {
        self.tc_number = tc_number;
        self
    }

    /// The same with another word for `auto`.
    pub const fn auto_called(mut self, word: &'static str) -> ParamSpec {
        self.auto_word = word;
        self
    }
}
