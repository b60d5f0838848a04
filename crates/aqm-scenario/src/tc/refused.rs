//! Qdiscs of tc that are no discipline here, and what comes closest.

/// A name, and what to do instead.
pub(super) static NEAREST: &[(&str, &str)] = &[
    ("noqueue", "the device has no queue, so nothing waits there: fifo limit 1p is the smallest"),
    ("noop", "it drops every packet: --loss 100%"),
    ("blackhole", "it drops every packet: --loss 100%"),
    ("hhf", "fq_codel divides the link among flows, lru_red treats heavy hitters apart"),
    ("etf", "packets have no launch times here; a flow's own pacing comes closest (--flows ...:pacing=on)"),
    ("taprio", "a link's time slots come closest: --topology with a link kind of its own"),
    ("cbs", "credits of a class: drr with a quantum for each class, or cake bandwidth"),
    ("skbprio", "prio sends by type of service or priority, pifo by rank"),
    ("multiq", "rr serves classes in turn"),
    ("gred", "wred has RED's curve for each drop precedence"),
    ("plug", "no discipline here holds packets until a command releases them"),
    ("teql", "it joins devices: a topology has a link for each"),
    ("cbq", "drr with a quantum for each class, or cake bandwidth"),
    ("hfsc", "drr with a quantum for each class, or cake bandwidth"),
    ("atm", "cake atm counts cells"),
    ("dsmark", "flows have their code point: --flows ...:dscp=N"),
    ("bpf", "a discipline of your own: python:FILE:CLASS"),
];

/// What a message says of it.
pub(super) fn nearest(kind: &str) -> Option<String> {
    let (name, instead) = NEAREST.iter().find(|(name, _)| *name == kind)?;
    Some(format!("tc's '{name}' has no counterpart here: {instead}"))
}
