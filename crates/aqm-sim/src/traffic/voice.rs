//! Quality of a call: the E-model of ITU-T Recommendation G.107 for G.711. Everything but delay and loss is at its
//! default.
//!
//! The receiver has the fixed playout delay that suits the call best; packets that arrive later count as lost. An
//! adaptive buffer does no better on average, and a badly chosen delay does worse.

use aqm_core::units::Span;

/// Speech in one packet: 160 bytes of G.711 (ITU-T) and 12 of RTP (RFC 3550).
pub(crate) const FRAME: Span = Span::from_millis(20);
pub(crate) const FRAME_BYTES: u64 = 160 + 12;

/// R with all defaults (G.107 table 3).
const BEST: f64 = 93.2;
/// Robustness of G.711 with packet loss concealment against random loss, percent (G.113 appendix I); its Ie is 0.
const ROBUSTNESS: f64 = 25.1;

/// Mean opinion score (G.107 annex B) of a call that lost a share `lost` of its packets. The others took `delays`
/// (nanoseconds, ascending, and how many).
pub(crate) fn mean_opinion_score(lost: f64, delays: impl Iterator<Item = (u64, u32)> + Clone) -> f64 {
    let total: u64 = delays.clone().map(|(_, count)| u64::from(count)).sum();
    let mut in_time = 0;
    let ratings = delays.map(|(delay_ns, count)| {
        in_time += u64::from(count);
        let heard = (1.0 - lost) * in_time as f64 / total as f64;
        rating((FRAME + Span::from_nanos(delay_ns)).as_millis_f64(), (1.0 - heard) * 100.0)
    });
    opinion(ratings.fold(0.0, f64::max))
}

/// R (G.107 equation 7-1) for a mouth-to-ear delay in milliseconds and a loss in percent.
fn rating(delay_ms: f64, loss_percent: f64) -> f64 {
    // Equation 7-29 with Ie = 0 and BurstR = 1.
    let equipment = 95.0 * loss_percent / (loss_percent + ROBUSTNESS);
    BEST - delay_impairment(delay_ms) - equipment
}

/// Idd (equations 7-27 and 7-28).
fn delay_impairment(delay_ms: f64) -> f64 {
    if delay_ms <= 100.0 {
        return 0.0;
    }
    let x = libm::log2(delay_ms / 100.0);
    let root = |x: f64| libm::pow(1.0 + libm::pow(x, 6.0), 1.0 / 6.0);
    25.0 * (root(x) - 3.0 * root(x / 3.0) + 2.0)
}

/// Equation B-4.
fn opinion(r: f64) -> f64 {
    if r <= 0.0 {
        return 1.0;
    }
    (1.0 + 0.035 * r + r * (r - 60.0) * (100.0 - r) * 7e-6).clamp(1.0, 4.5)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn close(value: f64, expected: f64) {
        assert!((value - expected).abs() < 0.005, "{value} instead of {expected}");
    }

    #[test]
    fn the_e_model_gives_the_values_computed_by_hand() {
        // All defaults: the well-known 4.41.
        close(opinion(93.2), 4.41);
        // 200 ms: X = 1; 25 (2^(1/6) - 3 (730/729)^(1/6) + 2) = 3.04. 400 ms: X = 2; 24.07.
        close(delay_impairment(200.0), 3.044);
        close(delay_impairment(400.0), 24.070);
        close(delay_impairment(100.0), 0.0);
        // 1 % and 5 % of loss: 95 / 26.1 and 475 / 30.1.
        close(rating(0.0, 1.0), 93.2 - 3.640);
        close(rating(0.0, 5.0), 93.2 - 15.781);
        // R = 50: 1 + 1.75 - 50 * 10 * 50 * 7e-6.
        close(opinion(50.0), 2.575);
        close(opinion(-3.0), 1.0);
        // Where the polynomial dips below 1, it is 1.
        close(opinion(3.0), 1.0);
    }

    #[test]
    fn the_playout_delay_drops_a_few_late_packets_for_a_shorter_delay() {
        // 99 packets of 30 ms, one of 480 ms: losing it (1 %) is better than a delay of half a second.
        let score = mean_opinion_score(0.0, [(30 * MS, 99), (480 * MS, 1)].into_iter());
        close(score, opinion(93.2 - 95.0 / 26.1));
        // Half of them late by 20 ms: waiting costs nothing.
        close(mean_opinion_score(0.0, [(30 * MS, 50), (50 * MS, 50)].into_iter()), opinion(93.2));
        // Packets lost in the network stay lost.
        close(mean_opinion_score(0.05, [(30 * MS, 10)].into_iter()), opinion(93.2 - 15.781));
    }

    #[test]
    fn a_call_that_nobody_hears_scores_one() {
        close(mean_opinion_score(0.0, std::iter::empty()), 1.0);
    }
}
