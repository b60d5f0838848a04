//! A Wi-Fi link with a fault in it, for the tests of a host: does a run notice?

use super::super::channel::faults::{FAULTS, Fault};
use super::device::Wifi;
use crate::device::burst::{Air, Device, Next, Queues, Transmitted};
use crate::kind::Site;
use aqm_core::input_error::InputError;
use aqm_core::params::Params;
use aqm_core::units::Time;

/// The channel works so often before the fault.
const BEFORE: u32 = 2_000;

/// What is wrong with a device.
#[derive(Clone, Copy)]
pub enum Defect {
    /// Its channel is damaged.
    Channel(Fault),
    /// It says something wrong of a burst; answers whether there was what it needs.
    Burst(&'static str, fn(&mut Vec<Transmitted>) -> bool),
}

impl Defect {
    /// What is wrong.
    pub fn name(&self) -> &'static str {
        match self {
            Defect::Channel(fault) => fault.name,
            Defect::Burst(name, _) => name,
        }
    }

    /// All of them.
    pub fn all() -> impl Iterator<Item = Defect> {
        FAULTS.into_iter().map(Defect::Channel).chain(OF_BURSTS)
    }
}

const OF_BURSTS: [Defect; 4] = [
    Defect::Burst("a delivery is forgotten", |sent| sent.pop().is_some()),
    Defect::Burst("a packet is delivered twice", |sent| {
        sent.extend(sent.last().copied());
        !sent.is_empty()
    }),
    Defect::Burst("a packet is delivered in place of another", |sent| {
        sent.first_mut().is_some_and(|one| {
            one.frame.id ^= 1;
            true
        })
    }),
    Defect::Burst("a packet is out before its burst", |sent| {
        sent.first_mut().is_some_and(|one| {
            one.out = Time::ZERO;
            true
        })
    }),
];

struct Sabotaged {
    wifi: Wifi,
    defect: Defect,
    calls: u32,
    is_planted: bool,
    planted: fn(),
}

/// A device of kind `wifi` with this defect; `planted` is called when it has struck, which it does once.
///
/// # Errors
/// As without it.
pub fn build(
    params: &Params,
    site: Site<'_>,
    defect: Defect,
    planted: fn(),
) -> Result<Box<dyn Device>, InputError> {
    let wifi = super::wifi(params, site)?;
    Ok(Box::new(Sabotaged { wifi, defect, calls: 0, is_planted: false, planted }))
}

impl Device for Sabotaged {
    fn ready(&mut self, port: u32, now: Time, queues: &mut dyn Queues) {
        self.wifi.ready(port, now, queues);
    }

    fn takes_ahead(&self) -> bool {
        self.wifi.takes_ahead()
    }

    fn next(&mut self, now: Time, queues: &mut dyn Queues, sent: &mut Vec<Transmitted>) -> Next {
        let next = self.wifi.next(now, queues, sent);
        self.calls += 1;
        if self.calls > BEFORE && !self.is_planted {
            self.is_planted = match self.defect {
                Defect::Channel(fault) => (fault.plant)(&mut self.wifi.channel),
                Defect::Burst(_, plant) => plant(sent),
            };
            if self.is_planted {
                (self.planted)();
            }
        }
        next
    }

    fn reorders(&self) -> bool {
        self.wifi.reorders()
    }

    fn air(&self) -> Option<Air<'_>> {
        self.wifi.air()
    }

    fn check(&self, now: Time) -> Result<(), String> {
        self.wifi.check(now)
    }
}
