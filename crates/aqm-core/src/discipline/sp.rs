//! # What it does
//! Classes under strict priority: class 0 before class 1 before class 2, each with a discipline of its own.
//!
//! # Reference
//! RFC 7567 section 2.1 (the scheduler is apart from the AQM); Linux `sch_prio`, tc-prio(8).
//!
//! # Parameters
//! See `aqmlab aqm show sp`.
//!
//! # Deviations
//! The host sets a packet's class, not a priomap (`prio` has one). Classes share a limit; `linux` has only that of each
//! child.
//!
//! # Promises
//! Order kept within a class; children decide on drops and marks, except at the limit of all classes. A class
//! that holds no more than its part of the limit loses no packet to another.

use super::classful::{CHILD, CLASSES, Classful, LIMIT_OF_ALL, PROBES, TRAITS};
use super::sharing::SHARING;
use super::{Blueprint, Built, Group, Info};
use crate::params::{Preset, Value};
use crate::scheduler::Sp;
use alloc::boxed::Box;

/// The registry entry.
pub static INFO: Info = Info {
    name: "sp",
    group: Group::Class,
    summary: "Strict priority among classes, each with a discipline of its own",
    reference: "Linux prio; tc-prio(8)",
    params: &[LIMIT_OF_ALL, SHARING, CLASSES, CHILD],
    presets: &[
        Preset { name: "plain", source: "four classes; no reference gives a number", values: &[] },
        Preset {
            name: "linux",
            source: "prio_dequeue() of Linux 6.1 net/sched/sch_prio.c, tc-prio(8): three bands with a pfifo of txqueuelen (1000) packets each",
            values: &[("classes", Value::Count(3)), ("limit", Value::Auto)],
        },
    ],
    probes: PROBES,
    traits: TRAITS,
    deviations: "the host gives the class, not a priomap; a limit for all classes beside that of each child",
    build,
};

fn build(blueprint: Blueprint<'_>) -> Built {
    let scheduler = Sp::new(blueprint.params.count("classes") as usize);
    Ok(Box::new(Classful::new(blueprint, scheduler, |_, _| {})?))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Host, ms, put_class, rest};

    #[test]
    fn a_lower_class_goes_first_and_high_classes_share_the_last() {
        let mut host = Host::new("sp classes 3");
        for (cookie, class) in [(0, 2), (1, 1), (2, 9), (3, 0), (4, 2)] {
            put_class(&mut host, cookie, class, 1000);
        }
        assert_eq!(rest(&mut host), [3, 1, 0, 2, 4]);
    }

    #[test]
    fn classes_share_the_limit_and_the_longest_gives_way() {
        let fill = |spec: &str| {
            let mut host = Host::new(spec);
            for (cookie, class) in [(0, 0), (1, 1), (2, 1), (3, 1), (4, 2), (5, 0), (6, 1)] {
                put_class(&mut host, cookie, class, 1000);
            }
            host
        };
        // Packet 5 finds three of class 1, of which the oldest goes; packet 6 would make class 1 the longest.
        let mut host = fill("sp limit 5p");
        assert_eq!(host.dropped(), [1, 6]);
        assert_eq!(rest(&mut host), [0, 5, 2, 3, 4]);
        assert_eq!(fill("sp limit 5p sharing complete").dropped(), [5, 6]);
        // In bytes, and with a packet that takes the room of two.
        let mut host = fill("sp limit 5500b");
        put_class(&mut host, 7, 3, 1600);
        assert_eq!(host.dropped(), [1, 6, 2, 0]);
        // A class alone has all of it.
        let mut host = Host::new("sp limit 5p");
        (0..6).for_each(|cookie| put_class(&mut host, cookie, 3, 1000));
        assert_eq!(host.dropped(), [5]);
    }

    #[test]
    fn a_lower_limit_drops_from_the_longest() {
        let mut host = Host::new("sp limit 5p");
        for (cookie, class) in [(0, 0), (1, 1), (2, 1), (3, 1), (4, 2)] {
            put_class(&mut host, cookie, class, 1000);
        }
        host.qdisc.change(&[("limit", "2p")], ms(1), &mut host.log).unwrap();
        // Class 1 keeps its limit of two from the end; then the oldest of the longest go, the last of equals.
        assert_eq!(host.dropped(), [3, 1, 4]);
        assert_eq!(rest(&mut host), [0, 2]);
    }

    #[test]
    fn what_it_holds_is_its_limit_or_that_of_its_children_together() {
        let total = |text: &str| {
            let host = Host::new(text);
            alloc::string::ToString::to_string(&host.qdisc.total().unwrap())
        };
        assert_eq!(total("sp:linux"), "3000p");
        assert_eq!(total("sp:linux limit 5000p"), "5000p");
        assert_eq!(total("sp:linux limit 50kb"), "50kb");
        assert_eq!(total("sp classes 3 child [fifo limit 10p] child [fifo limit 20p]"), "50p");
        assert_eq!(total("sp classes 3 child [fifo limit 10kb]"), "1000p");
        assert_eq!(total("sp limit 40p child [sp classes 2 child [fifo limit 3p]]"), "24p");
        assert_eq!(total("pfifo_fast band_limit 7p"), "21p");
    }

    #[test]
    fn each_class_has_its_own_child_with_its_own_limit() {
        let mut host = Host::new("sp classes 3 child [fifo limit 1p] child [fifo:head limit 2p]");
        for (cookie, class) in [(0, 0), (1, 0), (2, 1), (3, 1), (4, 1), (5, 2), (6, 2), (7, 2)] {
            put_class(&mut host, cookie, class, 1000);
        }
        assert_eq!(host.dropped(), [1, 2, 5]);
        assert_eq!(rest(&mut host), [0, 3, 4, 6, 7]);
    }

    #[test]
    fn probes_of_children_carry_the_name_of_their_class() {
        let mut host = Host::new("sp child [codel target 5ms] child [fifo]");
        (0..6).for_each(|cookie| put_class(&mut host, cookie, 0, 1000));
        put_class(&mut host, 6, 1, 1000);
        host.get(ms(10));
        host.get(ms(110));
        assert_eq!((host.probe("class_0.count"), host.probe("busy_classes")), (1.0, 2.0));
        assert_eq!(host.dropped(), [1]);
        let mut names = alloc::vec::Vec::new();
        host.qdisc.discipline().children(&mut |name, child| {
            names.push((alloc::string::String::from(name), child.backlog().packets));
        });
        assert_eq!((names.len(), &*names[1].0, names[1].1), (4, "class_1", 1));
    }

    #[test]
    fn parameters_of_children_change_while_packets_wait() {
        let mut host = Host::new("sp child [codel target 50ms]");
        (0..20).for_each(|cookie| put_class(&mut host, cookie, 0, 1000));
        host.get(ms(10));
        host.get(ms(40));
        assert_eq!(host.dropped().len(), 0);
        host.qdisc.change(&[("child", "[codel target 5ms interval 20ms]")], ms(40), &mut host.log).unwrap();
        host.get(ms(41)); // above 5 ms from here on
        host.get(ms(61));
        assert_eq!(host.dropped(), [3]);
    }

    #[test]
    fn a_child_cannot_become_another_or_break_its_own_rules() {
        let mut host = Host::new("sp child [codel] child [fifo]");
        let mut refusal = |value: &str| {
            let error = host.qdisc.change(&[("child", value)], ms(0), &mut host.log).unwrap_err();
            alloc::string::ToString::to_string(&error)
        };
        assert_eq!(
            refusal("[fifo]"),
            "parameter 'child': '[fifo:tail]' cannot become another discipline while packets may wait"
        );
        let error = crate::spec::Spec::parse("sp child [red min 9p max 3p]").unwrap();
        let link = crate::link::Link::new(crate::units::Rate::from_mbit(1));
        let error = error.build(link, crate::random::Random::seeded(1)).err().unwrap();
        let text = alloc::string::ToString::to_string(&error);
        assert!(text.starts_with("sp child 1: red: parameter"), "{text}");
    }

    #[test]
    fn children_get_their_wakeups() {
        let mut host = Host::new("sp child [fifo] child [pie]");
        assert!(host.qdisc.wakes() && !Host::new("sp").qdisc.wakes());
        for tick in 0..4000u64 {
            let mut packet = crate::packet::Packet::new(tick, 0, 1000);
            packet.class = 1;
            host.enqueue(ms(tick), packet);
            if tick % 2 == 0 {
                host.get(ms(tick));
            }
        }
        assert!(host.qdisc.counters().dropped_early() > 100, "{:?}", host.qdisc.counters());
    }
}
