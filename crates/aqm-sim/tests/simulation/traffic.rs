//! Sources: the traffic they offer, and the quality for their users.

use crate::scenarios::{MS, SECOND, bottleneck, bulk, cbr, run, run_with, tcp};
use aqm_io::capture::Capture;
use aqm_io::link_trace::LinkTrace;
use aqm_sim::report::{Monitor, Report};
use aqm_sim::scenario::inputs::Inputs;
use aqm_sim::scenario::{Capacity, Distribution, Exchange, FlowGroup, Round, Scenario, Source, Video};
use std::sync::Arc;

fn constant(value: u64) -> Distribution {
    Distribution::Constant { value }
}

/// Applications over CUBIC that all start at once.
fn application(name: &str, count: u32, source: Source) -> FlowGroup {
    let mut group = bulk(name, count, tcp("cubic"));
    group.start_ns = (0, 0);
    group.source = source;
    group
}

fn rpc(size: u64, pause: u64) -> Round {
    Round {
        exchange: Exchange::Rpc,
        connections: 1,
        objects: Some(constant(1)),
        request: Some(constant(300)),
        size: constant(size),
        pause: constant(pause),
    }
}

#[test]
fn a_message_takes_as_many_datagrams_as_it_needs() {
    let mut scenario = bottleneck("fifo");
    let mut frames = cbr("frames", 1, 1000);
    let gap = Distribution::Constant { value: 10 * MS };
    frames.source = Source::Arrivals { gap, size: Some(constant(3000)), both_ways: false };
    scenario.flows.push(frames);
    let report = run(&scenario, 1);
    // 100 messages a second for 25 s: three datagrams of 972 bytes of payload and one of 84.
    assert!((report.metrics["packets_arrived"] - 4.0 * 2500.0).abs() <= 4.0);
    assert!((report.metrics["goodput_mbit"] - 2.4).abs() < 0.001);
}

#[test]
fn flows_that_stop_leave_the_link_to_others_and_repeat_what_was_lost() {
    let mut scenario = bottleneck("fifo");
    let mut leaving = bulk("leaving", 4, tcp("newreno handshake on"));
    leaving.source = Source::Bulk { size_bytes: None, stop_ns: Some(10 * SECOND) };
    scenario.flows.extend([bulk("staying", 1, tcp("newreno")), leaving]);
    let report = run(&scenario, 1);
    let (stays, leaves) =
        (report.metrics["class.staying.goodput_mbit"], report.metrics["class.leaving.goodput_mbit"]);
    // Four of five flows send in five of 25 seconds: a share of 16 %.
    assert!((0.1..0.22).contains(&(leaves / (stays + leaves))), "{leaves} beside {stays}");
    assert!(stays + leaves > 9.0);
    // What they sent has arrived, all of it and in order.
    let series = &report.series;
    let goodput = series.columns["class.leaving.goodput_mbit"].iter();
    let late =
        series.time_s.iter().zip(goodput).filter(|(at, _)| **at > 11.0).map(|(_, value)| value).sum::<f64>();
    assert!(late == 0.0, "{late}");

    for (text, source, start_ns) in [
        (
            "stop is 5ns: it must not be before the latest start, 6ns",
            Source::Bulk { size_bytes: None, stop_ns: Some(5) },
            (0, 6),
        ),
        ("size is 0", Source::Bulk { size_bytes: Some(0), stop_ns: None }, (0, 6)),
    ] {
        (scenario.flows[1].source, scenario.flows[1].start_ns) = (source, start_ns);
        assert!(scenario.check().unwrap_err().to_string().contains(text));
    }
}

#[test]
fn flows_that_start_apart_start_one_after_another() {
    let mut scenario = bottleneck("fifo");
    let mut clients = cbr("clients", 800_000, 1000);
    (clients.count, clients.spacing_ns) = (4, 10 * SECOND);
    scenario.flows.push(clients);
    let report = run(&scenario, 1);
    // 100 packets a second each, counted from 5 to 30 s; starts at 0, 10, 20 and 30 s: 25, 20, 10 and 0 seconds.
    assert!(
        (report.metrics["packets_arrived"] - 5500.0).abs() <= 4.0,
        "{}",
        report.metrics["packets_arrived"]
    );
}

#[test]
fn a_stepping_rate_and_poisson_arrivals_offer_their_mean_rate() {
    let mut scenario = bottleneck("fifo");
    let mut steps = cbr("steps", 1, 1000);
    let rate = Distribution::Uniform { low: 0, high: 10_000_000 };
    steps.source = Source::Steps { rate, every: Distribution::Exponential { mean: 50 * MS } };
    let mut poisson = cbr("poisson", 1, 1000);
    let gap = Distribution::Exponential { mean: 2 * MS };
    poisson.source = Source::Arrivals { gap, size: None, both_ways: false };
    scenario.flows.extend([steps, poisson]);
    let report = run(&scenario, 1);
    // IP bytes and 14 of overhead for each 1000.
    let offered = |name: &str| report.metrics[&format!("class.{name}.throughput_mbit")] / 1.014;
    assert!((offered("steps") / 5.0 - 1.0).abs() < 0.1, "{}", offered("steps"));
    assert!((offered("poisson") / 4.0 - 1.0).abs() < 0.05, "{}", offered("poisson"));
}

#[test]
fn a_call_of_one_packet_takes_a_round_trip_and_the_serialisation_of_both_ways() {
    let mut scenario = bottleneck("fifo");
    scenario.flows.push(application("rpc", 1, Source::Rounds(rpc(1000, 10 * MS))));
    let report = run(&scenario, 1);
    // 300 and 1000 bytes with 66 of headers, at 100 Mbit/s once and at 1 Gbit/s twice.
    let bytes = f64::from(300 + 1000 + 2 * 66);
    let expected = 40.0 + bytes * 8.0 * (1e-5 + 2e-6);
    let latency = report.metrics["rpc_latency_mean_ms"];
    assert!((latency - expected).abs() < 0.001, "{latency} instead of {expected}");
    assert_eq!(report.metrics["class.rpc.rpc_latency_mean_ms"], latency);
    assert!((report.metrics["rpcs_completed"] - 25.0 / (0.01 + expected / 1e3)).abs() <= 1.0);
    // Only answers are goodput of the measured direction; the requests' acknowledgments cross the bottleneck too.
    let goodput = report.metrics["rpcs_completed"] * 1000.0 * 8.0 / 25e6;
    assert!((report.metrics["goodput_mbit"] / goodput - 1.0).abs() < 0.01);
    assert_eq!(report.flows.iter().map(|flow| flow.kind.as_str()).collect::<Vec<_>>(), ["cubic", "tcp-back"]);
    assert!(report.flows[1].packets_arrived > 0);
    assert_eq!(report.metrics["jain_index"], 1.0);
}

#[test]
fn a_page_loads_faster_over_more_connections_if_the_window_is_the_limit() {
    let load = |connections| {
        let mut scenario = bottleneck("fifo");
        let page = Round {
            exchange: Exchange::Page,
            connections,
            objects: Some(constant(60)),
            pause: constant(100 * MS),
            ..rpc(2000, 0)
        };
        scenario.flows.push(application("web", 1, Source::Rounds(page)));
        let metrics = run(&scenario, 1).metrics;
        // One user loads one page at a time: at most one is not over at the end.
        let unfinished = metrics["pages_requested"] - metrics["pages_completed"];
        assert!(unfinished == 0.0 || unfinished == 1.0, "{unfinished}");
        metrics["page_load_mean_s"]
    };
    // Objects of two packets take a round trip each: 60 rounds over one connection, 10 over six.
    assert!((load(1) / 2.4 - 1.0).abs() < 0.02, "{}", load(1));
    assert!((load(6) / 0.4 - 1.0).abs() < 0.02, "{}", load(6));
}

#[test]
fn simultaneous_answers_overflow_a_small_buffer_and_the_query_waits_for_the_last() {
    let query = |limit| {
        let mut scenario = bottleneck(&format!("fifo limit {limit}p"));
        let incast = Round {
            exchange: Exchange::Query,
            connections: 40,
            objects: Some(constant(40)),
            ..rpc(14480, SECOND)
        };
        scenario.flows.push(application("incast", 1, Source::Rounds(incast)));
        run(&scenario, 1)
    };
    let (large, small) = (query(1000), query(100));
    assert_eq!(large.metrics["loss_ratio"], 0.0);
    // 400 packets of 1514 bytes at 100 Mbit/s take 48.4 ms, after a round trip of 40 ms.
    let completion = large.metrics["query_mean_ms"];
    assert!((completion / 88.5 - 1.0).abs() < 0.02, "{completion}");
    assert!(small.metrics["drops_overflow"] > 0.0);
    assert!(small.metrics["query_p99_ms"] > 2.0 * completion, "{}", small.metrics["query_p99_ms"]);
}

#[test]
fn transfers_follow_each_other_over_one_connection() {
    let mut scenario = bottleneck("fifo");
    let ftp = Round { exchange: Exchange::Transfer, request: None, ..rpc(1_000_000, 500 * MS) };
    scenario.flows.push(application("ftp", 2, Source::Rounds(ftp)));
    let report = run(&scenario, 1);
    let (count, mean) = (report.metrics["transfers_completed"], report.metrics["transfer_mean_s"]);
    assert!((count / (2.0 * 25.0 / (0.5 + mean)) - 1.0).abs() < 0.05, "{count} of {mean} s");
    assert!((report.metrics["goodput_mbit"] / (count * 8.0 / 25.0) - 1.0).abs() < 0.05);
}

#[test]
fn a_workload_offers_its_load_and_completes_its_flows() {
    let mut scenario = bottleneck("fifo limit 1000p");
    scenario.duration_ns = 60 * SECOND;
    let points = vec![(1e3, 0.0), (1e4, 0.5), (1e6, 1.0)];
    let size = Distribution::Empirical { name: "sizes".to_owned(), points };
    scenario.flows.push(application("flows", 4, Source::Workload { size, load: 0.4 }));
    let report = run(&scenario, 1);
    assert!((report.metrics["goodput_mbit"] / 40.0 - 1.0).abs() < 0.1, "{}", report.metrics["goodput_mbit"]);
    // 40 Mbit/s over a mean of 255 kB, for 60 s; a handful are still in flight at the end.
    let expected = 40e6 / 8.0 / 255_250.0 * 60.0;
    assert!((report.flows.len() as f64 / expected - 1.0).abs() < 0.1, "{}", report.flows.len());
    assert!(report.metrics["completed_flows"] > 0.98 * report.flows.len() as f64);
}

#[test]
fn a_workload_of_too_many_flows_is_refused_with_their_number() {
    let mut scenario = bottleneck("fifo");
    scenario.flows.push(application("flows", 1, Source::Workload { size: constant(100), load: 0.9 }));
    let error = aqm_sim::run(&scenario, &Inputs::default(), 1, &Monitor::default()).unwrap_err().to_string();
    assert!(error.contains("flows: 'flows': a load of 0.9 would bring 3375000 flows"), "{error}");
}

/// A call beside other traffic.
fn call_beside(aqm: &str, others: Option<FlowGroup>) -> Report {
    let mut scenario = bottleneck(aqm);
    scenario.capacity = Capacity::RateBps(10_000_000);
    let mut call = cbr("voip", 1, 200);
    call.source = Source::Voip;
    scenario.flows.push(call);
    scenario.flows.extend(others);
    run(&scenario, 1)
}

#[test]
fn a_call_has_fifty_packets_a_second_each_way_and_a_score_that_depends_on_the_network() {
    let alone = call_beside("fifo limit 1000p", None);
    assert_eq!(alone.flows.iter().map(|flow| flow.kind.as_str()).collect::<Vec<_>>(), ["udp", "udp-back"]);
    assert!(alone.flows.iter().all(|flow| flow.packets_delivered.abs_diff(25 * 50) <= 1));
    // 200 bytes of IP; R = 93.2 is an opinion of 4.41.
    assert!((alone.metrics["throughput_mbit"] - 0.214 * 0.4).abs() < 0.001);
    assert!((alone.metrics["mos_mean"] - 4.41).abs() < 0.005, "{}", alone.metrics["mos_mean"]);
    let bulk = || Some(bulk("cubic", 1, tcp("cubic")));
    let bloated = call_beside("fifo limit 1000p", bulk()).metrics["mos_mean"];
    let managed = call_beside("fq_codel", bulk()).metrics["mos_mean"];
    assert!(bloated < 3.0, "{bloated}");
    assert!(managed > 4.3, "{managed}");
}

#[test]
fn a_game_sends_both_ways_and_only_one_way_is_measured() {
    let mut scenario = bottleneck("fifo");
    let mut game = cbr("gaming", 1, 1500);
    let (gap, size) = (constant(20 * MS), Some(constant(172)));
    game.source = Source::Arrivals { gap, size, both_ways: true };
    scenario.flows.push(game);
    let report = run(&scenario, 1);
    assert!((report.metrics["goodput_mbit"] - 0.0688).abs() < 0.0002, "{}", report.metrics["goodput_mbit"]);
    assert_eq!(report.flows[1].packets_arrived, 0);
    assert!(report.flows[1].packets_delivered.abs_diff(1250) <= 1);
}

#[test]
fn a_player_chooses_the_bitrate_that_its_link_carries_and_stalls_if_none_fits() {
    let watch = |mbit: u64, rates_mbit: &[u64]| {
        let mut scenario = bottleneck("fifo limit 100p");
        scenario.capacity = Capacity::RateBps(mbit * 1_000_000);
        scenario.duration_ns = 300 * SECOND;
        scenario.warmup_ns = 60 * SECOND;
        let video = Video {
            rates_bps: rates_mbit.iter().map(|rate| rate * 1_000_000).collect(),
            segment_ns: 4 * SECOND,
            buffer_ns: 60 * SECOND,
        };
        scenario.flows.push(application("video", 1, Source::Video(video)));
        run(&scenario, 1).metrics
    };
    let ample = watch(50, &[1, 2, 4, 8]);
    assert_eq!((ample["video_bitrate_mbit"], ample["video_stall_s"]), (8.0, 0.0));
    // The player is paused by its full buffer: it loads what it plays.
    assert!((ample["goodput_mbit"] / 8.0 - 1.0).abs() < 0.03, "{}", ample["goodput_mbit"]);
    let tight = watch(5, &[1, 2, 4, 8]);
    assert!((3.5..5.0).contains(&tight["video_bitrate_mbit"]), "{}", tight["video_bitrate_mbit"]);
    assert_eq!(tight["video_stall_s"], 0.0);
    let hopeless = watch(1, &[2, 4]);
    assert_eq!(hopeless["video_bitrate_mbit"], 2.0);
    // Video can play at most half of the time, and the window of each segment grows again from the start.
    assert!((120.0..150.0).contains(&hopeless["video_stall_s"]), "{}", hopeless["video_stall_s"]);
    assert!(hopeless["video_stalls"] > 10.0);
}

#[test]
fn a_replayed_capture_delivers_its_bytes_and_reacts_to_the_link() {
    let capture = include_bytes!("../../../../data/captures/aqmlab-lan.pcap");
    let mut inputs = Inputs::default();
    inputs.add_capture("lan.pcap", Arc::new(Capture::parse("lan.pcap", capture).unwrap()));
    let replay = |mbit: u64| {
        let mut scenario = bottleneck("fifo limit 100p");
        scenario.capacity = Capacity::RateBps(mbit * 1_000_000);
        scenario.duration_ns = 60 * SECOND;
        scenario.warmup_ns = 0;
        let file = "lan.pcap".to_owned();
        scenario.flows.push(application("replay", 1, Source::Replay { file }));
        run_with(&scenario, &inputs, 1)
    };
    let (fast, slow) = (replay(25), replay(4));
    // All data from servers, each byte once, whatever the link loses.
    let bytes = |report: &Report| report.metrics["goodput_mbit"] * 60e6 / 8.0;
    assert!((bytes(&fast) - bytes(&slow)).abs() < 1.0, "{} {}", bytes(&fast), bytes(&slow));
    assert!((4_500_000.0..5_750_000.0).contains(&bytes(&fast)), "{}", bytes(&fast));
    assert!(slow.metrics["exchange_mean_ms"] > 1.5 * fast.metrics["exchange_mean_ms"]);
    assert_eq!(fast.metrics["exchanges_completed"], slow.metrics["exchanges_completed"]);
}

#[test]
fn captures_and_traces_of_a_scenario_must_be_among_the_inputs() {
    let mut inputs = Inputs::default();
    inputs.add_link_trace("lte.down", LinkTrace::parse("lte.down", b"1\n").unwrap());
    let refusal = |change: &dyn Fn(&mut Scenario)| {
        let mut scenario = bottleneck("fifo");
        scenario.flows.push(cbr("steady", 1_000_000, 1000));
        change(&mut scenario);
        aqm_sim::run(&scenario, &inputs, 1, &Monitor::default()).unwrap_err().to_string()
    };
    let text = "the scenario names this";
    assert_eq!(
        refusal(&|scenario| scenario.capacity = Capacity::Trace("lte.up".to_owned())),
        format!("lte.up: {text} link trace, but it is not among the inputs (given: lte.down)")
    );
    let missing = format!("lan.pcap: {text} capture, but it is not among the inputs (given: none)");
    assert_eq!(refusal(&|scenario| scenario.captures.push("lan.pcap".to_owned())), missing);
    let file = "lan.pcap".to_owned();
    let replay = application("replay", 1, Source::Replay { file });
    assert_eq!(refusal(&|scenario| scenario.flows.push(replay.clone())), missing);
}

#[test]
fn applications_repeat_with_their_seed_and_do_not_change_with_another_added() {
    let scenario = |with_calls: bool| {
        let mut scenario = bottleneck("codel");
        scenario.capacity = Capacity::RateBps(20_000_000);
        let size = Distribution::Lognormal { median: 10_000, sigma: 1.0 };
        let pause = Distribution::Exponential { mean: SECOND };
        let page = Round {
            exchange: Exchange::Page,
            connections: 6,
            objects: Some(constant(20)),
            size,
            pause,
            ..rpc(1, 0)
        };
        scenario.flows.push(application("web", 3, Source::Rounds(page)));
        let size = Distribution::Pareto { scale: 5000, shape: 1.5 };
        scenario.flows.push(application("flows", 2, Source::Workload { size, load: 0.3 }));
        if with_calls {
            let mut call = cbr("voip", 1, 200);
            call.source = Source::Voip;
            scenario.flows.push(call);
        }
        scenario
    };
    let text = |seed| format!("{:?}", run(&scenario(true), seed));
    assert_eq!(text(1), text(1));
    assert_ne!(text(1), text(2));
    let starts = |with_calls| {
        let report = run(&scenario(with_calls), 1);
        let flows = report.flows.iter().filter(|flow| flow.group == "flows");
        flows.map(|flow| flow.start_s).collect::<Vec<_>>()
    };
    assert_eq!(starts(true), starts(false));
}
