//! The keys of TCP flows under their names before 0.3, and what became of each: an old name is answered with the new one.
//!
//! To be dropped at the next release.

use aqm_core::input_error::InputError;

/// An old key, its new name, and values that are written otherwise.
pub struct Renamed {
    /// The old name.
    pub old: &'static str,
    /// The new name; the same if it has kept it.
    pub new: &'static str,
    /// Old and new values, where they differ.
    pub values: &'static [(&'static str, &'static str)],
}

const fn same(old: &'static str) -> Renamed {
    Renamed { old, new: old, values: &[] }
}

const fn to(old: &'static str, new: &'static str) -> Renamed {
    Renamed { old, new, values: &[] }
}

const fn with(
    old: &'static str,
    new: &'static str,
    values: &'static [(&'static str, &'static str)],
) -> Renamed {
    Renamed { old, new, values }
}

/// Every key that a flow of CUBIC had.
pub static RENAMED: &[Renamed] = &[
    same("name"),
    same("start"),
    to("apart", "spacing"),
    same("rtt"),
    same("from"),
    same("to"),
    same("class"),
    same("dscp"),
    same("size"),
    same("stop"),
    to("stack", "profile"),
    same("mss"),
    same("iw"),
    same("sack"),
    same("ecn"),
    same("delack"),
    to("delackmax", "acks.delack_max"),
    same("minrto"),
    with("rto", "recovery.minrto_bounds", &[("whole", "rto"), ("variation", "rttvar")]),
    with("ssthresh", "recovery.ssthresh", &[("window", "cwnd")]),
    to("relower", "recovery.ssthresh_on_lost_rtx"),
    to("relapse", "recovery.reenter"),
    to("count", "recovery.cwnd_unit"),
    to("sackgrow", "slow_start.acked_sacked"),
    to("sslimit", "slow_start.abc_limit"),
    same("window"),
    same("pacing"),
    with("hystart", "slow_start.hystart", &[("on", "plusplus")]),
    with("detect", "slow_start.hystart", &[("rounds", "plusplus")]),
    same("handshake"),
    to("synrto", "recovery.syn_rto"),
    with("synloss", "recovery.syn_loss", &[("respected", "on"), ("ignored", "off")]),
    to("connect", "app.connect"),
    to("listen", "app.listen"),
    to("resolve", "app.arp"),
    to("write", "app.write"),
    to("sndbuf", "app.sndbuf"),
    with("synecn", "recovery.ecn_fallback", &[("kept", "off"), ("dropped", "on")]),
    to("ecnsyn", "recovery.ect_syn"),
    to("quickack", "acks.quickack"),
    to("rcvbuf", "acks.rcvbuf"),
    to("quicken", "acks.quickack_mode"),
    to("push", "acks.psh"),
    to("eifel", "recovery.eifel"),
    to("frto", "recovery.frto"),
    to("prr", "recovery.prr"),
    to("markprr", "recovery.prr_on_ecn"),
    to("safeack", "recovery.safeack"),
    to("timerprr", "recovery.prr_on_timer"),
    to("rack", "recovery.rack"),
    same("growth"),
    same("ipv6"),
];

/// The error about an old name, which gives the new one and the value as it is written now, if the host knows that.
pub(super) fn answered(name: &str, value: &str, is_known: impl Fn(&str) -> bool) -> Option<InputError> {
    let found = RENAMED.iter().find(|one| one.old == name && one.new != name && is_known(one.new))?;
    let now = found.values.iter().find(|(old, _)| *old == value).map_or(value, |(_, new)| *new);
    let problem = format!("'{name}' is now '{}': write {}={now}", found.new, found.new);
    Some(InputError::new(problem).of_value(name).near(name, [found.new].into_iter()))
}
