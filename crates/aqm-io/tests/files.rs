//! Captures and link traces from files: those of the project, and others where they are present.
//!
//! The others are looked for in `$AQMLAB_SHARED/data`, or in `../shared/data` beside the repository.
#![allow(clippy::disallowed_methods, reason = "a test may open files")]

use aqm_core::units::{Rate, Span, Time};
use aqm_io::capture::{Capture, CapturedPacket, Frame, LinkType, PcapWriter, PcapngWriter};
use aqm_io::link_trace::LinkTrace;
use std::path::{Path, PathBuf};
use std::process::Command;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_path_buf()
}

/// Files of a folder of `data`: the project's own, then the shared ones.
fn files(folder: &str) -> Vec<PathBuf> {
    let shared = std::env::var_os("AQMLAB_SHARED").map_or(repository().join("../shared"), PathBuf::from);
    let list = |root: &Path| {
        let entries = std::fs::read_dir(root.join("data").join(folder));
        let mut paths: Vec<PathBuf> =
            entries.into_iter().flatten().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        paths
    };
    let (mut paths, others) = (list(&repository()), list(&shared));
    assert!(!paths.is_empty(), "the project's own {folder} are missing");
    if others.is_empty() {
        println!("skipped: no {folder} in {}", shared.display());
    }
    paths.extend(others);
    paths
}

fn capture(path: &Path) -> Capture {
    Capture::parse(&path.display().to_string(), &std::fs::read(path).unwrap()).unwrap()
}

fn link_trace(path: &Path) -> LinkTrace {
    LinkTrace::parse(&path.display().to_string(), &std::fs::read(path).unwrap()).unwrap()
}

/// A packet as `read_capture.py` writes it.
fn line(capture: &Capture, packet: &CapturedPacket) -> String {
    let flow = capture.flow_of(packet).five_tuple;
    let tcp = packet.tcp.map_or("-".to_string(), |tcp| {
        let sack = if tcp.has_sack { "sack" } else { "-" };
        format!("{}/{}/{}/{}/{sack}", tcp.seq, tcp.ack, tcp.flags, tcp.payload)
    });
    let ends = format!("{} {} {} {}", flow.source, flow.ports.0, flow.destination, flow.ports.1);
    let (length, protocol, ecn) = (packet.length, flow.protocol, packet.ecn as u8);
    format!("{} {length} {protocol} {ends} {} {ecn} {tcp}", packet.time.as_nanos(), packet.dscp)
}

/// Compares what we read of a file with what `read_capture.py` reads.
fn is_read_alike(path: &Path) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/read_capture.py");
    let output = Command::new("python3").arg(script).arg(path).output().expect("python3 is needed");
    assert!(output.status.success(), "{}: {}", path.display(), String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let capture = capture(path);
    assert_eq!(capture.packets().len(), text.lines().count(), "{}", path.display());
    for (number, (packet, expected)) in capture.packets().iter().zip(text.lines()).enumerate() {
        assert_eq!(line(&capture, packet), expected, "{}, packet {}", path.display(), number + 1);
    }
    println!("{}: {} packets alike", path.display(), capture.packets().len());
}

#[test]
fn captures_are_read_as_an_independent_reader_reads_them() {
    for path in files("captures") {
        is_read_alike(&path);
    }
}

#[test]
fn written_captures_are_read_by_an_independent_reader() {
    // UDP in IPv4: 192.0.2.1 port 5 to 192.0.2.2 port 6, CE, four bytes of payload.
    let mut packet = vec![0x45, 3, 0, 32, 0, 0, 0, 0, 64, 17, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2];
    packet.extend([0, 5, 0, 6, 0, 12, 0, 0, 1, 2, 3, 4]);
    let (mut pcap, mut pcapng) = (PcapWriter::new(LinkType::RAW_IP), PcapngWriter::new(LinkType::RAW_IP));
    for (number, comment) in [None, Some("dropped: congestion"), Some("marked")].into_iter().enumerate() {
        let time = Time::from_nanos(1_700_000_000_000_000_001 + 7 * number as u64);
        let frame = Frame { time, data: &packet, wire_length: packet.len() as u32 };
        pcap.add(&frame).unwrap();
        pcapng.add(&frame, comment);
    }
    for (kind, bytes) in [("pcap", pcap.take()), ("pcapng", pcapng.take())] {
        let path = std::env::temp_dir().join(format!("aqmlab-written-{}.{kind}", std::process::id()));
        std::fs::write(&path, bytes).unwrap();
        is_read_alike(&path);
        let written = capture(&path);
        std::fs::remove_file(&path).unwrap();
        assert!(written.warnings().is_empty(), "{:?}", written.warnings());
        let times: Vec<u64> = written.packets().iter().map(|packet| packet.time.as_nanos()).collect();
        assert_eq!(times, [0, 7, 14], "{kind}");
    }
}

#[test]
fn real_captures_survive_being_cut_and_damaged() {
    for path in files("captures") {
        let bytes = std::fs::read(&path).unwrap();
        let whole = capture(&path);
        // A fixed sequence (Knuth's MMIX generator): the same damage in every run.
        let mut state = 1u64;
        let mut next = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        for round in 0..60 {
            let mut damaged = bytes.clone();
            if round % 2 == 0 {
                damaged.truncate(next(bytes.len()));
            }
            for _ in 0..round {
                let at = next(bytes.len()).min(damaged.len().saturating_sub(1));
                if let Some(byte) = damaged.get_mut(at) {
                    *byte = next(256) as u8;
                }
            }
            if let Ok(capture) = Capture::parse("damaged", &damaged) {
                assert!(capture.packets().is_sorted_by_key(|packet| packet.time));
                if round == 0 {
                    let packets = capture.packets();
                    assert_eq!(packets, &whole.packets()[..packets.len()], "{}", path.display());
                    assert!(capture.warnings().iter().any(|warning| warning.contains("truncated after")));
                }
            }
        }
    }
}

#[test]
fn the_capture_of_the_project_holds_what_its_readme_says() {
    let capture = capture(&repository().join("data/captures/aqmlab-lan.pcap"));
    let summary = capture.summary();
    assert_eq!((summary.packets, summary.ipv6_packets), (6803, 1976));
    assert!(capture.warnings().is_empty(), "{:?}", capture.warnings());
    let has = |test: &dyn Fn(&CapturedPacket) -> bool| capture.packets().iter().any(test);
    let flow = |packet: &CapturedPacket| capture.flow_of(packet).five_tuple;
    assert!(has(&|packet| flow(packet).protocol == 17 && flow(packet).ports.1 == 53), "DNS");
    assert!(has(&|packet| flow(packet).protocol == 17 && packet.dscp == 46 && packet.length == 200), "voice");
    assert!(has(&|packet| packet.tcp.is_some() && packet.ecn.is_capable()), "ECN");
    assert!(has(&|packet| packet.tcp.is_some_and(|tcp| tcp.has_sack)), "SACK");
    assert!(capture.packets().iter().all(|packet| packet.length <= 1500));
}

#[test]
fn link_traces_are_read_completely() {
    for path in files("link-traces") {
        let name = path.display();
        let trace = link_trace(&path);
        let lines = std::fs::read_to_string(&path).unwrap().lines().count();
        assert_eq!(trace.opportunities_ms().len(), lines, "{name}");
        let round =
            trace.count_between(Time::from_nanos(1), Time::ZERO + trace.period() + Span::from_nanos(1));
        assert_eq!(round, lines as u64, "{name}: opportunities of a whole period");
        println!("{name}: {lines} opportunities in {}, {} on average", trace.period(), trace.mean_rate());
    }
}

#[test]
fn the_link_traces_of_the_project_are_made_by_their_script() {
    let folder = std::env::temp_dir().join(format!("aqmlab-link-trace-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let made = Command::new("python3")
        .arg(repository().join("scripts/make_link_trace.py"))
        .args(["--seed", "4"])
        .arg(folder.join("aqmlab-lte"))
        .output()
        .expect("python3 is needed");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    for name in ["aqmlab-lte.down", "aqmlab-lte.up"] {
        let committed = std::fs::read(repository().join("data/link-traces").join(name)).unwrap();
        assert!(
            std::fs::read(folder.join(name)).unwrap() == committed,
            "{name} differs from what its script makes"
        );
    }
    std::fs::remove_dir_all(&folder).unwrap();
    let down = link_trace(&repository().join("data/link-traces/aqmlab-lte.down"));
    assert_eq!(down.mean_rate(), Rate::from_bits_per_sec(54_402 * 12_000 / 60));
    assert_eq!(down.period(), Span::from_secs(60));
}
