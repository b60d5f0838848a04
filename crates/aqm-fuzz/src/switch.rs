//! Whatever comes into a switch and leaves it, no more than its memory is taken, every pause is followed by a resume, and in the
//! end all memory is free.

use aqm_core::units::{Rate, Span, Time};
use aqm_sim::switch::flow_control::{Account, FlowControl, Thresholds};
use aqm_sim::switch::pause::PRIORITIES;
use aqm_sim::switch::shared_buffer::SharedBuffer;
use aqm_sim::switch::{Switch, Transit};
use arbitrary::Arbitrary;
use std::collections::BTreeSet;

#[derive(Arbitrary, Debug)]
pub(crate) struct Run {
    /// Shared memory in kilobytes, if there is any.
    buffer: Option<u16>,
    /// Eighths.
    alpha: u8,
    reserve: u16,
    quanta: u16,
    accounts: Vec<Controlled>,
    calls: Vec<Call>,
}

#[derive(Arbitrary, Debug)]
struct Controlled {
    ingress: u8,
    priority: u8,
    xoff: u16,
    xon: u16,
    headroom: u16,
}

#[derive(Arbitrary, Debug)]
enum Call {
    Arrive {
        ingress: Option<u8>,
        egress: u8,
        priority: u8,
        length: u16,
    },
    Leave {
        which: u8,
    },
    /// Microseconds.
    Wait(u16),
    Restart,
}

const PORTS: usize = 4;

pub(crate) fn run(run: Run) {
    let mut control = FlowControl::new(run.quanta.max(1));
    for account in &run.accounts {
        let xoff = u64::from(account.xoff).max(1);
        let thresholds =
            Thresholds { xoff, xon: u64::from(account.xon).min(xoff), headroom: account.headroom.into() };
        let key = Account {
            ingress: usize::from(account.ingress) % PORTS,
            priority: account.priority % PRIORITIES as u8,
        };
        control.add(key, thresholds, Rate::from_bits_per_sec(1_000_000_000));
    }
    let size = u64::from(run.buffer.unwrap_or(0)) * 1000;
    let alpha = f64::from(run.alpha.max(1)) / 8.0;
    let buffer = run.buffer.map(|_| SharedBuffer::new(size, alpha, run.reserve.into(), PORTS * PRIORITIES));
    // The reserves alone may be more than there is.
    if matches!(buffer, Some(None)) {
        return;
    }
    let mut switch = Switch::new(buffer.flatten(), control);
    let (mut inside, mut paused, mut now) = (Vec::new(), BTreeSet::new(), Time::ZERO);
    for call in run.calls {
        match call {
            Call::Arrive { ingress, egress, priority, length } => {
                let transit = Transit {
                    ingress: ingress.map(|port| usize::from(port) % PORTS),
                    egress: usize::from(egress) % PORTS,
                    priority: priority % PRIORITIES as u8,
                    length: u32::from(length).max(1),
                };
                if switch.admit(&transit, now).is_ok() {
                    inside.push(transit);
                }
            }
            Call::Leave { which } if !inside.is_empty() => {
                let transit = inside.swap_remove(usize::from(which) % inside.len());
                switch.release(&transit);
            }
            Call::Leave { .. } => {}
            Call::Wait(micros) => {
                now += Span::from_micros(micros.into());
                if switch.next_refresh().is_some_and(|due| due <= now) {
                    switch.refresh(now);
                    assert!(switch.next_refresh().is_none_or(|next| next > now), "a pause is not repeated");
                }
            }
            Call::Restart => switch.restart(),
        }
        check(&mut switch, size, &mut paused);
    }
    for transit in inside {
        switch.release(&transit);
        check(&mut switch, size, &mut paused);
    }
    assert_eq!(switch.buffer().map_or(0, SharedBuffer::used), 0, "memory is lost");
    assert!(paused.is_empty() && switch.next_refresh().is_none(), "{paused:?} are paused for ever");
}

/// Who is paused follows from the frames, and memory is within its size.
fn check(switch: &mut Switch, size: u64, paused: &mut BTreeSet<Account>) {
    while let Some((ingress, frame)) = switch.next_frame() {
        let account = Account { ingress, priority: frame.priority };
        assert!(switch.flow_control().controls(account));
        if frame.quanta > 0 {
            paused.insert(account)
        } else {
            paused.remove(&account)
        };
    }
    for (account, ..) in switch.flow_control().accounts() {
        assert_eq!(switch.flow_control().pauses(account), paused.contains(&account), "{account:?}");
    }
    if let Some(buffer) = switch.buffer() {
        assert!(buffer.used() <= size, "{} of {size} bytes are used", buffer.used());
    }
}
