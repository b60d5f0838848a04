//! A window that stays at its cap: a measuring instrument, not a transport.

use super::controller::{Controller, Info};
use super::hystart::SlowStart;
use crate::transport::window::{Acked, Window};

/// Its declaration.
pub(super) static INFO: Info = Info {
    name: "fixed",
    summary: "a fixed window at its cap, for measurements",
    reference: "none",
    must: &["window"],
    carries: false,
    build: |_, window, _| {
        window.cwnd = u64::MAX;
        Box::new(Fixed)
    },
    ..Info::USUAL
};

/// No state.
#[derive(Debug)]
struct Fixed;

impl Controller for Fixed {
    fn on_ack(&mut self, _: &mut Window, _: &mut SlowStart, _: &Acked) {}
    fn on_timeout(&mut self, _: &mut Window) {}
    fn on_idle(&mut self, _: &mut Window) {}
}
