//! A figure held against a bound, as a value: what is asked of several runs.

/// What [`MeasuredValue::is_at_least`](crate::MeasuredValue::is_at_least) and its like found.
#[derive(Clone, Debug)]
#[must_use]
pub struct Check {
    /// As `goodput of cubic`.
    pub(crate) quantity: String,
    /// As `at least 8 Mbit/s`.
    pub(crate) bound: String,
    /// Both, whichever group it is about: `goodput at least 8 Mbit/s`.
    pub(crate) condition: String,
    /// As `7.1204 Mbit/s`.
    pub(crate) found: String,
    /// How far the figure is on the wrong side; infinite for one that is undefined.
    pub(crate) excess: f64,
}

impl Check {
    /// Whether the figure is on the right side of the bound; an undefined one is not.
    pub fn holds(&self) -> bool {
        self.excess <= 0.0
    }
}

/// Said where seeds tell nothing about chance.
const SAME: &str = "\n  every seed gave the same: nothing here is random; cross traffic would be";

/// The checks of one condition, by seed.
pub(crate) struct Tally {
    pub(crate) checks: Vec<(u64, Check)>,
    /// In how many of them it must hold.
    pub(crate) needed: usize,
}

impl Tally {
    pub(crate) fn holds(&self) -> bool {
        self.held() >= self.needed
    }

    fn held(&self) -> usize {
        self.checks.iter().filter(|(_, check)| check.holds()).count()
    }

    /// The seed whose figure is farthest on the wrong side.
    pub(crate) fn worst_seed(&self) -> Option<u64> {
        let failed = self.checks.iter().filter(|(_, check)| !check.holds());
        // Of equal ones the first: `max_by` would take the last.
        failed
            .rev()
            .max_by(|(_, left), (_, right)| left.excess.total_cmp(&right.excess))
            .map(|(seed, _)| *seed)
    }

    /// In how many seeds it holds, and the seeds in which it does not.
    pub(crate) fn summary(&self) -> String {
        let (count, held) = (self.checks.len(), self.held());
        let Some((_, first)) = self.checks.first() else { return "there is no seed".to_owned() };
        let failed: Vec<String> = self
            .checks
            .iter()
            .filter(|(_, check)| !check.holds())
            .map(|(seed, check)| format!("\n  seed {seed}: {}", check.found))
            .collect();
        let Check { quantity, bound, .. } = first;
        let needed = self.needed;
        let is_same = count > 1 && self.checks.iter().all(|(_, check)| check.found == first.found);
        let same = if is_same { SAME } else { "" };
        format!(
            "{quantity} is {bound} in {held} of {count} seeds: it must be in {needed}{}{same}",
            failed.concat()
        )
    }
}
