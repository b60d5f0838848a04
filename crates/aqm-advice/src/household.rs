//! What a line and a setup set in the scenario of a household: the topology `experiments/household/graphs/line.toml`.

use crate::line::Line;
use crate::setups::Setup;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Far above any line: a router that does not shape.
const UNSHAPED_BPS: u64 = 10_000_000_000;
const PASS: &str = "fifo limit 10000p";
const SECOND_NS: u64 = 1_000_000_000;
/// Simulated packets are what takes time. Above this rate, down and up together, runs are shorter by its square root, but
/// long enough for pages of everyone.
const LONGEST_UP_TO_BPS: u64 = 50_000_000;
const LONGEST_S: u64 = 45;
const SHORTEST_S: u64 = 12;
/// Start of a run that is not measured, in seconds.
pub const WARMUP_S: u64 = 5;
/// Fast lines have fewer seeds too.
const FAST_BPS: u64 = 400_000_000;
/// Faster ones only have the setups that routers come with.
const VERY_FAST_BPS: u64 = 1_000_000_000;

/// How a line is asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Plan {
    /// How long a run is, in seconds.
    pub duration_s: u64,
    /// All runs of a setup.
    pub seeds: u32,
    /// After how many the quick form stops where they decide.
    pub quick_seeds: u32,
    /// Whether only the setups are tried that routers come with.
    pub only_usual: bool,
}

/// How a line is asked about.
pub fn plan(line: &Line) -> Plan {
    let total = line.down_bps + line.up_bps;
    let times = (total as f64 / LONGEST_UP_TO_BPS as f64).max(1.0).sqrt();
    let (seeds, quick_seeds) = if total > FAST_BPS { (5, 3) } else { (10, 5) };
    Plan {
        duration_s: ((LONGEST_S as f64 / times) as u64).max(SHORTEST_S),
        seeds,
        quick_seeds,
        only_usual: total > VERY_FAST_BPS,
    }
}

/// What a setup sets, in base units and tc's notation, named as in the topology.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Setting {
    /// Of the line in one direction.
    pub delay_ns: u64,
    /// What the line carries towards the home, in bit/s.
    pub line_down: u64,
    /// The modem's queue there.
    pub modem_down: String,
    /// What it carries from the home.
    pub line_up: u64,
    /// The modem's queue there.
    pub modem_up: String,
    /// The router's rate towards the home.
    pub shaped_down: u64,
    /// And from it.
    pub shaped_up: u64,
    /// The router's discipline towards the home.
    pub router_down: String,
    /// And from it.
    pub router_up: String,
}

/// What a setup sets.
pub fn setting(line: &Line, setup: &Setup) -> Setting {
    let or = |spec: &str, other: &str| if spec.is_empty() { other } else { spec }.to_owned();
    let [down, up] = line.buffers().map(|limit| format!("fifo limit {limit}"));
    let [shaped_down, shaped_up] = match setup.is_shaped() {
        true => line.shaped(setup.share).map(|rate| line.layer.carried(rate)),
        false => [UNSHAPED_BPS; 2],
    };
    Setting {
        delay_ns: line.rtt_ns / 2000 * 1000,
        line_down: line.layer.carried(line.down_bps),
        modem_down: down,
        line_up: line.layer.carried(line.up_bps),
        modem_up: or(&setup.modem, &up),
        shaped_down,
        shaped_up,
        router_down: or(&setup.down, PASS),
        router_up: or(&setup.up, PASS),
    }
}

/// Puts a line and a setup into a scenario of the household as it is resolved for another line, and returns whether it
/// has the links of one.
pub fn put(scenario: &mut Value, line: &Line, setup: &Setup) -> bool {
    let Setting {
        delay_ns,
        line_down,
        modem_down,
        line_up,
        modem_up,
        shaped_down,
        shaped_up,
        router_down,
        router_up,
    } = setting(line, setup);
    let duration_ns = plan(line).duration_s * SECOND_NS;
    scenario["aqm"] = json!(modem_down);
    scenario["capacity"] = json!({ "rate_bps": line_down });
    scenario["rtt_ns"] = json!(line.rtt_ns);
    scenario["overhead_bytes"] = json!(line.layer.overhead);
    scenario["duration_ns"] = json!(duration_ns);
    let queue = |spec: &str| json!({ "discipline": spec });
    let links = [
        ("line_down", json!({ "delay_ns": delay_ns })),
        ("line_up", json!({ "delay_ns": delay_ns, "rate_bps": line_up, "queue": queue(&modem_up) })),
        ("router_down", json!({ "rate_bps": shaped_down, "queue": queue(&router_down) })),
        ("router_up", json!({ "rate_bps": shaped_up, "queue": queue(&router_up) })),
    ];
    links.into_iter().all(|(name, values)| {
        let found = scenario["topology"]["links"].as_array_mut().into_iter().flatten();
        let link = found.into_iter().find(|link| link["name"] == name);
        match (link.and_then(Value::as_object_mut), values) {
            (Some(link), Value::Object(values)) => {
                link.extend(values);
                true
            }
            _ => false,
        }
    })
}
