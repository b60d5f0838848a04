//! Whatever a host does with a discipline, and whatever its parameters within their bounds, the host's own books agree:
//! every packet comes out once, unchanged, in order, marked only if it may be, and within the limit.
#![no_main]

#[path = "../../crates/aqm-core/tests/common/mod.rs"]
mod common;

use aqm_core::packet::Ecn;
use aqm_core::params::ParamSpec;
use aqm_core::registry::DISCIPLINES;
use aqm_core::units::Span;
use common::rig::Rig;
use common::{parse, values};
use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;

/// A discipline and what is done with it.
#[derive(Arbitrary, Debug)]
struct Run {
    discipline: u8,
    preset: u8,
    settings: Vec<Setting>,
    seed: u64,
    calls: Vec<Call>,
}

/// A parameter and its value; numbers are taken modulo what there is.
#[derive(Arbitrary, Debug)]
struct Setting {
    param: u8,
    value: Choice,
}

#[derive(Arbitrary, Debug)]
enum Choice {
    /// One of the values that the conformance tests try.
    Listed(u8),
    /// A place on the logarithmic scale between the ends of the range.
    Between(u16),
}

#[derive(Arbitrary, Debug)]
enum Call {
    Arrive {
        flow: u8,
        length: u16,
        ecn: u8,
    },
    /// A train of packets of one flow.
    Burst {
        flow: u8,
        length: u16,
        ecn: u8,
        packets: u8,
    },
    Serve,
    Peek,
    /// Microseconds.
    Wait(u16),
    /// Milliseconds.
    Pause(u16),
    Wake,
    Change(Setting),
    Reset,
}

fuzz_target!(|run: Run| {
    let info = DISCIPLINES[usize::from(run.discipline) % DISCIPLINES.len()];
    let preset = info.presets[usize::from(run.preset) % info.presets.len()].name;
    let mut spec = parse(&format!("{}:{preset}", info.name));
    for setting in &run.settings {
        if let Some((name, text)) = setting.read(info.params) {
            spec.set_text(name, &text).expect("it is within its bounds");
        }
    }
    // A relation between parameters may not hold.
    let Ok(mut rig) = Rig::try_new(&spec, run.seed) else { return };
    for call in run.calls {
        match call {
            Call::Arrive { flow, length, ecn } => arrive(&mut rig, flow, length, ecn),
            Call::Burst { flow, length, ecn, packets } => {
                (0..packets).for_each(|_| arrive(&mut rig, flow, length, ecn));
            }
            Call::Serve => drop(rig.serve()),
            Call::Peek => {
                let seen = rig.peek();
                assert_eq!(rig.serve(), seen);
            }
            Call::Wait(micros) => rig.advance(Span::from_micros(micros.into())),
            // Timers may be due every microsecond: long pauses are for those that have none.
            Call::Pause(millis) if rig.qdisc().wakes() => {
                rig.advance(Span::from_millis(u64::from(millis) % 200))
            }
            Call::Pause(millis) => rig.advance(Span::from_millis(millis.into())),
            Call::Wake => rig.wake(),
            Call::Change(setting) => {
                if let Some((name, text)) = setting.read(info.params) {
                    let _ = rig.change(name, &text);
                }
            }
            Call::Reset => rig.reset(),
        }
    }
    rig.drain();
});

fn arrive(rig: &mut Rig, flow: u8, length: u16, ecn: u8) {
    let ecn = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce][usize::from(ecn % 4)];
    rig.arrive(flow.into(), u32::from(length).max(1), ecn);
}

impl Setting {
    /// The parameter's name and the value as text.
    fn read(&self, params: &'static [ParamSpec]) -> Option<(&'static str, String)> {
        let spec = params.get(usize::from(self.param) % params.len().max(1))?;
        let values = match self.value {
            Choice::Between(place) => {
                let (min, max) = (spec.range.0.max(1e-6), spec.range.1);
                let magnitude = min * (max / min).powf(f64::from(place) / 65535.0);
                let mut values = values::of_magnitude(spec.kind, magnitude.clamp(spec.range.0, max));
                values.retain(|value| spec.check(value.clone()).is_ok());
                values
            }
            Choice::Listed(_) => values::allowed(spec),
        };
        let number = match self.value {
            Choice::Listed(number) => usize::from(number),
            Choice::Between(place) => usize::from(place),
        };
        let value = values.get(number % values.len().max(1))?;
        Some((spec.name, value.to_string()))
    }
}
