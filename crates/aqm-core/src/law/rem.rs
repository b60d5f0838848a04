//! REM (S. Athuraliya, S. Low, V. Li and Q. Yin 2001, "REM: Active Queue Management"): a price that rises while more
//! arrives than the link carries or the queue is too long, and a probability that is exponential in it. No random
//! numbers.

use super::exponential::one_minus_exp;

/// The settings. Queue and traffic are counted in packets of mean size.
#[derive(Clone, Copy, Debug)]
pub struct Params {
    /// Step of the price (`gamma`).
    pub gamma: f64,
    /// Weight of the queue against the rate (`alpha`).
    pub alpha: f64,
    /// `ln phi`, the rate at which the probability grows with the price.
    pub ln_phi: f64,
    /// Target queue of the price (`b*`).
    pub target: f64,
    /// Packets that the link carries in one period (`c`).
    pub capacity: f64,
}

/// The state.
#[derive(Clone, Copy, Debug, Default)]
pub struct State {
    price: f64,
    probability: f64,
}

impl State {
    /// The price (`p_l`).
    pub const fn price(&self) -> f64 {
        self.price
    }

    /// The probability.
    pub const fn probability(&self) -> f64 {
        self.probability
    }
}

impl Params {
    /// One period has ended, in which `arrived` packets arrived; `queue` packets are queued.
    pub fn update(&self, state: &mut State, arrived: f64, queue: f64) {
        // Eqs. 1 and 2 of the paper.
        let excess = self.alpha * (queue - self.target) + arrived - self.capacity;
        state.price = (state.price + self.gamma * excess).max(0.0);
        state.probability = one_minus_exp(state.price * self.ln_phi);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_price_adds_up_the_excess() {
        // phi = 2: ln 2. capacity 10, target 20, alpha 0.1, gamma 0.5.
        let ln_phi = core::f64::consts::LN_2;
        let rem = Params { gamma: 0.5, alpha: 0.1, ln_phi, target: 20.0, capacity: 10.0 };
        let mut state = State::default();
        rem.update(&mut state, 10.0, 40.0); // 0.1 * 20 + 0 = 2: price 1
        assert!((state.price() - 1.0).abs() < 1e-12);
        assert!((state.probability() - 0.5).abs() < 1e-12); // 1 - 2^-1
        rem.update(&mut state, 14.0, 20.0); // 4: price 3
        assert!((state.probability() - 0.875).abs() < 1e-12); // 1 - 2^-3
        rem.update(&mut state, 0.0, 0.0); // -2 - 10: no price below zero
        assert_eq!((state.price(), state.probability()), (0.0, 0.0));
    }
}
