//! From the first event to the last.

use super::state::{MONITOR_PERIOD, Simulation};
use crate::endpoint::flow::Endpoints;
use crate::measure::metrics::PortSample;
use crate::metrics::registry::Part;
use crate::network::graph::Capacity;
use crate::network::in_flight::InFlightQueue;
use crate::network::packet::PacketId;
use crate::network::payloads::MOST_BYTES;
use crate::network::port::{NONE, PortId};
use crate::rate_control::go_back_n::Rewinds;
use crate::report::{Monitor, RunError};
use crate::simulation::event_queue::{EventKind, Next, Target};
use aqm_core::input_error::InputError;
use aqm_core::units::{Span, Time};
use std::collections::BTreeMap;

/// From so many flows or packets on, asking for memory ahead pays.
const MANY_FLOWS: usize = 256;
const MANY_PACKETS: usize = 1 << 14;

/// Clock events, by index.
const SAMPLE: u32 = 0;
const WARMUP: u32 = 1;

impl Simulation {
    /// Runs until `end`, measuring from `warmup` and sampling every `sample` nanoseconds.
    pub(crate) fn run(
        &mut self,
        end: Time,
        warmup: Time,
        sample: Span,
        monitor: &Monitor,
    ) -> Result<(), RunError> {
        self.begin(warmup, sample);
        self.advance(end, monitor, |_| false)?;
        monitor.report(end.as_nanos());
        self.end(end)
    }

    /// Makes the first events.
    pub(crate) fn begin(&mut self, warmup: Time, sample: Span) {
        self.merge_stages();
        self.make_room_to_hold();
        self.sample_period = sample;
        // First of all events at its time: no packet of that instant has arrived before.
        if warmup > Time::ZERO {
            self.shared.events.push(warmup, Target::new(EventKind::Clock, WARMUP));
        }
        for (number, flow) in self.flows.iter().enumerate().filter(|(_, flow)| flow.session.user.is_none()) {
            self.shared.events.push(flow.session.start, Target::new(EventKind::Source, number as u32));
        }
        for (index, replay) in self.replays.iter().enumerate() {
            if let Some(first) = replay.packets.first() {
                let target = Target::new(EventKind::Source, (self.flows.len() + index) as u32);
                self.shared.events.push(replay.start + first.at, target);
            }
        }
        let may_pause = self.shared.switches_speak();
        let nothing_observes = self.shared.metrics.observers.is_empty() && self.shared.switches.is_none();
        for &port in &self.devices {
            let is_impaired = self.ports[port].impaired_mut().is_some();
            if let Some(device) = self.ports[port].device_mut() {
                device.is_direct = device.is_bare() && !may_pause && !is_impaired;
                device.is_straight = device.is_direct && nothing_observes;
            }
        }
        self.start_users();
        self.start_switches();
        for port in 0..self.ports.len() {
            self.arm_wakeup(port);
        }
        self.shared.events.push(Time::ZERO + sample, Target::new(EventKind::Clock, SAMPLE));
    }

    /// Handles the events until a time, or until one after which it is `enough`.
    #[inline]
    pub(crate) fn advance(
        &mut self,
        until: Time,
        monitor: &Monitor,
        enough: impl Fn(&Simulation) -> bool,
    ) -> Result<(), RunError> {
        loop {
            if let Some(Next { time, target }) = self.shared.events.take_of_wire(until) {
                self.begin_event(time, monitor)?;
                let again = if target.is(EventKind::Arrival) {
                    self.on_arrival(target.index())
                } else {
                    self.on_port_ready(target.index()).unwrap_or(Time::MAX)
                };
                if again != Time::MAX {
                    self.shared.events.repeat(again, target);
                }
            } else if let Some(Next { time, target }) = self.shared.events.peek_heaps(until) {
                self.begin_event(time, monitor)?;
                let again = self.handle(target)?;
                self.shared.events.finish(target, again);
            } else {
                break;
            }
            if enough(self) {
                return Ok(());
            }
        }
        self.check_room()?;
        self.shared.now = until;
        Ok(())
    }

    #[inline(always)]
    fn begin_event(&mut self, time: Time, monitor: &Monitor) -> Result<(), RunError> {
        self.shared.now = time;
        self.until_poll -= 1;
        if self.until_poll == 0 { self.poll(monitor) } else { Ok(()) }
    }

    /// Polls the monitor, and whether there is room.
    #[cold]
    fn poll(&mut self, monitor: &Monitor) -> Result<(), RunError> {
        (self.polls, self.until_poll) = (self.polls + 1, MONITOR_PERIOD);
        self.check_room()?;
        if monitor.report(self.shared.now.as_nanos()) { Ok(()) } else { Err(RunError::Cancelled) }
    }

    /// How many events were handled.
    pub(crate) fn handled(&self) -> u64 {
        self.polls * MONITOR_PERIOD + (MONITOR_PERIOD - self.until_poll)
    }

    /// Handles an event of any kind; answers when the same is due again.
    #[inline(never)]
    fn handle(&mut self, target: Target) -> Result<Option<Time>, RunError> {
        let index = target.index();
        Ok(match target.kind() {
            EventKind::Arrival => Some(self.on_arrival(index)).filter(|again| *again != Time::MAX),
            EventKind::PortReady => self.on_port_ready(index),
            EventKind::SenderTimer => self.on_sender_timer(index),
            EventKind::ReceiverTimer => self.on_receiver_timer(index),
            EventKind::Source => self.on_source(index),
            EventKind::QdiscWake => self.on_wakeup(index),
            EventKind::IrregularArrival => self.on_irregular_arrival(index as PacketId),
            EventKind::Clock => self.on_clock(index as u32)?,
            EventKind::Pace => self.on_pace(index),
            EventKind::Emission => self.send_emissions(),
            EventKind::SwitchTimer => self.on_switch_timer(index),
            EventKind::PauseEnd => self.on_pause_end(index),
            EventKind::Resolved => self.on_resolved(index as PacketId),
        })
    }

    /// Ends the measurement, and checks the run.
    pub(crate) fn end(&mut self, end: Time) -> Result<(), RunError> {
        self.shared.now = end;
        for number in 0..self.measured.len() {
            let held = self.held(self.measured[number]);
            if let Some((metrics, queued)) = self.port_metrics(number) {
                metrics.end(queued, held, end);
            }
        }
        self.check()
    }

    /// Whether memory was meant to hold all the packets that were on their way at once.
    pub(super) fn check_room(&self) -> Result<(), RunError> {
        if !self.shared.slab.is_exceeded() {
            return Ok(());
        }
        if self.shared.slab.records.payloads.is_exceeded() {
            return Err(RunError::Input(InputError::new(format!(
                "datagrams with more than {} MiB are in flight at once: lower rates, windows, messages, the buffer or the number of flows",
                MOST_BYTES >> 20
            ))));
        }
        let most = self.shared.slab.most;
        Err(RunError::Input(InputError::new(format!(
            "more than {most} packets are in flight at once: lower rates, windows, messages, the buffer or the number of flows"
        ))))
    }

    /// A plain port without impairment that packets reach through one other port alone, in order, needs no event of its
    /// own: when a packet leaves the other, its arrival at the far end is known.
    fn merge_stages(&mut self) {
        let has_emissions = self.has_emissions();
        for port in 0..self.ports.len() {
            let this = &self.ports[port];
            let shares = self.ports.get(this.upstream as usize).is_some_and(|upstream| {
                let impaired = upstream.extras.as_ref().and_then(|extras| extras.impaired.as_ref());
                this.extras.is_none()
                    && impaired.is_none_or(|impaired| !impaired.wire.impairments().is_irregular())
                    && !(has_emissions && self.emissions_may_enter(port, this.upstream as PortId))
            });
            if !shares {
                self.ports[port].upstream = NONE;
            }
        }
        self.own_queues = vec![NONE; self.ports.len()];
        let mut shared = BTreeMap::new();
        for (port, link) in self.ports.iter_mut().zip(&self.network.links) {
            port.line.in_flight = *shared.entry(port.sharing_key(link.to)).or_insert_with(|| {
                self.in_flight.push(InFlightQueue::default());
                (self.in_flight.len() - 1) as u32
            });
        }
        // At an opportunity several packets leave at one instant: their events say whose acknowledgment enters a link first.
        let has_trace = self.network.links.iter().any(|link| matches!(link.capacity, Capacity::Trace(_)));
        if !has_emissions && !has_trace && self.shared.switches.is_none() {
            self.find_ack_paths();
        }
    }

    fn on_clock(&mut self, index: u32) -> Result<Option<Time>, RunError> {
        if index == WARMUP {
            let now = self.shared.now;
            self.check()?;
            self.shared.metrics.restart(now);
            for number in 0..self.measured.len() {
                let port = self.measured[number];
                let (passed, held) = (self.passed(port), self.held(port));
                if let Some((metrics, queued)) = self.port_metrics(number) {
                    metrics.restart(queued, passed, held, now);
                }
            }
            if let Some(switches) = &mut self.shared.switches {
                switches.restart(now);
            }
            self.restart_channels();
            self.users.iter_mut().for_each(|user| user.application.forget(self.shared.now));
            for (flow, share) in self.flows.iter_mut().zip(&self.shared.metrics.shares) {
                flow.session.ledger.received_before = flow.ledger().received;
                flow.session.ledger.payload_before = share.total;
                if let Endpoints::Tcp(connection) = &mut flow.endpoints {
                    connection.sender.forget();
                    connection.receiver.forget();
                }
                if let Some(ends) = &mut flow.session.stack {
                    ends.forget();
                }
                if let Some(ends) = &mut flow.session.rate_endpoints {
                    ends.transfer.rewinds = Rewinds::default();
                }
            }
            return Ok(None);
        }
        self.looks_ahead = self.flows.len() >= MANY_FLOWS || self.shared.slab.slots() >= MANY_PACKETS;
        if let Some(switches) = &mut self.shared.switches {
            switches.look_for_deadlock(self.shared.now);
        }
        let (now, period) = (self.shared.now, self.sample_period);
        self.shared.metrics.sample(now, period, |flow| self.flows[flow].sender_state());
        let several = self.measured.len() > 1;
        for number in 0..self.measured.len() {
            let port = self.measured[number];
            let passed = self.passed(port);
            let Some(device) = self.ports[port].device_mut() else { continue };
            let Some(metrics) = device.observed.metrics.as_deref_mut() else { continue };
            let queued = device.observed.queued;
            metrics.advance(queued, now);
            let classified = metrics.classified.as_mut().map(|classified| classified.take_sample());
            let passed = metrics.take_sample(passed);
            let sample = PortSample { queued, passed, classified, qdisc: &device.qdisc };
            if number == 0 {
                self.shared.metrics.sample_port(&Part::WHOLE, &sample, now, period);
            }
            if several {
                self.shared.metrics.sample_port(&metrics.part, &sample, now, period);
            }
        }
        self.sample_channels();
        self.check_in_turn(self.samples)?;
        self.samples += 1;
        Ok(Some(self.shared.now + self.sample_period))
    }
}
