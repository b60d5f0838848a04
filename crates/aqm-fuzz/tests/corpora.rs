//! Every target runs on what the fuzzer has kept, so that what it found once stays mended.

use aqm_fuzz::TARGETS;
use std::fs;
use std::path::Path;

#[test]
fn every_target_takes_all_of_its_corpus() {
    let corpora = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    for (name, run) in TARGETS {
        let folder = corpora.join(name);
        let files = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        let mut count = 0;
        for file in files {
            let path = file.expect("a folder can be listed").path();
            let bytes = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            if std::panic::catch_unwind(|| run(&bytes)).is_err() {
                panic!("{} is not taken", path.display());
            }
            count += 1;
        }
        assert!(count > 0, "{} is empty", folder.display());
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
