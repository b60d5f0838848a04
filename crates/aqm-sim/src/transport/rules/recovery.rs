//! How losses are found and repaired, and what they cost.

use super::group::Group;
use crate::transport::relation::Relation;
use crate::transport::values::Values;
use aqm_core::choices;
use aqm_core::params::{Kind, ParamSpec, Value};
use aqm_core::units::Span;

pub(super) const GROUP: Group = Group {
    name: "recovery",
    summary: "how losses are found and repaired, and what they cost",
    keys: KEYS,
    relations: &[
        Relation { given: ("recovery.rack", "on"), needs: SACK },
        Relation { given: ("recovery.reenter", "on"), needs: SACK },
        Relation { given: ("recovery.ssthresh", Reduced::Pipe.word()), needs: SACK },
        Relation { given: ("recovery.prr", "on"), needs: SACK },
        Relation { given: ("recovery.frto", "on"), needs: SACK },
    ],
    linux: &[
        ("recovery.rack", Value::Flag(true)),
        ("recovery.reenter", Value::Flag(true)),
        ("recovery.ssthresh", Value::Choice(Reduced::Cwnd.word())),
        ("recovery.ssthresh_on_lost_rtx", Value::Flag(false)),
        ("recovery.cwnd_unit", Value::Choice(CwndUnit::Segments.word())),
        ("recovery.prr", Value::Flag(true)),
        ("recovery.prr_on_ecn", Value::Flag(true)),
        ("recovery.prr_on_timer", Value::Flag(true)),
        ("recovery.safeack", Value::Flag(true)),
        ("recovery.eifel", Value::Flag(true)),
        ("recovery.frto", Value::Flag(true)),
        ("recovery.minrto_bounds", Value::Choice(MinRtoBounds::RttVar.word())),
        ("recovery.syn_loss", Value::Flag(false)),
        ("recovery.ecn_fallback", Value::Flag(true)),
    ],
    ns3: &[("recovery.prr", Value::Flag(true))],
};

const SACK: (&str, &str) = ("sack", "on");

const KEYS: &[ParamSpec] = &[
    ParamSpec::flag("recovery.rack", false, "RACK-TLP: find losses by time; needs sack", "RFC 8985"),
    ParamSpec::flag(
        "recovery.reenter",
        false,
        "begin another recovery where one ends and later segments are known to be lost; needs sack",
        "RFC 5681 section 4.3; Linux: on (tcp_time_to_recover)",
    ),
    ParamSpec::choice::<Reduced>(
        "recovery.ssthresh",
        "base of ssthresh: FlightSize, at losses RFC 6675's pipe as in ns-3 (needs sack), or cwnd",
        "RFC 5681 equation 4; RFC 6675; Linux: cwnd (tcp_reno_ssthresh)",
    ),
    ParamSpec::flag(
        "recovery.ssthresh_on_lost_rtx",
        true,
        "reduce ssthresh again when a retransmission is lost or the RTO fires during recovery",
        "RFC 5681 sections 3.1 and 4.3; Linux: off (tcp_enter_loss)",
    ),
    ParamSpec::choice::<CwndUnit>(
        "recovery.cwnd_unit",
        "unit of reductions and of PRR; in segments a half of 5 is 2, and a started segment is sent",
        "RFC 5681 section 2; Linux: segments (snd_cwnd)",
    ),
    ParamSpec::flag("recovery.prr", false, "proportional rate reduction; needs sack", "RFC 6937"),
    ParamSpec::flag(
        "recovery.prr_on_ecn",
        false,
        "PRR also spreads the reduction after a CE mark (newreno, cubic, dctcp); cwnd does not grow meanwhile",
        "RFC 3168 section 6.1.2; Linux: on (tcp_enter_cwr, tcp_cwnd_reduction)",
    ),
    ParamSpec::flag(
        "recovery.prr_on_timer",
        false,
        "PRR counts a segment as delivered when RACK's timer, not an ACK, finds the loss",
        "RFC 9937 counts what ACKs report; Linux: on (tcp_rack_reo_timeout)",
    ),
    ParamSpec::flag(
        "recovery.safeack",
        false,
        "PRR sends a segment more than was delivered only if the ACK advances and no loss is new",
        "RFC 9937 (SafeACK); Linux: on (tcp_cwnd_reduction)",
    ),
    ParamSpec::flag("recovery.eifel", false, "undo spurious retransmissions", "RFC 3522, RFC 4015"),
    ParamSpec::flag(
        "recovery.frto",
        false,
        "send new data after a timeout, to find out whether it was spurious; needs sack",
        "RFC 5682; Linux: on (tcp_process_loss)",
    ),
    ParamSpec::choice::<MinRtoBounds>(
        "recovery.minrto_bounds",
        "what minrto bounds: the whole RTO, or its variance term",
        "RFC 6298 section 2.4; Linux: rttvar (tcp_rtt_estimator)",
    ),
    ParamSpec::new(
        "recovery.syn_rto",
        Kind::Span,
        Value::Span(Span::from_secs(1)),
        (1e6, 1e18),
        "first timeout of a SYN; each further one is twice as long",
        "RFC 6298 section 2.1; RFC 1122 section 4.2.3.1 and ns-3: 3 s",
    ),
    ParamSpec::flag(
        "recovery.syn_loss",
        true,
        "a repeated SYN leaves a cwnd of one segment and an RTO of 3 s",
        "RFC 5681 section 3.1, RFC 6298 section 5.7; Linux and ns-3: off (tcp_init_transfer)",
    ),
    ParamSpec::flag(
        "recovery.ecn_fallback",
        false,
        "a repeated SYN no longer asks for ECN",
        "RFC 3168 section 6.1.1.1 allows both; Linux: on (tcp_ecn_fallback)",
    ),
    ParamSpec::flag(
        "recovery.ect_syn",
        false,
        "SYN and SYN-ACK are ECT if ecn is on",
        "RFC 8311 section 4.3",
    ),
];

choices! {
    /// What reductions and PRR count.
    enum CwndUnit {
        Bytes = "bytes",
        Segments = "segments",
    }
}

choices! {
    /// What `minrto` bounds.
    enum MinRtoBounds {
        Rto = "rto",
        RttVar = "rttvar",
    }
}

/// The rules of a sender.
#[derive(Clone, Debug)]
pub(crate) struct RecoveryRules {
    pub(crate) rack: bool,
    pub(crate) reenter: bool,
    pub(crate) ssthresh: Reduced,
    pub(crate) ssthresh_on_lost_rtx: bool,
    /// Whether reductions and PRR count whole segments.
    pub(crate) whole_segments: bool,
    pub(crate) prr: bool,
    pub(crate) prr_on_ecn: bool,
    pub(crate) prr_on_timer: bool,
    pub(crate) safeack: bool,
    pub(crate) eifel: bool,
    pub(crate) frto: bool,
    /// Whether `minrto` bounds the variance term alone.
    pub(crate) minrto_bounds_rttvar: bool,
    pub(crate) syn_rto: Span,
    pub(crate) syn_loss: bool,
    pub(crate) ecn_fallback: bool,
    pub(crate) ect_syn: bool,
}

choices! {
    /// What congestion reduces.
    pub(crate) enum Reduced {
        /// FlightSize: all data outstanding.
        Flight = "flight",
        /// At a loss what is believed to be in the network, else as `Flight`.
        Pipe = "pipe",
        /// The window, used or not.
        Cwnd = "cwnd",
    }
}

impl RecoveryRules {
    pub(crate) fn of(values: &Values) -> RecoveryRules {
        RecoveryRules {
            rack: values.flag("recovery.rack"),
            reenter: values.flag("recovery.reenter"),
            ssthresh: values.choice("recovery.ssthresh"),
            ssthresh_on_lost_rtx: values.flag("recovery.ssthresh_on_lost_rtx"),
            whole_segments: values.choice::<CwndUnit>("recovery.cwnd_unit") == CwndUnit::Segments,
            prr: values.flag("recovery.prr"),
            prr_on_ecn: values.flag("recovery.prr_on_ecn"),
            prr_on_timer: values.flag("recovery.prr_on_timer"),
            safeack: values.flag("recovery.safeack"),
            eifel: values.flag("recovery.eifel"),
            frto: values.flag("recovery.frto"),
            minrto_bounds_rttvar: values.choice::<MinRtoBounds>("recovery.minrto_bounds")
                == MinRtoBounds::RttVar,
            syn_rto: values.span("recovery.syn_rto"),
            syn_loss: values.flag("recovery.syn_loss"),
            ecn_fallback: values.flag("recovery.ecn_fallback"),
            ect_syn: values.flag("recovery.ect_syn"),
        }
    }
}
