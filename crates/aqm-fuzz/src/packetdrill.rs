//! Whatever a script of packetdrill holds, it is played or refused in one line that names a line of it, and soon.

use aqm_sim::packetdrill::replay;

pub(crate) fn run(text: &str) {
    // An included file is the script itself: a circle must end.
    let include =
        |path: &str| if path.len().is_multiple_of(2) { Ok(text.to_owned()) } else { Err(String::new()) };
    if let Err(problem) = replay("script", text, &include) {
        let lines = text.split('\n').count();
        assert!((1..=lines).contains(&problem.line), "{text:?}: {problem}");
        assert!(!problem.to_string().contains('\n'), "{text:?}: {problem}");
    }
}
