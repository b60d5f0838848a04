//! Applications at work: their actions become bytes on connections and wake-ups.

use super::state::{Simulation, User};
use crate::endpoint::flow::{ENDLESS, Endpoints};
use crate::measure::metrics::Impossible;
use crate::simulation::event_queue::{EventKind, Target};
use crate::traffic::action::Action;
use crate::traffic::application::Application;
use aqm_core::units::Time;

impl Simulation {
    /// Adds an application over flows that are there already, and that send for it alone from now on.
    pub(crate) fn add_user(&mut self, user: User) {
        for (direction, flow) in user.directions.iter().enumerate() {
            self.flows[*flow as usize].session.user = Some((self.users.len() as u32, direction as u32));
        }
        self.users.push(user);
    }

    /// Lets every application start at its time.
    pub(super) fn start_users(&mut self) {
        for index in 0..self.users.len() {
            self.wake_later(index, self.users[index].start);
        }
    }

    fn wake_later(&mut self, user: usize, at: Time) {
        let index = self.flows.len() + self.replays.len() + user;
        self.shared.events.push(at, Target::new(EventKind::Source, index as u32));
    }

    pub(crate) fn on_application_wake(&mut self, user: usize) -> Option<Time> {
        self.ask(user, |application, now, actions| application.wake(now, actions));
        None
    }

    /// All that was to be delivered on a flow has been: a finite flow is complete, an application goes on.
    #[cold]
    pub(crate) fn on_transfer_complete(&mut self, number: usize) {
        let flow = &mut self.flows[number];
        let wanted = std::mem::replace(&mut flow.notify_at, ENDLESS);
        if let Endpoints::Tcp(connection) = &flow.endpoints
            && connection.receiver.delivered() < wanted
        {
            self.shared.metrics.impossible = Some(Impossible::Incomplete(number as u32));
        }
        match flow.session.user {
            None => flow.session.finished = Some(self.shared.now),
            Some((user, direction)) => self.ask(user as usize, |application, now, actions| {
                application.arrived(direction as usize, now, actions);
            }),
        }
    }

    /// Tells an application something, and does what it asks for.
    fn ask(&mut self, user: usize, tell: impl FnOnce(&mut Application, Time, &mut Vec<Action>)) {
        let mut actions = std::mem::take(&mut self.actions);
        tell(&mut self.users[user].application, self.shared.now, &mut actions);
        for action in actions.drain(..) {
            match action {
                Action::Wake(at) => self.wake_later(user, at),
                Action::Send { direction, bytes } => {
                    let number = self.users[user].directions[direction] as usize;
                    let flow = &mut self.flows[number];
                    flow.session.written += bytes;
                    flow.notify_at = flow.session.written;
                    if let Endpoints::Tcp(connection) = &mut flow.endpoints {
                        connection.sender.write(bytes);
                    }
                    self.pump(number);
                }
            }
        }
        self.actions = actions;
    }
}
