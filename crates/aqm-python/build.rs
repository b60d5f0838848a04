//! The commit that is built, and the source version: a hash of everything that decides results, so that a rebuild of the
//! same source keeps stored runs.
//!
//! The hash covers the sources of every crate, the data that they include, and the versions of all dependencies.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

const WORKSPACE: &str = "../..";

fn main() -> io::Result<()> {
    let mut files = vec![Path::new(WORKSPACE).join("Cargo.lock")];
    for member in fs::read_dir(Path::new(WORKSPACE).join("crates"))? {
        collect(&member?.path().join("src"), &mut files)?;
    }
    collect(&Path::new(WORKSPACE).join("data/workloads"), &mut files)?;
    files.sort();

    let mut hash = Fnv::new();
    for file in &files {
        println!("cargo:rerun-if-changed={}", file.display());
        let content = fs::read(file)?;
        hash.add(file.to_string_lossy().as_bytes());
        hash.add(&content.len().to_le_bytes());
        hash.add(&content);
    }
    println!("cargo:rustc-env=AQMLAB_SOURCE={:032x}", hash.0);
    println!("cargo:rustc-env=AQMLAB_COMMIT={}", commit());
    conformance()
}

/// The commit that is built, with `+` where its files were changed; empty outside of a checkout.
///
/// A wheel is built from a source distribution, which has no commit: whoever makes it sets `AQMLAB_COMMIT`.
fn commit() -> String {
    println!("cargo:rerun-if-env-changed=AQMLAB_COMMIT");
    if let Ok(given) = std::env::var("AQMLAB_COMMIT") {
        return given;
    }
    // A source distribution may have been unpacked within the checkout of something else.
    let here = fs::canonicalize(WORKSPACE).ok();
    if git(&["rev-parse", "--show-toplevel"]).and_then(|top| fs::canonicalize(top).ok()) != here {
        return String::new();
    }
    for file in ["logs/HEAD", "HEAD"].iter().filter_map(|name| git(&["rev-parse", "--git-path", name])) {
        if Path::new(&file).exists() {
            println!("cargo:rerun-if-changed={file}");
        }
    }
    let changed =
        git(&["status", "--porcelain", "--untracked-files=no"]).is_some_and(|files| !files.is_empty());
    git(&["rev-parse", "--short=10", "HEAD"]).map_or(String::new(), |id| id + if changed { "+" } else { "" })
}

fn git(arguments: &[&str]) -> Option<String> {
    let ended = Command::new("git").args(arguments).output().ok().filter(|ended| ended.status.success())?;
    Some(String::from_utf8(ended.stdout).ok()?.trim().to_owned())
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}

/// FNV-1a with 128 bits: enough to tell sources apart, and the same with every compiler.
struct Fnv(u128);

impl Fnv {
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;

    fn new() -> Fnv {
        Fnv(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d)
    }

    fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u128::from(*byte)).wrapping_mul(Self::PRIME);
        }
    }
}

/// Tests of the core that need the registry, or parse specs by it.
const OF_THE_REGISTRY: &[&str] = &[
    "laws_with_random_numbers_depend_on_the_seed_and_the_others_do_not",
    "a_spec_reads_back_what_it_writes",
    "every_exception_from_the_promises_under_a_flood_is_needed",
];

/// Writes the core's conformance tests as plain functions, and a list of them, for disciplines of Python.
fn conformance() -> io::Result<()> {
    let folder = Path::new(WORKSPACE).join("crates/aqm-core/tests/conformance");
    println!("cargo:rerun-if-changed={}", folder.display());
    let (mut text, mut list) = (String::new(), String::new());
    for module in [
        "conservation",
        "determinism",
        "ecn",
        "flood",
        "flood_exceptions",
        "limits",
        "order",
        "params",
        "pause",
        "probes",
        "reset",
        "signals",
        "wakeups",
    ] {
        let source = fs::read_to_string(folder.join(module).with_extension("rs"))?;
        let code: Vec<&str> = source.lines().filter(|line| !line.starts_with("//!")).collect();
        let code = code.join("\n").replace("use crate::", "use super::");
        for part in code.split("#[test]\nfn ").skip(1) {
            let name = part.split('(').next().unwrap_or_default();
            if !OF_THE_REGISTRY.contains(&name) {
                list += &format!("(\"{name}\", {module}::{name} as fn()), ");
            }
        }
        let code = code.replace("#[test]\nfn ", "pub(super) fn ");
        text += &format!("#[allow(dead_code, clippy::all)]\nmod {module} {{\n{code}\n}}\n");
    }
    text += &format!("/// Name and test.\nconst TESTS: &[(&str, fn())] = &[{list}];\n");
    let out = std::env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("cargo sets OUT_DIR"))?;
    fs::write(Path::new(&out).join("conformance.rs"), text)
}
