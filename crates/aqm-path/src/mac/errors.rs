//! Which MPDUs arrive, and at which rate a station is sent to.

use super::rates::Mode;
use aqm_core::input_error::InputError;
use aqm_core::random::Random;
use aqm_core::units::Time;

/// How MPDUs to and from a station are lost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Errors {
    /// None but by collisions.
    None,
    /// Each with this probability.
    Rate(f64),
    /// By signal to noise in dB and the modulation; see [`LEAST_SNR_DB`].
    Snr(f64),
}

/// Signal to noise in dB at which a tenth of MPDUs of 4096 octets is lost, by MCS of one stream: the minimum sensitivities
/// of IEEE 802.11-2020, table 21-25, and 802.11ax-2021, table 27-51, at 20 MHz, above thermal noise of -101 dBm, a noise
/// figure of 10 dB and an implementation margin of 5 dB, which those tables assume (21.3.18.1).
pub const LEAST_SNR_DB: [f64; 12] = [4.0, 7.0, 9.0, 12.0, 16.0, 20.0, 21.0, 22.0, 27.0, 29.0, 32.0, 34.0];

/// Bit errors fall tenfold for each dB: an assumption, about what convolutional codes and LDPC have without fading.
const DECADES_PER_DB: f64 = 1.0;

impl Errors {
    /// The probability that an MPDU of `octets` arrives.
    ///
    /// ```
    /// use aqm_path::mac::errors::Errors;
    /// let mode = "vht-mcs7".parse()?;
    /// let at = |snr| (100.0 * Errors::Snr(snr).success(&mode, 4096)).round();
    /// assert_eq!([at(20.0), at(22.0), at(24.0)], [0.0, 90.0, 100.0]);
    /// # Ok::<(), aqm_core::input_error::InputError>(())
    /// ```
    pub fn success(&self, mode: &Mode, octets: u32) -> f64 {
        match *self {
            Errors::None => 1.0,
            Errors::Rate(rate) => 1.0 - rate,
            Errors::Snr(snr) => {
                // -ln(0.9) at the least SNR and 4096 octets.
                let decades = (LEAST_SNR_DB[mode.modulation()] - snr) * DECADES_PER_DB;
                let exponent = 0.105_360_515_657_826_3 * libm::pow(10.0, decades);
                libm::exp(-exponent * f64::from(octets) / 4096.0)
            }
        }
    }

    /// Whether it arrives.
    pub fn arrives(&self, mode: &Mode, octets: u32, random: &mut Random) -> bool {
        match self {
            Errors::None => true,
            _ => random.uniform() < self.success(mode, octets),
        }
    }

    /// Refuses a rate of which nothing arrives and an SNR that is no number.
    ///
    /// # Errors
    /// If one of both.
    pub fn check(&self) -> Result<(), InputError> {
        match *self {
            Errors::Rate(rate) if !(0.0..1.0).contains(&rate) => {
                Err(InputError::field("mpdu_loss", rate, "allowed is 0 up to, but not, 1"))
            }
            Errors::Snr(snr) if !(-20.0..=100.0).contains(&snr) => {
                Err(InputError::field("snr", snr, "allowed is -20 to 100 dB"))
            }
            _ => Ok(()),
        }
    }
}

/// The mode at which a station is sent to, and sends, over time.
#[derive(Clone, Debug, PartialEq)]
pub struct ModeTrace {
    steps: Vec<(Time, Mode)>,
}

impl ModeTrace {
    /// One mode.
    pub fn fixed(mode: Mode) -> ModeTrace {
        ModeTrace { steps: vec![(Time::ZERO, mode)] }
    }

    /// A mode from each instant on; the first also before it.
    ///
    /// # Errors
    /// If there is none, or if the instants do not increase.
    pub fn new(steps: Vec<(Time, Mode)>) -> Result<ModeTrace, InputError> {
        if steps.is_empty() {
            return Err(InputError::new("a trace of modes needs at least one"));
        }
        if let Some(pair) = steps.windows(2).find(|pair| pair[0].0 >= pair[1].0) {
            let problem = format!("a trace of modes has {} after {}", pair[1].0, pair[0].0);
            return Err(InputError::new(problem));
        }
        Ok(ModeTrace { steps })
    }

    /// The mode at an instant.
    pub fn at(&self, now: Time) -> &Mode {
        let later = self.steps.partition_point(|(from, _)| *from <= now);
        &self.steps[later.saturating_sub(1)].1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aqm_core::units::Span;

    fn mode(text: &str) -> Mode {
        text.parse().unwrap()
    }

    #[test]
    fn losses_follow_the_modulation_and_the_length() {
        for (index, least) in LEAST_SNR_DB.iter().enumerate() {
            let mode = mode(&format!("he-mcs{index}"));
            let success = |snr, octets| Errors::Snr(snr).success(&mode, octets);
            assert!((success(*least, 4096) - 0.9).abs() < 1e-9);
            // Two MPDUs of half the length are as likely as one.
            assert!((success(*least, 2048).powi(2) - 0.9).abs() < 1e-9);
            assert!(success(least - 3.0, 1500) < 1e-6 && success(least + 3.0, 1500) > 0.9999);
        }
        assert_eq!(LEAST_SNR_DB[mode("ofdm-54").modulation()], 21.0);
        assert_eq!(LEAST_SNR_DB[mode("ofdm-6").modulation()], 4.0);
        assert_eq!(LEAST_SNR_DB[mode("ht-mcs15").modulation()], 22.0);
    }

    #[test]
    fn arrivals_have_their_probability() {
        let (mode, mut random) = (mode("ht-mcs7"), Random::seeded(3));
        let mut arrived =
            |errors: Errors| (0..20_000).filter(|_| errors.arrives(&mode, 1500, &mut random)).count() as f64;
        assert!((arrived(Errors::Rate(0.1)) / 18_000.0 - 1.0).abs() < 0.01);
        assert_eq!(arrived(Errors::None), 20_000.0);
    }

    #[test]
    fn a_trace_has_the_mode_of_its_time() {
        let at = |millis| Time::ZERO + Span::from_millis(millis);
        let (fast, slow) = (mode("ht-mcs7"), mode("ht-mcs0"));
        let trace = ModeTrace::new(vec![(at(10), fast), (at(20), slow)]).unwrap();
        assert_eq!([0, 10, 19, 20, 99].map(|millis| *trace.at(at(millis))), [fast, fast, fast, slow, slow]);
        let line = |steps| ModeTrace::new(steps).unwrap_err().to_string();
        assert_eq!(line(vec![]), "a trace of modes needs at least one");
        assert_eq!(line(vec![(at(5), fast), (at(5), slow)]), "a trace of modes has 5ms after 5ms");
        assert_eq!(
            Errors::Rate(1.0).check().unwrap_err().to_string(),
            "mpdu_loss is 1: allowed is 0 up to, but not, 1"
        );
    }
}
