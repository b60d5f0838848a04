//! RED's weight as tc finds it from a burst (tc-red(8), `burst`).

/// The largest 2^-n under which a burst of so many packets keeps the average below `min`, which is in mean packets: with
/// W, an average of 0 is (burst + 1 - (1 - (1 - W)^burst) / W) after it (Floyd and Jacobson 1993, equation 3).
pub(super) fn weight(burst: u64, min: f64) -> Result<f64, String> {
    let wanted = burst as f64 + 1.0 - min;
    if wanted < 1.0 {
        return Err(format!(
            "'burst' {burst} is too small: it must be at least min, which is {min} mean packets"
        ));
    }
    // tc has the burst as an integer of 32 bits.
    let burst = i32::try_from(burst).map_err(|_| format!("'burst' {burst} is out of range"))?;
    let mut weight = 0.5_f64;
    for _ in 1..32 {
        if wanted <= (1.0 - (1.0 - weight).powi(burst)) / weight {
            return Ok(weight);
        }
        weight /= 2.0;
    }
    Err(format!("'burst' {burst} is too large: no weight suits it"))
}

/// The smallest burst for which tc finds this weight, which Linux has as a power of two.
pub(super) fn burst(weight: f64, min: f64) -> Result<u64, String> {
    if !(0..32).any(|power| 0.5_f64.powi(power) == weight) {
        return Err(format!("w {weight} is not a power of 2, as Linux needs it; 0.03125 is 2^-5"));
    }
    // The weight falls as the burst grows: halve the interval in which it comes down to the one that is wanted.
    let (mut low, mut high) = (min.ceil() as u64, i32::MAX as u64);
    while low < high {
        let middle = low.midpoint(high);
        match self::weight(middle, min) {
            Ok(found) if found > weight => low = middle + 1,
            _ => high = middle,
        }
    }
    match self::weight(low, min) {
        Ok(found) if found == weight => Ok(low),
        _ => Err(format!("no burst gives tc the weight {weight} above min, which is {min:.1} mean packets")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_weight_is_the_largest_that_suits() {
        // burst 55, min 30000 bytes of 1000: 56 - 30 = 26 <= (1 - (31/32)^55) * 32 = 26.4, and > (1 - (15/16)^55) * 16 = 15.5.
        assert_eq!(weight(55, 30.0), Ok(1.0 / 32.0));
        assert!(weight(3, 30.0).unwrap_err().contains("too small"));
        assert!(weight(1 << 31, 1.0).is_err());
    }

    #[test]
    fn each_weight_has_a_burst() {
        for (power, min) in [(2, 3.0), (5, 30.0), (5, 20.0), (9, 5.0), (6, 68.3), (31, 5.0)] {
            let wanted = 0.5_f64.powi(power);
            let found = burst(wanted, min).unwrap();
            assert_eq!(weight(found, min), Ok(wanted), "2^-{power} and {min}: {found}");
        }
        assert!(burst(0.002, 5.0).unwrap_err().contains("power of 2"));
    }
}
