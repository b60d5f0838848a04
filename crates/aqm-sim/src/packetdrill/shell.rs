//! The commands between back quotes: those that set up the host of a sender.

use super::problem::{Refusal, shortened};

/// A command that a script runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Command {
    /// A sysctl, without `net.ipv4.`, or a parameter of a module.
    Set(String, String),
    /// The initial window of a route, in segments.
    InitialWindow(u32),
    /// Whether the device has the qdisc fq, which spaces segments.
    Paced(bool),
    /// Whether anything leaves the device: nothing passes a qdisc with a limit of zero.
    Passing(bool),
}

/// The file that is to be read for a path in a script, or what is wrong.
pub(super) type Include<'a> = &'a dyn Fn(&str) -> Result<String, String>;

/// How deep files may include each other.
const DEEPEST: u32 = 4;

/// The commands of `text`.
pub(super) fn commands(text: &str, include: Include<'_>) -> Result<Vec<Command>, Refusal> {
    let mut commands = Vec::new();
    read(text, include, DEEPEST, &mut commands)?;
    Ok(commands)
}

fn read(text: &str, include: Include<'_>, depth: u32, commands: &mut Vec<Command>) -> Result<(), Refusal> {
    for line in text.replace("\\\n", " ").lines() {
        for command in line.split('#').next().unwrap_or_default().split([';', '|']) {
            let words = words(command);
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            if !words.is_empty() && words[0] != "true" {
                interpret(&words, include, depth, commands)
                    .map_err(|problem| format!("'{}': {problem}", shortened(command)))?;
            }
        }
    }
    Ok(())
}

/// The words of a command; quotes keep spaces, and what is written to nowhere is left out.
fn words(command: &str) -> Vec<String> {
    let (mut words, mut current, mut quote) = (Vec::new(), String::new(), None);
    for letter in command.chars() {
        match quote {
            Some(end) if letter == end => quote = None,
            None if letter == '"' || letter == '\'' => quote = Some(letter),
            None if letter.is_whitespace() => words.push(std::mem::take(&mut current)),
            _ => current.push(letter),
        }
    }
    words.push(current);
    words.retain(|word| !word.is_empty());
    if let Some(end) = words.iter().position(|word| word == "2>/dev/null" || word == ">/dev/null") {
        words.truncate(end);
    }
    if let Some(end) = words.windows(2).position(|pair| pair == [">", "/dev/null"]) {
        words.truncate(end);
    }
    words
}

fn interpret(
    words: &[&str],
    include: Include<'_>,
    depth: u32,
    commands: &mut Vec<Command>,
) -> Result<(), Refusal> {
    let program = words[0].rsplit('/').next().unwrap_or_default();
    let settings = words[1..].iter().filter(|word| !word.starts_with('-'));
    match (program, &words[1..]) {
        ("sysctl" | "set_sysctls.py", _) => {
            for setting in settings {
                let (name, value) = setting.split_once('=').ok_or("a sysctl needs a value")?;
                let name = name.replace('/', ".");
                let name = name.trim_start_matches(".proc.sys.").trim_start_matches("net.ipv4.");
                commands.push(Command::Set(name.to_owned(), value.to_owned()));
            }
        }
        ("echo", [value, ">", path]) => {
            let name = path.trim_start_matches("/sys/module/").replace('/', ".");
            commands.push(Command::Set(name, (*value).to_owned()));
        }
        ("ip", ["route", "change" | "replace" | "add", rest @ ..]) => {
            if rest.contains(&"mtu") {
                return Err("the MTU of a route does not change".into());
            }
            if let Some(at) = rest.iter().position(|word| *word == "initcwnd") {
                let segments = rest.get(at + 1).and_then(|word| word.parse().ok());
                let segments = segments.filter(|segments| (1..=10_000).contains(segments));
                commands.push(Command::InitialWindow(segments.ok_or("initcwnd needs 1 to 10000 segments")?));
            }
        }
        ("ip", ["tcp_metrics", "flush", ..]) => {}
        ("tc", ["qdisc", "add" | "replace" | "change", "dev", "tun0", "root", kind, options @ ..]) => {
            if !matches!(*kind, "fq" | "pfifo" | "bfifo" | "noqueue") {
                return Err(format!("the qdisc '{}' is none of fq, pfifo and bfifo", shortened(kind)).into());
            }
            commands.push(Command::Paced(*kind == "fq"));
            commands.push(Command::Passing(options != ["limit", "0"]));
        }
        ("tc", ["qdisc", "del" | "delete", ..]) => {}
        // Offloads join and cut segments that the replay compares byte by byte.
        ("ethtool", ["-K", ..]) => {}
        (restore, []) if restore.starts_with("sysctl_restore_") => {}
        (file, []) if file.ends_with(".sh") => {
            if depth == 0 {
                return Err(format!("more than {DEEPEST} files include each other").into());
            }
            read(&include(words[0])?, include, depth - 1, commands)?;
        }
        _ => return Err("not a command that sets up a sender".into()),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn none(path: &str) -> Result<String, String> {
        Err(format!("{path} is not there"))
    }

    fn set(name: &str, value: &str) -> Command {
        Command::Set(name.to_owned(), value.to_owned())
    }

    #[test]
    fn sysctls_are_read_in_each_of_their_forms() {
        for text in [
            "sysctl -q net.ipv4.tcp_sack=0 # off",
            "sysctl -e -q net/ipv4/tcp_sack=0 > /dev/null 2>&1",
            "../common/set_sysctls.py \\\n /proc/sys/net/ipv4/tcp_sack=0",
        ] {
            assert_eq!(commands(text, &none).unwrap(), [set("tcp_sack", "0")], "{text}");
        }
        assert_eq!(
            commands("sysctl -q net.ipv4.tcp_rmem=\"1 2 3\"", &none).unwrap(),
            [set("tcp_rmem", "1 2 3")]
        );
        let text = "echo 3 > /sys/module/tcp_cubic/parameters/hystart_detect";
        assert_eq!(commands(text, &none).unwrap(), [set("tcp_cubic.parameters.hystart_detect", "3")]);
    }

    #[test]
    fn a_route_and_a_qdisc_set_up_the_sender() {
        let route = "ip route change 192.0.2.1 via 192.168.0.2 dev tun0 initcwnd 3";
        assert_eq!(commands(route, &none).unwrap(), [Command::InitialWindow(3)]);
        let fq = "tc qdisc replace dev tun0 root fq";
        assert_eq!(commands(fq, &none).unwrap(), [Command::Paced(true), Command::Passing(true)]);
        let closed = "tc qdisc delete dev tun0 root 2>/dev/null ; tc qdisc add dev tun0 root pfifo limit 0";
        assert_eq!(commands(closed, &none).unwrap(), [Command::Paced(false), Command::Passing(false)]);
    }

    #[test]
    fn a_file_is_included_and_a_circle_ends() {
        let include = |path: &str| match path {
            "../a.sh" => Ok("#!/bin/sh\nsysctl -q net.ipv4.tcp_ecn=1".to_owned()),
            _ => Ok(path.to_owned()),
        };
        let found = commands("../a.sh\n/tmp/sysctl_restore_${PPID}.sh", &include).unwrap();
        assert_eq!(found, [set("tcp_ecn", "1")]);
        assert!(commands("./b.sh", &include).unwrap_err().to_string().contains("include each other"));
    }

    #[test]
    fn other_commands_are_refused_by_their_text() {
        for text in [
            "rm -rf /",
            "sysctl net",
            "ip route change x initcwnd 0",
            "./absent.sh",
            "tc qdisc add dev tun0 root x",
        ] {
            let problem = commands(text, &none).unwrap_err().to_string();
            assert!(problem.starts_with(&format!("'{text}'")), "{problem}");
        }
    }
}
