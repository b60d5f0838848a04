//! Conservation: what a flow has sent was delivered, was lost where a cause is known, or is still on its way; and
//! feedback reports no more than was carried.

use crate::endpoint::flow::{Endpoints, Flow};
use crate::endpoint::stack::StackEnds;
use crate::measure::ledger::Tally;
use crate::measure::losses::Cause;
use crate::measure::port::Passed;
use crate::network::packet::{Packet, Role};
use crate::network::payloads::Payloads;
use crate::network::port::PortId;
use crate::report::RunError;
use crate::simulation::state::{END, Simulation};

impl Simulation {
    /// Every flow: sent = delivered + lost + on its way; what it delivers, the links have carried. Every loss has a cause
    /// that knows of it.
    pub(in crate::simulation) fn check_flows(&self) -> Result<(), RunError> {
        let mut waiting = vec![Tally::default(); self.flows.len()];
        let mut pauses = 0;
        for packet in self.shared.slab.iter() {
            match packet.role {
                Role::Pause => pauses += 1,
                _ => waiting[packet.flow as usize].add(packet),
            }
            if !self.is_on_its_way(packet) {
                return Err(self.failed(&format!("flow {}", packet.flow), "a packet is not on its way"));
            }
        }
        let reorders = self.reorders();
        for (number, waiting) in waiting.into_iter().enumerate() {
            let flow = &self.flows[number];
            let lost = self.shared.metrics.losses.of_flow(number).tally.data;
            if let Endpoints::Tcp(connection) = &flow.endpoints
                && connection.receiver.was_gapped()
                && lost == 0
                && !reorders
            {
                return Err(
                    self.failed(&format!("flow {number}"), "a packet overtook another, and none was lost: a discipline that does so declares reorders_within_flow")
                );
            }
            self.check_flow(number, waiting).map_err(|what| self.failed(&format!("flow {number}"), &what))?;
        }
        self.check_pauses(pauses)?;
        self.check_losses()?;
        self.check_measured_ports()
    }

    fn check_flow(&self, number: usize, waiting: Tally) -> Result<(), String> {
        let flow = &self.flows[number];
        let (metrics, ledger) = (&self.shared.metrics.flows[number], flow.ledger());
        let share = &self.shared.metrics.shares[number];
        let losses = self.shared.metrics.losses.of_flow(number);
        let sent = ledger.sent.plus(losses.doubled);
        if let Some(problem) = Tally::imbalance(sent, ledger.received, losses.tally, waiting) {
            return Err(problem);
        }
        let measured = [
            ("delivered", metrics.delivered, ledger.received.data - ledger.received_before.data),
            ("lost", metrics.lost, losses.tally.data - losses.data_before),
        ];
        for (what, measured, counted) in measured {
            if u64::from(measured) != counted {
                return Err(format!("{measured} packets were measured as {what}, but {counted} were"));
            }
        }
        let (payload, counted) = (share.payload(), share.total - ledger.payload_before - share.early);
        if payload != counted {
            return Err(format!("{payload} bytes were measured as delivered, but {counted} were"));
        }
        if !metrics.adds_up() {
            return Err("its one-way delays do not add up to their sum".to_owned());
        }
        check_goodput(flow, share.total)?;
        let arrived = match &flow.endpoints {
            Endpoints::Tcp(connection) => {
                u64::from(metrics.delivered) * u64::from(connection.sender.parameters().0)
            }
            Endpoints::Datagrams => ledger.received.payload - ledger.received_before.payload,
        };
        if payload > arrived {
            return Err(format!("{payload} bytes were measured as delivered, but {arrived} arrived at most"));
        }
        Ok(())
    }

    /// Whether a packet of a flow has taken a link of its route, and no more than there are.
    fn is_on_its_way(&self, packet: &Packet) -> bool {
        let flow = &self.flows[packet.flow as usize];
        let start = match packet.role {
            Role::Data | Role::Datagram => flow.forward.start(),
            Role::Ack => flow.reverse.start(),
            Role::Feedback | Role::Pause => return true,
        };
        let links = self.shared.routes[start..].iter().take_while(|link| **link != END).count();
        (start + 1..=start + links).contains(&(packet.next as usize))
    }

    /// Whether packets of a flow may overtake each other anywhere.
    fn reorders(&self) -> bool {
        if self.shared.switches.as_ref().is_some_and(|switches| switches.reclassify()) {
            return true;
        }
        let devices = self.channels.iter().filter_map(|channel| channel.device.as_ref());
        if devices.into_iter().any(|device| device.reorders()) {
            return true;
        }
        self.ports.iter().filter_map(|port| port.extras.as_ref()).any(|extras| {
            extras.impaired.as_ref().is_some_and(|impaired| impaired.wire.impairments().is_irregular())
                || extras.device.as_ref().is_some_and(|device| device.qdisc.reorders())
        })
    }

    /// Every payload of a real transport was taken by its receiver, or lost with its packet, or is with a packet under way;
    /// and the flows lost as many packets.
    pub(in crate::simulation) fn check_payloads(&self) -> Result<(), RunError> {
        let payloads = &self.shared.slab.records.payloads;
        let Payloads { sent, taken, dropped, .. } = *payloads;
        let under_way = payloads.alive() as u64;
        if sent != taken + dropped + under_way {
            let what = format!(
                "{sent} payloads were sent, but {taken} taken, {dropped} lost, and {under_way} are on their way"
            );
            return Err(self.failed("all flows", &what));
        }
        let stacks = self.flows.iter().enumerate().filter(|(_, flow)| flow.session.stack.is_some());
        let lost = stacks.map(|(number, _)| self.shared.metrics.losses.of_flow(number).tally);
        let lost: u64 = lost.map(|tally| tally.data + tally.control).sum();
        if lost != dropped {
            let what = format!("their flows lost {lost} packets, but {dropped} payloads are gone");
            return Err(self.failed("all flows", &what));
        }
        Ok(())
    }

    fn check_pauses(&self, waiting: u64) -> Result<(), RunError> {
        let Some(switches) = &self.shared.switches else { return Ok(()) };
        let (count, lost) = (switches.pauses, self.shared.metrics.losses.pauses);
        if count.sent + self.shared.metrics.losses.doubled_pauses == count.received + lost + waiting {
            return Ok(());
        }
        let what = format!(
            "{} were sent, but {} received, {lost} lost, and {waiting} are on their way",
            count.sent, count.received
        );
        Err(self.failed("PAUSE frames", &what))
    }

    /// The causes of loss count for themselves; what an impairment may lose, its random numbers say.
    fn check_losses(&self) -> Result<(), RunError> {
        let mut there = [0; Cause::ALL.len()];
        for (number, port) in self.ports.iter().enumerate() {
            if let Some(switches) = &self.shared.switches {
                there[Cause::Buffer as usize] += switches.refused(number).packets;
                there[Cause::Program as usize] += switches.filtered(number).packets;
            }
            let Some(extras) = &port.extras else { continue };
            if let Some(device) = &extras.device {
                there[Cause::Discipline as usize] += device.qdisc.counters().dropped_total();
            }
            if let Some(impaired) = &extras.impaired {
                let (lost, doubled) = impaired.drawn();
                for (what, counted, drawn) in
                    [("lost", impaired.lost, lost), ("doubled", impaired.doubled, doubled)]
                {
                    if counted != drawn {
                        let what = format!("it {what} {counted} packets, but {drawn} were to be by chance");
                        return Err(self.failed(&self.network.link_name(number), &what));
                    }
                }
                there[Cause::Impairment as usize] += lost;
            }
        }
        there[Cause::Impairment as usize] += self.lost_by_channels();
        for cause in Cause::ALL {
            let (lost, there) = (self.shared.metrics.losses.by(cause), there[cause as usize]);
            if lost != there {
                let what = format!("flows lost {lost} packets by {cause:?}, which counts {there}");
                return Err(self.failed("all ports", &what));
            }
        }
        Ok(())
    }

    /// What is measured at a port is what its discipline and its switch have counted, and no flow through it delivers more
    /// than it carried.
    fn check_measured_ports(&self) -> Result<(), RunError> {
        for &port in &self.measured {
            let Some(metrics) =
                self.ports[port].device().and_then(|device| device.observed.metrics.as_deref())
            else {
                continue;
            };
            let place = self.network.link_name(port);
            let passed = self.passed(port);
            if let Some(counted) = metrics.miscounted(passed) {
                let what = format!("{passed:?} by its own counters, but {counted:?} by those of its flows");
                return Err(self.failed(&place, &what));
            }
            if !metrics.adds_up() {
                return Err(
                    self.failed(&place, "what is measured of its flows is not what is measured of all")
                );
            }
            let (mut delivered, mut carried) = (0, 0);
            for number in (0..self.flows.len()).filter(|number| self.goes_through(*number, port)) {
                // What was doubled behind a port arrives without having been carried.
                let doubled = self.shared.metrics.losses.of_flow(number).doubled.payload;
                let flow = (self.shared.metrics.shares[number].total, metrics.carried(number) + doubled);
                if flow.0 > flow.1 {
                    let what =
                        format!("flow {number} delivered {} bytes, but it carried {} of it", flow.0, flow.1);
                    return Err(self.failed(&place, &what));
                }
                delivered += flow.0;
                carried += flow.1;
            }
            if delivered > carried {
                let what = format!("its flows delivered {delivered} bytes, but it carried {carried}");
                return Err(self.failed(&place, &what));
            }
        }
        Ok(())
    }

    /// Packets at a port with a discipline since the start of the run. What the switch refused came to the port, but not to
    /// the discipline.
    pub(in crate::simulation) fn passed(&self, port: PortId) -> Passed {
        let mut passed = Passed::default();
        if let Some(device) = self.ports[port].device() {
            let counters = device.qdisc.counters();
            passed = Passed {
                arrived: counters.arrived,
                dropped: counters.lost(),
                early: counters.dropped_early(),
                filtered: counters.filtered(),
                marked: counters.marked,
                departed: counters.departed,
                bytes: counters.departed_bytes + device.observed.grown,
                sojourn: counters.sojourn_sum,
            };
        }
        if let Some(switches) = &self.shared.switches {
            let (refused, filtered) = (switches.refused(port).packets, switches.filtered(port).packets);
            passed.arrived += refused + filtered;
            passed.dropped += refused + filtered;
            passed.early += filtered;
            passed.marked += switches.marked(port);
        }
        passed
    }

    /// Whether the data of a flow go through `port`.
    fn goes_through(&self, flow: usize, port: PortId) -> bool {
        let route = &self.shared.routes[self.flows[flow].forward.start()..];
        route.iter().take_while(|&&link| link != END).any(|&link| link as PortId == port)
    }
}

/// A flow has delivered what its receiver has, which has nothing that was not sent.
fn check_goodput(flow: &Flow, delivered: u64) -> Result<(), String> {
    if let Some(ends) = &flow.session.stack {
        return check_stack(flow, ends, delivered);
    }
    let Endpoints::Tcp(connection) = &flow.endpoints else {
        let received = flow.session.ledger.received.payload;
        // With go-back-N, what comes out of order or twice is received, but not delivered.
        let recovers = flow.session.rate_endpoints.as_ref().is_some_and(|ends| ends.recovers());
        return if delivered == received || (recovers && delivered < received) {
            Ok(())
        } else {
            Err(format!("{delivered} bytes were delivered, but {received} received"))
        };
    };
    let (in_order, beyond) = (connection.receiver.delivered(), connection.receiver.beyond());
    let ((acknowledged, sent), sacked) = (connection.sender.extent(), connection.sender.sacked());
    if delivered != in_order {
        return Err(format!("{delivered} bytes were delivered, but {in_order} received in order"));
    }
    if acknowledged > in_order || acknowledged + sacked > in_order + beyond || in_order + beyond > sent {
        return Err(format!(
            "{in_order} bytes were received in order and {beyond} beyond gaps, but {sent} sent, {acknowledged} acknowledged and {sacked} reported beyond"
        ));
    }
    Ok(())
}

/// A stack hands over no more than its datagrams carried.
fn check_stack(flow: &Flow, ends: &StackEnds, delivered: u64) -> Result<(), String> {
    let (accepted, received) = (ends.delivered(), flow.session.ledger.received.payload);
    if delivered != accepted {
        return Err(format!("{delivered} bytes were measured as delivered, but its receiver has {accepted}"));
    }
    if delivered > received {
        return Err(format!("its receiver has {delivered} bytes, but {received} came in datagrams"));
    }
    Ok(())
}
