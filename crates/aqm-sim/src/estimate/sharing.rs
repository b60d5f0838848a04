//! How streams share a network: as fluids. What does not react takes what there is of each link in proportion; what
//! reacts gets equal shares of the rest, until it has all that it asks for.

use super::streams::{Stream, Streams};
use crate::network::graph::{LinkId, Queue};
use aqm_core::units::Rate;
use aqm_path::kind::Service;

/// Passes over what does not react: losses on one link lighten the next.
const PASSES: usize = 4;
/// What reacts always gets so much.
const LEAST: f64 = 0.05;

/// What is sent and what gets through.
pub(super) struct Shares {
    /// Packets that each stream sends.
    sent: Vec<f64>,
    /// The share of packets that gets through each resource.
    passed: Vec<f64>,
    /// The resource of each link: its own time, or that of its medium.
    resources: Vec<usize>,
}

impl Shares {
    pub(super) fn of(streams: &Streams) -> Shares {
        let links = &streams.network.links;
        let mut resources: Vec<usize> = (0..links.len()).collect();
        let mut holds = vec![0.0; links.len()];
        let mut slower = vec![1.0; links.len()];
        for (number, medium) in streams.network.media.iter().enumerate() {
            for (link, kind) in &medium.links {
                resources[*link] = links.len() + number;
                if let Some(usual) = kind.kind().usual {
                    let rate = |rate: Rate| rate.as_bytes_per_sec_f64().max(1e-9);
                    slower[*link] = rate(links[*link].capacity.mean_rate()) / rate(usual(kind.params()));
                }
                if matches!(kind.kind().service, Service::Medium(sharing) if sharing(kind.params()).until_arrival)
                {
                    holds[*link] = links[*link].delay.as_secs_f64();
                }
            }
        }
        let count = resources.iter().max().map_or(0, |last| last + 1);
        // Seconds of each resource that a packet per flow takes of the run.
        let uses: Vec<Vec<(usize, f64)>> = streams
            .all
            .iter()
            .map(|stream| {
                let there = stream.route.iter().map(|&link| (link, stream.length, 1.0));
                let back = stream.back.iter().map(|&link| (link, stream.answer, stream.answers));
                let time = |(link, length, packets): (LinkId, f64, f64)| {
                    let spec = &links[link];
                    // A host that one flow has for itself is there as often as the flow.
                    let own = spec.from >= streams.own_nodes || spec.to >= streams.own_nodes;
                    let flows = if own { 1.0 } else { stream.flows };
                    let rate = spec.capacity.mean_rate().as_bytes_per_sec_f64().max(1e-9);
                    let seconds = slower[link] * length / rate + holds[link];
                    (resources[link], flows * packets * seconds / streams.seconds)
                };
                there.chain(back).map(time).collect()
            })
            .collect();
        let mut passed = vec![1.0; count];
        let is_fixed = |stream: &Stream| !stream.reacts;
        let mut fixed = vec![0.0; count];
        for _ in 0..PASSES {
            fixed = vec![0.0; count];
            for (stream, uses) in streams.all.iter().zip(&uses).filter(|(stream, _)| is_fixed(stream)) {
                let mut arriving = stream.offered;
                for (resource, time) in &uses[..stream.route.len()] {
                    fixed[*resource] += arriving * time;
                    arriving *= passed[*resource];
                }
            }
            passed = fixed.iter().map(|load: &f64| (1.0 / load).min(1.0)).collect();
        }
        let room: Vec<f64> = fixed.iter().map(|load| (1.0 - load).max(LEAST)).collect();
        let sent = fill(&streams.all, &uses, room);
        Shares { sent, passed, resources }
    }

    /// All events of packets, and of their ends.
    pub(super) fn events(&self, streams: &Streams) -> f64 {
        let upstream = streams.upstream();
        let events = streams.all.iter().zip(&self.sent).map(|(stream, sent)| {
            // What is lost at the start has still arrived at a queue.
            let lost = if stream.reacts { (stream.opening - sent).max(0.0) } else { 0.0 };
            let (delivered, there) = self.along(streams, &upstream, &stream.route, *sent, stream.reacts);
            let answers = delivered * stream.answers;
            let (_, mut back) = self.along(streams, &upstream, &stream.back, answers, true);
            if stream.reacts && streams.back_is_of_answers(stream) {
                // One event for the shared link and the rest of the way.
                back -= answers.min(back / 2.0);
            }
            let slowed = stream.reacts && *sent < stream.offered * (1.0 - 1e-6);
            let slowing = if slowed { stream.per_slowed } else { 0.0 };
            let ends = sent * stream.per_packet + stream.per_flow + slowing;
            stream.flows * (there + back + lost + ends)
        });
        events.sum()
    }

    /// How many packets arrive, and the events in flight.
    fn along(
        &self,
        streams: &Streams,
        upstream: &[Option<LinkId>],
        route: &[LinkId],
        sent: f64,
        reacts: bool,
    ) -> (f64, f64) {
        let (mut packets, mut events) = (sent, 0.0);
        for (hop, &link) in route.iter().enumerate() {
            packets *= if reacts { 1.0 } else { self.passed[self.resources[link]] };
            let ready = matches!(streams.network.links[link].queue, Queue::Discipline { .. });
            let goes_on = route.get(hop + 1).is_some_and(|&next| upstream[next] == Some(link));
            events += packets * (f64::from(u8::from(ready)) + f64::from(u8::from(!goes_on)));
        }
        (packets, events)
    }

    /// Packets that wait or travel at most, where the queue under test holds `limit`.
    pub(super) fn waiting(&self, streams: &Streams, limit: f64) -> f64 {
        let (mut queued, mut unlimited) = (0.0, 0.0);
        for (stream, sent) in streams.all.iter().zip(&self.sent) {
            if stream.reacts {
                queued += stream.flows * sent;
                continue;
            }
            let mut packets = *sent;
            for &link in &stream.route {
                let stays = packets * (1.0 - self.passed[self.resources[link]]);
                packets -= stays;
                match &streams.network.links[link].queue {
                    Queue::Plain => unlimited += stream.flows * stays,
                    Queue::Discipline { .. } => queued += stream.flows * stays,
                }
            }
        }
        queued.min(limit + 2.0 * streams.pipe) + unlimited
    }
}

/// The packets of each stream's flows: all that react rise together; those stop that have what they ask for, or that
/// use a resource without room (max-min fairness).
fn fill(streams: &[Stream], uses: &[Vec<(usize, f64)>], mut room: Vec<f64>) -> Vec<f64> {
    let mut sent: Vec<f64> =
        streams.iter().map(|stream| if stream.reacts { 0.0 } else { stream.offered }).collect();
    let mut rising: Vec<usize> = (0..streams.len()).filter(|&number| streams[number].reacts).collect();
    while !rising.is_empty() {
        let mut load = vec![0.0; room.len()];
        for (resource, time) in rising.iter().flat_map(|&number| &uses[number]) {
            load[*resource] += time;
        }
        let asked = rising.iter().map(|&number| streams[number].offered - sent[number]);
        let fits = room.iter().zip(&load).filter(|(_, load)| **load > 0.0).map(|(room, load)| room / load);
        let step = asked.chain(fits).fold(f64::INFINITY, f64::min).max(0.0);
        if !step.is_finite() {
            break;
        }
        for &number in &rising {
            sent[number] += step;
        }
        let full: Vec<bool> = room
            .iter_mut()
            .zip(&load)
            .map(|(room, load)| {
                *room -= load * step;
                *load > 0.0 && *room <= load * 1e-9 * step.max(1e-9)
            })
            .collect();
        let before = rising.len();
        rising.retain(|&number| {
            let has_all = sent[number] >= streams[number].offered * (1.0 - 1e-9);
            !has_all && !uses[number].iter().any(|(resource, _)| full[*resource])
        });
        if rising.len() == before {
            break;
        }
    }
    sent
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(offered: f64) -> Stream {
        Stream {
            flows: 1.0,
            route: Vec::new(),
            back: Vec::new(),
            length: 0.0,
            answer: 0.0,
            answers: 0.0,
            offered,
            opening: 0.0,
            reacts: true,
            per_packet: 0.0,
            per_flow: 0.0,
            per_slowed: 0.0,
        }
    }

    #[test]
    fn shares_are_fair_to_the_least() {
        // Two links of 100 packets each. The first stream takes both; the second asks for 20 of the first alone.
        let uses = [vec![(0, 0.01), (1, 0.01)], vec![(0, 0.01)], vec![(1, 0.01)], vec![(1, 0.01)]];
        let streams = [f64::INFINITY, 20.0, f64::INFINITY, f64::INFINITY].map(stream);
        let sent: Vec<f64> = fill(&streams, &uses, vec![1.0; 2]).iter().map(|sent| sent.round()).collect();
        assert_eq!(sent, [33.0, 20.0, 33.0, 33.0]);
    }
}
