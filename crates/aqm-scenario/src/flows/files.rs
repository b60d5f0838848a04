//! The files that flow specs and topologies may name. This crate opens none: its host reads them, or refuses.

use aqm_core::input_error::InputError;

/// Reads the files of a scenario.
pub trait Files {
    /// The name of a file as a scenario has it, given as the user wrote it.
    fn place(&self, name: &str) -> String;

    /// The content of a file, by its name as in a scenario; more bytes than `most` are refused.
    ///
    /// # Errors
    /// The file, and why it cannot be read.
    fn read(&self, place: &str, most: usize) -> Result<String, InputError>;

    /// A text of a topology's file, with its `$names` replaced where the host has values for them.
    ///
    /// # Errors
    /// The name that has no value.
    fn fill(&self, text: &str) -> Result<String, InputError> {
        Ok(text.to_owned())
    }
}

/// A host without files.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoFiles;

impl Files for NoFiles {
    fn place(&self, name: &str) -> String {
        name.to_owned()
    }

    fn read(&self, place: &str, _: usize) -> Result<String, InputError> {
        Err(InputError::value(place, "is a file, and there are none here"))
    }
}

/// The distributions that come with the program, and whether each is of times; the others are of sizes.
pub(super) const INCLUDED: [(&str, bool, &str); 4] = [
    ("websearch", false, include_str!("../../../../data/workloads/websearch.cdf")),
    ("datamining", false, include_str!("../../../../data/workloads/datamining.cdf")),
    ("hadoop", false, include_str!("../../../../data/workloads/hadoop.cdf")),
    ("telnet", true, include_str!("../../../../data/workloads/telnet.cdf")),
];
