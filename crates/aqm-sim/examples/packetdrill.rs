//! Plays packetdrill scripts of others against our sender.
//!
//! `cargo run -p aqm-sim --example packetdrill -- PATH...` plays the scripts, and all below the folders, among PATH; it prints
//! a line for each, and ends with status 1 if one fails.
#![allow(clippy::disallowed_methods, reason = "it reads scripts")]

use aqm_sim::packetdrill::{Problem, replay};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut scripts = Vec::new();
    for path in std::env::args_os().skip(1) {
        if let Err(problem) = collect(Path::new(&path), &mut scripts) {
            eprintln!("{problem}");
            return ExitCode::from(2);
        }
    }
    if scripts.is_empty() {
        eprintln!("name scripts (*.pkt), or folders with scripts");
        return ExitCode::from(2);
    }
    let mut failed = 0;
    for script in &scripts {
        match play(script) {
            Ok(()) => println!("pass {}", script.display()),
            Err(problem) => {
                failed += 1;
                println!("{} {problem}", if problem.is_unsupported { "unsupported" } else { "FAIL" });
            }
        }
    }
    println!("{} of {} scripts pass", scripts.len() - failed, scripts.len());
    ExitCode::from(u8::from(failed > 0))
}

/// The scripts at and below `path`, in order.
fn collect(path: &Path, scripts: &mut Vec<PathBuf>) -> Result<(), String> {
    let named = |error: std::io::Error| format!("{}: {error}", path.display());
    if !path.is_dir() {
        std::fs::metadata(path).map_err(named)?;
        scripts.push(path.to_owned());
        return Ok(());
    }
    let entries = std::fs::read_dir(path).map_err(named)?.collect::<Result<Vec<_>, _>>().map_err(named)?;
    let mut inside: Vec<PathBuf> = entries.iter().map(std::fs::DirEntry::path).collect();
    inside.sort();
    for inner in inside {
        if inner.is_dir() || inner.extension().is_some_and(|extension| extension == "pkt") {
            collect(&inner, scripts)?;
        }
    }
    Ok(())
}

/// Plays one script. Files of commands are found from its folder.
fn play(script: &Path) -> Result<(), Problem> {
    let name = script.display().to_string();
    let text = std::fs::read_to_string(script).map_err(|error| Problem {
        file: name.clone(),
        line: 1,
        text: error.to_string(),
        is_unsupported: false,
    })?;
    let folder = script.parent().unwrap_or(Path::new("."));
    replay(&name, &text, &|path| {
        std::fs::read_to_string(folder.join(path)).map_err(|error| error.to_string())
    })
}
