//! The list of the kinds of flow. The command line, files, Python and documentation take it from here.

use super::kind::SourceKind;
use super::{arrivals, client, dialogue, player, workload};

/// Every kind of flow that is more than a transport with bulk data, in the order of listings.
pub static KINDS: &[&[SourceKind]] =
    &[arrivals::KINDS, player::KINDS, dialogue::KINDS, client::KINDS, workload::KINDS];
