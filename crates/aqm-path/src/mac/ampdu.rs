//! Aggregation of MPDUs into one PPDU (IEEE 802.11-2020, 9.7 and 10.12).

use super::airtime::{Control, Timing};
use super::category::Category;
use super::rates::{Format, Mode};
use aqm_core::input_error::InputError;
use aqm_core::units::Span;

/// Octets before and behind the IP packet in an MPDU: QoS data header 26, LLC and SNAP 8, FCS 4.
pub const MPDU_OVERHEAD: u32 = 26 + 8 + 4;

/// The same without QoS, as 802.11a/b/g stations send: header 24, LLC and SNAP 8, FCS 4.
pub const LEGACY_OVERHEAD: u32 = 24 + 8 + 4;

/// Octets before each MPDU of an aggregate.
pub const DELIMITER: u32 = 4;

/// The longest PPDU (aPPDUMaxTime, IEEE 802.11-2020, tables 19-25 and 21-29), rounded to microseconds.
pub const LONGEST_PPDU: Span = Span::from_micros(5_484);

/// The octets that an MPDU takes in an aggregate: with its delimiter, padded to a multiple of four.
pub const fn subframe_octets(mpdu: u32) -> u32 {
    (DELIMITER + mpdu).next_multiple_of(4)
}

/// How large aggregates may become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// MPDUs of an aggregate; one switches aggregation off.
    pub mpdus: u16,
    /// Octets of an aggregate, delimiters and padding included, beside what its format allows.
    pub octets: u32,
    /// The time of an aggregate.
    pub time: Span,
    /// Octets that encryption adds to an MPDU: 16 with CCMP, 0 without.
    pub cipher: u16,
}

/// The most MPDUs of an aggregate: the window of a block ACK agreement.
const MPDUS: [(Format, u16); 3] = [(Format::Ht, 64), (Format::Vht, 64), (Format::He, 256)];

impl Limits {
    /// Linux' ath9k: 64 MPDUs, 65535 octets, 4 ms (`ath_lookup_rate()`).
    pub const ATH9K: Limits = Limits { mpdus: 64, octets: 65_535, time: Span::from_millis(4), cipher: 0 };

    /// No aggregation.
    pub const NONE: Limits = Limits { mpdus: 1, octets: 65_535, time: LONGEST_PPDU, cipher: 0 };

    /// Refuses what no format has.
    ///
    /// # Errors
    /// If there are no MPDUs or more than 256, or if the time is longer than [`LONGEST_PPDU`] or zero.
    pub fn check(&self) -> Result<(), InputError> {
        if !(1..=256).contains(&self.mpdus) {
            return Err(InputError::field("aggregate_mpdus", self.mpdus, "allowed is 1 to 256"));
        }
        if self.time == Span::ZERO || self.time > LONGEST_PPDU {
            return Err(InputError::field(
                "aggregate_time",
                self.time,
                "allowed is more than 0 and up to 5484us",
            ));
        }
        Ok(())
    }

    /// The most MPDUs at this mode.
    pub fn mpdus_at(&self, mode: &Mode) -> u16 {
        let of_format =
            MPDUS.iter().find(|(format, _)| *format == mode.format()).map_or(1, |(_, mpdus)| *mpdus);
        of_format.min(self.mpdus)
    }

    /// Those of an access category: voice has no block ACK agreement, and so no aggregates (Linux
    /// `minstrel_aggr_check()`; ns-3, whose `VO_MaxAmpduSize` is 0).
    #[must_use]
    pub fn of(self, category: Category) -> Limits {
        Limits { mpdus: if category == Category::Voice { 1 } else { self.mpdus }, ..self }
    }

    /// The octets of the MPDU that carries an IP packet.
    pub fn mpdu_octets(&self, mode: &Mode, packet: u32) -> u32 {
        let overhead = if mode.format().aggregates() { MPDU_OVERHEAD } else { LEGACY_OVERHEAD };
        packet + overhead + u32::from(self.cipher)
    }

    fn octets_at(&self, mode: &Mode) -> u64 {
        // aPSDUMaxLength of HT, VHT and HE.
        let of_format: u64 = match mode.format() {
            Format::Vht => 1_048_575,
            Format::He => 6_500_631,
            _ => 65_535,
        };
        of_format.min(u64::from(self.octets))
    }
}

/// An aggregate that is being built: it holds numbers, not the MPDUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aggregate {
    mode: Mode,
    mpdus: u16,
    most_mpdus: u16,
    /// Octets of all, each padded.
    octets: u64,
    most_octets: u64,
    /// Octets of the first alone.
    single: u32,
}

impl Aggregate {
    /// An empty one, sent at `mode`.
    ///
    /// ```
    /// use aqm_core::units::Span;
    /// use aqm_path::mac::airtime::{Band, Timing};
    /// use aqm_path::mac::ampdu::{Aggregate, Limits};
    /// let (timing, limits) = (Timing::of(Band::Ghz5), Limits::ATH9K);
    /// let mode = "ht-mcs0-400ns".parse()?;
    /// let mut aggregate = Aggregate::new(&timing, &mode, &limits);
    /// while aggregate.push(limits.mpdu_octets(&mode, 1500)) {}
    /// // Two MPDUs of 1538 octets in 4 ms at 7.2 Mbit/s.
    /// assert_eq!((aggregate.mpdus(), aggregate.octets()), (2, 2 * 1544));
    /// assert!(aggregate.airtime(&timing) <= Span::from_millis(4));
    /// # Ok::<(), aqm_core::input_error::InputError>(())
    /// ```
    pub fn new(timing: &Timing, mode: &Mode, limits: &Limits) -> Aggregate {
        Aggregate {
            mode: *mode,
            mpdus: 0,
            most_mpdus: limits.mpdus_at(mode),
            octets: 0,
            most_octets: limits.octets_at(mode).min(timing.octets_in(mode, limits.time)),
            single: 0,
        }
    }

    /// The same without MPDUs.
    pub fn emptied(&self) -> Aggregate {
        Aggregate { mpdus: 0, octets: 0, single: 0, ..*self }
    }

    /// Takes an MPDU, unless it is full. The first one fits however long it takes: it is sent alone.
    pub fn push(&mut self, mpdu: u32) -> bool {
        let octets = self.octets + u64::from(subframe_octets(mpdu));
        if self.mpdus > 0 && (self.mpdus >= self.most_mpdus || octets > self.most_octets) {
            return false;
        }
        if self.mpdus == 0 {
            self.single = mpdu;
        }
        self.mpdus += 1;
        self.octets = octets;
        true
    }

    /// Whether no MPDU of `mpdu` octets fits any more.
    pub fn is_full_for(&self, mpdu: u32) -> bool {
        !Aggregate::push(&mut { *self }, mpdu)
    }

    /// The mode at which it is sent.
    pub fn mode(&self) -> &Mode {
        &self.mode
    }

    /// MPDUs in it.
    pub fn mpdus(&self) -> u16 {
        self.mpdus
    }

    /// Octets of the PPDU: an MPDU alone has neither delimiter nor padding, but in VHT and HE, which have no other PPDUs.
    pub fn octets(&self) -> u64 {
        let delimited = self.mpdus > 1 || self.mode.format() >= Format::Vht;
        if delimited { self.octets } else { u64::from(self.single) }
    }

    /// How long its PPDU takes.
    pub fn airtime(&self, timing: &Timing) -> Span {
        timing.ppdu(&self.mode, self.octets())
    }

    /// What answers it: an ACK for one MPDU, a block ACK for more.
    pub fn response(&self) -> Control {
        if self.mpdus == 1 { Control::Ack } else { Control::BlockAck(self.most_mpdus) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mac::airtime::Band;

    fn mode(text: &str) -> Mode {
        text.parse().unwrap()
    }

    fn filled(text: &str, limits: Limits, packet: u32) -> Aggregate {
        let (timing, mode) = (Timing::of(Band::Ghz5), mode(text));
        let mut aggregate = Aggregate::new(&timing, &mode, &limits);
        let mpdu = limits.mpdu_octets(&mode, packet);
        while aggregate.push(mpdu) {
            assert!(aggregate.mpdus() <= 256);
        }
        aggregate
    }

    #[test]
    fn octets_count_and_time_limit_an_aggregate() {
        let limits = Limits::ATH9K;
        // 65535 / 1544 = 42.4; 4 ms at 144.4 Mbit/s hold 71 000 octets.
        assert_eq!(filled("ht-mcs15-400ns", limits, 1500).mpdus(), 42);
        assert_eq!(filled("ht-mcs15-400ns", limits, 100).mpdus(), 64);
        assert_eq!(filled("he-mcs11", Limits { mpdus: 256, ..limits }, 100).mpdus(), 256);
        // 4 ms less 40 us at 39 Mbit/s: 19 299 octets, twelve of 1544.
        assert_eq!(filled("ht-mcs10", limits, 1500).mpdus(), 12);
        assert_eq!(filled("ht-mcs15-400ns", Limits { octets: 8_000, ..limits }, 1500).mpdus(), 5);
        assert_eq!(filled("ht-mcs15-400ns", Limits::NONE, 1500).mpdus(), 1);
        // No aggregates of OFDM; one MPDU may take longer than the limit.
        assert_eq!(filled("ofdm-54", limits, 1500).mpdus(), 1);
        assert_eq!(filled("dsss-1", limits, 1500).mpdus(), 1);
        // More octets than HT has.
        let wide = Limits { octets: 1_048_575, ..limits };
        assert_eq!(filled("vht-mcs9-80mhz-400ns", wide, 1500).mpdus(), 64);
    }

    #[test]
    fn an_mpdu_alone_has_a_delimiter_only_in_vht_and_he() {
        let octets = |text| filled(text, Limits::NONE, 1500).octets();
        assert_eq!(["ofdm-54", "ht-mcs7", "vht-mcs7", "he-mcs7"].map(octets), [1536, 1538, 1544, 1544]);
        assert_eq!(filled("he-mcs7", Limits::NONE, 1500).response(), Control::Ack);
        assert_eq!(filled("ht-mcs7", Limits::ATH9K, 1500).response(), Control::BlockAck(64));
    }

    #[test]
    fn limits_that_no_format_has_are_refused() {
        let line = |limits: Limits| limits.check().unwrap_err().to_string();
        let limits = Limits::ATH9K;
        assert!(limits.check().is_ok());
        assert_eq!(line(Limits { mpdus: 0, ..limits }), "aggregate_mpdus is 0: allowed is 1 to 256");
        assert_eq!(
            line(Limits { time: Span::from_millis(6), ..limits }),
            "aggregate_time is 6ms: allowed is more than 0 and up to 5484us"
        );
    }

    /// The analytical model of Høiland-Jørgensen et al., "Ending the Anomaly", USENIX ATC 2017, section 2.2, for
    /// aggregates of `octets` at `mode`: the time of the data, and the rate alone in Mbit/s.
    fn model(octets: f64, mode: &Mode) -> (f64, f64) {
        let rate = mode.rate().as_bits_per_sec() as f64 / 1e6;
        let packets = octets / f64::from(subframe_octets(Limits::ATH9K.mpdu_octets(mode, 1500)));
        let data = 32.0 + 8.0 * octets / rate;
        let (difs, sifs, backoff) = (34.0, 16.0, 9.0 * 15.0 / 2.0);
        let overhead = difs + sifs + (sifs + 8.0 * 58.0 / rate) + backoff;
        (data, 8.0 * packets * 1500.0 / (data + overhead))
    }

    #[test]
    fn ending_the_anomaly_has_these_base_rates_and_shares() {
        let (fast, slow) = (mode("ht-mcs15-400ns"), mode("ht-mcs0-400ns"));
        let rows = [(6892.0, fast), (7833.0, fast), (2914.0, slow), (28434.0, fast), (28557.0, fast)];
        let modelled = rows.map(|(octets, mode)| model(octets, &mode));
        for ((_, rate), printed) in modelled.iter().zip([97.3, 101.1, 6.5, 126.7, 126.8]) {
            assert!((rate - printed).abs() < 0.2, "{rate} {printed}");
        }
        // In a FIFO each has an aggregate in turn: the slow one's takes most of the time.
        let total: f64 = modelled[..3].iter().map(|(data, _)| data).sum();
        let shares = [0, 1, 2].map(|row| 100.0 * modelled[row].0 / total);
        for (share, printed) in shares.iter().zip([10.0, 11.0, 79.0]) {
            assert!((share - printed).abs() < 1.0, "{share} {printed}");
        }
        let expected = |share: f64, row: usize| share * modelled[row].1;
        let fifo: f64 = (0..3).map(|row| expected(shares[row] / 100.0, row)).sum();
        let fair: f64 = [3, 4, 2].map(|row| expected(1.0 / 3.0, row)).iter().sum();
        assert!((fifo - 26.4).abs() < 0.2 && (fair - 86.8).abs() < 0.2, "{fifo} {fair}");
    }

    #[test]
    fn the_model_is_within_a_tenth_of_the_exact_airtime() {
        // It has no training fields, no symbols, and responses at the rate of the data.
        let timing = Timing::of(Band::Ghz5);
        for (text, mpdus) in [("ht-mcs15-400ns", 18), ("ht-mcs0-400ns", 2)] {
            let limits = Limits { mpdus, ..Limits::ATH9K };
            let aggregate = filled(text, limits, 1500);
            let exact = aggregate.airtime(&timing)
                + timing.sifs
                + timing.control(aggregate.mode(), aggregate.response())
                + timing.aifs(2)
                + Span::from_nanos(67_500);
            let rate = f64::from(mpdus) * 12_000.0 / (exact.as_nanos() as f64 / 1e3);
            let (_, modelled) = model(aggregate.octets() as f64, aggregate.mode());
            assert!((rate / modelled - 1.0).abs() < 0.1, "{rate} {modelled}");
        }
    }
}
