//! Whatever segments of TCP two hosts send, following them ends, and what it says lies within the capture.

use aqm_core::packet::Ecn;
use aqm_core::units::Time;
use aqm_io::capture::{Capture, Frame, Headers, LinkType, PcapngWriter, Transport};
use arbitrary::Arbitrary;

#[derive(Arbitrary, Debug)]
pub(crate) struct Run {
    segments: Vec<Segment>,
}

/// Numbers of 16 bits are steps from those before, so that segments meet; a jump makes them any.
#[derive(Arbitrary, Debug)]
struct Segment {
    from_second: bool,
    other_port: bool,
    micros: u16,
    jump: Option<(u32, u32)>,
    sequence: i16,
    acknowledgment: i16,
    payload: u16,
    flags: u8,
    stamps: (u16, u16),
    sack: [Option<(i16, i16)>; 3],
}

pub(crate) fn run(run: Run) {
    let mut writer = PcapngWriter::new(LinkType::RAW_IP);
    let (mut now, mut numbers, mut carried) = (0, [0_u32; 2], 0);
    for one in &run.segments {
        now += u64::from(one.micros) * 1000;
        let own = usize::from(one.from_second);
        if let Some((first, second)) = one.jump {
            numbers = [first, second];
        }
        let near = |number: u32, step: i16| number.wrapping_add_signed(step.into());
        let sequence = near(numbers[own], one.sequence);
        let acknowledgment = near(numbers[1 - own], one.acknowledgment);
        numbers[own] = sequence.wrapping_add(one.payload.into());
        let ends = [([10, 0, 0, 1], 1000 + u16::from(one.other_port)), ([10, 0, 0, 2], 80)];
        let headers = Headers {
            source: ends[own],
            destination: ends[1 - own],
            dscp: 0,
            ecn: Ecn::NotEct,
            payload: one.payload.min(u16::MAX - 100),
            transport: Transport::Tcp {
                sequence,
                acknowledgment,
                flags: one.flags,
                stamps: (stamp(one.stamps.0), stamp(one.stamps.1)),
                sack: one.sack.map(|block| {
                    block.map(|(start, end)| (near(acknowledgment, start), near(acknowledgment, end)))
                }),
            },
        };
        carried += u64::from(headers.payload);
        let data = headers.bytes();
        let wire_length = headers.wire_length(&data);
        writer.add(&Frame { time: Time::from_nanos(now), data: &data, wire_length }, None);
    }
    check("fuzz", &writer.take(), Some(carried));
}

fn stamp(micros: u16) -> Time {
    Time::from_nanos(u64::from(micros) * 1000)
}

/// What holds of any capture; `carried` is the payload of all of its packets.
pub(crate) fn check(name: &str, bytes: &[u8], carried: Option<u64>) {
    let (plain, followed) = (Capture::parse(name, bytes), Capture::parse_with_path(name, bytes));
    let (plain, (capture, path)) = match (plain, followed) {
        (Ok(plain), Ok(followed)) => (plain, followed),
        (plain, followed) => {
            assert_eq!(plain.unwrap_err().to_string(), followed.unwrap_err().to_string());
            return;
        }
    };
    assert_eq!(plain.packets(), capture.packets());
    assert_eq!(path.stamps.len(), capture.packets().len());
    let end = capture.duration();
    let flows = capture.flows().len() as u32;
    let packets = capture.packets();
    for one in &path.round_trips {
        assert_eq!(packets[one.answered_by as usize].time, one.at + one.time, "{one:?}");
        assert!(one.at + one.time <= end && one.pause <= one.time && one.flow < flows, "{one:?}");
    }
    assert!(path.round_trips.is_sorted_by_key(|one| one.at + one.time));
    for one in &path.losses {
        assert!(one.at + one.mended <= end && one.bytes > 0 && one.flow < flows, "{one:?}");
    }
    assert!(path.deliveries.is_sorted_by_key(|one| one.at));
    assert!(path.deliveries.iter().all(|one| packets[one.packet as usize].time == one.at));
    assert!(path.deliveries.iter().all(|one| one.bytes > 0 && one.at <= end && one.flow < flows));
    if let Some(carried) = carried {
        // What is sent again has been sent: with SYNs and FINs, which count as a byte.
        let again: u64 = path.losses.iter().map(|one| one.bytes).sum();
        assert!(again <= carried + 2 * capture.packets().len() as u64, "{again} of {carried}");
    }
}
