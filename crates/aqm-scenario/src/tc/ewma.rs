//! The burst that tc takes for RED's weight (tc-red(8), `burst`).

use aqm_core::discipline::red::weight_of_burst;
use aqm_core::input_error::InputError;

/// The smallest burst for which tc finds this weight, which Linux has as a power of two; `min` is in packets of average length.
pub(super) fn burst(weight: f64, min: f64) -> Result<u64, InputError> {
    if !(0..32).any(|power| 0.5_f64.powi(power) == weight) {
        return Err(InputError::new(format!(
            "w {weight} is not a power of 2, as Linux needs it; 0.03125 is 2^-5"
        )));
    }
    // The weight falls as the burst grows: halve the interval in which it comes down to the one that is wanted.
    let (mut low, mut high) = (min.ceil() as u64, i32::MAX as u64);
    while low < high {
        let middle = low.midpoint(high);
        match weight_of_burst(middle, min) {
            Some(found) if found > weight => low = middle + 1,
            _ => high = middle,
        }
    }
    match weight_of_burst(low, min) {
        Some(found) if found == weight => Ok(low),
        _ => Err(InputError::new(format!(
            "no burst gives tc the weight {weight} above min, which is {min:.1} mean packets"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_weight_has_a_burst() {
        for (power, min) in [(2, 3.0), (5, 30.0), (5, 20.0), (9, 5.0), (6, 68.3), (31, 5.0)] {
            let wanted = 0.5_f64.powi(power);
            let found = burst(wanted, min).unwrap();
            assert_eq!(weight_of_burst(found, min), Some(wanted), "2^-{power} and {min}: {found}");
            assert_ne!(weight_of_burst(found - 1, min), Some(wanted));
        }
        // tc-red(8): burst 55, min 30000 bytes of 1000: 26 <= (1 - (31/32)^55) * 32 = 26.4, and > (1 - (15/16)^55) * 16 = 15.5.
        assert_eq!(weight_of_burst(55, 30.0), Some(1.0 / 32.0));
        assert!(burst(0.002, 5.0).unwrap_err().to_string().contains("power of 2"));
    }
}
