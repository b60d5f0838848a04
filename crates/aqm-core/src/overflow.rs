//! Which packet a discipline drops when it is full (RFC 7567 section 4.1: drop-tail is not the only way).

use crate::link::Link;
use crate::packet::{Ecn, Packet};
use crate::params::ParamError;
use crate::qdisc::Qdisc;
use crate::random::Random;
use crate::signal::{DropPoint, DropReason, Emission, Observer};
use crate::spec::Spec;
use crate::units::{Rate, Time};
use alloc::vec::Vec;

/// Which packet a full queue drops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Victim {
    /// The one that arrives.
    Tail,
    /// The one that has waited longest.
    Head,
    /// One of the flow with the largest backlog.
    LongestFlow,
    /// Varying.
    Mixed,
    /// It was never full.
    Nobody,
}

impl Victim {
    /// The name in listings.
    pub const fn name(self) -> &'static str {
        match self {
            Victim::Tail => "tail",
            Victim::Head => "head",
            Victim::LongestFlow => "longest flow",
            Victim::Mixed => "mixed",
            Victim::Nobody => "nobody",
        }
    }
}

const OFFERED: u64 = 2000;
/// One packet in so many belongs to a light flow.
const LIGHT: u64 = 16;
const LIGHT_FLOWS: u64 = 4;

#[derive(Default)]
struct Victims {
    arriving: u64,
    gone: Vec<u64>,
    victims: Vec<(u64, u64)>,
}

impl Observer for Victims {
    fn on_drop(&mut self, packet: Packet, reason: DropReason, _point: DropPoint) {
        self.gone.push(packet.cookie);
        if reason == DropReason::Overlimit {
            self.victims.push((packet.cookie, self.arriving));
        }
    }

    /// Emissions do not decide who is dropped.
    fn on_emit(&mut self, _emission: Emission) {}
}

/// Overfills `spec` at one instant with a heavy flow and light ones, and says which packets were dropped because it
/// was full.
///
/// # Errors
/// If the parameters do not fit together.
pub fn victim(spec: &Spec) -> Result<Victim, ParamError> {
    let mut seen = Victims::default();
    let mut qdisc = Qdisc::new(spec, Link::new(Rate::from_mbit(10)), Random::seeded(1))?;
    for cookie in 0..OFFERED {
        seen.arriving = cookie;
        let flow = if cookie % LIGHT == LIGHT - 1 { 1 + cookie / LIGHT % LIGHT_FLOWS } else { 0 };
        // A hash of each flow: tables are indexed by its bits.
        let hash = Random::stream(flow, "flow").next_u64();
        let mut packet = Packet::new(cookie, hash, 1000);
        // ECN-capable, so that laws mark rather than drop and the queue fills.
        packet.ecn = Ecn::Ect0;
        qdisc.enqueue(packet, Time::from_nanos(1), &mut seen);
    }
    Ok(classify(&seen))
}

fn classify(seen: &Victims) -> Victim {
    let Victims { victims, gone, .. } = seen;
    let oldest = |&(cookie, arriving): &(u64, u64)| {
        let before =
            gone.iter().take_while(|one| **one != cookie).filter(|one| **one < cookie).count() as u64;
        before == cookie && cookie != arriving
    };
    let heavy = |&(cookie, _): &(u64, u64)| cookie % LIGHT != LIGHT - 1;
    if victims.is_empty() {
        Victim::Nobody
    } else if victims.iter().all(|(cookie, arriving)| cookie == arriving) {
        Victim::Tail
    } else if victims.iter().all(oldest) {
        Victim::Head
    } else if victims.iter().all(heavy) {
        Victim::LongestFlow
    } else {
        Victim::Mixed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_policy_is_recognised() {
        let of = |text: &str| victim(&Spec::parse(text).unwrap()).unwrap();
        assert_eq!(of("fifo limit 20p"), Victim::Tail);
        assert_eq!(of("fifo:head limit 20p"), Victim::Head);
        assert_eq!(of("fifo:random limit 20p"), Victim::Mixed);
        assert_eq!(of("fq_codel limit 500p"), Victim::LongestFlow);
        assert_eq!(of("fifo limit 5000p"), Victim::Nobody);
    }
}
