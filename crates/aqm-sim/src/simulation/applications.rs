//! Applications at work: their wishes become bytes on connections and calls in the future.

use super::{Endpoints, Simulation};
use crate::engine::{Kind, Target};
use crate::traffic::{Application, Wish};
use aqm_core::units::Time;

/// An application with the flows that are its pipes.
pub(crate) struct User {
    pub(crate) application: Application,
    /// Group in metrics.
    pub(crate) group: usize,
    pub(crate) start: Time,
    /// Flow of each pipe.
    pub(crate) pipes: Vec<u32>,
}

impl Simulation {
    /// Adds an application over flows that are there already, and that send for it alone from now on.
    pub(crate) fn add_user(&mut self, user: User) {
        for (pipe, flow) in user.pipes.iter().enumerate() {
            self.flows[*flow as usize].session.user = Some((self.users.len() as u32, pipe as u32));
        }
        self.users.push(user);
    }

    /// Lets every application start at its time.
    pub(super) fn start_users(&mut self) {
        for index in 0..self.users.len() {
            self.call_later(index, self.users[index].start);
        }
    }

    fn call_later(&mut self, user: usize, at: Time) {
        let index = self.flows.len() + self.replays.len() + user;
        self.events.push(at, Target::new(Kind::Source, index as u32));
    }

    pub(super) fn on_call(&mut self, user: usize) -> Option<Time> {
        self.ask(user, |application, now, wishes| application.wake(now, wishes));
        None
    }

    /// What was awaited on a flow has arrived: a finite flow is complete, an application goes on.
    #[cold]
    pub(super) fn on_awaited(&mut self, number: usize) {
        let flow = &mut self.flows[number];
        flow.awaited = super::ENDLESS;
        match flow.session.user {
            None => flow.session.finished = Some(self.now),
            Some((user, pipe)) => self.ask(user as usize, |application, now, wishes| {
                application.arrived(pipe as usize, now, wishes);
            }),
        }
    }

    /// Tells an application something, and does what it wishes.
    fn ask(&mut self, user: usize, tell: impl FnOnce(&mut Application, Time, &mut Vec<Wish>)) {
        let mut wishes = std::mem::take(&mut self.wishes);
        tell(&mut self.users[user].application, self.now, &mut wishes);
        for wish in wishes.drain(..) {
            match wish {
                Wish::Wake(at) => self.call_later(user, at),
                Wish::Send { pipe, bytes } => {
                    let number = self.users[user].pipes[pipe] as usize;
                    let flow = &mut self.flows[number];
                    flow.session.written += bytes;
                    flow.awaited = flow.session.written;
                    if let Endpoints::Tcp(connection) = &mut flow.endpoints {
                        connection.sender.write(bytes);
                    }
                    self.pump(number);
                }
            }
        }
        self.wishes = wishes;
    }
}
