//! What a host adds to the lists of this crate: a run knows it by its inputs
//! ([`Inputs::add_extension`](crate::scenario::inputs::Inputs::add_extension)).

use crate::switch::declaration;
use crate::transport::socket;
use crate::{observer, rate_control};
use aqm_path::kind::LinkKind;

/// Plain lists; a name is taken from the crate's own list first.
#[derive(Clone, Copy)]
pub struct Extension {
    /// Its name, in messages and listings.
    pub name: &'static str,
    /// Rate controls.
    pub rate_controls: &'static [&'static rate_control::Info],
    /// Programs of switches.
    pub programs: &'static [&'static declaration::Info],
    /// Observers, with their metrics.
    pub observers: &'static [&'static observer::Info],
    /// Sockets of flows over TCP.
    pub sockets: &'static [&'static socket::Info],
    /// Kinds of links.
    pub link_kinds: &'static [&'static LinkKind],
}

impl Extension {
    /// One that adds nothing, to be filled.
    pub const NOTHING: Extension = Extension {
        name: "",
        rate_controls: &[],
        programs: &[],
        observers: &[],
        sockets: &[],
        link_kinds: &[],
    };
}
