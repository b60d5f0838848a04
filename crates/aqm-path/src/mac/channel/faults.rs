//! Faults that tests plant into a channel while it runs, one at a time: its checks find each.

use super::*;

/// A defect that the channel might have.
#[derive(Clone, Copy)]
pub struct Fault {
    /// What is wrong.
    pub name: &'static str,
    /// Damages a channel, if it is in a state in which that is possible.
    pub plant: fn(&mut Channel) -> bool,
}

/// The first PPDU of several MPDUs that stands ready.
fn ready(channel: &mut Channel) -> Option<&mut Ppdu> {
    let all = channel.senders.iter_mut().flat_map(|sender| &mut sender.hardware);
    let mut fresh = all.filter(|ppdu| ppdu.mpdus.len() > 1 && ppdu.mpdus.iter().all(|mpdu| !mpdu.received));
    fresh.next()
}

fn sessions(channel: &mut Channel) -> impl Iterator<Item = &mut sender::Session> {
    channel.senders.iter_mut().flat_map(|sender| &mut sender.sessions)
}

/// All of them.
pub const FAULTS: [Fault; 20] = [
    Fault {
        name: "an MPDU is lost from an aggregate",
        plant: |channel| ready(channel).is_some_and(|ppdu| ppdu.mpdus.pop().is_some()),
    },
    Fault {
        name: "an MPDU is in an aggregate twice",
        plant: |channel| {
            ready(channel).is_some_and(|ppdu| {
                ppdu.mpdus.push(ppdu.mpdus[0]);
                true
            })
        },
    },
    Fault {
        name: "an aggregate is lost",
        plant: |channel| channel.senders.iter_mut().any(|sender| sender.hardware.pop_back().is_some()),
    },
    Fault {
        name: "an aggregate is sent out of order",
        plant: |channel| {
            ready(channel).is_some_and(|ppdu| {
                ppdu.mpdus.reverse();
                true
            })
        },
    },
    Fault {
        name: "a packet is lost from the driver's queue",
        plant: |channel| sessions(channel).any(|session| session.packets.pop_front().is_some()),
    },
    Fault {
        name: "a retry is lost",
        plant: |channel| {
            sessions(channel)
                .any(|session| session.originator.take_retry().is_some_and(|mpdu| !mpdu.received))
        },
    },
    Fault {
        name: "a retry is sent for ever",
        plant: |channel| {
            ready(channel).is_some_and(|ppdu| {
                ppdu.mpdus[0].attempts = 20;
                true
            })
        },
    },
    Fault {
        name: "an MPDU counts as received, but nobody has it",
        plant: |channel| {
            ready(channel).is_some_and(|ppdu| {
                ppdu.mpdus[0].received = true;
                true
            })
        },
    },
    Fault {
        name: "the reorder buffer loses a packet",
        plant: |channel| {
            sessions(channel).find(|session| session.recipient.waiting() > 0).is_some_and(|session| {
                session.recipient.move_to(session.originator.start() + 64, &mut |_| ());
                true
            })
        },
    },
    Fault {
        name: "a burst ends too soon",
        plant: |channel| {
            channel.air.as_mut().is_some_and(|air| {
                air.until = air.until - Span::from_micros(16);
                true
            })
        },
    },
    Fault {
        name: "a burst lasts too long",
        plant: |channel| {
            channel.air.as_mut().is_some_and(|air| {
                air.until += Span::from_micros(16);
                true
            })
        },
    },
    Fault {
        name: "a collision is taken for a success",
        plant: |channel| {
            channel.air.as_mut().filter(|air| air.sent.len() > 1).is_some_and(|air| {
                air.sent.iter_mut().for_each(|one| one.outcome = Outcome::Answered);
                true
            })
        },
    },
    Fault {
        name: "airtime is accounted twice",
        plant: |channel| {
            channel.account.alone += Span::from_micros(100);
            true
        },
    },
    Fault {
        name: "a collision is not accounted",
        plant: |channel| {
            channel.account.medium.collisions = Span::ZERO;
            channel.account.medium.bursts > 50
        },
    },
    Fault {
        name: "a delivery is accounted twice",
        plant: |channel| {
            channel.account.released += 1;
            true
        },
    },
    Fault {
        name: "a drop is accounted twice",
        plant: |channel| {
            channel.account.dropped += 1;
            true
        },
    },
    Fault {
        name: "an aggregate is longer than allowed",
        plant: |channel| {
            channel.config.limits.time = Span::from_micros(100);
            ready(channel).is_some()
        },
    },
    Fault {
        name: "windows do not double",
        plant: |channel| {
            channel.contention.keep_windows();
            true
        },
    },
    Fault {
        name: "a backoff is longer than its window",
        plant: |channel| channel.contention.lengthen_backoff(),
    },
    Fault {
        name: "gaps are a slot too short",
        plant: |channel| {
            channel.config.timing.sifs = Span::from_micros(7);
            channel.air.is_none()
        },
    },
];

#[cfg(test)]
mod tests {
    use super::super::super::airtime::Band;
    use super::super::super::category::Category;
    use super::super::super::errors::Errors;
    use super::super::tests::{Host, Order, at, station};
    use super::*;

    /// Whether a check fails within 200 events after the fault was planted.
    fn is_found(fault: &Fault) -> bool {
        let modes = ["ht-mcs7", "ht-mcs15-400ns", "ht-mcs3"];
        let stations = modes.map(|mode| station(mode, Errors::Rate(0.2))).to_vec();
        let config = Config { driver: 60, ..Config::of(Band::Ghz5) };
        let mut channel = Channel::new(config, stations, 7, "faults").unwrap();
        let mut host = Host::new(Order::Fifo);
        let up = Queue { node: 0, category: Category::BestEffort };
        let down = Queue { node: ACCESS_POINT, ..up };
        for number in 0..5_000 {
            host.put(down, (number % 3) as u8, 1500);
            host.put(up, ACCESS_POINT, 1500);
        }
        channel.wake(down, at(0), &mut host);
        channel.wake(up, at(0), &mut host);
        let (mut now, mut planted, mut after) = (at(0), false, 0);
        while after < 200 {
            match channel.poll(now, &mut host) {
                Next::At(time) => now = time,
                Next::Idle => break,
                Next::Begun | Next::Ended => {}
            }
            channel.take_dropped();
            if !planted {
                channel.check(now).unwrap();
                planted = (fault.plant)(&mut channel);
            }
            after += u32::from(planted);
            if channel.check(now).is_err() {
                return true;
            }
        }
        assert!(planted, "{}: it never found its place", fault.name);
        false
    }

    #[test]
    fn a_channels_own_checks_find_what_breaks_its_books() {
        for fault in &FAULTS {
            assert!(is_found(fault), "{}", fault.name);
        }
    }
}
