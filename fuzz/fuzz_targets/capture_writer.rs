//! Whatever frames are written, both formats are read back whole and alike.
#![no_main]

use aqm_core::units::Time;
use aqm_io::capture::{Capture, Frame, LinkType, PcapWriter, PcapngWriter};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|frames: Vec<(u32, u32, Vec<u8>, Option<String>)>| {
    let (mut pcap, mut pcapng) = (PcapWriter::new(LinkType::RawIp), PcapngWriter::new(LinkType::RawIp));
    for (millis, wire_length, data, comment) in &frames {
        let time = Time::from_nanos(u64::from(*millis) * 1_000_000);
        let frame = Frame { time, data, wire_length: *wire_length };
        pcap.add(&frame).expect("before 2106");
        pcapng.add(&frame, comment.as_deref());
    }
    let parsed = [pcap.take(), pcapng.take()].map(|bytes| Capture::parse("fuzz", &bytes));
    match parsed {
        [Ok(one), Ok(other)] => {
            assert_eq!(one.packets(), other.packets());
            assert_eq!(one.packets().len() as u64 + one.skipped().total(), frames.len() as u64);
            assert!(one.warnings().iter().all(|warning| !warning.contains("truncated")));
        }
        [one, other] => assert_eq!(one.unwrap_err(), other.unwrap_err()),
    }
});
