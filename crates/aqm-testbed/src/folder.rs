//! Where the files of a failed assertion go.

use std::path::{Path, PathBuf};

/// `testbed/NAME` in the folder that cargo builds in; a test's thread has the test's name.
pub(crate) fn usual() -> PathBuf {
    let executable = std::env::current_exe().unwrap_or_default();
    let target = executable.ancestors().find(|folder| folder.ends_with("target"));
    let thread = std::thread::current();
    let name = thread.name().unwrap_or("test").replace("::", "-");
    target.unwrap_or(Path::new("target")).join("testbed").join(name)
}
