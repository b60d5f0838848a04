//! What must hold of a contention at any time, from what was given when it was built: nothing that contends can change it.

use super::contender::{Access, Contender};
use crate::mac::airtime::Timing;
use aqm_core::units::{Span, Time};

/// Gaps and windows as they were given, and failures as they were reported.
#[derive(Debug)]
pub(super) struct Watch {
    slot: Span,
    sifs: Span,
    /// Of each contender, and how often it has failed since it last succeeded.
    contenders: Vec<(Access, u32)>,
    /// What was wrong; the first.
    broken: Option<String>,
}

impl Watch {
    pub(super) fn new(timing: &Timing) -> Watch {
        Watch { slot: timing.slot, sifs: timing.sifs, contenders: Vec::new(), broken: None }
    }

    pub(super) fn add(&mut self, access: Access) {
        self.contenders.push((access, 0));
    }

    /// It has succeeded, and waits for its next backoff.
    pub(super) fn succeeded(&mut self, id: usize, contender: &Contender) {
        self.contenders[id].1 = 0;
        self.waits(id, contender);
    }

    /// It has failed, and waits for its next backoff.
    pub(super) fn failed(&mut self, id: usize, contender: &Contender) {
        self.contenders[id].1 = self.contenders[id].1.saturating_add(1);
        self.waits(id, contender);
    }

    fn waits(&mut self, id: usize, contender: &Contender) {
        if let Err(what) = self.check(id, contender) {
            self.broken.get_or_insert(what);
        }
    }

    /// Its window is that of its failures, and it waits for no longer.
    fn check(&self, id: usize, contender: &Contender) -> Result<(), String> {
        let (window, failures) = (self.window(id), self.contenders[id].1);
        let backoff = contender.backoff.unwrap_or(0);
        if contender.cw == window && backoff <= u32::from(window) {
            return Ok(());
        }
        let what = format!("after {failures} failures a window is {}, not {window}", contender.cw);
        Err(format!("{what}; {backoff} slots are left"))
    }

    /// The window after so many failures: 2^r (CWmin + 1) - 1, up to CWmax (IEEE 802.11-2020, 10.3.3).
    fn window(&self, id: usize) -> u16 {
        let (access, failures) = self.contenders[id];
        let doubled = (u32::from(access.cw_min) + 1) << failures.min(16);
        u16::try_from(doubled - 1).unwrap_or(u16::MAX).min(access.cw_max)
    }

    /// It starts in an idle time that began at `idle`: after SIFS, the slots of its AIFS and those of its backoff.
    pub(super) fn starts(&mut self, id: usize, contender: &Contender, idle: Time) {
        let (access, _) = self.contenders[id];
        let slots = u64::from(access.aifsn) + u64::from(contender.backoff.unwrap_or(0));
        let earliest = idle + self.sifs + self.slot * slots;
        if contender.start < earliest {
            let gap = contender.start.since(idle);
            let what = format!("a gap of {gap} is shorter than SIFS and {slots} slots of {}", self.slot);
            self.broken.get_or_insert(what);
        }
    }

    /// What did not hold, or does not of these, in one line.
    pub(super) fn check_all(&self, contenders: &[Contender]) -> Result<(), String> {
        self.broken.clone().map_or(Ok(()), Err)?;
        contenders.iter().enumerate().try_for_each(|(id, contender)| self.check(id, contender))
    }
}
