//! Faults that tests put in, one at a time, to see that the checks of every run report them. Other builds have none: there
//! [`Faults::strike`] is false, and costs nothing.

/// A defect that this program might have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// A packet vanishes on a wire, and is entered as lost by impairment.
    LostOnWire,
    /// A packet vanishes between a wire and the port behind it.
    LostBeforePort,
    /// A packet vanishes before its first port.
    LostAtSender,
    /// A packet vanishes at its receiver.
    LostAtReceiver,
    /// A packet is sent twice.
    Doubled,
    /// A packet is received twice.
    ReceivedTwice,
    /// The payload of a packet counts twice.
    CountedTwice,
    CountedTwiceByTcp,
    /// What a receiver held beyond a gap when measuring began counts as if it had come since.
    HeldForgotten,
    /// A drop is entered for another flow.
    WrongFlow,
    /// What the switch refuses is entered for nobody.
    RefusalForgotten,
    /// Drops of packets that arrived before measuring began count among those that arrived since.
    OlderDropCounted,
    /// CE is lost where a packet leaves a queue.
    CeForgotten,
    /// A queue counts as longer than it is when a packet leaves.
    QueueTooLong,
    /// The sojourn time of a packet counts from its sender.
    SojournFromSender,
    /// Nothing is to happen when a link becomes free.
    LinkForgotten,
    /// Nothing is to happen when a sender's timer expires.
    TimerForgotten,
}

/// The fault that is put in, if one is.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    #[cfg(test)]
    pub(crate) chosen: Option<Fault>,
    /// How often it could have struck.
    #[cfg(test)]
    seen: u32,
}

impl Faults {
    /// Whether this is the fault that is put in.
    #[cfg(not(test))]
    #[inline(always)]
    pub(crate) fn is(&self, _fault: Fault) -> bool {
        false
    }

    /// Whether this is the fault that is put in.
    #[cfg(test)]
    pub(crate) fn is(&self, fault: Fault) -> bool {
        self.chosen == Some(fault)
    }

    /// Whether the fault strikes this packet.
    #[cfg(not(test))]
    #[inline(always)]
    pub(crate) fn strike(&mut self, _fault: Fault) -> bool {
        false
    }

    /// Whether the fault strikes this packet: one in a thousand; what TCP counts too much stays, and drops are few.
    #[cfg(test)]
    pub(crate) fn strike(&mut self, fault: Fault) -> bool {
        if !self.is(fault) {
            return false;
        }
        self.seen += 1;
        match fault {
            Fault::OlderDropCounted | Fault::CeForgotten | Fault::TimerForgotten => true,
            Fault::CountedTwiceByTcp => self.seen >= 1000,
            _ => self.seen.is_multiple_of(1000),
        }
    }
}
