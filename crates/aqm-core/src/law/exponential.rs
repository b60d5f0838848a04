//! `1 - e^-x` and `ln x` from additions, products and quotients only: the same bits on every machine.

/// `1 - e^-x` for `x` of at least zero, to about 15 digits.
pub fn one_minus_exp(x: f64) -> f64 {
    // 1 - e^-40 is 1 in a double.
    if x >= 40.0 {
        return 1.0;
    }
    let (mut small, mut doublings) = (x, 0);
    while small > 0.25 {
        small *= 0.5;
        doublings += 1;
    }
    // x - x^2/2! + x^3/3! - ...; the twelfth term is below 2^-52 of the first.
    let (mut term, mut sum) = (small, small);
    for n in 2..=12 {
        term *= -small / f64::from(n);
        sum += term;
    }
    // With y = 1 - e^-x: 1 - e^-2x = y (2 - y).
    for _ in 0..doublings {
        sum *= 2.0 - sum;
    }
    sum
}

/// `ln x` for `x` above 1 and up to 1e6, to about 15 digits.
pub fn ln(x: f64) -> f64 {
    let (mut small, mut halvings) = (x, 0);
    while small > 1.5 {
        small *= 0.5;
        halvings += 1;
    }
    series(small) + f64::from(halvings) * core::f64::consts::LN_2
}

/// `ln x = 2 (y + y^3/3 + y^5/5 + ..)` with `y = (x - 1) / (x + 1)`, for `x` from 0.75 to 1.5.
fn series(x: f64) -> f64 {
    let y = (x - 1.0) / (x + 1.0);
    let (mut power, mut sum) = (y, 0.0);
    for n in 0..14 {
        sum += power / f64::from(2 * n + 1);
        power *= y * y;
    }
    2.0 * sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_agree_with_the_mathematical_functions() {
        for n in 0..4000 {
            let x = f64::from(n) * f64::from(n) * 3e-6;
            let exact = -(-x).exp_m1();
            assert!((one_minus_exp(x) - exact).abs() <= 4e-15 * exact, "{x}");
            let exact = (1.0 + x).ln();
            assert!((ln(1.0 + x) - exact).abs() <= 4e-15 * exact.max(x.min(1.0)), "{x}");
        }
        assert_eq!((one_minus_exp(0.0), one_minus_exp(1e9), ln(1.0)), (0.0, 1.0, 0.0));
        assert!((ln(1e6) - 13.815_510_557_964_274).abs() < 1e-13);
    }
}
