//! The M/M/1/N queue: Poisson arrivals, exponential service, room for N packets, the one in service included.
//!
//! The paper's closed forms (equations 1 to 8) hold for rho != 1, lose all digits near it, and overflow where N is large.
//! Here they are written with x = ln rho, such that each holds for every load. What holds for a load above 1 follows from
//! its inverse: full and empty places change roles.

/// A queue in its steady state.
///
/// ```
/// use aqm_papers::pmqecn::model::Queue;
/// let queue = Queue::new(80.0, 100.0, 64); // packets per second, and packets
/// assert!((queue.delay() - 1.0 / 20.0).abs() < 1e-4); // nearly M/M/1
/// assert_eq!(Queue::new(100.0, 100.0, 64).length(), 32.0);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Queue {
    arrival: f64,
    service: f64,
    capacity: u32,
    /// ln rho: minus infinity where nothing arrives.
    x: f64,
}

impl Queue {
    /// `arrival` packets come and up to `service` packets leave each second; the queue holds `capacity` packets.
    ///
    /// # Panics
    /// If `arrival` is negative or infinite, `service` not positive or infinite, or `capacity` zero.
    pub fn new(arrival: f64, service: f64, capacity: u32) -> Queue {
        assert!(arrival >= 0.0 && arrival.is_finite(), "arrivals per second: {arrival}");
        assert!(service > 0.0 && service.is_finite(), "services per second: {service}");
        assert!(capacity > 0, "a queue without room");
        // Not ln(arrival / service): that ratio may overflow.
        Queue { arrival, service, capacity, x: libm::log(arrival) - libm::log(service) }
    }

    /// P_m, the probability of `packets` in the queue (equations 1 and 2).
    pub fn probability(&self, packets: u32) -> f64 {
        if packets > self.capacity {
            return 0.0;
        }
        let (x, m) = if self.x > 0.0 { (-self.x, self.capacity - packets) } else { (self.x, packets) };
        let power = if m == 0 { 1.0 } else { libm::exp(f64::from(m) * x) };
        power * ratio(x, 1.0, f64::from(self.capacity) + 1.0)
    }

    /// P_N, the share of the arrivals that is lost.
    pub fn loss(&self) -> f64 {
        self.probability(self.capacity)
    }

    /// N_loss, packets lost per second (equation 8).
    pub fn lost(&self) -> f64 {
        self.arrival * self.loss()
    }

    /// lambda_e, packets per second that find room and leave again (equation 3).
    pub fn carried(&self) -> f64 {
        let n = f64::from(self.capacity);
        if self.x > 0.0 {
            self.service * ratio(-self.x, n, n + 1.0)
        } else {
            self.arrival * ratio(self.x, n, n + 1.0)
        }
    }

    /// L_s, packets in the queue (equation 6).
    pub fn length(&self) -> f64 {
        length(self.x, f64::from(self.capacity))
    }

    /// L_q, packets that wait, without the one in service (equation 6).
    pub fn waiting(&self) -> f64 {
        self.carried() * self.wait()
    }

    /// W_s, seconds that a packet which finds room spends here, its own service included (equation 7).
    pub fn delay(&self) -> f64 {
        self.wait() + 1.0 / self.service
    }

    /// W_q, seconds until a packet which finds room is served: such a packet finds the queue as one with a place less
    /// would be.
    pub fn wait(&self) -> f64 {
        length(self.x, f64::from(self.capacity - 1)) / self.service
    }
}

/// (1 - rho^a) / (1 - rho^b) for rho = e^x of at most 1.
fn ratio(x: f64, a: f64, b: f64) -> f64 {
    if x == 0.0 { a / b } else { libm::expm1(a * x) / libm::expm1(b * x) }
}

/// Mean number of packets where rho = e^x and there is room for `room`: equation 6, and N/2 at rho = 1.
fn length(x: f64, room: f64) -> f64 {
    if x > 0.0 {
        return room - length(-x, room);
    }
    let places = room + 1.0;
    if x < -0.5 {
        let (rho, full) = (libm::exp(x), libm::exp(places * x));
        return rho / (1.0 - rho) - places * full / (1.0 - full);
    }
    // Both terms of equation 6 go to infinity at rho = 1 as -1/x does; without it they stay finite.
    bounded(x) - places * bounded(places * x)
}

/// 1 / (e^-y - 1) + 1 / y, which is -1/2 at y = 0.
fn bounded(y: f64) -> f64 {
    if y.abs() > 0.3 {
        return 1.0 / libm::expm1(-y) + 1.0 / y;
    }
    // The series of Bernoulli's numbers; the next term is below 1e-15.
    let z = y * y;
    let odd = [-1.0 / 12.0, 1.0 / 720.0, -1.0 / 30_240.0, 1.0 / 1_209_600.0, -1.0 / 47_900_160.0];
    y * odd.iter().rev().fold(0.0, |sum, term| sum * z + term) - 0.5
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The steady state summed state by state: what the closed forms stand for.
    struct Summed {
        shares: Vec<f64>,
    }

    impl Summed {
        fn new(rho: f64, capacity: u32) -> Summed {
            // Relative to the fullest place where the load is above 1, so that nothing overflows.
            let weight = |m: u32| match rho > 1.0 {
                true => rho.recip().powi((capacity - m) as i32),
                false => rho.powi(m as i32),
            };
            let sum: f64 = (0..=capacity).map(weight).sum();
            Summed { shares: (0..=capacity).map(|m| weight(m) / sum).collect() }
        }

        fn length(&self) -> f64 {
            self.shares.iter().enumerate().map(|(m, share)| m as f64 * share).sum()
        }

        fn waiting(&self) -> f64 {
            self.shares.iter().skip(1).enumerate().map(|(m, share)| m as f64 * share).sum()
        }
    }

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-10 * a.abs().max(b.abs()) + 1e-300
    }

    #[test]
    fn every_measure_is_the_sum_over_the_states_at_any_load() {
        for capacity in [1, 2, 3, 10, 64, 1000] {
            for rho in [
                1e-6,
                0.1,
                0.5,
                0.6,
                0.607,
                0.9,
                0.999,
                1.0 - 1e-9,
                1.0,
                1.0 + 1e-9,
                1.01,
                1.6,
                1.7,
                3.0,
                1e6,
            ] {
                let (service, summed) = (250.0, Summed::new(rho, capacity));
                let queue = Queue::new(rho * service, service, capacity);
                let carried = service * (1.0 - summed.shares[0]);
                let pairs = [
                    (queue.probability(0), summed.shares[0]),
                    (queue.loss(), summed.shares[capacity as usize]),
                    (queue.carried(), if rho > 1.0 { carried } else { rho * service * (1.0 - queue.loss()) }),
                    (queue.length(), summed.length()),
                    (queue.waiting(), summed.waiting()),
                    (queue.delay(), summed.length() / queue.carried()),
                    (queue.lost(), rho * service * summed.shares[capacity as usize]),
                ];
                for (number, (measure, sum)) in pairs.into_iter().enumerate() {
                    assert!(
                        close(measure, sum),
                        "measure {number} at rho {rho}, N {capacity}: {measure} and {sum}"
                    );
                }
            }
        }
    }

    #[test]
    fn the_series_near_rho_1_meets_the_closed_form() {
        for y in [-0.3_f64, -0.25, 0.25, 0.3] {
            let closed = 1.0 / libm::expm1(-y) + 1.0 / y;
            assert!((bounded(y) - closed).abs() < 1e-14, "{y}: {} and {closed}", bounded(y));
        }
    }

    #[test]
    fn at_rho_1_the_forms_have_their_limits() {
        let queue = Queue::new(1000.0, 1000.0, 64);
        assert_eq!((queue.length(), queue.loss(), queue.probability(7)), (32.0, 1.0 / 65.0, 1.0 / 65.0));
        assert_eq!(queue.delay(), 32.5 / 1000.0); // (N + 1) / (2 mu)
    }

    #[test]
    fn nothing_overflows_however_large_the_queue_is() {
        for capacity in [64, 100_000, u32::MAX] {
            for rho in [0.0, 1e-300, 0.5, 1.0, 2.0, 1e9, 1e300] {
                let queue = Queue::new(rho, 1.0, capacity);
                let measures =
                    [queue.length(), queue.waiting(), queue.delay(), queue.lost(), queue.carried()];
                assert!(
                    measures.iter().all(|measure| measure.is_finite() && *measure >= 0.0),
                    "{measures:?} at {rho}"
                );
            }
        }
    }

    #[test]
    fn an_idle_queue_is_empty_and_takes_one_service() {
        let queue = Queue::new(0.0, 500.0, 64);
        assert_eq!(
            (queue.length(), queue.lost(), queue.delay(), queue.probability(0)),
            (0.0, 0.0, 0.002, 1.0)
        );
        assert_eq!((queue.probability(1), queue.probability(65)), (0.0, 0.0));
    }
}
