//! One path over several seeds: conditions that must hold in all of them, or in so many.

use crate::check::{Check, Tally};
use crate::outcome::Outcome;
use crate::path::Path;

/// The runs of a path, one for each seed. A condition is a closure of a run, and an assertion that fails names the seeds in which
/// it does not hold, and writes figure and capture of the worst of them.
///
/// ```
/// use aqm_testbed::Path;
/// let runs = Path::new("10mbit", "40ms").aqm("pie").flows("2*cubic").over(1..=5);
/// runs.all(|run| run.goodput("cubic").is_at_least(8.0));
/// runs.at_least(4, |run| run.fairness().is_at_least(0.8));
/// ```
pub struct Seeds {
    path: Path,
    /// Without captures, which are large: the run of one seed is repeated for its files.
    outcomes: Vec<(u64, Outcome)>,
}

impl Path {
    /// Runs it once for each seed, for conditions that must hold in all of them, or in so many.
    ///
    /// # Panics
    /// With what is wrong, if it cannot be run.
    #[track_caller]
    pub fn over(&self, seeds: impl IntoIterator<Item = u64>) -> Seeds {
        let bare = self.clone().without_capture();
        Seeds { outcomes: seeds.into_iter().map(|seed| (seed, bare.run(seed))).collect(), path: self.clone() }
    }
}

impl Seeds {
    /// Each seed and its run.
    pub fn outcomes(&self) -> impl Iterator<Item = (u64, &Outcome)> {
        self.outcomes.iter().map(|(seed, outcome)| (*seed, outcome))
    }

    /// Asserts that a condition holds in every seed.
    #[track_caller]
    pub fn all(&self, condition: impl Fn(&Outcome) -> Check) {
        self.at_least(self.outcomes.len().max(1), condition);
    }

    /// Asserts that a condition holds in so many of the seeds.
    #[track_caller]
    pub fn at_least(&self, needed: usize, condition: impl Fn(&Outcome) -> Check) {
        let tally = self.tally(needed, condition);
        if tally.holds() {
            return;
        }
        let files = tally.worst_seed().map(|seed| format!("\n{}", write_files(&self.path, seed)));
        panic!("{}{}", tally.summary(), files.unwrap_or_default());
    }

    pub(crate) fn tally(&self, needed: usize, condition: impl Fn(&Outcome) -> Check) -> Tally {
        Tally { checks: self.outcomes().map(|(seed, outcome)| (seed, condition(outcome))).collect(), needed }
    }
}

/// Repeats a run and writes its files into a folder of the seed; says what was run and where they are.
#[track_caller]
pub(crate) fn write_files(path: &Path, seed: u64) -> String {
    let outcome = path.in_folder(&format!("seed-{seed}")).run(seed);
    format!("{}\n{}", outcome.title(), outcome.write_files())
}
