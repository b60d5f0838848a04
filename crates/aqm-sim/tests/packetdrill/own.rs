//! Our own scripts, and that they can fail.

use super::{own_scripts, play};

#[test]
fn every_script_passes() {
    let scripts = own_scripts();
    assert!(scripts.len() >= 50, "{}", scripts.len());
    let wrong: Vec<String> =
        scripts.iter().filter_map(|(file, text)| Some(play(file, text).err()?.to_string())).collect();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// A script that says something else in one of its lines fails in that line, or in one after it.
#[test]
fn every_expected_segment_and_every_assertion_matters() {
    let mut changed = 0;
    for (file, text) in own_scripts() {
        for (number, line) in text.lines().enumerate() {
            let Some(other) = falsified(line) else { continue };
            let script: Vec<&str> =
                text.lines().enumerate().map(|(n, kept)| if n == number { &other } else { kept }).collect();
            let problem = play(&file, &script.join("\n")).expect_err(&format!("{file}: {other}"));
            assert!(problem.line > number && !problem.is_unsupported, "{other}: {problem}");
            changed += 1;
        }
    }
    assert!(changed > 300, "{changed}");
}

/// The line with a segment 100 bytes further on, or with another number after its last `==`.
fn falsified(line: &str) -> Option<String> {
    let code = line.split("//").next().unwrap_or_default();
    if let Some(at) = code.rfind("== ") {
        let (before, number) = code.split_at(at + 3);
        let number: u64 = number.split_whitespace().next()?.parse().ok()?;
        return Some(format!("{before}{} }}%", number + 1));
    }
    let (before, after) = code.split_once(" > ")?;
    let (range, rest) = after.split_once('(')?;
    let (flags, range) = range.rsplit_once(' ')?;
    let (start, end) = range.split_once(':')?;
    let shifted = |text: &str| Some(text.parse::<u64>().ok()? + 100);
    Some(format!("{before} > {flags} {}:{}({rest}", shifted(start)?, shifted(end)?))
}

/// A connection of Linux with segments of 1000 bytes, and the lines that follow.
fn linux(lines: &str) -> String {
    format!(
        "0 listen(3, 1) = 0\n0 < S 0:0(0) win 32792 <mss 1000,sackOK,nop,nop,nop,wscale 7>\n\
         0 > S. 0:0(0) ack 1 <mss 1460,nop,nop,sackOK,nop,wscale 8>\n\
         +.1 < . 1:1(0) ack 1 win 320\n+0 accept(3, ..., ...) = 4\n{lines}"
    )
}

#[test]
fn what_is_not_sent_as_expected_is_named() {
    for (lines, problem) in [
        (
            "+0 write(4, ..., 1000) = 1000\n+0 > P. 1:2001(2000) ack 1",
            "7: nothing is sent until 0.100000 s; the next timer",
        ),
        (
            "+0 write(4, ..., 2000) = 2000\n+0 > P. 1:1001(1000) ack 1\n+0 > P. 1:1001(1000) ack 1",
            "8: sent . 1001:2001(1000)",
        ),
        (
            "+0 write(4, ..., 1000) = 1000\n+.1 > P. 1:1001(1000) ack 1",
            "7: sent . 1:1001(1000) at 0.100000 s, not at 0.200000 s",
        ),
        (
            "+0 write(4, ..., 1000) = 1000\n+0 > W. 1:1001(1000) ack 1",
            "7: sent . 1:1001(1000) at 0.100000 s, not with W.",
        ),
        (
            "+0 write(4, ..., 1000) = 1000\n+0 > . 1:1001(1000) ack 2",
            "7: sent . 1:1001(1000) at 0.100000 s acknowledges 1",
        ),
        (
            "+0 write(4, ..., 1000) = 1000\n+0 > [ect0] . 1:1001(1000) ack 1",
            "7: sent . 1:1001(1000) at 0.100000 s has the ECN field",
        ),
        ("+0 %{ assert tcpi_snd_cwnd == 11 }%", "6: not so: tcpi_snd_cwnd == 11; tcpi_snd_cwnd is 10"),
        ("0 close(4) = 0", "6: 0.000000 s is over: it is 0.100000 s already"),
        (
            "--strict_segments\n+0 write(4, ..., 2000) = 2000\n+0 > P. 1:2001(2000) ack 1",
            "8: sent . 1:1001(1000)",
        ),
        (
            "--complete\n+0 write(4, ..., 2000) = 2000\n+0 > . 1:1001(1000) ack 1",
            "8: after this, no line expects sent . 1001:2001",
        ),
        ("+0 < S 0:0(0) win 5", "6: this segment does not belong"),
        ("+0 getsockopt(4, SOL_TCP, TCP_MAXSEG, [1001], [4]) = 0", "6: TCP_MAXSEG is 1000"),
        ("`sysctl -q net.ipv4.tcp_reordering=4`", "6: tcp_reordering=4 is not modelled"),
    ] {
        let found = play("a", &linux(lines)).unwrap_err().to_string();
        assert!(found.starts_with(&format!("a:{problem}")), "{lines}\n{found}");
    }
}

#[test]
fn a_handshake_is_as_the_hosts_agree() {
    let client = "`sysctl -q net.ipv4.tcp_ecn=1`\n0 connect(3, ..., ...) = 0\n\
        +0 > SEW 0:0(0) <mss 1460,sackOK,TS val 100 ecr 0,nop,wscale 8>\n\
        +.01 < SE. 0:0(0) ack 1 win 32767 <mss 1000,nop,nop,sackOK>\n+0 > . 1:1(0) ack 1\n\
        +0 write(3, ..., 1500) = 1500\n+0 > [ect0] P. 1:1501(1500) ack 1\n+0 close(3) = 0\n+0 > F. 1501:1501(0) ack 1\n\
        +.01 < F. 1:1(0) ack 1502 win 32767\n+0 > . 1502:1502(0) ack 2\n";
    play("client", client).unwrap();
    let timestamps = "0 listen(3, 1) = 0\n0 < S 0:0(0) win 20000 <mss 1012,sackOK,TS val 100 ecr 0>\n\
        0 > S. 0:0(0) ack 1 <mss 1460,sackOK,TS val 100 ecr 100>\n+.1 < . 1:1(0) ack 1 win 20000 <TS val 200 ecr 100>\n\
        +0 write(4, ..., 1000) = 1000\n+0 > . 1:1001(1000) ack 1 <TS val 200 ecr 200>\n\
        +.2 < . 1:1(0) ack 1001 win 20000 <TS val 400 ecr 150>\n+0 %{ assert tcpi_rtt == 118750 }%\n";
    play("timestamps", timestamps).unwrap();
    let other = timestamps.replace("<TS val 200 ecr 200>", "<TS val 200 ecr 100>");
    let problem = play("timestamps", &other).unwrap_err().to_string();
    assert!(problem.contains("has TS val 200 ecr 200"), "{problem}");
}
