//! Airtime queue limits: how much a device may hold for a station, in airtime as estimated when a packet is handed to it.
//!
//! Linux 6.1 net/mac80211: `ieee80211_txq_airtime_check()`, `ieee80211_calc_expected_tx_airtime()`.

use super::ampdu::MPDU_OVERHEAD;
use super::category::Category;
use super::rates::{Format, Mode};
use aqm_core::input_error::InputError;
use aqm_core::units::Span;

/// How much airtime may be pending in a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Below it a station always gets more.
    pub low: Span,
    /// Below it a station gets more while the device is below `device`.
    pub high: Span,
    /// Of all stations.
    pub device: Span,
}

impl Limits {
    /// IEEE80211_DEFAULT_AQL_TXQ_LIMIT_L, ..._H and IEEE80211_AQL_THRESHOLD.
    pub const LINUX: Limits =
        Limits { low: Span::from_millis(5), high: Span::from_millis(12), device: Span::from_millis(24) };

    /// Whether a station with `pending` airtime gets another packet while all have `total`.
    pub fn may_release(&self, pending: Span, total: Span) -> bool {
        pending < self.low || (total < self.device && pending < self.high)
    }

    /// Refuses a high limit below the low one, and limits that let nothing pass.
    ///
    /// # Errors
    /// If one of both.
    pub fn check(&self) -> Result<(), InputError> {
        if self.low == Span::ZERO {
            return Err(InputError::field("aql_low", self.low, "it must be greater than zero"));
        }
        if self.high < self.low {
            return Err(InputError::field(
                "aql_high",
                self.high,
                format!("it is below aql_low {}", self.low),
            ));
        }
        Ok(())
    }
}

/// The octets to whose time the steps of the estimate refer (AVG_PKT_SIZE).
const REFERENCE_OCTETS: u64 = 1024;

/// The airtime that is expected of an IP packet of `octets`: its time at the rate of the station, and a part of the
/// preamble, since aggregates are the larger the faster it is; voice is not aggregated. What is below the resolution of the kernel's field, 4 µs,
/// is cut off, and 16 ms is the most (`ieee80211_info_set_tx_time_est()`).
///
/// ```
/// use aqm_core::units::Span;
/// use aqm_path::mac::aql::estimate;
/// use aqm_path::mac::category::Category::{BestEffort, Voice};
/// // 1538 octets at 144.4 Mbit/s take 85.2 µs, and a preamble of 44 µs counts 1/32.
/// assert_eq!(estimate(&"ht-mcs15-400ns".parse()?, 1500, BestEffort), Span::from_micros(84));
/// assert_eq!(estimate(&"ht-mcs15-400ns".parse()?, 1500, Voice), Span::from_micros(128));
/// // At 7.2 Mbit/s they take 1703 µs, and half of 40.
/// assert_eq!(estimate(&"ht-mcs0-400ns".parse()?, 1500, BestEffort), Span::from_micros(1720));
/// # Ok::<(), aqm_core::input_error::InputError>(())
/// ```
pub fn estimate(mode: &Mode, octets: u32, category: Category) -> Span {
    let rate = mode.rate().as_bits_per_sec();
    let micros = |octets: u64| octets * 8 * 1_000_000 / rate;
    // The kernel adds the same number of octets as "Ethernet header length": it is the MPDU's overhead.
    let octets = u64::from(octets + MPDU_OVERHEAD);
    // The kernel has one length for the preambles of all formats that aggregate.
    let overhead = if mode.format().aggregates() {
        36 + 4 * u64::from(mode.streams())
    } else {
        mode.preamble().as_nanos() / 1_000
    };
    let part = match micros(REFERENCE_OCTETS) {
        // Legacy frames are never aggregated, and voice is not.
        _ if !mode.format().aggregates() || category == Category::Voice => 0,
        401.. => 1,
        251.. => 2,
        151.. => 3,
        71.. => 4,
        21.. => 5,
        _ if mode.format() != Format::He => 5,
        _ => 6,
    };
    let estimate = (micros(octets) + (overhead >> part)).clamp(4, 16_383);
    Span::from_micros(estimate / 4 * 4)
}

#[cfg(test)]
mod tests {
    use super::Category::BestEffort;
    use super::*;

    #[test]
    fn a_station_is_held_above_its_limits() {
        let millis = Span::from_millis;
        let may = |pending, total| Limits::LINUX.may_release(millis(pending), millis(total));
        // Below the low limit always, between both while the device has room.
        assert_eq!([may(0, 0), may(4, 100), may(5, 23), may(5, 24)], [true, true, true, false]);
        assert_eq!([may(11, 23), may(12, 12)], [true, false]);
    }

    #[test]
    fn the_preamble_counts_the_less_the_faster_the_rate() {
        // By hand: 1538 octets of 8 bits at the rate, cut to microseconds, and the preamble shifted by 1 to 6 bits.
        for (mode, expected) in [
            ("vht-mcs2", 630 + 20),        // 19.5 Mbit/s: 1024 octets take 420 µs; 40 >> 1
            ("vht-mcs3", 473 + 10),        // 26: 315; 40 >> 2
            ("vht-mcs5", 236 + 5),         // 52: 157; 40 >> 3
            ("vht-mcs5-2ss", 118 + 2),     // 104: 78; 44 >> 4
            ("vht-mcs7-2ss", 94 + 1),      // 130: 63; 44 >> 5
            ("he-mcs7-2ss-80mhz", 17 + 1), // 720.6: 11; 50 >> 6 is 0, 17.07
            ("ofdm-6", 2050 + 20),         // no aggregates: the preamble in full
        ] {
            let found = estimate(&mode.parse().unwrap(), 1500, BestEffort).as_nanos() / 1_000;
            let expected: u64 = expected;
            assert!(
                found <= expected && found + 4 > expected.saturating_sub(1),
                "{mode}: {found} {expected}"
            );
        }
        assert_eq!(estimate(&"dsss-1".parse().unwrap(), 3000, BestEffort), Span::from_micros(16_380));
        assert_eq!(estimate(&"he-mcs11-8ss-160mhz".parse().unwrap(), 40, BestEffort), Span::from_micros(4));
    }

    #[test]
    fn limits_that_let_nothing_pass_are_refused() {
        let line = |limits: Limits| limits.check().unwrap_err().to_string();
        assert!(Limits::LINUX.check().is_ok());
        assert_eq!(
            line(Limits { low: Span::ZERO, ..Limits::LINUX }),
            "aql_low is 0s: it must be greater than zero"
        );
        let high = Span::from_millis(4);
        assert_eq!(line(Limits { high, ..Limits::LINUX }), "aql_high is 4ms: it is below aql_low 5ms");
    }
}
