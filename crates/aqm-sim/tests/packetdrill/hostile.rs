//! A script comes from anywhere: whatever it holds, it is played or refused in one line, and soon.

use super::{own_scripts, play};

/// What is put in place of a piece of a script.
const PIECES: &[&str] = &[
    "",
    "0",
    "4294967295",
    "-1",
    "999999999999999999999",
    "`",
    "%{",
    "}%",
    "(",
    "<",
    "\"",
    "\n",
    "+1000000",
    "...",
    "é",
    ":",
];

fn is_harmless(text: &str) {
    if let Err(problem) = play("a", text) {
        assert!(!problem.to_string().contains('\n'), "{problem}");
        assert!(problem.line >= 1 && problem.line <= text.lines().count().max(1), "{problem}");
    }
}

#[test]
fn a_script_that_is_cut_or_changed_anywhere_is_played_or_refused() {
    let mut number = 1_u64;
    for (_, text) in own_scripts() {
        for _ in 0..60 {
            // A linear congruential generator: any places will do, the same ones each time.
            number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let place = (number >> 33) as usize % text.len();
            let Some((before, after)) = text.split_at_checked(place) else { continue };
            is_harmless(before);
            is_harmless(after);
            let piece = PIECES[(number >> 20) as usize % PIECES.len()];
            let rest = after.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(after.len());
            is_harmless(&format!("{before}{piece}{}", &after[rest..]));
        }
    }
}

#[test]
fn a_script_that_asks_for_too_much_is_refused() {
    let start = "0 listen(3, 1) = 0\n0 < S 0:0(0) win 65535 <mss 1,wscale 14>\n0 > S. 0:0(0) ack 1 <mss 1460,wscale 8>\n\
                 0 < . 1:1(0) ack 1 win 65535\n0 accept(3, ..., ...) = 4\n0 write(4, ..., 2147483648) = 2147483648\n";
    let all: String =
        (1..25).map(|n| format!("+.1 < . 1:1(0) ack {} win 65535\n", 1 + 10 * ((1_u64 << n) - 1))).collect();
    let problem = play("a", &format!("{start}{all}")).unwrap_err();
    assert!(problem.text.contains("more than 1000000 segments and timers"), "{problem}");
    let waits = format!("{start}+1000000 close(4) = 0\n");
    play("a", &waits).unwrap();
}

#[test]
fn values_at_their_limits_do_no_harm() {
    for line in [
        "0 < . 4294967295:4294967295(0) ack 4294967295 win 65535 <sack 1:4294967295 4294967294:4294967295>",
        "0 < . 0:0(0) ack 0 win 0 <TS val 4294967295 ecr 4294967295>",
        "0 < F. 1:4294967295(4294967294) ack 1 win 0",
        "0 write(4, ..., 0) = 0",
        "+1000000 write(4, ..., 5000) = 5000",
        "`ip route change a initcwnd 10000`",
    ] {
        let start = "--tcp=cubic recovery.rack on recovery.prr on\n0 listen(3, 1) = 0\n0 < S 0:0(0) win 1 <mss 100,sackOK,TS val 0 ecr 0,wscale 14>\n\
                     0 > S. 0:0(0) ack 1 <...>\n0 < . 1:1(0) ack 1 win 65535 <TS val 0 ecr 0>\n0 accept(3, ..., ...) = 4\n";
        is_harmless(&format!("{start}{line}\n+.1 write(4, ..., 50000) = 50000\n{line}\n+100 close(4) = 0\n"));
    }
}
