//! The rates of a station: how many data bits a symbol carries, how long it lasts, and what precedes it.
//!
//! Data bits per symbol are subcarriers x coded bits x code rate x streams, rounded down, as the rate tables of IEEE
//! 802.11-2020 (17.3.2, 19.5, 21.5) and 802.11ax-2021 (27.5) have them.

use aqm_core::input_error::InputError;
use aqm_core::units::{Rate, Span};
use std::fmt;
use std::str::FromStr;

/// The format of a frame's PPDU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Format {
    /// 802.11b (clauses 15, 16): 1, 2, 5.5 and 11 Mbit/s.
    Dsss,
    /// 802.11a/g (clause 17): 6 to 54 Mbit/s; also the format of control responses.
    Ofdm,
    /// 802.11n (clause 19), mixed format.
    Ht,
    /// 802.11ac (clause 21).
    Vht,
    /// 802.11ax (clause 27), single user.
    He,
}

/// A rate: format, modulation, width, streams and guard interval that exist together.
///
/// ```
/// use aqm_path::mac::rates::Mode;
/// let mode: Mode = "ht-mcs15-400ns".parse()?;
/// assert_eq!((mode.data_bits(), mode.rate().as_bits_per_sec()), (520, 144_444_444));
/// let error = "vht-mcs9-20mhz".parse::<Mode>().unwrap_err();
/// assert_eq!(error.to_string(), "'vht-mcs9-20mhz' has an MCS that VHT does not have at 20 MHz with 1 stream");
/// # Ok::<(), aqm_core::input_error::InputError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mode {
    format: Format,
    /// The index of the modulation in [`MODULATIONS`]; of DSSS and OFDM in their own tables.
    index: u8,
    streams: u8,
    width_mhz: u16,
    guard: Span,
    data_bits: u32,
}

/// Coded bits of a subcarrier, code rate, and the non-HT reference rate in Mbit/s (IEEE 802.11-2020, table 10-10), by
/// MCS of one stream.
const MODULATIONS: [(u32, (u32, u32), u32); 12] = [
    (1, (1, 2), 6),
    (2, (1, 2), 12),
    (2, (3, 4), 18),
    (4, (1, 2), 24),
    (4, (3, 4), 36),
    (6, (2, 3), 48),
    (6, (3, 4), 54),
    (6, (5, 6), 54),
    (8, (3, 4), 54),
    (8, (5, 6), 54),
    (10, (3, 4), 54),
    (10, (5, 6), 54),
];

/// Rates of OFDM in Mbit/s: 4 µs symbols, so that a symbol carries four times as many bits.
const OFDM: [u32; 8] = [6, 9, 12, 18, 24, 36, 48, 54];

/// Rates of DSSS and CCK in kbit/s.
const DSSS: [u32; 4] = [1_000, 2_000, 5_500, 11_000];

/// Long training fields by number of streams (IEEE 802.11-2020, table 21-13).
const TRAINING_FIELDS: [u64; 8] = [1, 2, 4, 4, 6, 6, 8, 8];

/// Guard intervals: 0.4 and 0.8 µs of HT and VHT; 0.8, 1.6 and 3.2 µs of HE.
const GUARDS: [(Format, &[u64]); 3] =
    [(Format::Ht, &[800, 400]), (Format::Vht, &[800, 400]), (Format::He, &[800, 1600, 3200])];

impl Format {
    /// The formats by the word of the notation.
    const WORDS: [(&'static str, Format); 5] = [
        ("dsss", Format::Dsss),
        ("ofdm", Format::Ofdm),
        ("ht", Format::Ht),
        ("vht", Format::Vht),
        ("he", Format::He),
    ];

    fn word(self) -> &'static str {
        Format::WORDS[self as usize].0
    }

    /// Whether frames may be aggregated (A-MPDU).
    pub fn aggregates(self) -> bool {
        self >= Format::Ht
    }

    fn modulations(self) -> usize {
        match self {
            Format::He => 12,
            Format::Vht => 10,
            _ => 8,
        }
    }

    /// Data subcarriers at a width, if the format has it.
    fn subcarriers(self, width_mhz: u16) -> Option<u32> {
        match (self, width_mhz) {
            (Format::Ht | Format::Vht, 20) => Some(52),
            (Format::Ht | Format::Vht, 40) => Some(108),
            (Format::Vht, 80) => Some(234),
            (Format::Vht, 160) => Some(468),
            (Format::He, 20) => Some(234),
            (Format::He, 40) => Some(468),
            (Format::He, 80) => Some(980),
            (Format::He, 160) => Some(1960),
            _ => None,
        }
    }

    fn guards(self) -> &'static [u64] {
        GUARDS.iter().find(|(format, _)| *format == self).map_or(&[], |(_, guards)| guards)
    }
}

/// What VHT leaves out, since its interleaver has no whole number of bits there (IEEE 802.11-2020, 21.5).
fn vht_lacks(index: u8, width_mhz: u16, streams: u8) -> bool {
    match (width_mhz, index) {
        (20, 9) => !matches!(streams, 3 | 6),
        (80, 6) => matches!(streams, 3 | 7),
        (80, 9) => streams == 6,
        (160, 9) => streams == 3,
        _ => false,
    }
}

impl Mode {
    /// A rate of DSSS or CCK: 1000, 2000, 5500 or 11000 kbit/s.
    ///
    /// # Errors
    /// If there is no such rate.
    pub fn dsss(kbit: u32) -> Result<Mode, InputError> {
        let index = DSSS.iter().position(|rate| *rate == kbit);
        let index = index.ok_or_else(|| {
            InputError::not_one_of(&format!("{}", f64::from(kbit) / 1e3), ["1", "2", "5.5", "11"].into_iter())
        })?;
        Ok(Mode::legacy(Format::Dsss, index, 0))
    }

    /// A rate of OFDM in Mbit/s: 6, 9, 12, 18, 24, 36, 48 or 54.
    ///
    /// # Errors
    /// If there is no such rate.
    pub fn ofdm(mbit: u32) -> Result<Mode, InputError> {
        let words = ["6", "9", "12", "18", "24", "36", "48", "54"].into_iter();
        let index = OFDM.iter().position(|rate| *rate == mbit);
        let index = index.ok_or_else(|| InputError::not_one_of(&mbit.to_string(), words))?;
        Ok(Mode::legacy(Format::Ofdm, index, OFDM[index] * 4))
    }

    const fn legacy(format: Format, index: usize, data_bits: u32) -> Mode {
        let guard = Span::from_nanos(800);
        Mode { format, index: index as u8, streams: 1, width_mhz: 20, guard, data_bits }
    }

    /// A rate of HT, VHT or HE. HT's MCS counts on over its streams (15 is modulation 7 with two streams), and must
    /// agree with `streams` if that is given.
    ///
    /// # Errors
    /// If the format has no such MCS, width, number of streams or guard interval, or not together.
    pub fn mcs(
        format: Format,
        mcs: u8,
        width_mhz: u16,
        streams: Option<u8>,
        guard: Span,
    ) -> Result<Mode, InputError> {
        let name = format.word().to_uppercase();
        let refuse = |key: &str, value: String, allowed: String| {
            Err(InputError::field(key, &value, format!("{name} has {allowed}")).allowing([allowed]))
        };
        if !format.aggregates() {
            return Err(InputError::new(format!("{name} has no MCS: it has rates")));
        }
        let (index, counted) = if format == Format::Ht { (mcs % 8, mcs / 8 + 1) } else { (mcs, 1) };
        let top = if format == Format::Ht { 31 } else { format.modulations() - 1 };
        if usize::from(mcs) > top {
            return refuse("mcs", mcs.to_string(), format!("0 to {top}"));
        }
        let chosen = streams.unwrap_or(counted);
        if format == Format::Ht && chosen != counted {
            return refuse("streams", chosen.to_string(), format!("{counted} at MCS {mcs}"));
        }
        if !(1..=8).contains(&chosen) {
            return refuse("streams", chosen.to_string(), "1 to 8".to_owned());
        }
        let Some(subcarriers) = format.subcarriers(width_mhz) else {
            let widths = if format == Format::Ht { "20 and 40 MHz" } else { "20, 40, 80 and 160 MHz" };
            return refuse("width", format!("{width_mhz} MHz"), widths.to_owned());
        };
        if !format.guards().contains(&guard.as_nanos()) {
            let known = if format == Format::He { "800, 1600 and 3200 ns" } else { "400 and 800 ns" };
            return refuse("guard", format!("{} ns", guard.as_nanos()), known.to_owned());
        }
        if format == Format::Vht && vht_lacks(index, width_mhz, chosen) {
            let plural = if chosen == 1 { "" } else { "s" };
            let place = format!("at {width_mhz} MHz with {chosen} stream{plural}");
            let problem = format!("has an MCS that VHT does not have {place}");
            return Err(InputError::value(&format!("vht-mcs{mcs}-{width_mhz}mhz"), problem));
        }
        let (bits, (numerator, denominator), _) = MODULATIONS[usize::from(index)];
        let data_bits = subcarriers * bits * u32::from(chosen) * numerator / denominator;
        Ok(Mode { format, index, streams: chosen, width_mhz, guard, data_bits })
    }

    /// The format.
    pub fn format(&self) -> Format {
        self.format
    }

    /// The modulation: the MCS of one stream, for tables of success by MCS. OFDM's and DSSS's is that of the nearest
    /// robustness.
    pub fn modulation(&self) -> usize {
        match self.format {
            Format::Dsss => 0,
            Format::Ofdm => {
                let rate = OFDM[usize::from(self.index)];
                MODULATIONS[..7].iter().rposition(|(.., reference)| *reference <= rate).unwrap_or(0)
            }
            _ => usize::from(self.index),
        }
    }

    /// Data bits of a symbol; zero for DSSS, which has none.
    pub fn data_bits(&self) -> u32 {
        self.data_bits
    }

    /// The length of a symbol with its guard interval.
    pub fn symbol(&self) -> Span {
        match self.format {
            Format::Dsss => Span::from_micros(1),
            Format::Ofdm => Span::from_micros(4),
            Format::Ht | Format::Vht => Span::from_nanos(3_200) + self.guard,
            Format::He => Span::from_nanos(12_800) + self.guard,
        }
    }

    /// The rate at which data passes while it does: without preamble and padding, rounded down to bits.
    pub fn rate(&self) -> Rate {
        match self.format {
            Format::Dsss => Rate::from_bits_per_sec(u64::from(DSSS[usize::from(self.index)]) * 1_000),
            _ => {
                Rate::from_bits_per_sec(u64::from(self.data_bits) * 1_000_000_000 / self.symbol().as_nanos())
            }
        }
    }

    /// Preamble and header before the data.
    pub fn preamble(&self) -> Span {
        let training = TRAINING_FIELDS[usize::from(self.streams - 1)];
        match self.format {
            // Long preamble and PLCP header: 144 + 48 bits at 1 Mbit/s (15.2.3). The short one is not used: every
            // receiver understands the long one.
            Format::Dsss => Span::from_micros(192),
            // Training 16 µs and SIGNAL 4 µs (17.3.3).
            Format::Ofdm => Span::from_micros(20),
            // The same, HT-SIG 8, HT-STF 4, and 4 for each training field (19.3.9).
            Format::Ht => Span::from_micros(32 + 4 * training),
            // The same, VHT-SIG-A 8, VHT-STF 4, VHT-SIG-B 4, and 4 for each training field (21.3.8).
            Format::Vht => Span::from_micros(36 + 4 * training),
            // RL-SIG 4, HE-SIG-A 8, HE-STF 4; training fields at 2x with guards to 1.6 µs, at 4x with 3.2 (27.3.11).
            Format::He => {
                let field = if self.guard.as_nanos() == 3_200 { 12_800 } else { 6_400 };
                Span::from_micros(36) + (Span::from_nanos(field) + self.guard) * training
            }
        }
    }

    /// Spatial streams.
    pub(super) fn streams(&self) -> u8 {
        self.streams
    }

    /// Tail bits that close the convolutional code: six for each encoder. HT has a second encoder above 300 Mbit/s, VHT
    /// one more for each 600 Mbit/s at the short guard interval (20.3.11.4, 21.5), which is right but for a few modes of
    /// seven and eight streams. HE's LDPC has none; six stand for its stuffing, as in ns-3.
    pub(super) fn tail_bits(&self) -> u32 {
        let encoders = match self.format {
            Format::Ht => self.data_bits.div_ceil(1_080),
            Format::Vht => self.data_bits.div_ceil(2_160),
            _ => 1,
        };
        6 * encoders
    }

    /// The non-HT rate in kbit/s whose robustness a response may assume (IEEE 802.11-2020, 10.6.11).
    pub(super) fn reference_kbit(&self) -> u32 {
        match self.format {
            Format::Dsss => DSSS[usize::from(self.index)],
            Format::Ofdm => OFDM[usize::from(self.index)] * 1_000,
            _ => MODULATIONS[usize::from(self.index)].2 * 1_000,
        }
    }
}

impl fmt::Display for Mode {
    /// Writes what [`Mode::from_str`] reads, defaults left out.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = self.format.word();
        match self.format {
            Format::Dsss => write!(f, "{word}-{}", f64::from(DSSS[usize::from(self.index)]) / 1e3),
            Format::Ofdm => write!(f, "{word}-{}", OFDM[usize::from(self.index)]),
            _ => {
                let of_streams = if self.format == Format::Ht { 8 * (self.streams - 1) } else { 0 };
                write!(f, "{word}-mcs{}", self.index + of_streams)?;
                if self.format != Format::Ht && self.streams != 1 {
                    write!(f, "-{}ss", self.streams)?;
                }
                if self.width_mhz != 20 {
                    write!(f, "-{}mhz", self.width_mhz)?;
                }
                if self.guard.as_nanos() != 800 {
                    write!(f, "-{}ns", self.guard.as_nanos())?;
                }
                Ok(())
            }
        }
    }
}

impl FromStr for Mode {
    type Err = InputError;

    /// Reads `dsss-11`, `ofdm-54`, `ht-mcs15-400ns`, `vht-mcs8-2ss-80mhz` or `he-mcs11-160mhz-1600ns`: a width of 20 MHz,
    /// one stream and a guard interval of 800 ns unless they are written.
    fn from_str(text: &str) -> Result<Mode, InputError> {
        const FORM: &str = "is no rate: write one as ofdm-54, ht-mcs15-400ns or vht-mcs8-2ss-80mhz";
        let bad = || InputError::value(text, FORM);
        let (word, rest) = text.split_once('-').ok_or_else(bad)?;
        let words = Format::WORDS.iter().map(|(word, _)| *word);
        let format = Format::WORDS.iter().find(|(known, _)| *known == word);
        let (_, format) = *format.ok_or_else(|| InputError::unknown("format", word, words))?;
        match format {
            Format::Dsss => {
                let mbit: f64 = rest.parse().map_err(|_| bad())?;
                Mode::dsss((mbit * 1e3) as u32).map_err(|error| error.within(format!("'{text}'")))
            }
            Format::Ofdm => Mode::ofdm(rest.parse().map_err(|_| bad())?)
                .map_err(|error| error.within(format!("'{text}'"))),
            _ => {
                let mut parts = rest.split('-');
                let mcs = parts.next().and_then(|part| part.strip_prefix("mcs"));
                let mcs: u8 = mcs.and_then(|number| number.parse().ok()).ok_or_else(bad)?;
                let (mut width, mut streams, mut guard) = (None, None, None);
                for part in parts {
                    let read =
                        |unit: &str| part.strip_suffix(unit).and_then(|number| number.parse::<u32>().ok());
                    let (slot, number) = match (read("ss"), read("mhz"), read("ns")) {
                        (Some(number), ..) => (&mut streams, number),
                        (_, Some(number), _) => (&mut width, number),
                        (.., Some(number)) => (&mut guard, number),
                        _ => return Err(bad()),
                    };
                    if slot.replace(number).is_some() {
                        return Err(bad());
                    }
                }
                let width = u16::try_from(width.unwrap_or(20)).map_err(|_| bad())?;
                let streams = streams.map(u8::try_from).transpose().map_err(|_| bad())?;
                let guard = Span::from_nanos(u64::from(guard.unwrap_or(800)));
                Mode::mcs(format, mcs, width, streams, guard).map_err(|error| {
                    let lacks = error.value.starts_with("vht");
                    if lacks { error } else { error.within(format!("'{text}'")) }
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mbit(text: &str) -> f64 {
        let mode: Mode = text.parse().unwrap();
        mode.rate().as_bits_per_sec() as f64 / 1e6
    }

    #[test]
    fn rates_are_those_of_the_standards_tables() {
        // IEEE 802.11-2020, tables 19-27 to 19-38 and 21-30 to 21-61; 802.11ax-2021, 27.5.
        for (text, rate) in [
            ("dsss-5.5", 5.5),
            ("ofdm-54", 54.0),
            ("ht-mcs0-400ns", 7.222),
            ("ht-mcs11", 52.0),
            ("ht-mcs15-400ns", 144.444),
            ("ht-mcs31-40mhz-400ns", 600.0),
            ("vht-mcs8", 78.0),
            ("vht-mcs9-3ss", 288.9 * 0.9),
            ("vht-mcs9-80mhz-400ns", 433.333),
            ("vht-mcs9-8ss-160mhz-400ns", 6_933.333),
            ("he-mcs0", 8.602),
            ("he-mcs11", 143.382),
            ("he-mcs11-2ss-80mhz", 1_200.955),
            ("he-mcs11-8ss-160mhz", 9_607.794),
            ("he-mcs0-3200ns", 7.3125),
        ] {
            assert!((mbit(text) - rate).abs() < 0.02, "{text}: {} Mbit/s", mbit(text));
        }
    }

    #[test]
    fn bits_of_a_symbol_follow_width_and_mcs() {
        let bits = |width: u16, mcs: u8, streams| {
            Mode::mcs(Format::Vht, mcs, width, Some(streams), Span::from_nanos(800)).unwrap().data_bits()
        };
        assert_eq!(
            [0, 1, 2, 3, 4, 5, 6, 7, 8].map(|mcs| bits(20, mcs, 1)),
            [26, 52, 78, 104, 156, 208, 234, 260, 312]
        );
        assert_eq!([bits(40, 0, 1), bits(40, 9, 1)], [54, 720]);
        assert_eq!([bits(80, 0, 1), bits(80, 9, 1)], [117, 1560]);
        assert_eq!([bits(160, 0, 1), bits(160, 9, 1)], [234, 3120]);
    }

    #[test]
    fn what_does_not_exist_is_refused_in_one_line() {
        for (text, line) in [
            ("vht-mcs9-20mhz", "'vht-mcs9-20mhz' has an MCS that VHT does not have at 20 MHz with 1 stream"),
            ("vht-mcs10", "'vht-mcs10': mcs is 10: VHT has 0 to 9"),
            ("ht-mcs32", "'ht-mcs32': mcs is 32: HT has 0 to 31"),
            ("ht-mcs7-80mhz", "'ht-mcs7-80mhz': width is 80 MHz: HT has 20 and 40 MHz"),
            ("ht-mcs7-2ss", "'ht-mcs7-2ss': streams is 2: HT has 1 at MCS 7"),
            ("he-mcs7-9ss", "'he-mcs7-9ss': streams is 9: HE has 1 to 8"),
            ("he-mcs7-400ns", "'he-mcs7-400ns': guard is 400 ns: HE has 800, 1600 and 3200 ns"),
            ("ofdm-11", "'ofdm-11': '11' is not one of 6, 9, 12, 18, 24, 36, 48, 54, did you mean '12'?"),
            ("dsss-54", "'dsss-54': '54' is not one of 1, 2, 5.5, 11, did you mean '5.5'?"),
            ("vth-mcs1", "unknown format 'vth', did you mean 'vht'?; known are dsss, ofdm, ht, vht, he"),
            ("ht", "'ht' is no rate: write one as ofdm-54, ht-mcs15-400ns or vht-mcs8-2ss-80mhz"),
        ] {
            let error = text.parse::<Mode>().unwrap_err();
            assert_eq!(error.to_string(), line);
        }
        let mcs9 = (1..=8).filter(|streams| !vht_lacks(9, 20, *streams)).collect::<Vec<u8>>();
        assert_eq!(mcs9, [3, 6]);
    }

    #[test]
    fn a_mode_is_written_as_it_is_read() {
        for text in [
            "dsss-5.5",
            "ofdm-6",
            "ht-mcs0",
            "ht-mcs15-40mhz-400ns",
            "vht-mcs8-2ss-80mhz",
            "he-mcs11-160mhz-1600ns",
        ] {
            assert_eq!(text.parse::<Mode>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn preambles_are_those_of_the_formats() {
        let micros = |text: &str| text.parse::<Mode>().unwrap().preamble().as_nanos() as f64 / 1e3;
        let of = ["dsss-1", "ofdm-6", "ht-mcs7", "ht-mcs15", "vht-mcs0", "vht-mcs0-3ss", "he-mcs0"];
        assert_eq!(of.map(micros), [192.0, 20.0, 36.0, 40.0, 40.0, 52.0, 43.2]);
        assert_eq!(micros("he-mcs0-2ss-3200ns"), 68.0);
    }
}
