//! Transports against disciplines: which conditions hold in which cell.

use crate::check::{Check, Tally};
use crate::outcome::Outcome;
use crate::path::Path;
use crate::seeds::write_files;
use aqm_core::input_error::InputError;
use std::fmt;

/// What is asked of a run: the closure gets it, and the name of the row's group of flows.
type Condition = Box<dyn Fn(&Outcome, &str) -> Check>;

/// Every transport behind every discipline of a path, with the same conditions for each cell.
///
/// ```
/// use aqm_testbed::{Matrix, Path};
/// let cells = Matrix::new(Path::new("10mbit", "40ms"))
///     .transports(["2*cubic", "2*newreno"])
///     .disciplines(["fifo", "pie"])
///     .over(1..=3)
///     .test("G", |run, flows| run.goodput(flows).is_at_least(8.0))
///     .test("D", |run, _| run.qdelay_mean().is_at_most(20.0))
///     .run();
/// println!("{cells}");
/// // A bloated FIFO is known to fail: were it to pass, this would say so.
/// cells.fail_only(&[("2*cubic", "fifo", "D"), ("2*newreno", "fifo", "D")]);
/// ```
pub struct Matrix {
    path: Path,
    transports: Vec<String>,
    disciplines: Vec<String>,
    seeds: Vec<u64>,
    /// In how many seeds a condition must hold; in all unless given.
    needed: Option<usize>,
    tests: Vec<(String, Condition)>,
}

/// A cell that was asked a condition.
struct Cell {
    path: Path,
    transport: String,
    discipline: String,
    test: String,
    tally: Tally,
}

/// What became of a [`Matrix`]: it prints as a table with a mark and the names of the conditions in each cell.
pub struct Cells {
    transports: Vec<String>,
    disciplines: Vec<String>,
    tests: Vec<String>,
    cells: Vec<Cell>,
}

impl Matrix {
    /// Of this path, whose own flows, if it has some, are beside those of every row.
    pub fn new(path: Path) -> Matrix {
        let none = Vec::new;
        Matrix {
            path,
            transports: none(),
            disciplines: none(),
            seeds: vec![1],
            needed: None,
            tests: Vec::new(),
        }
    }

    /// The rows: flows, as [`Path::flows`] takes them.
    #[must_use]
    pub fn transports<T: Into<String>>(self, flows: impl IntoIterator<Item = T>) -> Matrix {
        Matrix { transports: flows.into_iter().map(Into::into).collect(), ..self }
    }

    /// The columns: disciplines, as [`Path::aqm`] takes them.
    #[must_use]
    pub fn disciplines<T: Into<String>>(self, aqms: impl IntoIterator<Item = T>) -> Matrix {
        Matrix { disciplines: aqms.into_iter().map(Into::into).collect(), ..self }
    }

    /// The seeds of each cell; 1 alone unless given.
    #[must_use]
    pub fn over(self, seeds: impl IntoIterator<Item = u64>) -> Matrix {
        Matrix { seeds: seeds.into_iter().collect(), ..self }
    }

    /// In how many seeds a condition must hold; in all unless given.
    #[must_use]
    pub fn in_at_least(self, needed: usize) -> Matrix {
        Matrix { needed: Some(needed), ..self }
    }

    /// A condition of every cell, under a short name for the table.
    #[must_use]
    pub fn test(mut self, name: &str, condition: impl Fn(&Outcome, &str) -> Check + 'static) -> Matrix {
        self.tests.push((name.to_owned(), Box::new(condition)));
        self
    }

    /// Runs every cell.
    ///
    /// # Panics
    /// With what is wrong, if a cell cannot be run, or if rows, columns, seeds or conditions are missing or named twice.
    #[track_caller]
    pub fn run(&self) -> Cells {
        let tests: Vec<String> = self.tests.iter().map(|(name, _)| name.clone()).collect();
        for (what, names) in
            [("transports", &self.transports), ("disciplines", &self.disciplines), ("tests", &tests)]
        {
            assert!(!names.is_empty(), "the matrix has no {what}");
            let twice = names.iter().enumerate().find(|(place, name)| names[..*place].contains(name));
            assert!(twice.is_none(), "the matrix has two {what} '{}'", twice.map_or("", |(_, name)| name));
        }
        let (count, needed) = (self.seeds.len(), self.needed.unwrap_or(self.seeds.len()));
        assert!(count > 0, "the matrix has no seeds");
        assert!((1..=count).contains(&needed), "of {count} seeds a condition cannot hold in {needed}");
        // What cannot be read is refused before the first run.
        let places: Vec<(&String, &String, Path)> = self
            .transports
            .iter()
            .flat_map(|transport| self.disciplines.iter().map(move |discipline| (transport, discipline)))
            .map(|(transport, discipline)| {
                let folder = format!("{}-{}", plain(transport), plain(discipline));
                (transport, discipline, self.path.in_folder(&folder).aqm(discipline).flows(transport))
            })
            .collect();
        let mut cells = Vec::new();
        for (transport, discipline, path) in places {
            let runs = path.over(self.seeds.iter().copied());
            let flows = path.last_group();
            cells.extend(self.tests.iter().map(|(test, condition)| Cell {
                path: path.clone(),
                transport: transport.clone(),
                discipline: discipline.clone(),
                test: test.clone(),
                tally: runs.tally(needed, |run| condition(run, &flows)),
            }));
        }
        Cells { transports: self.transports.clone(), disciplines: self.disciplines.clone(), tests, cells }
    }
}

impl Cells {
    /// Whether a condition holds in a cell.
    ///
    /// # Panics
    /// For a row, a column or a condition that is not there, with the nearest name.
    #[track_caller]
    pub fn holds(&self, transport: &str, discipline: &str, test: &str) -> bool {
        self.cell(transport, discipline, test).tally.holds()
    }

    /// Asserts that every condition holds in every cell.
    #[track_caller]
    pub fn all_pass(&self) {
        self.fail_only(&[]);
    }

    /// Asserts that every condition holds but those that are named as transport, discipline and test, and that those do not: a
    /// list of known failures stays true.
    #[track_caller]
    pub fn fail_only(&self, known: &[(&str, &str, &str)]) {
        let is_known = |cell: &Cell| {
            known.contains(&(cell.transport.as_str(), cell.discipline.as_str(), cell.test.as_str()))
        };
        let mut lines = Vec::new();
        for (transport, discipline, test) in known {
            if self.holds(transport, discipline, test) {
                lines.push(format!(
                    "{transport} behind {discipline} passes {test}: it is no known failure any more"
                ));
            }
        }
        for cell in self.cells.iter().filter(|cell| !cell.tally.holds() && !is_known(cell)) {
            let Cell { path, transport, discipline, test, tally } = cell;
            lines.push(format!("{transport} behind {discipline} fails {test}: {}", tally.summary()));
            lines.extend(tally.worst_seed().map(|seed| write_files(path, seed)));
        }
        if !lines.is_empty() {
            panic!("{self}\n{}", lines.join("\n"));
        }
    }

    #[track_caller]
    fn cell(&self, transport: &str, discipline: &str, test: &str) -> &Cell {
        for (what, name, names) in [
            ("transport", transport, &self.transports),
            ("discipline", discipline, &self.disciplines),
            ("test", test, &self.tests),
        ] {
            if !names.iter().any(|one| one == name) {
                panic!("{}", InputError::unknown(what, name, names.iter().map(String::as_str)));
            }
        }
        let is_it =
            |cell: &&Cell| cell.transport == transport && cell.discipline == discipline && cell.test == test;
        self.cells.iter().find(is_it).expect("every condition was asked of every cell")
    }

    /// What a cell of the table has: the conditions that hold, and those that do not.
    fn marks(&self, transport: &str, discipline: &str) -> String {
        let names = |holds: bool| {
            let own = self.tests.iter().filter(|test| self.holds(transport, discipline, test) == holds);
            own.map(String::as_str).collect::<Vec<_>>().join(",")
        };
        let marked = [("✓", names(true)), ("✗", names(false))];
        let marked = marked.iter().filter(|(_, names)| !names.is_empty());
        marked.map(|(mark, names)| format!("{mark} {names}")).collect::<Vec<_>>().join("  ")
    }
}

impl fmt::Display for Cells {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let head = std::iter::once(String::new()).chain(self.disciplines.iter().cloned()).collect();
        let mut rows: Vec<Vec<String>> = vec![head];
        for transport in &self.transports {
            let cells = self.disciplines.iter().map(|discipline| self.marks(transport, discipline));
            rows.push(std::iter::once(transport.clone()).chain(cells).collect());
        }
        let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..=self.disciplines.len()).map(width).collect();
        for row in &rows {
            let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
            writeln!(f, "{}", cells.collect::<Vec<_>>().join("   ").trim_end())?;
        }
        // The first cell speaks for all: a condition is the same everywhere but for its group.
        for Cell { test, tally, .. } in &self.cells[..self.tests.len()] {
            let condition = tally.checks.first().map_or("", |(_, check)| &check.condition);
            let seeds = match (tally.needed, tally.checks.len()) {
                (1, 1) => String::new(),
                (needed, count) => format!(", in {needed} of {count} seeds"),
            };
            writeln!(f, "{test}: {condition}{seeds}")?;
        }
        Ok(())
    }
}

/// A text as part of a folder's name.
fn plain(text: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || ".-_".contains(letter);
    text.chars().map(|letter| if is_plain(letter) { letter } else { '_' }).collect()
}
