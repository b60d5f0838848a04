//! Lines to paste: tc's commands, and OpenWrt's SQM.
//!
//! Grammar: tc-cake(8), tc-codel(8), tc-fq_codel(8), tc-fq_pie(8), tc-pie(8), tc-htb(8), tc-stab(8) and tc-mirred(8) of
//! iproute2; options of the configuration file of sqm-scripts. The interface is trusted: who takes it from somebody checks
//! it.

use crate::line::Line;
use crate::ways::{INTERVAL_US, Way};

/// The kernel's length has an Ethernet frame's header already, which tc-cake(8) leaves out.
const FRAME_HEADER: i64 = 14;
/// Interfaces that have none.
const WITHOUT_HEADER: [&str; 4] = ["ppp", "wwan", "tun", "wg"];
/// The device through which the way down is sent, so that it can be queued: not ifb0, which modprobe may have made.
const MIRROR: &str = "ifb-aqmlab";

/// The commands for both directions; none without a shaper.
pub fn tc(way: &Way, line: &Line, interface: &str) -> Vec<String> {
    if !way.is_shaped() {
        return Vec::new();
    }
    let [down, up] = line.shaped(way.share).map(|rate| rate / 1000);
    let uncounted = uncounted(line, interface);
    let mut found = queue(&way.up, up, line, interface, uncounted);
    found.extend([
        format!("ip link add name {MIRROR} type ifb"),
        format!("ip link set dev {MIRROR} up"),
        format!("tc qdisc replace dev {interface} handle ffff: ingress"),
        format!(
            "tc filter add dev {interface} parent ffff: protocol all matchall action mirred egress redirect dev {MIRROR}"
        ),
    ]);
    found.extend(queue(&way.down, down, line, MIRROR, uncounted));
    found
}

/// The commands that take tc's back; none without a shaper.
pub fn undo(way: &Way, interface: &str) -> Vec<String> {
    if !way.is_shaped() {
        return Vec::new();
    }
    vec![
        format!("tc qdisc del dev {interface} root"),
        format!("tc qdisc del dev {interface} ingress"),
        format!("ip link del {MIRROR}"),
    ]
}

/// OpenWrt's SQM script for a way; none where it has none.
pub fn script(way: &Way) -> Option<&'static str> {
    match discipline(&way.up) {
        "cake" => Some("piece_of_cake.qos"),
        "fq_codel" => Some("simplest.qos"),
        _ => None,
    }
}

/// OpenWrt's commands; none where SQM has no script for the way.
pub fn sqm(way: &Way, line: &Line, interface: &str) -> Vec<String> {
    let Some(script) = script(way) else { return Vec::new() };
    let name = discipline(&way.up);
    let layer = &line.layer;
    let [down, up] = line.shaped(way.share).map(|rate| match &*layer.name {
        "vdsl" => layer.carried(rate / 1000),
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
        // SQM gives CAKE the overhead of IP packets, and tc-stab(8) what it is told.
        let bytes = if name == "cake" { i64::from(layer.overhead) } else { uncounted(line, interface) };
        options.push(("overhead", bytes.to_string()));
    }
    if layer.mpu > 0 {
        options.push(("linklayer_advanced", "1".to_owned()));
        options.push(("tcMPU", layer.mpu.to_string()));
    }
    let words = |spec: &str, from: usize| spec.split_whitespace().skip(from).collect::<Vec<_>>().join(" ");
    let own = [&way.down, &way.up].map(|spec| match name {
        "cake" => format!("nat {}", words(spec, 2)).trim().to_owned(),
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
    let is_framed = !WITHOUT_HEADER.iter().any(|start| interface.starts_with(start));
    i64::from(line.layer.overhead) - if is_framed { FRAME_HEADER } else { 0 }
}

fn queue(spec: &str, kbit: u64, line: &Line, device: &str, uncounted: i64) -> Vec<String> {
    let layer = &line.layer;
    if let Some(words) = spec.strip_prefix("cake") {
        // The simulator knows a home's devices apart; behind address translation CAKE does so with nat.
        let cake = &layer.cake;
        return vec![format!(
            "tc qdisc replace dev {device} root cake bandwidth {kbit}kbit{words} nat {cake}"
        )];
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
