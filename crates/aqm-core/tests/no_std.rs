//! The core works without the standard library.

use std::path::Path;
use std::process::Command;

#[test]
fn a_program_without_std_builds_on_the_core_and_runs() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/no_std");
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("no_std");
    // Nothing to fetch: its lock file names the versions that the workspace uses. The outer cargo's settings do not
    // apply to it.
    let built = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--locked", "--offline", "--manifest-path"])
        .arg(folder.join("Cargo.toml"))
        .arg("--target-dir")
        .arg(&target)
        .env_remove("RUSTFLAGS")
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .output()
        .expect("cargo runs this test");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let ran = Command::new(target.join("debug/no-std")).status().expect("it was built");
    assert_eq!(ran.code(), Some(0));
}
