//! How classes share one limit, so that none can fill it for all.
//!
//! The names are those of the literature on shared buffers (Foschini and Gopinath, "Sharing Memory Optimally", IEEE
//! Trans. Commun. 31(3), 1983). Push-out takes the room for an arriving packet from the longest class, at its front
//! (Suter, Lakshman, Stiliadis and Choudhury, "Buffer Management Schemes for Supporting TCP in Gigabit Routers with
//! Per-Flow Queueing", IEEE JSAC 17(6), 1999). RFC 970, Demers, Keshav and Shenker 1989 and Shreedhar and Varghese
//! 1996 (their "buffer stealing") take it from the longest queue, too. Linux's schedulers have no common limit: each
//! class has that of its child (tc-prio(8), tc-drr(8)).
//!
//! Of `n` classes one that holds no more than an `n`th of the limit never loses a packet to another, and one that is
//! alone has all of it. Equal parts would give the same guarantee, and leave room unused.

use crate::backlog::Backlog;
use crate::choices;
use crate::params::{ParamSpec, Params};
use crate::units::Size;

choices! {
    /// What happens at the limit of all classes.
    pub(super) enum Sharing {
        /// The longest class loses its oldest packet to a shorter one.
        Pushout = "pushout",
        /// The arriving packet is lost.
        Complete = "complete",
    }
}

/// The parameter `sharing`.
pub(super) const SHARING: ParamSpec = ParamSpec::choice::<Sharing>(
    "sharing",
    "At the limit of all: the longest class loses its oldest packet to a shorter one, or the arriving packet is lost",
    "RFC 970, Shreedhar and Varghese 1996, Suter et al. 1999: the longest queue",
);

/// Whether packets of longer classes give way, rather than the arriving one.
pub(super) fn pushes_out(params: &Params) -> bool {
    params.choice::<Sharing>("sharing") == Sharing::Pushout
}

/// The class to take room from for a packet of `length` that arrives in `class`: the longest, of equals the last.
/// `None` if none is longer than `class` would be with the packet.
pub(super) fn longer(
    backlogs: impl Iterator<Item = Backlog>,
    class: usize,
    length: u32,
    limit: Size,
) -> Option<usize> {
    let arriving = Backlog { packets: 1, bytes: u64::from(length) }.in_unit_of(limit);
    let mut own = 0;
    let mut longest = None;
    for (number, backlog) in backlogs.enumerate() {
        let backlog = backlog.in_unit_of(limit);
        if number == class {
            own = backlog + arriving;
        } else if longest.is_none_or(|(_, most)| backlog >= most) {
            longest = Some((number, backlog));
        }
    }
    longest.filter(|(_, most)| *most > own).map(|(number, _)| number)
}

/// The longest class, of equals the last; `None` if all are empty.
pub(super) fn longest(backlogs: impl Iterator<Item = Backlog>, limit: Size) -> Option<usize> {
    let lengths = backlogs.map(|backlog| backlog.in_unit_of(limit)).enumerate();
    lengths.filter(|(_, length)| *length > 0).max_by_key(|(_, length)| *length).map(|(number, _)| number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(packets: u64, bytes: u64) -> Backlog {
        Backlog { packets, bytes }
    }

    #[test]
    fn room_comes_from_a_longer_class_or_from_nobody() {
        let backlogs = [of(3, 4500), of(1, 100), of(4, 400), of(4, 800)];
        let found = |class, limit| longer(backlogs.into_iter(), class, 100, limit);
        let packets = Size::Packets(12);
        assert_eq!((found(0, packets), found(1, packets)), (None, Some(3)));
        assert_eq!((found(2, packets), found(3, packets)), (None, None));
        let bytes = Size::Bytes(6000);
        assert_eq!((found(0, bytes), found(1, bytes), found(3, bytes)), (None, Some(0), Some(0)));
        assert_eq!(longer([of(9, 900)].into_iter(), 0, 100, packets), None);
    }

    #[test]
    fn the_last_of_the_longest_is_found_and_none_in_empty_classes() {
        let backlogs = [of(2, 3000), of(2, 100), of(0, 0)];
        assert_eq!(longest(backlogs.into_iter(), Size::Packets(9)), Some(1));
        assert_eq!(longest(backlogs.into_iter(), Size::Bytes(9)), Some(0));
        assert_eq!(longest([Backlog::default(); 3].into_iter(), Size::Packets(9)), None);
    }
}
