//! How long transmissions occupy the air: data, responses, and the gaps between them.

use super::rates::{Format, Mode};
use aqm_core::choices;
use aqm_core::units::Span;

choices! {
    /// The band, on which gaps between frames depend.
    pub enum Band {
        /// 5 and 6 GHz: SIFS 16 µs.
        Ghz5 = "5ghz",
        /// 2.4 GHz: SIFS 10 µs, and OFDM frames are followed by 6 µs without signal.
        Ghz2_4 = "2.4ghz",
    }
}

/// Frames without data (IEEE 802.11-2020, 9.3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// Request to send.
    Rts,
    /// Clear to send.
    Cts,
    /// Acknowledgment of one frame.
    Ack,
    /// Compressed block ack of a window of so many MPDUs.
    BlockAck(u16),
    /// Request for a block ack.
    BlockAckRequest,
}

/// What all stations of a channel share: slot, SIFS, and the rates at which responses are sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timing {
    /// The band.
    pub band: Band,
    /// The length of a slot: 9 µs, or 20 µs where 802.11b stations are around.
    pub slot: Span,
    /// The shortest gap, before a response.
    pub sifs: Span,
    /// The basic rates of the network, all of them DSSS or OFDM, the lowest first.
    pub basic: Vec<Mode>,
}

impl Band {
    /// SIFS (IEEE 802.11-2020, tables 17-21, 18-5 and 19-25).
    pub const fn sifs(self) -> Span {
        match self {
            Band::Ghz2_4 => Span::from_micros(10),
            Band::Ghz5 => Span::from_micros(16),
        }
    }

    /// The signal extension: at 2.4 GHz an OFDM receiver needs more time to decode than SIFS has (18.3.2.4).
    const fn extension(self, format: Format) -> Span {
        match (self, format) {
            (Band::Ghz5, _) | (_, Format::Dsss) => Span::ZERO,
            (Band::Ghz2_4, _) => Span::from_micros(6),
        }
    }
}

impl Control {
    /// Its length with FCS.
    pub const fn octets(self) -> u64 {
        match self {
            Control::Ack | Control::Cts => 14,
            Control::Rts => 20,
            Control::BlockAckRequest => 24,
            // 24 and a bitmap of 64 or 256 MPDUs (9.3.1.8.2; HE: table 9-30a).
            Control::BlockAck(window) if window <= 64 => 32,
            Control::BlockAck(_) => 56,
        }
    }
}

impl Timing {
    /// The times of a band, with short slots and the basic rates that Linux' and ns-3's access points have.
    pub fn of(band: Band) -> Timing {
        let basic = [6, 12, 24].map(|mbit| Mode::ofdm(mbit).expect("OFDM has these rates"));
        Timing { band, slot: Span::from_micros(9), sifs: band.sifs(), basic: basic.to_vec() }
    }

    /// How long a PPDU of `octets` takes: preamble, then whole symbols for 16 service bits, data and tail bits (17.3.2.4,
    /// 19.4.3, 21.4.3, 27.4.3).
    ///
    /// ```
    /// use aqm_path::mac::airtime::{Band, Timing};
    /// let timing = Timing::of(Band::Ghz5);
    /// // 20 µs + 4 µs x ceil((16 + 8 x 14 + 6) / 24 bits): an ACK at 6 Mbit/s.
    /// assert_eq!(timing.ppdu(&"ofdm-6".parse()?, 14).as_nanos(), 44_000);
    /// # Ok::<(), aqm_core::input_error::InputError>(())
    /// ```
    pub fn ppdu(&self, mode: &Mode, octets: u64) -> Span {
        let extension = self.band.extension(mode.format());
        mode.preamble() + self.data(mode, octets) + extension
    }

    /// The same without preamble and signal extension.
    fn data(&self, mode: &Mode, octets: u64) -> Span {
        if mode.format() == Format::Dsss {
            // Whole microseconds (16.3.4).
            let micros = (octets * 8 * 1_000_000).div_ceil(mode.rate().as_bits_per_sec());
            return Span::from_micros(micros);
        }
        let bits = 16 + 8 * octets + u64::from(mode.tail_bits());
        mode.symbol() * bits.div_ceil(u64::from(mode.data_bits()))
    }

    /// The most octets of a PPDU that takes at most `limit`; zero if not even one fits.
    pub fn octets_in(&self, mode: &Mode, limit: Span) -> u64 {
        let around = mode.preamble() + self.band.extension(mode.format());
        let room = limit.saturating_sub(around).as_nanos();
        if mode.format() == Format::Dsss {
            return room / 1_000 * mode.rate().as_bits_per_sec() / 8_000_000;
        }
        let bits = room / mode.symbol().as_nanos() * u64::from(mode.data_bits());
        bits.saturating_sub(16 + u64::from(mode.tail_bits())) / 8
    }

    /// The rate of the response to a frame sent at `mode`: the highest basic rate that is not above it, or above the
    /// non-HT rate of the same robustness (10.6.6.5.2); the lowest basic rate if none is.
    pub fn response_mode(&self, mode: &Mode) -> Mode {
        let (dsss, limit) = (mode.format() == Format::Dsss, mode.reference_kbit());
        let alike = |basic: &&Mode| (basic.format() == Format::Dsss) == dsss;
        let basic = self.basic.iter().filter(alike).filter(|basic| basic.reference_kbit() <= limit);
        *basic.max_by_key(|basic| basic.reference_kbit()).unwrap_or(&self.basic[0])
    }

    /// How long a control frame takes that answers a frame sent at `mode`, or that protects it or asks about it.
    pub fn control(&self, mode: &Mode, control: Control) -> Span {
        self.ppdu(&self.response_mode(mode), control.octets())
    }

    /// AIFS: SIFS and `aifsn` slots (10.23.2.4). DIFS is that of two.
    pub fn aifs(&self, aifsn: u8) -> Span {
        self.sifs + self.slot * u64::from(aifsn)
    }

    /// EIFS in place of AIFS, after a frame that could not be decoded: time for an ACK at the lowest basic rate that the
    /// sender of that frame may be getting (10.3.2.3.7 and 10.23.2.4).
    pub fn eifs(&self, aifsn: u8) -> Span {
        self.sifs + self.ppdu(&self.basic[0], Control::Ack.octets()) + self.aifs(aifsn)
    }

    /// How long a sender waits for a response after the end of its frame before it knows that none comes: SIFS, a slot,
    /// and the delay to the start of a preamble (10.3.2.9; aRxPHYStartDelay is 20 µs for OFDM, 192 for DSSS).
    pub fn response_timeout(&self, mode: &Mode) -> Span {
        self.sifs + self.slot + self.response_mode(mode).preamble()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn micros(span: Span) -> f64 {
        span.as_nanos() as f64 / 1e3
    }

    fn mode(text: &str) -> Mode {
        text.parse().unwrap()
    }

    #[test]
    fn airtimes_are_exact_to_the_symbol() {
        let timing = Timing::of(Band::Ghz5);
        for (text, octets, expected) in [
            // 16 + 12288 + 6 bits in 4 µs symbols of 216 bits: 57.
            ("ofdm-54", 1536, 20.0 + 57.0 * 4.0),
            // 12310 / 24 = 512.9.
            ("ofdm-6", 1536, 20.0 + 513.0 * 4.0),
            // 12374 / 520 = 23.8 symbols of 3.6 µs.
            ("ht-mcs15-400ns", 1544, 40.0 + 24.0 * 3.6),
            // 12374 / 26 = 475.9.
            ("ht-mcs0-400ns", 1544, 36.0 + 476.0 * 3.6),
            // 12374 / 117 = 105.8 symbols of 13.6 µs.
            ("he-mcs0", 1544, 43.2 + 106.0 * 13.6),
            // 12352 bits at 11 Mbit/s: 1122.9.
            ("dsss-11", 1544, 192.0 + 1123.0),
        ] {
            let off = micros(timing.ppdu(&mode(text), octets)) - expected;
            assert!(off.abs() < 1e-6, "{text}");
        }
        // 7 symbols of 24 bits hold 22 bits of service and tail and 18 octets, 8 symbols 21.
        let six = mode("ofdm-6");
        let ends = [18, 19, 21, 22].map(|octets| micros(timing.ppdu(&six, octets)));
        assert_eq!(ends, [48.0, 52.0, 52.0, 56.0]);
    }

    #[test]
    fn octets_in_is_the_inverse_of_ppdu() {
        for band in [Band::Ghz2_4, Band::Ghz5] {
            let timing = Timing::of(band);
            for text in ["dsss-1", "dsss-5.5", "ofdm-54", "ht-mcs15-400ns", "vht-mcs9-8ss-160mhz", "he-mcs0"]
            {
                for micros in [0, 30, 60, 250, 252, 1_000, 4_000, 5_484] {
                    let limit = Span::from_micros(micros);
                    let octets = timing.octets_in(&mode(text), limit);
                    assert!(octets == 0 || timing.ppdu(&mode(text), octets) <= limit, "{text} {micros}");
                    assert!(timing.ppdu(&mode(text), octets + 1) > limit, "{text} {micros}");
                }
            }
        }
    }

    #[test]
    fn responses_leave_at_a_basic_rate() {
        let timing = Timing::of(Band::Ghz5);
        let rates = ["ofdm-6", "ofdm-9", "ofdm-54", "ht-mcs0", "ht-mcs9", "vht-mcs8", "he-mcs11"];
        let responses = rates.map(|text| timing.response_mode(&mode(text)).to_string());
        assert_eq!(responses, ["ofdm-6", "ofdm-6", "ofdm-24", "ofdm-6", "ofdm-12", "ofdm-24", "ofdm-24"]);
        // ACK: 134 bits in symbols of 24, 48 and 96. Block ACK: 278 bits.
        let acks =
            ["ofdm-6", "ofdm-12", "ofdm-24"].map(|text| micros(timing.control(&mode(text), Control::Ack)));
        assert_eq!(acks, [44.0, 32.0, 28.0]);
        let block = |text, window| micros(timing.control(&mode(text), Control::BlockAck(window)));
        assert_eq!([block("ofdm-6", 64), block("ofdm-24", 64), block("ofdm-24", 256)], [68.0, 32.0, 40.0]);
        assert_eq!(micros(timing.control(&mode("ofdm-24"), Control::Rts)), 28.0);
    }

    #[test]
    fn a_slow_network_answers_dsss_with_dsss() {
        let basic = ["dsss-1", "dsss-2", "ofdm-6"].map(mode).to_vec();
        let timing = Timing { slot: Span::from_micros(20), basic, ..Timing::of(Band::Ghz2_4) };
        assert_eq!(timing.response_mode(&mode("dsss-11")).to_string(), "dsss-2");
        assert_eq!(timing.response_mode(&mode("ht-mcs7")).to_string(), "ofdm-6");
        // 192 + 14 x 8 µs at 1 Mbit/s.
        assert_eq!(micros(timing.control(&mode("dsss-1"), Control::Ack)), 304.0);
        // Signal extension: 44 + 6.
        assert_eq!(micros(timing.control(&mode("ofdm-6"), Control::Ack)), 50.0);
        assert_eq!(micros(timing.aifs(2)), 50.0);
    }

    #[test]
    fn gaps_are_those_of_the_band() {
        let timing = Timing::of(Band::Ghz5);
        // DIFS 34, AIFS of best effort 43; EIFS 16 + 44 + 34.
        assert_eq!([timing.aifs(2), timing.aifs(3), timing.eifs(2)].map(micros), [34.0, 43.0, 94.0]);
        assert_eq!(micros(Timing::of(Band::Ghz2_4).aifs(2)), 28.0);
        // SIFS 16, slot 9, preamble 20.
        assert_eq!(micros(timing.response_timeout(&mode("ofdm-54"))), 45.0);
    }
}
