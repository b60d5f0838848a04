//! Lines to paste: tc's commands, and OpenWrt's SQM.
//!
//! A discipline is attached where IP packets are sent: on a line with PPPoE to the interface of PPP. On the device below it
//! a frame is no IP packet to CAKE, whose `nat` and `ack-filter` then find nothing (sch_cake's `cake_update_flowkeys` and
//! `cake_get_iphdr`), and which cannot be marked. Of tunnels (DS-Lite, 464XLAT, 6in4) it is the device below that carries
//! both versions of IP.
//!
//! Grammar: tc-cake(8), tc-codel(8), tc-fq_codel(8), tc-fq_pie(8), tc-pie(8), tc-htb(8), tc-stab(8) and tc-mirred(8) of
//! iproute2; options of the configuration file of sqm-scripts. The interface is trusted: who takes it from somebody checks
//! it. An empty one stands for that of the line.

use crate::line::Line;
use crate::setups::{ACK_FILTER, INTERVAL_US, Setup};
use std::borrow::Cow;

/// The kernel's length has an Ethernet frame's header already, which tc-cake(8) leaves out.
const FRAME_HEADER: i64 = 14;
/// Below the interface of PPP the kernel's length has its headers, too (RFC 2516: 6 bytes, and PPP's 2).
const PPPOE_HEADER: i64 = 8;
/// Interfaces that have none.
const WITHOUT_HEADER: [&str; 4] = ["ppp", "wwan", "tun", "wg"];
/// The device through which the downlink is sent, so that it can be queued: not ifb0, which modprobe may have made.
const MIRROR: &str = "ifb-aqmlab";

/// Systems whose interfaces have names of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum System {
    /// Linux, as Debian's pppd and ModemManager name them.
    Linux,
    /// OpenWrt, whose port towards the modem is `wan`, and whose interface of PPPoE has the name of that network.
    OpenWrt,
}

/// The interface that carries a line's IP packets.
///
/// ```
/// use aqm_advice::{Layer, Line, paste::{System, interface}};
/// let line = |layer| Line {
///     down_bps: 50_000_000, up_bps: 10_000_000, layer: Layer::named(layer).unwrap(), is_recorded: false,
///     rtt_ns: 40_000_000, modem_buffer: String::new(), share: None,
/// };
/// assert_eq!(interface(&line("vdsl"), System::Linux), "ppp0");
/// assert_eq!(interface(&line("vdsl"), System::OpenWrt), "pppoe-wan");
/// assert_eq!(interface(&line("docsis"), System::Linux), "eth0");
/// assert_eq!(interface(&line("docsis"), System::OpenWrt), "wan");
/// ```
pub fn interface(line: &Line, system: System) -> &'static str {
    match (line.layer.is_pppoe(), system) {
        (true, System::Linux) => "ppp0",
        (true, System::OpenWrt) => "pppoe-wan",
        _ if line.layer.name == "lte" => "wwan0",
        // Where the switch's ports are devices (DSA), the default of boards since OpenWrt 21.02.
        (_, System::OpenWrt) => "wan",
        _ => "eth0",
    }
}

/// What is wrong with an interface, if something is.
pub fn notice(line: &Line, interface: &str) -> Option<String> {
    is_below_ppp(line, interface).then(|| {
        format!(
            "{interface} carries PPPoE's frames, in which CAKE finds no IP packets for nat and ack-filter: with PPPoE the interface is {} on OpenWrt, {} elsewhere; without PPPoE --overhead is less",
            self::interface(line, System::OpenWrt),
            self::interface(line, System::Linux),
        )
    })
}

/// Whether an interface sends PPPoE's frames, rather than the packets in them.
fn is_below_ppp(line: &Line, interface: &str) -> bool {
    line.layer.is_pppoe() && !is_without_header(interface)
}

fn is_without_header(interface: &str) -> bool {
    WITHOUT_HEADER.iter().any(|start| interface.starts_with(start))
}

/// That of the line, unless one is named.
fn named<'a>(given: &'a str, line: &Line, system: System) -> &'a str {
    if given.is_empty() { interface(line, system) } else { given }
}

/// The commands for both directions; none without a shaper.
pub fn tc(setup: &Setup, line: &Line, interface: &str) -> Vec<String> {
    if !setup.is_shaped() {
        return Vec::new();
    }
    let interface = named(interface, line, System::Linux);
    let below = is_below_ppp(line, interface);
    let [down, up] = line.shaped(setup.share).map(|rate| rate / 1000);
    let uncounted = uncounted(line, interface);
    let mut found = queue(&setup.up, up, line, interface, (uncounted, below));
    found.extend([
        format!("ip link add name {MIRROR} type ifb"),
        format!("ip link set dev {MIRROR} up"),
        format!("tc qdisc replace dev {interface} handle ffff: ingress"),
        format!(
            "tc filter add dev {interface} parent ffff: protocol all matchall action mirred egress redirect dev {MIRROR}"
        ),
    ]);
    found.extend(queue(&setup.down, down, line, MIRROR, (uncounted, below)));
    found
}

/// The commands that take tc's back; none without a shaper.
pub fn undo(setup: &Setup, line: &Line, interface: &str) -> Vec<String> {
    if !setup.is_shaped() {
        return Vec::new();
    }
    let interface = named(interface, line, System::Linux);
    vec![
        format!("tc qdisc del dev {interface} root"),
        format!("tc qdisc del dev {interface} ingress"),
        format!("ip link del {MIRROR}"),
    ]
}

/// OpenWrt's SQM script for a setup; none where it has none.
pub fn script(setup: &Setup) -> Option<&'static str> {
    match discipline(&setup.up) {
        "cake" => Some("piece_of_cake.qos"),
        "fq_codel" => Some("simplest.qos"),
        _ => None,
    }
}

/// OpenWrt's commands; none where SQM has no script for the setup.
pub fn sqm(setup: &Setup, line: &Line, interface: &str) -> Vec<String> {
    let Some(script) = script(setup) else { return Vec::new() };
    let name = discipline(&setup.up);
    let layer = &line.layer;
    let interface = named(interface, line, System::OpenWrt);
    let below = is_below_ppp(line, interface);
    // As in tc's lines: CAKE knows PTM by a word, and what tc-stab(8) has no word for is taken off the rate.
    let has_words = name == "cake";
    let [down, up] = line.shaped(setup.share).map(|rate| match &*layer.name {
        "vdsl" if !has_words => layer.carried(rate / 1000),
        _ => rate / 1000,
    });
    let mut options = vec![
        ("enabled", "1".to_owned()),
        ("interface", interface.to_owned()),
        ("download", down.to_string()),
        ("upload", up.to_string()),
        ("qdisc", name.to_owned()),
        ("script", script.to_owned()),
        ("linklayer", layer.sqm.to_string()),
    ];
    if layer.sqm != "none" {
        // SQM gives CAKE the overhead of IP packets, and tc-stab(8) the given one.
        let bytes = if has_words { i64::from(layer.overhead) } else { uncounted(line, interface) };
        options.push(("overhead", bytes.to_string()));
    }
    if layer.mpu > 0 {
        options.push(("linklayer_advanced", "1".to_owned()));
        options.push(("tcMPU", layer.mpu.to_string()));
    }
    let words = |spec: &str, from: usize| spec.split_whitespace().skip(from).collect::<Vec<_>>().join(" ");
    let own = [&setup.down, &setup.up].map(|spec| match name {
        "cake" => {
            let ptm = if &*layer.name == "vdsl" { " ptm" } else { "" };
            found_by_cake(&format!("nat {}{ptm}", words(spec, 2)), below)
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" ")
        }
        // SQM finds the same target and interval by itself.
        _ if line.rtt_ns <= INTERVAL_US * 1000 => String::new(),
        _ => words(spec, 1),
    });
    if !own[0].is_empty() {
        options.push(("qdisc_advanced", "1".to_owned()));
        options.push(("qdisc_really_really_advanced", "1".to_owned()));
        options.extend(["iqdisc_opts", "eqdisc_opts"].into_iter().zip(own));
    }
    let section: String =
        interface.chars().map(|one| if one.is_alphanumeric() || one == '_' { one } else { '_' }).collect();
    let mut found = vec![format!("uci set sqm.{section}=queue")];
    found.extend(options.into_iter().map(|(key, value)| format!("uci set sqm.{section}.{key}='{value}'")));
    found.push("uci commit sqm".to_owned());
    found.push("/etc/init.d/sqm restart".to_owned());
    found
}

fn discipline(spec: &str) -> &str {
    spec.split(' ').next().unwrap_or_default()
}

/// Bytes of the overhead that are not in the kernel's length of a packet.
fn uncounted(line: &Line, interface: &str) -> i64 {
    let framed = if is_without_header(interface) { 0 } else { FRAME_HEADER };
    let in_ppp = if is_below_ppp(line, interface) { PPPOE_HEADER } else { 0 };
    i64::from(line.layer.overhead) - framed - in_ppp
}

/// CAKE's words, without those that find nothing `below` the interface of PPP.
fn found_by_cake(words: &str, below: bool) -> Cow<'_, str> {
    if !below {
        return words.into();
    }
    let kept: Vec<&str> = words.split(' ').filter(|word| !["nat", ACK_FILTER].contains(word)).collect();
    kept.join(" ").into()
}

/// The commands for one direction; `uncounted` bytes are not in the kernel's length, and the device may be `below` PPP's.
fn queue(spec: &str, kbit: u64, line: &Line, device: &str, (uncounted, below): (i64, bool)) -> Vec<String> {
    let layer = &line.layer;
    if let Some(words) = spec.strip_prefix("cake") {
        // The simulator knows a home's devices apart; behind address translation CAKE does so with nat.
        let words = found_by_cake(&format!("{words} nat"), below).into_owned();
        let cake = &layer.cake;
        return vec![format!("tc qdisc replace dev {device} root cake bandwidth {kbit}kbit{words} {cake}")];
    }
    let rate = if layer.name == "vdsl" { layer.carried(kbit) } else { kbit };
    let mpu = if layer.mpu > 0 { format!("mpu {} ", layer.mpu) } else { String::new() };
    let size = match &*layer.stab {
        "" => String::new(),
        word => format!("stab {mpu}overhead {uncounted} linklayer {word} "),
    };
    vec![
        format!("tc qdisc replace dev {device} root handle 1: {size}htb default 10"),
        format!("tc class add dev {device} parent 1: classid 1:10 htb rate {rate}kbit ceil {rate}kbit"),
        format!("tc qdisc add dev {device} parent 1:10 {spec}"),
    ]
}
