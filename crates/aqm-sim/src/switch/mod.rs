//! What a switch adds to its ports: flow control, shared memory, programs in data plane and control plane.
//!
//! Nothing here knows links, events or routes: packets come in and leave, time comes in with each call, and frames that
//! must be sent are handed out. `simulation/switches.rs` installs the switches of a network.

pub mod control_plane;
pub mod deadlock;
pub mod declaration;
pub mod flow_control;
pub mod options;
pub mod pause;
pub mod pipeline;
pub mod program;
pub mod programs;
pub mod shared_buffer;

use aqm_core::units::Time;
use flow_control::{Account, FlowControl};
use pause::{PRIORITIES, PauseFrame};
use shared_buffer::SharedBuffer;
use std::collections::VecDeque;

/// A packet in flight through a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transit {
    /// Port that it came in by; `None` if the switch itself sends it.
    pub ingress: Option<usize>,
    /// Port that it leaves by.
    pub egress: usize,
    /// Its priority.
    pub priority: u8,
    /// Bytes on the link.
    pub length: u32,
}

/// Why a switch has no room for a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Its queue is at the dynamic threshold.
    Threshold,
    /// It is flow-controlled, and there is no headroom left: flow control has failed.
    Headroom,
}

/// The memory of a switch: what may wait in its ports, and who must pause.
///
/// A packet is admitted before the port's discipline sees it; it is released when it goes to the wire or is dropped by
/// the discipline. Flow-controlled packets are limited where they came in (XOFF and headroom) and not by the dynamic
/// threshold where they go out: a drop there would break the promise. Up to XOFF they take shared memory; headroom is
/// memory of its own.
#[derive(Clone, Debug, Default)]
pub struct Switch {
    buffer: Option<SharedBuffer>,
    flow_control: FlowControl,
    frames: VecDeque<(usize, PauseFrame)>,
    refused: u64,
}

impl Switch {
    /// A switch; without `buffer`, ports are limited by their disciplines alone.
    pub fn new(buffer: Option<SharedBuffer>, flow_control: FlowControl) -> Switch {
        Switch { buffer, flow_control, frames: VecDeque::new(), refused: 0 }
    }

    /// Number of the queue of a port and priority in the shared buffer.
    fn queue(transit: &Transit) -> usize {
        transit.egress * PRIORITIES + usize::from(transit.priority)
    }

    /// Its account with flow control, if it has one.
    fn account(&self, transit: &Transit) -> Option<Account> {
        let account = Account { ingress: transit.ingress?, priority: transit.priority };
        self.flow_control.controls(account).then_some(account)
    }

    /// Whether a packet is flow-controlled.
    pub fn controls(&self, transit: &Transit) -> bool {
        self.account(transit).is_some()
    }

    /// A packet has come in.
    ///
    /// # Errors
    /// Why it is lost.
    pub fn admit(&mut self, transit: &Transit, now: Time) -> Result<(), Refusal> {
        let Some(account) = self.account(transit) else {
            let queue = Switch::queue(transit);
            let admitted = self.buffer.as_mut().is_none_or(|buffer| buffer.admit(queue, transit.length));
            self.refused += u64::from(!admitted);
            return if admitted { Ok(()) } else { Err(Refusal::Threshold) };
        };
        let free = self.buffer.as_ref().map_or(u64::MAX, SharedBuffer::free);
        let (taken, frame) = self.flow_control.admit(account, transit.egress, transit.length, free, now);
        self.frames.extend(frame.map(|frame| (account.ingress, frame)));
        let taken = taken.ok_or(Refusal::Headroom)?;
        if let Some(buffer) = &mut self.buffer {
            buffer.take(taken);
        }
        Ok(())
    }

    /// A packet that was admitted has left its queue.
    pub fn release(&mut self, transit: &Transit) {
        let Some(account) = self.account(transit) else {
            if let Some(buffer) = &mut self.buffer {
                buffer.release(Switch::queue(transit), transit.length);
            }
            return;
        };
        let (given, frame) = self.flow_control.release(account, transit.egress, transit.length);
        self.frames.extend(frame.map(|frame| (account.ingress, frame)));
        if let Some(buffer) = &mut self.buffer {
            buffer.give(given);
        }
    }

    /// The next frame that must be sent: the port it leaves by, and what it says.
    pub fn next_frame(&mut self) -> Option<(usize, PauseFrame)> {
        self.frames.pop_front()
    }

    /// When [`refresh`](Switch::refresh) has something to do.
    pub fn next_refresh(&self) -> Option<Time> {
        self.flow_control.next_refresh()
    }

    /// Says pauses again that would expire.
    pub fn refresh(&mut self, now: Time) {
        self.frames.extend(self.flow_control.refresh(now));
    }

    /// Flow control and its counters.
    pub fn flow_control(&self) -> &FlowControl {
        &self.flow_control
    }

    /// Whether nothing that came in is still accounted for.
    pub(crate) fn is_empty(&self) -> bool {
        self.flow_control.is_empty() && self.buffer.as_ref().is_none_or(SharedBuffer::is_empty)
    }

    /// The shared memory.
    pub fn buffer(&self) -> Option<&SharedBuffer> {
        self.buffer.as_ref()
    }

    /// Packets that found their queue at the dynamic threshold.
    pub fn refused(&self) -> u64 {
        self.refused
    }

    /// Resets the counts.
    pub fn restart(&mut self) {
        self.refused = 0;
        self.buffer.iter_mut().for_each(SharedBuffer::restart);
        self.flow_control.restart();
    }
}

#[cfg(test)]
mod tests {
    use super::flow_control::Thresholds;
    use super::*;
    use aqm_core::units::Rate;

    const GBIT: Rate = Rate::from_bits_per_sec(1_000_000_000);

    /// Two ports, 20 000 shared bytes, priority 3 of port 0 flow-controlled.
    fn switch() -> Switch {
        let mut control = FlowControl::new(1000);
        let thresholds = Thresholds { xoff: 8_000, xon: 6_000, headroom: 2_000 };
        control.add(Account { ingress: 0, priority: 3 }, thresholds, GBIT);
        Switch::new(SharedBuffer::new(20_000, 1.0, 0, 2 * PRIORITIES), control)
    }

    fn packet(ingress: usize, egress: usize, priority: u8) -> Transit {
        Transit { ingress: Some(ingress), egress, priority, length: 1000 }
    }

    fn admitted(switch: &mut Switch, transit: &Transit, count: usize) -> usize {
        (0..count).filter(|_| switch.admit(transit, Time::ZERO).is_ok()).count()
    }

    #[test]
    fn lossless_packets_are_limited_where_they_come_in_and_others_where_they_go_out() {
        let mut switch = switch();
        let (lossless, lossy) = (packet(0, 1, 3), packet(0, 1, 0));
        assert_eq!(admitted(&mut switch, &lossless, 20), 10);
        assert_eq!(switch.admit(&lossless, Time::ZERO), Err(Refusal::Headroom));
        // 12 000 bytes are left: alone there, a lossy queue gets half.
        assert_eq!(switch.buffer().unwrap().free(), 12_000);
        assert_eq!(admitted(&mut switch, &lossy, 20), 6);
        assert_eq!(switch.admit(&lossy, Time::ZERO), Err(Refusal::Threshold));
        assert_eq!(switch.refused(), 15);
        assert_eq!(switch.next_frame(), Some((0, PauseFrame { priority: 3, quanta: 1000 })));
        assert_eq!(switch.next_frame(), None);
    }

    #[test]
    fn the_same_priority_from_a_port_without_flow_control_is_lossy() {
        let mut switch = switch();
        assert_eq!(admitted(&mut switch, &packet(1, 0, 3), 20), 10);
        assert_eq!(switch.next_frame(), None);
        let own = Transit { ingress: None, ..packet(0, 1, 3) };
        assert_eq!(admitted(&mut switch, &own, 20), 5);
    }

    #[test]
    fn all_memory_is_free_again_when_all_packets_have_left() {
        let mut switch = switch();
        let transits = [packet(0, 1, 3), packet(0, 1, 0), packet(1, 0, 5)];
        let counts = transits.map(|transit| admitted(&mut switch, &transit, 20));
        assert!(counts.iter().all(|count| *count > 0), "{counts:?}");
        for (transit, count) in transits.iter().zip(counts) {
            (0..count).for_each(|_| switch.release(transit));
        }
        assert_eq!(switch.buffer().unwrap().used(), 0);
        assert_eq!(
            std::iter::from_fn(|| switch.next_frame()).last(),
            Some((0, PauseFrame { priority: 3, quanta: 0 }))
        );
        assert_eq!(switch.next_refresh(), None);
    }

    #[test]
    fn where_the_shared_memory_is_full_lossless_packets_take_headroom() {
        let mut switch = switch();
        // Alpha of 1 leaves 10 000 bytes to one queue, 5000 to the next, and so on.
        for port in [0, 1] {
            for priority in [0, 1, 2] {
                admitted(&mut switch, &packet(1, port, priority), 20);
            }
        }
        let free = switch.buffer().unwrap().free();
        assert!(free < 1000, "{free}");
        assert_eq!(admitted(&mut switch, &packet(0, 1, 3), 5), 2);
        assert_eq!(switch.next_frame(), Some((0, PauseFrame { priority: 3, quanta: 1000 })));
    }

    #[test]
    fn after_the_warm_up_the_largest_use_of_the_buffer_counts_anew() {
        let mut switch = switch();
        assert_eq!(admitted(&mut switch, &packet(0, 1, 0), 4), 4);
        (0..3).for_each(|_| switch.release(&packet(0, 1, 0)));
        assert_eq!(switch.buffer().unwrap().largest(), 4000);
        switch.restart();
        assert_eq!(switch.buffer().unwrap().largest(), 1000);
    }
}
