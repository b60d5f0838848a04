//! ECN of the flow queues: five flows with twenty packets each, of which three have ECN; and L4S beside classic traffic.

use super::common::rig::{Rig, What};
use super::played::{Do, Plan, at_once, rig};
use aqm_core::packet::Ecn;
use aqm_core::signal::{DropReason, MarkReason};

/// 100 bytes and an IPv4 header.
const LENGTH: u32 = 120;

/// What became of the packets of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Fate {
    sent: usize,
    dropped: usize,
    by_law: usize,
    by_threshold: usize,
}

/// By flow, whose packets `of` names by their number.
fn fates<const N: usize>(rig: &Rig, of: impl Fn(u64) -> usize) -> [Fate; N] {
    let mut found = [Fate::default(); N];
    for event in rig.events() {
        match event.what {
            What::Departed(number) => found[of(number)].sent += 1,
            What::Dropped(number, DropReason::Congestion, _) => found[of(number)].dropped += 1,
            What::Marked(number, MarkReason::Congestion) => found[of(number)].by_law += 1,
            What::Marked(number, MarkReason::Threshold) => found[of(number)].by_threshold += 1,
            other => panic!("{other:?}"),
        }
    }
    found
}

/// Twenty packets of each of five flows at once, three flows with ECN; 60 services, so many microseconds apart.
fn five_flows(spec: &str, gap: u64) -> [Fate; 5] {
    let mut rig = rig(spec, 1);
    for flow in 0..5 {
        let ecn = if flow < 3 { Ecn::Ect0 } else { Ecn::NotEct };
        at_once(&mut rig, 20, flow, LENGTH, ecn);
    }
    Plan::default().every(0, gap, 60, Do::Serve).play(&mut rig, |_, _| ());
    fates(&rig, |number| (number / 20) as usize)
}

fn check_conserved(found: &[Fate; 5]) {
    assert_eq!(found.iter().map(|fate| fate.sent).sum::<usize>(), 60, "{found:?}");
    assert!(found.iter().all(|fate| fate.sent + fate.dropped <= 20), "{found:?}");
}

pub(crate) fn fq_codel() {
    // Linux's arithmetic; a flow is judged by its own backlog, and not below a full packet, as ns-3's MinBytes says.
    let spec = "fq_codel:linux limit 10240p quantum 1514b guard flow";
    // 1: six marks, then twelve packets are left, less than a full one. Of the flows without ECN four packets go.
    let usual = five_flows(spec, 110_000);
    check_conserved(&usual);
    assert!(usual.iter().all(|fate| fate.sent + fate.dropped < 20), "some remain in every flow: {usual:?}");
    assert_eq!(usual.map(|fate| fate.by_law), [6, 6, 6, 0, 0]);
    assert_eq!(usual.map(|fate| fate.dropped), [0, 0, 0, 4, 4]);
    // 2: a threshold of 2 ms and a service each 0.1 ms. A turn has 13 packets: those of the first flow wait for up to 1.3 ms,
    // the eighth of the second for 2.1 ms, and all of the third for more.
    let quick = five_flows(&format!("{spec} ce_threshold 2ms"), 100);
    check_conserved(&quick);
    assert_eq!(quick.map(|fate| fate.by_threshold), [0, 6, 13, 0, 0]);
    assert_eq!(quick.map(|fate| (fate.dropped, fate.by_law)), [(0, 0); 5]);
    // 3: as 1 with the threshold: every packet that leaves is marked, once, and as many are dropped.
    let both = five_flows(&format!("{spec} ce_threshold 2ms"), 110_000);
    check_conserved(&both);
    both[..3]
        .iter()
        .for_each(|fate| assert_eq!((fate.by_law + fate.by_threshold, fate.dropped), (fate.sent, 0)));
    assert_eq!(both.map(|fate| fate.dropped), [0, 0, 0, 4, 4]);
    assert_eq!(both.map(|fate| fate.by_threshold == 0), [false, false, false, true, true]);
}

pub(crate) fn fq_cobalt() {
    // 1: no backlog is too short for a signal: every packet after a flow's first is marked, or dropped.
    let found = five_flows("fq_cobalt:ns3 limit 10240p quantum 1514b blue_threshold auto", 110_000);
    check_conserved(&found);
    assert_eq!(found.map(|fate| fate.by_law), [19, 16, 12, 0, 0]);
    assert_eq!(found.map(|fate| fate.dropped).map(|dropped| dropped > 0), [false, false, false, true, true]);
    assert_eq!(found[3].dropped, found[4].dropped);
}

/// 70 packets of ECT(1), then 70 of ECT(0), as `plan` has them, and 140 services 1 ms apart. Marks on ECT(1), of both
/// reasons, and those on ECT(0); nothing is dropped.
fn l4s(spec: &str, plan: &mut Plan) -> [usize; 2] {
    let mut rig = rig(spec, 1);
    let mut ecn_of = Vec::new();
    plan.every(0, 1000, 140, Do::Serve).play(&mut rig, |_, what| {
        if let Do::Arrive(_, _, ecn) = what {
            ecn_of.push(ecn);
        }
    });
    let [scalable, classic] = fates(&rig, |number| usize::from(ecn_of[number as usize] == Ecn::Ect0));
    assert_eq!([scalable.dropped, classic.dropped, classic.by_threshold], [0; 3]);
    assert_eq!([scalable.sent, classic.sent], [70; 2]);
    [scalable.by_law + scalable.by_threshold, classic.by_law]
}

/// UseL4s with a CeThreshold of 2 ms. In ns-3 the law does not judge ECT(1), in Linux it does, so that a mark of the law may
/// be on a packet that the threshold would have marked.
pub(crate) fn l4s_by_fq_codel() {
    let spec = "fq_codel:linux limit 10240p quantum 1514b guard flow ce_threshold 2ms ce_threshold_selector 1 \
                ce_threshold_mask 3";
    // 1: two flows, a packet of each in 0.5 ms. The first four of ECT(1) wait for at most 2 ms.
    let mut plan = Plan::default();
    plan.every(0, 500, 70, Do::Arrive(1, LENGTH, Ecn::Ect1)).every(
        0,
        500,
        70,
        Do::Arrive(2, LENGTH, Ecn::Ect0),
    );
    assert_eq!(l4s(spec, &mut plan), [66, 1]);
    // 2: the two in one queue; the first two of ECT(1) wait for at most 1.5 ms.
    let mut plan = Plan::default();
    plan.at(500, Do::Arrive(1, LENGTH, Ecn::Ect1))
        .every(500, 1000, 69, Do::Arrive(1, LENGTH, Ecn::Ect1))
        .every(0, 1000, 70, Do::Arrive(1, LENGTH, Ecn::Ect0));
    let [scalable, classic] = l4s(spec, &mut plan);
    assert_eq!(scalable, 68);
    assert!(classic <= 1, "{classic}");
}
