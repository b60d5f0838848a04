//! TCP's sender played by the scripts in `scripts/`, in the language of packetdrill (see [`aqm_sim::packetdrill`]), with
//! numbers computed by hand.
//!
//! A segment has 100 bytes, and 12 of timestamps, which count milliseconds from zero. Comments number segments from zero:
//! segment 3 is `301:401(100)`. `--tcp` describes the sender; where it is missing, it is Linux.
//!
//! With `AQMLAB_PACKETDRILL` set to a copy of <https://github.com/google/packetdrill>, its scripts are played too.
#![allow(clippy::disallowed_methods, reason = "a test may open files")]

mod hostile;
mod own;
mod public;

use aqm_sim::packetdrill::{Problem, replay};
use std::path::{Path, PathBuf};

/// Plays `text` as the script `file`, which includes no others.
fn play(file: &str, text: &str) -> Result<(), Problem> {
    replay(file, text, &|path| Err(format!("{path} is not there")))
}

/// Our own scripts: names and texts.
fn own_scripts() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/packetdrill/scripts");
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let name = |path: &Path| path.file_name().unwrap_or_default().display().to_string();
    paths.iter().map(|path| (name(path), std::fs::read_to_string(path).unwrap())).collect()
}
