//! The files that flow specs may name. This crate opens none: its host reads them, or refuses.

use aqm_core::input_error::InputError;

/// Reads the files of flow specs.
pub trait Files {
    /// The name of a file as a scenario has it, given as the user wrote it.
    fn place(&self, name: &str) -> String;

    /// The content of a file, by its name as in a scenario.
    ///
    /// # Errors
    /// The file, and why it cannot be read.
    fn read(&self, place: &str) -> Result<String, InputError>;
}

/// A host without files.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoFiles;

impl Files for NoFiles {
    fn place(&self, name: &str) -> String {
        name.to_owned()
    }

    fn read(&self, place: &str) -> Result<String, InputError> {
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
