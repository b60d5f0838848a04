//! How many frames there are at once, and what became of them.

/// Room for one frame: more than the largest, so that one that is too large is seen to be.
pub(crate) const FRAME_BYTES: usize = 2048;
/// So many frames that came while this thread was away have room.
pub(crate) const FRAMES: usize = 4096;
/// So many frames are handed to the kernel at once.
pub(crate) const BATCH: usize = 32;

/// What was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sent {
    /// So many frames, from the first.
    Frames(usize),
    /// The first frame was refused: the kernel has no room for it.
    Refused,
    /// The interface is gone.
    Gone,
}
