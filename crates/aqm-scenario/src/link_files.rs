//! The files that kinds of links name, as `wifi stations [walker=rates(walk.txt)]`.

use crate::flows::Files;
use aqm_core::input_error::InputError;
use aqm_path::kind::KindSpec;

/// Some ten thousand lines.
const LARGEST_BYTES: usize = 1 << 20;

/// The kind with the content of its files: a scenario has it, and names no file.
///
/// # Errors
/// If a file cannot be read, or what it has is not allowed.
pub(crate) fn read(kind: KindSpec, files: &dyn Files) -> Result<KindSpec, InputError> {
    kind.with_files(&mut |name| {
        let place = files.place(name);
        let content = files.read(&place, LARGEST_BYTES)?;
        Ok((place, content))
    })
}
