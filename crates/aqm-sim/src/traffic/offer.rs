//! How much a source would send if nothing held it up: what estimates of a run begin with.

use super::application::Application;
use super::arrivals::Arrivals;
use super::client::Client;
use super::conversations::Conversation;
use super::dialogue::Dialogue;
use super::player::Player;
use super::source::Source;
use aqm_core::random::Random;
use aqm_core::units::{Rate, Span, Time};

/// How often a client that draws is tried.
const REHEARSALS: u64 = 16;

/// What goes in one direction: messages, or without any an endless stream, and their payload.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Load {
    pub(crate) messages: f64,
    pub(crate) bytes: f64,
}

impl Load {
    /// In packets of at most `payload` bytes.
    pub(crate) fn packets(self, payload: f64) -> f64 {
        if self.messages == 0.0 {
            return self.bytes / payload;
        }
        // The quotient of whole messages may exceed theirs by a rounding.
        self.messages * (self.bytes / self.messages / payload - 1e-9).ceil().max(1.0)
    }
}

/// What a member of a group offers on average.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Offer {
    /// Flows, in both directions.
    pub(crate) flows: f64,
    /// The direction of the data, and against it.
    pub(crate) directions: [Load; 2],
}

impl Offer {
    fn add(&mut self, loads: [Load; 2], weight: f64) {
        for (sum, load) in self.directions.iter_mut().zip(loads) {
            sum.messages += weight * load.messages;
            sum.bytes += weight * load.bytes;
        }
    }
}

/// What an offer depends on beside the source.
pub(crate) struct Terms<'a> {
    /// How long the source is there.
    pub(crate) within: Span,
    /// Bytes that are handed over at a time, and the payload among them.
    pub(crate) piece: u32,
    pub(crate) payload: f64,
    /// Longest message.
    pub(crate) largest: f64,
    /// The mean rate of the bottleneck, and that of the slowest link on the path.
    pub(crate) capacity: Rate,
    pub(crate) line: Rate,
    pub(crate) rtt: Span,
    /// Members of the group.
    pub(crate) members: u32,
    /// Those of the capture that it replays.
    pub(crate) conversations: &'a [Conversation],
}

impl Source {
    /// What a member with this source offers.
    pub(crate) fn offer(&self, terms: &Terms<'_>) -> Offer {
        let one_way = |load| Offer { flows: 1.0, directions: [load, Load::default()] };
        let endless = Load { messages: 0.0, bytes: f64::INFINITY };
        match self {
            Source::Bulk { size_bytes, .. } => {
                one_way(size_bytes.map_or(endless, |size| Load { messages: 1.0, bytes: size as f64 }))
            }
            Source::Cbr { .. } | Source::OnOff { .. } | Source::Poisson { .. } | Source::Steps { .. } => {
                one_way(self.arriving(terms))
            }
            Source::Arrivals { both_ways: false, .. } => one_way(self.arriving(terms)),
            Source::Arrivals { both_ways: true, .. } | Source::Voip => {
                Offer { flows: 2.0, directions: [self.arriving(terms); 2] }
            }
            Source::Rounds(round) => {
                let connections = round.connections as usize;
                let both = 1 + usize::from(round.request.is_some());
                let mut offer = Offer { flows: (connections * both) as f64, ..Offer::default() };
                for seed in 0..REHEARSALS {
                    let client = Application::Client(Box::new(Client::new(round, Random::seeded(seed))));
                    let loads = client.rehearse(connections, Time::ZERO, terms);
                    offer.add(loads, 1.0 / REHEARSALS as f64);
                }
                offer
            }
            Source::Video(video) => {
                let player = Application::Player(Box::new(Player::new(video)));
                Offer { flows: 2.0, directions: player.rehearse(1, Time::ZERO, terms) }
            }
            Source::Replay { .. } => {
                let mut offer = Offer { flows: 2.0 * terms.conversations.len() as f64, ..Offer::default() };
                for conversation in terms.conversations {
                    let Some(first) = conversation.turns.first() else { continue };
                    let dialogue = Application::Dialogue(Box::new(Dialogue::new(conversation.turns.clone())));
                    let loads = dialogue.rehearse(1, Time::ZERO + conversation.start + first.wait, terms);
                    offer.add(loads, 1.0);
                }
                offer
            }
            Source::Workload { size, load } => {
                let bytes = load * terms.capacity.as_bytes_per_sec_f64() * terms.within.as_secs_f64();
                let (bytes, mean) = (bytes / f64::from(terms.members), size.mean().max(1.0));
                let flows = bytes / mean;
                Offer { flows, directions: [Load { messages: flows, bytes }, Load::default()] }
            }
        }
    }

    /// What an arrival process sends in one direction.
    fn arriving(&self, terms: &Terms<'_>) -> Load {
        let process = Arrivals::new(self, terms.piece, Random::seeded(0)).expect("it is an arrival process");
        let (messages, size) = process.expected(terms.within, terms.largest);
        Load { messages, bytes: messages * size.unwrap_or(terms.payload) }
    }
}
