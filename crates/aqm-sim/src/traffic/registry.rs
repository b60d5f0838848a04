//! The list of the kinds of flow. The command line, files, Python and documentation follow from it.

use super::kind::Kind;
use super::{arrivals, client, dialogue, player, workload};

/// Every kind of flow that is not simply a transport with much to send, as listed to users.
pub static KINDS: &[&[Kind]] =
    &[arrivals::KINDS, player::KINDS, dialogue::KINDS, client::KINDS, workload::KINDS];
