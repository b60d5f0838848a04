//! Real transports in virtual time: what a protocol stack is to the simulator, sans I/O.
//!
//! A [`Stack`] is declared as every other kind of flow, and connects two [`Endpoint`]s. They are notified of datagrams
//! and of time, and say which datagrams leave and when they want to be asked again: bytes, not a model of them. None is
//! built in here: [`Inputs::add_stack`](crate::scenario::inputs::Inputs::add_stack) says which there are, so those of
//! other crates, of Python and of the program that holds the simulator come in by the same door.
//!
//! Time and randomness come with the calls; an end that asks anybody else for them makes its runs differ.
//!
//! ```
//! use aqm_core::input_error::InputError;
//! use aqm_core::packet::Ecn;
//! use aqm_core::units::{Span, Time};
//! use aqm_sim::stack::{Ends, Info, Stack, Task, Endpoint, MINIMAL};
//! use aqm_sim::transport::Values;
//!
//! /// Sends a datagram of 1000 bytes each millisecond, and counts those that arrive.
//! struct Ticker { next: Option<Time>, arrived: u64 }
//!
//! impl Endpoint for Ticker {
//!     fn on_datagram(&mut self, datagram: &[u8], _: Ecn, _: Time) {
//!         self.arrived += datagram.len() as u64;
//!     }
//!     fn next_datagram(&mut self, datagram: &mut Vec<u8>, now: Time) -> Option<Ecn> {
//!         let at = self.next.as_mut().filter(|at| **at <= now)?;
//!         *at = now + Span::from_millis(1);
//!         datagram.resize(1000, 0);
//!         Some(Ecn::NotEct)
//!     }
//!     fn deadline(&mut self) -> Option<Time> {
//!         self.next
//!     }
//!     fn on_timer(&mut self, _: Time) {}
//!     fn delivered(&self) -> u64 {
//!         self.arrived
//!     }
//! }
//!
//! struct Ticking;
//!
//! impl Stack for Ticking {
//!     fn info(&self) -> &'static Info {
//!         static INFO: Info = Info { name: "ticking", summary: "a packet each millisecond", ..MINIMAL };
//!         &INFO
//!     }
//!     fn connect(&self, _: &Values, task: Task) -> Result<Ends, InputError> {
//!         let end = |next| Box::new(Ticker { next, arrived: 0 });
//!         Ok(Ends { client: end(Some(task.start)), server: end(None) })
//!     }
//! }
//! ```

mod config;

pub use crate::transport::TransportSpec;
pub(crate) use config::{STACK, StackConfig, check};

use crate::headers::{UDP, UDP_HEADERS};
use crate::transport::{EcnMode, Values};
use aqm_core::input_error::InputError;
use aqm_core::packet::Ecn;
use aqm_core::params::{Kind, ParamSpec, Value};
use aqm_core::random::Random;
use aqm_core::units::{Bytes, Span, Time};

/// The declaration of a stack. Flow specs, help and documentation follow from it.
#[derive(Clone, Copy, Debug)]
pub struct Info {
    /// Name of the kind of flow.
    pub name: &'static str,
    /// What it is, in one line.
    pub summary: &'static str,
    /// Where it comes from.
    pub reference: &'static str,
    /// Its keys. [`ECN`] and [`PACKET`] are among them.
    pub params: &'static [ParamSpec],
    /// Bytes of the headers in front of each datagram: [`UDP_HEADERS`], or none if datagrams are IP packets.
    pub headers: u16,
    /// IP protocol number.
    pub protocol: u8,
    /// Whether its clients take what an application writes over time: [`Endpoint::write`].
    pub writes: bool,
}

/// The key of every stack that says what its packets claim about ECN; a stack may put one with other words in its place.
pub const ECN: ParamSpec =
    ParamSpec::one_of("ecn", &[EcnMode::Off.word()], "the stack sets no ECN field", "the stack");

/// The key of every stack that says how long its packets are; a stack may have another default.
pub const PACKET: ParamSpec = ParamSpec::new(
    "packet",
    Kind::Bytes,
    Value::Bytes(Bytes::new(1500)),
    (576.0, 65_000.0),
    "bytes of the largest IP packet, headers included",
    "Ethernet's payload",
);

/// The base of declarations, with everything optional left out: over UDP, without ECN.
pub const MINIMAL: Info = Info {
    name: "",
    summary: "",
    reference: "the program that holds the simulator",
    params: &[ECN, PACKET],
    headers: UDP_HEADERS,
    protocol: UDP,
    writes: false,
};

/// A transport whose ends are moved by the simulator.
pub trait Stack: Send + Sync {
    /// Its declaration.
    fn info(&self) -> &'static Info;

    /// Both ends of a flow. The client opens it and sends; the first it does is due at the task's start.
    ///
    /// # Errors
    /// Which values the stack cannot work with.
    fn connect(&self, values: &Values, task: Task) -> Result<Ends, InputError>;
}

/// What a flow is to do.
#[derive(Clone, Debug)]
pub struct Task {
    /// Bytes of payload to deliver; none for a flow without end; 0 where the application writes over time, [`Endpoint::write`].
    pub size: Option<u64>,
    /// When the client begins.
    pub start: Time,
    /// What the ends may draw from: of the run's seed and of this flow.
    pub random: Random,
}

/// Both ends of a flow.
pub struct Ends {
    /// The end that opens the connection, and sends.
    pub client: Box<dyn Endpoint>,
    /// The end that answers, and receives.
    pub server: Box<dyn Endpoint>,
}

/// One end of a transport. After each call of [`on_datagram`](Endpoint::on_datagram) and [`on_timer`](Endpoint::on_timer) it is asked for
/// datagrams until it has none, and for its deadline.
pub trait Endpoint: Send {
    /// A datagram has arrived, with this ECN field.
    fn on_datagram(&mut self, datagram: &[u8], ecn: Ecn, now: Time);

    /// Writes the datagram that leaves now into `datagram`, which is empty, and answers with its ECN field; none if nothing
    /// leaves. A datagram has 1 to [`LARGEST_DATAGRAM`] bytes.
    fn next_datagram(&mut self, datagram: &mut Vec<u8>, now: Time) -> Option<Ecn>;

    /// When [`on_timer`](Endpoint::on_timer) has something to do next. What is due is done at once; what is due within a
    /// microsecond after that waits until it is over.
    fn deadline(&mut self) -> Option<Time>;

    /// Time has passed; does what is due by `now`.
    fn on_timer(&mut self, now: Time);

    /// Its application has so many bytes more to send. Called of clients whose stack [writes](Info::writes) and whose task
    /// began with 0 bytes; datagrams are asked for next.
    fn write(&mut self, _bytes: u64, _now: Time) {}

    /// Its application has nothing more to send. Answers whether the end can be observed; of one that cannot, nothing leaves from
    /// then on.
    fn stop(&mut self, _now: Time) -> bool {
        false
    }

    /// Bytes of payload that its application has got so far, each stream's in order.
    fn delivered(&self) -> u64;

    /// The round-trip time as this end sees it; none before it has measured one, or if it does not tell.
    fn rtt(&self) -> Option<Span> {
        None
    }

    /// Its congestion window, bytes, if it reports one.
    fn window(&self) -> Option<u64> {
        None
    }

    /// What it has found lost so far.
    fn losses(&self) -> Lost {
        Lost::default()
    }

    /// Why the connection has ended before its work was done, if it has.
    fn failure(&self) -> Option<String> {
        None
    }
}

/// What a sender has found lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lost {
    /// Packets, whose data it sends again.
    pub packets: u64,
    /// How often it has slowed down for congestion.
    pub events: u64,
    /// How often it has sent because nothing was heard.
    pub timeouts: u64,
}

/// Most bytes of a datagram.
pub const LARGEST_DATAGRAM: usize = 65_507;
