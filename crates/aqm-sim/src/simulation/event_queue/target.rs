//! What events are for, and how they are ordered.

use aqm_core::units::Time;

/// What an event is for: a kind, and the number of its port, sender or source in 25 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Target(u32);

/// Kinds of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum EventKind {
    /// The first packet of a queue of packets in flight arrives.
    Arrival = 0,
    /// A port can send the next packet.
    PortReady = 1,
    /// A sender's timer.
    SenderTimer = 2,
    /// A receiver's delayed-ACK timer.
    ReceiverTimer = 3,
    /// A source has something to send.
    Source = 4,
    /// A discipline asked to be woken.
    QdiscWake = 5,
    /// A packet arrives from a wire that may reorder: it is in no queue.
    IrregularArrival = 6,
    /// Samples, warm-up and end.
    Clock = 7,
    /// A sender that spaces its segments may send the next.
    Pace = 8,
    /// Disciplines or programs have asked for packets to be sent.
    Emission = 9,
    /// A switch has to repeat a pause, or its control plane has work to do.
    SwitchTimer = 10,
    /// The pause of a port expires.
    PauseEnd = 11,
    /// A packet at its host has waited long enough for an address: it is in no queue.
    Resolved = 12,
}

const INDEX_BITS: u32 = 21;
pub(super) const KINDS: [EventKind; 13] = [
    EventKind::Arrival,
    EventKind::PortReady,
    EventKind::SenderTimer,
    EventKind::ReceiverTimer,
    EventKind::Source,
    EventKind::QdiscWake,
    EventKind::IrregularArrival,
    EventKind::Clock,
    EventKind::Pace,
    EventKind::Emission,
    EventKind::SwitchTimer,
    EventKind::PauseEnd,
    EventKind::Resolved,
];

impl Target {
    /// Largest number of ports, senders or sources of one kind.
    pub(crate) const MAX_INDEX: usize = (1 << INDEX_BITS) - 1;

    pub(crate) fn new(kind: EventKind, index: u32) -> Target {
        debug_assert!(index as usize <= Target::MAX_INDEX);
        Target((kind as u32) << INDEX_BITS | index)
    }

    #[inline]
    pub(crate) fn kind(self) -> EventKind {
        KINDS[(self.0 >> INDEX_BITS & 15) as usize]
    }

    /// Whether it is of this kind; less work than to ask which.
    #[inline]
    pub(crate) fn is(self, kind: EventKind) -> bool {
        self.0 >> INDEX_BITS == kind as u32
    }

    /// Whether many come again after the same time: packets of the same length at the same rate, and sources.
    #[inline]
    pub(super) fn is_regular(self) -> bool {
        const REGULAR: u32 =
            1 << EventKind::Arrival as u32 | 1 << EventKind::PortReady as u32 | 1 << EventKind::Source as u32;
        REGULAR >> (self.0 >> INDEX_BITS & 15) & 1 == 1
    }

    pub(crate) fn index(self) -> usize {
        (self.0 & Target::MAX_INDEX as u32) as usize
    }

    /// The entry of its event, which has this insertion number in its place.
    #[inline]
    pub(super) fn entry(self, time: Time, inserted: u64) -> Entry {
        u128::from(time.as_nanos()) << 64 | u128::from(inserted | u64::from(self.0))
    }

    /// That of an entry, by its lower half.
    #[inline]
    pub(super) fn of(rest: u64) -> Target {
        Target(rest as u32 & ((1 << TARGET_BITS) - 1))
    }
}

/// Time over insertion number (39 bits) over target (25 bits): one number, one comparison.
pub(super) type Entry = u128;

pub(super) const TARGET_BITS: u32 = 25;

/// An event that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Next {
    pub(crate) time: Time,
    pub(crate) target: Target,
}

impl Next {
    #[inline]
    pub(super) fn of(entry: Entry) -> Next {
        Next { time: Time::from_nanos((entry >> 64) as u64), target: Target::of(entry as u64) }
    }
}

/// Later than every event.
pub(super) const NEVER: Entry = Entry::MAX;
