//! What a household notices of its line: the figures, and which difference in each is noticeable or annoying.

use serde::Serialize;

/// G.711 without loss or delay: R is 93.2 (ITU-T G.107).
pub const BEST_MOS: f64 = 4.4;
/// Steps of the scale by which people rate degradations (ITU-T P.800, annex D): perceptible but not annoying.
pub const NOTICEABLE_STEPS: f64 = 1.0;
/// Slightly annoying.
pub const SLIGHT_STEPS: f64 = 2.0;
/// Annoying.
pub const ANNOYING_STEPS: f64 = 3.0;
/// Very annoying.
pub const MOST_STEPS: f64 = 4.0;

/// What the grade is made of: by how much pings rise while the line is full, in milliseconds.
pub const PING: &str = "ping_increase_ms";
/// Round trips a minute while the line is full.
pub const RPM: &str = "rpm";
/// What is carried in all, in Mbit/s.
pub const TOTAL: &str = "goodput_mbit";

const STALLS: &str = "video_stall_s";

/// A difference from the best value, in the figure's unit and as a share of that value: the larger counts.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Difference {
    /// In the figure's unit.
    pub least: f64,
    /// Of the best value.
    pub share: f64,
    /// Who says so.
    pub source: &'static str,
}

impl Difference {
    /// It beside a best value.
    pub fn of(&self, best: f64) -> f64 {
        self.least.max(self.share * best.abs())
    }
}

/// The metrics of a run, by name.
pub trait Metrics {
    /// The value of a metric; none if the run has none, or it is not finite.
    fn metric(&self, name: &str) -> Option<f64>;
}

/// A group of the household's flows, whose metrics are those of the simulator's family `class`.
struct Group(&'static str);

const DOWNLOAD: Group = Group("download");
const BACKUP: Group = Group("backup");
/// Down, and up.
const PINGS: [Group; 2] = [Group("ping_down"), Group("ping_up")];
const GAMES: [Group; 2] = [Group("game_down"), Group("game_up")];

impl Group {
    /// A metric of it.
    fn metric(&self, run: &dyn Metrics, plain: &str) -> Option<f64> {
        run.metric(&["class", self.0, plain].join("."))
    }
}

impl Metrics for serde_json::Map<String, serde_json::Value> {
    fn metric(&self, name: &str) -> Option<f64> {
        self.get(name)?.as_f64().filter(|value| value.is_finite())
    }
}

/// Something that a household notices.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Figure {
    /// How it is called in data; ends in its unit.
    pub name: &'static str,
    /// How it is called.
    pub title: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// Decimals that are shown.
    pub digits: u8,
    /// Whether more of it is better.
    pub is_more_better: bool,
    /// What is noticeable.
    pub noticeable: Difference,
    /// What annoys.
    pub annoying: Difference,
    /// From the metrics of a run and its length in minutes.
    #[serde(skip)]
    of: fn(&dyn Metrics, f64) -> Option<f64>,
}

impl Figure {
    /// How far a value is behind the best one, in steps: 1 is noticeable, 3 is annoying, and 4 is the most. Between
    /// these it is linear, and below what is noticeable by most too, since some notice less.
    pub fn shortfall(&self, value: f64, best: f64) -> f64 {
        let behind = if self.is_more_better { best - value } else { value - best };
        let (noticeable, annoying) = (self.noticeable.of(best), self.annoying.of(best));
        if behind > noticeable {
            let beyond = (behind - noticeable) / (annoying - noticeable);
            (NOTICEABLE_STEPS + (ANNOYING_STEPS - NOTICEABLE_STEPS) * beyond).min(MOST_STEPS)
        } else if behind > 0.0 {
            NOTICEABLE_STEPS * behind / noticeable
        } else {
            0.0
        }
    }

    /// It in a run; a run without a finished page, or a video that never began, has none.
    pub fn value(&self, run: &dyn Metrics, minutes: f64) -> Option<f64> {
        (self.of)(run, minutes).filter(|value| value.is_finite())
    }

    /// What stands for no value: nothing, a page as long as the run, a video that always stands still.
    pub fn unseen(&self, minutes: f64) -> f64 {
        match self.name {
            _ if self.is_more_better => 0.0,
            STALLS => 60.0,
            _ => 60.0 * minutes,
        }
    }
}

/// Both directions' delays together. Two 99th percentiles bound 98 of 100 round trips at least.
fn round_trip(run: &dyn Metrics, [down, up]: &[Group; 2], metric: &str) -> Option<f64> {
    Some(down.metric(run, metric)? + up.metric(run, metric)?)
}

/// By how much pings are longer than the round trip of an idle line, in milliseconds.
pub fn ping_increase_ms(run: &dyn Metrics) -> Option<f64> {
    Some(round_trip(run, &PINGS, "owd_mean_ms")? - run.metric("rtt_base_ms")?)
}

/// Round trips a minute while the line is full: draft-ietf-ippm-responsiveness-09, "Aggregating the Measurements".
///
/// It is the mean of what separate connections have (here the ping, which stands for the handshakes of TCP and TLS and for
/// the request alike) and of what those have that fill the line (their TCP round trips). Means are not trimmed.
pub fn rpm(run: &dyn Metrics) -> Option<f64> {
    let foreign = 60_000.0 / round_trip(run, &PINGS, "owd_mean_ms")?;
    let time = |group: Group| group.metric(run, "rtt_mean_ms").filter(|&ms| ms > 0.0);
    let own = match (time(DOWNLOAD), time(BACKUP)) {
        (Some(down), Some(up)) => 60_000.0 * 2.0 / (down + up),
        _ => 0.0,
    };
    Some((foreign + own) / 2.0)
}

const LONGER: &str = "a fifth more time is noticeable: Seow, Designing and Engineering Time, 2008";
const TWICE: &str = "twice the time is ours; ratings fall with its logarithm: Egger et al., QoMEX 2012";
/// A transfer takes a fifth longer at five sixths of the rate.
const SLOWER: Difference = Difference { least: 0.0, share: 1.0 / 6.0, source: LONGER };
/// It takes twice as long at half of it.
const HALF: Difference = Difference { least: 0.0, share: 1.0 / 2.0, source: TWICE };

/// All figures.
pub static FIGURES: [Figure; 7] = [
    Figure {
        name: "call_mos",
        title: "Call",
        unit: "MOS, 1 to 4.4",
        digits: 2,
        is_more_better: true,
        noticeable: Difference {
            least: 0.31,
            share: 0.0,
            source: "from very satisfied (4.34) to satisfied (4.03): ITU-T G.107, annex B, and G.109",
        },
        annoying: Difference {
            least: 0.74,
            share: 0.0,
            source: "from very satisfied (4.34) to some users dissatisfied (3.60): ITU-T G.107 and G.109",
        },
        of: |run, _| Some(run.metric("mos_mean")?.min(run.metric("mos_back_mean")?)),
    },
    Figure {
        name: "page_load_s",
        title: "Page load",
        unit: "mean, s",
        digits: 2,
        is_more_better: false,
        noticeable: Difference {
            least: 0.1,
            share: 0.2,
            source: "a fifth more time is noticeable: Seow, Designing and Engineering Time, 2008; below 0.1 s is instantaneous: Miller, 1968",
        },
        annoying: Difference {
            least: 1.0,
            share: 1.0,
            source: "twice the time is ours; ratings fall with its logarithm: Egger et al., QoMEX 2012; a second more interrupts a thought: Miller, 1968",
        },
        of: |run, _| run.metric("page_load_mean_s"),
    },
    Figure {
        name: "game_rtt_ms",
        title: "Game round trip",
        unit: "median / 98 %, ms",
        digits: 0,
        is_more_better: false,
        noticeable: Difference {
            least: 25.0,
            share: 0.2,
            source: "steps of 25 ms cost hits: Liu et al., QoMEX 2021; a fifth more time is noticeable: Seow, Designing and Engineering Time, 2008",
        },
        annoying: Difference {
            least: 100.0,
            share: 1.0,
            source: "first-person games tolerate 100 ms: Claypool and Claypool, CACM 49(11), 2006",
        },
        of: |run, _| round_trip(run, &GAMES, "owd_p99_ms"),
    },
    Figure {
        name: STALLS,
        title: "Video stalls",
        unit: "s a minute",
        digits: 1,
        is_more_better: false,
        noticeable: Difference {
            least: 0.6,
            share: 0.0,
            source: "1 % of the time costs viewers: Dobrian et al., SIGCOMM 2011",
        },
        annoying: Difference {
            least: 6.0,
            share: 0.0,
            source: "two stalls of 3 s are rated 2.5 of 5: Hossfeld et al., ISM 2011",
        },
        of: |run, minutes| {
            run.metric("video_bitrate_mbit").and(run.metric("video_stall_s")).map(|s| s / minutes)
        },
    },
    Figure {
        name: "video_mbit",
        title: "Video",
        unit: "Mbit/s",
        digits: 2,
        is_more_better: true,
        noticeable: Difference {
            least: 0.0,
            share: 0.3,
            source: "a step of the ladder (1.43 times), which is just noticeable: Netflix, Per-title encode optimization, 2015",
        },
        annoying: Difference { least: 0.0, share: 0.65, source: "three steps of the ladder" },
        of: |run, _| run.metric("video_bitrate_mbit"),
    },
    Figure {
        name: "download_mbit",
        title: "Download",
        unit: "Mbit/s",
        digits: 2,
        is_more_better: true,
        noticeable: SLOWER,
        annoying: HALF,
        of: |run, _| DOWNLOAD.metric(run, "goodput_mbit"),
    },
    Figure {
        name: "backup_mbit",
        title: "Backup",
        unit: "Mbit/s",
        digits: 2,
        is_more_better: true,
        noticeable: SLOWER,
        annoying: HALF,
        of: |run, _| BACKUP.metric(run, "goodput_mbit"),
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn figures_find_the_metrics_of_their_groups() {
        let json = json!({
            "rtt_base_ms": 20.0, "class.ping_down.owd_mean_ms": 30.0, "class.ping_up.owd_mean_ms": 10.0,
            "class.download.rtt_mean_ms": 50.0, "class.backup.rtt_mean_ms": 70.0,
        });
        let run = json.as_object().unwrap();
        assert_eq!(ping_increase_ms(run), Some(20.0)); // 30 + 10 less 20
        assert_eq!(rpm(run), Some(f64::midpoint(60_000.0 / 40.0, 60_000.0 * 2.0 / 120.0)));
    }
}
