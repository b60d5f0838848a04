//! The words of its keys.

use aqm_core::choices;

choices! {
    /// The congestion controls of the crate.
    pub(crate) enum Control {
        Cubic = "cubic",
        Reno = "reno",
        None = "none",
    }
}
