//! What a congestion control is: its declaration, and its reactions to events of its connection.

use super::bbr::View;
use super::hystart::SlowStart;
use crate::transport::feedback::{Echo, ReceiverReport};
use crate::transport::rate::{LostSegment, Sampler};
use crate::transport::relation::Relation;
use crate::transport::values::Values;
use crate::transport::window::{Acked, Window};
use aqm_core::params::{ParamSpec, Preset};
use aqm_core::random::Random;
use aqm_core::units::{Span, Time};
use std::fmt::Debug;

/// The declaration of a congestion control.
#[derive(Debug)]
pub struct Info {
    /// Name of the transport.
    pub name: &'static str,
    /// Another name for it, or nothing.
    pub alias: &'static str,
    /// What it is, in one line.
    pub summary: &'static str,
    /// Where it is defined.
    pub reference: &'static str,
    /// Its own keys, beside those of every TCP connection.
    pub params: &'static [ParamSpec],
    /// Its defaults for other keys.
    pub sets: &'static [(&'static str, &'static str)],
    /// Keys that it limits to these values.
    pub only: &'static [(&'static str, &'static [&'static str])],
    /// Keys that must be given.
    pub must: &'static [&'static str],
    /// Values of its keys that need values of other keys.
    pub relations: &'static [Relation],
    /// Its own keys under a profile, with the source.
    pub profiles: &'static [Preset],
    /// Whether it can carry sources of every kind; false for measuring instruments.
    pub carries: bool,
    /// What the receiver reports about marks and delay.
    pub(crate) feedback: (Echo, ReceiverReport),
    /// Its state at the start of a connection.
    pub(crate) build: fn(&Values, &mut Window, Random) -> Box<dyn Controller>,
}

/// The ECN modes of most controls: RFC 9331's needs a control made for it.
const CLASSIC: (&str, &[&str]) = ("ecn", &["off", "classic"]);

impl Info {
    /// The usual declaration. What is left out has no meaning.
    pub(crate) const USUAL: Info = Info {
        name: "",
        alias: "",
        summary: "",
        reference: "",
        params: &[],
        sets: &[],
        only: &[CLASSIC],
        must: &[],
        relations: &[],
        profiles: &[],
        carries: true,
        feedback: (Echo::Classic, ReceiverReport::Nothing),
        build: |_, _, _| unreachable!("every congestion control is built in its own way"),
    };
}

/// A congestion control: a window, possibly a rate, and its reactions.
pub(crate) trait Controller: Debug + Send {
    /// Data arrived, in recovery or not.
    fn observe(&mut self, _: &mut Window, _: &Acked) {}

    /// New data was acknowledged outside recovery, by a sender that uses its window: it may grow.
    fn on_ack(&mut self, window: &mut Window, start: &mut SlowStart, acked: &Acked) {
        if !window.in_slow_start() {
            self.avoid_congestion(window, acked);
            return;
        }
        let before = window.cwnd;
        start.grow(window, acked);
        // Linux (tcp_slow_start): what slow start leaves at its end counts in congestion avoidance.
        let rest = acked.bytes.saturating_sub(window.cwnd - before);
        if window.whole && !window.in_slow_start() && rest > 0 {
            self.avoid_congestion(window, &Acked { bytes: rest, ..*acked });
        }
    }

    /// The same, in congestion avoidance.
    fn avoid_congestion(&mut self, _: &mut Window, _: &Acked) {}

    /// A loss was found by fast retransmit, or a classic ECN echo arrived; `flight` bytes were outstanding.
    fn on_congestion(&mut self, _: &mut Window, _flight: u64) {}

    /// The retransmission timer expired: RFC 5681 section 3.1. On the first timeout, `on_congestion` is called
    /// before.
    fn on_timeout(&mut self, window: &mut Window) {
        window.cwnd = window.mss;
    }

    /// RFC 5681 section 4.1: an idle connection starts again from the initial window.
    fn on_idle(&mut self, window: &mut Window) {
        window.cwnd = window.cwnd.min(window.initial);
    }

    /// Whether it follows a model of the path: then it gets samples of the delivery rate, and the calls below.
    fn wants_samples(&self) -> bool {
        false
    }

    /// An acknowledgment with a sample was processed.
    fn on_sample(&mut self, _: &mut View<'_>) {}

    /// A segment was marked lost.
    fn on_lost(&mut self, _: &Window, _: &LostSegment) {}

    /// The recovery was spurious: nothing was lost.
    fn on_spurious_recovery(&mut self, _: &mut Window, _: &Sampler) {}

    /// A connection starts to send, or continues after a pause of its application; `srtt` is zero if unknown.
    fn on_restart(&mut self, _: &mut Window, _: &Sampler, _srtt: Span, _now: Time) {}

    /// The rate of a control that always paces, bytes per second.
    fn rate(&self, _: &Window) -> Option<f64> {
        None
    }
}
