//! Whole Ethernet frames from and to an interface, whatever carries them.

use super::frames::Sent;
use super::ring::Ring;
use super::tap::Tap;
use std::os::fd::{AsFd, BorrowedFd};

/// One end's interface.
pub(crate) enum Port {
    /// By the ring of a socket.
    Ring(Ring),
    /// By the TUN driver.
    Tap(Tap),
}

impl Port {
    /// Hands every frame that is there to `take`, the kernel's stamp with it where it gives one, as many as one turn is to
    /// have at most. Returns how many there were. A frame that has no room is cut off, so that it is larger than it may be.
    pub(crate) fn receive(&mut self, take: impl FnMut(&[u8], Option<u64>)) -> usize {
        match self {
            Port::Ring(ring) => ring.receive(take),
            Port::Tap(tap) => tap.receive(take),
        }
    }

    /// Hands up to [`BATCH`](super::frames::BATCH) frames to the kernel.
    pub(crate) fn send<'a>(&self, frames: impl Iterator<Item = &'a [u8]>) -> Sent {
        match self {
            Port::Ring(ring) => ring.send(frames),
            Port::Tap(tap) => tap.send(frames),
        }
    }

    /// Packets that found no room, asked for once: at the end.
    pub(crate) fn missed(&mut self) -> u64 {
        match self {
            Port::Ring(ring) => ring.missed(),
            Port::Tap(tap) => tap.missed(),
        }
    }
}

impl AsFd for Port {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Port::Ring(ring) => ring.as_fd(),
            Port::Tap(tap) => tap.as_fd(),
        }
    }
}
