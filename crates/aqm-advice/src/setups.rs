//! The setups of a line: the modem as it is, and what a router or a modem may do instead.

use crate::line::Line;
use aqm_core::units::Span;
use serde::{Deserialize, Serialize};

/// The name of the setup that changes nothing.
pub const AS_IT_IS: &str = "as it is";
/// CAKE's word for leaving out needless acknowledgments.
pub const ACK_FILTER: &str = "ack-filter";
/// CAKE's and CoDel's interval (RFC 8289, section 4.3), from which longer round trips have their own.
pub const INTERVAL_US: u64 = 100_000;
const TARGET_US: u64 = 5_000;
/// Bytes of the packet that sqm-scripts takes for its targets.
const FULL_PACKET_BYTES: u64 = 1540;
/// What a shaper usually has of the rate.
pub const USUAL_SHARE: f64 = 0.9;
/// What else it may have. On faster lines 90 % leaves enough for the modem's queue.
const OTHER_SHARES: [f64; 3] = [0.95, 0.8, 0.7];
const OTHER_SHARES_UP_TO_BPS: u64 = 50_000_000;
/// What a shaper of a mobile line may have of its mean rate, which the line is often below.
const MOBILE_SHARES: [f64; 2] = [0.8, 0.5];
/// A line this much faster down than up spends much of the uplink on acknowledgments.
const ASYMMETRY: u64 = 8;

/// A setup of a line.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Setup {
    /// How it is called.
    pub name: String,
    /// What it is.
    pub about: String,
    /// The discipline of the router's shaper towards the home, with its arguments as tc has them; empty without a shaper.
    pub down: String,
    /// The same from the home.
    pub up: String,
    /// Share of the line's rate that the shaper has; 0 without one.
    pub share: f64,
    /// Another discipline for the modem's uplink than its plain queue.
    pub modem: String,
}

impl Setup {
    /// Whether the router shapes.
    pub fn is_shaped(&self) -> bool {
        self.share > 0.0
    }
}

/// How well routers support a setup, by its name: the less, the better. Nothing to set up is the least work; CAKE is
/// the default of OpenWrt's SQM, which has a script for FQ-CoDel too (simplest.qos); others are for those who have tc.
///
/// ```
/// use aqm_advice::setups::support;
/// assert_eq!(["as it is", "cake at 80%", "fq_codel", "fq_pie"].map(support), [0, 1, 2, 3]);
/// ```
pub fn support(name: &str) -> u8 {
    match name.split(' ').next() {
        Some("as") => 0,
        Some("cake") => 1,
        Some("fq_codel") => 2,
        _ => 3,
    }
}

/// The setups for a line, the usual ones first; `only_usual` leaves out what few routers come with.
pub fn setups(line: &Line, only_usual: bool) -> Vec<Setup> {
    let mut found = vec![Setup {
        name: AS_IT_IS.into(),
        about: "the modem with a plain queue".into(),
        ..Setup::default()
    }];
    if line.is_recorded {
        for share in MOBILE_SHARES {
            found.extend(shaped(line, share, &note(share), true));
        }
    } else {
        found.extend(shaped(line, line.share.unwrap_or(USUAL_SHARE), "", only_usual));
        if line.share.is_none() && line.down_bps + line.up_bps <= OTHER_SHARES_UP_TO_BPS {
            found.extend(OTHER_SHARES.iter().filter_map(|&share| cakes(line, share, &note(share)).pop()));
        }
    }
    if line.layer.name == "docsis" {
        found.push(Setup {
            name: "docsis_pie in the modem".into(),
            about: "the uplink as DOCSIS 3.1 modems must have it (RFC 8034)".into(),
            modem: "docsis_pie".into(),
            ..Setup::default()
        });
    }
    found
}

fn note(share: f64) -> String {
    format!(" at {:.0}%", share * 100.0)
}

fn shaped(line: &Line, share: f64, note: &str, only_usual: bool) -> Vec<Setup> {
    let [down, up] = line.shaped(share).map(|rate| target(rate, line.rtt_ns / 1000));
    let setup = |name: &str, about: &str, down: String, up: String| Setup {
        name: format!("{name}{note}"),
        about: about.into(),
        down,
        up,
        share,
        modem: String::new(),
    };
    let plain = |name: &str, about| setup(name, about, name.into(), name.into());
    let mut found = cakes(line, share, note);
    found.push(setup("fq_codel", "SQM simplest.qos", format!("fq_codel {down}"), format!("fq_codel {up}")));
    if !only_usual {
        found.push(plain("fq_pie", "HTB with flow queueing and PIE"));
        found.push(setup(
            "codel",
            "HTB with one queue and CoDel",
            format!("codel {down}"),
            format!("codel {up}"),
        ));
        found.push(plain("pie", "HTB with one queue and PIE"));
    }
    found
}

/// CAKE, and where the line is far slower up also with its ACK filter.
fn cakes(line: &Line, share: f64, note: &str) -> Vec<Setup> {
    let mut plain = "cake besteffort".to_owned();
    if line.rtt_ns > INTERVAL_US * 1000 {
        plain += &format!(" rtt {}", Span::from_nanos(line.rtt_ns));
    }
    let mut found = vec![Setup {
        name: format!("cake{note}"),
        about: "SQM piece_of_cake.qos".into(),
        down: plain.clone(),
        up: plain.clone(),
        share,
        modem: String::new(),
    }];
    if line.down_bps >= ASYMMETRY * line.up_bps {
        found.push(Setup {
            name: format!("cake {ACK_FILTER}{note}"),
            about: "SQM piece_of_cake.qos, without needless acknowledgments on the uplink".into(),
            up: format!("{plain} {ACK_FILTER}"),
            down: plain,
            share,
            modem: String::new(),
        });
    }
    found
}

/// CoDel's target and interval as sqm-scripts set them on slow lines: 1.5 packets, and as much more interval.
///
/// With a longer round trip that is the interval, and a twentieth of it the target (RFC 8289, sections 4.2 and 4.3).
///
/// ```
/// use aqm_advice::setups::target;
/// assert_eq!(target(950_000, 40_000), "target 19452us interval 114452us");
/// assert_eq!(target(15_200_000, 40_000), "target 5ms interval 100ms");
/// assert_eq!(target(15_200_000, 600_000), "target 30000us interval 600000us");
/// ```
pub fn target(rate_bps: u64, rtt_us: u64) -> String {
    let packet_us = FULL_PACKET_BYTES * 8 * 1_000_000 * 3 / 2 / rate_bps;
    let interval_us = rtt_us.max(INTERVAL_US);
    let target_us = interval_us * TARGET_US / INTERVAL_US;
    let longest_us = packet_us.max(target_us);
    if (longest_us, interval_us) == (TARGET_US, INTERVAL_US) {
        return "target 5ms interval 100ms".into();
    }
    format!("target {longest_us}us interval {}us", interval_us + (longest_us - target_us))
}
