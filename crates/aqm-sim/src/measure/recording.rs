//! The time series while it is recorded.

use crate::metrics::registry::Part;
use crate::report::Series;
use aqm_core::units::Time;

/// Instants, and columns in the order in which samples bring them. A value belongs to the column behind that of the value
/// before, unless there is something new: so names are only compared, neither made nor looked up.
#[derive(Default)]
pub(crate) struct Recording {
    time_s: Vec<f64>,
    columns: Vec<Column>,
    /// The column that the next value probably belongs to.
    next: usize,
}

struct Column {
    name: String,
    values: Vec<f64>,
}

impl Recording {
    /// Begins a point; every column gets one value at most before the next.
    pub(crate) fn begin(&mut self, now: Time) {
        self.time_s.push(now.as_secs_f64());
        self.next = 0;
    }

    /// The value of a part's column at this point.
    #[inline]
    pub(crate) fn put(&mut self, part: &Part, column: &str, value: f64) {
        if !self.columns.get(self.next).is_some_and(|next| part.is_of(&next.name, column)) {
            self.next = self.find(part, column);
        }
        self.columns[self.next].values.push(value);
        self.next += 1;
    }

    /// The column of this name, a new one before the expected if there is none.
    #[cold]
    fn find(&mut self, part: &Part, column: &str) -> usize {
        let known = self.columns.iter().position(|known| part.is_of(&known.name, column));
        known.unwrap_or_else(|| {
            // What comes late was unknown before.
            let values = vec![f64::NAN; self.time_s.len() - 1];
            self.columns.insert(self.next, Column { name: part.of(column), values });
            self.next
        })
    }

    /// The points after the first `points`.
    pub(crate) fn after(&self, points: usize) -> Series {
        let tail = |values: &[f64]| values.iter().skip(points).copied().collect();
        let columns = self.columns.iter().map(|column| (column.name.clone(), tail(&column.values)));
        Series { time_s: tail(&self.time_s), columns: columns.collect() }
    }
}

impl From<Recording> for Series {
    fn from(recording: Recording) -> Series {
        let columns = recording.columns.into_iter().map(|column| (column.name, column.values));
        Series { time_s: recording.time_s, columns: columns.collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::registry::PORT;

    #[test]
    fn what_comes_late_was_unknown_and_columns_keep_their_values_in_any_order() {
        let (mut recording, part) = (Recording::default(), PORT.part("x"));
        let points: [&[(&Part, &str, f64)]; 3] = [
            &[(&Part::WHOLE, "a", 1.0), (&Part::WHOLE, "b", 2.0)],
            &[(&Part::WHOLE, "a", 3.0), (&part, "a", 4.0), (&Part::WHOLE, "b", 5.0)],
            &[(&Part::WHOLE, "b", 6.0), (&Part::WHOLE, "a", 7.0), (&part, "a", 8.0)],
        ];
        for (second, values) in points.iter().enumerate() {
            recording.begin(Time::from_nanos(second as u64 * 1_000_000_000));
            values.iter().for_each(|(part, column, value)| recording.put(part, column, *value));
        }
        let last = recording.after(2);
        assert_eq!((last.time_s, last.columns["port.x.a"].clone()), (vec![2.0], vec![8.0]));
        let series = Series::from(recording);
        assert_eq!(
            (&series.columns["a"], &series.columns["b"]),
            (&vec![1.0, 3.0, 7.0], &vec![2.0, 5.0, 6.0])
        );
        assert!(series.columns["port.x.a"][0].is_nan());
        assert_eq!(series.columns["port.x.a"][1..], [4.0, 8.0]);
    }
}
