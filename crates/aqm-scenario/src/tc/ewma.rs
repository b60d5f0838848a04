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
}
