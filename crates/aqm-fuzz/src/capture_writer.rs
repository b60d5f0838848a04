//! Whatever frames are written on whatever link, both formats are read back whole and alike.

use aqm_core::units::Time;
use aqm_io::capture::{Capture, Frame, LinkType, PcapWriter, PcapngWriter};
use arbitrary::Arbitrary;

const LINKS: [LinkType; 5] =
    [LinkType::RAW_IP, LinkType::ETHERNET, LinkType::LOOPBACK, LinkType::LINUX_SLL, LinkType::LINUX_SLL2];

#[derive(Arbitrary, Debug)]
pub(crate) struct Run {
    link: u8,
    frames: Vec<Written>,
}

#[derive(Arbitrary, Debug)]
struct Written {
    millis: u32,
    wire_length: u32,
    data: Vec<u8>,
    comment: Option<String>,
}

pub(crate) fn run(run: Run) {
    let link = LINKS[usize::from(run.link) % LINKS.len()];
    let (mut pcap, mut pcapng) = (PcapWriter::new(link), PcapngWriter::new(link));
    for Written { millis, wire_length, data, comment } in &run.frames {
        let time = Time::from_nanos(u64::from(*millis) * 1_000_000);
        let frame = Frame { time, data, wire_length: *wire_length };
        pcap.add(&frame).expect("before 2106");
        pcapng.add(&frame, comment.as_deref());
    }
    let parsed = [pcap.take(), pcapng.take()].map(|bytes| Capture::parse("fuzz", &bytes));
    match parsed {
        [Ok(one), Ok(other)] => {
            assert_eq!(one.packets(), other.packets());
            assert_eq!(one.packets().len() as u64 + one.skipped().total(), run.frames.len() as u64);
            assert!(one.warnings().iter().all(|warning| !warning.contains("truncated")));
        }
        [one, other] => assert_eq!(one.unwrap_err(), other.unwrap_err()),
    }
}
