//! The registry is complete, and every entry has its documentation.

use aqm_core::discipline::Info;
use aqm_core::params::{Kind, ParamError, ParamSpec, Value, same_name};
use aqm_core::registry::{self, DISCIPLINES};
use aqm_core::spec::read_child;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Name and text of every file in `src/discipline` that declares a discipline.
fn files() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/discipline");
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            continue;
        }
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let text = fs::read_to_string(&path).unwrap();
        if text.contains("static INFO: Info") {
            files.push((name, text));
        }
    }
    files.sort();
    files
}

#[test]
fn every_file_is_registered_and_every_entry_has_its_file() {
    let files: Vec<String> = files().into_iter().map(|(name, _)| name).collect();
    for file in &files {
        assert!(registry::find(file).is_some(), "src/discipline/{file}.rs has no word in registry.rs");
    }
    for info in DISCIPLINES {
        let has_file = files.iter().any(|file| same_name(file, info.name));
        assert!(has_file, "{} has no file of its name in src/discipline", info.name);
    }
}

#[test]
fn every_file_opens_with_the_four_sections() {
    for (name, text) in files() {
        let header: Vec<&str> = text.lines().take_while(|line| line.starts_with("//!")).collect();
        let titles: Vec<&str> = header.iter().filter_map(|line| line.strip_prefix("//! # ")).collect();
        for title in ["What it does", "Reference", "Deviations", "Promises"] {
            assert!(
                titles.contains(&title),
                "{name}.rs has no section '{title}' in its header, only {titles:?}"
            );
        }
        for section in header.split(|line| line.starts_with("//! # ")).skip(1) {
            let words: usize = section.iter().map(|line| line[3..].split_whitespace().count()).sum();
            assert!(words > 0, "{name}.rs has an empty section in its header");
        }
    }
}

#[test]
fn names_are_unique_and_plain() {
    for (index, info) in DISCIPLINES.iter().enumerate() {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '-';
        assert!(!info.name.is_empty() && info.name.chars().all(plain), "{}", info.name);
        let first = DISCIPLINES.iter().position(|other| same_name(other.name, info.name));
        assert_eq!(first, Some(index), "two disciplines are called {}", info.name);
        for spelling in [info.name.replace('_', "-"), info.name.replace('-', "_"), info.name.to_uppercase()] {
            assert!(registry::find(&spelling).is_some_and(|found| found.name == info.name), "{spelling}");
        }
    }
}

#[test]
fn the_list_is_ordered_by_group() {
    assert!(DISCIPLINES.is_sorted_by_key(|info| info.group));
}

#[test]
fn every_entry_describes_itself() {
    for info in DISCIPLINES {
        let Info { name, summary, reference, deviations, .. } = info;
        assert!(
            !summary.is_empty() && !summary.ends_with('.') && summary.len() <= 100,
            "{name}: '{summary}'"
        );
        assert!(!reference.is_empty(), "{name} names no reference");
        assert!(!deviations.is_empty(), "{name} does not say where it deviates, or 'none'");
    }
}

/// The declared `value`, if its parameter takes it; disciplines in notation stay as they are declared.
fn allowed(param: &ParamSpec, value: &Value) -> Result<Value, ParamError> {
    match value {
        Value::Notation(text) => param.parse(&format!("[{text}]"), read_child).map(|_| value.clone()),
        value => param.check(value.clone()),
    }
}

#[test]
fn every_preset_has_a_name_and_a_source_and_allowed_values() {
    for info in DISCIPLINES {
        assert!(!info.presets.is_empty(), "{} has no preset", info.name);
        let names: BTreeSet<&str> = info.presets.iter().map(|preset| preset.name).collect();
        assert_eq!(names.len(), info.presets.len(), "{}: two presets of one name", info.name);
        for preset in info.presets {
            assert!(!preset.name.is_empty() && !preset.name.contains([' ', ':']), "{}", info.name);
            assert!(preset.source.len() >= 5, "{}:{} has no source", info.name, preset.name);
            for (param, value) in preset.values {
                let declared = info.params.iter().find(|spec| spec.name == *param);
                let declared =
                    declared.unwrap_or_else(|| panic!("{}:{} sets {param}", info.name, preset.name));
                assert_eq!(
                    allowed(declared, value).as_ref(),
                    Ok(value),
                    "{}:{} {param}",
                    info.name,
                    preset.name
                );
            }
        }
    }
}

#[test]
fn every_parameter_is_declared_in_full() {
    for info in DISCIPLINES {
        for (index, spec) in info.params.iter().enumerate() {
            let name = format!("{} {}", info.name, spec.name);
            let first = info.params.iter().position(|other| same_name(other.name, spec.name));
            assert_eq!(first, Some(index), "{name} is declared twice");
            assert!(!spec.help.is_empty() && !spec.reference.is_empty(), "{name}");
            assert!(!spec.name.contains(char::is_whitespace), "{name}");
            assert_eq!(
                allowed(spec, &spec.default).as_ref(),
                Ok(&spec.default),
                "{name}: the default is refused"
            );
            if spec.default == Value::Auto {
                assert!(!spec.auto.is_empty(), "{name}");
            }
            if let Kind::Choice(words) = spec.kind {
                assert!(words.len() >= 2, "{name} leaves no choice");
            } else {
                assert!(spec.range.0 < spec.range.1, "{name} has an empty range");
            }
            // "noecn" switches a flag off, so no parameter may be called that beside "ecn".
            let switched = spec.name.strip_prefix("no");
            assert!(
                !info.params.iter().any(|other| switched == Some(other.name)),
                "{name} reads like a flag that is switched off"
            );
        }
    }
}
