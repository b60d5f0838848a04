//! Measurements of parts of the core: the estimates of a sketch for a stream of keys, the cost of a packet in a
//! discipline, and the share of packets that one drops at a given queue.

use crate::error::{input, wrong};
use crate::notation;
use aqm_core::classifier::FlowKind;
use aqm_core::law::Shares;
use aqm_core::link::Link;
use aqm_core::packet::Packet;
use aqm_core::params::Choice;
use aqm_core::qdisc::Qdisc;
use aqm_core::random::Random;
use aqm_core::signal::Unobserved;
use aqm_core::sketch::{self, MAX_DEPTH, SketchKind};
use aqm_core::spec::Spec;
use aqm_core::units::{Bytes, Rate, Time};
use aqm_path::meter::Meter;
use aqm_path::meter::recorded::Recorded;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::collections::{BTreeMap, VecDeque};
use std::hint::black_box;

/// Estimates before and thresholds after each arrival, and the bytes of counters.
type Estimates<'py> = (Bound<'py, PyBytes>, Bound<'py, PyBytes>, usize);

/// Adds `keys` (64-bit integers, little-endian) to a sketch, one by one. Returns the estimate before each arrival
/// (64-bit integers), S-PIE's running threshold after it (64-bit floats) and the bytes of counters.
#[pyfunction]
#[pyo3(name = "sketch")]
pub(crate) fn sketch_stream<'py>(
    py: Python<'py>,
    kind: &str,
    width: u32,
    depth: u32,
    keys: &[u8],
) -> PyResult<Estimates<'py>> {
    let (keys, []) = keys.as_chunks::<8>() else {
        return Err(input(format!("keys: {} bytes are no whole number of 8-byte keys", keys.len())));
    };
    // 2^26 counters take 256 MiB.
    if width == 0 || depth == 0 || depth > MAX_DEPTH || width > (1 << 26) / depth {
        let allowed = format!("width at least 1, depth 1 to {MAX_DEPTH}, at most 2^26 counters");
        return Err(input(format!("sketch: {width} x {depth} counters (allowed: {allowed})")));
    }
    let Some(kind) = SketchKind::of_word(kind) else {
        let allowed = SketchKind::WORDS.join(", ");
        return Err(input(format!("sketch: unknown kind '{kind}' (allowed: {allowed})")));
    };
    let mut sketch = sketch::of_kind(kind, width, depth);
    let (mut estimates, mut thresholds) = (Vec::with_capacity(8 * keys.len()), Vec::new());
    py.detach(|| {
        let mut shares = Shares::default();
        for key in keys {
            let before = sketch.add(u64::from_le_bytes(*key), 1);
            shares.add(before, 1);
            estimates.extend(before.to_le_bytes());
            thresholds.extend(shares.threshold().to_le_bytes());
        }
    });
    Ok((PyBytes::new(py, &estimates), PyBytes::new(py, &thresholds), sketch.bytes()))
}

/// Metrics by their names in the contract; the middles of a histogram's buckets and their counts, 64-bit whole numbers.
type AtQueue<'py> = (BTreeMap<&'static str, f64>, Bound<'py, PyBytes>, Bound<'py, PyBytes>);

/// The metrics of recorded packets at a queue between two times, in nanoseconds. Each packet is four 64-bit whole numbers,
/// little-endian: when it arrived, when it left (0: never), its bytes on the link, and whether it left marked. What is
/// undefined is left out.
#[pyfunction]
pub(crate) fn queue_metrics<'py>(
    py: Python<'py>,
    packets: &[u8],
    since_ns: u64,
    until_ns: u64,
) -> PyResult<AtQueue<'py>> {
    let (rows, []) = packets.as_chunks::<32>() else {
        return Err(input(format!(
            "packets: {} bytes are no whole number of 32-byte packets",
            packets.len()
        )));
    };
    let [since, until] = [since_ns, until_ns].map(Time::from_nanos);
    let recorded = rows.iter().map(|row| {
        let (words, _) = row.as_chunks::<8>();
        let [arrived, left, bytes, marked] = [0, 1, 2, 3].map(|word| u64::from_le_bytes(words[word]));
        let left = (left > 0).then_some(Time::from_nanos(left));
        Recorded { arrived: Time::from_nanos(arrived), left, bytes, is_marked: marked > 0 }
    });
    let meter = py.detach(|| Meter::of_recorded(recorded, since, until));
    let found = meter.packets(until.since(since).as_secs_f64()).filter(|(_, value)| value.is_finite());
    let (middles, counts): (Vec<[u8; 8]>, Vec<[u8; 8]>) = meter
        .sojourn
        .iter()
        .map(|(middle, count)| (middle.to_le_bytes(), u64::from(count).to_le_bytes()))
        .unzip();
    let [middles, counts] = [middles, counts].map(|words| PyBytes::new(py, words.as_flattened()));
    Ok((found.collect(), middles, counts))
}

/// What a classifier (in tc's notation) says of the packets of `flows` (64-bit whole numbers, little-endian), one after
/// the other: a byte for each, 1 where it is reported. With the bytes of its tables, and its notation in full.
#[pyfunction]
pub(crate) fn classify<'py>(
    py: Python<'py>,
    classifier: &str,
    flows: &[u8],
    seed: u64,
) -> PyResult<(Bound<'py, PyBytes>, usize, String)> {
    let (flows, []) = flows.as_chunks::<8>() else {
        return Err(input(format!("flows: {} bytes are no whole number of 8-byte flows", flows.len())));
    };
    let (info, spec) = Spec::parse_classifier(classifier).map_err(wrong)?;
    let mut classifier =
        (info.build)(&spec.params).map_err(|error| input(format!("{}: {error}", info.name)))?;
    let mut random = Random::seeded(seed);
    let reported: Vec<u8> = py.detach(|| {
        let kinds = flows.iter().map(|flow| classifier.observe(u64::from_le_bytes(*flow), &mut random));
        kinds.map(|kind| u8::from(kind == FlowKind::Ltf)).collect()
    });
    let full = info.name.to_owned() + &spec.to_string()[info.discipline.name.len()..];
    Ok((PyBytes::new(py, &reported), classifier.bytes(), full))
}

/// Bytes of every packet of the measurement.
const LENGTH: u32 = 1500;
/// The result is the median of this many rounds, which excludes most other load of the machine.
const ROUNDS: u64 = 9;

/// The cost of one packet of 1500 bytes in `spec`: enqueue and dequeue while `standing_packets` of `flows` flows are
/// queued, as time passes at the link's rate. Returns nanoseconds per packet, those of a push and a pop on a plain
/// ring, and the discipline's bytes of state at the end, queued packets not counted. Packets that the law drops are
/// replaced: up to two packets arrive for one that leaves.
#[pyfunction]
pub(crate) fn cost(
    py: Python<'_>,
    spec: &str,
    rate_bps: u64,
    flows: u64,
    standing_packets: u64,
    packets: u64,
) -> PyResult<(f64, f64, usize)> {
    for (name, value) in [("rate_bps", rate_bps), ("flows", flows), ("standing_packets", standing_packets)] {
        if value == 0 {
            return Err(input(format!("{name}: 0 (allowed: at least 1)")));
        }
    }
    if packets < ROUNDS {
        return Err(input(format!("packets: {packets} (allowed: at least {ROUNDS})")));
    }
    let rate = Rate::from_bits_per_sec(rate_bps);
    let spec = notation::spec(spec).map_err(wrong)?;
    let qdisc = spec.build(Link::new(rate), Random::seeded(0)).map_err(wrong)?;
    Ok(py.detach(|| {
        let mut queue = Queue { qdisc, rate, source: Source::new(flows), standing_packets, now: Time::ZERO };
        let mut ring = VecDeque::new();
        let mut source = Source::new(flows);
        (0..standing_packets).for_each(|_| queue.arrive());
        ring.extend((0..standing_packets).map(|_| source.packet()));
        let steps = packets / ROUNDS;
        // Warm-up: every flow is seen, every table is touched.
        (0..flows.max(steps)).for_each(|_| queue.step());
        let (mut costs, mut yardsticks) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            costs.push(nanos_per_step(steps, || queue.step()));
            yardsticks.push(nanos_per_step(steps, || {
                ring.push_back(source.packet());
                black_box(&ring.pop_front());
            }));
        }
        (median(costs), median(yardsticks), queue.qdisc.discipline().state_bytes())
    }))
}

/// The share of arriving packets of 1500 bytes that `spec` drops on arrival while `standing_packets` wait: one more
/// arrives for each that time lets leave, and one that is accepted takes the place of the first. Averages settle over
/// `packets` arrivals, and as many are counted. A queue whose limit is less stands at its limit.
#[pyfunction]
pub(crate) fn drop_share(
    py: Python<'_>,
    spec: &str,
    rate_bps: u64,
    standing_packets: u64,
    packets: u64,
    seed: u64,
) -> PyResult<f64> {
    for (name, value) in [("rate_bps", rate_bps), ("packets", packets)] {
        if value == 0 {
            return Err(input(format!("{name}: 0 (allowed: at least 1)")));
        }
    }
    let rate = Rate::from_bits_per_sec(rate_bps);
    let spec = notation::spec(spec).map_err(wrong)?;
    let qdisc = spec.build(Link::new(rate), Random::seeded(seed)).map_err(wrong)?;
    Ok(py.detach(|| {
        let mut queue = Queue { qdisc, rate, source: Source::new(1), standing_packets, now: Time::ZERO };
        (0..standing_packets).for_each(|_| queue.arrive());
        (0..packets).for_each(|_| _ = queue.replace());
        let dropped = (0..packets).filter(|_| !queue.replace()).count();
        dropped as f64 / packets as f64
    }))
}

struct Queue {
    qdisc: Qdisc,
    rate: Rate,
    source: Source,
    standing_packets: u64,
    now: Time,
}

impl Queue {
    #[inline]
    fn arrive(&mut self) {
        self.qdisc.enqueue(self.source.packet(), self.now, &mut Unobserved);
    }

    /// A packet arrives when one could leave; one does if it is accepted. Whether it is.
    fn replace(&mut self) -> bool {
        self.tick();
        let before = self.qdisc.backlog().packets;
        self.arrive();
        let accepted = self.qdisc.backlog().packets > before;
        if accepted {
            self.qdisc.dequeue(self.now, &mut Unobserved);
        }
        accepted
    }

    /// The time of a packet on the link passes.
    #[inline]
    fn tick(&mut self) {
        self.now += self.rate.time_for(Bytes::new(u64::from(LENGTH)));
        if self.qdisc.wakes() && self.qdisc.next_wakeup().is_some_and(|due| due <= self.now) {
            self.qdisc.wake(self.now, &mut Unobserved);
        }
    }

    /// One packet is sent.
    #[inline]
    fn step(&mut self) {
        self.tick();
        self.arrive();
        if self.qdisc.backlog().packets < self.standing_packets {
            self.arrive();
        }
        black_box(&self.qdisc.dequeue(self.now, &mut Unobserved));
    }
}

/// A source of packets, its flows in turn.
struct Source {
    flows: u64,
    next: u64,
    number: u64,
}

impl Source {
    fn new(flows: u64) -> Source {
        Source { flows, next: 0, number: 0 }
    }

    #[inline]
    fn packet(&mut self) -> Packet {
        self.number += 1;
        self.next = if self.next + 1 < self.flows { self.next + 1 } else { 0 };
        let flow = sketch::mix(self.next + 1);
        let mut packet = Packet::new(self.number, flow, LENGTH);
        (packet.source, packet.destination) = (flow as u32, (flow >> 32) as u32);
        packet
    }
}

#[expect(clippy::disallowed_methods, reason = "this measures the machine: nothing that is simulated sees it")]
fn nanos_per_step(steps: u64, mut step: impl FnMut()) -> f64 {
    let start = std::time::Instant::now();
    (0..steps).for_each(|_| step());
    start.elapsed().as_nanos() as f64 / steps as f64
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
