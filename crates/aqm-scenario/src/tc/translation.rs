//! What comes of a text.

use aqm_core::spec::Spec;

/// What a text of tc means here.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Translation {
    /// The discipline; its `Display` is the laboratory's notation.
    pub spec: Spec,
    /// What has no effect here, and what belongs to the link: one sentence each.
    pub notes: Vec<String>,
}
