//! The control plane: each period it measures what arrived, solves the optimization for each port, and installs weights,
//! thresholds and the rates of which senders are notified.

use super::evolution::Evolution;
use super::optimizer::{Class, Objective, Optimizer, Quality};
use aqm_core::random::Random;
use aqm_core::units::{Span, Time};
use aqm_sim::switch::control_plane::{ControlPlane, Write};
use aqm_sim::switch::pipeline::{RegisterId, State};

/// What data plane and control plane share: arrays with a place for each port and class, `port * classes + class`.
#[derive(Clone, Copy, Debug)]
pub struct Registers {
    /// Packets that have come in since the start; the data plane counts.
    pub arrivals: RegisterId,
    /// Nanoseconds that the packet waited which left last; the data plane writes.
    pub waits: RegisterId,
    /// omega_i, packets in a round.
    pub weights: RegisterId,
    /// K_i, packets beyond which senders are notified.
    pub thresholds: RegisterId,
    /// lambda_i, packets per second.
    pub rates: RegisterId,
    /// lambda_i*, packets per second.
    pub best_rates: RegisterId,
}

impl Registers {
    /// Adds them to a switch's state, each with `size` cells.
    pub(super) fn add(state: &mut State, size: usize) -> Registers {
        let mut array = || state.add_registers(size);
        Registers {
            arrivals: array(),
            waits: array(),
            weights: array(),
            thresholds: array(),
            rates: array(),
            best_rates: array(),
        }
    }
}

/// How the control plane works.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What each class asks for.
    pub classes: Vec<Quality>,
    /// Gamma of each port, packets per second; zero for a port that sends nothing.
    pub services: Vec<f64>,
    /// N, packets.
    pub capacity: u32,
    /// C, packets per second.
    pub link: f64,
    /// How the objectives are added.
    pub objective: Objective,
    /// Whether service rates are searched below N, as in the authors' code.
    pub bounded: bool,
    /// How the best rates are searched for.
    pub evolution: Evolution,
    /// Packets in a round, of which each class has its share; without, Gamma, as algorithm 2 says.
    pub round: Option<u32>,
    /// Whether a period without a solution leaves the rates as they were, as in the authors' code.
    pub hold: bool,
    /// From one period to the next.
    pub period: Span,
    /// Until what was decided is in force.
    pub delay: Span,
}

/// The control plane of a switch.
#[derive(Debug)]
pub struct Solver {
    settings: Settings,
    registers: Registers,
    random: Random,
    /// Arrivals up to the last period, and when it was.
    before: Vec<u64>,
    last: Time,
}

impl Solver {
    /// Begins at the start of the run.
    pub fn new(settings: Settings, registers: Registers, random: Random) -> Solver {
        let before = vec![0; settings.services.len() * settings.classes.len()];
        Solver { settings, registers, random, before, last: Time::ZERO }
    }

    /// The optimizer of a port, from its first place in the registers on.
    fn optimizer(&self, port: usize, elapsed: f64, state: &State) -> Optimizer {
        let (settings, first) = (&self.settings, port * self.settings.classes.len());
        let (arrivals, waits) =
            (state.registers(self.registers.arrivals), state.registers(self.registers.waits));
        let class = |(number, quality): (usize, &Quality)| {
            let place = first + number;
            let arrival = (arrivals[place] - self.before[place]) as f64 / elapsed;
            Class { quality: *quality, arrival, wait: waits[place] as f64 / 1e9 }
        };
        Optimizer {
            classes: settings.classes.iter().enumerate().map(class).collect(),
            service: settings.services[port],
            capacity: settings.capacity,
            link: settings.link,
            links: settings.services.len() as u32,
            objective: settings.objective,
            bounded: settings.bounded,
            evolution: settings.evolution,
        }
    }
}

impl ControlPlane for Solver {
    fn period(&self) -> Span {
        self.settings.period
    }

    fn delay(&self) -> Span {
        self.settings.delay
    }

    fn on_timer(&mut self, now: Time, state: &State, writes: &mut Vec<Write>) {
        let elapsed = now.since(self.last).as_secs_f64();
        for port in 0..self.settings.services.len() {
            let optimizer = self.optimizer(port, elapsed, state);
            // A port that nothing comes to has nothing to divide.
            if optimizer.service == 0.0 || optimizer.classes.iter().all(|class| class.arrival == 0.0) {
                continue;
            }
            let solution = optimizer.solve(&mut self.random);
            let round = self.settings.round.map_or(optimizer.service, f64::from);
            let held = self.settings.hold && solution.infeasible.is_some();
            for (number, class) in optimizer.classes.iter().enumerate() {
                let index = port * optimizer.classes.len() + number;
                let weight = round * solution.service[number] / optimizer.service;
                let mut set = |array, value: f64| {
                    writes.push(Write::Register { array, index, value: value.round().max(1.0) as u64 });
                };
                set(self.registers.weights, weight);
                set(self.registers.thresholds, f64::from(solution.thresholds[number]));
                if !held && class.arrival > 0.0 {
                    set(self.registers.rates, class.arrival);
                    set(self.registers.best_rates, solution.arrival[number]);
                }
            }
        }
        self.before.copy_from_slice(state.registers(self.registers.arrivals));
        self.last = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two ports of 1000 packets per second with three classes; the second is idle.
    fn solver(hold: bool, round: Option<u32>) -> (Solver, State) {
        let mut state = State::default();
        let registers = Registers::add(&mut state, 6);
        let settings = Settings {
            classes: vec![Quality::Voice, Quality::Video, Quality::File],
            services: vec![1000.0; 2],
            capacity: 64,
            link: 12_500.0,
            objective: Objective::Normalised,
            bounded: false,
            evolution: Evolution::PMQECN,
            round,
            hold,
            period: Span::from_secs(2),
            delay: Span::ZERO,
        };
        (Solver::new(settings, registers, Random::seeded(1)), state)
    }

    /// What is in force after `arrivals` in two seconds: weights, thresholds, rates and best rates of the first port.
    fn installed(hold: bool, round: Option<u32>, arrivals: [u64; 3]) -> [Vec<u64>; 4] {
        let (mut solver, mut state) = solver(hold, round);
        let registers = solver.registers;
        state.registers_mut(registers.arrivals)[..3].copy_from_slice(&arrivals);
        let mut writes = Vec::new();
        solver.on_timer(Time::ZERO + Span::from_secs(2), &state, &mut writes);
        for write in writes {
            let Write::Register { array, index, value } = write else { panic!("{write:?}") };
            assert!(index < 3, "the idle port is left alone");
            state.registers_mut(array)[index] = value;
        }
        [registers.weights, registers.thresholds, registers.rates, registers.best_rates]
            .map(|array| state.registers(array)[..3].to_vec())
    }

    #[test]
    fn weights_and_thresholds_follow_the_service_rates_and_rates_are_measured() {
        let [weights, thresholds, rates, best] = installed(false, None, [400, 400, 400]);
        assert_eq!((weights.iter().sum::<u64>(), rates), (1000, vec![200; 3]));
        for (weight, threshold) in weights.iter().zip(&thresholds) {
            assert_eq!(*threshold, (*weight as f64 * 64.0 / 1000.0).ceil() as u64);
        }
        assert!(best.iter().sum::<u64>() <= 600);
        let [rounds, ..] = installed(false, Some(12), [400, 400, 400]);
        assert!((11..=13).contains(&rounds.iter().sum::<u64>()), "{rounds:?}");
    }

    #[test]
    fn an_overload_divides_equally_and_tells_senders_or_leaves_the_rates_as_they_were() {
        let [weights, thresholds, rates, best] = installed(false, None, [800, 800, 800]);
        assert_eq!((weights, thresholds, rates), (vec![333; 3], vec![22; 3], vec![400; 3]));
        assert!(best.iter().all(|rate| (100..400).contains(rate)), "{best:?}");
        let [_, thresholds, rates, best] = installed(true, None, [800, 800, 800]);
        assert_eq!((thresholds, rates, best), (vec![22; 3], vec![0; 3], vec![0; 3]));
    }

    #[test]
    fn a_period_counts_only_what_it_saw() {
        let (mut solver, mut state) = solver(false, None);
        let registers = solver.registers;
        state.registers_mut(registers.arrivals)[0] = 600;
        solver.on_timer(Time::ZERO + Span::from_secs(2), &state, &mut Vec::new());
        state.registers_mut(registers.arrivals)[0] = 700;
        let mut writes = Vec::new();
        solver.on_timer(Time::ZERO + Span::from_secs(4), &state, &mut writes);
        assert!(writes.contains(&Write::Register { array: registers.rates, index: 0, value: 50 }));
    }
}
