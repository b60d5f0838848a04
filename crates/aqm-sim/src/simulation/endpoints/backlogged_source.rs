//! Sources whose senders can do nothing with more data: their pieces are counted until the sender can take them.

use crate::endpoint::backlogged_source::BackloggedSource;
use crate::endpoint::flow::{Endpoints, Flow};
use crate::simulation::state::Simulation;
use aqm_core::units::Time;

impl Simulation {
    /// Whether a source writes to TCP at all decides whether any can be held.
    pub(crate) fn make_room_to_hold(&mut self) {
        let writes =
            |flow: &Flow| flow.session.source.is_some() && matches!(flow.endpoints, Endpoints::Tcp(_));
        if self.flows.iter().any(writes) {
            self.backlogged = vec![BackloggedSource::NOTHING; self.flows.len()];
        }
    }

    /// A source is due. If its piece can be held: when the next is.
    #[inline]
    pub(super) fn hold_piece(&mut self, number: usize) -> Option<Time> {
        let gap = self.backlogged.get_mut(number)?.hold()?;
        Some(self.shared.now + gap)
    }

    /// All was sent that may be: from now on pieces are held, if more of them change nothing.
    #[inline(never)]
    pub(super) fn begin_to_hold(&mut self, number: usize) {
        let Some(held) = self.backlogged.get_mut(number) else { return };
        let flow = &self.flows[number];
        if let Endpoints::Tcp(connection) = &flow.endpoints
            && connection.sender.is_full()
            && let Some(rhythm) = flow.session.source.as_ref().and_then(|source| source.rhythm())
        {
            *held = BackloggedSource { rhythm, pieces: 0 };
        }
    }

    /// Tells a sender what was held from it, before anything else happens to it.
    #[inline(never)]
    pub(super) fn write_backlog(&mut self, number: usize) {
        let Some(held) = self.backlogged.get_mut(number).filter(|held| held.rhythm.is_some()) else { return };
        let BackloggedSource { rhythm, pieces } = std::mem::replace(held, BackloggedSource::NOTHING);
        let flow = &mut self.flows[number];
        if let Some(source) = &mut flow.session.source {
            source.resume(rhythm);
        }
        let bytes = u64::from(flow.session.piece);
        let Endpoints::Tcp(connection) = &mut flow.endpoints else { return };
        for _ in 0..pieces {
            if !connection.takes(bytes) {
                return;
            }
            connection.sender.write(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::extension::Extension;
    use crate::report::Monitor;
    use crate::reporting::results::report;
    use crate::scenario::inputs::Inputs;
    use crate::scenario::{Scenario, Tcp, Transport};
    use crate::simulation::build::Setup;
    use crate::transport::socket::{self, Socket};
    use aqm_core::spec::Spec;
    use aqm_core::units::{Span, Time};
    use serde_json::{Value, json};

    /// A socket that holds 20 kB.
    struct Full;

    impl Socket for Full {
        fn takes(&self, held: u64, bytes: u64) -> bool {
            held + bytes <= 20_000
        }
    }

    static FULL: socket::Info = socket::Info {
        name: "full",
        summary: "a socket that holds 20 kB",
        keys: &[],
        relations: &[],
        write_bytes: |_| None,
        build: |_, _: &Tcp| Box::new(Full),
    };

    static EXTENSION: Extension = Extension { sockets: &[&FULL], ..Extension::NOTHING };

    /// NewReno with these fields.
    fn newreno(fields: &[(&str, Value)]) -> Value {
        let mut tcp = serde_json::to_value(Transport::Tcp(Tcp::parse("newreno").unwrap())).unwrap();
        fields.iter().for_each(|(field, value)| tcp["tcp"][field] = value.clone());
        tcp
    }

    /// Four flows of this transport and source over 1 Mbit/s: the report, and how many pieces are held at its end.
    fn run(transport: &Value, is_full: bool, source: &Value, holds: bool) -> (String, u32) {
        let mut flows = json!([{
            "name": "tcp", "count": 4, "start_ns": [0, 100_000_000], "transport": transport, "source": source,
        }]);
        if is_full {
            flows[0]["socket"] = json!({"socket": "full"});
        }
        let mut inputs = Inputs::default();
        inputs.add_extension(&EXTENSION);
        let scenario = json!({
            "aqm": "codel", "capacity": {"rate_bps": 1_000_000}, "rtt_ns": 40_000_000,
            "duration_ns": 6_000_000_000_u64, "warmup_ns": 500_000_000, "sample_ns": 100_000_000, "flows": flows,
        });
        let scenario: Scenario = serde_json::from_value(scenario).unwrap();
        let (aqm, monitor) = (Spec::parse(&scenario.aqm).unwrap(), Monitor::default());
        let mut setup = Setup::build(&scenario, &aqm, &inputs, 1, &monitor).unwrap();
        let simulation = &mut setup.simulation;
        simulation.begin(Time::from_nanos(scenario.warmup_ns), Span::from_nanos(scenario.sample_ns));
        if !holds {
            simulation.backlogged.clear();
        }
        let end = Time::from_nanos(scenario.duration_ns);
        simulation.advance(end, &monitor, |_| false).unwrap();
        simulation.end(end).unwrap();
        let pieces = simulation.backlogged.iter().map(|held| held.pieces).sum();
        (format!("{:?}", report(setup, end).unwrap()), pieces)
    }

    #[test]
    fn a_run_is_the_same_whether_its_sources_pieces_are_held_or_written_at_once() {
        let steady = json!({"cbr": {"rate_bps": 700_000}});
        let period = json!({"exponential": {"mean": 200_000_000}});
        let on_off = json!({"on_off": {"rate_bps": 2_000_000, "on": period, "off": period}});
        let transports = [
            (newreno(&[]), false),
            (newreno(&[("sack", json!(false)), ("delack_ns", json!(0))]), false),
            (newreno(&[("recovery", json!({"prr": true, "frto": true}))]), true),
            (newreno(&[("recovery", json!({"rack": true}))]), false),
        ];
        for source in [&steady, &on_off] {
            let held = transports.each_ref().map(|(transport, is_full)| {
                let (report, pieces) = run(transport, *is_full, source, true);
                assert_eq!((report, 0), run(transport, *is_full, source, false), "{transport}");
                pieces
            });
            assert!(held[..3].iter().any(|pieces| *pieces > 0), "{source}: {held:?}");
            assert_eq!(held[3], 0);
        }
    }
}
