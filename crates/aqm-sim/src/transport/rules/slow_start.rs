//! How the window grows, and when slow start ends.

use super::group::Group;
use crate::transport::values::Values;
use aqm_core::choices;
use aqm_core::params::{Kind, ParamSpec, Value};

pub(super) const GROUP: Group = Group {
    name: "slow_start",
    summary: "how the window grows, and when slow start ends",
    keys: KEYS,
    relations: &[],
    linux: &[("slow_start.abc_limit", Value::Count(0)), ("slow_start.acked_sacked", Value::Flag(true))],
    ns3: &[],
};

const KEYS: &[ParamSpec] = &[
    ParamSpec::choice::<HyStartRule>(
        "slow_start.hystart",
        "leave slow start before a loss: HyStart++ (plusplus, first slow start), or by trains of ACKs and delays in rounds from 16 segments on (classic) or from the first ACK on (classic_first)",
        "RFC 9406; Ha, Rhee 2008; Linux's CUBIC: classic_first (hystart_update), 5.16 to 6.13 classic",
    ),
    ParamSpec::new(
        "slow_start.abc_limit",
        Kind::Count,
        Value::Count(2),
        (0.0, 10_000.0),
        "most segments that an ACK adds in slow start (L of ABC); 0: no limit, also in HyStart++, which has 8",
        "RFC 3465 section 2.2; Linux: none (tcp_slow_start)",
    ),
    ParamSpec::flag(
        "slow_start.acked_sacked",
        false,
        "cwnd grows by what was delivered: also by what SACK reports with an ACK that advances (once the path has reordered, also without), less what duplicate ACKs stood for",
        "RFC 3465 section 2.1; Linux: on (tcp_cong_avoid is given acked_sacked, tcp_may_raise_cwnd)",
    ),
];

/// The rules of a sender's growth.
#[derive(Clone, Debug)]
pub(crate) struct SlowStartRules {
    pub(crate) hystart: HyStartRule,
    /// Most segments that an ACK adds in slow start.
    pub(crate) abc_limit: Option<u32>,
    pub(crate) acked_sacked: bool,
}

choices! {
    /// How slow start ends before a loss.
    pub(crate) enum HyStartRule {
        Off = "off",
        PlusPlus = "plusplus",
        /// Rounds begin at 16 segments.
        Classic = "classic",
        /// Rounds begin with the first ACK.
        ClassicFirst = "classic_first",
    }
}

impl SlowStartRules {
    pub(crate) fn of(values: &Values) -> SlowStartRules {
        SlowStartRules {
            hystart: values.choice("slow_start.hystart"),
            abc_limit: Some(values.count("slow_start.abc_limit")).filter(|&limit| limit > 0),
            acked_sacked: values.flag("slow_start.acked_sacked"),
        }
    }
}
