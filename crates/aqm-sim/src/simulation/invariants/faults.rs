//! Faults that tests put in, one at a time, to see that the checks of every run report them. A fault changes what a run has
//! in memory between two of its events, as a defect would have: the path of packets has no line for it.

use crate::endpoint::flow::Endpoints;
use crate::measure::losses::Cause;
use crate::network::in_flight::InFlight;
use crate::network::packet::Role;
use crate::simulation::state::Simulation;
use crate::transport::Receiver;
use aqm_core::packet::Ecn;
use aqm_core::signal::DropReason;
use aqm_core::units::{Span, Time};

/// A defect that this program might have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// A packet vanishes on a wire, and is entered as lost by impairment.
    LostOnWire,
    /// A packet of this kind vanishes.
    Vanished(Role),
    /// A packet is on its way twice.
    Doubled,
    /// A packet is received twice.
    ReceivedTwice,
    /// The payload of a packet counts twice.
    CountedTwice,
    /// What a receiver held beyond a gap when measuring began counts as if it had come since.
    HeldForgotten,
    /// Drops are entered for another flow.
    WrongFlow,
    /// What the switch refuses is entered for nobody.
    RefusalForgotten,
    /// Drops of packets that arrived before measuring began count among those that arrived since.
    OlderDropCounted,
    /// CE is lost on the way.
    CeForgotten,
    /// A queue counts as longer than it is.
    QueueTooLong,
    /// The sojourn time of a packet counts from its sender.
    SojournFromSender,
    /// Nothing is to happen when a link becomes free.
    LinkForgotten,
    /// Nothing is to happen when timers expire.
    TimerForgotten,
}

/// Once so many events, a fault that can strike any time does.
const PERIOD: u64 = 1000;

/// Bytes that count twice.
const COUNTED_TWICE: u64 = 1000;

/// What puts a fault in.
pub(super) struct Saboteur {
    fault: Option<Fault>,
    events: u64,
    struck: u64,
    before: Before,
}

/// What was true before the event.
#[derive(Default)]
struct Before {
    receivers: Vec<Receiver>,
    dropped: u64,
    refused: u64,
    /// Those of the dropped that had arrived before measuring began, and when that was.
    older: u64,
    began: Time,
}

impl Saboteur {
    pub(super) fn new(fault: Option<Fault>) -> Saboteur {
        Saboteur { fault, events: 0, struck: 0, before: Before::default() }
    }

    /// How often it has struck.
    pub(super) fn struck(&self) -> u64 {
        self.struck
    }

    /// Looks at what the next event may change.
    pub(super) fn before_event(&mut self, simulation: &mut Simulation) {
        if self.fault == Some(Fault::CountedTwice) && self.struck > 0 {
            // TCP resets what was delivered.
            simulation.shared.metrics.shares[0].total -= COUNTED_TWICE;
        }
        let losses = &simulation.shared.metrics.losses;
        let (dropped, refused) = (losses.by(Cause::Discipline), losses.by(Cause::Buffer));
        let receivers = match self.fault {
            Some(Fault::HeldForgotten) => receivers(simulation).map(|receiver| receiver.clone()).collect(),
            _ => Vec::new(),
        };
        let older = simulation.port_metrics(0).map_or(0, |(metrics, _)| metrics.signals.older.dropped);
        self.before = Before { receivers, dropped, refused, older, began: began(simulation) };
    }

    /// Strikes, if it is time.
    pub(super) fn after_event(&mut self, simulation: &mut Simulation) {
        self.events += 1;
        let in_turn = self.events.is_multiple_of(PERIOD);
        let began = began(simulation);
        let losses = &simulation.shared.metrics.losses;
        let strikes = match self.fault {
            None => false,
            Some(Fault::HeldForgotten) => began > self.before.began,
            Some(Fault::WrongFlow) => self.struck == 0 && losses.by(Cause::Discipline) > self.before.dropped,
            Some(Fault::RefusalForgotten) => losses.by(Cause::Buffer) > self.before.refused,
            Some(
                Fault::OlderDropCounted | Fault::CeForgotten | Fault::LinkForgotten | Fault::CountedTwice,
            ) => true,
            Some(_) => in_turn,
        };
        if strikes && self.strike(simulation) {
            self.struck += 1;
        }
    }

    /// Puts the fault in, if there is what it needs; answers whether there was.
    fn strike(&mut self, simulation: &mut Simulation) -> bool {
        let Some(fault) = self.fault else { return false };
        let now = simulation.shared.now;
        match fault {
            Fault::LostOnWire => {
                let Some(lost) = remove_in_flight(simulation, |_| true) else { return false };
                let port = simulation.shared.sent_by(lost.id);
                if let Some(impaired) = simulation.ports[port].impaired_mut() {
                    impaired.lost += 1;
                }
                simulation.lose_on_wire(port, lost.id);
                true
            }
            Fault::Vanished(role) => {
                let Some(lost) = remove_in_flight(simulation, |one| one == role) else { return false };
                simulation.shared.slab.remove(lost.id);
                true
            }
            Fault::Doubled => {
                let Some(queue) = simulation.in_flight.iter_mut().find(|queue| !queue.behind().is_empty())
                else {
                    return false;
                };
                let last = *queue.iter().next_back().expect("it is not empty");
                let twin = simulation.shared.slab.insert(simulation.shared.slab[last.id]);
                queue.push(InFlight { id: twin, ..last });
                true
            }
            Fault::ReceivedTwice => {
                let propagation = simulation.shared.metrics.flows[0].propagation;
                simulation.shared.metrics.on_delivery(0, propagation + Span::from_millis(1));
                true
            }
            Fault::CountedTwice => {
                simulation.shared.metrics.shares[0].total += COUNTED_TWICE;
                true
            }
            Fault::HeldForgotten => {
                let held = std::mem::take(&mut self.before.receivers);
                receivers(simulation).zip(held).for_each(|(receiver, before)| *receiver = before);
                true
            }
            Fault::WrongFlow => {
                simulation.shared.metrics.losses.exchange(0, 1);
                true
            }
            Fault::RefusalForgotten => {
                let refused = (0..simulation.flows.len())
                    .find(|&flow| simulation.shared.metrics.losses.of_flow(flow).tally.data > 0);
                let Some(flow) = refused else { return false };
                simulation.shared.metrics.losses.forget_one(flow, Cause::Buffer);
                simulation.shared.metrics.flows[flow].lost -= 1;
                true
            }
            Fault::OlderDropCounted => {
                let before = self.before.older;
                let Some((metrics, _)) = simulation.port_metrics(0) else { return false };
                let dropped = metrics.signals.older.dropped.saturating_sub(before);
                for _ in 0..dropped {
                    metrics.signals.older.dropped -= 1;
                    metrics.signals.older.early -= 1;
                    metrics.signals.drop(now, DropReason::Congestion);
                    metrics.flows[0].dropped += 1;
                }
                dropped > 0
            }
            Fault::CeForgotten => {
                let on_wires = simulation.in_flight.iter().flat_map(|queue| queue.iter());
                let slab = &mut simulation.shared.slab;
                let marked: Vec<_> =
                    on_wires.map(|packet| packet.id).filter(|&id| slab[id].ecn == Ecn::Ce).collect();
                marked.iter().for_each(|&id| slab[id].ecn = Ecn::Ect0);
                !marked.is_empty()
            }
            Fault::QueueTooLong => {
                let Some((metrics, mut queued)) = simulation.port_metrics(0) else { return false };
                queued.packets += 1;
                metrics.advance(queued, now);
                true
            }
            Fault::SojournFromSender => {
                let Some((metrics, _)) = simulation.port_metrics(0) else { return false };
                metrics.flows[0].sojourn_sum += Span::from_millis(10);
                true
            }
            Fault::LinkForgotten => {
                let port = simulation.measured[0];
                let Some(device) = simulation.ports[port].device_mut() else { return false };
                let is_idle = !device.busy && now > Time::ZERO;
                device.busy |= is_idle;
                is_idle
            }
            Fault::TimerForgotten => {
                simulation.shared.events.forget_timers();
                true
            }
        }
    }
}

fn receivers(simulation: &mut Simulation) -> impl Iterator<Item = &mut Receiver> {
    simulation.flows.iter_mut().filter_map(|flow| match &mut flow.endpoints {
        Endpoints::Tcp(connection) => Some(&mut connection.receiver),
        Endpoints::Datagrams => None,
    })
}

/// When measuring began.
fn began(simulation: &mut Simulation) -> Time {
    simulation.port_metrics(0).map_or(Time::ZERO, |(metrics, _)| metrics.signals.began())
}

/// Takes the last packet out of flight whose role is wanted.
fn remove_in_flight(simulation: &mut Simulation, wanted: impl Fn(Role) -> bool) -> Option<InFlight> {
    let slab = &simulation.shared.slab;
    let mut queues = simulation.in_flight.iter_mut();
    queues.find_map(|queue| queue.remove_last(|packet| wanted(slab[packet.id].role)))
}
