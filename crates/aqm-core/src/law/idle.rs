//! How RED's average ages while its queue is empty. An arrival that is dropped leaves the queue empty, so whatever ends
//! the idle time decides whether the average can fall again under lasting overload. No random numbers.

use super::exponential::{ln, one_minus_exp};
use crate::units::Span;

/// What ages the average at an arrival that finds the queue empty.
#[derive(Clone, Copy, Debug)]
pub enum Idle {
    /// All the time since the queue became empty, at every arrival (Floyd and Jacobson 1993, figure 2: `q_time` is set
    /// only when the queue becomes empty, and `f` is a linear function of time).
    Floyd(Decay),
    /// The time since the link found the queue empty, and one step more; without such a time, an ordinary step (ns-3
    /// `RedQueueDisc::DoEnqueue()` and `Estimator()`).
    Ns3,
    /// The time since the link found the queue empty, by tc's table; without such a time, an ordinary step (Linux
    /// `red_enqueue()`, `red_dequeue()` and `red_calc_qavg()`).
    Linux(Damping),
}

/// An exponential decay: `(1 - w)^m` where `m` packets could have been sent.
#[derive(Clone, Copy, Debug)]
pub struct Decay {
    /// Per nanosecond.
    rate: f64,
}

/// tc's idle damping: how often the average is halved in a number of cells (`Stab`, `Scell_log`).
#[derive(Clone, Copy, Debug)]
pub struct Damping {
    /// Length of a cell: 2 to the power of this, in microseconds.
    cell_log: u32,
    /// Halvings per microsecond.
    halvings: f64,
}

/// Cells of the table; the last stands for all later ones.
const CELLS: u64 = 256;
/// Halvings of the last cell, after which nothing is left of the average.
const ALL: f64 = 31.0;
/// tc counts the time of a packet in ticks of this many nanoseconds (`/proc/net/psched`), and the kernel takes them for
/// microseconds, so the average ages more slowly than by the formula.
const TICK: u64 = 64;

impl Idle {
    /// The paper's rule for an average of weight `weight` and packets that take `packet_time`.
    pub fn floyd(weight: f64, packet_time: Span) -> Idle {
        Idle::Floyd(Decay { rate: per_packet(weight) / packet_time.as_nanos().max(1) as f64 })
    }

    /// Linux's rule for an average of weight `weight` and packets that take `packet_time`.
    pub fn linux(weight: f64, packet_time: Span) -> Idle {
        let halvings = per_packet(weight) / packet_time.as_nanos().div_ceil(TICK).max(1) as f64;
        let whole = ALL / halvings;
        let fits = |log: &u32| whole / ((1_u64 << log) as f64) < (2 * CELLS) as f64;
        Idle::Linux(Damping { cell_log: (0..31).find(fits).unwrap_or(31), halvings })
    }
}

/// `-ln(1 - w)`: what one packet takes from the logarithm of the average.
fn per_packet(weight: f64) -> f64 {
    // A weight of 1 leaves nothing. Finite, so that no time at all still leaves everything.
    if weight < 1.0 { ln(1.0 / (1.0 - weight)) } else { f64::MAX }
}

impl Decay {
    /// `average` after `idle`.
    pub fn age(&self, average: f64, idle: Span) -> f64 {
        average - average * one_minus_exp(self.rate * idle.as_nanos() as f64)
    }
}

impl Damping {
    /// `average` after the link was idle for `idle`.
    pub fn damp(&self, average: f64, idle: Span) -> f64 {
        let micros = (idle.as_nanos() / 1000).min((CELLS - 1) << self.cell_log);
        let cell = micros >> self.cell_log;
        let table = if cell == CELLS - 1 { ALL } else { (cell << self.cell_log) as f64 * self.halvings };
        let halvings = table.min(ALL) as u32;
        if halvings > 0 {
            return average / (1_u64 << halvings) as f64;
        }
        // Below one halving, in a straight line: Linux takes the time in cells for the share that is lost.
        let lost = average * micros as f64 / (1_u64 << self.cell_log) as f64;
        average - lost.min(average / 2.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1000 bytes at 10 Mbit/s are 12 500 ticks. With a weight of 2^-9 the average is halved 1.5640e-7 times per
    /// microsecond, 31 times in 1.98e8; 2^19 of them are the shortest cell that covers this with less than 512.
    #[test]
    fn damping_follows_tcs_table() {
        let Idle::Linux(damping) = Idle::linux(1.0 / 512.0, Span::from_micros(800)) else { unreachable!() };
        assert_eq!(damping.cell_log, 19);
        let cell = Span::from_micros(1 << 19);
        let after = |cells: u64| damping.damp(1.0, Span::from_nanos(cell.as_nanos() * cells));
        assert_eq!(damping.damp(1.0, Span::from_nanos(cell.as_nanos() / 8)), 0.875);
        assert_eq!((after(1), after(12)), (0.5, 0.5)); // 12 * 0.0820 halvings are less than one
        assert_eq!((after(13), after(25)), (0.5, 0.25)); // 1.07 and 2.05
        assert_eq!((after(254), after(255)), (2f64.powi(-20), 2f64.powi(-31))); // 20.8, and the last cell
        assert_eq!(after(100_000), 2f64.powi(-31));
    }

    #[test]
    fn the_papers_decay_is_a_power_of_the_packets_that_could_have_been_sent() {
        let Idle::Floyd(decay) = Idle::floyd(0.5, Span::from_millis(2)) else { unreachable!() };
        let after = |micros| decay.age(8.0, Span::from_micros(micros));
        assert_eq!(after(0), 8.0);
        assert!((after(6000) - 1.0).abs() < 1e-14); // three packets
        assert!((after(1000) - 8.0 * 0.5_f64.sqrt()).abs() < 1e-14); // half a packet
        let Idle::Floyd(all) = Idle::floyd(1.0, Span::from_millis(2)) else { unreachable!() };
        assert_eq!((all.age(8.0, Span::ZERO), all.age(8.0, Span::from_nanos(1))), (8.0, 0.0));
    }

    #[test]
    fn extreme_weights_and_links_stay_in_range() {
        for (weight, nanos) in [(1.0, 1), (1e-9, 1), (1.0, u64::MAX / 2), (1e-9, u64::MAX / 2)] {
            let Idle::Linux(damping) = Idle::linux(weight, Span::from_nanos(nanos)) else { unreachable!() };
            let Idle::Floyd(decay) = Idle::floyd(weight, Span::from_nanos(nanos)) else { unreachable!() };
            for idle in [0, 1_000_000, u64::MAX / 2].map(Span::from_nanos) {
                assert!((0.0..=8.0).contains(&decay.age(8.0, idle)), "{weight} {nanos} {idle}");
                assert!((0.0..=8.0).contains(&damping.damp(8.0, idle)), "{weight} {nanos} {idle}");
            }
        }
    }
}
