//! Wi-Fi (IEEE 802.11), and the headers of radios in front of it.

use super::super::skipped::SkipReason;
use super::field::{be32, byte, bytes, host_length, le16, le32};
use super::layer::Layer;
use super::step::{Next, Step};

/// Frame control, duration, three addresses, sequence control (IEEE 802.11-2020 9.3.2.1).
const DATA_HEADER: usize = 24;
const FOURTH_ADDRESS: usize = 6;
const QOS_CONTROL: usize = 2;
const HT_CONTROL: usize = 4;
/// Bits of the second byte: to and from the distribution system, protected, HT control.
const BOTH_SYSTEMS: u8 = 0x03;
const PROTECTED: u8 = 0x40;
const HT_PRESENT: u8 = 0x80;
/// Bits of the subtype of data: with QoS control, without data.
const QOS: u8 = 0x80;
const WITHOUT_DATA: u8 = 0x40;
/// In QoS control: an aggregate of several packets.
const AGGREGATE: u8 = 0x80;
/// Bits of radiotap's `present` and `flags` fields.
const MORE_PRESENT: u32 = 1 << 31;
const WITH_TIMER: u32 = 1;
const WITH_FLAGS: u32 = 2;
const PADDED: u8 = 0x20;
/// The longest header of a radio.
const LONGEST: u32 = 4096;
const AVS_MAGIC: u32 = 0x8021_1000;

/// `alignment` is that to which the radio pads the header.
pub(super) fn ieee80211(frame: &[u8], at: usize, alignment: usize) -> Next {
    let [first, second] = bytes(frame, at)?;
    // Version 0, type data.
    if first & 0x0f != 0x08 || first & WITHOUT_DATA != 0 {
        return Err(SkipReason::NotIp);
    }
    let is_qos = first & QOS != 0;
    let mut length = DATA_HEADER;
    if second & BOTH_SYSTEMS == BOTH_SYSTEMS {
        length += FOURTH_ADDRESS;
    }
    if is_qos {
        let is_aggregate = byte(frame, at + length)? & AGGREGATE != 0;
        if is_aggregate && second & PROTECTED == 0 {
            return Err(SkipReason::Aggregate);
        }
        length += QOS_CONTROL;
        length += if second & HT_PRESENT == 0 { 0 } else { HT_CONTROL };
    }
    if second & PROTECTED != 0 {
        return Err(SkipReason::Encrypted);
    }
    // The lower half of sequence control is the number of the fragment.
    if byte(frame, at + 22)? & 0x0f != 0 {
        return Err(SkipReason::Fragment);
    }
    Ok(Step::Inside(Layer::Llc, at + length.next_multiple_of(alignment)))
}

/// radiotap.org: version, length and bit masks of the fields, all little-endian.
pub(super) fn radiotap(frame: &[u8], at: usize) -> Next {
    let length = usize::from(le16(frame, at + 2)?);
    let mut behind = at + 4;
    let present = le32(frame, behind)?;
    while le32(frame, behind)? & MORE_PRESENT != 0 {
        behind += 4;
        if behind >= at + length {
            return Err(SkipReason::Malformed);
        }
    }
    behind += 4;
    let is_padded = present & WITH_FLAGS != 0 && {
        // The timer is aligned to its size from the beginning of the header.
        let flags =
            if present & WITH_TIMER == 0 { behind } else { at + (behind - at).next_multiple_of(8) + 8 };
        byte(frame, flags)? & PADDED != 0
    };
    ieee80211(frame, at + length.max(8), if is_padded { 4 } else { 1 })
}

/// A message code and the length of the header. Some drivers gave the AVS header under this link type.
pub(super) fn prism(frame: &[u8], at: usize) -> Next {
    if be32(frame, at)? & 0xffff_f000 == AVS_MAGIC {
        return avs(frame, at);
    }
    let length = host_length(frame, at + 4, LONGEST)?;
    Ok(Step::Inside(Layer::Ieee80211, at + length.max(8)))
}

pub(super) fn avs(frame: &[u8], at: usize) -> Next {
    let length = host_length(frame, at + 4, LONGEST)?;
    Ok(Step::Inside(Layer::Ieee80211, at + length.max(8)))
}
