//! Conditions over several seeds, and the matrix of transports and disciplines.

#[path = "aimd.rs"]
mod aimd;

use aimd::path;
use aqm_testbed::{Cells, Matrix, Path};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What a closure panics with.
fn panic_of(run: impl FnOnce()) -> String {
    let panic = catch_unwind(AssertUnwindSafe(run)).expect_err("it must panic");
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).expect("it has a message")
}

fn folder(name: &str) -> std::path::PathBuf {
    std::env::temp_dir().join(format!("aqm-testbed-{name}-{}", std::process::id()))
}

#[test]
fn a_condition_that_fails_in_too_many_seeds_names_them_and_leaves_the_files_of_the_worst() {
    let folder = folder("seeds");
    let runs = path(true).duration("3s").folder(&folder).flows("2*aimd").over(3..=8);
    let mut goodputs: Vec<(u64, f64)> =
        runs.outcomes().map(|(seed, run)| (seed, run.goodput("aimd").value().unwrap())).collect();
    assert_eq!(goodputs.iter().map(|(seed, _)| *seed).collect::<Vec<_>>(), [3, 4, 5, 6, 7, 8]);
    goodputs.sort_by(|(_, left), (_, right)| left.total_cmp(right));
    // Between the second and the third of six: four reach it.
    let bound = f64::midpoint(goodputs[1].1, goodputs[2].1);
    runs.at_least(4, |run| run.goodput("aimd").is_at_least(bound));
    let text = panic_of(|| runs.at_least(5, |run| run.goodput("aimd").is_at_least(bound)));
    let lines: Vec<&str> = text.lines().collect();
    let expected = format!("goodput of aimd is at least {bound} Mbit/s in 4 of 6 seeds: it must be in 5");
    assert_eq!(lines[0], expected);
    let mut failed = goodputs[..2].to_vec();
    failed.sort_by_key(|(seed, _)| *seed);
    let failed: Vec<String> =
        failed.iter().map(|(seed, value)| format!("  seed {seed}: {value:.4} Mbit/s")).collect();
    assert_eq!(lines[1..3], failed);
    let worst = goodputs[0].0;
    assert!(lines[3].ends_with(&format!("2 aimd, seed {worst}")), "{text}");
    let of_worst = folder.join(format!("seed-{worst}"));
    assert_eq!(lines[4], format!("see run.svg and queue.pcapng in {}", of_worst.display()));
    assert!(std::fs::metadata(of_worst.join("queue.pcapng")).unwrap().len() > 10_000);
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
    let text = panic_of(|| runs.all(|run| run.goodput("aimd").is_at_least(bound)));
    assert!(text.contains("in 4 of 6 seeds: it must be in 6\n"), "{text}");
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn seeds_that_differ_in_nothing_are_named() {
    let path = Path::new("10mbit", "40ms").duration("2s").without_capture().folder(folder("same"));
    let runs = path.flows("1*cbr:rate=2mbit:start=0s").over(1..=3);
    let text = panic_of(|| runs.all(|run| run.goodput("cbr").is_at_least(5.0)));
    assert!(text.contains("every seed gave the same: nothing here is random"), "{text}");
}

#[test]
fn an_undefined_figure_is_on_no_side_of_a_bound_and_no_seed_is_no_pass() {
    let runs =
        path(true).folder(folder("undefined")).without_capture().duration("1s").flows("1*aimd").over([1]);
    for text in [
        panic_of(|| runs.all(|run| run.metric("fct_mean_s").is_at_least(0.0))),
        panic_of(|| runs.all(|run| run.metric("fct_mean_s").is_at_most(1e9))),
    ] {
        assert!(text.contains("seed 1: undefined"), "{text}");
    }
    let none = path(true).flows("1*aimd").over([]);
    assert_eq!(panic_of(|| none.all(|run| run.fairness().is_at_least(0.0))), "there is no seed");
    std::fs::remove_dir_all(folder("undefined")).unwrap();
}

fn cells(folder: &std::path::Path) -> Cells {
    let base: Path = path(true).duration("4s").folder(folder).flows("cbr:rate=1mbit");
    Matrix::new(base)
        .transports(["2*aimd", "2*cubic"])
        .disciplines(["fifo", "pie limit 200p"])
        .over(1..=3)
        .in_at_least(2)
        .test("G", |run, flows| run.goodput(flows).is_at_least(5.0))
        .test("D", |run, _| run.qdelay_mean().is_at_most(40.0))
        .run()
}

#[test]
fn a_matrix_shows_what_passes_in_each_cell_and_knows_its_failures() {
    let folder = folder("matrix");
    let found = cells(&folder);
    assert_eq!(
        found.to_string(),
        "          fifo       pie limit 200p\n\
         2*aimd    ✓ G  ✗ D   ✓ G,D\n\
         2*cubic   ✓ G  ✗ D   ✓ G,D\n\
         G: goodput at least 5 Mbit/s, in 2 of 3 seeds\n\
         D: mean queue delay at most 40 ms, in 2 of 3 seeds\n"
    );
    let known = [("2*aimd", "fifo", "D"), ("2*cubic", "fifo", "D")];
    found.fail_only(&known);
    assert!(!folder.exists());
    // A failure that is not known leaves its files, in a folder of its cell.
    let text = panic_of(|| found.fail_only(&known[..1]));
    assert!(text.starts_with(&found.to_string()), "{text}");
    let failure =
        "\n2*cubic behind fifo fails D: mean queue delay is at most 40 ms in 0 of 3 seeds: it must be in 2\n";
    assert!(text.contains(failure) && text.matches("  seed ").count() == 3, "{text}");
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
    let of_cell = folder.join("2_cubic-fifo");
    assert!(std::fs::read_dir(of_cell).unwrap().count() == 1, "{text}");
    std::fs::remove_dir_all(&folder).unwrap();
    // A known failure that passes is none.
    let text = panic_of(|| found.fail_only(&[known[0], known[1], ("2*aimd", "fifo", "G")]));
    assert!(text.ends_with("\n2*aimd behind fifo passes G: it is no known failure any more"), "{text}");
    assert!(found.holds("2*cubic", "pie limit 200p", "D"));
    let text = panic_of(|| found.fail_only(&[("2*cubik", "fifo", "D")]));
    assert_eq!(text, "unknown transport '2*cubik', did you mean '2*cubic'?; known are 2*aimd, 2*cubic");
}

#[test]
fn a_matrix_that_asks_nothing_is_refused() {
    let whole = || Matrix::new(path(true).duration("1s")).transports(["1*aimd"]).disciplines(["fifo"]);
    let asked = || whole().test("G", |run, flows| run.goodput(flows).is_at_least(0.0));
    asked().run().all_pass();
    for (matrix, problem) in [
        (whole(), "the matrix has no tests"),
        (asked().transports([""; 0]), "the matrix has no transports"),
        (asked().disciplines(["fifo", "fifo"]), "the matrix has two disciplines 'fifo'"),
        (asked().over([]), "the matrix has no seeds"),
        (asked().over(1..=3).in_at_least(4), "of 3 seeds a condition cannot hold in 4"),
        (asked().disciplines(["fifoo"]), "aqm: unknown discipline 'fifoo', did you mean 'fifo'?"),
    ] {
        let text = panic_of(|| drop(matrix.run()));
        assert!(text.starts_with(problem), "{text}");
    }
}

/// The seeds of docs/how-to/test-transport.md.
#[test]
fn the_conditions_over_seeds_of_the_guide_hold() {
    let runs = path(true).flows("2*aimd").over(1..=10);
    runs.all(|run| run.loss("aimd").is_at_most(0.02));
    runs.at_least(9, |run| run.goodput("aimd").is_at_least(8.0));
}

/// The matrix of docs/how-to/test-transport.md.
#[test]
fn the_matrix_of_the_guide_is_as_it_prints_it() {
    let cells = Matrix::new(path(true))
        .transports(["2*aimd", "2*cubic"])
        .disciplines(["fifo limit 200p", "pie", "codel"])
        .over(1..=10)
        .in_at_least(9)
        .test("G", |run, flows| run.goodput(flows).is_at_least(8.0))
        .test("D", |run, _| run.qdelay_mean().is_at_most(30.0))
        .run();
    cells.fail_only(&[("2*aimd", "fifo limit 200p", "D"), ("2*cubic", "fifo limit 200p", "D")]);
    let guide = include_str!("../../../docs/how-to/test-transport.md");
    assert!(guide.contains(&format!("```text\n{cells}```\n")), "{cells}");
}

/// The message of docs/how-to/test-transport.md.
#[test]
fn the_failure_over_seeds_of_the_guide_is_as_it_prints_it() {
    let folder = folder("guide");
    let runs = path(true).folder(&folder).flows("2*aimd").over(1..=10);
    let text = panic_of(|| runs.at_least(9, |run| run.fairness().is_at_least(0.98)));
    let (found, _) = text.split_once("see run.svg").expect("it says where the files are");
    let guide = include_str!("../../../docs/how-to/test-transport.md");
    assert!(guide.contains(&format!("```text\n{found}see run.svg and queue.pcapng in")), "{found}");
    std::fs::remove_dir_all(folder).unwrap();
}
