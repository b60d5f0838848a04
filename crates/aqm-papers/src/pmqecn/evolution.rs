//! Differential evolution, DE/best/1/exp (Storn and Price 1997), with Deb's rules for what is not allowed.
//!
//! Every point of a population is challenged once per generation: by the best point moved along the difference of two
//! others, of which some neighbouring coordinates are taken over. The better one stays.

use aqm_core::random::Random;

/// How the search goes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evolution {
    /// Points that are kept; at least 4.
    pub population: usize,
    /// How often all are challenged at most.
    pub generations: usize,
    /// F, by which a difference is multiplied.
    pub factor: f64,
    /// CR, the probability that a further coordinate is taken over.
    pub crossover: f64,
}

impl Evolution {
    /// As the authors of PMQECN run it (their `GA/a/main2.py`).
    pub const PMQECN: Evolution =
        Evolution { population: 100, generations: 200, factor: 0.5, crossover: 0.4 };
}

/// What a point is worth, in numbers: less is better.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fitness {
    /// How far the point is from what is allowed; 0 if it is allowed.
    pub violation: f64,
    /// What is minimised.
    pub cost: f64,
}

impl Fitness {
    /// Deb's rules (2000): of two points the one with the smaller violation is better, of two with the same the cheaper.
    fn no_worse_than(self, other: Fitness) -> bool {
        if self.violation == other.violation {
            self.cost <= other.cost
        } else {
            self.violation < other.violation
        }
    }
}

/// The best point found in the unit cube of `dimensions`, and its worth.
pub fn minimise(
    evolution: Evolution,
    dimensions: usize,
    random: &mut Random,
    mut judge: impl FnMut(&[f64]) -> Fitness,
) -> (Vec<f64>, Fitness) {
    let size = evolution.population;
    assert!(size >= 4 && dimensions > 0, "{size} points in {dimensions} dimensions");
    let mut points: Vec<Vec<f64>> =
        (0..size).map(|_| (0..dimensions).map(|_| random.uniform()).collect()).collect();
    let mut worth: Vec<Fitness> = points.iter().map(|point| judge(point)).collect();
    let mut best = leader(&worth);
    let mut next = points.clone();
    for _ in 0..evolution.generations {
        if agree(&worth) {
            break;
        }
        for (target, trial) in next.iter_mut().enumerate() {
            trial.clone_from(&points[target]);
            let [a, b] = others(size, target, random);
            let start = random.below(dimensions as u64) as usize;
            for step in 0..dimensions {
                let at = (start + step) % dimensions;
                let mutant = points[best][at] + evolution.factor * (points[a][at] - points[b][at]);
                trial[at] = mutant.clamp(0.0, 1.0);
                if random.uniform() >= evolution.crossover {
                    break;
                }
            }
            let challenger = judge(trial);
            if challenger.no_worse_than(worth[target]) {
                worth[target] = challenger;
            } else {
                trial.clone_from(&points[target]);
            }
        }
        std::mem::swap(&mut points, &mut next);
        best = leader(&worth);
    }
    (points.swap_remove(best), worth[best])
}

/// Whether all points are worth the same to twelve digits: further generations would find nothing.
fn agree(worth: &[Fitness]) -> bool {
    let near = |a: f64, b: f64| (a - b).abs() <= 1e-12 * a.abs();
    worth.iter().all(|one| near(worth[0].violation, one.violation) && near(worth[0].cost, one.cost))
}

/// The place of the best; of equals, the first.
fn leader(worth: &[Fitness]) -> usize {
    (1..worth.len()).fold(0, |best, next| if worth[best].no_worse_than(worth[next]) { best } else { next })
}

/// Two different places, neither of them `target`.
fn others(size: usize, target: usize, random: &mut Random) -> [usize; 2] {
    let skip = |place: usize, taken: usize| place + usize::from(place >= taken);
    let first = skip(random.below(size as u64 - 1) as usize, target);
    let (low, high) = (first.min(target), first.max(target));
    let second = random.below(size as u64 - 2) as usize;
    [first, skip(skip(second, low), high)]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A narrow bent valley (Rosenbrock's) with its bottom at (0.5, 0.5).
    fn valley(point: &[f64]) -> Fitness {
        let (a, b) = (4.0 * point[0] - 1.0, 4.0 * point[1] - 1.0);
        Fitness { violation: 0.0, cost: 100.0 * (b - a * a) * (b - a * a) + (1.0 - a) * (1.0 - a) }
    }

    #[test]
    fn the_bottom_of_a_valley_is_found_the_same_for_the_same_seed() {
        let (point, worth) = minimise(Evolution::PMQECN, 2, &mut Random::seeded(1), valley);
        assert!(worth.cost < 1e-6 && (point[0] - 0.5).abs() < 1e-3, "{point:?} {worth:?}");
        let short = Evolution { generations: 5, ..Evolution::PMQECN };
        let found = |seed| minimise(short, 2, &mut Random::seeded(seed), valley);
        assert_eq!(found(1), found(1));
        assert_ne!(found(1), found(2));
    }

    #[test]
    fn what_is_not_allowed_loses_against_what_is_however_cheap() {
        // The cheapest point is 0; allowed is only the upper tenth.
        let edge = |point: &[f64]| Fitness { violation: (0.9 - point[0]).max(0.0), cost: point[0] };
        let (point, worth) = minimise(Evolution::PMQECN, 1, &mut Random::seeded(1), edge);
        assert_eq!(worth.violation, 0.0);
        assert!((point[0] - 0.9).abs() < 1e-9, "{point:?}");
    }

    #[test]
    fn the_leader_is_the_best_point_and_of_equals_the_first() {
        let points = |costs: &[f64]| -> Vec<Fitness> {
            costs.iter().map(|cost| Fitness { violation: 0.0, cost: *cost }).collect()
        };
        assert_eq!(leader(&points(&[1.0, 3.0, 2.0])), 0);
        assert_eq!(leader(&points(&[3.0, 1.0, 2.0])), 1);
        assert_eq!(leader(&points(&[3.0, 2.0, 1.0])), 2);
        assert_eq!(leader(&points(&[2.0, 1.0, 1.0])), 1);
    }

    #[test]
    fn a_difference_is_of_two_others() {
        let mut random = Random::seeded(1);
        for round in 0..1000 {
            let target = round % 5;
            let [a, b] = others(5, target, &mut random);
            assert!(a < 5 && b < 5 && a != b && a != target && b != target, "{a} {b} for {target}");
        }
    }
}
