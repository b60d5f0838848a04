//! Which scenarios can be run.

use super::flows::FlowGroup;
use super::options::{self, Capacity, OPTIONS, Scenario};
use super::topology::Topology;
use aqm_core::input_error::InputError;
use aqm_core::units::Span;
use std::collections::BTreeSet;

impl Scenario {
    /// Refuses scenarios that cannot end: nothing to send, rates and lengths of zero, probabilities above one.
    ///
    /// # Errors
    /// One line that names the option, the value and what is allowed, in the words and units in which people write them.
    pub fn check(&self) -> Result<(), InputError> {
        OPTIONS.iter().try_for_each(|option| option.check(self.number(option.field)))?;
        if let Capacity::RateBps(rate_bps) = self.capacity {
            options::find("rate").expect("it is declared").check(Some(rate_bps as f64))?;
        }
        self.impairments().check()?;
        if self.sample_ns == 0 {
            return Err(InputError::field("sample", 0, "it must be greater than zero"));
        }
        if self.warmup_ns >= self.duration_ns {
            let [warmup, duration] = [self.warmup_ns, self.duration_ns].map(Span::from_nanos);
            return Err(InputError::field(
                "warmup",
                warmup,
                format_args!("it must be less than the duration, {duration}"),
            ));
        }
        if self.flows.is_empty() && self.captures.is_empty() {
            return Err(InputError::new("there are neither flows nor captures: nothing would be sent"));
        }
        let nodes = self.topology.as_ref().map(Topology::check).transpose()?;
        for group in &self.flows {
            ends(group, nodes.as_ref()).map_err(|error| group.refused(error))?;
        }
        let connections = self.flows.iter().map(FlowGroup::connections).fold(0, u64::saturating_add);
        if connections > MOST_CONNECTIONS {
            return Err(InputError::new(format!(
                "{connections} connections: at most {MOST_CONNECTIONS} can be simulated"
            ))
            .of_option("flows"));
        }
        self.flows.iter().try_for_each(|group| group.check().map_err(|error| group.refused(error)))
    }
}

/// Refuses ends that are no nodes. A dumbbell has a host of its own for each end of a flow, and no other node.
fn ends(group: &FlowGroup, nodes: Option<&BTreeSet<&str>>) -> Result<(), InputError> {
    for (key, names) in [("from", &group.from), ("to", &group.to)] {
        match (nodes, names.first()) {
            (Some(_), None) => return Err(InputError::new("is missing").within(key)),
            (None, Some(name)) => return Err(InputError::value(name, NO_NODES).within(key)),
            (None, None) => {}
            (Some(nodes), _) => {
                if let Some(name) = names.iter().find(|name| !nodes.contains(name.as_str())) {
                    let known = nodes.iter().copied();
                    return Err(InputError::unknown("node", name, known).within(key));
                }
            }
        }
    }
    Ok(())
}

/// Hosts with names, for disciplines that are fair between hosts, are those of a topology.
const NO_NODES: &str = "is no node: a dumbbell has none; leave it out, or give a topology \
    (many_to_one has s0, s1, ... and server) or a link with stations (wifi stations [phone=ht-mcs7-800ns])";

/// Each takes some kilobytes, and events name it in 21 bits.
const MOST_CONNECTIONS: u64 = 1_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn scenario(change: impl FnOnce(&mut serde_json::Value)) -> Result<(), InputError> {
        let mut json = serde_json::json!({
            "aqm": "fifo", "capacity": {"rate_bps": 1_000_000}, "rtt_ns": 1_000_000, "duration_ns": 2, "warmup_ns": 1,
            "sample_ns": 1,
            "flows": [{"name": "bursts", "count": 1, "start_ns": [0, 0], "transport": {"udp": {"packet_bytes": 100}},
                "source": {"on_off": {"rate_bps": 1, "on": {"constant": {"value": 1}}, "off": {"exponential": {"mean": 0}}}}}],
        });
        change(&mut json);
        serde_json::from_value::<Scenario>(json).map_err(|error| InputError::new(error.to_string()))?.check()
    }

    #[test]
    fn scenarios_that_could_never_end_are_refused_by_name() {
        assert_eq!(scenario(|_| ()), Ok(()));
        for (pointer, value, names) in [
            ("/capacity/rate_bps", serde_json::json!(0), "rate is 0"),
            ("/warmup_ns", serde_json::json!(2), "warmup is 2ns: it must be less than the duration, 2ns"),
            ("/flows/0/count", serde_json::json!(0), "flows: 'bursts': count is 0"),
            ("/flows/0/transport/udp/packet_bytes", serde_json::json!(27), "packet is 27b"),
            ("/flows/0/source/on_off/on/constant/value", serde_json::json!(0), "on is 0"),
            ("/flows/0/source/on_off/rate_bps", serde_json::json!(0), "rate is 0"),
            ("/flows", serde_json::json!([]), "nothing would be sent"),
        ] {
            let problem =
                scenario(|json| *json.pointer_mut(pointer).unwrap() = value).unwrap_err().to_string();
            assert!(problem.contains(names), "{pointer}: {problem}");
        }
        let unknown = scenario(|json| json["wramup_ns"] = serde_json::json!(1)).unwrap_err().to_string();
        assert!(unknown.contains("wramup_ns"), "{unknown}");
    }
}
