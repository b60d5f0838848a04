//! The states of section 5.3, and their gains.

/// Section 2.5.
pub(super) const STARTUP_PACING_GAIN: f64 = 2.77;
const DRAIN_PACING_GAIN: f64 = 0.5;
/// Section 2.6.
const DEFAULT_CWND_GAIN: f64 = 2.0;

/// State of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Startup,
    Drain,
    ProbeBwDown,
    ProbeBwCruise,
    ProbeBwRefill,
    ProbeBwUp,
    ProbeRtt,
}

impl State {
    /// IsInAProbeBWState of section 5.3.3.9.
    pub(super) fn is_probe_bw(self) -> bool {
        !matches!(self, State::Startup | State::Drain | State::ProbeRtt)
    }

    /// IsProbingBW of section 5.3.3.9.
    pub(super) fn is_accelerating(self) -> bool {
        matches!(self, State::Startup | State::ProbeBwRefill | State::ProbeBwUp)
    }

    /// Section 5.6.1.
    pub(super) fn pacing_gain(self) -> f64 {
        match self {
            State::Startup => STARTUP_PACING_GAIN,
            State::Drain => DRAIN_PACING_GAIN,
            State::ProbeBwDown => 0.9,
            State::ProbeBwUp => 1.25,
            State::ProbeBwCruise | State::ProbeBwRefill | State::ProbeRtt => 1.0,
        }
    }

    /// Section 5.6.1.
    pub(super) fn cwnd_gain(self) -> f64 {
        match self {
            State::ProbeBwUp => 2.25,
            State::ProbeRtt => 0.5,
            _ => DEFAULT_CWND_GAIN,
        }
    }
}

/// What acknowledgments say about a probe for bandwidth: section 2.14.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AckPhase {
    Init,
    Refilling,
    ProbeStarting,
    ProbeFeedback,
    ProbeStopping,
}
