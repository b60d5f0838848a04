//! Whatever a host does with a discipline, and whatever its parameters within their bounds, the host's own books agree:
//! every packet comes out once, unchanged, in order, marked only if it may be, and within the limit.

use crate::host::{Rig, parse};
use crate::setting::{Setting, given};
use aqm_core::packet::Ecn;
use aqm_core::registry::DISCIPLINES;
use aqm_core::units::Span;
use arbitrary::Arbitrary;

/// A discipline and what is done with it.
#[derive(Arbitrary, Debug)]
pub(crate) struct Run {
    discipline: u8,
    preset: u8,
    settings: Vec<Setting>,
    seed: u64,
    calls: Vec<Call>,
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
    /// Milliseconds, up to seven weeks, during which a host that is late delivers no wake-up.
    Sleep(u32),
    /// While the classes of these bits are paused.
    ServeOthers(u8),
    Wake,
    Change(Setting),
    Reset,
}

pub(crate) fn run(run: Run) {
    let info = DISCIPLINES[usize::from(run.discipline) % DISCIPLINES.len()];
    let preset = info.presets[usize::from(run.preset) % info.presets.len()].name;
    let mut spec = parse(&format!("{}:{preset}", info.name));
    for (name, text) in given(&run.settings, info.params) {
        spec.set_text(name, &text).expect("it is within its bounds");
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
                rig.advance(Span::from_millis(u64::from(millis) % 200));
            }
            Call::Pause(millis) => rig.advance(Span::from_millis(millis.into())),
            Call::Sleep(millis) => rig.sleep(Span::from_millis(millis.into())),
            Call::ServeOthers(classes) => drop(rig.serve_others(classes)),
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
}

fn arrive(rig: &mut Rig, flow: u8, length: u16, ecn: u8) {
    let ecn = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce][usize::from(ecn % 4)];
    rig.arrive(flow.into(), u32::from(length).max(1), ecn);
}
