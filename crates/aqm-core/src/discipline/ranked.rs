//! Common code of schedulers by rank: the choice of the rank function and its parameters.

use crate::choices;
use crate::law::rank::{Function, Ranks};
use crate::params::{Each, Kind, ParamError, ParamSpec, Params, PerClass, Preset, Value};

/// Nanoseconds.
const MS: u64 = 1_000_000;

choices! {
    /// What goes first.
    enum Rank {
        Stfq = "stfq",
        Fifo = "fifo",
        Priority = "priority",
        Lstf = "lstf",
    }
}

pub(super) const RANK: ParamSpec = ParamSpec::choice::<Rank>(
    "rank",
    "What goes first: start-time fair queueing, arrival, the class, or the least slack",
    "Sivaraman 2016 sections 2.1 and 3",
);

pub(super) const SLACK: ParamSpec = ParamSpec::new(
    "slack",
    Kind::PerClass(Each::Span),
    Value::PerClass(PerClass::of(Each::Span, &[10 * MS])),
    (0.0, 1e12),
    "How long a packet of each class may wait, for rank lstf",
    "no reference has a number",
);

pub(super) const FLOWS: ParamSpec = ParamSpec::new(
    "flows",
    Kind::Count,
    Value::Count(1024),
    (1.0, 65_536.0),
    "Hashes by which rank stfq tells flows apart",
    "as many as fq_codel's; no reference has a number",
);

pub(super) const FIFO: Preset = Preset {
    name: "fifo",
    source: "Sivaraman 2016: ranked by arrival",
    values: &[("rank", Value::Choice(Rank::Fifo.word()))],
};

pub(super) const PRIORITY: Preset = Preset {
    name: "priority",
    source: "Sivaraman 2016 section 3.4: strict priority",
    values: &[("rank", Value::Choice(Rank::Priority.word()))],
};

pub(super) const LSTF: Preset = Preset {
    name: "lstf",
    source: "Sivaraman 2016 section 3.1: least slack time first; the slacks are ours",
    values: &[
        ("rank", Value::Choice(Rank::Lstf.word())),
        ("slack", Value::PerClass(PerClass::of(Each::Span, &[10 * MS, 50 * MS, 200 * MS]))),
    ],
};

fn function(params: &Params) -> Function {
    match params.choice("rank") {
        Rank::Fifo => Function::Fifo,
        Rank::Priority => Function::Priority,
        Rank::Lstf => Function::Lstf(params.per_class("slack").clone()),
        Rank::Stfq => Function::Stfq,
    }
}

/// The ranks of `params`.
pub(super) fn ranks(params: &Params) -> Ranks {
    Ranks::new(function(params), params.count("flows") as usize)
}

/// Whether `params` keep the rank function: queued packets have their ranks already.
pub(super) fn check(params: &Params, ranks: &Ranks) -> Result<(), ParamError> {
    let flows = params.count("flows");
    if flows != ranks.flows() as u64 {
        return Err(ParamError::while_packets_wait("flows", flows));
    }
    match (&function(params), ranks.function()) {
        (wanted, now) if wanted == now => Ok(()),
        (Function::Lstf(_), Function::Lstf(_)) => {
            Err(ParamError::while_packets_wait("slack", params.get("slack")))
        }
        _ => Err(ParamError::while_packets_wait("rank", params.get("rank"))),
    }
}
