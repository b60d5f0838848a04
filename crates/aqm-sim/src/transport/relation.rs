//! Values of keys that need values of other keys.

/// A value of one key that needs a value of another key: `recovery.rack=on` needs `sack=on`.
#[derive(Clone, Copy, Debug)]
pub struct Relation {
    /// The key and its value.
    pub given: (&'static str, &'static str),
    /// The other key and the value that it must have.
    pub needs: (&'static str, &'static str),
}
