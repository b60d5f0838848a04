//! What contends: a queue, and how soon and how long its category sends.

use crate::mac::category::Category;
use aqm_core::input_error::InputError;
use aqm_core::random::Random;
use aqm_core::units::{Span, Time};

/// How soon and how long a category sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Slots after SIFS.
    pub aifsn: u8,
    /// The smallest contention window: backoffs are drawn from 0 to it.
    pub cw_min: u16,
    /// The largest, after failures.
    pub cw_max: u16,
    /// How long it may send once it has the medium; zero allows one PPDU.
    pub txop: Span,
}

impl Access {
    const fn new(aifsn: u8, cw_min: u16, cw_max: u16, txop_micros: u64) -> Access {
        Access { aifsn, cw_min, cw_max, txop: Span::from_micros(txop_micros) }
    }

    /// The categories of a station, as hostapd announces them (`wmm_ac_*`) and Linux has them before
    /// (`ieee80211_set_wmm_default()`). IEEE 802.11-2020, table 9-155, has longer TXOPs: 4.096 ms and 2.080 ms.
    pub const STATION: [Access; 4] = [
        Access::new(7, 15, 1023, 0),
        Access::new(3, 15, 1023, 0),
        Access::new(2, 7, 15, 3_008),
        Access::new(2, 3, 7, 1_504),
    ];

    /// The categories of an access point, which answers many (hostapd's `tx_queue_data0` to 3).
    pub const ACCESS_POINT: [Access; 4] = [
        Access::new(7, 15, 1023, 0),
        Access::new(3, 15, 63, 0),
        Access::new(1, 7, 15, 3_000),
        Access::new(1, 3, 7, 1_500),
    ];

    /// DCF, as before EDCA (IEEE 802.11-2020, 10.3): DIFS is SIFS and two slots.
    pub const DCF: Access = Access::new(2, 15, 1023, 0);

    /// Refuses windows that are not powers of two less one, and an AIFS within which responses are sent.
    ///
    /// # Errors
    /// If one of both.
    pub fn check(&self) -> Result<(), InputError> {
        for (key, cw) in [("cw_min", self.cw_min), ("cw_max", self.cw_max)] {
            if !(u32::from(cw) + 1).is_power_of_two() || cw > 32_767 {
                let allowed = "a power of two less one, from 0 to 32767, is allowed";
                return Err(InputError::field(key, cw, allowed));
            }
        }
        if self.cw_min > self.cw_max {
            return Err(InputError::field(
                "cw_min",
                self.cw_min,
                format!("it is above cw_max {}", self.cw_max),
            ));
        }
        if self.aifsn == 0 || self.aifsn > 15 {
            return Err(InputError::field("aifsn", self.aifsn, "allowed is 1 to 15"));
        }
        Ok(())
    }
}

/// A queue that contends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Contender {
    pub(super) node: u16,
    pub(super) category: Category,
    pub(super) access: Access,
    pub(super) cw: u16,
    /// Slots that were left at `from`; none if its backoff is over and it has had nothing to send.
    pub(super) backoff: Option<u32>,
    /// The end of its AIFS or EIFS in the current idle time.
    pub(super) from: Time,
    /// Since when it has something to send.
    pub(super) ready: Option<Time>,
    /// When it starts if nobody does before.
    pub(super) start: Time,
}

impl Contender {
    /// The start, on the grid of slots that begins at `from`.
    pub(super) fn start(&self, slot: Span) -> Time {
        let Some(ready) = self.ready else { return Time::MAX };
        let passed = ready.since(self.from).as_nanos().div_ceil(slot.as_nanos());
        self.from + slot * passed.max(u64::from(self.backoff.unwrap_or(0)))
    }

    pub(super) fn draw(&mut self, random: &mut Random) {
        self.backoff = Some(random.below(u64::from(self.cw) + 1) as u32);
    }
}
