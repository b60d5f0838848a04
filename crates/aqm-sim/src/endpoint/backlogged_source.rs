//! What a source would write while its sender can do nothing with it.

use crate::traffic::arrivals::Rhythm;
use aqm_core::units::Span;

/// Where thousands of sources overload a network, most of what they write only waits behind what waits already. To count it
/// here takes little memory, and neither the source nor its sender, which lie in no cache.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BackloggedSource {
    /// How the source goes on; [`Rhythm::NONE`] while nothing is held.
    pub(crate) rhythm: Rhythm,
    /// Pieces that the sender does not know of.
    pub(crate) pieces: u32,
}

impl BackloggedSource {
    pub(crate) const NOTHING: BackloggedSource = BackloggedSource { rhythm: Rhythm::NONE, pieces: 0 };

    /// The source is due, and its piece is held if that is possible: then the gap to the next.
    #[inline]
    pub(crate) fn hold(&mut self) -> Option<Span> {
        let gap = self.rhythm.next()?;
        self.pieces += 1;
        Some(gap)
    }
}
