//! The control plane of a switch: on a timer of its own it reads what the data plane counted, and what it decides is in
//! force after a delay of its own.

use super::pipeline::{Egress, Ingress, PacketView, Pipeline, QueueView, RegisterId, State, TableId};
use aqm_core::units::{Span, Time};
use std::collections::VecDeque;

/// A program in the control plane.
pub trait ControlPlane: Send {
    /// From one timer to the next.
    fn period(&self) -> Span;

    /// From a timer until what it wrote is in force: reading, computing, installing.
    fn delay(&self) -> Span;

    /// Reads the state and decides what is written.
    fn on_timer(&mut self, now: Time, state: &State, writes: &mut Vec<Write>);
}

/// One thing that the control plane writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Write {
    /// A register.
    Register {
        /// Its array.
        array: RegisterId,
        /// Its place there.
        index: usize,
        /// What it becomes.
        value: u64,
    },
    /// An entry of a table.
    Entry {
        /// The table.
        table: TableId,
        /// What is matched.
        key: u64,
        /// The answer.
        value: u64,
    },
}

/// A data-plane program with its state and, if it has one, its control plane.
pub struct Program {
    pipeline: Box<dyn Pipeline>,
    state: State,
    control: Option<Box<dyn ControlPlane>>,
    next_timer: Time,
    /// Writes that are not yet in force, with the time from which they are.
    pending: VecDeque<(Time, Vec<Write>)>,
}

impl Program {
    /// A program; its control plane is first called after one period.
    pub fn new(pipeline: Box<dyn Pipeline>, state: State, control: Option<Box<dyn ControlPlane>>) -> Program {
        let next_timer = control.as_ref().map_or(Time::MAX, |control| Time::ZERO + control.period());
        Program { pipeline, state, control, next_timer, pending: VecDeque::new() }
    }

    /// A packet has come in.
    pub fn on_ingress(&mut self, packet: &PacketView<'_>) -> Ingress {
        self.pipeline.on_ingress(packet, &mut self.state)
    }

    /// A packet leaves its queue.
    pub fn on_egress(&mut self, packet: &PacketView<'_>, queue: &QueueView) -> Egress {
        self.pipeline.on_egress(packet, queue, &mut self.state)
    }

    /// A packet that has come in is dropped.
    pub fn on_drop(&mut self, packet: &PacketView<'_>) {
        self.pipeline.on_drop(packet, &mut self.state);
    }

    /// Registers and tables.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// When [`advance`](Program::advance) has something to do next.
    pub fn next_event(&self) -> Option<Time> {
        let pending = self.pending.front().map_or(Time::MAX, |(at, _)| *at);
        let next = pending.min(self.next_timer);
        (next != Time::MAX).then_some(next)
    }

    /// From one timer of the control plane to the next, if it has one.
    pub(crate) fn period(&self) -> Option<Span> {
        self.control.as_ref().map(|control| control.period())
    }

    /// Does what is due by `now`: writes come into force, and the control plane has its timer. Of what falls together,
    /// the writes come first.
    pub fn advance(&mut self, now: Time) {
        self.put_in_force(now);
        if self.next_timer > now {
            return;
        }
        let Some(control) = &mut self.control else { return };
        let mut writes = Vec::new();
        control.on_timer(now, &self.state, &mut writes);
        self.next_timer = now + control.period();
        let at = now + control.delay();
        if !writes.is_empty() {
            self.pending.push_back((at, writes));
        }
        // Without a delay they are due now.
        self.put_in_force(now);
    }

    fn put_in_force(&mut self, now: Time) {
        while let Some((_, writes)) = self.pending.pop_front_if(|(at, _)| *at <= now) {
            writes.into_iter().for_each(|write| self.write(write));
        }
    }

    fn write(&mut self, write: Write) {
        match write {
            Write::Register { array, index, value } => self.state.registers_mut(array)[index] = value,
            Write::Entry { table, key, value } => self.state.set_entry(table, key, value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aqm_core::packet::Packet;

    /// Marks what comes in while the arrivals counted exceed a threshold.
    struct Marker {
        arrived: RegisterId,
        threshold: TableId,
    }

    impl Pipeline for Marker {
        fn on_ingress(&mut self, view: &PacketView<'_>, state: &mut State) -> Ingress {
            let arrived = &mut state.registers_mut(self.arrived)[view.egress];
            *arrived += u64::from(view.packet.length);
            let arrived = *arrived;
            let mark = arrived > state.lookup(self.threshold, view.egress as u64);
            Ingress { mark, ..Ingress::default() }
        }

        fn on_egress(&mut self, _: &PacketView<'_>, _: &QueueView, _: &mut State) -> Egress {
            Egress::default()
        }

        fn on_drop(&mut self, _: &PacketView<'_>, _: &mut State) {}
    }

    /// Every millisecond halves the threshold of a port on which anything arrived; that takes a while.
    struct Halving {
        arrived: RegisterId,
        threshold: TableId,
        delay: Span,
    }

    impl ControlPlane for Halving {
        fn period(&self) -> Span {
            Span::from_millis(1)
        }

        fn delay(&self) -> Span {
            self.delay
        }

        fn on_timer(&mut self, _now: Time, state: &State, writes: &mut Vec<Write>) {
            let busy = (0..).zip(state.registers(self.arrived)).filter(|(_, bytes)| **bytes > 0);
            writes.extend(busy.map(|(port, _)| {
                let value = state.lookup(self.threshold, port) / 2;
                Write::Entry { table: self.threshold, key: port, value }
            }));
        }
    }

    /// Ports 0 and 1 with thresholds of 4000 bytes, which are halved.
    fn halving(delay: Span) -> (Program, TableId) {
        let mut state = State::default();
        let (arrived, threshold) = (state.add_registers(2), state.add_table(4000));
        let (pipeline, control) = (Marker { arrived, threshold }, Halving { arrived, threshold, delay });
        (Program::new(Box::new(pipeline), state, Some(Box::new(control))), threshold)
    }

    #[test]
    fn without_a_delay_what_the_control_plane_writes_is_in_force_at_once() {
        let (mut program, threshold) = halving(Span::ZERO);
        let packet = Packet::new(0, 1, 1500);
        program.on_ingress(&PacketView { packet: &packet, ingress: Some(0), egress: 1, now: Time::ZERO });
        program.advance(Time::ZERO + Span::from_millis(1));
        assert_eq!(program.state.lookup(threshold, 1), 2000);
        assert_eq!(program.next_event(), Some(Time::ZERO + Span::from_millis(2)));
    }

    #[test]
    fn the_control_plane_changes_a_threshold_after_its_delay() {
        let (mut program, threshold) = halving(Span::from_micros(300));
        let us = |micros: u64| Time::ZERO + Span::from_micros(micros);
        let packet = Packet::new(0, 1, 1500);
        let marked_at = |program: &mut Program, micros: u64| {
            let view = PacketView { packet: &packet, ingress: Some(0), egress: 1, now: us(micros) };
            program.on_ingress(&view).mark
        };
        assert!(!marked_at(&mut program, 100));
        assert_eq!(program.next_event(), Some(us(1000)));
        program.advance(us(1000));
        // The control plane has seen 1500 bytes at port 1; its 2000 are in force from 1300 us on.
        assert_eq!(program.next_event(), Some(us(1300)));
        assert!(!marked_at(&mut program, 1200), "3000 bytes are below 4000");
        program.advance(us(1300));
        assert_eq!((program.state.lookup(threshold, 1), program.state.lookup(threshold, 0)), (2000, 4000));
        assert!(marked_at(&mut program, 1400), "4500 bytes are above 2000");
        assert_eq!(program.next_event(), Some(us(2000)));
    }

    #[test]
    fn without_a_control_plane_nothing_is_due() {
        let mut state = State::default();
        let (arrived, threshold) = (state.add_registers(1), state.add_table(0));
        let mut program = Program::new(Box::new(Marker { arrived, threshold }), state, None);
        assert_eq!(program.next_event(), None);
        program.advance(Time::from_nanos(5));
    }
}
