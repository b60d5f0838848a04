//! Faults planted into a channel while it runs: which of them its own checks find.

use super::super::airtime::Band;
use super::super::category::Category;
use super::super::errors::Errors;
use super::tests::{Host, Order, at, station};
use super::*;

/// Damages a channel, if it is in a state in which that is possible.
type Plant = fn(&mut Channel) -> bool;

/// The first PPDU of several MPDUs that stands ready.
fn ready(channel: &mut Channel) -> Option<&mut Ppdu> {
    let all = channel.senders.iter_mut().flat_map(|sender| &mut sender.hardware);
    let mut fresh = all.filter(|ppdu| ppdu.mpdus.len() > 1 && ppdu.mpdus.iter().all(|mpdu| !mpdu.received));
    fresh.next()
}

fn sessions(channel: &mut Channel) -> impl Iterator<Item = &mut sender::Session> {
    channel.senders.iter_mut().flat_map(|sender| &mut sender.sessions)
}

const FAULTS: [(&str, bool, Plant); 19] = [
    ("an MPDU is lost from an aggregate", true, |channel| {
        ready(channel).is_some_and(|ppdu| ppdu.mpdus.pop().is_some())
    }),
    ("an MPDU is in an aggregate twice", true, |channel| {
        ready(channel).is_some_and(|ppdu| {
            ppdu.mpdus.push(ppdu.mpdus[0]);
            true
        })
    }),
    ("an aggregate is lost", true, |channel| {
        channel.senders.iter_mut().any(|sender| sender.hardware.pop_back().is_some())
    }),
    ("an aggregate is sent out of order", true, |channel| {
        ready(channel).is_some_and(|ppdu| {
            ppdu.mpdus.reverse();
            true
        })
    }),
    ("a packet is lost from the driver's queue", true, |channel| {
        sessions(channel).any(|session| session.packets.pop_front().is_some())
    }),
    ("a retry is lost", true, |channel| {
        sessions(channel).any(|session| session.originator.take_retry().is_some_and(|mpdu| !mpdu.received))
    }),
    ("a retry is sent for ever", true, |channel| {
        ready(channel).is_some_and(|ppdu| {
            ppdu.mpdus[0].attempts = 20;
            true
        })
    }),
    ("an MPDU counts as received, but nobody has it", true, |channel| {
        ready(channel).is_some_and(|ppdu| {
            ppdu.mpdus[0].received = true;
            true
        })
    }),
    ("the reorder buffer loses a packet", true, |channel| {
        sessions(channel).find(|session| session.recipient.waiting() > 0).is_some_and(|session| {
            session.recipient.move_to(session.originator.start() + 64, &mut |_| ());
            true
        })
    }),
    ("a burst ends too soon", true, |channel| {
        channel.air.as_mut().is_some_and(|air| {
            air.until = air.until - Span::from_micros(16);
            true
        })
    }),
    ("a burst lasts too long", true, |channel| {
        channel.air.as_mut().is_some_and(|air| {
            air.until += Span::from_micros(16);
            true
        })
    }),
    ("a collision is taken for a success", true, |channel| {
        channel.air.as_mut().filter(|air| air.sent.len() > 1).is_some_and(|air| {
            air.sent.iter_mut().for_each(|one| one.outcome = Outcome::Answered);
            true
        })
    }),
    ("airtime is accounted twice", true, |channel| {
        channel.account.alone += Span::from_micros(100);
        true
    }),
    ("a collision is not accounted", true, |channel| {
        channel.account.medium.collisions = Span::ZERO;
        channel.account.medium.bursts > 50
    }),
    ("a delivery is accounted twice", true, |channel| {
        channel.account.released += 1;
        true
    }),
    ("a drop is accounted twice", true, |channel| {
        channel.account.dropped += 1;
        true
    }),
    ("an aggregate is longer than allowed", true, |channel| {
        channel.config.limits.time = Span::from_micros(100);
        ready(channel).is_some()
    }),
    // What follows looks like another channel, not like a wrong one: the validation against Bianchi and ns-3 finds it.
    ("windows do not double", false, |channel| {
        channel.config.access_point[1].cw_max = 15;
        true
    }),
    ("gaps are a slot too short", false, |channel| {
        channel.config.timing.sifs = Span::from_micros(7);
        channel.air.is_none()
    }),
];

/// Whether a check fails within 200 events after the fault was planted.
fn is_found(fault: &str, plant: Plant) -> bool {
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
            planted = plant(&mut channel);
        }
        after += u32::from(planted);
        if channel.check(now).is_err() {
            return true;
        }
    }
    assert!(planted, "{fault}: it never found its place");
    false
}

#[test]
fn a_channels_own_checks_find_what_breaks_its_books() {
    for (fault, found, plant) in FAULTS {
        assert_eq!(is_found(fault, plant), found, "{fault}");
    }
    assert_eq!(FAULTS.iter().filter(|(_, found, _)| *found).count(), 17);
}
