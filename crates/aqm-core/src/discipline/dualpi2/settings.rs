//! DualPI2's parameters, and the settings that follow from them.

use crate::choices;
use crate::law::Pi as Law;
use crate::params::{Kind, ParamError, ParamSpec, Params, TcNumber, Value};
use crate::units::{Bytes, Size, Span};

/// The declarations.
pub(super) static PARAMS: &[ParamSpec] = &[
    LIMIT,
    ParamSpec::new(
        "target",
        Kind::Span,
        Value::Span(Span::from_millis(15)),
        (1e3, 1e10),
        "Delay of the classic queue that the controller aims at",
        "RFC 9332 appendix A.1: 15 ms",
    ),
    ParamSpec::new(
        "tupdate",
        Kind::Span,
        Value::Span(Span::from_millis(15)),
        (1e4, 1e10),
        "Period of the controller",
        "RFC 9332 appendix A.1: the smaller of target and a third of 100 ms",
    ),
    ParamSpec::new(
        "alpha",
        Kind::Frequency,
        Value::Frequency(0.15),
        (0.0, 1e3),
        "Weight of the distance to the target",
        "RFC 9332 appendix A.1: 0.1 tupdate / (100 ms)^2",
    )
    .tc_counts(TcNumber::Hertz),
    ParamSpec::new(
        "beta",
        Kind::Frequency,
        Value::Frequency(3.0),
        (0.0, 1e3),
        "Weight of the trend of the delay",
        "RFC 9332 appendix A.1: 0.3 / 100 ms",
    )
    .tc_counts(TcNumber::Hertz),
    ParamSpec::new(
        "coupling_factor",
        Kind::Number,
        Value::Number(2.0),
        (0.0, 16.0),
        "Probability of marks in the L4S queue as a multiple of p' (k)",
        "RFC 9332 section 2.5: 2",
    ),
    ParamSpec::new(
        "typical_rtt",
        Kind::Span,
        Value::Auto,
        (1e3, 1e10),
        "Typical round-trip time: makes target, tupdate, alpha and beta follow from both round-trip times",
        "tc-dualpi2(8)",
    )
    .or_auto("a sixth of max_rtt; without that, as the preset"),
    ParamSpec::new(
        "max_rtt",
        Kind::Span,
        Value::Auto,
        (1e3, 6e10),
        "Longest round-trip time: makes target, tupdate, alpha and beta follow from both round-trip times",
        "tc-dualpi2(8)",
    )
    .or_auto("six times typical_rtt; without that, as the preset"),
    ParamSpec::new(
        "step_thresh",
        Kind::SpanOrPackets,
        Value::Span(Span::from_micros(800)),
        (0.0, 1e10),
        "Delay in the L4S queue, or packets left in it, above which its own marks begin",
        "RFC 9332 appendix A.1: 800 us",
    ),
    ParamSpec::new(
        "step_range",
        Kind::Span,
        Value::Span(Span::from_micros(400)),
        (0.0, 1e10),
        "Further delay over which these marks rise to all packets; none, or a threshold in packets, is a step",
        "RFC 9332 appendix A.1: 400 us",
    ),
    ParamSpec::new(
        "min_qlen_step",
        Kind::Count,
        Value::Count(0),
        (0.0, 1e9),
        "Packets that a packet has to find in the L4S queue to be marked by its step",
        "tc-dualpi2(8): 0",
    ),
    ParamSpec::flag(
        "step_alone",
        false,
        "Its own marks fall on a packet that leaves the L4S queue empty too",
        "RFC 9332 appendix A.1: Th_len, one packet; Linux: min_qlen_step 0, at any length",
    ),
    ParamSpec::choice::<Turns>(
        "scheduler",
        "Which queue goes next: by weights in bytes, or the older head, that of the L4S queue made older",
        "RFC 9332 section 4.2.2: either",
    ),
    ParamSpec::new(
        "classic_protection",
        Kind::Percent,
        Value::Percent(10.0),
        (0.0, 100.0),
        "Share of the link that classic traffic is guaranteed (wrr); at 0% the L4S queue always goes first",
        "tc-dualpi2(8): 10 %",
    ),
    ParamSpec::new(
        "tshift",
        Kind::Span,
        Value::Span(Span::from_millis(50)),
        (0.0, 1e10),
        "How much older the head of the L4S queue counts (tsfifo)",
        "RFC 9332 appendix A.2: 50 ms",
    ),
    ParamSpec::choice::<Signals>(
        "signals",
        "Whether likelihoods are added up until they make a signal, or are chances of one",
        "RFC 9332 appendix A.1 (recur): count; Linux: lot",
    ),
    ParamSpec::keywords::<DropAt>(
        "drop_at",
        "Whether p' marks and drops packets that leave or packets that arrive",
        "RFC 9332 appendix A, tc-dualpi2(8): drop_dequeue",
    ),
    ParamSpec::keywords::<Overload>(
        "overload",
        "Beyond saturated marks: drop in the L4S queue too, or let queues grow to the limit with p' at most 1/k",
        "RFC 9332 section 4.1, tc-dualpi2(8): drop_on_overload",
    ),
    ParamSpec::keywords::<L4sPackets>(
        "l4s",
        "What goes to the L4S queue beside CE: ECT(1), or ECT(0) too, for DCTCP",
        "RFC 9331 section 5.1, tc-dualpi2(8): l4s_ect",
    ),
    ParamSpec::new(
        "memlimit",
        Kind::Bytes,
        Value::Auto,
        (1.0, 1e12),
        "Most bytes of packets that wait",
        "tc-dualpi2(8): limit times two full packets, for the memory of buffers",
    )
    .or_auto("without a bound, as limit says"),
];

const LIMIT: ParamSpec = crate::discipline::LIMIT.with_default(
    Value::Size(Size::Packets(10_000)),
    "tc-dualpi2(8): 10000 packets; RFC 9332 appendix A.1: 250 ms of the link",
);

/// The queue of the L4S service, and that of all other traffic.
pub(super) const L4S: usize = 0;
pub(super) const CLASSIC: usize = 1;

/// What the parameters mean together.
pub(super) struct Settings {
    pub(super) limit: Size,
    pub(super) memlimit: u64,
    pub(super) law: Law,
    pub(super) tupdate: Span,
    pub(super) coupling: f64,
    step: Step,
    /// Packets that a packet has to find in the L4S queue for the step.
    pub(super) min_qlen_step: u64,
    pub(super) order: Order,
    /// Percent of the link, for each queue; at least one.
    pub(super) weights: [u32; 2],
    /// Whether p' signals to packets that arrive.
    pub(super) at_arrival: bool,
    /// Whether the L4S queue drops too once its marks are saturated.
    pub(super) drop_on_overload: bool,
    /// Whether ECT(0) goes to the L4S queue too.
    pub(super) any_ect: bool,
    /// Whether the ramp also marks a packet that leaves its queue empty.
    pub(super) step_alone: bool,
    /// Accumulate likelihoods instead of drawing random numbers.
    pub(super) count: bool,
}

/// Where the marks of the L4S queue itself begin.
enum Step {
    /// From this delay on, rising over `range`.
    Delay { thresh: Span, range: Span },
    /// With more packets left behind.
    Packets(u64),
}

/// Which queue goes next.
pub(super) enum Order {
    /// By weights.
    Weights,
    /// This one while it has packets.
    First(usize),
    /// The older head, that of the L4S queue counting as older by this.
    Shifted(Span),
}

choices! {
    /// Which queue goes next.
    enum Turns {
        Wrr = "wrr",
        TsFifo = "tsfifo",
    }
}

choices! {
    /// How likelihoods become signals.
    pub(super) enum Signals {
        Count = "count",
        Lot = "lot",
    }
}

choices! {
    /// Which packets p' marks and drops.
    enum DropAt {
        Dequeue = "drop_dequeue",
        Enqueue = "drop_enqueue",
    }
}

choices! {
    /// What happens beyond saturated marks.
    enum Overload {
        Drop = "drop_on_overload",
        Overflow = "overflow",
    }
}

choices! {
    /// What goes to the L4S queue.
    enum L4sPackets {
        L4sEct = "l4s_ect",
        AnyEct = "any_ect",
    }
}

/// The settings that the parameters give.
///
/// # Errors
/// If round-trip times contradict each other, or what follows from them.
pub(super) fn settings(params: &Params) -> Result<Settings, ParamError> {
    let classic = (params.number("classic_protection") * 100.0 + 0.5) as u32;
    let (law, tupdate) = controller(params)?;
    let order = match (params.choice("scheduler"), classic) {
        (Turns::TsFifo, _) => Order::Shifted(params.span("tshift")),
        (Turns::Wrr, 0) => Order::First(L4S),
        (Turns::Wrr, 100) => Order::First(CLASSIC),
        (Turns::Wrr, _) => Order::Weights,
    };
    let step = match params.get("step_thresh") {
        Value::Size(packets) => Step::Packets(packets.count()),
        _ => Step::Delay { thresh: params.span("step_thresh"), range: params.span("step_range") },
    };
    Ok(Settings {
        limit: params.size("limit").expect("limit has no auto"),
        memlimit: params.bytes("memlimit").map_or(u64::MAX, Bytes::as_u64),
        law,
        tupdate,
        coupling: params.number("coupling_factor"),
        step,
        min_qlen_step: params.count("min_qlen_step"),
        order,
        weights: [(100 - classic).max(1), classic.max(1)],
        at_arrival: params.choice::<DropAt>("drop_at") == DropAt::Enqueue,
        drop_on_overload: params.choice::<Overload>("overload") == Overload::Drop,
        any_ect: params.choice::<L4sPackets>("l4s") == L4sPackets::AnyEct,
        step_alone: params.flag("step_alone"),
        count: params.choice::<Signals>("signals") == Signals::Count,
    })
}

/// The controller with its period: as given, or from round-trip times (RFC 9332 appendix A.1; tc-dualpi2(8) takes one of
/// them from the other).
pub(super) fn controller(params: &Params) -> Result<(Law, Span), ParamError> {
    let given = |name| match params.get(name) {
        Value::Span(rtt) => Some(*rtt),
        _ => None,
    };
    let (typical, longest) = match (given("typical_rtt"), given("max_rtt")) {
        (None, None) => {
            let target = params.span("target").as_secs_f64();
            let law = Law { target, alpha: params.number("alpha"), beta: params.number("beta") };
            return Ok((law, params.span("tupdate")));
        }
        (Some(typical), None) => (typical, typical * TYPICAL_IN_LONGEST),
        (None, Some(longest)) => (longest / TYPICAL_IN_LONGEST, longest),
        (Some(typical), Some(longest)) => (typical, longest),
    };
    if typical > longest {
        return Err(ParamError::relation(
            "typical_rtt",
            typical,
            format_args!("must be at most max_rtt, which is {longest}"),
        ));
    }
    if let Some(name) = ["target", "tupdate", "alpha", "beta"].into_iter().find(|name| params.is_given(name))
    {
        let problem = "follows from typical_rtt and max_rtt: give either it or them";
        return Err(ParamError::relation(name, params.get(name), problem));
    }
    let tupdate = typical.min(longest / 3).max(SHORTEST_PERIOD);
    let (period, longest) = (tupdate.as_secs_f64(), longest.as_secs_f64());
    let law =
        Law { target: typical.as_secs_f64(), alpha: 0.1 * period / (longest * longest), beta: 0.3 / longest };
    Ok((law, tupdate))
}

/// How many typical round-trip times the longest is, where one of them is given (tc-dualpi2(8)).
const TYPICAL_IN_LONGEST: u64 = 6;
/// The least period, as `tupdate` may be given.
const SHORTEST_PERIOD: Span = Span::from_micros(10);

impl Settings {
    /// The ramp of the L4S queue itself (p'_L), for a packet that waited `delay` and leaves `left` packets behind.
    #[inline]
    pub(super) fn native(&self, delay: Span, left: u64) -> f64 {
        match self.step {
            Step::Packets(thresh) => f64::from(left > thresh),
            Step::Delay { thresh, .. } if delay <= thresh => 0.0,
            Step::Delay { thresh, range } => {
                let above = delay.saturating_sub(thresh);
                if above >= range { 1.0 } else { above.as_secs_f64() / range.as_secs_f64() }
            }
        }
    }

    /// The largest p'. Without drops in overload, marks in the L4S queue saturate there, and p' goes no further
    /// (calculate_probability() of Linux).
    pub(super) fn highest(&self) -> f64 {
        if self.drop_on_overload { 1.0 } else { 1.0 / self.coupling.max(1.0) }
    }
}
