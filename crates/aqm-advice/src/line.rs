//! The line of a home.

use crate::layer::Layer;
use serde::{Deserialize, Serialize};

/// Packets of a modem's buffer are worth 256 KB, or 100 ms of a fast line (Kreibich et al., "Netalyzr", IMC 2010).
const BUFFER_BYTES: u64 = 256 * 1024;
/// A rate over this is 100 ms in bytes.
const BITS_OF_BUFFER: u64 = 80;

/// A line: rates as the modem reports them, its link layer, and the modem's buffer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// Rate towards the home, in bit/s; the mean of a recorded one.
    pub down_bps: u64,
    /// Rate from the home, in bit/s.
    pub up_bps: u64,
    /// Its link layer.
    pub layer: Layer,
    /// Whether the downlink is a recorded one, of a mobile network.
    pub is_recorded: bool,
    /// Round-trip time to servers.
    pub rtt_ns: u64,
    /// The modem's buffer in each direction, in tc's notation; typical ones if empty.
    pub modem_buffer: String,
    /// Share of the rate that a shaper is given; without it several are tried.
    pub share: Option<f64>,
}

impl Line {
    /// The modem's buffers, down and up, in tc's notation.
    pub fn buffers(&self) -> [String; 2] {
        [self.down_bps, self.up_bps].map(|rate| match self.modem_buffer.as_str() {
            "" => format!("{}b", BUFFER_BYTES.max(rate / BITS_OF_BUFFER)),
            given => given.to_owned(),
        })
    }

    /// The rates of a shaper with a share of the line's, down and up, in bit/s: whole kbit/s.
    pub fn shaped(&self, share: f64) -> [u64; 2] {
        [self.down_bps, self.up_bps].map(|rate| ((rate as f64 * share) as u64 / 1000).max(1) * 1000)
    }
}
