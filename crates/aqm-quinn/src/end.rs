//! One end: an endpoint of the crate with the one connection that it has.

use crate::clock::{instant, span, time};
use crate::config::{self, Seeds};
use crate::work::{Reader, Work, Writer};
use aqm_core::input_error::InputError;
use aqm_core::packet::Ecn;
use aqm_core::units::{Span, Time};
use aqm_sim::stack::{self, Lost};
use aqm_sim::transport::Values;
use bytes::{Bytes, BytesMut};
use quinn_proto::{
    Connection, ConnectionHandle, DatagramEvent, EcnCodepoint, Endpoint, Event, TransportConfig, VarInt,
};
use std::collections::VecDeque;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Instant;

/// An end and its application.
pub(crate) struct QuinnEnd {
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
    is_connected: bool,
    peer: SocketAddr,
    /// Whether its host sets the ECN field.
    marks: bool,
    /// What the endpoint itself has to say, to packets of no connection.
    responses: VecDeque<Vec<u8>>,
    work: Box<dyn Work>,
    /// Whether the connection is to be closed as soon as nothing is left that would hold CONNECTION_CLOSE back.
    is_stopping: bool,
    /// Its congestion window as last seen, and how often that had fallen.
    window: u64,
    reductions: u64,
    failure: Option<String>,
}

/// The addresses of the ends; nobody routes by them.
fn address(last: u8) -> SocketAddr {
    (Ipv4Addr::new(192, 0, 2, last), 443).into()
}

impl QuinnEnd {
    /// The end that opens the connection at `start`.
    pub(crate) fn client(
        transport: &Arc<TransportConfig>,
        values: &Values,
        seeds: &Seeds,
        start: Time,
        marks: bool,
        writer: Writer,
    ) -> Result<QuinnEnd, InputError> {
        let endpoint = Endpoint::new(config::endpoint(values, seeds), None, true, None);
        let mut end = QuinnEnd::new(endpoint, address(2), marks, Box::new(writer));
        let config = config::client(transport, seeds);
        let connection = end.endpoint.connect(instant(start), config, end.peer, "receiver");
        end.connection = Some(connection.map_err(|error| InputError::new(error.to_string()))?);
        Ok(end)
    }

    /// The end that waits for it.
    pub(crate) fn server(
        transport: &Arc<TransportConfig>,
        values: &Values,
        seeds: &Seeds,
        marks: bool,
        reader: Reader,
    ) -> QuinnEnd {
        let config = config::server(transport);
        let endpoint = Endpoint::new(config::endpoint(values, seeds), Some(config), true, None);
        QuinnEnd::new(endpoint, address(1), marks, Box::new(reader))
    }

    fn new(endpoint: Endpoint, peer: SocketAddr, marks: bool, work: Box<dyn Work>) -> QuinnEnd {
        QuinnEnd {
            endpoint,
            connection: None,
            is_connected: false,
            peer,
            marks,
            responses: VecDeque::new(),
            work,
            is_stopping: false,
            window: 0,
            reductions: 0,
            failure: None,
        }
    }

    /// Connection and endpoint tell each other what they have to, and the application what has happened.
    fn settle(&mut self, now: Instant) {
        let Some((handle, connection)) = &mut self.connection else { return };
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(answer) = self.endpoint.handle_event(*handle, event) {
                connection.handle_event(answer);
            }
        }
        while let Some(event) = connection.poll() {
            match event {
                Event::Connected => {
                    self.is_connected = true;
                    self.work.on_connected(connection);
                }
                Event::Stream(event) => self.work.on_stream(event, connection, now),
                Event::ConnectionLost { reason } if !self.work.is_done() => {
                    self.failure = Some(reason.to_string());
                }
                Event::ConnectionLost { .. }
                | Event::HandshakeDataReady
                | Event::DatagramReceived
                | Event::DatagramsUnblocked => {}
            }
        }
        if self.is_stopping && connection.streams().send_streams() == 0 {
            self.is_stopping = false;
            connection.close(now, VarInt::from_u32(0), Bytes::new());
        }
        // The crate counts every report to its congestion control, also where it changes nothing.
        let window = connection.congestion_state().window();
        self.reductions += u64::from(window < self.window);
        self.window = window;
    }

    fn established(&self) -> Option<&Connection> {
        self.connection.as_ref().filter(|_| self.is_connected).map(|(_, connection)| connection)
    }
}

impl stack::Endpoint for QuinnEnd {
    fn on_datagram(&mut self, datagram: &[u8], ecn: Ecn, now: Time) {
        let now = instant(now);
        let ecn = match ecn {
            Ecn::NotEct => None,
            Ecn::Ect0 => Some(EcnCodepoint::Ect0),
            Ecn::Ect1 => Some(EcnCodepoint::Ect1),
            Ecn::Ce => Some(EcnCodepoint::Ce),
        };
        let mut response = Vec::new();
        match self.endpoint.handle(now, self.peer, None, ecn, BytesMut::from(datagram), &mut response) {
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                if let Some((_, connection)) = &mut self.connection {
                    connection.handle_event(event);
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) => {
                if self.connection.is_some() {
                    self.endpoint.ignore(incoming);
                } else {
                    match self.endpoint.accept(incoming, now, &mut response, None) {
                        Ok(connection) => self.connection = Some(connection),
                        Err(refused) => self.failure = Some(refused.cause.to_string()),
                    }
                }
            }
            Some(DatagramEvent::Response(_)) | None => {}
        }
        if !response.is_empty() {
            self.responses.push_back(response);
        }
        self.settle(now);
    }

    fn next_datagram(&mut self, datagram: &mut Vec<u8>, now: Time) -> Option<Ecn> {
        if let Some(response) = self.responses.pop_front() {
            datagram.extend(response);
            return Some(Ecn::NotEct);
        }
        let now = instant(now);
        let (_, connection) = self.connection.as_mut()?;
        let sent = connection.poll_transmit(now, 1, datagram);
        self.settle(now);
        Some(match sent?.ecn.filter(|_| self.marks) {
            None => Ecn::NotEct,
            Some(EcnCodepoint::Ect0) => Ecn::Ect0,
            Some(EcnCodepoint::Ect1) => Ecn::Ect1,
            Some(EcnCodepoint::Ce) => Ecn::Ce,
        })
    }

    fn deadline(&mut self) -> Option<Time> {
        self.connection.as_mut()?.1.poll_timeout().map(time)
    }

    fn on_timer(&mut self, now: Time) {
        let now = instant(now);
        if let Some((_, connection)) = &mut self.connection {
            connection.handle_timeout(now);
        }
        self.settle(now);
    }

    fn write(&mut self, bytes: u64, now: Time) {
        if let Some((_, connection)) = &mut self.connection {
            self.work.write(bytes, connection);
        }
        self.settle(instant(now));
    }

    /// It resets its streams, so that what is not acknowledged by then is not sent again, and closes the connection when that
    /// is acknowledged: the crate holds CONNECTION_CLOSE back where congestion control has data wait, and hears no
    /// acknowledgments after a close (quinn-proto, `Connection::poll_transmit`).
    fn stop(&mut self, now: Time) -> bool {
        if let Some((_, connection)) = &mut self.connection {
            self.work.stop(connection);
            self.is_stopping = true;
        }
        self.settle(instant(now));
        true
    }

    fn delivered(&self) -> u64 {
        self.work.delivered()
    }

    fn rtt(&self) -> Option<Span> {
        self.established().map(|connection| span(connection.rtt()))
    }

    fn window(&self) -> Option<u64> {
        self.established().map(|connection| connection.congestion_state().window())
    }

    fn losses(&self) -> Lost {
        let path =
            self.connection.as_ref().map(|(_, connection)| connection.stats().path).unwrap_or_default();
        Lost { packets: path.lost_packets, events: self.reductions, timeouts: 0 }
    }

    fn failure(&self) -> Option<String> {
        self.failure.clone()
    }
}
