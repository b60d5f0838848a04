//! A rate-based sender as it is set up: its rate control and the values of its keys.

use super::control::{Bounds, Feedback, RateControl};
use super::declaration::{Info, span};
use super::go_back_n::Settings as GoBackN;
use super::receiver::Receiver;
use super::registry::RATE_CONTROLS;
use crate::transport::{EcnMode, TransportSpec, Values, field, to_json};
use aqm_core::choices;
use aqm_core::input_error::InputError;
use aqm_core::params::{Kind, ParamSpec, Value};
use aqm_core::random::Random;
use aqm_core::units::{Bytes, Rate, Span, Time};
use std::ops::Deref;

choices! {
    /// What is done about loss.
    enum Recovery {
        Auto = "auto",
        GoBackN = "gobackn",
        None = "none",
    }
}

/// Keys of every rate-based sender.
pub static RATE_SENDER: &[ParamSpec] = &[
    ParamSpec::new(
        "packet",
        Kind::Bytes,
        Value::Bytes(Bytes::new(1500)),
        (29.0, 65_000.0),
        "bytes of each IP packet, headers included",
        "Ethernet's payload",
    ),
    ParamSpec::one_of(
        "ecn",
        &[EcnMode::Classic.word(), EcnMode::L4s.word(), EcnMode::Off.word()],
        "ECN; classic is ECT(0), l4s is ECT(1)",
        "RFC 3168, RFC 9331",
    ),
    ParamSpec::new(
        "line",
        Kind::Rate,
        Value::Auto,
        (1e3, 1e13),
        "rate that is never exceeded, and that other rates are in proportion to",
        "the first link of the path",
    )
    .or_auto("the rate of the first link"),
    ParamSpec::new(
        "least",
        Kind::Rate,
        Value::Auto,
        (1.0, 1e13),
        "rate that congestion cannot push it below",
        "the control's source, in proportion to the line",
    )
    .or_auto("in proportion to the line"),
    ParamSpec::choice::<Recovery>(
        "recovery",
        "what is done about loss: auto is gobackn for a flow that has a size, none for one without end",
        "InfiniBand, section 9.7; Guo et al., SIGCOMM 2016",
    ),
    span(
        "timeout",
        Span::from_nanos(4096 << 10),
        "from the last packet of a flow until the sender goes back, unless it is acknowledged",
        "InfiniBand, section 9.7.6.1.3: 4.096 us times a power of two, here 2^10",
    ),
    span(
        "nak",
        Span::from_micros(500),
        "least time from one NAK to the next while the same packet is missing",
        "the ns-3 code of DCQCN's authors: NACK generation interval",
    ),
];

/// After so many timers a sender that hears nothing goes on as before.
const MOST_TIMERS: f64 = 10_000.0;

/// Settings of a rate-based sender: a rate control, and a value for each of its keys.
#[derive(Clone)]
pub struct RateSender {
    info: &'static Info,
    values: Values,
}

impl RateSender {
    /// Reads `NAME [KEY VALUE]...` in tc's notation, of the rate controls of this crate. Keys that are not given are as
    /// declared.
    ///
    /// ```
    /// use aqm_sim::rate_control::RateSender;
    /// assert_eq!(RateSender::parse("dcqcn packet 1000b").unwrap().packet_bytes(), 1000);
    /// assert!(RateSender::parse("dcqnc").err().unwrap().to_string().contains("did you mean 'dcqcn'?"));
    /// ```
    ///
    /// # Errors
    /// One line that names the rate control or key, the value and what is allowed.
    pub fn parse(text: &str) -> Result<RateSender, InputError> {
        RateSender::parse_among(text, RATE_CONTROLS)
    }

    /// The same of the rate controls that a host knows.
    ///
    /// # Errors
    /// As [`parse`](RateSender::parse).
    pub fn parse_among(text: &str, known: &[&'static Info]) -> Result<RateSender, InputError> {
        let mut words = text.split_whitespace();
        let mut sender = RateSender::find(words.next().unwrap_or_default(), known)?;
        while let Some(key) = words.next() {
            let value = words.next().ok_or_else(|| InputError::new(format!("{key} needs a value")))?;
            sender
                .values
                .set_text(key, value)
                .map_err(|error| InputError::from(error).within(sender.info.name))?;
        }
        Ok(sender)
    }

    /// The rate control that a scenario names, among those that the run's inputs know.
    ///
    /// # Errors
    /// As [`parse`](RateSender::parse).
    pub fn of(named: &TransportSpec, known: &[&'static Info]) -> Result<RateSender, InputError> {
        let mut sender = RateSender::find(&named.name, known)?;
        for (name, value) in &named.fields {
            let set = sender.values.set_field(name, value);
            set.map_err(|error| error.within(sender.info.name))?;
        }
        Ok(sender)
    }

    /// As a scenario names it, with every key.
    pub fn spec(&self) -> TransportSpec {
        let fields = self.iter().map(|(key, value)| (field(key), to_json(value, 1)));
        TransportSpec { name: self.info.name.to_owned(), fields: fields.collect() }
    }

    /// The rate control of this name, as declared.
    fn find(name: &str, known: &[&'static Info]) -> Result<RateSender, InputError> {
        let info =
            known.iter().copied().find(|info| name == info.name).ok_or_else(|| {
                InputError::unknown("rate control", name, known.iter().map(|info| info.name))
            })?;
        let mut values = Values::new([RATE_SENDER, info.params]);
        for (key, value) in info.sets {
            values.set_text(key, value).expect("a control sets declared keys to allowed values");
        }
        Ok(RateSender { info, values })
    }

    /// The rate control.
    pub fn info(&self) -> &'static Info {
        self.info
    }

    /// Bytes of each IP packet.
    pub fn packet_bytes(&self) -> u32 {
        self.bytes("packet").map_or(0, |bytes| bytes.as_u64() as u32)
    }

    /// What its packets claim about ECN.
    pub fn ecn(&self) -> EcnMode {
        self.choice("ecn")
    }

    /// How a flow recovers from loss, if it does; `finite`: it has a size.
    pub(crate) fn go_back_n(&self, finite: bool) -> Option<GoBackN> {
        let chosen = match self.choice("recovery") {
            Recovery::GoBackN => true,
            Recovery::Auto => finite,
            Recovery::None => false,
        };
        chosen.then(|| GoBackN { timeout: self.span("timeout"), repeat: self.span("nak") })
    }

    /// Its receiver, if that says anything of marks.
    pub fn receiver(&self) -> Option<Receiver> {
        (self.info.receiver)(&self.values).map(Receiver::new)
    }

    /// The machine of a flow that starts at `start` on a link of `line`.
    pub fn build(&self, line: Rate, start: Time) -> Box<dyn RateControl> {
        let bits = |rate: Rate| rate.as_bits_per_sec() as f64;
        let most = self.rate("line").map_or(bits(line), bits);
        let least = self.rate("least").map_or_else(|| (self.info.least)(most), bits).min(most);
        (self.info.build)(&self.values, Bounds { least, most }, start)
    }
}

/// What a sender does that hears nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rehearsal {
    /// Its mean rate.
    pub(crate) rate_bps: f64,
    /// How often its timers go off, and how often if it has heard of congestion once.
    pub(crate) timers: f64,
    pub(crate) timers_notified: f64,
}

impl RateSender {
    /// What a sender does within a time on a link of `line`.
    pub(crate) fn rehearse(&self, line: Rate, within: Span) -> Rehearsal {
        let (rate_bps, timers) = play(self.build(line, Time::ZERO), within);
        let mut notified = self.build(line, Time::ZERO);
        // It believes what its own switches or receivers say.
        let messages =
            [Feedback::Notification, Feedback::Quantised(1), Feedback::Rates { arriving: 1.0, optimal: 1.0 }];
        let mut random = Random::seeded(0);
        for message in messages {
            notified.on_feedback(message, Time::ZERO, &mut random);
        }
        Rehearsal { rate_bps, timers, timers_notified: play(notified, within).1 }
    }
}

/// The mean rate and the timers of a control that hears nothing.
fn play(mut control: Box<dyn RateControl>, within: Span) -> (f64, f64) {
    let end = Time::ZERO + within;
    let (mut now, mut bits, mut timers) = (Time::ZERO, 0.0, 0.0);
    while now < end && timers < MOST_TIMERS {
        let next = control.deadline().map_or(end, |deadline| deadline.clamp(now, end));
        let sent = control.rate() * next.since(now).as_secs_f64();
        bits += sent;
        control.on_sent((sent / 8.0) as u64);
        now = next;
        if now < end {
            control.on_timer(now);
            timers += 1.0;
        }
    }
    let seen_s = now.since(Time::ZERO).as_secs_f64();
    if seen_s == 0.0 {
        return (control.rate(), timers);
    }
    (bits / seen_s, timers * within.as_secs_f64() / seen_s)
}

impl Deref for RateSender {
    type Target = Values;
    fn deref(&self) -> &Values {
        &self.values
    }
}

impl std::fmt::Debug for RateSender {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "RateSender({}, {:?})", self.info.name, self.values)
    }
}

impl PartialEq for RateSender {
    fn eq(&self, other: &RateSender) -> bool {
        self.info.name == other.info.name && self.values == other.values
    }
}
