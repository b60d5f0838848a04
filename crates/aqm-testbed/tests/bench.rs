//! What the bench does with the transport of `aimd.rs`: one that never backs off fails with its figure; texts, metrics, and paths
//! that their caller drives.

#[path = "aimd.rs"]
mod aimd;

use aimd::path;
use aqm_testbed::{Ecn, Ends, Info, InputError, MINIMAL, Path, Span, Stack, Task, Time, Values};

/// What a closure panics with.
fn panic_of(run: impl FnOnce() + std::panic::UnwindSafe) -> String {
    let panic = std::panic::catch_unwind(run).expect_err("it must panic");
    panic.downcast_ref::<String>().expect("it has a message").clone()
}

#[test]
fn a_sender_that_never_backs_off_fails_with_its_figure_and_capture() {
    let folder = std::env::temp_dir().join(format!("aqm-testbed-{}", std::process::id()));
    let run = path(false).warmup("0s").folder(&folder).flows("2*aimd").run(1);
    let text = panic_of(std::panic::AssertUnwindSafe(|| run.loss("aimd").at_most(0.02)));
    assert!(text.starts_with("loss of aimd is "), "{text}");
    assert!(
        text.contains("it must be at most 0.02\n10mbit, 40ms, pie:rfc8033 limit 200p: 2 aimd, seed 1\n"),
        "{text}"
    );
    assert!(text.contains(&folder.display().to_string()), "{text}");
    let figure = std::fs::read_to_string(folder.join("run.svg")).unwrap();
    // Queue delay, goodput of the group, window of each flow.
    assert_eq!(figure.matches("<polyline").count(), 4, "{figure}");
    assert!([">aimd<", ">aimd 0<", ">aimd 1<"].iter().all(|label| figure.contains(label)), "{figure}");
    let points =
        figure.split("points=\"").skip(1).map(|rest| rest.split('"').next().unwrap().split(' ').count());
    assert!(points.clone().all(|count| count > 150), "{:?}", points.collect::<Vec<_>>());
    // Every packet before the queue, and behind it or dropped, with the reason.
    let capture = std::fs::read(folder.join("queue.pcapng")).unwrap();
    let count =
        |text: &str| capture.windows(text.len()).filter(|bytes| *bytes == text.as_bytes()).count() as u64;
    assert_eq!(["before", "behind"].map(count), [1, 1]);
    let flows = &run.report().flows;
    let dropped: u64 = flows.iter().map(|flow| flow.packets_dropped).sum();
    assert!(dropped > 1000, "{dropped}");
    assert_eq!(["congestion, after ", "overlimit, after "].map(count).iter().sum::<u64>(), dropped);
    let packets = aqm_io::capture::Capture::parse("queue", &capture).unwrap().packets().len() as u64;
    let arrived: u64 = flows.iter().map(|flow| flow.packets_arrived).sum();
    // What waits at the end has not left.
    assert!((2 * arrived - 250..=2 * arrived).contains(&packets), "{packets} of {arrived}");
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_path_without_capture_keeps_its_figure_alone() {
    let folder = std::env::temp_dir().join(format!("aqm-testbed-bare-{}", std::process::id()));
    let run = path(true).folder(&folder).without_capture().duration("2s").flows("1*aimd").run(1);
    let text = panic_of(std::panic::AssertUnwindSafe(|| run.goodput("aimd").at_least(11.0)));
    assert!(text.ends_with(&format!("see run.svg in {}", folder.display())), "{text}");
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn every_metric_can_be_asked_for_by_its_name() {
    let run = path(true).duration("2s").flows("1*aimd").run(1);
    assert_eq!(run.metric("qdelay_mean_ms").value(), run.qdelay_mean().value());
    assert!(run.metric("class.aimd.goodput_mbit").value().is_some());
    // No flow has a size.
    assert_eq!(run.metric("fct_mean_s").value(), None);
    let text = panic_of(std::panic::AssertUnwindSafe(|| drop(run.metric("qdelay_maen_ms"))));
    assert!(text.starts_with("unknown metric 'qdelay_maen_ms', did you mean 'qdelay_mean_ms'?"), "{text}");
    // A group that is not there is no undefined metric.
    let text = panic_of(std::panic::AssertUnwindSafe(|| drop(run.metric("class.aimdd.loss_ratio"))));
    assert!(
        text.starts_with("unknown metric 'class.aimdd.loss_ratio', did you mean 'class.aimd.loss_ratio'?"),
        "{text}"
    );
    let text = panic_of(std::panic::AssertUnwindSafe(|| drop(run.goodput("aimdd"))));
    assert_eq!(text, "unknown group of flows 'aimdd', did you mean 'aimd'?; known are aimd");
}

#[test]
fn a_path_as_text_is_the_one_of_its_methods() {
    let text = "rate 10mbit; rtt 40ms; aqm codel; buffer 100p; loss 0.1%; flows 1*cubic; flows cbr:rate=1mbit; \
                duration 3s; warmup 1s";
    let methods = Path::new("10mbit", "40ms").aqm("codel").buffer("100p").loss("0.1%");
    let methods = methods.flows("1*cubic").flows("cbr:rate=1mbit").duration("3s").warmup("1s");
    // What is undefined in them is equal to nothing.
    let printed = |path: Path| format!("{:?}", path.run(3).report());
    assert!(printed(Path::parse(text).unwrap()) == printed(methods));
    // Twice the same is no contradiction.
    Path::parse("rate 10mbit; rtt 40ms; aqm pie limit 64kb; buffer 65536b").unwrap();
    // A line of tc, whose limit counts packets.
    Path::parse("rate 10mbit; rtt 40ms; aqm tc qdisc add dev eth0 root pie limit 100; buffer 100p").unwrap();
    for (text, problem) in [
        (
            "rate 10mbit; rtt 40ms; aqm tc qdisc add dev eth0 root hhf",
            "aqm: tc's 'hhf' has no counterpart here",
        ),
        ("rate 10mbit", "rtt: is missing: give the base (propagation) round-trip time"),
        ("rtt 40ms", "rate: is missing: give the bottleneck's rate, as 10mbit, or a link trace"),
        ("rate 10mbit; rtt 40ms; rate 1mbit", "rate: is given twice"),
        ("rate 10mbit; rtt", "'rtt' is not NAME VALUE"),
        ("rate fast; rtt 40ms", "rate: 'fast'"),
        (
            "rate 10mbit; rtt 40ms; aqm pie limit 5p; buffer 100p",
            "aqm: 'pie limit 5p' has limit 5p, but the buffer is 100p: give one of them",
        ),
        (
            "rate 10mbit; rtt 40ms; buffer 64kb; aqm fifo limit 60kb",
            "aqm: 'fifo limit 60kb' has limit 60kb, but the buffer is 64kb: give one of them",
        ),
        (
            "rate 10mbit; rtt 40ms; flows 1*cubik",
            "flows: '1*cubik': unknown kind 'cubik', did you mean 'cubic'?",
        ),
    ] {
        let found = Path::parse(text).err().unwrap();
        assert!(found.to_string().starts_with(problem), "{text}: {found}");
    }
}

#[test]
fn a_driven_path_delivers_in_time_and_order_and_its_run_is_asserted_about() {
    let path = Path::new("10mbit", "40ms").aqm("fifo limit 3p").duration("2s").warmup("0s");
    let mut path = path.drive(2, 1).unwrap();
    let ms = |ms| Time::ZERO + Span::from_millis(ms);
    // A packet of 1250 bytes takes 1 ms on the link, and a tenth on each of the two before and behind it.
    for number in 0..6_u8 {
        path.send(0, &[number; 1222], Ecn::NotEct, ms(100)).unwrap();
    }
    path.send(3, b"back", Ecn::Ect0, ms(100)).unwrap();
    let mut arrived = Vec::new();
    while let Some(arrival) = path.deliver(ms(1000)).unwrap() {
        arrived.push((arrival.end, arrival.time.as_nanos() / 100_000, arrival.ecn, arrival.datagram[0]));
    }
    let (not, ect) = (Ecn::NotEct, Ecn::Ect0);
    // Three wait, one is sent: the others find the queue full.
    let expected =
        [(2, 1200, ect, b'b'), (1, 1212, not, 0), (1, 1222, not, 1), (1, 1232, not, 2), (1, 1242, not, 3)];
    assert_eq!(arrived, expected);
    assert_eq!((path.counters().dropped_total(), path.backlog().packets, path.now()), (2, 0, ms(1000)));
    assert!(path.next_wakeup().is_some_and(|time| time > ms(1000)));
    for (refused, words) in [
        (path.send(0, b"x", not, ms(999)), "999000000 ns is before 1000000000 ns"),
        (path.send(4, b"x", not, ms(1000)), "there is no end 4: there are 4"),
        (path.send(0, b"", not, ms(1000)), "the datagram has 0 bytes"),
        (path.send(0, b"x", not, ms(2001)), "2001000000 ns is behind the path's duration"),
    ] {
        assert!(refused.unwrap_err().to_string().starts_with(words), "{words}");
    }
    let run = path.finish();
    // Four datagrams in two seconds.
    assert_eq!(run.goodput("own").value(), Some(4.0 * 1222.0 * 8.0 / 2e6));
}

#[test]
fn a_driven_path_is_the_same_however_often_its_caller_looks() {
    let arrivals = |step_us: u64| {
        let mut path =
            Path::new("10mbit", "20ms").aqm("pie").flows("2*cubic").duration("2s").drive(1, 5).unwrap();
        let mut arrived = Vec::new();
        for number in 0..150_u64 {
            let at = Time::from_nanos(number * 10_000_000);
            path.send(0, &number.to_le_bytes(), Ecn::NotEct, at).unwrap();
            for look in 1..=10_000 / step_us {
                arrived.extend(path.deliver(at + Span::from_micros(look * step_us)).unwrap());
            }
        }
        arrived
    };
    let rarely = arrivals(5000);
    assert!(rarely.len() > 100, "{}", rarely.len());
    assert_eq!(arrivals(500), rarely);
}

#[test]
fn finite_flows_complete_beside_cross_traffic_and_are_reported_when_they_do_not() {
    let folder = std::env::temp_dir().join(format!("aqm-testbed-size-{}", std::process::id()));
    let run = path(true).folder(&folder).flows("2*cubic:size=500kb").flows("cbr:rate=2mbit").run(1);
    run.completed_by("cubic", 5.0);
    let text = panic_of(std::panic::AssertUnwindSafe(|| run.completed_by("cubic", 0.2)));
    assert!(text.starts_with("completion of cubic is ") && text.contains("at most 0.2 s"), "{text}");
    let text = panic_of(std::panic::AssertUnwindSafe(|| run.completed_by("cbr", 5.0)));
    assert!(text.starts_with("completion of cbr is undefined"), "{text}");
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn what_cannot_be_read_is_named() {
    for (flows, problem) in [
        ("1*aimdd", "unknown kind 'aimdd', did you mean 'aimd'?"),
        ("x*aimd", "count 'x' is not a whole number from 1 to 100000"),
        ("1*aimd:sise=1mb", "unknown key 'sise', did you mean 'size'?"),
        ("cbr", "cbr needs rate=, a rate such as 3mbit"),
        ("cubic:start=soon", "start: 'soon'"),
    ] {
        let text = panic_of(move || drop(path(true).flows(flows)));
        assert!(text.contains(problem), "{flows}: {text}");
    }
    let text = panic_of(|| drop(path(true).flows("1*cubic").aqm("piee").run(1)));
    assert!(text.contains("did you mean 'pie'?"), "{text}");
}

#[test]
fn what_would_pass_in_silence_is_refused() {
    let text = panic_of(|| drop(Path::new("10Mbps", "40ms")));
    assert_eq!(text, "rate: '10Mbps' has bytes per second, as tc reads 'bps': write bits, as 10mbit");
    let text = panic_of(|| drop(path(true).stack(Namesake)));
    assert_eq!(text, "stack: 'cubic' is a kind of flow already: give the transport another name");
    // Twice the same is one too many as well.
    let text = panic_of(|| drop(path(true).stack(aimd::Aimd { backs_off: false })));
    assert_eq!(text, "stack: 'aimd' is a kind of flow already: give the transport another name");
}

struct Namesake;

impl Stack for Namesake {
    fn info(&self) -> &'static Info {
        static INFO: Info = Info { name: "cubic", ..MINIMAL };
        &INFO
    }

    fn connect(&self, _: &Values, _: Task) -> Result<Ends, InputError> {
        unreachable!("its flows would be native ones")
    }
}

#[test]
fn a_link_that_is_never_idle_is_used_in_full() {
    let run = path(true).warmup("1s").flows("1*cbr:rate=20mbit").run(1);
    run.utilization().at_least(0.999);
}
