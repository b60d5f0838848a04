//! Recorded packets that are played back.

use crate::simulation::state::Simulation;
use aqm_core::units::Time;

impl Simulation {
    /// The next recorded packet is due; answers when the one after it is.
    pub(crate) fn on_replay(&mut self, index: usize) -> Option<Time> {
        let replay = &mut self.replays[index];
        let recorded = replay.packets[replay.next];
        replay.next += 1;
        let again = replay.packets.get(replay.next).map(|next| replay.start + next.at);
        self.send_datagram(recorded);
        again
    }
}
