//! One end: an interface of the crate with the one socket that it has.

use crate::choices::Control;
use crate::device::Device;
use aqm_core::input_error::InputError;
use aqm_core::packet::Ecn;
use aqm_core::units::Time;
use aqm_sim::stack::{Endpoint, PACKET};
use aqm_sim::transport::Values;
use smoltcp::iface::{Config, Interface, SocketHandle, SocketSet};
use smoltcp::socket::tcp::{CongestionControl, Socket, SocketBuffer};
use smoltcp::time::Instant;
use smoltcp::wire::{HardwareAddress, IpAddress, IpCidr};

const SERVER: (IpAddress, u16) = (IpAddress::v4(192, 0, 2, 2), 443);
const CLIENT: (IpAddress, u16) = (IpAddress::v4(192, 0, 2, 1), 49_152);

/// What the application of an end does.
enum Work {
    /// It writes so many bytes more, none for no end, and closes then unless it may be given more.
    Write { left: Option<u64>, goes_on: bool },
    /// It reads; so many bytes so far.
    Read(u64),
}

/// An end and its application.
pub(crate) struct SmolEnd {
    interface: Interface,
    device: Device,
    sockets: SocketSet<'static>,
    socket: SocketHandle,
    work: Work,
    /// Whether something has happened since the interface was last asked.
    is_stale: bool,
}

/// The crate counts microseconds.
fn instant(now: Time) -> Instant {
    Instant::from_micros((now.as_nanos() / 1000) as i64)
}

impl SmolEnd {
    /// An end whose socket is closed.
    pub(crate) fn new(values: &Values, seed: u64, start: Time) -> SmolEnd {
        let bytes = |name| values.bytes(name).map_or(0, |bytes| bytes.as_u64() as usize);
        let mut device = Device::new(bytes(PACKET.name));
        let mut config = Config::new(HardwareAddress::Ip);
        config.random_seed = seed;
        let interface = Interface::new(config, &mut device, instant(start));
        let buffer = || SocketBuffer::new(vec![0; bytes("buffer")]);
        let mut socket = Socket::new(buffer(), buffer());
        socket.set_congestion_control(match values.choice("cc") {
            Control::Reno => CongestionControl::Reno,
            Control::None => CongestionControl::None,
            Control::Cubic => CongestionControl::Cubic,
        });
        let mut sockets = SocketSet::new(Vec::new());
        let socket = sockets.add(socket);
        SmolEnd { interface, device, sockets, socket, work: Work::Read(0), is_stale: true }
    }

    /// The end that opens the connection and sends `size` bytes.
    pub(crate) fn connecting(mut self, size: Option<u64>) -> Result<SmolEnd, InputError> {
        self.set_address(CLIENT.0)?;
        let socket = self.sockets.get_mut::<Socket<'_>>(self.socket);
        socket
            .connect(self.interface.context(), SERVER, CLIENT.1)
            .map_err(|error| InputError::new(error.to_string()))?;
        self.work = Work::Write { left: size, goes_on: size == Some(0) };
        Ok(self)
    }

    /// The end that waits for it.
    pub(crate) fn listening(mut self) -> Result<SmolEnd, InputError> {
        self.set_address(SERVER.0)?;
        let socket = self.sockets.get_mut::<Socket<'_>>(self.socket);
        socket.listen(SERVER.1).map_err(|error| InputError::new(error.to_string()))?;
        Ok(self)
    }

    fn set_address(&mut self, address: IpAddress) -> Result<(), InputError> {
        let mut done = Ok(());
        self.interface.update_ip_addrs(|addresses| {
            done = addresses
                .push(IpCidr::new(address, 24))
                .map_err(|_| InputError::new("no room for an address"));
        });
        done
    }

    /// Lets the application write or read, and the interface send.
    fn settle(&mut self, now: Time) {
        self.interface.poll(instant(now), &mut self.device, &mut self.sockets);
        let socket = self.sockets.get_mut::<Socket<'_>>(self.socket);
        let has_worked = match &mut self.work {
            Work::Write { left, goes_on } => write(socket, left, *goes_on),
            Work::Read(read) => take(socket, read),
        };
        if has_worked {
            self.interface.poll(instant(now), &mut self.device, &mut self.sockets);
        }
        self.is_stale = false;
    }
}

/// Writes what the socket has room for, and closes it after the last byte unless it `goes_on`; answers whether it did
/// anything.
fn write(socket: &mut Socket<'_>, left: &mut Option<u64>, goes_on: bool) -> bool {
    let mut written = 0;
    while socket.can_send() && *left != Some(0) {
        let some = socket.send(|room| {
            let some = left.map_or(room.len(), |left| room.len().min(left as usize));
            (some, some)
        });
        let some = some.unwrap_or(0) as u64;
        *left = left.map(|left| left - some);
        written += some;
    }
    if *left == Some(0) && !goes_on && socket.may_send() {
        socket.close();
        return true;
    }
    written > 0
}

/// Reads all that there is; answers whether there was anything.
fn take(socket: &mut Socket<'_>, read: &mut u64) -> bool {
    let before = *read;
    while socket.can_recv() {
        *read += socket.recv(|bytes| (bytes.len(), bytes.len())).unwrap_or(0) as u64;
    }
    let is_over = !socket.may_recv() && socket.may_send() && *read > 0;
    if is_over {
        socket.close();
    }
    *read > before || is_over
}

impl Endpoint for SmolEnd {
    fn on_datagram(&mut self, datagram: &[u8], _: Ecn, now: Time) {
        self.device.arrived.push_back(datagram.to_vec());
        self.settle(now);
    }

    fn next_datagram(&mut self, datagram: &mut Vec<u8>, now: Time) -> Option<Ecn> {
        if self.is_stale {
            self.settle(now);
        }
        datagram.extend(self.device.leaving.pop_front()?);
        Some(Ecn::NotEct)
    }

    fn deadline(&mut self) -> Option<Time> {
        if self.is_stale {
            return None;
        }
        let at = self.interface.poll_at(Instant::ZERO, &self.sockets)?;
        Some(Time::from_nanos(u64::try_from(at.total_micros()).unwrap_or(0).saturating_mul(1000)))
    }

    fn on_timer(&mut self, now: Time) {
        self.settle(now);
    }

    fn write(&mut self, bytes: u64, now: Time) {
        if let Work::Write { left: Some(left), .. } = &mut self.work {
            *left += bytes;
        }
        self.settle(now);
    }

    /// It writes no more: what the socket holds is still sent.
    fn stop(&mut self, now: Time) -> bool {
        self.work = Work::Write { left: Some(0), goes_on: false };
        self.settle(now);
        true
    }

    fn delivered(&self) -> u64 {
        match self.work {
            Work::Read(read) => read,
            Work::Write { .. } => 0,
        }
    }
}
