//! The two-layer optimization (equations 9 to 14, algorithm 2): from what arrives, the best service rates and with them
//! weights and marking thresholds; from those, the best arrival rates, of which senders are notified.
//!
//! # Objectives
//! Each class has two (equations 11 to 13), which are added, weighted by the class's share of the service and summed
//! (equation 14). [`Objective::Printed`] adds them as the paper prints them: seconds, packets, packets per second and, in
//! equation 10, a bandwidth less a queue length. That remainder, some 37 500, outweighs all else; since its weight is
//! the share of the first class, the first layer gives that class as little as it may.
//! [`Objective::Normalised`] makes each a share of what it can be at most: delay and jitter of `N / Gamma`, the time that
//! a full switch takes to empty; loss of what arrives; and the bandwidth that remains of what could be carried,
//! `min(Lambda, Gamma)`. There equation 10 is read with the packets carried and not with those queued: with queues its
//! second layer would always stop every sender, since `mu_i W_i = 1 + L_i` costs more than `L_i` gains.
//!
//! # Constraints
//! The search runs in coordinates in which the rates cannot break theirs (`lambda_i < mu_i`, `sum mu_i = Gamma`,
//! `sum lambda_i <= Lambda`); what remains, that the queues fit into the switch (C1) and leave bandwidth (C4), is
//! minimised before the cost is. Where more arrives than can be served the first layer has no solution: then the
//! service is divided equally, as the authors' code does, and the second layer says what may arrive.
//!
//! The authors' code searches service rates between 0 and N instead of Gamma ([`Optimizer::bounded`]): a class of which N
//! packets per second or more arrive has no solution there.

use super::evolution::{Evolution, Fitness, minimise};
use super::model::Queue;
use aqm_core::choices;
use aqm_core::random::Random;

/// What a class of traffic asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quality {
    /// Bandwidth and low delay (class A, equation 11).
    Voice,
    /// Low delay and low jitter (class B, equation 12).
    Video,
    /// Low delay and low loss (class C, equation 13).
    File,
}

/// A class as it was measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Class {
    /// What it asks for.
    pub quality: Quality,
    /// lambda_i, packets that arrive per second.
    pub arrival: f64,
    /// W_i, seconds that its packets spent in the switch.
    pub wait: f64,
}

choices! {
    /// How the objectives of the classes are added.
    #[derive(Default)]
    pub enum Objective {
        /// Each as a share of what it can be at most.
        #[default]
        Normalised = "normalised",
        /// As printed, in their different units.
        Printed = "printed",
    }
}

/// What is to be divided among the classes.
#[derive(Clone, Debug, PartialEq)]
pub struct Optimizer {
    /// The classes.
    pub classes: Vec<Class>,
    /// Gamma, packets that the port sends per second.
    pub service: f64,
    /// N, packets that fit into the switch.
    pub capacity: u32,
    /// C, packets per second of one link.
    pub link: f64,
    /// n, links of the switch.
    pub links: u32,
    /// How the objectives are added.
    pub objective: Objective,
    /// Whether service rates are searched below N packets per second, as in the authors' code, and need not sum to Gamma.
    pub bounded: bool,
    /// How the best rates are searched for.
    pub evolution: Evolution,
}

/// What the optimizer found.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution {
    /// mu_i*, packets served per second; they sum to Gamma and are the weights of algorithm 2.
    pub service: Vec<f64>,
    /// K_i = N mu_i* / Gamma, rounded up as in the authors' code: packets beyond which a class is congested.
    pub thresholds: Vec<u32>,
    /// lambda_i*, packets that should arrive per second.
    pub arrival: Vec<f64>,
    /// Why there are no best service rates; `service` is then an equal share each.
    pub infeasible: Option<Infeasible>,
    /// What equation 14 is at the service rates, and at the arrival rates.
    pub cost: [f64; 2],
}

/// Why the first layer has no solution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Infeasible {
    /// No less arrives than can be served.
    Overload,
    /// Of a class no less arrives than the bound of the service rates.
    Bound,
    /// However the service is divided, the queues are longer than the switch, or take more than its links.
    Capacity,
}

impl Infeasible {
    /// Its name in results.
    pub fn name(self) -> &'static str {
        match self {
            Infeasible::Overload => "overload",
            Infeasible::Bound => "bound",
            Infeasible::Capacity => "capacity",
        }
    }
}

/// Coordinates stay so far from the faces of the cube, where a class would arrive as fast as it is served, or not at all.
const MARGIN: f64 = 1e-6;

impl Optimizer {
    /// Solves both layers.
    ///
    /// # Panics
    /// Without classes, or if a rate, a wait or the capacity is not what [`Queue::new`] takes.
    pub fn solve(&self, random: &mut Random) -> Solution {
        let (found, infeasible) = self.best_service(random);
        let arrival = self.best_arrival(&found, random);
        let cost = [self.judge(&found, &self.arrivals()).cost, self.judge(&found, &arrival).cost];
        let all = self.total(&found);
        let service: Vec<f64> =
            if self.bounded { found.iter().map(|mu| mu * self.service / all).collect() } else { found };
        // A whole share stays one, whatever its last digits are.
        let share = |mu: &f64| (f64::from(self.capacity) * mu / self.service * (1.0 - 1e-12)).ceil() as u32;
        Solution { thresholds: service.iter().map(share).collect(), cost, service, arrival, infeasible }
    }

    /// The first layer: mu*, or equal shares and why.
    fn best_service(&self, random: &mut Random) -> (Vec<f64>, Option<Infeasible>) {
        let equal = vec![self.service / self.classes.len() as f64; self.classes.len()];
        let arrivals = self.arrivals();
        let spare = self.service - self.offered();
        if spare <= MARGIN * self.service {
            return (equal, Some(Infeasible::Overload));
        }
        if self.bounded && arrivals.iter().any(|lambda| *lambda >= f64::from(self.capacity)) {
            return (equal, Some(Infeasible::Bound));
        }
        // Each class gets what arrives and a share of what is left, or of what is left below the bound.
        let divided = |point: &[f64]| -> Vec<f64> {
            if self.bounded {
                let room = |lambda: &f64| f64::from(self.capacity) - lambda;
                let shares: Vec<f64> =
                    arrivals.iter().zip(point).map(|(lambda, x)| room(lambda) * (x + MARGIN)).collect();
                let excess = (shares.iter().sum::<f64>() / spare).max(1.0 + MARGIN);
                return arrivals.iter().zip(shares).map(|(lambda, share)| lambda + share / excess).collect();
            }
            let sum: f64 = point.iter().map(|x| x + MARGIN).sum();
            let share = |x: &f64| spare * (x + MARGIN) / sum;
            arrivals.iter().zip(point).map(|(lambda, x)| lambda + share(x)).collect()
        };
        let (point, worth) = minimise(self.evolution, self.classes.len(), random, |point| {
            self.judge(&divided(point), &arrivals)
        });
        if worth.violation > 0.0 { (equal, Some(Infeasible::Capacity)) } else { (divided(&point), None) }
    }

    /// The second layer: lambda*, below `service` and in all no more than arrives. There always is one: without arrivals
    /// there are no queues.
    fn best_arrival(&self, service: &[f64], random: &mut Random) -> Vec<f64> {
        let all = self.offered();
        let admitted = |point: &[f64]| -> Vec<f64> {
            let within = |(mu, x): (&f64, &f64)| mu * x.clamp(MARGIN, 1.0 - MARGIN);
            let lambdas: Vec<f64> = service.iter().zip(point).map(within).collect();
            let excess = (lambdas.iter().sum::<f64>() / all).max(1.0);
            lambdas.iter().map(|lambda| lambda / excess).collect()
        };
        let (point, _) = minimise(self.evolution, self.classes.len(), random, |point| {
            self.judge(service, &admitted(point))
        });
        admitted(&point)
    }

    /// lambda_i as measured.
    fn arrivals(&self) -> Vec<f64> {
        self.classes.iter().map(|class| class.arrival).collect()
    }

    /// Equation 14 for these rates, and by how many packets constraints C1 and C4 are broken.
    pub fn judge(&self, service: &[f64], arrival: &[f64]) -> Fitness {
        let printed = self.objective == Objective::Printed;
        let all = self.total(service);
        // What seconds are multiplied by.
        let scale = if printed { 1.0 } else { self.service / f64::from(self.capacity) };
        let (mut cost, mut rest_weight, mut queued, mut carried) = (0.0, 0.0, 0.0, 0.0);
        for ((class, mu), lambda) in self.classes.iter().zip(service).zip(arrival) {
            let queue = Queue::new(*lambda, *mu, self.capacity);
            let (weight, delay) = (mu / all, queue.delay());
            queued += queue.length();
            carried += queue.carried();
            cost += weight * scale * delay;
            match class.quality {
                Quality::Voice => rest_weight += weight,
                Quality::Video => cost += weight * scale * (class.wait - delay).abs(), // equation 9
                Quality::File if printed => cost += weight * queue.lost(),
                Quality::File => cost += weight * queue.loss(),
            }
        }
        let bandwidth = f64::from(self.links) * self.link;
        let most = self.offered().min(self.service);
        let rest = match self.objective {
            Objective::Printed => bandwidth - queued, // equation 10
            Objective::Normalised if most > 0.0 => 1.0 - carried / most,
            Objective::Normalised => 0.0,
        };
        let over = |limit: f64| (queued - limit).max(0.0);
        Fitness {
            violation: over(f64::from(self.capacity)) + over(bandwidth),
            cost: cost + rest_weight * rest,
        }
    }

    /// What the service rates sum to.
    fn total(&self, service: &[f64]) -> f64 {
        if self.bounded { service.iter().sum() } else { self.service }
    }

    /// Lambda, packets that arrive per second.
    fn offered(&self) -> f64 {
        self.classes.iter().map(|class| class.arrival).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The paper's port: 1000 packets per second, 64 packets, three links of 12 500 packets per second.
    fn optimizer(arrivals: [f64; 3], objective: Objective) -> Optimizer {
        let class = |(quality, arrival)| Class { quality, arrival, wait: 0.01 };
        let qualities = [Quality::Voice, Quality::Video, Quality::File];
        Optimizer {
            classes: qualities.into_iter().zip(arrivals).map(class).collect(),
            service: 1000.0,
            capacity: 64,
            link: 12_500.0,
            links: 3,
            objective,
            bounded: false,
            evolution: Evolution::PMQECN,
        }
    }

    fn solve(optimizer: &Optimizer) -> Solution {
        optimizer.solve(&mut Random::stream(1, "optimizer"))
    }

    #[test]
    fn as_printed_the_first_class_gets_what_arrives_and_no_more() {
        let solution = solve(&optimizer([100.0, 100.0, 100.0], Objective::Printed));
        assert!(solution.service[0] < 101.0, "{solution:?}");
        assert_eq!(solution.thresholds[0], 7); // 64 of 1000 packets, for one in ten
    }

    #[test]
    fn normalised_equal_classes_get_nearly_equal_service() {
        let solution = solve(&optimizer([200.0, 200.0, 200.0], Objective::Normalised));
        assert!(solution.service.iter().all(|mu| (250.0..450.0).contains(mu)), "{solution:?}");
        assert!((solution.service.iter().sum::<f64>() - 1000.0).abs() < 1e-9);
        assert_eq!(solution.infeasible, None);
    }

    #[test]
    fn where_delays_alone_count_the_spare_service_goes_by_the_square_root_of_the_arrivals() {
        // Kleinrock's capacity assignment: mu_i = lambda_i + spare sqrt(lambda_i) / sum of the square roots.
        let mut optimizer = optimizer([64.0, 16.0, 4.0], Objective::Normalised);
        for class in &mut optimizer.classes {
            class.quality = Quality::File; // no loss at this load
        }
        let spare = 1000.0 - 84.0;
        let expected = [64.0 + spare * 8.0 / 14.0, 16.0 + spare * 4.0 / 14.0, 4.0 + spare * 2.0 / 14.0];
        for (mu, expected) in solve(&optimizer).service.iter().zip(expected) {
            assert!((mu - expected).abs() < 0.01 * expected, "{mu} and {expected}");
        }
    }

    #[test]
    fn an_overloaded_port_is_divided_equally_and_says_what_may_arrive() {
        let solution = solve(&optimizer([900.0, 300.0, 300.0], Objective::Normalised));
        assert_eq!(solution.infeasible, Some(Infeasible::Overload));
        assert_eq!(solution.service, [1000.0 / 3.0; 3]);
        assert_eq!(solution.thresholds, [22; 3]);
        let admitted: f64 = solution.arrival.iter().sum();
        assert!((300.0..1000.0).contains(&admitted), "{solution:?}");
    }

    #[test]
    fn a_search_of_fewer_generations_is_less_exact() {
        let full = optimizer([300.0, 200.0, 100.0], Objective::Normalised);
        let short =
            Optimizer { evolution: Evolution { generations: 1, ..Evolution::PMQECN }, ..full.clone() };
        let ([exact, _], [rough, _]) = (solve(&full).cost, solve(&short).cost);
        assert!(exact < rough && rough < 2.0 * exact, "{exact} {rough}");
    }

    #[test]
    fn within_the_authors_bound_a_class_of_sixty_four_packets_per_second_has_no_solution() {
        let bounded = |arrivals| Optimizer { bounded: true, ..optimizer(arrivals, Objective::Printed) };
        let solution = solve(&bounded([60.0, 40.0, 20.0]));
        assert_eq!(solution.infeasible, None);
        assert!((solution.service.iter().sum::<f64>() - 1000.0).abs() < 1e-9);
        // Rates below 64 in all; the share of each is of their sum.
        assert!(solution.service.iter().all(|mu| *mu > 1000.0 * 20.0 / 192.0), "{solution:?}");
        assert!(solution.arrival.iter().all(|lambda| *lambda < 64.0), "{solution:?}");
        let beyond = solve(&bounded([64.0, 40.0, 20.0]));
        assert_eq!((beyond.infeasible, beyond.service), (Some(Infeasible::Bound), vec![1000.0 / 3.0; 3]));
        assert_eq!(solve(&optimizer([64.0, 40.0, 20.0], Objective::Printed)).infeasible, None);
    }

    #[test]
    fn a_share_that_is_whole_is_not_rounded_up() {
        // 15 packets for three classes: 15 * (12 500 / 3) / 12 500 is above 5 by a last digit.
        let optimizer = Optimizer {
            service: 12_500.0,
            capacity: 15,
            ..optimizer([9e3, 3e3, 3e3], Objective::Normalised)
        };
        assert_eq!(solve(&optimizer).thresholds, [5; 3]);
    }

    #[test]
    fn a_switch_too_small_for_any_division_says_so() {
        let mut optimizer = optimizer([300.0, 300.0, 300.0], Objective::Normalised);
        optimizer.capacity = 1;
        let solution = solve(&optimizer);
        assert_eq!(solution.infeasible, Some(Infeasible::Capacity));
        assert_eq!(optimizer.judge(&solution.service, &solution.arrival).violation, 0.0);
    }

    #[test]
    fn an_idle_switch_and_idle_classes_have_answers_too() {
        for objective in [Objective::Normalised, Objective::Printed] {
            for arrivals in [[0.0; 3], [500.0, 0.0, 0.0], [0.0, 0.0, 999.0]] {
                let solution = solve(&optimizer(arrivals, objective));
                let rates = solution.service.iter().chain(&solution.arrival).chain(&solution.cost);
                assert!(
                    rates.clone().all(|rate| rate.is_finite() && *rate >= 0.0),
                    "{arrivals:?}: {solution:?}"
                );
            }
        }
    }

    #[test]
    fn whatever_arrives_the_constraints_hold() {
        let mut random = Random::seeded(5);
        for round in 0..60 {
            let load = 1.2 * random.uniform();
            let shares = [random.uniform(), random.uniform(), random.uniform()];
            let arrivals = shares.map(|share| 1000.0 * load * share / shares.iter().sum::<f64>());
            let objective = if round % 2 == 0 { Objective::Normalised } else { Objective::Printed };
            let mut optimizer = optimizer(arrivals, objective);
            optimizer.capacity = 1 + random.below(200) as u32;
            let solution = solve(&optimizer);
            let sum = |rates: &[f64]| rates.iter().sum::<f64>();
            assert!((sum(&solution.service) - 1000.0).abs() < 1e-6);
            assert!(sum(&solution.arrival) <= sum(&arrivals) * (1.0 + 1e-12));
            assert!(
                solution
                    .arrival
                    .iter()
                    .zip(&solution.service)
                    .all(|(lambda, mu)| lambda < mu && *lambda > 0.0)
            );
            assert_eq!(optimizer.judge(&solution.service, &solution.arrival).violation, 0.0, "{optimizer:?}");
            if solution.infeasible.is_none() {
                assert!(arrivals.iter().zip(&solution.service).all(|(lambda, mu)| lambda < mu));
                assert_eq!(optimizer.judge(&solution.service, &arrivals).violation, 0.0, "{optimizer:?}");
            }
        }
    }
}
