//! Where a discipline sits on a medium that stations share.

use aqm_core::choices;
use serde::{Deserialize, Serialize};

choices! {
    /// Where the discipline sits, as the user says it.
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Placement {
        /// Above the driver's queue, as a qdisc of an interface.
        Above = "above",
        /// In the place of the driver's queue, with a queue for each station, as in mac80211.
        Integrated = "integrated",
        /// Either, over a device that accepts packets by their airtime (AQL).
        Limited = "limited",
    }
}

/// The same for a discipline that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    /// Whether there is a driver's queue below it.
    pub is_above: bool,
    /// Whether airtime limits what is below it.
    pub is_limited: bool,
    /// Whether it stands there once for each access category.
    pub by_category: bool,
}

impl Placement {
    /// Where a discipline sits that has a queue for each station, or has none; without a placement it is in its place if it
    /// has, and above otherwise.
    pub fn of(placement: Option<Placement>, has_stations: bool, by_category: bool) -> Placed {
        let (is_above, is_limited) = match placement {
            None => (!has_stations, false),
            Some(Placement::Above) => (true, false),
            Some(Placement::Integrated) => (false, false),
            Some(Placement::Limited) => (!has_stations, true),
        };
        Placed { is_above, is_limited, by_category }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_said_follows_from_the_discipline() {
        let of = |placement, has_stations| {
            let placed = Placement::of(placement, has_stations, false);
            (placed.is_above, placed.is_limited)
        };
        assert_eq!([of(None, true), of(None, false)], [(false, false), (true, false)]);
        assert_eq!(
            [of(Some(Placement::Limited), true), of(Some(Placement::Limited), false)],
            [(false, true), (true, true)]
        );
        assert_eq!(
            [of(Some(Placement::Above), true), of(Some(Placement::Integrated), false)],
            [(true, false), (false, false)]
        );
    }
}
