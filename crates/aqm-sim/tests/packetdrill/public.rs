//! Scripts of packetdrill's repository, for whoever has them: what `docs/reference/packetdrill.md` reports of each.

use aqm_sim::packetdrill::replay;
use std::path::Path;

#[test]
fn public_scripts_are_passed_as_the_page_reports() {
    let Some(root) = std::env::var_os("AQMLAB_PACKETDRILL") else {
        println!("skipped: AQMLAB_PACKETDRILL names no checkout of https://github.com/google/packetdrill");
        return;
    };
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/packetdrill.md");
    let page = std::fs::read_to_string(page).unwrap();
    let mut played = 0;
    for row in page.lines().filter(|line| line.starts_with("| ") && line.contains('/')) {
        let cells: Vec<&str> = row.split(" | ").collect();
        let [script, result, difference, ..] = cells[..] else { panic!("{row}") };
        let script = Path::new(&root)
            .join("gtests/net/tcp")
            .join(script.trim_start_matches("| "))
            .with_extension("pkt");
        let text =
            std::fs::read_to_string(&script).unwrap_or_else(|error| panic!("{}: {error}", script.display()));
        let folder = script.parent().unwrap();
        let include =
            |path: &str| std::fs::read_to_string(folder.join(path)).map_err(|error| error.to_string());
        match replay("script", &text, &include) {
            Ok(()) => assert_eq!(result, "pass", "{row}"),
            Err(problem) => {
                assert_eq!(format!("line {}: {}", problem.line, problem.text), difference, "{row}");
                assert_eq!(result, "fail", "{row}");
            }
        }
        played += 1;
    }
    assert!(played >= 40, "{played}");
}
