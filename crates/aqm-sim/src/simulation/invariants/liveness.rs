//! Nothing is forgotten: what waits has an event that lets it go on, and no such event is overdue.

use crate::endpoint::flow::Endpoints;
use crate::endpoint::tcp::Connection;
use crate::network::port::PortId;
use crate::report::RunError;
use crate::simulation::state::{Device, Simulation};
use aqm_core::paused::PausedClasses;
use aqm_core::units::Time;

impl Simulation {
    /// A device that sends will be done, one that does not has nothing to send, and a wake-up that was asked for will come.
    pub(in crate::simulation) fn check_goes_on(&self, port: PortId, device: &Device) -> Result<(), String> {
        let now = self.shared.now;
        // What came back to a channel's port waits there, and the channel knows when it goes on.
        if device.channel.is_none() && device.ring.len() + 1 > device.ring_packets as usize {
            return Err(format!("its device holds more than {} packets", device.ring_packets));
        }
        if device.wake_at < now {
            return Err(format!("a wake-up at {} did not come", device.wake_at));
        }
        let done = match &device.trace {
            Some(trace) => trace.next(),
            None => device.until + device.hold,
        };
        // On a medium others may have their turn first.
        if device.busy && device.medium.is_none() && device.channel.is_none() && done < now {
            return Err(format!("its device could send at {done}, and does not"));
        }
        let switches = self.shared.switches.as_ref();
        let pauses = switches.is_some_and(|switches| switches.paused_classes(port) != PausedClasses::NONE);
        if !device.busy && !pauses && device.wake_at == Time::MAX && device.observed.queued.packets > 0 {
            return Err(format!("{:?} waits, and nothing will send it", device.observed.queued));
        }
        Ok(())
    }

    /// Every timer of TCP has its event: that of what is outstanding, that of an acknowledgment that is owed, and that of
    /// the next segment if they are spaced.
    pub(in crate::simulation) fn check_timers(&self) -> Result<(), RunError> {
        for (number, flow) in self.flows.iter().enumerate() {
            let forgotten = match &flow.endpoints {
                Endpoints::Tcp(connection) => forgotten(connection, self.shared.now),
                Endpoints::Datagrams => {
                    let timers = flow.session.stack.iter().flat_map(|ends| ends.timers);
                    let mut overdue = timers.filter(|timer| *timer < self.shared.now);
                    overdue.next().map(|_| "nothing will look at its timer")
                }
            };
            if let Some(what) = forgotten {
                return Err(self.failed(&format!("flow {number}"), what));
            }
        }
        Ok(())
    }
}

/// What a connection waits for that will not come.
fn forgotten(connection: &Connection, now: Time) -> Option<&'static str> {
    let Connection { sender, receiver, sender_timer, receiver_timer, paced, .. } = connection;
    // An event stands for a timer until it is due; then it is looked up whether the timer has moved.
    let stands = |event: Time, timer: Option<Time>| event >= now && timer.is_none_or(|at| event <= at);
    if sender.waits_in_vain() || !stands(*sender_timer, sender.deadline()) {
        return Some("nothing will send its data again");
    }
    if receiver.waits_in_vain() || !stands(*receiver_timer, receiver.deadline()) {
        return Some("nothing will send its delayed acknowledgment");
    }
    let just_before = Time::from_nanos(now.as_nanos().saturating_sub(1));
    if *paced && now > Time::ZERO && sender.paced_until(just_before).is_none() {
        return Some("nothing will send its next segment");
    }
    None
}
