//! What passes the near end, as a capture taken there has it: what the command sends, and what reaches it.

use aqm_core::units::Time;
use aqm_io::capture::{Frame, LinkType, PcapngWriter};
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

/// So many bytes are collected before they are written.
const COLLECTED: usize = 1 << 18;

/// A pcapng file that is being written. After the first error it is left as it is.
pub(crate) struct Capture {
    writer: PcapngWriter,
    to: File,
    /// Nanoseconds from 1970 to the start of the link: a clock that is set meanwhile moves no packet.
    start: u64,
    collected: usize,
    failed: Option<io::Error>,
}

impl Capture {
    /// A capture in a new file; the link starts `start` nanoseconds after 1970.
    pub(crate) fn create(path: &Path, start: u64) -> io::Result<Capture> {
        let writer = PcapngWriter::new(LinkType::ETHERNET);
        Ok(Capture { writer, to: File::create(path)?, start, collected: 0, failed: None })
    }

    /// A frame passes.
    pub(crate) fn add(&mut self, frame: &[u8], at: Time) {
        if self.failed.is_some() {
            return;
        }
        let time = Time::from_nanos(self.start + at.as_nanos());
        self.writer.add(&Frame { time, data: frame, wire_length: frame.len() as u32 }, None);
        self.collected += frame.len();
        if self.collected > COLLECTED {
            self.write();
        }
    }

    /// Writes what is left; says why it is not complete.
    pub(crate) fn finish(&mut self) -> Option<String> {
        self.write();
        self.failed.as_ref().map(ToString::to_string)
    }

    fn write(&mut self) {
        self.collected = 0;
        if let Err(error) = self.to.write_all(&self.writer.take()) {
            self.failed.get_or_insert(error);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aqm_core::units::Span;
    use aqm_io::capture::Capture as Read;

    #[test]
    fn what_passed_is_read_again_with_its_times() {
        let path = std::env::temp_dir().join(format!("aqm-link-{}-capture", std::process::id()));
        let mut capture = Capture::create(&path, 1_700_000_000_000_000_000).unwrap();
        let mut frame = vec![0; 1514];
        frame[12..16].copy_from_slice(&[8, 0, 0x45, 0]);
        frame[16..18].copy_from_slice(&1500_u16.to_be_bytes());
        for n in 0..400 {
            capture.add(&frame, Time::ZERO + Span::from_millis(n));
        }
        assert_eq!(capture.finish(), None);
        let read = Read::parse("made", &std::fs::read(&path).unwrap()).unwrap();
        std::fs::remove_file(path).unwrap();
        assert_eq!(read.packets().len(), 400);
        assert_eq!(read.packets()[399].time, Span::from_millis(399));
    }

    #[test]
    fn a_disk_that_is_full_ends_the_capture_alone() {
        let mut capture = Capture::create(Path::new("/dev/full"), 0).unwrap();
        for _ in 0..1000 {
            capture.add(&[0; 1514], Time::ZERO);
        }
        assert!(capture.finish().unwrap().contains("No space left"));
    }
}
