//! The topologies by name, each declared once: messages, pages and golden runs follow.

use super::generators;
use super::layout::Layout;
use super::wifi;
use crate::flows::whole_within;
use aqm_core::input_error::InputError;
use aqm_core::params::Choice;
use aqm_core::units::parse;

/// The largest value of a key that counts.
pub const LARGEST_COUNT: u64 = 10_000;

/// What a key takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// A whole number from 1 to [`LARGEST_COUNT`]; zero where there is none.
    Count,
    /// A rate, in bit/s; zero where there is none.
    Rate,
    /// One of these words, the first by default; the value is its number.
    Choice(&'static [&'static str]),
}

/// A key of a topology.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// What it takes.
    pub takes: Takes,
    /// Its default; empty for none.
    pub default: &'static str,
    /// What it is.
    pub help: &'static str,
}

impl Key {
    pub(super) const fn count(name: &'static str, default: &'static str, help: &'static str) -> Key {
        Key { name, takes: Takes::Count, default, help }
    }

    /// What is allowed, in words.
    pub fn allowed(&self) -> String {
        match self.takes {
            Takes::Count => format!("a whole number from 1 to {LARGEST_COUNT}"),
            Takes::Rate => "a rate such as 1mbit".to_owned(),
            Takes::Choice(words) => words.join(" or "),
        }
    }

    /// Reads its value.
    ///
    /// # Errors
    /// The key, the value and what is allowed.
    pub fn read(&self, text: &str) -> Result<u64, InputError> {
        match self.takes {
            Takes::Count if text == self.default && text.is_empty() => Ok(0),
            Takes::Count => whole_within(text, 1, LARGEST_COUNT).map_err(|error| error.within(self.name)),
            Takes::Rate if text == self.default => Ok(0),
            Takes::Rate => {
                let rate = parse::rate(text).map_err(|error| InputError::from(error).within(self.name))?;
                match rate.as_bits_per_sec() {
                    0 => Err(InputError::value(text, "is zero").within(self.name)),
                    bits => Ok(bits),
                }
            }
            Takes::Choice(words) => {
                let place = words.iter().position(|word| *word == text);
                let place = place.ok_or_else(|| InputError::unknown(self.name, text, words.iter().copied()));
                place.map(|place| place as u64)
            }
        }
    }
}

/// What adds the links of a topology, for a rate in bit/s, a round-trip time in nanoseconds and the values of its keys.
pub(super) type Build = fn(&mut Layout, u64, u64, &[u64]) -> Result<(), InputError>;

/// A topology by name.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct TopologyKind {
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub help: &'static str,
    /// Its own keys.
    pub keys: &'static [Key],
    /// Whether it takes the keys of switches, too.
    pub has_switches: bool,
    pub(super) build: Build,
}

/// The keys of Wi-Fi: the first is how many stations there are.
const OF_WIFI: &[Key] = &[
    Key::count("stations", "", "stations, the last of them slow; those of the link unless given"),
    Key {
        name: "line",
        takes: Takes::Rate,
        default: "",
        help: "rate of the line to the access point; so fast that nothing waits unless given",
    },
    Key {
        name: "up",
        takes: Takes::Rate,
        default: "",
        help: "rate of the line from the access point, with a queue like that of the other direction; that of the line, without a limit, unless given",
    },
    Key {
        name: "line_queue",
        takes: Takes::Choice(wifi::LineQueue::WORDS),
        default: wifi::LineQueue::Fifo.word(),
        help: "what waits in front of the line: a FIFO, fq_codel, or the AQM too",
    },
    Key::count("buffer", "1000", "packets that a FIFO in front of the line holds"),
    Key::count("up_buffer", "1000", "packets that a FIFO in front of the other direction holds"),
];

/// Every topology by name but the dumbbell.
pub const KINDS: &[TopologyKind] = &[
    TopologyKind {
        name: "parking_lot",
        help: "hops in a row, each with the AQM; cross traffic from cross0.src to cross0.dst and so on",
        keys: &[Key::count("hops", "3", "bottlenecks in a row")],
        has_switches: false,
        build: generators::parking_lot,
    },
    TopologyKind {
        name: "star",
        help: "hosts around a switch, the AQM on its ports; to h0 by default",
        keys: &[Key::count("hosts", "8", "hosts around the switch")],
        has_switches: true,
        build: generators::star,
    },
    TopologyKind {
        name: "many_to_one",
        help: "senders behind a router, one server",
        keys: &[Key::count("senders", "8", "senders")],
        has_switches: true,
        build: generators::many_to_one,
    },
    TopologyKind {
        name: "many_to_many",
        help: "senders, router, switch, servers",
        keys: &[Key::count("senders", "8", "senders"), Key::count("servers", "4", "servers")],
        has_switches: true,
        build: generators::many_to_many,
    },
    TopologyKind {
        name: "campus",
        help: "sites of 16 clients, 4 routers, a switch and 4 servers around a core, the AQM on each router's path to its \
               switch; to the servers of the next site",
        keys: &[Key::count("clients", "16", "clients in all")],
        has_switches: false,
        build: generators::campus,
    },
    TopologyKind {
        name: "leaf_spine",
        help: "leaves and spines with equal routes between them, the AQM on every port of a switch",
        keys: &[
            Key::count("leaves", "2", "leaf switches"),
            Key::count("spines", "2", "spine switches"),
            Key::count("hosts", "4", "hosts of each leaf"),
        ],
        has_switches: true,
        build: generators::leaf_spine,
    },
    TopologyKind {
        name: "shared_medium",
        help: "stations that share the time of one medium with their access point",
        keys: &[Key::count("stations", "4", "stations")],
        has_switches: false,
        build: generators::shared_medium,
    },
    TopologyKind {
        name: wifi::NAME,
        help: "a server, a line, an access point and its stations, which share the air; the AQM at the access point",
        keys: OF_WIFI,
        has_switches: false,
        build: wifi::build,
    },
    TopologyKind {
        name: "bus",
        help: "hosts on one CSMA channel, the AQM in each; a packet takes the channel until it has arrived",
        keys: &[
            Key::count("clients", "8", "clients"),
            Key::count("servers", "2", "servers"),
            Key {
                name: "access",
                takes: Takes::Choice(generators::Access::WORDS),
                default: generators::Access::Turns.word(),
                help: "in turns, or as on Ethernet: who finds it busy looks again after a random time",
            },
        ],
        has_switches: false,
        build: generators::bus,
    },
    TopologyKind {
        name: "asymmetric",
        help: "a downlink and a slower uplink, the AQM on both; both are measured",
        keys: &[Key {
            name: "up",
            takes: Takes::Rate,
            default: "",
            help: "rate of the uplink; by default a tenth of the downlink",
        }],
        has_switches: false,
        build: generators::asymmetric,
    },
];
