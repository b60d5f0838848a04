//! Histograms of delays with buckets of about one percent: small enough for one per flow, and mergeable. Only doublings in
//! which there is a delay take memory.

/// Buckets per doubling.
const STEPS: u64 = 64;
const STEP_BITS: u32 = STEPS.trailing_zeros();
/// Values are counted in units of 1.024 microseconds.
const UNIT_BITS: u32 = 10;
/// Up to 2^30 units: eighteen minutes. Longer delays fall into the last bucket.
const BUCKETS: usize = (30 - STEP_BITS as usize) * STEPS as usize + STEPS as usize;

/// Doublings, with one for what is below the first.
const PAGES: usize = BUCKETS / STEPS as usize;

/// Counts of delays.
#[derive(Clone, Debug, Default)]
pub struct Histogram {
    pages: Box<Pages>,
}

/// The buckets of the doublings that have any counts.
#[derive(Clone, Debug)]
struct Pages {
    /// Where each doubling is among `counts`; beyond its end if it has none.
    places: [u8; PAGES],
    counts: Vec<[u32; STEPS as usize]>,
}

impl Default for Pages {
    fn default() -> Pages {
        Pages { places: [u8::MAX; PAGES], counts: Vec::new() }
    }
}

impl Pages {
    #[inline]
    fn add(&mut self, bucket: usize, count: u32) {
        let (page, step) = (bucket / STEPS as usize, bucket % STEPS as usize);
        match self.counts.get_mut(usize::from(self.places[page])) {
            Some(counts) => counts[step] += count,
            None => self.open(page, step, count),
        }
    }

    #[cold]
    fn open(&mut self, page: usize, step: usize, count: u32) {
        self.places[page] = self.counts.len() as u8;
        self.counts.reserve_exact(1);
        self.counts.push([0; STEPS as usize]);
        self.counts[usize::from(self.places[page])][step] = count;
    }
}

impl Histogram {
    /// Counts one delay.
    #[inline]
    pub fn record(&mut self, nanos: u64) {
        self.pages.add(bucket(nanos), 1);
    }

    /// Counts `count` delays of the same length.
    pub fn record_many(&mut self, nanos: u64, count: u32) {
        self.pages.add(bucket(nanos), count);
    }

    /// Adds the counts of another histogram.
    pub fn merge(&mut self, other: &Histogram) {
        other.buckets().for_each(|(bucket, count)| self.pages.add(bucket, count));
    }

    /// Whether it can be that of `count` delays that sum up to `sum` nanoseconds.
    pub fn agrees(&self, count: u64, sum: u128) -> bool {
        let (mut counted, mut low, mut high) = (0, 0u128, 0u128);
        for (index, of_bucket) in self.buckets() {
            let (least, width) = (low_end(index), 1 << (shift(index) + u64::from(UNIT_BITS)));
            counted += u64::from(of_bucket);
            low += u128::from(of_bucket) * u128::from(least);
            // The last bucket has what is longer, too.
            let most =
                if index == BUCKETS - 1 { u128::from(u64::MAX) } else { u128::from(least + width - 1) };
            high += u128::from(of_bucket) * most;
        }
        counted == count && (low..=high).contains(&sum)
    }

    /// Removes all.
    pub fn clear(&mut self) {
        *self.pages = Pages::default();
    }

    /// The buckets that are not empty: the middle of each, in nanoseconds, and its count.
    pub fn iter(&self) -> impl Iterator<Item = (u64, u32)> + Clone + '_ {
        self.buckets().map(|(bucket, count)| (middle(bucket), count))
    }

    /// The numbers of the buckets that are not empty, and their counts.
    fn buckets(&self) -> impl Iterator<Item = (usize, u32)> + Clone + '_ {
        let pages = self.pages.places.iter().enumerate();
        pages
            .filter_map(|(page, place)| Some((page, self.pages.counts.get(usize::from(*place))?)))
            .flat_map(|(page, counts)| (page * STEPS as usize..).zip(counts.iter().copied()))
            .filter(|(_, count)| *count > 0)
    }

    /// The smallest bucket at or below which a share `quantile` of the delays lies, in milliseconds.
    pub fn quantile_ms(&self, quantile: f64) -> Option<f64> {
        let total: u64 = self.buckets().map(|(_, count)| u64::from(count)).sum();
        let wanted = ((total as f64 * quantile).ceil() as u64).max(1);
        let mut seen = 0;
        self.iter().find_map(|(nanos, count)| {
            seen += u64::from(count);
            (seen >= wanted).then_some(nanos as f64 / 1e6)
        })
    }
}

/// Linear up to twice [`STEPS`] units, then [`STEPS`] buckets per doubling.
#[inline]
fn bucket(nanos: u64) -> usize {
    let units = nanos >> UNIT_BITS;
    let shift = (63 - (units | STEPS).leading_zeros()) - STEP_BITS;
    let index = u64::from(shift) * STEPS + (units >> shift);
    (index as usize).min(BUCKETS - 1)
}

/// Lowest delay of a bucket in nanoseconds.
fn low_end(index: usize) -> u64 {
    let shift = shift(index);
    ((index as u64 - shift * STEPS) << shift) << UNIT_BITS
}

/// Middle of a bucket in nanoseconds.
fn middle(index: usize) -> u64 {
    low_end(index) + (1 << (shift(index) + u64::from(UNIT_BITS) - 1))
}

/// Width of the bucket that holds `nanos`, in nanoseconds.
pub fn width(nanos: u64) -> u64 {
    1 << (shift(bucket(nanos)) + u64::from(UNIT_BITS))
}

/// How often the width of a bucket has doubled.
fn shift(index: usize) -> u64 {
    (index as u64 / STEPS).saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_a_bucket_is_within_one_percent_of_what_fell_into_it() {
        for nanos in (0..40).flat_map(|bits| [0, 1, 3].map(|extra| (1_u64 << bits) + extra * (1 << bits) / 5))
        {
            let found = middle(bucket(nanos));
            let error = found.abs_diff(nanos);
            assert!(error <= 1024.max(nanos / 100), "{nanos} became {found}");
        }
    }

    #[test]
    fn a_bucket_reaches_half_its_width_to_either_side_of_its_middle() {
        for index in [0, 1, 63, 64, 127, 128, 129, 700, BUCKETS - 1] {
            let (middle, half) = (middle(index), width(middle(index)) / 2);
            assert_eq!(bucket(middle - half), index);
            assert_eq!(bucket(middle + half - 1), index);
            assert_eq!(bucket(middle + half), (index + 1).min(BUCKETS - 1));
        }
        // 2.2 s is 2^31 ns and more: a doubling has 64 buckets, so they are 2^31 / 64 wide.
        assert_eq!(width(2_200_000_000), 1 << 25);
    }

    #[test]
    fn quantiles_are_those_of_the_sorted_values() {
        let mut histogram = Histogram::default();
        (1..=1000).for_each(|ms| histogram.record(ms * 1_000_000));
        for (quantile, ms) in [(0.5, 500.0), (0.95, 950.0), (0.99, 990.0)] {
            let found = histogram.quantile_ms(quantile).unwrap();
            assert!((found / ms - 1.0).abs() < 0.01, "{quantile}: {found}");
        }
        assert_eq!(Histogram::default().quantile_ms(0.5), None);
    }

    #[test]
    fn a_histogram_agrees_with_the_delays_it_was_made_of_and_with_no_others() {
        let (mut histogram, delays) = (Histogram::default(), [0, 900, 70_000, 3_000_000, 3_000_001]);
        delays.iter().for_each(|nanos| histogram.record(*nanos));
        let sum = delays.iter().copied().map(u128::from).sum::<u128>();
        assert!(histogram.agrees(5, sum) && !histogram.agrees(4, sum));
        assert!(!histogram.agrees(5, sum / 2) && !histogram.agrees(5, sum * 2));
        histogram.record(1 << 60);
        assert!(histogram.agrees(6, sum + (1 << 60)) && !histogram.agrees(6, sum));
        let mut short = Histogram::default();
        (0..1000).for_each(|_| short.record(10_000_000));
        assert!(short.agrees(1000, 10_000_000_000));
        assert!(!short.agrees(1000, 1000 * (10_000_000 + u128::from(width(10_000_000)))));
        assert!(Histogram::default().agrees(0, 0) && !Histogram::default().agrees(0, 1));
    }

    #[test]
    fn few_values_take_few_bytes() {
        let mut histogram = Histogram::default();
        (0..100).for_each(|step| histogram.record(20_000_000 + step * 100_000));
        assert_eq!((histogram.pages.counts.len(), histogram.pages.counts.capacity()), (1, 1));
        assert!(size_of::<Pages>() + size_of_val(histogram.pages.counts.as_slice()) <= 320);
        assert_eq!(size_of::<Option<Histogram>>(), 8);
        histogram.clear();
        assert_eq!(histogram.iter().count(), 0);
    }

    #[test]
    fn merging_adds_counts() {
        let (mut left, mut right) = (Histogram::default(), Histogram::default());
        left.record(5_000_000);
        right.record_many(5_000_000, 2);
        right.record(u64::MAX);
        left.merge(&right);
        let counts: Vec<u32> = left.iter().map(|(_, count)| count).collect();
        assert_eq!(counts, [3, 1]);
    }
}
