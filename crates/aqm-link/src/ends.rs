//! The two ends of a link and what runs in them.
//!
//! The namespace of this process, between those of the ends, has a [port](crate::os::port) to each and no address. All of them,
//! and every process in them, end with this process, however it ends.

use crate::config::{Config, DataPath, LinkError};
use crate::namespaces::{INTERFACE, Namespaces, enter, has_ipv6, ip};
use crate::os::device::without_offloads;
use crate::os::port::Port;
use crate::os::process::{self, First};
use crate::path;
use crate::report::Ended;
use std::collections::BTreeSet;
use std::ffi::{CString, OsString};
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::Duration;

/// Addresses of the ends, for IPv4 and IPv6, and their networks.
const NEAR: [&str; 2] = ["10.77.0.2", "fd77::2"];
const FAR: [&str; 2] = ["10.77.0.1", "fd77::1"];
const NETWORKS: [&str; 2] = ["10.77.0.0/24", "fd77::/64"];
const UNREACHABLE: [&str; 2] = ["unreachable 0.0.0.0/0", "unreachable ::/0"];

/// What both kernels' TCP is set to: Linux's defaults, whatever those of this machine are. How long a receiver sends quick
/// acknowledgments follows from the second value of `tcp_rmem`.
pub(crate) const TCP_RMEM: &str = "4096 131072 6291456";
/// The same for what is sent.
pub(crate) const TCP_WMEM: &str = "4096 16384 4194304";

const CONGESTION_CONTROL: &str = "/proc/sys/net/ipv4/tcp_congestion_control";

/// So long servers may take until they listen.
const PATIENCE: Duration = Duration::from_secs(30);
const STEP: Duration = Duration::from_millis(2);

/// Both ends.
pub(crate) struct Ends {
    namespaces: Namespaces,
    /// How packets come from them and to them.
    pub(crate) path: DataPath,
    first: First,
    servers: Vec<Child>,
    resolver: Option<CString>,
    measure: PathBuf,
    /// Whether the signals of a terminal are held back for the command.
    held_back: bool,
    /// The congestion control of TCP at both.
    congestion_control: String,
}

impl Ends {
    /// Makes the namespaces with their interfaces, and opens the ports of the far end and of the near end. This process must
    /// have one thread; it is between them from then on.
    pub(crate) fn new(config: &Config) -> Result<(Ends, [Port; 2]), LinkError> {
        let refused = |error: io::Error| {
            LinkError::Machine(format!(
                "the system permits no network namespaces ({error}): run it as root, or allow user namespaces (sysctl \
                 user.max_user_namespaces, kernel.unprivileged_userns_clone, kernel.apparmor_restrict_unprivileged_userns)"
            ))
        };
        process::become_able().map_err(refused)?;
        let namespaces = Namespaces::new().map_err(refused)?;
        let Namespaces { between, near, far } = &namespaces;
        enter(between)?;
        let (path, ports) = path::lay(config.path, &namespaces)?;
        // The far end is a router that knows no way beyond: it says so (ICMP).
        for (end, own, beyond) in [
            (near, NEAR, FAR.map(|far| format!("default via {far}"))),
            (far, FAR, UNREACHABLE.map(String::from)),
        ] {
            enter(end)?;
            set_up(own, beyond, end.as_raw_fd(), config)?;
        }
        forward().map_err(|error| LinkError::machine("forwarding at the far end", &error))?;
        let congestion_control = match &config.congestion_control {
            Some(name) => name.clone(),
            None => fs::read_to_string(CONGESTION_CONTROL).unwrap_or_default().trim().to_string(),
        };
        enter(between)?;
        let first = process::unshare(process::PROCESSES).and_then(|()| First::start()).map_err(refused)?;
        let resolver = config.resolver.as_ref().map(|path| CString::new(path.as_os_str().as_bytes()));
        let resolver = resolver.transpose().map_err(|error| LinkError::Input(error.to_string()))?;
        let (measure, held_back) = (config.measure.clone(), config.held_back);
        let servers = Vec::new();
        Ok((
            Ends { namespaces, path, first, servers, resolver, measure, held_back, congestion_control },
            ports,
        ))
    }

    /// Lets `join` give the far end a way to another network; it is called in the namespace of that end.
    pub(crate) fn join_outside(&self, join: impl FnOnce() -> io::Result<()>) -> Result<(), LinkError> {
        enter(&self.namespaces.far)?;
        join().map_err(|error| LinkError::machine("the network outside", &error))
    }

    /// Starts a server at the far end and waits until it listens.
    pub(crate) fn serve(&mut self, server: &[OsString]) -> Result<(), LinkError> {
        let shown = shown(server);
        enter(&self.namespaces.far)?;
        let before = listening();
        let earlier: Vec<u32> = self.servers.iter().map(Child::id).collect();
        // A process group of its own: what a terminal says is for the command.
        let started = |command: &mut Command| command.process_group(0).stdin(Stdio::null()).spawn();
        self.servers.push(self.start(server, &self.namespaces.far, started)?);
        let mut waited = Duration::ZERO;
        // One that started earlier may open a socket meanwhile.
        while listening().difference(&before).all(|socket| sockets_of(&earlier).contains(socket)) {
            let child = self.servers.last_mut().map(Child::try_wait).transpose();
            if let Some(status) = child.map_err(|error| LinkError::machine(&shown, &error))?.flatten() {
                return Err(LinkError::Machine(format!(
                    "the server '{shown}' ended before it listened: {status}"
                )));
            }
            if waited >= PATIENCE {
                let seconds = PATIENCE.as_secs();
                return Err(LinkError::Machine(format!(
                    "the server '{shown}' listens nowhere after {seconds} s"
                )));
            }
            sleep(STEP);
            waited += STEP;
        }
        Ok(())
    }

    /// Starts the command at the near end.
    pub(crate) fn command(&self, command: &[OsString]) -> Result<Child, LinkError> {
        self.start(command, &self.namespaces.near, |command| {
            if self.held_back {
                process::hold_back(command);
            }
            command.spawn()
        })
    }

    /// Starts a program at an end, by `spawn`.
    fn start(
        &self,
        words: &[OsString],
        end: &File,
        spawn: impl FnOnce(&mut Command) -> io::Result<Child>,
    ) -> Result<Child, LinkError> {
        let Some((program, arguments)) = words.split_first() else {
            return Err(LinkError::Input("there is no command to run".to_string()));
        };
        let mut command = Command::new(program);
        let [far, far6] = FAR;
        let [near, near6] = NEAR;
        command.args(arguments).envs([
            ("AQMLAB_FAR", far),
            ("AQMLAB_FAR6", far6),
            ("AQMLAB_NEAR", near),
            ("AQMLAB_NEAR6", near6),
        ]);
        command.env("AQMLAB_MEASURE", &self.measure);
        process::starts_in(&mut command, end.as_raw_fd(), Vec::new(), self.resolver.clone());
        spawn(&mut command)
            .map_err(|error| LinkError::Input(format!("'{}' cannot be run: {error}", shown(words))))
    }

    /// Ends everything that still runs in them, and says TCP's congestion control.
    pub(crate) fn end(mut self) -> String {
        self.first.end(&mut self.servers);
        self.congestion_control
    }
}

/// How a process has ended, as a shell says it.
pub(crate) fn ended(status: ExitStatus) -> Ended {
    Ended {
        status: status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0)),
        signal: status.signal(),
    }
}

/// Sets up an end, in whose namespace this process is; `beyond` are its routes to everything else.
fn set_up(own: [&str; 2], beyond: [String; 2], namespace: RawFd, config: &Config) -> Result<(), LinkError> {
    without_offloads(INTERFACE).map_err(|error| LinkError::machine("ethtool", &error))?;
    let of_routes = choose(config.congestion_control.as_deref())?;
    let mut batch = format!("link set lo up\nlink set {INTERFACE} up\n");
    for ((own, beyond), network) in own.into_iter().zip(beyond).zip(NETWORKS) {
        if own.contains(':') && !has_ipv6() {
            continue;
        }
        let (_, length) = network.split_once('/').unwrap_or_default();
        let at_once = if own.contains(':') { "nodad" } else { "" };
        // An unreachable route carries nothing that could have a congestion control.
        let of_beyond = if beyond.contains("via") { of_routes.as_str() } else { "" };
        batch += &format!(
            "addr add {own}/{length} dev {INTERFACE} noprefixroute {at_once}\n\
             route add {network} dev {INTERFACE} {of_routes}\n\
             route add {beyond} {of_beyond}\n"
        );
    }
    ip(&batch, namespace, Vec::new())?;
    for (name, value) in [
        ("net/ipv4/tcp_rmem", TCP_RMEM),
        ("net/ipv4/tcp_wmem", TCP_WMEM),
        // A new namespace has 2: both ends would wait for the other to ask.
        ("net/ipv4/tcp_ecn", config.tcp_ecn()),
        // What was learnt in an earlier connection stays there.
        ("net/ipv4/tcp_no_metrics_save", "1"),
        // ICMP has a limit of its own, which pings through a link would meet.
        ("net/ipv4/icmp_ratelimit", "0"),
    ] {
        sysctl(name, value).map_err(|error| LinkError::machine(name, &error))?;
    }
    Ok(())
}

/// Sets TCP's congestion control: the one that is asked for; else CUBIC, and the machine's own where a namespace may not have
/// that. One that is asked for and that the kernel has, but not for namespaces, is for routes to set: what they
/// have to set is returned. It is the last choice, since there it also comes before what a program asks of its socket. A name that is
/// not allowed is not written: for root the kernel would load its module, and refuse it then.
fn choose(wanted: Option<&str>) -> Result<String, LinkError> {
    let listed = |which: &str| -> Vec<String> {
        let text = fs::read_to_string(format!("/proc/sys/net/ipv4/tcp_{which}_congestion_control"));
        text.unwrap_or_default().split_whitespace().map(String::from).collect()
    };
    let has = |names: &[String], name: &str| names.iter().any(|one| one == name);
    let name = wanted.unwrap_or("cubic");
    if has(&listed("allowed"), name) && fs::write(CONGESTION_CONTROL, name).is_ok() || wanted.is_none() {
        return Ok(String::new());
    }
    let available = listed("available");
    if has(&available, name) {
        return Ok(format!("congctl {name}"));
    }
    Err(LinkError::Input(format!(
        "this system's TCP has no congestion control '{name}'; it has {} (more by modprobe tcp_{name})",
        available.join(", ")
    )))
}

/// Makes this network namespace a router.
fn forward() -> io::Result<()> {
    if has_ipv6() {
        sysctl("net/ipv6/conf/all/forwarding", "1")?;
    }
    sysctl("net/ipv4/ip_forward", "1")
}

fn sysctl(name: &str, value: &str) -> io::Result<()> {
    fs::write(format!("/proc/sys/{name}"), value)
}

/// Sockets of this network namespace that wait for somebody, by their inodes: those of TCP that listen, and those of UDP.
fn listening() -> BTreeSet<u64> {
    let of_table = |name: &str, is_wanted: fn(&str) -> bool| {
        let table = fs::read_to_string(format!("/proc/self/net/{name}")).unwrap_or_default();
        let waiting = |line: &str| {
            let fields: Vec<&str> = line.split_whitespace().take(10).collect();
            let [_, _, _, state, _, _, _, _, _, inode] = fields[..] else { return None };
            is_wanted(state).then(|| inode.parse().ok()).flatten()
        };
        table.lines().skip(1).filter_map(waiting).collect::<Vec<u64>>()
    };
    let listens = |state: &str| state == "0A";
    let tcp = ["tcp", "tcp6"].map(|name| of_table(name, listens));
    let udp = ["udp", "udp6"].map(|name| of_table(name, |_| true));
    tcp.into_iter().chain(udp).flatten().collect()
}

/// Sockets, by their inodes, that processes of these groups have open.
fn sockets_of(groups: &[u32]) -> BTreeSet<u64> {
    let entries =
        |folder: PathBuf| fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_theirs = |process: &PathBuf| {
        let status = fs::read_to_string(process.join("stat")).unwrap_or_default();
        // proc_pid_stat(5): the name, in parentheses, may have anything in it.
        let group = status.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(2)?.parse().ok());
        group.is_some_and(|group| groups.contains(&group))
    };
    let socket = |descriptor: PathBuf| {
        let target = fs::read_link(descriptor).ok()?;
        target.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
    };
    let theirs = entries("/proc".into()).filter(is_theirs);
    theirs.flat_map(|process| entries(process.join("fd"))).filter_map(socket).collect()
}

fn shown(words: &[OsString]) -> String {
    words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}
