//! Wi-Fi in the simulator: an access point and its stations behind a fast line.

use super::channel_tests::any_discipline;
use crate::report::{Monitor, Report, RunError};
use crate::reporting::results::report;
use crate::scenario::inputs::Inputs;
use crate::scenario::{Capacity, Scenario};
use crate::simulation::build::Setup;
use aqm_core::spec::Spec;
use aqm_core::units::{Span, Time};
use aqm_path::kind;
use aqm_path::mac::link::MULTICAST;
use proptest::prelude::*;
use serde_json::{Value, json};

pub(super) const SECOND: u64 = 1_000_000_000;

/// The testbed of "Ending the Anomaly" without its slower laptop: two fast stations and a slow one.
const PAPER: &str = "wifi stations [fast1=ht-mcs15-400ns, fast2=ht-mcs15-400ns, slow=ht-mcs0-400ns]";

const PAIR: &str = "wifi stations [fast1=ht-mcs15-400ns, slow=ht-mcs0-400ns]";

/// A group of one flow from the server to a station.
fn down(name: &str, to: &str, transport: &Value, source: &Value) -> Value {
    json!({"name": name, "count": 1, "start_ns": [0, SECOND / 10], "transport": transport, "source": source,
        "from": ["server"], "to": [to]})
}

pub(super) fn udp(to: &str, rate_bps: u64) -> Value {
    let transport = json!({"udp": {"packet_bytes": 1500, "ecn": "off"}});
    down(&format!("udp-{to}"), to, &transport, &json!({"poisson": {"rate_bps": rate_bps}}))
}

pub(super) fn tcp(to: &str) -> Value {
    let tcp = crate::scenario::Transport::Tcp(crate::scenario::Tcp::parse("cubic").unwrap());
    let bulk = json!({"bulk": {"size_bytes": null}});
    down(&format!("tcp-{to}"), to, &serde_json::to_value(tcp).unwrap(), &bulk)
}

pub(super) fn scenario(
    aqm: &str,
    placement: Option<&str>,
    kind: &str,
    flows: &[Value],
    seconds: u64,
) -> Value {
    let link = |from: &str, to: &str, delay_ns: u64| json!({"from": from, "to": to, "rate_bps": 1_000_000_000, "delay_ns": delay_ns, "queue": "plain"});
    let on_air = |from: &str, queue: Value| json!({"from": from, "to": "air", "delay_ns": 0, "queue": queue, "medium": "wifi", "kind": kind});
    let mut links = vec![
        on_air("ap", json!("under_test")),
        link("air", "ap", 0),
        link("server", "ap", 5_000_000),
        link("ap", "server", 5_000_000),
    ];
    for flow in flows {
        let station = flow["to"][0].as_str().unwrap();
        // Nothing is sent by multicast.
        links.push(match station {
            MULTICAST => link(station, "ap", 0),
            _ => on_air(station, json!({"discipline": "fifo limit 1000p"})),
        });
        links.push(link("air", station, 0));
    }
    json!({
        "aqm": aqm, "capacity": {"rate_bps": 100_000_000}, "rtt_ns": 10_000_000, "duration_ns": seconds * SECOND,
        "warmup_ns": SECOND, "sample_ns": SECOND / 10, "flows": flows, "placement": placement,
        "topology": {"links": links, "measured": 0},
    })
}

fn run(scenario: &Value, seed: u64) -> Result<Report, RunError> {
    run_with(scenario, seed, &Inputs::default())
}

pub(super) fn run_with(scenario: &Value, seed: u64, inputs: &Inputs) -> Result<Report, RunError> {
    let mut scenario: Scenario = serde_json::from_value(scenario.clone()).unwrap();
    // The bottleneck has the rate of its kind; of a text that is wrong it does not matter.
    let kind = scenario.topology.as_ref().and_then(|topology| topology.links[0].kind.clone());
    if let Some(Ok(kind::Capacity::Rate(rate))) =
        kind.map(|kind| inputs.link_kind(&kind).map(|kind| kind.capacity()))
    {
        scenario.capacity = Capacity::RateBps(rate.as_bits_per_sec());
    }
    scenario.check().unwrap();
    let aqm = Spec::parse(&scenario.aqm).unwrap();
    let mut setup = Setup::build(&scenario, &aqm, inputs, seed, &Monitor::default())?;
    let (end, warmup) = (Time::from_nanos(scenario.duration_ns), Time::from_nanos(scenario.warmup_ns));
    setup.simulation.run(end, warmup, Span::from_nanos(scenario.sample_ns), &Monitor::default())?;
    report(setup, end)
}

fn show(what: &str, report: &Report) {
    println!("{what}");
    for (name, value) in report.metrics.iter() {
        if name.contains("station.")
            || name.contains("busy")
            || name.contains("airtime")
            || name.contains("throughput")
        {
            println!("  {name} {value:.3}");
        }
    }
}

#[test]
fn the_time_series_has_what_each_station_uses_and_how_long_its_packets_take() {
    let flows = [tcp("fast1"), tcp("slow")];
    let found = run(&scenario("fifo limit 1000p", None, PAIR, &flows, 6), 3).unwrap();
    let column = |name: &str| &found.series.columns[name];
    let [fast, slow] =
        ["fast1", "slow"].map(|name| column(&format!("station.{name}.airtime_share")).as_slice());
    assert_eq!(fast.len(), found.series.time_s.len());
    for (fast, slow) in fast.iter().zip(slow).skip(10) {
        assert!((fast + slow - 1.0).abs() < 1e-9, "{fast} {slow}");
    }
    // In some periods nothing reaches the slow station.
    let mean = |values: &[f64]| {
        let known: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
        known.iter().sum::<f64>() / known.len() as f64
    };
    // The points after the warm-up have about the same airtime.
    assert!((mean(&slow[10..]) - found.metrics["station.slow.airtime_share"]).abs() < 0.02);
    let delay = mean(&column("station.slow.delay_total_ms")[10..]);
    let layers = ["discipline", "driver", "air", "reorder"]
        .map(|layer| found.metrics[format!("station.slow.delay_{layer}_ms").as_str()]);
    let total = found.metrics["station.slow.delay_total_ms"];
    assert!((layers.iter().sum::<f64>() - total).abs() < 1e-9, "{layers:?} {total}");
    assert!((delay / total - 1.0).abs() < 0.2, "{delay} {total}");
}

#[test]
fn queues_for_each_station_end_the_anomaly() {
    let flood = ["fast1", "fast2", "slow"].map(|to| udp(to, 60_000_000));
    let of = |aqm: &str, placement| {
        let found = run(&scenario(aqm, placement, PAPER, &flood, 6), 1).unwrap();
        show(&format!("{aqm} {placement:?}"), &found);
        found.metrics
    };
    let fifo = of("fifo limit 1000p", None);
    let above = of("fq_codel limit 2000p", None);
    let fair = of("airtime_fq", None);
    let turns = of("fq_codel limit 2000p", Some("integrated"));
    for one in [&fifo, &above] {
        assert!(one["station.slow.airtime_share"] > 0.74);
    }
    assert!(fair["airtime_jain"] > 0.98, "{}", fair["airtime_jain"]);
    assert!(fair["throughput_mbit"] > 3.0 * fifo["throughput_mbit"]);
    // Each has a transmission a round: 4 ms of the slow one, less of the others.
    assert!(turns["station.slow.airtime_share"] < above["station.slow.airtime_share"]);
    assert!(turns["throughput_mbit"] > 1.5 * above["throughput_mbit"]);
}

#[test]
fn a_limit_of_airtime_takes_the_delay_from_the_driver_to_the_discipline() {
    let flows = ["fast1", "slow"].map(tcp);
    let of = |aqm: &str, placement| {
        let found = run(&scenario(aqm, placement, PAIR, &flows, 6), 1).unwrap();
        show(&format!("{aqm} {placement:?}"), &found);
        found.metrics
    };
    let above = of("fq_codel", None);
    let limited = of("fq_codel", Some("limited"));
    assert!(above["station.slow.delay_driver_ms"] > 100.0);
    // 12 ms of airtime at most, the aggregates in hardware included; it waits for the other's as well.
    assert!(limited["station.slow.delay_driver_ms"] < 20.0, "{}", limited["station.slow.delay_driver_ms"]);
    // TCP's acknowledgments take their time of the air, and collide.
    for metrics in [&above, &limited] {
        assert!(metrics["busy_share"] < 0.97 && metrics["station.slow.collision_ratio"] > 0.05);
    }
}

#[test]
fn every_placement_keeps_every_packet_whatever_is_lost_on_the_air() {
    let kind = "wifi stations [near=vht-mcs8-2ss-80mhz loss 0.1, far=ht-mcs0 snr 3, old=ofdm-6 at 2s ofdm-54] retries 2";
    let flows = [tcp("near"), udp("far", 3_000_000), tcp("old")];
    for aqm in ["fifo limit 200p", "fq_codel", "airtime_fq limit 300p", "pie", "cake"] {
        for placement in [None, Some("above"), Some("integrated"), Some("limited")] {
            let found = run(&scenario(aqm, placement, kind, &flows, 3), 7).unwrap().metrics;
            let again = run(&scenario(aqm, placement, kind, &flows, 3), 7).unwrap().metrics;
            assert!(found.iter().eq(again.iter()), "{aqm} {placement:?}");
            assert!(
                found["station.far.retry_ratio"] > 0.1 && found["path_loss_ratio"] > 0.0,
                "{aqm} {placement:?}"
            );
        }
    }
}

/// A call of 50 packets a second to a station, or from it.
fn call(name: &str, station: &str, is_up: bool, dscp: u8) -> Value {
    let transport = json!({"udp": {"packet_bytes": 200, "ecn": "off"}});
    let mut call = down(name, station, &transport, &json!({"cbr": {"rate_bps": 80_000}}));
    call["dscp"] = json!(dscp);
    if is_up {
        (call["from"], call["to"]) = (json!([station]), json!(["server"]));
    }
    call
}

/// A scenario with a download to each station, uploads, and calls of this code point in both directions.
fn calls(aqm: &str, placement: Option<&str>, kind: &str, dscp: u8) -> Value {
    let mut busy = scenario(aqm, placement, kind, &["fast1", "slow"].map(tcp), 6);
    let mut upload = tcp("fast1");
    (upload["name"], upload["from"], upload["to"]) = (json!("upload"), json!(["fast1"]), json!(["server"]));
    let flows = busy["flows"].as_array_mut().unwrap();
    flows.extend([upload, call("down", "fast1", false, dscp), call("up", "fast1", true, dscp)]);
    busy
}

#[test]
fn voice_passes_all_others_in_both_directions() {
    let of = |aqm: &str, placement, map: &str, dscp| {
        let kind = format!("{PAIR} dscp_map {map}");
        let found = run(&calls(aqm, placement, &kind, dscp), 3).unwrap().metrics;
        let delays = ["down", "up"].map(|name| found[format!("class.{name}.owd_p99_ms").as_str()]);
        println!("{aqm} {placement:?} {map} {dscp}: {delays:?} {}", found["throughput_mbit"]);
        (delays, found)
    };
    for (aqm, placement) in [
        ("fifo limit 500p", None),
        ("fq_codel", Some("limited")),
        ("airtime_fq", None),
        ("airtime_fq", Some("limited")),
    ] {
        let (voice, _) = of(aqm, placement, "rfc8325", 46);
        let ([down, up], _) = of(aqm, placement, "rfc8325", 0);
        // 5 ms of the line, a PPDU of the slow station that is on the air, and a few backoffs.
        assert!(voice.iter().all(|delay| *delay < 25.0), "{aqm} {placement:?}: {voice:?}");
        assert!(voice[0] < down && voice[1] < up / 4.0, "{aqm} {placement:?}: {voice:?} {down} {up}");
    }
    // Before RFC 8325 a call was video; without a map it is best effort, as if it had no code point.
    let (video, _) = of("fifo limit 500p", None, "precedence", 46);
    let (plain, without) = of("fifo limit 500p", None, "none", 46);
    let (best_effort, with) = of("fifo limit 500p", None, "rfc8325", 0);
    assert!(video.iter().zip(plain).all(|(video, plain)| *video < plain / 2.0), "{video:?} {plain:?}");
    assert_eq!(plain, best_effort);
    assert!(with.iter().eq(without.iter()));
}

#[test]
fn categories_keep_every_packet_in_every_placement() {
    let kind = "wifi stations [fast1=vht-mcs8-2ss-80mhz loss 0.1, slow=ht-mcs0 snr 3] retries 2";
    for aqm in ["fifo limit 50p", "fq_codel", "airtime_fq limit 300p", "pie", "cake"] {
        for placement in [None, Some("above"), Some("integrated"), Some("limited")] {
            let mut busy = calls(aqm, placement, kind, 46);
            let flows = busy["flows"].as_array_mut().unwrap();
            (flows[0]["dscp"], flows[1]["dscp"], flows[2]["dscp"]) = (json!(8), json!(0), json!(34));
            let found = run(&busy, 7).unwrap().metrics;
            let again = run(&busy, 7).unwrap().metrics;
            assert!(found.iter().eq(again.iter()), "{aqm} {placement:?}");
            for class in ["tcp-fast1", "tcp-slow", "upload", "down", "up"] {
                assert!(
                    found[format!("class.{class}.goodput_mbit").as_str()] > 0.0,
                    "{aqm} {placement:?} {class}"
                );
            }
        }
    }
}

#[test]
fn a_station_that_leaves_blocks_no_other() {
    let flows = ["fast1", "slow"].map(|to| udp(to, 60_000_000));
    let call = [call("down", "slow", false, 46), call("up", "slow", true, 46)];
    for aqm in ["fifo limit 500p", "fq_codel", "airtime_fq", "cake"] {
        for placement in [None, Some("above"), Some("integrated"), Some("limited")] {
            let fast = |slow: &str, call: &[Value]| {
                let kind = format!("wifi stations [fast1=ht-mcs15-400ns, slow=ht-mcs0-400ns{slow}]");
                let mut both = scenario(aqm, placement, &kind, &flows, 4);
                both["flows"].as_array_mut().unwrap().extend(call.to_vec());
                run(&both, 2).unwrap().metrics["class.udp-fast1.goodput_mbit"]
            };
            for call in [&call[..], &[]] {
                let (stays, leaves) = (fast("", call), fast(" leaves 1s", call));
                assert!(leaves > 55.0 && leaves >= stays, "{aqm} {placement:?}: {stays} {leaves}");
            }
        }
    }
}

#[test]
fn multicast_takes_air_at_its_basic_rate_and_nobody_answers() {
    let kind = "wifi stations [fast1=ht-mcs15-400ns, multicast]";
    let film = json!({"cbr": {"rate_bps": 1_200_000}});
    let udp_film = json!({"udp": {"packet_bytes": 1500, "ecn": "off"}});
    let of = |flows: &[Value]| {
        let home = scenario("fifo limit 1000p", None, kind, flows, 6);
        run(&home, 1)
    };
    let multicast = down("film", "multicast", &udp_film, &film);
    // Less than a packet in ten seconds for the station.
    let alone = of(&[multicast.clone(), udp("fast1", 1_000)]).unwrap().metrics;
    // 100 packets a second, each 20 µs and 513 symbols of 4 for 1536 octets at 6 Mbit/s: 2 072 µs, without a response.
    assert!((alone["busy_share"] - 0.2072).abs() < 0.0005, "{}", alone["busy_share"]);
    assert!((alone["class.film.goodput_mbit"] / 1.2 - 1472.0 / 1500.0).abs() < 0.01);
    assert!(alone["station.multicast.airtime_share"] > 0.998);
    assert!((alone["station.multicast.aggregate_mean_packets"] - 1.0).abs() < 1e-9);
    // It takes its fifth of the air from a download.
    let both = of(&[tcp("fast1"), multicast]).unwrap().metrics;
    let plain = run(
        &scenario("fifo limit 1000p", None, "wifi stations [fast1=ht-mcs15-400ns]", &[tcp("fast1")], 6),
        1,
    );
    let (left, before) =
        (both["class.tcp-fast1.goodput_mbit"], plain.unwrap().metrics["class.tcp-fast1.goodput_mbit"]);
    assert!((0.7..0.85).contains(&(left / before)), "{left} of {before}");
    let refused = of(&[tcp("fast1"), tcp("multicast")]).err().unwrap().to_string();
    let problem = "flows: 'tcp-multicast': multicast only receives, by UDP, as with --flows 1*cbr:rate=2mbit:to=multicast";
    assert_eq!(refused, problem);
}

#[test]
fn a_station_that_nobody_sends_to_is_named() {
    let idle = |flows: &[Value]| {
        let mut quiet = scenario("fifo limit 100p", None, PAPER, &["fast1", "fast2", "slow"].map(tcp), 2);
        quiet["flows"] = json!(flows);
        run(&quiet, 1).unwrap().warnings
    };
    assert!(idle(&["fast1", "fast2", "slow"].map(tcp)).is_empty());
    let found = idle(&["fast1", "slow"].map(tcp));
    assert_eq!(found, ["station 'fast2' has no flow: nothing is sent to it or by it"]);
}

#[test]
fn what_cannot_be_is_said_in_one_line() {
    let problem = |change: &dyn Fn(&mut Value)| {
        let mut wrong = scenario("fifo limit 100p", None, PAPER, &["fast1", "fast2", "slow"].map(tcp), 2);
        change(&mut wrong);
        run(&wrong, 1).unwrap_err().to_string()
    };
    let kind = |text: &'static str| {
        move |wrong: &mut Value| {
            for link in wrong["topology"]["links"].as_array_mut().unwrap() {
                if link["medium"] == "wifi" {
                    link["kind"] = json!(text);
                }
            }
        }
    };
    for (change, says) in [
        (
            &kind("wifi stations [fast1=ht-mcs15-80mhz]") as &dyn Fn(&mut Value),
            "width is 80 MHz: HT has 20 and 40 MHz",
        ),
        (
            &kind("wifi stations [fast1=vht-mcs9]"),
            "has an MCS that VHT does not have at 20 MHz with 1 stream",
        ),
        (&kind("wifi stations [fast1=ofdm-0]"), "'0' is not one of 6, 9, 12"),
        (
            &kind("wifi stations [fast1=ofdm-6, fast2=ofdm-6]"),
            "'ap' and 'slow' are no stations: a channel has one access point",
        ),
        (
            &kind("wifi stations [fast1=ofdm-6, fast2=ofdm-6, slow=ofdm-6, tv=ofdm-6]"),
            "no link leads from 'air' to station 'tv'",
        ),
        (
            &kind("wifi stations [ap=ofdm-6, fast1=ofdm-6, fast2=ofdm-6, slow=ofdm-6]"),
            "no link leaves an access point",
        ),
        (&|wrong: &mut Value| wrong["topology"]["links"][4]["to"] = json!("ap"), "lead to one node"),
        (
            &|wrong: &mut Value| {
                for link in wrong["topology"]["links"].as_array_mut().unwrap() {
                    if link["medium"] == "wifi" {
                        (link["medium"], link["kind"]) = (Value::Null, json!("rate"));
                    }
                }
                wrong["placement"] = json!("limited");
            },
            "placement is limited: there is no medium with stations",
        ),
    ] {
        let found = problem(change);
        assert!(found.contains(says) && !found.contains('\n'), "{found}");
    }
}

/// A station in words: its rate, and how packets are lost.
fn station(number: usize, mode: &str, loss: f64, snr: Option<f64>, later: Option<&str>) -> String {
    let errors = snr.map_or(format!("loss {loss:.3}"), |snr| format!("snr {snr:.1}"));
    let later = later.map_or(String::new(), |mode| format!(" at 500ms {mode}"));
    format!("s{number}={mode} {errors}{later}")
}

fn mode() -> impl Strategy<Value = &'static str> {
    prop::sample::select(
        &[
            "dsss-1",
            "dsss-11",
            "ofdm-6",
            "ofdm-54",
            "ht-mcs0",
            "ht-mcs7-40mhz-400ns",
            "ht-mcs15-400ns",
            "vht-mcs0-80mhz",
            "vht-mcs8-2ss-80mhz",
            "he-mcs0",
            "he-mcs11-2ss-80mhz",
        ][..],
    )
}

/// The presets of airtime_fq, and other children.
fn any_airtime_fq() -> impl Strategy<Value = String> {
    let specs = ["airtime_fq limit 100p", "airtime_fq:atc17", "airtime_fq:round_robin child [pie]"];
    prop::sample::select(specs.map(str::to_string).to_vec())
}

/// How one category contends, of the access point or of stations.
fn any_edca() -> impl Strategy<Value = String> {
    let of =
        (prop::sample::select(&["ap", "stations"][..]), prop::sample::select(&["bk", "be", "vi", "vo"][..]));
    (of, 1..=15_u8, 0..=7_u8, 0..=10_u8, 0..6_000_u32).prop_map(
        |((node, category), aifsn, least, more, txop)| {
            let (least, most) = ((1_u32 << least) - 1, (1_u32 << (least + more).min(15)) - 1);
            format!("{node} {category} aifsn {aifsn} cw {least}..{most} txop {txop}us")
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        // PROPTEST_CASES=3000 runs more.
        cases: std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(40),
        ..ProptestConfig::default()
    })]

    /// Whatever the stations, their losses, the discipline, where it sits and what flows, a run passes its checks.
    #[test]
    fn random_channels_pass_the_checks(
        stations in prop::collection::vec(
            (mode(), 0.0..0.5_f64, prop::option::of(0.0..40.0_f64), prop::option::of(mode())), 1..6,
        ),
        aqm in prop_oneof![any_discipline(), any_airtime_fq()],
        placement in prop::sample::select(&[None, Some("above"), Some("integrated"), Some("limited")][..]),
        medium in (
            1..=64_u32, prop::sample::select(&["4ms", "500us", "5484us"][..]), 1..=64_u32, 0..8_u32,
            prop::sample::select(&["5ms", "50ms", "512ms"][..]),
            prop::sample::select(&["missed retransmit", "missed request"][..]), 0.0..0.3_f64, 0..=3_u32, 1..200_u32,
        ),
        rules in prop::sample::select(&[
            "", "order oldest", "band 2.4ghz", "eifs off countdown end", "ap_edca dcf station_edca dcf", "rts_above 3000b",
            "ap_edca station", "cipher 16b", "slot 20us sifs 10us", "dscp_map precedence",
        ][..]),
        edca in prop::option::of(any_edca()),
        multicast in prop::option::of(0.0..0.5_f64),
        dscps in prop::collection::vec(prop::sample::select(&[0_u8, 0, 8, 34, 46, 48][..]), 6),
        rate_bps in 100_000..60_000_000_u64,
        seed in 1..1000_u64,
    ) {
        let texts = stations.iter().enumerate().map(|(number, (mode, loss, snr, later))| {
            station(number, mode, *loss, *snr, *later)
        });
        let (packets, time, window, retries, lifetime, missed, lost, hardware, driver) = medium;
        let kind = format!(
            "wifi stations [{}] aggregate_packets {packets} aggregate_time {time} window {window} retries {retries} lifetime {lifetime} \
             {missed} response_loss {lost:.3} hardware {hardware} driver {driver} {rules} {}",
            texts.chain(multicast.map(|loss| format!("multicast loss {loss:.3}"))).collect::<Vec<_>>().join(", "),
            edca.map_or(String::new(), |edca| format!("edca [{edca}]")),
        );
        let flows: Vec<Value> = (0..stations.len())
            .map(|number| {
                let name = format!("s{number}");
                let mut flow = if number % 2 == 0 { tcp(&name) } else { udp(&name, rate_bps) };
                flow["dscp"] = json!(dscps[number]);
                flow
            })
            .collect();
        let flows: Vec<Value> = flows.into_iter().chain(multicast.map(|_| udp("multicast", 1_000_000))).collect();
        let mut one = scenario(&aqm, placement, &kind, &flows, 1);
        one["warmup_ns"] = json!(SECOND / 4);
        if let Err(problem) = run(&one, seed) {
            panic!("{aqm} {placement:?} {kind} {dscps:?}: {problem}");
        }
    }
}
