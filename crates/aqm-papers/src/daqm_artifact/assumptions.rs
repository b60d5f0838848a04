//! What the paper leaves open or its program does otherwise, as choices.

use aqm_core::choices;

choices! {
    /// How features are taken.
    pub(super) enum MethodName {
        Artifact = "artifact",
        Clean = "clean",
    }
}

choices! {
    /// What changes of the buffer size count per.
    pub(super) enum BufferPer {
        Sample = "sample",
        Ms = "ms",
    }
}

choices! {
    /// Which changes count against the threshold.
    pub(super) enum Compare {
        Signed = "signed",
        Absolute = "absolute",
    }
}
