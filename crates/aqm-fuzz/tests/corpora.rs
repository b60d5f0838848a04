//! Every target runs on what the fuzzer has kept, so that what it found once stays mended.

use aqm_fuzz::{TARGETS, corpus};
use std::fs;
use std::path::Path;

#[test]
fn every_target_takes_all_of_its_corpus() {
    let corpora = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    for (name, run) in TARGETS {
        let inputs = corpus::inputs(&corpora, name).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(!inputs.is_empty(), "{name} has none");
        for (place, bytes) in inputs {
            if std::panic::catch_unwind(|| run(&bytes)).is_err() {
                panic!("{place} is not taken: {:?}", bytes.escape_ascii().to_string());
            }
        }
    }
}

#[test]
fn every_target_is_a_program_of_libfuzzer() {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/Cargo.toml");
    let manifest = fs::read_to_string(&manifest).unwrap();
    let programs: Vec<&str> =
        manifest.split("[[bin]]").skip(1).filter_map(|program| program.split('"').nth(1)).collect();
    let names: Vec<&str> = TARGETS.iter().map(|(name, _)| *name).collect();
    assert_eq!(programs, names);
}
