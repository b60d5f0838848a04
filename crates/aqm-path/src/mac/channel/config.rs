//! What a channel is built from, with the checks of it.

use super::super::airtime::{Band, Control, Timing};
use super::super::ampdu::Limits;
use super::super::aql;
use super::super::edca::{Access, Rules};
use super::super::errors::{Errors, ModeTrace};
use super::super::rates::Mode;
use super::host::{ACCESS_POINT, Queue};
use aqm_core::choices;
use aqm_core::input_error::InputError;
use aqm_core::units::Span;

choices! {
    /// What a sender does if no block ACK comes; implementations differ.
    pub enum Missed {
        /// The aggregate is sent again, as the hardware of ath9k does.
        Retransmit = "retransmit",
        /// It asks for the block ACK, as ns-3 does (`UseExplicitBarAfterMissedBlockAck`).
        Request = "request",
    }
}

choices! {
    /// For whom the driver's next aggregate is.
    pub enum DriverOrder {
        /// Receivers take turns, as in ath9k before Linux 4.11.
        Turns = "turns",
        /// Whose oldest packet has waited longest, as in ns-3 (`FcfsWifiQueueScheduler`).
        Oldest = "oldest",
    }
}

/// A station, and what lies between it and the access point.
#[derive(Clone, Debug, PartialEq)]
pub struct Station {
    /// Its mode in both directions over time.
    pub modes: ModeTrace,
    /// Losses in both directions.
    pub errors: Errors,
    /// Whether it stands for all that listen to multicast: nobody acknowledges what it is sent, and nothing is sent again
    /// (IEEE 802.11-2020, 10.3.6).
    pub is_group: bool,
}

/// A channel.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Slot, SIFS and basic rates.
    pub timing: Timing,
    /// The rules of contention.
    pub rules: Rules,
    /// The categories of the access point.
    pub access_point: [Access; 4],
    /// Those of stations.
    pub stations: [Access; 4],
    /// How large aggregates become.
    pub limits: Limits,
    /// MPDUs that may be unacknowledged for a station and category.
    pub window: u16,
    /// How often an MPDU is sent again before it is given up.
    pub retries: u8,
    /// How long after it was taken from the queue a packet is given up.
    pub lifetime: Span,
    /// What follows a missed block ACK.
    pub missed: Missed,
    /// The probability that a response is lost.
    pub response_loss: f64,
    /// PPDUs of more octets are preceded by RTS and CTS; none if there is no such number.
    pub rts_above: Option<u64>,
    /// Aggregates that stand ready in the hardware, that on the air included; with none one is built when the medium is
    /// won.
    pub hardware: u8,
    /// Packets in the queue of the driver, which has one for each receiver and takes turns; with none the queue above is
    /// asked for each aggregate.
    pub driver: u32,
    /// The order in which the driver serves its receivers.
    pub order: DriverOrder,
    /// What the driver and the hardware of the access point may hold in airtime; no limit if none is given.
    pub aql: Option<aql::Limits>,
}

impl Config {
    /// A channel of a band as Linux' ath9k with mac80211 has it: two aggregates in the hardware, no queue between it and
    /// the packets.
    pub fn of(band: Band) -> Config {
        Config {
            timing: Timing::of(band),
            rules: Rules::default(),
            access_point: Access::ACCESS_POINT,
            stations: Access::STATION,
            limits: Limits::ATH9K,
            window: 64,
            // dot11ShortRetryLimit (IEEE 802.11-2020, annex C).
            retries: 7,
            // dot11EDCATableMSDULifetime is 500 TU (9.4.2.28): 512 ms.
            lifetime: Span::from_millis(512),
            missed: Missed::Retransmit,
            response_loss: 0.0,
            rts_above: None,
            hardware: 2,
            driver: 0,
            order: DriverOrder::Turns,
            aql: None,
        }
    }

    /// How a queue contends.
    pub fn access(&self, queue: Queue) -> &Access {
        let of_node = if queue.node == ACCESS_POINT { &self.access_point } else { &self.stations };
        &of_node[queue.category as usize]
    }

    /// How large the aggregates of a queue become at a mode: with what protects it and its response it fits into a TXOP
    /// (TXOP limits in IEEE 802.11-2020, 10.23.2; ath9k's `ath_update_max_aggr_framelen()` bounds the PPDU alone).
    pub fn limits_of(&self, queue: Queue, mode: &Mode) -> Limits {
        let (limits, txop) = (self.limits.of(queue.category), self.access(queue).txop);
        if txop == Span::ZERO {
            return limits;
        }
        let exchange = |control| self.timing.control(mode, control) + self.timing.sifs;
        let mut around = exchange(Control::BlockAck(self.window));
        if self.rts_above.is_some() {
            around += exchange(Control::Rts) + exchange(Control::Cts);
        }
        Limits { time: limits.time.min(txop.saturating_sub(around)), ..limits }
    }

    /// Refuses what cannot be.
    ///
    /// # Errors
    /// If a part is out of range.
    pub fn check(&self) -> Result<(), InputError> {
        self.limits.check()?;
        self.access_point.iter().chain(&self.stations).try_for_each(Access::check)?;
        self.aql.iter().try_for_each(aql::Limits::check)?;
        if !(1..=1024).contains(&self.window) {
            return Err(InputError::field("window", self.window, "allowed is 1 to 1024"));
        }
        if !(0.0..1.0).contains(&self.response_loss) {
            let allowed = "allowed is 0 up to, but not, 1";
            return Err(InputError::field("response_loss", self.response_loss, allowed));
        }
        if self.lifetime == Span::ZERO {
            return Err(InputError::field("lifetime", self.lifetime, "it must be greater than zero"));
        }
        if self.hardware > 8 {
            return Err(InputError::field("hardware", self.hardware, "allowed is 0 to 8"));
        }
        Ok(())
    }
}

/// Whether this receiver is all that listen to multicast.
pub(super) fn is_group(stations: &[Station], to: u8) -> bool {
    stations.get(usize::from(to)).is_some_and(|station| station.is_group)
}
