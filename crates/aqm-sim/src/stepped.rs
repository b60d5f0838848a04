//! A run in steps: its caller looks at the queue or at the series now and then, and may change the discipline's
//! parameters. Without changes its report is that of [`run`](crate::run).

use crate::endpoint::stack::Side;
use crate::report::{Monitor, Report, RunError, Series};
use crate::reporting;
use crate::scenario::Scenario;
use crate::scenario::inputs::Inputs;
use crate::simulation::build::Setup;
use crate::simulation::state::Simulation;
use aqm_core::backlog::Backlog;
use aqm_core::counters::Counters;
use aqm_core::input_error::InputError;
use aqm_core::params::ParamError;
use aqm_core::qdisc::Qdisc;
use aqm_core::spec::Spec;
use aqm_core::units::{Span, Time};

/// A run whose first measured port has the discipline under test.
pub struct Stepped {
    setup: Setup,
    monitor: Monitor,
    end: Time,
}

impl Stepped {
    /// A run at its beginning.
    ///
    /// # Errors
    /// As [`run`](crate::run). A run in steps is not run twice, so its warm-up cannot be left to MSER-5.
    pub fn new(aqm: &Spec, scenario: &Scenario, inputs: &Inputs, seed: u64) -> Result<Stepped, RunError> {
        scenario.check().map_err(RunError::Input)?;
        if scenario.mser5 {
            return Err(RunError::Input(
                InputError::new("a run in steps needs a time, not mser5").of_option("warmup"),
            ));
        }
        let monitor = Monitor::default();
        let mut setup = Setup::build(scenario, aqm, inputs, seed, &monitor)?;
        setup.simulation.begin(Time::from_nanos(scenario.warmup_ns), Span::from_nanos(scenario.sample_ns));
        Ok(Stepped { setup, monitor, end: Time::from_nanos(scenario.duration_ns) })
    }

    /// Goes on for some time, but not beyond the end.
    ///
    /// # Errors
    /// [`RunError::Check`] for a defect of this program.
    pub fn advance(&mut self, span: Span) -> Result<(), RunError> {
        let until = (self.now() + span).min(self.end);
        self.setup.simulation.advance(until, &self.monitor, |_| false)
    }

    /// Goes on to a time, but not beyond the end, or until after something that makes it `enough`.
    ///
    /// # Errors
    /// As [`advance`](Stepped::advance).
    pub fn advance_until(&mut self, until: Time, enough: impl Fn() -> bool) -> Result<(), RunError> {
        self.setup.simulation.advance(until.min(self.end), &self.monitor, |_| enough())
    }

    /// Goes on until a packet has come to the discipline, or to the end.
    ///
    /// # Errors
    /// As [`advance`](Stepped::advance).
    pub fn advance_to_arrival(&mut self) -> Result<(), RunError> {
        let before = self.counters().arrived;
        let arrived = |simulation: &Simulation| qdisc(simulation).counters().arrived > before;
        self.setup.simulation.advance(self.end, &self.monitor, arrived)
    }

    /// Asks both ends of a flow of a real transport what they send now, though no packet has come to them and no timer is due:
    /// something else has reached them.
    ///
    /// # Panics
    /// If there is no flow of this number.
    pub fn ask(&mut self, flow: usize) {
        for side in [Side::Client, Side::Server] {
            self.setup.simulation.pump_stack(flow, side);
        }
    }

    /// When something happens next.
    pub fn next_event(&self) -> Option<Time> {
        self.setup.simulation.shared.events.first()
    }

    /// Changes parameters of the discipline.
    ///
    /// # Errors
    /// If a value is not allowed; nothing has changed then.
    pub fn change(&mut self, settings: &[(&str, &str)]) -> Result<(), ParamError> {
        self.setup.simulation.change(settings)
    }

    /// The time that was reached.
    pub fn now(&self) -> Time {
        self.setup.simulation.shared.now
    }

    /// Whether the end was reached.
    pub fn is_over(&self) -> bool {
        self.now() >= self.end
    }

    /// What was sampled after the first `points` points.
    pub fn series_after(&self, points: usize) -> Series {
        self.setup.simulation.shared.metrics.series.after(points)
    }

    /// Goes on to the end, and reports.
    ///
    /// # Errors
    /// [`RunError::Check`] for a defect of this program.
    pub fn report(mut self) -> Result<Report, RunError> {
        self.setup.simulation.advance(self.end, &self.monitor, |_| false)?;
        self.setup.simulation.end(self.end)?;
        reporting::results::report(self.setup, self.end)
    }

    /// What the discipline has counted since the start.
    pub fn counters(&self) -> &Counters {
        qdisc(&self.setup.simulation).counters()
    }

    /// What waits in the discipline.
    pub fn backlog(&self) -> Backlog {
        qdisc(&self.setup.simulation).backlog()
    }
}

fn qdisc(simulation: &Simulation) -> &Qdisc {
    let port = &simulation.ports[simulation.measured[0]];
    &port.device().expect("a measured port has a discipline").qdisc
}
