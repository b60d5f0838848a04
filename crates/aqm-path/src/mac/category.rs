//! Access categories, and which of them a packet belongs to by its DiffServ code point.

use aqm_core::choices;

/// An access category: the queues of EDCA, the higher the sooner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Category {
    /// AC_BK.
    Background,
    /// AC_BE.
    BestEffort,
    /// AC_VI.
    Video,
    /// AC_VO.
    Voice,
}

choices! {
    /// How a code point becomes a user priority.
    pub enum Mapping {
        /// RFC 8325, and `cfg80211_classify8021d()` of Linux since 6.8.
        Rfc8325 = "rfc8325",
        /// The upper three bits of the code point: Linux before. EF becomes video.
        Precedence = "precedence",
        /// All packets are best effort.
        None = "none",
    }
}

/// The user priorities of RFC 8325, figure 1, and of Lower Effort (RFC 8622); all other code points have 0.
const RFC8325: [(u8, u8); 20] = [
    (56, 7), // CS7
    (48, 7), // CS6: network control
    (46, 6), // EF: telephony
    (44, 6), // VOICE-ADMIT
    (40, 5), // CS5: signaling
    (34, 4), // AF41: multimedia conferencing
    (36, 4),
    (38, 4),
    (32, 4), // CS4: real-time interactive
    (26, 4), // AF31: multimedia streaming
    (28, 4),
    (30, 4),
    (24, 4), // CS3: broadcast video
    (18, 3), // AF21: low-latency data
    (20, 3),
    (22, 3),
    (16, 0), // CS2: operation and management
    (8, 1),  // CS1: low-priority data
    (1, 1),  // LE
    (0, 0),  // default forwarding
];

impl Category {
    /// All, the lowest first.
    pub const ALL: [Category; 4] =
        [Category::Background, Category::BestEffort, Category::Video, Category::Voice];

    /// The category of a code point.
    ///
    /// ```
    /// use aqm_path::mac::category::{Category, Mapping};
    /// // EF is voice by RFC 8325, and was video before.
    /// assert_eq!(Category::of(46, Mapping::Rfc8325), Category::Voice);
    /// assert_eq!(Category::of(46, Mapping::Precedence), Category::Video);
    /// ```
    pub fn of(dscp: u8, mapping: Mapping) -> Category {
        let priority = match mapping {
            Mapping::None => 0,
            Mapping::Precedence => (dscp & 63) >> 3,
            Mapping::Rfc8325 => {
                RFC8325.iter().find(|(point, _)| *point == dscp).map_or(0, |(_, priority)| *priority)
            }
        };
        // IEEE 802.11-2020, table 10-1.
        match priority {
            1 | 2 => Category::Background,
            4 | 5 => Category::Video,
            6 | 7 => Category::Voice,
            _ => Category::BestEffort,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_points_have_the_categories_of_rfc_8325() {
        use Category::{Background, BestEffort, Video, Voice};
        for (dscp, new, old) in [
            (0, BestEffort, BestEffort),
            (1, Background, BestEffort),  // LE
            (8, Background, Background),  // CS1
            (10, BestEffort, Background), // AF11: high-throughput data, which was behind all others before
            (16, BestEffort, Background), // CS2
            (18, BestEffort, Background), // AF21
            (24, Video, BestEffort),      // CS3
            (34, Video, Video),           // AF41
            (44, Voice, Video),           // VOICE-ADMIT
            (46, Voice, Video),           // EF
            (48, Voice, Voice),           // CS6
            (45, BestEffort, Video),      // none of its own
        ] {
            let found = [Mapping::Rfc8325, Mapping::Precedence].map(|mapping| Category::of(dscp, mapping));
            assert_eq!(found, [new, old], "{dscp}");
            assert_eq!(Category::of(dscp, Mapping::None), BestEffort);
        }
    }
}
