//! Whatever feedback a sender gets, true or not, its rate is above zero and at most its line's, and its timers go forward.

use crate::setting::{Setting, given};
use aqm_core::random::Random;
use aqm_core::units::{Rate, Span, Time};
use aqm_sim::rate_control::{Feedback, RATE_CONTROLS, RATE_SENDER, RateSender};
use arbitrary::Arbitrary;

#[derive(Arbitrary, Debug)]
pub(crate) struct Run {
    control: u8,
    common: Vec<Setting>,
    own: Vec<Setting>,
    /// Kilobits a second.
    line: u32,
    start: u32,
    seed: u64,
    calls: Vec<Call>,
}

#[derive(Arbitrary, Debug)]
enum Call {
    Notify,
    Quantised(u64),
    Rates(f64, f64),
    Sent(u32),
    /// Nanoseconds; what falls due meanwhile is done on time.
    Wait(u32),
    /// Milliseconds; what falls due meanwhile is done at the end.
    Sleep(u32),
    UntilDue,
}

/// Timers may be due every nanosecond.
const MOST_TIMERS: u32 = 1000;

pub(crate) fn run(run: Run) {
    let info = RATE_CONTROLS[usize::from(run.control) % RATE_CONTROLS.len()];
    let mut text = info.name.to_owned();
    let common = given(&run.common, RATE_SENDER);
    let own = given(&run.own, info.params);
    for (name, value) in common.chain(own) {
        text += &format!(" {name} {value}");
    }
    let rated = RateSender::parse(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let line = Rate::from_bits_per_sec(u64::from(run.line).max(1) * 1000);
    let most = rated.rate("line").unwrap_or(line).as_bits_per_sec() as f64;
    let mut now = Time::from_nanos(run.start.into());
    let mut control = rated.build(line, now);
    let (mut random, mut timers) = (Random::seeded(run.seed), 0);
    for call in run.calls {
        let mut tell = |feedback| {
            control.on_feedback(feedback, now, &mut random);
        };
        match call {
            Call::Notify => tell(Feedback::Notification),
            Call::Quantised(fb) => tell(Feedback::Quantised(fb)),
            Call::Rates(arriving, optimal) => tell(Feedback::Rates { arriving, optimal }),
            Call::Sent(bytes) => control.on_sent(bytes.into()),
            Call::Wait(nanos) => {
                let until = now + Span::from_nanos(nanos.into());
                while let Some(due) = control.deadline().filter(|due| *due <= until) {
                    now = now.max(due);
                    control.on_timer(now);
                    assert!(control.deadline().is_none_or(|next| next > now), "{text}: a timer stands still");
                    timers += 1;
                    if timers > MOST_TIMERS {
                        return;
                    }
                }
                now = until;
            }
            Call::Sleep(millis) => {
                now += Span::from_millis(millis.into());
                control.on_timer(now);
            }
            Call::UntilDue => {
                now = now.max(control.deadline().unwrap_or(now));
                control.on_timer(now);
            }
        }
        let (rate, target) = (control.rate(), control.target());
        assert!(rate > 0.0 && rate <= most, "{text}: {rate} bit/s on a line of {most}");
        assert!((0.0..=most).contains(&target), "{text}: on the way to {target} bit/s on a line of {most}");
    }
}
