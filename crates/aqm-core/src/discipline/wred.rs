//! # What it does
//! One queue under RED with three curves: packets are green, yellow or red by their code point or class; the worse
//! the colour, the shorter the average queue at which they are dropped (or marked).
//!
//! # Reference
//! RFC 2597 sections 2 and 4 (drop precedence of Assured Forwarding, and RED with a threshold set for each); in the
//! form that routers call weighted RED: one average for all colours.
//!
//! # Parameters
//! See `aqmlab aqm show wred`.
//!
//! # Deviations
//! The RFC gives no values, and Linux's `gred` none either: the green curve is that of `red:floyd`, yellow has three
//! quarters of its thresholds and red half; `dell` is a vendor's default. Three colours, not one curve for each of 64
//! code points. Each colour counts its own packets between signals. ECN, byte mode and the full queue: as in `red`.
//!
//! # Promises
//! Order kept; drops and marks on arrival only; one random number per packet while the average is on its colour's
//! curve; no state per flow.

use super::red::{self, Rules};
use super::{Blueprint, Built, Discipline, Group, Info, LIMIT, ProbeSpec};
use crate::backlog::Backlog;
use crate::choices;
use crate::cx::Cx;
use crate::law::red::{Params as Law, State};
use crate::link::Link;
use crate::packet::Packet;
use crate::params::{Kind, ParamError, ParamSpec, Params, Preset, Value};
use crate::queue::Fifo;
use crate::units::{Size, Time};
use alloc::boxed::Box;

/// The registry entry.
pub static INFO: Info = Info {
    name: "wred",
    group: Group::QueueLength,
    summary: "Weighted RED: three curves over one average, by code point or class",
    reference: "RFC 2597",
    params: &[
        LIMIT,
        ParamSpec::choice::<By>(
            "by",
            "What colours a packet: AFx1 (and all that is not AF) green, AFx2 yellow, AFx3 red; or class 0, 1, 2 and above",
            "RFC 2597 section 6",
        ),
        red::MIN,
        red::MAX,
        red::PROBABILITY,
        threshold("min_yellow", "Average queue below which no yellow packet is dropped")
            .or_auto("3/4 of min"),
        threshold("max_yellow", "Average queue at which their probability is reached").or_auto("3/4 of max"),
        probability("probability_yellow", "Drop probability of yellow packets at max_yellow"),
        threshold("min_red", "Average queue below which no red packet is dropped").or_auto("half of min"),
        threshold("max_red", "Average queue at which their probability is reached").or_auto("half of max"),
        probability("probability_red", "Drop probability of red packets at max_red"),
        red::W,
        red::BURST,
        red::GENTLE.with_default(Value::Flag(false), "Routers' WRED: off"),
        red::ECN,
        red::HARDDROP,
        red::WAIT,
        red::AVPKT,
        red::BANDWIDTH,
        red::CODE,
    ],
    presets: &[
        Preset {
            name: "staggered",
            source: "RFC 2597 section 4 (a lower threshold for a worse precedence); green as red:floyd",
            values: &[],
        },
        Preset {
            name: "dell",
            source: "Dell EMC N3100 and N1500 guides: 40, 30, 20 and 100, 90, 80 percent, 10 %; here of 100 packets",
            values: &[
                ("min", Value::Size(Size::Packets(40))),
                ("max", Value::Size(Size::Packets(100))),
                ("min_yellow", Value::Size(Size::Packets(30))),
                ("max_yellow", Value::Size(Size::Packets(90))),
                ("min_red", Value::Size(Size::Packets(20))),
                ("max_red", Value::Size(Size::Packets(80))),
            ],
        },
    ],
    probes: &[
        red::AVERAGE_QUEUE,
        ProbeSpec { name: "probability_green", unit: "fraction", help: "Read for the last green packet" },
        ProbeSpec { name: "probability_yellow", unit: "fraction", help: "Read for the last yellow packet" },
        ProbeSpec { name: "probability_red", unit: "fraction", help: "Read for the last red packet" },
    ],
    traits: red::TRAITS,
    deviations: "the RFC gives no thresholds: staggered ones, or a vendor's; three colours",
    build,
};

const fn threshold(name: &'static str, help: &'static str) -> ParamSpec {
    ParamSpec::new(name, Kind::Size, Value::Auto, (0.0, 1e12), help, "RFC 2597 section 4: without a value")
}

const fn probability(name: &'static str, help: &'static str) -> ParamSpec {
    let default = Value::Fraction(0.1);
    ParamSpec::new(name, Kind::Fraction, default, (0.0, 1.0), help, "Floyd 1997: 0.1")
}

struct Settings {
    rules: Rules,
    unit: Size,
    by_class: bool,
    /// Green, yellow, red.
    laws: [Law; 3],
}

struct Wred {
    queue: Fifo,
    settings: Settings,
    /// The common average.
    average: State,
    /// Counts and probabilities of each colour.
    states: [State; 3],
    link: Link,
}

/// The curve of one colour; thresholds that are not given are `quarters` of the green ones.
fn curve(
    params: &Params,
    green: &red::Settings,
    names: [&'static str; 3],
    quarters: f64,
) -> Result<Law, ParamError> {
    let read = |name: &str, of_green: f64| match params.size(name) {
        None => Ok(of_green * quarters / 4.0),
        Some(size) if core::mem::discriminant(&size) == core::mem::discriminant(&green.unit) => {
            Ok(size.count() as f64)
        }
        Some(size) => Err(ParamError::relation(
            name,
            size,
            format_args!("and min {} must be in the same unit", green.unit),
        )),
    };
    let [min, max, probability] = names;
    let law = Law {
        min: read(min, green.law.min)?,
        max: read(max, green.law.max)?,
        max_p: params.number(probability),
        ..green.law
    };
    if law.min > law.max {
        return Err(ParamError::relation(
            max,
            law.max,
            format_args!("must be at least {min}, which is {}", law.min),
        ));
    }
    Ok(law)
}

choices! {
    /// What colours a packet.
    enum By {
        Dscp = "dscp",
        Class = "class",
    }
}

fn settings(params: &Params, link: &Link) -> Result<Settings, ParamError> {
    let green = red::settings(params, link)?;
    let yellow = curve(params, &green, ["min_yellow", "max_yellow", "probability_yellow"], 3.0)?;
    let worst = curve(params, &green, ["min_red", "max_red", "probability_red"], 2.0)?;
    Ok(Settings {
        rules: Rules { limit: green.limit, ecn: green.ecn, harddrop: green.harddrop, nodrop: false },
        unit: green.unit,
        by_class: params.choice::<By>("by") == By::Class,
        laws: [green.law, yellow, worst],
    })
}

fn build(Blueprint { params, link, .. }: Blueprint<'_>) -> Built {
    let settings = settings(params, link)?;
    let (queue, average, states) = (Fifo::default(), State::default(), [State::default(); 3]);
    Ok(Box::new(Wred { queue, settings, average, states, link: *link }))
}

/// 0 green, 1 yellow, 2 red.
#[inline]
fn colour(packet: &Packet, by_class: bool) -> usize {
    if by_class {
        return usize::from(packet.class.min(2));
    }
    // RFC 2597 section 6: AF class 1 to 4 in the upper three bits, drop precedence 1 to 3 in the next two, then 0.
    let (class, precedence) = (packet.dscp >> 3, packet.dscp >> 1 & 3);
    let assured = (1..=4).contains(&class) && packet.dscp & 1 == 0;
    if assured && precedence > 0 { usize::from(precedence - 1) } else { 0 }
}

impl Discipline for Wred {
    #[inline]
    fn enqueue(&mut self, packet: Packet, cx: &mut Cx<'_>) {
        let Settings { rules, unit, by_class, laws } = &self.settings;
        let colour = colour(&packet, *by_class);
        let (law, state) = (&laws[colour], &mut self.states[colour]);
        law.sample(&mut self.average, self.queue.backlog().in_unit_of(*unit), cx.now);
        state.share(&self.average);
        rules.admit(&mut self.queue, law, state, packet, cx);
    }

    #[inline]
    fn dequeue(&mut self, cx: &mut Cx<'_>) -> Option<Packet> {
        let Some(packet) = self.queue.pop() else {
            self.settings.laws[0].idle(&mut self.average, cx.now);
            return None;
        };
        if self.queue.is_empty() {
            self.average.emptied(cx.now);
        }
        Some(packet)
    }

    fn backlog(&self) -> Backlog {
        self.queue.backlog()
    }

    fn change(&mut self, params: &Params, cx: &mut Cx<'_>) -> Result<(), ParamError> {
        let settings = settings(params, &self.link)?;
        if core::mem::discriminant(&settings.unit) != core::mem::discriminant(&self.settings.unit) {
            // An average in packets says nothing about bytes.
            (self.average, self.states) = (State::default(), [State::default(); 3]);
        }
        self.settings = settings;
        self.queue.trim(self.settings.rules.limit, cx);
        Ok(())
    }

    fn purge(&mut self, cx: &mut Cx<'_>) {
        self.queue.purge(cx);
        self.average.emptied(cx.now);
    }

    fn probe(&self, _now: Time, sink: &mut dyn FnMut(&str, f64)) {
        sink("average_queue", self.average.average());
        let names = ["probability_green", "probability_yellow", "probability_red"];
        for (name, state) in names.into_iter().zip(&self.states) {
            sink(name, state.probability());
        }
    }

    fn state_bytes(&self) -> usize {
        size_of::<Wred>()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Host, ms};
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn code_points_and_classes_have_colours() {
        let colour_of = |dscp: u8, class: u16, by_class| {
            let mut packet = Packet::new(0, 0, 100);
            (packet.dscp, packet.class) = (dscp, class);
            colour(&packet, by_class)
        };
        // AF11 10, AF12 12, AF13 14, AF41 34, AF42 36, AF43 38; DF 0, CS1 8, CS4 32, EF 46, an odd one 13.
        let dscps = [10, 12, 14, 34, 36, 38, 0, 8, 32, 46, 13].map(|dscp| colour_of(dscp, 9, false));
        assert_eq!(dscps, [0, 1, 2, 0, 1, 2, 0, 0, 0, 0, 0]);
        assert_eq!([0, 1, 2, 3].map(|class| colour_of(12, class, true)), [0, 1, 2, 2]);
    }

    #[test]
    fn worse_colours_are_dropped_at_a_shorter_queue() {
        // Weight 1: the average is the queue that a packet finds. From max on every packet goes: 8, 6, 4.
        let mut host = Host::scripted("wred limit 100p by class min 4p max 8p w 1", &[0.999]);
        let mut put = |cookie: u64, class: u16| {
            let mut packet = Packet::new(cookie, 0, 1000);
            packet.class = class;
            host.enqueue(ms(1), packet);
        };
        (0..4).for_each(|cookie| put(cookie, 0));
        put(4, 2); // finds 4
        put(5, 1);
        put(6, 0);
        put(7, 1); // finds 6
        put(8, 0);
        put(9, 0);
        put(10, 0); // finds 8
        assert_eq!(host.dropped(), [4, 7, 10]);
    }

    #[test]
    fn each_colour_has_its_own_probability() {
        let spec = "wred limit 100p by class min 0p max 8p min_red 2p max_red 6p probability_red 0.4 w 1";
        let mut host = Host::scripted(spec, &[0.999]);
        (0..4).for_each(|cookie| host.put(ms(1), cookie, 0, 1000));
        let mut packet = Packet::new(4, 0, 1000);
        packet.class = 2;
        host.enqueue(ms(1), packet); // finds 4, half of the way: 0.2
        assert_eq!((host.probe("probability_red"), host.probe("probability_green")), (0.2, 0.1 * 3.0 / 8.0));
    }

    #[test]
    fn thresholds_must_be_in_order_and_in_one_unit() {
        let error = |text: &str| {
            let spec = crate::spec::Spec::parse(text).unwrap();
            let link = Link::new(crate::units::Rate::from_mbit(8));
            settings(&spec.params, &link).err().expect("refused").to_string()
        };
        assert_eq!(
            error("wred min_red 30p max_red 20p"),
            "parameter 'max_red': '20' must be at least min_red, which is 30"
        );
        assert_eq!(
            error("wred min_yellow 5kb"),
            "parameter 'min_yellow': '5kb' and min 200p must be in the same unit"
        );
    }
}
