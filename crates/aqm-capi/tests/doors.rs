//! What people write means the same to the test bench and in C as at every other door: see `tests/doors`.
#![allow(unsafe_code, reason = "it is the border to C")]

use aqmlab::{Status, aqmlab_message, aqmlab_path_scenario, aqmlab_sweep_scenarios};
use serde_json::Value;
use std::ffi::{CStr, CString, c_char};
use std::path::{Path, PathBuf};

fn place(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/doors").join(name)
}

/// The entries of a table, as `NAME VALUE; NAME VALUE`.
fn described(table: &str) -> Vec<String> {
    let text = std::fs::read_to_string(place(table)).unwrap();
    let entries: Vec<serde_json::Map<String, Value>> = serde_json::from_str(&text).unwrap();
    let texts = |value: &Value| match value {
        Value::Array(values) => values.iter().map(|one| one.as_str().unwrap().to_owned()).collect(),
        one => vec![one.as_str().unwrap().to_owned()],
    };
    let pairs = |(name, value): (&String, &Value)| -> Vec<String> {
        texts(value).iter().map(|text| format!("{name} {text}")).collect()
    };
    entries.iter().map(|entry| entry.iter().flat_map(pairs).collect::<Vec<_>>().join("; ")).collect()
}

/// Compares lines with those of a file; `DOORS=write` writes them.
fn compare(name: &str, lines: &[String]) {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    if std::env::var("DOORS").as_deref() == Ok("write") {
        std::fs::write(place(name), &text).unwrap();
    }
    let expected = std::fs::read_to_string(place(name)).unwrap();
    for (number, (found, expected)) in lines.iter().zip(expected.lines()).enumerate() {
        assert_eq!(found, expected, "{name}, entry {number}");
    }
    assert_eq!(text, expected);
}

/// What writes scenarios in C.
type Writes = unsafe extern "C" fn(*const c_char, *mut c_char, usize, *mut usize) -> Status;

/// The scenarios of a description through C, or the message about it.
fn through_c(write: Writes, description: &str) -> Result<String, String> {
    let description = CString::new(description).unwrap();
    let mut length = 0;
    let call = |room: &mut [u8], length: &mut usize| unsafe {
        write(description.as_ptr(), room.as_mut_ptr().cast(), room.len(), length)
    };
    let status = call(&mut [], &mut length);
    assert_eq!(status, Status::AqmlabInput);
    if length == 0 {
        let message = unsafe { CStr::from_ptr(aqmlab_message()) };
        return Err(message.to_str().unwrap().to_owned());
    }
    let mut room = vec![b'x'; length];
    assert_eq!(call(&mut room, &mut length), Status::AqmlabOk);
    Ok(CStr::from_bytes_with_nul(&room).unwrap().to_str().unwrap().to_owned())
}

#[test]
fn sixty_texts_are_the_same_scenarios_on_the_bench_and_in_c() {
    let (mut lines, mut refused) = (Vec::new(), Vec::new());
    for description in described("right.json") {
        let path = aqm_testbed::Path::parse(&description);
        let bench = match path.and_then(|path| path.scenario()) {
            Ok(scenario) => scenario.json().to_string(),
            Err(error) => {
                refused.push(format!("{description}: {error}"));
                continue;
            }
        };
        assert_eq!(through_c(aqmlab_path_scenario, &description).as_ref(), Ok(&bench), "{description}");
        lines.push(bench);
    }
    assert_eq!(refused, Vec::<String>::new());
    assert!(lines.len() >= 60);
    compare("scenarios.jsonl", &lines);
}

#[test]
fn sixty_wrong_texts_are_refused_alike_on_the_bench_and_in_c() {
    let (mut lines, mut taken) = (Vec::new(), Vec::new());
    for description in described("wrong.json") {
        let bench = aqm_testbed::Path::parse(&description).err().map(|error| error.to_string());
        let Some(bench) = bench else {
            taken.push(description);
            continue;
        };
        assert_eq!(through_c(aqmlab_path_scenario, &description).as_ref(), Err(&bench), "{description}");
        lines.push(bench);
    }
    assert_eq!(taken, Vec::<String>::new());
    assert!(lines.len() >= 60);
    compare("refusals.txt", &lines);
}

#[test]
fn sweeps_are_the_same_scenarios_on_the_bench_and_in_c() {
    let mut lines = Vec::new();
    for description in described("sweeps.json") {
        let paths =
            aqm_testbed::Path::sweep(&description).unwrap_or_else(|error| panic!("{description}: {error}"));
        let scenarios: Vec<Value> = paths.iter().map(|path| path.scenario().unwrap().json()).collect();
        let bench = Value::from(scenarios).to_string();
        assert_eq!(through_c(aqmlab_sweep_scenarios, &description).as_ref(), Ok(&bench), "{description}");
        lines.push(bench);
    }
    assert!(lines.len() >= 20);
    compare("sweeps.jsonl", &lines);
}

#[test]
fn wrong_sweeps_are_refused_alike_on_the_bench_and_in_c() {
    let mut lines = Vec::new();
    for description in described("wrong_sweeps.json") {
        let error = aqm_testbed::Path::sweep(&description).err();
        let bench = error.unwrap_or_else(|| panic!("{description} is taken")).to_string();
        assert_eq!(through_c(aqmlab_sweep_scenarios, &description).as_ref(), Err(&bench), "{description}");
        lines.push(bench);
    }
    assert!(lines.len() >= 20);
    compare("sweep_refusals.txt", &lines);
}
