//! A switch's program outside a network: one call per packet that comes in, leaves or is dropped.

use crate::describe::program_spec;
use crate::error::input;
use aqm_core::packet::{Ecn, Packet};
use aqm_core::random::Random;
use aqm_core::units::{Rate, Span, Time};
use aqm_sim::switch::control_plane::Program;
use aqm_sim::switch::declaration::Site;
use aqm_sim::switch::pipeline::{PacketView, QueueView};
use pyo3::prelude::*;
use std::sync::{Mutex, MutexGuard};

/// Whether it is marked; the three values of a message to its source; packets of the queue and two values of its hop.
type Left = (bool, Option<[u64; 3]>, Option<(u32, [u32; 2])>);

/// A program as a scenario names it, on a switch with ports of these rates (bit/s).
#[pyclass(frozen, module = "aqmlab._native")]
pub(crate) struct DataPlane {
    program: Mutex<Program>,
    ports: usize,
}

#[pymethods]
impl DataPlane {
    #[new]
    fn new(program: &str, rates: Vec<u64>, seed: u64) -> PyResult<DataPlane> {
        if !(1..=MOST_PORTS).contains(&rates.len()) {
            return Err(input(format!("rates: {} (allowed: 1 to {MOST_PORTS})", rates.len())));
        }
        if let Some(rate) = rates.iter().find(|rate| **rate > MOST_RATE) {
            return Err(input(format!("rates: {rate} (allowed: 0 to {MOST_RATE} bit/s)")));
        }
        let ports = rates.len();
        let site = Site {
            rates: rates.into_iter().map(Rate::from_bits_per_sec).collect(),
            random: Random::stream(seed, "switch"),
        };
        let program = program_spec(program).and_then(|spec| spec.build(site)).map_err(input)?;
        Ok(DataPlane { program: Mutex::new(program), ports })
    }

    /// A packet has come in; answers the class that it is queued in, if the program chooses one.
    fn arrive(&self, port: usize, dscp: u8, ecn: u8) -> PyResult<Option<u16>> {
        let packet = packet(dscp, ecn, 0)?;
        let port = self.port(port)?;
        Ok(self.program()?.on_ingress(&view(&packet, port)).class)
    }

    /// A packet of class `band` leaves its queue, `packets` behind it, after `sojourn_ns`.
    fn leave(
        &self,
        port: usize,
        dscp: u8,
        ecn: u8,
        band: u16,
        packets: u64,
        sojourn_ns: u64,
    ) -> PyResult<Left> {
        let packet = packet(dscp, ecn, band)?;
        let port = self.port(port)?;
        let queue = QueueView { packets, bytes: 0, sojourn: Span::from_nanos(sojourn_ns) };
        let egress = self.program()?.on_egress(&view(&packet, port), &queue);
        let hop = egress.telemetry.map(|hop| (hop.queue_packets, hop.values));
        Ok((egress.mark, egress.emit.map(|message| message.values), hop))
    }

    /// A packet of class `band` that has come in finds no room.
    fn drop(&self, port: usize, dscp: u8, ecn: u8, band: u16) -> PyResult<()> {
        let packet = packet(dscp, ecn, band)?;
        let port = self.port(port)?;
        self.program()?.on_drop(&view(&packet, port));
        Ok(())
    }

    /// The control plane does what is due by then.
    fn advance(&self, now_ns: u64) -> PyResult<()> {
        self.program()?.advance(Time::from_nanos(now_ns));
        Ok(())
    }

    /// All arrays of registers, in the order in which the program adds them.
    fn registers(&self) -> PyResult<Vec<Vec<u64>>> {
        Ok(self.program()?.state().arrays().map(<[u64]>::to_vec).collect())
    }
}

const MOST_PORTS: usize = 4096;
/// A petabit per second: its packets are counted without loss.
const MOST_RATE: u64 = 1_000_000_000_000_000;

impl DataPlane {
    fn program(&self) -> PyResult<MutexGuard<'_, Program>> {
        self.program
            .try_lock()
            .map_err(|_| input("data plane: another thread is in a call of it, or one has failed"))
    }

    fn port(&self, port: usize) -> PyResult<usize> {
        let known = port < self.ports;
        if known { Ok(port) } else { Err(input(format!("port: {port} (allowed: 0 to {})", self.ports - 1))) }
    }
}

fn packet(dscp: u8, ecn: u8, band: u16) -> PyResult<Packet> {
    if dscp > 63 {
        return Err(input(format!("dscp: {dscp} (allowed: 0 to 63)")));
    }
    let ecn = match ecn {
        0 => Ecn::NotEct,
        1 => Ecn::Ect1,
        2 => Ecn::Ect0,
        3 => Ecn::Ce,
        _ => return Err(input(format!("ecn: {ecn} (allowed: 0 to 3)"))),
    };
    let mut packet = Packet::new(0, 0, 0);
    (packet.dscp, packet.ecn, packet.class) = (dscp, ecn, band);
    Ok(packet)
}

fn view(packet: &Packet, egress: usize) -> PacketView<'_> {
    PacketView { packet, ingress: None, egress, now: Time::ZERO }
}
