//! Devices that send bursts: each keeps the rules of all, and those of its kind.

use crate::network::port::PortId;
use crate::report::RunError;
use crate::simulation::state::Simulation;
use aqm_path::device::burst::Frame;

impl Simulation {
    /// No device has lost count of a packet, of its airtime or of the time; and an idle one has nothing to send.
    pub(super) fn check_channels(&self) -> Result<(), RunError> {
        for channel in &self.channels {
            let place = self.network.link_name(channel.ports[0]);
            let Some(device) = &channel.device else { continue };
            device.check(self.shared.now).map_err(|what| self.failed(&place, &what))?;
            for &port in &channel.ports {
                let own = self.ports[port].device();
                if let Some(back) =
                    own.filter(|own| !own.busy).map(|own| own.ring.len()).filter(|back| *back > 0)
                {
                    let what = format!("{back} packets came back, and nothing will send them again");
                    return Err(self.failed(&self.network.link_name(port), &what));
                }
            }
        }
        Ok(())
    }

    /// The packets of a port that its channel has, and that are not on their wire.
    pub(super) fn inside_channel(&self, port: PortId) -> impl Iterator<Item = &Frame> {
        let channel = self.ports[port].device().and_then(|own| own.channel);
        let device = channel.and_then(|channel| self.channels[channel as usize].device.as_deref());
        device
            .into_iter()
            .flat_map(|device| device.inside())
            .filter(move |frame| frame.port as PortId == port)
    }

    /// How many packets channels have lost for good, so far.
    pub(super) fn lost_by_channels(&self) -> u64 {
        self.channels.iter().filter_map(|channel| channel.device.as_ref()).map(|device| device.lost()).sum()
    }
}
