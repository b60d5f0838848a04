//! The simulator runs in a WebAssembly module, without files, clock and threads, with the same results as natively.
//!
//! It needs node and `rustup target add wasm32-unknown-unknown`; without them the test says so and passes.
#![allow(clippy::disallowed_methods, reason = "a test may open files")]

use aqm_io::capture::Capture;
use aqm_io::link_trace::LinkTrace;
use aqm_sim::report::Monitor;
use aqm_sim::scenario::inputs::Inputs;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

const TARGET: &str = "wasm32-unknown-unknown";

fn flows(name: &str, count: u32, transport: &Value, source: &Value) -> Value {
    json!({"name": name, "count": count, "start_ns": [0, 500_000_000], "transport": transport, "source": source})
}

fn tcp(congestion_control: &str) -> Value {
    json!({"tcp": {"congestion_control": congestion_control, "mss_bytes": 1448, "ecn": "off"}})
}

fn scenario(aqm: &str, capacity: &Value, flows: &[Value], captures: &[&str]) -> Value {
    json!({
        "aqm": aqm, "capacity": capacity, "rtt_ns": 40_000_000, "duration_ns": 4_000_000_000_u64,
        "warmup_ns": 1_000_000_000, "sample_ns": 10_000_000, "loss": 0.001, "jitter_ns": 100_000,
        "flows": flows, "captures": captures,
    })
}

fn scenarios() -> Vec<(&'static str, Value)> {
    let rate = json!({"rate_bps": 10_000_000});
    let trace = json!({"trace": "trace"});
    let bulk = json!({"bulk": {"size_bytes": null}});
    let size = json!({"lognormal": {"median": 20_000, "sigma": 1.2}});
    let bursts = json!({"on_off": {"rate_bps": 4_000_000, "on": {"pareto": {"scale": 100_000_000, "shape": 1.5}},
        "off": {"weibull": {"scale": 100_000_000, "shape": 0.7}}}});
    let udp = json!({"udp": {"packet_bytes": 1000}});
    let of = |name| flows(name, 2, &tcp(name), &bulk);
    vec![
        ("CUBIC", scenario("pie limit 200p", &rate, &[of("cubic"), of("newreno")], &[])),
        (
            "models of the path",
            scenario("fq_codel limit 200p", &rate, &[of("bbr1"), of("bbr3"), of("ledbat")], &[]),
        ),
        (
            "distributions",
            scenario(
                "red limit 200p",
                &rate,
                &[
                    flows("bursts", 3, &udp, &bursts),
                    flows("workload", 1, &tcp("cubic"), &json!({"workload": {"size": size, "load": 0.5}})),
                    flows("voip", 2, &udp, &json!("voip")),
                ],
                &[],
            ),
        ),
        ("a link trace", scenario("codel limit 200p", &trace, &[of("cubic"), of("dctcp")], &[])),
        ("a capture", scenario("cake", &rate, &[of("cubic")], &["capture"])),
        (
            "a capture held again",
            scenario(
                "s-pie limit 200p",
                &trace,
                &[flows("replay", 1, &tcp("cubic"), &json!({"replay": {"file": "capture"}}))],
                &[],
            ),
        ),
    ]
}

/// The module, built; or why it cannot be here.
fn module() -> Result<PathBuf, String> {
    if Command::new("node").arg("--version").output().is_err() {
        return Err("node is not installed".to_owned());
    }
    let library = Command::new("rustc").args(["--print", "target-libdir", "--target", TARGET]).output();
    let library = library.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    if !library.is_ok_and(|folder| Path::new(&folder).is_dir()) {
        return Err(format!("the target is not installed (rustup target add {TARGET})"));
    }
    // The folder that `make playground` builds in too. The settings of the outer cargo do not apply to it.
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/wasm");
    let built = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--locked", "--offline", "--package", "aqm-wasm", "--features", "sweeps"])
        .args(["--profile", "wasm", "--target", TARGET, "--target-dir"])
        .arg(&target)
        .env_remove("RUSTFLAGS")
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .output()
        .expect("cargo runs this test");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    Ok(target.join(TARGET).join("wasm/aqm_wasm.wasm"))
}

/// The last answer of the module to each scenario with seed 7, taken in steps.
fn run(module: &Path, inputs: &[&Path; 2], scenarios: &[Value]) -> Vec<String> {
    let ran = Command::new("node")
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/run.mjs"))
        .arg(module)
        .args(inputs)
        .arg("7")
        .args(scenarios.iter().map(Value::to_string))
        .output()
        .expect("node is there");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8_lossy(&ran.stdout).lines().map(str::to_owned).collect()
}

#[test]
fn a_webassembly_module_gives_in_steps_the_results_of_the_native_simulator_to_the_last_bit() {
    let module = match module() {
        Ok(module) => module,
        Err(reason) => return println!("skipped: {reason}"),
    };
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data");
    let (capture, trace) = (data.join("captures/aqmlab-lan.pcap"), data.join("link-traces/aqmlab-lte.down"));
    let mut inputs = Inputs::default();
    let read = |path: &Path| std::fs::read(path).unwrap();
    inputs.add_capture("capture", Arc::new(Capture::parse("capture", &read(&capture)).unwrap()));
    inputs.add_link_trace("trace", LinkTrace::parse("trace", &read(&trace)).unwrap());
    // A message of 16 MiB in datagrams of nine bytes: there is no unwinding here, and no trap either.
    let message = json!({"arrivals": {"gap": {"constant": {"value": 1_000_000_000}}, "size": {"constant": {"value": 16 << 20}}}});
    let udp = json!({"udp": {"packet_bytes": 37}});
    let flood = scenario(
        "fifo limit 200p",
        &json!({"rate_bps": 1_000_000_000}),
        &[flows("flood", 1, &udp, &message)],
        &[],
    );
    let (names, mut all): (Vec<_>, Vec<_>) = scenarios().into_iter().unzip();
    all.push(flood);
    let mut answers = run(&module, &[&capture, &trace], &all);
    let flooded = answers.pop().unwrap();
    assert!(flooded.contains("more than 1572863 packets are in flight at once"), "{flooded:.200}");
    assert_eq!(answers.len(), names.len());
    for ((what, scenario), answer) in names.into_iter().zip(all).zip(answers) {
        let native = serde_json::from_value(scenario).unwrap();
        let native = aqm_sim::run(&native, &inputs, 7, &Monitor::default());
        let native = native.unwrap_or_else(|error| panic!("{what}: {error}"));
        let expected = json!({"report": native}).to_string();
        // Not `assert_eq`: it would print megabytes.
        assert!(answer == expected, "{what}: the answers differ");
    }
}

/// A table of `tests/doors`.
fn door(name: &str) -> String {
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/doors").join(name);
    std::fs::read_to_string(place).unwrap()
}

#[test]
fn what_people_write_means_the_same_in_the_module_as_through_every_other_door() {
    let module = match module() {
        Ok(module) => module,
        Err(reason) => return println!("skipped: {reason}"),
    };
    for (table, results) in [
        ("right.json", "scenarios.jsonl"),
        ("wrong.json", "refusals.txt"),
        ("sweeps.json", "sweeps.jsonl"),
        ("wrong_sweeps.json", "sweep_refusals.txt"),
    ] {
        let entries: Vec<Value> = serde_json::from_str(&door(table)).unwrap();
        let ran = Command::new("node")
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/doors.mjs"))
            .arg(&module)
            .args(entries.iter().map(Value::to_string))
            .output()
            .expect("node is there");
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        let answers: Vec<Value> = String::from_utf8_lossy(&ran.stdout)
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let found: Vec<String> = answers
            .iter()
            .map(|answer| match answer["error"].as_str() {
                Some(message) => message.to_owned(),
                None => answer.get("scenarios").unwrap_or(&answer["scenario"]).to_string(),
            })
            .collect();
        let results = door(results);
        assert_eq!(found.len(), entries.len());
        for (number, (found, expected)) in found.iter().zip(results.lines()).enumerate() {
            assert_eq!(found, expected, "{table}, entry {number}");
        }
        let options =
            answers.iter().filter_map(|answer| answer["option"].as_str()).filter(|option| !option.is_empty());
        assert_eq!(options.count(), if table.starts_with("wrong") { entries.len() } else { 0 });
    }
}
