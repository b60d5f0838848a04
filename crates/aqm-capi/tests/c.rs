//! The library as C and C++ programs use it: they are compiled, linked and run here, under valgrind too where that is.

use std::path::{Path, PathBuf};
use std::process::Command;

const HERE: &str = env!("CARGO_MANIFEST_DIR");
/// What programs with the static library need.
const STATIC: [&str; 5] = ["-lgcc_s", "-lpthread", "-lm", "-ldl", "-lc"];
const STRICT: [&str; 5] = ["-Wall", "-Wextra", "-pedantic", "-Werror", "-O1"];

/// The folder with the libraries that were built for this test.
fn built() -> PathBuf {
    std::env::current_exe().unwrap().parent().unwrap().to_owned()
}

/// A file or folder for this test alone.
fn place(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// Whether a tool is there; says so if it is not.
fn has(tool: &str) -> bool {
    let found = Command::new(tool).arg("--version").output().is_ok();
    if !found {
        eprintln!("skipped: {tool} is not installed");
    }
    found
}

/// Runs a program that must succeed; what it printed on standard output.
fn run(command: &mut Command) -> String {
    let done = command.output().unwrap();
    let errors = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{command:?}: {}\n{errors}", done.status);
    String::from_utf8(done.stdout).unwrap()
}

/// Compiles sources of `folder` by `compiler` and links the static library.
fn compile(compiler: &[&str], folder: &str, sources: &[&str], name: &str) -> PathBuf {
    let program = place(name);
    let folder = Path::new(HERE).join(folder);
    let mut command = Command::new(compiler[0]);
    command.args(&compiler[1..]).args(STRICT).arg("-I").arg(Path::new(HERE).join("include"));
    command.args(sources.iter().map(|source| folder.join(source))).args(["-x", "none"]);
    command.arg(built().join("libaqmlab.a")).args(STATIC).arg("-o").arg(&program);
    run(&mut command);
    program
}

const C99: [&str; 2] = ["cc", "-std=c99"];
const CPP17: [&str; 4] = ["c++", "-std=c++17", "-x", "c++"];
const TOY: [&str; 2] = ["transport.c", "toy_bottleneck.c"];
const OURS: [&str; 2] = ["transport.c", "aqmlab_bottleneck.c"];
const PATH: [&str; 1] = ["over_a_path.c"];

#[test]
fn the_example_has_the_toys_results_with_a_fifo_and_a_shorter_queue_with_codel() {
    if !has("cc") {
        return;
    }
    let toy = compile(&C99, "examples", &TOY, "toy");
    let ours = compile(&C99, "examples", &OURS, "ours");
    let with = |program: &Path, discipline: &str| run(Command::new(program).arg(discipline));
    let expected = with(&toy, "fifo limit 50p");
    assert_eq!(with(&ours, "fifo limit 50p"), expected);
    let delay =
        |text: &str| -> f64 { text.split(", ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap() };
    let with_codel = with(&ours, "codel ecn limit 50p");
    let (before, after) = (delay(&expected), delay(&with_codel));
    assert!(after < before / 2.0, "{before} ms with a tail drop, {after} ms with CoDel");
    let wrong = Command::new(&ours).arg("coddel").output().unwrap();
    assert_eq!(wrong.status.code(), Some(2));
    let error = String::from_utf8(wrong.stderr).unwrap();
    assert!(error.starts_with("aqm: unknown discipline 'coddel', did you mean 'codel'?"), "{error}");
    let page = std::fs::read_to_string(Path::new(HERE).join("../../docs/how-to/c.md")).unwrap();
    for shown in [expected, with_codel, error] {
        assert!(page.contains(&shown), "docs/how-to/c.md does not show: {shown}");
    }
}

#[test]
fn the_example_over_a_path_shows_what_the_page_says() {
    if !has("cc") {
        return;
    }
    let program = compile(&C99, "examples", &PATH, "over-a-path");
    let with = |path: &str| run(Command::new(&program).arg(path));
    let page = std::fs::read_to_string(Path::new(HERE).join("../../docs/how-to/c.md")).unwrap();
    for path in ["aqm fifo limit 50p", "aqm codel ecn limit 50p", "aqm pie ecn; flows 2*cubic; loss 0.1%"] {
        let shown = format!("$ ./over_a_path \"{path}\"\n{}", with(path));
        assert!(page.contains(&shown), "docs/how-to/c.md does not show: {shown}");
    }
    let wrong = Command::new(&program).arg("aqm codel; lose 1%").output().unwrap();
    assert_eq!(wrong.status.code(), Some(2));
    assert!(
        String::from_utf8(wrong.stderr).unwrap().starts_with("unknown option 'lose', did you mean 'loss'?")
    );
}

#[test]
fn header_and_examples_are_cpp_too() {
    if !has("c++") {
        return;
    }
    let path = compile(&CPP17, "examples", &PATH, "over-a-path-cpp");
    assert!(run(Command::new(path).arg("aqm pie ecn")).contains("of the link used"));
    let ours = compile(&CPP17, "examples", &OURS, "ours-cpp");
    assert!(run(Command::new(ours).arg("pie ecn")).contains("of the link used"));
}

#[test]
fn every_misuse_has_its_status_and_message() {
    if !has("cc") {
        return;
    }
    let misuse = compile(&C99, "tests", &["misuse.c"], "misuse");
    assert_eq!(run(&mut Command::new(misuse)), format!("aqmlab {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn valgrind_finds_no_error() {
    if !has("cc") || !has("valgrind") {
        return;
    }
    let ours = compile(&C99, "examples", &OURS, "ours-valgrind");
    let misuse = compile(&C99, "tests", &["misuse.c"], "misuse-valgrind");
    let path = compile(&["cc", "-std=c99", "-DSECONDS=1"], "examples", &PATH, "path-valgrind");
    for (program, argument) in [(ours, "fq_codel limit 60p"), (misuse, ""), (path, "aqm fq_codel")] {
        let mut valgrind = Command::new("valgrind");
        valgrind.args(["-q", "--error-exitcode=9", "--leak-check=full", "--errors-for-leak-kinds=definite"]);
        run(valgrind.arg(program).arg(argument));
    }
}

#[test]
fn an_installed_library_is_found_by_pkg_config() {
    if !has("cc") || !has("pkg-config") {
        return;
    }
    let prefix = place("installed");
    let script = Path::new(HERE).join("../../scripts/install_capi.sh");
    run(Command::new("sh").arg(script).arg(built()).arg(&prefix));
    let flags = run(Command::new("pkg-config")
        .args(["--cflags", "--libs", "aqmlab"])
        .env("PKG_CONFIG_PATH", prefix.join("lib/pkgconfig")));
    let program = place("linked");
    let examples = Path::new(HERE).join("examples");
    run(Command::new("cc")
        .args(OURS.map(|source| examples.join(source)))
        .args(flags.split_whitespace())
        .arg("-o")
        .arg(&program));
    // By its name for the interface: libaqmlab.so is for the linker.
    std::fs::remove_file(prefix.join("lib/libaqmlab.so")).unwrap();
    let mut linked = Command::new(program);
    linked.arg("codel").env("LD_LIBRARY_PATH", prefix.join("lib"));
    assert!(run(&mut linked).contains("of the link used"));
}
