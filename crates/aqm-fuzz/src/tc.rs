//! Whatever is pasted from tc, it is refused in one line, or its translation reads alike in the laboratory's notation and each
//! note is a line.

use crate::refusal::one_line;
use aqm_core::spec::Spec;

pub(crate) fn run(text: &str) {
    // Without tc's first word most bytes would be refused at once.
    let texts = [text.to_owned(), format!("tc qdisc add dev eth0 root {text}"), format!("qdisc {text}")];
    for text in texts.iter().filter(|text| aqm_scenario::tc::is_tc(text)) {
        match aqm_scenario::tc::translate(text) {
            Ok(found) => {
                let canonical = found.spec.to_string();
                assert_eq!(Spec::parse(&canonical).map(|again| again.to_string()), Ok(canonical));
                for note in &found.notes {
                    one_line(text, note);
                }
            }
            Err(error) => one_line(text, &error),
        }
    }
}
