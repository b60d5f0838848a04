//! Where the bytes of packets lie while a discipline or the wire has them.

use crate::config::MTU;

/// The largest frame: an Ethernet header with two VLAN tags and a full packet.
pub(crate) const LARGEST_FRAME: usize = MTU as usize + 14 + 8;
const SLOT: usize = 1536;
/// So many slots are added at a time, when more packets wait than ever before.
const CHUNK: usize = 256;

/// Frames in slots of equal size. Slots are used again, so that nothing is allocated per packet.
#[derive(Default)]
pub(crate) struct Slab {
    chunks: Vec<Box<[u8]>>,
    lengths: Vec<u16>,
    free: Vec<u32>,
}

impl Slab {
    /// Stores a frame of at most [`LARGEST_FRAME`] bytes and returns its slot.
    pub(crate) fn store(&mut self, frame: &[u8]) -> u32 {
        let slot = self.free.pop().unwrap_or_else(|| self.grow());
        self.lengths[slot as usize] = frame.len() as u16;
        self.place(slot)[..frame.len()].copy_from_slice(frame);
        slot
    }

    /// The frame in a slot.
    pub(crate) fn frame(&self, slot: u32) -> &[u8] {
        let (chunk, at) = (slot as usize / CHUNK, slot as usize % CHUNK * SLOT);
        &self.chunks[chunk][at..at + usize::from(self.lengths[slot as usize])]
    }

    /// The frame in a slot, to be changed.
    pub(crate) fn frame_mut(&mut self, slot: u32) -> &mut [u8] {
        let length = usize::from(self.lengths[slot as usize]);
        &mut self.place(slot)[..length]
    }

    /// Stores the frame in a slot once more.
    pub(crate) fn copy(&mut self, slot: u32) -> u32 {
        let frame = self.frame(slot).to_vec();
        self.store(&frame)
    }

    /// The slot is free again.
    pub(crate) fn free(&mut self, slot: u32) {
        self.free.push(slot);
    }

    fn place(&mut self, slot: u32) -> &mut [u8] {
        let at = slot as usize % CHUNK * SLOT;
        &mut self.chunks[slot as usize / CHUNK][at..at + SLOT]
    }

    fn grow(&mut self) -> u32 {
        let first = self.lengths.len() as u32;
        self.chunks.push(vec![0; CHUNK * SLOT].into_boxed_slice());
        self.lengths.resize(self.lengths.len() + CHUNK, 0);
        // Each slot can be returned without another allocation.
        self.free.reserve(self.lengths.len());
        self.free.extend((first + 1..first + CHUNK as u32).rev());
        first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_keep_their_bytes_and_slots_are_used_again() {
        let mut slab = Slab::default();
        let slots: Vec<u32> = (0..600).map(|n| slab.store(&vec![n as u8; 60 + n])).collect();
        for (n, slot) in slots.iter().enumerate() {
            assert_eq!(slab.frame(*slot), vec![n as u8; 60 + n]);
        }
        slots.iter().for_each(|slot| slab.free(*slot));
        let again: Vec<u32> = (0..600).map(|_| slab.store(&[7; LARGEST_FRAME])).collect();
        assert!(again.iter().all(|slot| slots.contains(slot)));
        slab.frame_mut(again[0])[0] = 9;
        assert_eq!(slab.frame(again[0])[..2], [9, 7]);
    }
}
