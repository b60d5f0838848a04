//! The declaration of a kind of flow. Flow specs, scenarios, help and documentation follow from it.

use aqm_core::params::{Kind as Unit, Value};

/// What a key of a flow spec takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Takes {
    /// One value.
    One(Unit),
    /// A value drawn from a distribution each time; a single value is a constant.
    Drawn(Unit),
    /// Values that ascend, separated by commas.
    Ascending(Unit),
    /// A time, or an earliest and a latest with `..` between.
    Range,
    /// The name of a group.
    Name,
    /// Nodes of a topology.
    Nodes,
    /// A file with recorded packets.
    Capture,
}

/// The declaration of a key of a flow spec.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Name.
    pub name: &'static str,
    /// Its field in a scenario.
    pub field: &'static str,
    /// SourceKind of value.
    pub takes: Takes,
    /// Smallest and largest value, in base units; none for what is drawn.
    pub range: (f64, f64),
    /// Default in tc's notation; empty for none.
    pub default: &'static str,
    /// What it does, in a few words.
    pub help: &'static str,
    /// Source of the default.
    pub reference: &'static str,
}

impl Key {
    /// Declares a key.
    pub(super) const fn new(
        name: &'static str,
        field: &'static str,
        takes: Takes,
        default: &'static str,
        help: &'static str,
    ) -> Key {
        Key { name, field, takes, range: (1.0, 1e18), default, help, reference: "" }
    }

    /// With a smallest and a largest value.
    pub(super) const fn within(mut self, low: f64, high: f64) -> Key {
        self.range = (low, high);
        self
    }

    /// With the source of its default.
    pub(super) const fn from(mut self, reference: &'static str) -> Key {
        self.reference = reference;
        self
    }
}

/// What may carry a kind of flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    /// UDP, or TCP with any congestion control.
    Any,
    /// UDP alone.
    Udp,
    /// TCP alone: it waits for delivery.
    Tcp,
    /// TCP or rate-based senders, with any control.
    Reacting,
}

/// The declaration of a kind of flow.
#[derive(Debug)]
#[non_exhaustive]
pub struct SourceKind {
    /// Name.
    pub name: &'static str,
    /// What it is, in one line.
    pub summary: &'static str,
    /// Where it comes from.
    pub reference: &'static str,
    /// What may carry it.
    pub over: Over,
    /// Transport unless given.
    pub transport: &'static str,
    /// Its keys, beside those of every flow and of its transport.
    pub keys: &'static [Key],
    /// Values of keys, its transport's too, that differ from their declared defaults.
    pub defaults: &'static [(&'static str, &'static str)],
    /// Keys that must be given.
    pub must: &'static [&'static str],
    /// Its source in a scenario.
    pub form: &'static str,
    /// Fields of the source in a scenario, beside those of its keys.
    pub constants: &'static [(&'static str, Value)],
}

impl SourceKind {
    /// The base of declarations, with everything optional left out.
    pub(super) const PLAIN: SourceKind = SourceKind {
        name: "",
        summary: "",
        reference: "",
        over: Over::Any,
        transport: "udp",
        keys: &[],
        defaults: &[],
        must: &[],
        form: "",
        constants: &[],
    };
}

/// Keys of every flow.
pub static COMMON: &[Key] = &[
    Key::new("name", "name", Takes::Name, "", "name of the group in metrics; the kind unless given"),
    Key::new("start", "start_ns", Takes::Range, "0..1s", "when the flows start"),
    Key::new(
        "spacing",
        "spacing_ns",
        Takes::One(Unit::Span),
        "off",
        "how much later than the one before each flow starts",
    )
    .within(0.0, 1e12),
    Key::new("rtt", "rtt_ns", Takes::One(Unit::Span), "", "base round-trip time; --rtt unless given"),
    Key::new(
        "from",
        "from",
        Takes::Nodes,
        "",
        "nodes of the topology where the flows begin, in turn; shared hosts",
    ),
    Key::new(
        "to",
        "to",
        Takes::Nodes,
        "",
        "nodes of the topology where the flows end, in turn; shared hosts",
    ),
    Key::new("class", "class", Takes::One(Unit::Count), "0", "traffic class").within(0.0, 65_535.0),
    Key::new("dscp", "dscp", Takes::One(Unit::Count), "0", "DiffServ code point")
        .within(0.0, 63.0)
        .from("RFC 2474"),
];

/// Keys of a flow that always has data to send.
pub static BULK: &[Key] = &[
    Key::new(
        "size",
        "size_bytes",
        Takes::One(Unit::Bytes),
        "",
        "payload of a finite flow; without end unless given",
    )
    .within(1.0, 9_007_199_254_740_992.0),
    Key::new(
        "stop",
        "stop_ns",
        Takes::One(Unit::Span),
        "",
        "when the flows stop; TCP still repeats what is lost, and a real transport does what its page says",
    )
    .within(1.0, 1e15),
];

/// The rate of a source that has one.
pub(super) const RATE: Key = Key::new("rate", "rate_bps", Takes::One(Unit::Rate), "", "rate while sending");
