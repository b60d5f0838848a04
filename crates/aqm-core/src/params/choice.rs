//! Choices as enums: the words of a choice stand beside its variants, and nowhere else.

/// An enum that [`choices!`](crate::choices) declared: what a parameter chooses between.
pub trait Choice: Copy + 'static {
    /// The variants; the first is the default.
    const ALL: &'static [Self];
    /// Their words, in the same order.
    const WORDS: &'static [&'static str];

    /// Its word.
    fn word(self) -> &'static str;

    /// The variant of a word.
    fn of_word(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|one| one.word() == word)
    }
}

/// Declares an enum with the word of each variant; [`ParamSpec::choice`](crate::params::ParamSpec::choice) takes its
/// words from there, and [`Params::choice`](crate::params::Params::choice) gives its variant.
///
/// ```
/// use aqm_core::choices;
/// use aqm_core::params::{Choice, ParamSpec};
///
/// choices! {
///     /// Which packet goes when the queue is full.
///     pub enum Goes {
///         /// The arriving one.
///         Arriving = "tail",
///         /// The oldest.
///         Oldest = "head",
///     }
/// }
///
/// const DROP: ParamSpec = ParamSpec::choice::<Goes>("drop", "Which packet goes", "none");
/// assert_eq!((DROP.default.to_string(), Goes::of_word("head")), ("tail".to_owned(), Some(Goes::Oldest)));
/// ```
#[macro_export]
macro_rules! choices {
    (
        $(#[$about:meta])*
        $visibility:vis enum $name:ident { $($(#[$each:meta])* $variant:ident = $word:literal),+ $(,)? }
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        $visibility enum $name { $($(#[$each])* $variant),+ }

        impl $name {
            /// Its word, in declarations too.
            $visibility const fn word(self) -> &'static str {
                <$name as $crate::params::Choice>::WORDS[self as usize]
            }
        }

        impl $crate::params::Choice for $name {
            const ALL: &'static [$name] = &[$($name::$variant),+];
            const WORDS: &'static [&'static str] = &[$($word),+];

            fn word(self) -> &'static str {
                self.word()
            }
        }
    };
}
