//! Fields of a frame, which may be cut off anywhere.

use super::super::skipped::SkipReason;

pub(super) fn bytes<const N: usize>(frame: &[u8], at: usize) -> Result<[u8; N], SkipReason> {
    frame.get(at..).and_then(|rest| rest.first_chunk()).copied().ok_or(SkipReason::CutHeader)
}

pub(super) fn byte(frame: &[u8], at: usize) -> Result<u8, SkipReason> {
    bytes::<1>(frame, at).map(|[byte]| byte)
}

/// In network byte order.
pub(super) fn be16(frame: &[u8], at: usize) -> Result<u16, SkipReason> {
    bytes(frame, at).map(u16::from_be_bytes)
}

pub(super) fn le16(frame: &[u8], at: usize) -> Result<u16, SkipReason> {
    bytes(frame, at).map(u16::from_le_bytes)
}

pub(super) fn be32(frame: &[u8], at: usize) -> Result<u32, SkipReason> {
    bytes(frame, at).map(u32::from_be_bytes)
}

pub(super) fn le32(frame: &[u8], at: usize) -> Result<u32, SkipReason> {
    bytes(frame, at).map(u32::from_le_bytes)
}

/// A length of 32 bits in the byte order of the capturing host, which the frame does not state: the order in which it
/// is at most `most`.
pub(super) fn host_length(frame: &[u8], at: usize, most: u32) -> Result<usize, SkipReason> {
    let plausible = [le32(frame, at)?, be32(frame, at)?].into_iter().find(|length| *length <= most);
    plausible.map(|length| length as usize).ok_or(SkipReason::NotIp)
}
