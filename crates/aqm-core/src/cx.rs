//! The context of a call into a discipline: time, random numbers, the observer and the counters.

use crate::classifier::{Classifier, FlowKind};
use crate::counters::Counters;
use crate::packet::{Ecn, Packet};
use crate::paused::PausedClasses;
use crate::random::Random;
use crate::signal::{DropPoint, DropReason, Emission, MarkReason, Observer, Relay};
use crate::stations::NextHop;
use crate::units::Time;

/// The context of one call. Time and random numbers come from nowhere else, and no packet leaves in another way.
pub struct Cx<'a> {
    /// The time of the call.
    pub now: Time,
    pub(crate) point: DropPoint,
    pub(crate) observer: &'a mut dyn Observer,
    pub(crate) shell: &'a mut Shell,
}

/// What the shell keeps between calls: one reference in each context, so that a call is cheap.
pub(crate) struct Shell {
    pub(crate) random: Random,
    pub(crate) counters: Counters,
    /// The classes that may not send in the current dequeue; none in other calls.
    pub(crate) paused: PausedClasses,
    /// The next hops that the current dequeue is for; any in other calls.
    pub(crate) next_hop: NextHop,
    /// Whether either of the two keeps packets from leaving: one test for each dequeue.
    pub(crate) restricted: bool,
}

impl Cx<'_> {
    /// The classes that may not send in this dequeue. A discipline that serves classes skips them; from any other,
    /// the shell holds such a packet until its class may send.
    #[inline]
    pub fn paused(&self) -> PausedClasses {
        self.shell.paused
    }

    /// The next hops that this dequeue is for. A discipline with a queue for each station serves one of those; from any
    /// other, the shell holds a packet for another station until it is asked for.
    #[inline]
    pub fn next_hop(&self) -> NextHop {
        self.shell.next_hop
    }

    /// Asks a child that numbers next hops from zero, which the host numbers from `first`.
    pub(crate) fn at_station<R>(
        &mut self,
        first: u8,
        next_hop: NextHop,
        ask: impl FnOnce(&mut Cx<'_>) -> R,
    ) -> R {
        let own = core::mem::replace(&mut self.shell.next_hop, next_hop);
        let on_drop = |host: &mut dyn Observer, packet: Packet, reason, point| {
            host.on_drop(Packet { station: first + packet.station, ..packet }, reason, point);
        };
        let mut observer = Relay { observer: &mut *self.observer, on_drop };
        let (now, point) = (self.now, self.point);
        let answer = ask(&mut Cx { now, point, observer: &mut observer, shell: &mut *self.shell });
        self.shell.next_hop = own;
        answer
    }

    /// Whether any packet may leave in this dequeue.
    #[inline]
    pub(crate) fn is_unrestricted(&self) -> bool {
        !self.shell.restricted
    }

    /// Whether this packet may leave in this dequeue.
    #[inline]
    pub(crate) fn may_send(&self, packet: &Packet) -> bool {
        let Shell { paused, next_hop, .. } = &self.shell;
        !paused.contains(packet.class) && next_hop.contains(packet.station)
    }

    /// Drops `packet`: it is counted and handed back to the host.
    pub fn drop(&mut self, packet: Packet, reason: DropReason) {
        self.shell.counters.count_drop(&packet, reason);
        self.observer.on_drop(packet, reason, self.point);
    }

    /// Marks `packet` CE if it is ECN-capable; `false` means that the law must drop instead.
    ///
    /// A packet that already carries CE counts as marked: another hop has already signalled.
    pub fn mark(&mut self, packet: &mut Packet, reason: MarkReason) -> bool {
        match packet.ecn {
            Ecn::NotEct => false,
            Ecn::Ce => true,
            Ecn::Ect0 | Ecn::Ect1 => {
                packet.ecn = Ecn::Ce;
                self.shell.counters.marked += 1;
                self.observer.on_mark(packet, reason);
                true
            }
        }
    }

    /// Asks the host to send a packet to a source.
    pub fn emit(&mut self, emission: Emission) {
        self.shell.counters.emitted += 1;
        self.observer.on_emit(emission);
    }

    /// Asks `classifier` what `packet` is of, and says what it answers.
    #[inline]
    pub fn classify(&mut self, packet: &Packet, classifier: &mut impl Classifier) -> FlowKind {
        let before = classifier.records_read();
        let kind = classifier.observe(packet.flow, &mut self.shell.random);
        self.shell.counters.classified += 1;
        self.shell.counters.reported += u64::from(kind == FlowKind::Ltf);
        self.observer.on_classify(packet, kind, classifier.records_read() - before);
        kind
    }

    /// Uniform in [0, 1).
    pub fn uniform(&mut self) -> f64 {
        self.shell.random.uniform()
    }

    /// Uniform whole number below `bound`.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.shell.random.below(bound)
    }
}
