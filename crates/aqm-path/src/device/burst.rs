//! Devices whose unit is the *burst*: one transmission with one or more packets, an end, and an outcome of each packet.

use super::air::{MediumTotals, StationTotals};
use aqm_core::sent::Sent;
use aqm_core::stations::Stations;
use aqm_core::units::{Span, Time};

/// A packet as a device sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The host's number of it.
    pub id: u32,
    /// The port whose queue it came from.
    pub port: u32,
    /// The next hop that it is for.
    pub station: u8,
    /// Bytes on the link.
    pub length: u32,
}

/// For whom a device wants a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whom {
    /// For any next hop.
    Any,
    /// For one station.
    Station(u8),
}

/// The queues in front of a device, by port.
pub trait Queues {
    /// Takes the next packet of a queue: first one that came back, then the discipline's choice. The device has to send it.
    fn pull(&mut self, port: u32, whom: Whom) -> Option<Frame>;

    /// How many packets wait in a queue.
    fn waiting(&self, port: u32) -> u64;

    /// How many of them are for one station.
    fn waiting_for(&self, port: u32, station: u8) -> u64;

    /// For whom of these stations the next packet of a queue is; `None` if nothing of it may go to any of them now.
    fn next_station(&mut self, port: u32, among: Stations) -> Option<u8>;

    /// A device that sends packets again itself says how each transmission ended; of the others the host sees it.
    fn sent(&mut self, port: u32, sent: &Sent);

    /// A packet that the device has taken is given up.
    fn lose(&mut self, frame: Frame);
}

/// How the transmission of a packet ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The next hop has it.
    Delivered,
    /// It is gone: no attempt reached the next hop.
    Lost,
    /// The next hop does not have it yet: it goes back to the front of its queue, for a later transmission.
    Requeued,
}

/// A packet of a burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmitted {
    /// The packet.
    pub frame: Frame,
    /// When its last bit is out: within the burst, and not before that of the packet in front of it.
    pub out: Time,
    /// Its share of the burst's time.
    pub airtime: Span,
    /// How often it was sent in this burst: once or more.
    pub attempts: u16,
    /// How that ended.
    pub outcome: Outcome,
}

/// What a device does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Nothing until a port is ready.
    Idle,
    /// Nothing until this time, or until a port is ready.
    WaitUntil(Time),
    /// It sends: the packets lie in the list that it was given. It is asked again when the burst ends.
    Burst {
        /// When the burst begins.
        start: Time,
        /// When the medium is free again.
        end: Time,
    },
}

/// The use of a medium since the beginning.
#[derive(Clone, Debug)]
pub struct Air<'a> {
    /// The stations, by their numbers.
    pub names: &'a [String],
    /// The sums of each.
    pub stations: Vec<StationTotals>,
    /// The sums of the medium.
    pub medium: MediumTotals,
}

/// A device that serves one or more ports: a law of when, for whom and how many packets go at once.
pub trait Device: Send {
    /// The queue of a port has something to send, and had nothing when the device last looked.
    fn ready(&mut self, port: u32, now: Time, queues: &mut dyn Queues);

    /// Whether it takes packets ahead and sends them again itself: then it hears of every packet that comes, also while it
    /// sends; it keeps packets over bursts, says what became of transmissions, and a burst may deliver nothing.
    fn takes_ahead(&self) -> bool {
        false
    }

    /// What next? Asked when a port has become ready, when a burst has ended, and at the time that was waited for; never while
    /// a burst lasts. Packets of a burst are put into `sent`, in the order in which their last bits are out.
    fn next(&mut self, now: Time, queues: &mut dyn Queues, sent: &mut Vec<Transmitted>) -> Next;

    /// Whether packets of one flow may arrive in another order than they were taken.
    fn reorders(&self) -> bool {
        false
    }

    /// Who has used the air, if stations share it.
    fn air(&self) -> Option<Air<'_>> {
        None
    }

    /// What this kind of device knows about itself that must hold.
    ///
    /// # Errors
    /// What does not hold.
    fn check(&self, _now: Time) -> Result<(), String> {
        Ok(())
    }
}
