//! The words of its keys.

use aqm_core::choices;

choices! {
    /// The congestion controls of the crate.
    pub(crate) enum Control {
        Cubic = "cubic",
        NewReno = "newreno",
    }
}

choices! {
    /// What packets claim about ECN.
    pub(crate) enum Marks {
        Classic = "classic",
        Off = "off",
    }
}
