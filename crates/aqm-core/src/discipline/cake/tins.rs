//! Tins: classes of traffic by DiffServ code point, each with a threshold as a share of the bandwidth.

use crate::choices;
use crate::packet::Packet;
use crate::units::Rate;
use alloc::vec::Vec;

choices! {
    /// tc-cake(8)'s keywords for tins.
    pub(super) enum Keyword {
        Diffserv3 = "diffserv3",
        BestEffort = "besteffort",
        Precedence = "precedence",
        Diffserv4 = "diffserv4",
        Diffserv8 = "diffserv8",
    }
}

/// No threshold is below 64 bytes per second, so that a packet is sent in reasonable time.
const LEAST_RATE: u64 = 512;

// Code points (RFC 2474, 2597, 3246, 5865, 8622), and "minimise delay" and "maximise throughput" of RFC 1349.
const LE: &[u8] = &[1];
const TOS_THROUGHPUT: &[u8] = &[2];
const TOS_DELAY: &[u8] = &[4];
const CS1: &[u8] = &[8];
const AF1X: &[u8] = &[10, 12, 14];
const CS2: &[u8] = &[16];
const AF2X: &[u8] = &[18, 20, 22];
const CS3: &[u8] = &[24];
const AF3X: &[u8] = &[26, 28, 30];
const CS4: &[u8] = &[32];
const AF4X: &[u8] = &[34, 36, 38];
const CS5: &[u8] = &[40];
const VOICE_ADMIT: &[u8] = &[44];
const EF: &[u8] = &[46];
const CS6: &[u8] = &[48];
const CS7: &[u8] = &[56];

static BEST_EFFORT: [u8; 64] = [0; 64];

static PRECEDENCE: [u8; 64] = {
    let mut tins = [0; 64];
    let mut code_point = 0;
    while code_point < 64 {
        tins[code_point] = (code_point / 8) as u8;
        code_point += 1;
    }
    tins
};

/// Bulk is 1, voice 2.
static DIFFSERV3: [u8; 64] = table(0, &[(1, &[LE, CS1]), (2, &[TOS_DELAY, VOICE_ADMIT, EF, CS6, CS7])]);

/// Bulk is 1, video 2, voice 3.
static DIFFSERV4: [u8; 64] = table(
    0,
    &[
        (1, &[LE, CS1]),
        (2, &[TOS_DELAY, CS2, AF2X, CS3, AF3X, AF4X]),
        (3, &[CS4, CS5, VOICE_ADMIT, EF, CS6, CS7]),
    ],
);

/// Background, high throughput, standard, video, low latency, shell, minimum latency, network control.
static DIFFSERV8: [u8; 64] = table(
    2,
    &[
        (0, &[LE]),
        (1, &[TOS_THROUGHPUT, CS1, AF1X]),
        (3, &[CS3, AF3X, AF4X]),
        (4, &[TOS_DELAY, AF2X]),
        (5, &[CS2]),
        (6, &[CS4, CS5, VOICE_ADMIT, EF]),
        (7, &[CS6, CS7]),
    ],
);

/// All code points in tin `rest`, except those listed.
const fn table(rest: u8, named: &[(u8, &[&[u8]])]) -> [u8; 64] {
    let mut tins = [rest; 64];
    let mut tin = 0;
    while tin < named.len() {
        let (number, groups) = named[tin];
        let mut group = 0;
        while group < groups.len() {
            let mut member = 0;
            while member < groups[group].len() {
                tins[groups[group][member] as usize] = number;
                member += 1;
            }
            group += 1;
        }
        tin += 1;
    }
    tins
}

/// The rank of a tin, relative to the one of unmarked traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rank {
    Background = 0,
    BestEffort = 1,
    Priority = 2,
}

/// The tins of one keyword.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    /// The tin of each code point.
    pub(super) tin_of: &'static [u8; 64],
    /// The share of each tin.
    pub(super) shares: Vec<Share>,
}

/// The share of one tin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Share {
    /// Rate up to which it goes before tins of lower number; `None` without a bandwidth.
    pub(super) threshold: Option<Rate>,
    /// Bytes per round of the tins, without a bandwidth.
    pub(super) weight: u32,
    /// Its rank.
    pub(super) rank: Rank,
}

impl Plan {
    /// The tins of a keyword, with `bandwidth`.
    pub(super) fn new(keyword: Keyword, bandwidth: Option<Rate>) -> Plan {
        use Rank::{Background, BestEffort, Priority};
        let share = |(numerator, denominator): (u64, u64), weight, rank| Share {
            threshold: bandwidth.map(|rate| {
                let bits =
                    u128::from(rate.as_bits_per_sec()) * u128::from(numerator) / u128::from(denominator);
                Rate::from_bits_per_sec((bits as u64).max(LEAST_RATE))
            }),
            weight,
            rank,
        };
        // Each of the eight has 7/8 of the one before.
        let eight = |rank: fn(u32) -> Rank| {
            let mut weight = 256;
            let tin = |number: u32| {
                let share = share((7u64.pow(number), 8u64.pow(number)), weight, rank(number));
                weight = weight * 7 / 8;
                share
            };
            (0..8).map(tin).collect()
        };
        let whole = share((1, 1), 1024, BestEffort);
        let bulk = share((1, 16), 64, Background);
        let voice = share((1, 4), 256, Priority);
        let (tin_of, shares) = match keyword {
            Keyword::BestEffort => (&BEST_EFFORT, alloc::vec![share((1, 1), 65_535, BestEffort)]),
            Keyword::Precedence => (&PRECEDENCE, eight(|tin| if tin == 0 { BestEffort } else { Priority })),
            Keyword::Diffserv4 => (&DIFFSERV4, alloc::vec![whole, bulk, share((1, 2), 512, Priority), voice]),
            Keyword::Diffserv8 => (
                &DIFFSERV8,
                eight(|tin| match tin {
                    0 | 1 => Background,
                    2 => BestEffort,
                    _ => Priority,
                }),
            ),
            Keyword::Diffserv3 => (&DIFFSERV3, alloc::vec![whole, bulk, voice]),
        };
        Plan { tin_of, shares }
    }

    /// The tin of `packet`: that of its firewall mark under `mask`, else that of its code point (cake_select_tin()).
    #[inline]
    pub(super) fn tin(&self, packet: &Packet, mask: u32) -> usize {
        let mark =
            if mask == 0 { 0 } else { (u32::from(packet.class) & mask) >> mask.trailing_zeros() } as usize;
        if mark == 0 || mark > self.shares.len() {
            return usize::from(self.tin_of[usize::from(packet.dscp % 64)]);
        }
        match (self.shares.len(), mark) {
            // Of three and four tins the first by number is bulk, the second best effort.
            (3 | 4, 1) => 1,
            (3 | 4, 2) => 0,
            _ => mark - 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Choice;

    fn tin(keyword: Keyword, code_point: usize) -> u8 {
        Plan::new(keyword, None).tin_of[code_point]
    }

    #[test]
    fn code_points_find_their_tins() {
        // DF, LE, CS1, AF11, AF21, CS3, AF41, CS4, CS5, VA, EF, CS6, CS7, and one that means nothing.
        let points = [0, 1, 8, 10, 18, 24, 34, 32, 40, 44, 46, 48, 56, 63];
        let tins = |keyword| points.map(|point| tin(keyword, point));
        assert_eq!(tins(Keyword::BestEffort), [0; 14]);
        assert_eq!(tins(Keyword::Precedence), [0, 0, 1, 1, 2, 3, 4, 4, 5, 5, 5, 6, 7, 7]);
        assert_eq!(tins(Keyword::Diffserv3), [0, 1, 1, 0, 0, 0, 0, 0, 0, 2, 2, 2, 2, 0]);
        assert_eq!(tins(Keyword::Diffserv4), [0, 1, 1, 0, 2, 2, 2, 3, 3, 3, 3, 3, 3, 0]);
        assert_eq!(tins(Keyword::Diffserv8), [2, 0, 1, 1, 4, 3, 3, 6, 6, 6, 6, 7, 7, 2]);
    }

    #[test]
    fn a_mark_within_the_mask_goes_before_the_code_point() {
        let tin = |keyword, class: u16, mask| {
            let packet = Packet { class, dscp: 46, ..Packet::new(0, 0, 100) };
            Plan::new(keyword, None).tin(&packet, mask)
        };
        // Voice is tin 2 of three; marks from one: bulk, best effort, voice.
        assert_eq!([0, 1, 2, 3, 4].map(|class| tin(Keyword::Diffserv3, class, 0xf)), [2, 1, 0, 2, 2]);
        assert_eq!([0x10, 0x20, 0x31].map(|class| tin(Keyword::Diffserv3, class, 0xf0)), [1, 0, 2]);
        assert_eq!([1, 3].map(|class| tin(Keyword::Diffserv8, class, 0xff)), [0, 2]);
        assert_eq!((tin(Keyword::Diffserv3, 1, 0), tin(Keyword::BestEffort, 1, 0xff)), (2, 0));
    }

    #[test]
    fn tins_share_the_bandwidth_as_the_manual_says() {
        let shares = |keyword| -> Vec<_> {
            let plan = Plan::new(keyword, Some(Rate::from_mbit(16)));
            let kbit = |share: &Share| share.threshold.map_or(0, |rate| rate.as_bits_per_sec() / 1000);
            plan.shares.iter().map(|share| (kbit(share), share.weight)).collect()
        };
        assert_eq!(shares(Keyword::BestEffort), [(16_000, 65_535)]);
        assert_eq!(shares(Keyword::Diffserv3), [(16_000, 1024), (1000, 64), (4000, 256)]);
        assert_eq!(shares(Keyword::Diffserv4), [(16_000, 1024), (1000, 64), (8000, 512), (4000, 256)]);
        // 16 * (7/8)^2 = 12.25, ... 16 * (7/8)^7 = 6.283; weights are rounded down one after the other.
        let eight = [16_000, 14_000, 12_250, 10_718, 9378, 8206, 7180, 6283];
        let weights = [256, 224, 196, 171, 149, 130, 113, 98];
        let expected: Vec<_> = eight.into_iter().zip(weights).collect();
        assert_eq!((shares(Keyword::Precedence), shares(Keyword::Diffserv8)), (expected.clone(), expected));
    }

    #[test]
    fn no_threshold_is_below_64_bytes_per_second() {
        let plan = Plan::new(Keyword::Diffserv3, Some(Rate::from_bits_per_sec(4096)));
        let bits: Vec<_> =
            plan.shares.iter().map(|share| share.threshold.map(Rate::as_bits_per_sec)).collect();
        assert_eq!(bits, [Some(4096), Some(512), Some(1024)]);
    }

    #[test]
    fn every_tin_has_code_points_and_a_share() {
        for keyword in Keyword::ALL {
            let plan = Plan::new(*keyword, None);
            assert!(plan.shares.iter().all(|share| share.threshold.is_none()));
            for tin in 0..plan.shares.len() {
                assert!(plan.tin_of.iter().any(|of| usize::from(*of) == tin), "{keyword:?} {tin}");
            }
            assert!(plan.tin_of.iter().all(|tin| usize::from(*tin) < plan.shares.len()), "{keyword:?}");
        }
    }
}
