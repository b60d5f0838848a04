//! From a discipline to tc's words and back: the same discipline, for every preset of every qdisc of Linux.

use aqm_core::discipline::red::weight_of_burst;
use aqm_core::params::Value;
use aqm_core::registry::DISCIPLINES;
use aqm_core::spec::Spec;
use aqm_core::units::{Rate, Size};
use aqm_scenario::tc::{translate, words};

const LINK: Rate = Rate::from_bits_per_sec(10_000_000);

fn written(spec: &Spec) -> String {
    words(spec, LINK).unwrap_or_else(|error| panic!("{spec}: {error}"))
}

fn back(text: &str) -> Spec {
    translate(&format!("tc qdisc add dev eth0 root {text}"))
        .unwrap_or_else(|error| panic!("{text}: {error}"))
        .spec
}

/// Full packets as bytes, which Linux counts in RED.
fn in_bytes(value: &Value) -> Value {
    match value {
        Value::Size(Size::Packets(count)) => Value::Size(Size::Bytes(count * 1514)),
        other => other.clone(),
    }
}

/// Parameters that tc has no word for, or that it works out and gives in another form, by discipline.
fn is_apart(name: &str, param: &str) -> bool {
    match name {
        "red" | "choke" => matches!(param, "avpkt" | "bandwidth" | "w"),
        "cake" => param == "limit",
        _ => false,
    }
}

fn check(spec: &Spec) {
    let text = written(spec);
    let again = back(&text);
    assert_eq!(again.info.name, spec.info.name, "{text}");
    let red = spec.info.name == "red";
    for (param, value) in spec.params.iter() {
        let name = param.name;
        if !spec.params.is_given(name) || is_apart(spec.info.name, name) {
            continue;
        }
        let expected = if red { in_bytes(value) } else { value.clone() };
        assert_eq!(
            in_bytes_if(red, again.params.get(name)).to_string(),
            expected.to_string(),
            "{spec} -> {text}: {name}"
        );
    }
    if matches!(spec.info.name, "red" | "choke")
        && let (Value::Fraction(weight), Value::Count(burst)) =
            (spec.params.get("w"), again.params.get("burst"))
    {
        assert_eq!(weight_of_burst(*burst, packets(&again, "min")), Some(*weight), "{spec} -> {text}");
    }
    // What comes back is written alike.
    assert_eq!(written(&again), text);
}

/// A threshold in packets of average length.
fn packets(spec: &Spec, param: &str) -> f64 {
    match spec.params.size(param).unwrap() {
        Size::Packets(count) => count as f64,
        Size::Bytes(count) => count as f64 / spec.params.bytes("avpkt").unwrap().as_u64() as f64,
    }
}

fn in_bytes_if(red: bool, value: &Value) -> Value {
    if red { in_bytes(value) } else { value.clone() }
}

#[test]
fn values_that_are_given_come_back() {
    for text in [
        "fifo limit 30p",
        "fifo limit 30kb",
        "fifo:head limit 30p",
        "codel limit 100p target 7ms interval 70ms ecn ce_threshold 1ms",
        "fq_codel:linux ce_threshold 1ms ce_threshold_selector 1 ce_threshold_mask 3",
        "fq_codel limit 100p flows 64 quantum 300b memory_limit 4mb drop_batch 32 noecn target 500us",
        "pie:linux limit 100p target 20ms tupdate 30ms ecn bytemode dq_rate_estimator",
        "red limit 100p min 20p max 60p nogentle w 0.03125 ecn probability 0.05",
        "red:linux limit 400kb min 30000b max 90000b w 0.03125",
        "red:linux limit 400kb min 30000b max 90000b burst 55 avpkt 1000b",
        "red:linux limit 400kb ecn",
        "choke:linux limit 1000p",
        "cake ingress fwmark 255 ethernet ether_vlan",
        "dualpi2:linux max_rtt 300ms overflow drop_enqueue memlimit 1mb min_qlen_step 2 step_thresh 3p",
        "fq_pie:linux limit 100p flows 64 quantum 300b memory_limit 4mb ecn bytemode ecn_prob 20% dq_rate_estimator",
        "pie:linux alpha 0.25hz beta 2.5hz",
        "dualpi2:linux alpha 0.5hz beta 4hz memlimit 90kb step_thresh 3p min_qlen_step 2 drop_enqueue overflow",
        "dualpi2:linux typical_rtt 20ms max_rtt 200ms classic_protection 0%",
        "sfb rehash 30s db 10s",
        "cake ingress fwmark 240 bandwidth 9mbit",
        "choke nogentle limit 1000p min 100p max 300p w 0.0078125 ecn",
        "sfb limit 100p target 5 max 9 increment 0.01 decrement 0.001 penalty_rate 5 penalty_burst 7 rehash 60s db 5s",
        "sfq redflowlimit 100000b min 8000b max 60000b burst 20 avpkt 1200b probability 0.2 ecn harddrop",
        "sfq limit 100p depth 64 flows 32 divisor 512 quantum 3000b perturb 10s headdrop",
        "cake bandwidth 9mbit besteffort dual-srchost ack-filter rtt 50ms memlimit 1mb docsis",
        "cake diffserv4 metro overhead 18b mpu 64b ptm",
        "cake autorate_ingress",
        "dualpi2:linux limit 100p target 20ms tupdate 16ms step_thresh 2ms coupling_factor 1 classic_protection 20% any_ect",
        "drr quantum 3000b",
        "pfifo_fast",
        "ets:linux bands 6 strict 3 quanta 3500b,3000b,2500b priomap 0,1,1,1,2,3,4,5,5,5,5,5,5,5,5,5",
        "ets:linux bands 2 strict 2 priomap 1,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0",
        "prio bands 4 priomap 1,2,3,3,1,1,1,1,1,1,1,1,1,1,1,1",
    ] {
        check(&Spec::parse(text).unwrap());
    }
}

#[test]
fn every_preset_that_linux_can_run_comes_back() {
    let mut count = 0;
    for info in DISCIPLINES {
        for preset in info.presets {
            let mut spec = Spec::of(info, preset);
            let Ok(text) = words(&spec, LINK) else { continue };
            count += 1;
            let again = back(&text);
            assert_eq!(again.info.name, info.name, "{text}");
            // What was not given was written too: it is compared once it counts as given.
            for (param, value) in preset.values {
                if again.params.is_given(param) && *value != Value::Auto {
                    spec.params.set(param, value.clone()).unwrap();
                    assert_eq!(
                        again.params.get(param).to_string(),
                        spec.params.get(param).to_string(),
                        "{text}: {param}"
                    );
                }
            }
        }
    }
    assert!(count >= 14, "{count} presets");
}

#[test]
fn what_tc_cannot_be_given_is_refused() {
    for (text, expected) in [
        ("codel control_law sqrt", "codel: tc has no word for 'control_law'"),
        ("red", "give min and max in packets"),
        ("red limit 90p min 20p max 60p nogentle w 0.03", "w 0.03 is not a power of 2"),
        ("red limit 90p min 20p max 60p w 0.03125", "nogentle"),
        ("codel limit 100kb", "limit: '100kb' is in bytes"),
        ("codel target 1500ns", "whole number of microseconds"),
        ("sfq perturb 1500ms", "whole number of seconds"),
        ("daqm", "'daqm' is no qdisc of Linux"),
        ("fifo:random", "'fifo' is no qdisc of Linux"),
    ] {
        let error = words(&Spec::parse(text).unwrap(), LINK).unwrap_err();
        assert!(error.to_string().contains(expected), "{text}: {error}");
    }
}
