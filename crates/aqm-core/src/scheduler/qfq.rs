//! Quick fair queueing: the bounds of the ideal WF2Q+ up to a constant, at a cost that does not depend on the number
//! of classes.
//!
//! Checconi, Rizzo and Valente, "QFQ: Efficient Packet Scheduling With Tight Guarantees", IEEE/ACM ToN 21(3), 2013,
//! sections III and IV. Classes with a similar ratio of largest packet L to weight are in one group, whose slot sigma
//! = 2^i is at least L / weight; within a group classes are ordered by their start times, rounded to slots. Each
//! group with packets is in one of four sets: eligible or not (has it started in virtual time?), ready or blocked
//! (does a group of larger slots finish earlier?). The first group that is eligible and ready sends.

use super::{Heads, Scheduler};
use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;
use core::array;

/// Virtual time is in bytes for weight one, in units of this fraction.
const SCALE: u64 = 1 << 20;

/// Groups by the logarithm of their slots.
const GROUPS: usize = 64;

/// A set of groups.
type Set = u64;

/// Indices of the four sets; bit 0 is for groups that are not eligible yet, bit 1 for those that are blocked.
const ER: usize = 0;
const IR: usize = 1;
const EB: usize = 2;
const IB: usize = 3;

/// Shares bytes in proportion to weights.
#[derive(Clone, Debug)]
pub struct Qfq {
    classes: Vec<Class>,
    groups: [Group; GROUPS],
    sets: [Set; 4],
    /// V(t).
    now: u64,
    total_weight: u64,
}

#[derive(Clone, Debug, Default)]
struct Class {
    weight: u64,
    /// L as configured, and the largest packet so far if that is larger.
    max_packet: u32,
    largest: u32,
    group: usize,
    /// S and F.
    start: u64,
    finish: u64,
    active: bool,
}

/// Classes of one slot size.
#[derive(Clone, Debug, Default)]
struct Group {
    /// Classes with packets, by the slot in which they start.
    classes: VecDeque<(u64, usize)>,
    start: u64,
    finish: u64,
}

impl Class {
    /// The logarithm of the smallest power of two that is no less than L / weight.
    fn group(&self) -> usize {
        let slot = (u64::from(self.largest) * SCALE).div_ceil(self.weight);
        slot.next_power_of_two().trailing_zeros() as usize
    }

    fn slot(&self, time: u64) -> u64 {
        time >> self.group << self.group
    }
}

impl Group {
    fn insert(&mut self, slot: u64, class: usize) {
        let place = self.classes.partition_point(|(other, _)| *other <= slot);
        self.classes.insert(place, (slot, class));
    }
}

/// The elements of a set from `group` on.
fn from(set: Set, group: usize) -> Set {
    set & (Set::MAX << group)
}

fn first(set: Set) -> Option<usize> {
    (set != 0).then(|| set.trailing_zeros() as usize)
}

impl Qfq {
    /// One class per weight, with its largest packet; both are at least one.
    pub fn new(weights: &[u32], max_packets: &[u32]) -> Qfq {
        let mut qfq = Qfq {
            classes: vec![Class::default(); weights.len()],
            groups: array::from_fn(|_| Group::default()),
            sets: [0; 4],
            now: 0,
            total_weight: 0,
        };
        qfq.configure(weights, max_packets);
        qfq
    }

    /// New weights and largest packets, as many as before. If any differs, virtual time restarts for all.
    pub fn set(&mut self, weights: &[u32], max_packets: &[u32]) {
        let wanted = weights.iter().zip(max_packets);
        let same = |(class, (weight, max_packet)): (&Class, (&u32, &u32))| {
            (class.weight, class.max_packet) == (u64::from(*weight), *max_packet)
        };
        if !self.classes.iter().zip(wanted).all(same) {
            let active: Vec<bool> = self.classes.iter().map(|class| class.active).collect();
            self.clear();
            self.configure(weights, max_packets);
            (0..active.len()).filter(|class| active[*class]).for_each(|class| self.activate(class));
        }
    }

    fn configure(&mut self, weights: &[u32], max_packets: &[u32]) {
        for (class, (weight, max_packet)) in self.classes.iter_mut().zip(weights.iter().zip(max_packets)) {
            *class = Class {
                weight: u64::from(*weight),
                max_packet: *max_packet,
                largest: *max_packet,
                ..Class::default()
            };
            class.group = class.group();
        }
        self.total_weight = self.classes.iter().map(|class| class.weight).sum();
        // Space for all classes in each group that one may get into, so that nothing is allocated later.
        let room = self.classes.len();
        self.groups.iter_mut().for_each(|group| group.classes.reserve(room));
    }

    /// Bytes of state beyond the scheduler itself.
    pub fn state_bytes(&self) -> usize {
        let slots: usize = self.groups.iter().map(|group| group.classes.capacity()).sum();
        self.classes.len() * size_of::<Class>() + slots * size_of::<(u64, usize)>()
    }

    /// The start time of a class that gets packets: V, or its last finish time if that is later (equation 1). If its
    /// group would be blocked by one that is late, it starts with the finish time of that one, so that the groups
    /// that are eligible and ready stay in order (section IV-A).
    fn start_of(&self, class: &Class) -> u64 {
        if class.finish > self.now {
            return class.finish;
        }
        match first(from(self.sets[ER], class.group)).map(|group| self.groups[group].finish) {
            Some(finish) if class.slot(class.finish) > finish => finish,
            _ => self.now,
        }
    }

    /// Adds a class with packets to its group.
    fn join(&mut self, number: usize) {
        let class = &self.classes[number];
        let (group, slot) = (class.group, class.slot(class.start));
        let was_empty = self.groups[group].classes.is_empty();
        self.groups[group].insert(slot, number);
        if was_empty && self.sets[ER] == 0 {
            // No other class has packets: virtual time advances to this one.
            self.now = self.now.max(slot);
        }
        if was_empty || slot < self.groups[group].start {
            self.place(group, slot);
        }
    }

    /// Adds a group that starts at `slot` to its set (compute_group_state).
    fn place(&mut self, group: usize, slot: u64) {
        self.forget(group);
        let finish = slot + (2 << group);
        (self.groups[group].start, self.groups[group].finish) = (slot, finish);
        let later = usize::from(slot > self.now) * IR;
        // Groups that are eligible and ready finish in the order of their slots, so the next one finishes first.
        let next = first(from(self.sets[ER], group));
        let blocked = next.is_some_and(|next| self.groups[next].finish < finish);
        self.sets[later + usize::from(blocked) * EB] |= 1 << group;
    }

    fn forget(&mut self, group: usize) {
        self.sets.iter_mut().for_each(|set| *set &= !(1 << group));
    }

    fn move_groups(&mut self, mask: Set, source: usize, target: usize) {
        self.sets[target] |= self.sets[source] & mask;
        self.sets[source] &= !mask;
    }

    /// The first class of a group that was eligible and ready has left, possibly to return: the group may start later
    /// now, and those that it blocked may be free (unblock_groups).
    fn settle(&mut self, group: usize) {
        let old_finish = self.groups[group].finish;
        match self.groups[group].classes.front().copied() {
            None => self.forget(group),
            Some((slot, _)) if slot > self.groups[group].start => self.place(group, slot),
            Some(_) => return,
        }
        let next = first(from(self.sets[ER], group + 1)).map(|next| self.groups[next].finish);
        if next.is_none_or(|finish| finish > old_finish) {
            let smaller = (1 << group) - 1;
            self.move_groups(smaller, EB, ER);
            self.move_groups(smaller, IB, IR);
        }
    }

    /// Virtual time has advanced from `before` to now, or must advance because no group is eligible (make_eligible):
    /// all groups become eligible whose slots start in between.
    fn make_eligible(&mut self, before: u64) {
        let Some(waiting) = first(self.sets[IR] | self.sets[IB]) else { return };
        if self.sets[ER] == 0 {
            self.now = self.now.max(self.groups[waiting].start);
        }
        let passed = before ^ self.now;
        if passed != 0 {
            // A group that is not eligible starts with the next slot of its size: a bit of at least that size has
            // changed.
            let mask = Set::MAX >> passed.leading_zeros();
            self.move_groups(mask, IR, ER);
            self.move_groups(mask, IB, EB);
        }
    }

    /// Removes the first class of a group that is eligible and ready.
    fn leave(&mut self, group: usize) {
        let gone = self.groups[group].classes.pop_front();
        debug_assert!(gone.is_some(), "a group in a set has classes");
    }
}

impl Scheduler for Qfq {
    #[inline]
    fn activate(&mut self, number: usize) {
        if !self.classes[number].active {
            let start = self.start_of(&self.classes[number]);
            let class = &mut self.classes[number];
            (class.start, class.active) = (start, true);
            self.join(number);
        }
    }

    #[inline]
    fn select(&mut self, heads: &mut Heads<'_>) -> Option<usize> {
        loop {
            let group = first(self.sets[ER])?;
            let number = self.groups[group].classes.front()?.1;
            let head = heads(number);
            if head.is_some_and(|length| length <= self.classes[number].largest) {
                return Some(number);
            }
            // It has nothing to send, or more than its slot allows: it leaves, or moves to a group of larger slots.
            self.leave(group);
            self.settle(group);
            self.make_eligible(self.now);
            let class = &mut self.classes[number];
            class.active = false;
            if let Some(length) = head {
                class.largest = length;
                class.group = class.group();
                self.activate(number);
            }
        }
    }

    #[inline]
    fn sent(&mut self, number: usize, length: u32, emptied: bool) {
        let class = &mut self.classes[number];
        let group = class.group;
        class.finish = class.start + u64::from(length) * SCALE / class.weight;
        class.start = class.finish;
        class.active = !emptied;
        let slot = class.slot(class.start);
        self.leave(group);
        if !emptied {
            self.groups[group].insert(slot, number);
        }
        let before = self.now;
        self.now += u64::from(length) * SCALE / self.total_weight;
        self.settle(group);
        self.make_eligible(before);
    }

    fn clear(&mut self) {
        for class in &mut self.classes {
            (class.start, class.finish, class.active) = (0, 0, false);
        }
        for group in &mut self.groups {
            group.classes.clear();
        }
        (self.sets, self.now) = ([0; 4], 0);
    }
}

#[cfg(test)]
mod tests {
    use super::super::Drr;
    use super::super::testing::Queues;
    use super::*;
    use crate::random::Random;

    #[test]
    fn classes_of_one_group_are_served_by_slot_and_then_in_turn() {
        // Slots of 1024 bytes of weight one; V advances by half of what is sent.
        let mut queues = Queues::new(Qfq::new(&[1, 1], &[1000, 1000]));
        queues.put(0, &[1000; 3]); // S = 0, 1000, 2000: slots 0, 0, 1
        queues.put(1, &[600; 5]); // S = 0, 600, 1200, 1800, 2400: slots 0, 0, 1, 1, 2
        assert_eq!(queues.order(9), [0, 1, 0, 1, 0, 1, 1, 1]);
    }

    #[test]
    fn a_class_with_a_larger_weight_sends_more_and_never_far_ahead() {
        // Slots of 256 and 1024. Class 0 has S = 0, 250, 500, 750, 1000, V advances by 200: slots 0, 0, 256, 512, 768
        // have begun when their turns come, 1024 has not at V = 1000.
        let mut queues = Queues::new(Qfq::new(&[4, 1], &[1000, 1000]));
        queues.put(0, &[1000; 8]);
        queues.put(1, &[1000; 2]);
        assert_eq!(queues.order(6), [0, 0, 0, 0, 0, 1]);
        // The slots 1024, 1280 and 1536 finish before class 1 does with 2048.
        assert_eq!(queues.order(9), [0, 0, 0, 1]);
    }

    #[test]
    fn a_group_that_finishes_later_than_one_of_larger_slots_is_blocked() {
        let mut queues = Queues::new(Qfq::new(&[4, 1], &[1000, 1000]));
        queues.put(0, &[1000; 10]);
        queues.put(1, &[1000; 3]);
        assert_eq!(queues.order(9), [0, 0, 0, 0, 0, 1, 0, 0, 0]);
        // S = 2000, V = 1800: slot 1792 has begun but finishes with 2304, class 1 with 2048.
        assert_eq!(queues.order(9), [1, 0, 0, 1]);
    }

    #[test]
    fn virtual_time_advances_if_no_group_is_eligible() {
        let mut queues = Queues::new(Qfq::new(&[1, 63], &[1000, 1000]));
        queues.put(0, &[1000; 4]); // each starts 1000 later, while V advances by 1000 / 64
        assert_eq!(queues.order(9), [0, 0, 0, 0]);
        assert_eq!(queues.serve(), None);
    }

    #[test]
    fn a_class_that_returns_late_starts_at_virtual_time() {
        let mut queues = Queues::new(Qfq::new(&[1, 1], &[1000, 1000]));
        queues.put(0, &[1000; 20]);
        queues.put(1, &[1000]);
        assert_eq!(queues.order(11), [0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        queues.put(1, &[1000; 3]); // no credit for the time without packets
        let order = queues.order(6);
        assert_eq!(order.iter().filter(|class| **class == 1).count(), 3);
        assert!(!order.windows(3).any(|three| three == [1, 1, 1]), "{order:?}");
    }

    #[test]
    fn a_packet_larger_than_configured_moves_its_class_to_larger_slots() {
        let mut queues = Queues::new(Qfq::new(&[1, 1], &[64, 1000]));
        assert_eq!((queues.scheduler.classes[0].group, queues.scheduler.classes[1].group), (26, 30));
        queues.put(0, &[64, 900, 64]);
        assert_eq!(queues.order(3), [0, 0, 0]);
        assert_eq!(queues.scheduler.classes[0].group, 30);
        queues.scheduler.set(&[1, 1], &[64, 1000]); // the current values
        assert_eq!(queues.scheduler.classes[0].group, 30);
        queues.scheduler.set(&[2, 1], &[64, 1000]);
        assert_eq!(queues.scheduler.classes[0].group, 25);
    }

    #[test]
    fn a_cleared_scheduler_starts_again() {
        let mut queues = Queues::new(Qfq::new(&[4, 1], &[1000, 1000]));
        let orders = [0; 2].map(|_| {
            queues.put(0, &[1000; 9]);
            queues.put(1, &[1000; 3]);
            let order = queues.order(9);
            queues.order(9);
            queues.scheduler.clear();
            order
        });
        assert_eq!(orders[0], orders[1]);
    }

    /// Random traffic for a scheduler. Returns the largest B-WFI seen for each class: the most bytes by which a class
    /// with packets fell behind its share between any two times.
    fn worst_fair_index(
        scheduler: &mut dyn Scheduler,
        weights: &[u32],
        max_packets: &[u32],
        seed: u64,
    ) -> Vec<f64> {
        let classes = weights.len();
        let total: f64 = weights.iter().map(|weight| f64::from(*weight)).sum();
        let mut random = Random::seeded(seed);
        let mut queues: Vec<VecDeque<u32>> = vec![VecDeque::new(); classes];
        // How far each class is behind now, its minimum since it has had packets, and the largest difference so far.
        let (mut behind, mut least, mut worst) =
            (vec![0.0; classes], vec![0.0; classes], vec![0.0f64; classes]);
        for _ in 0..6000 {
            if random.below(20) < 9 {
                let class = random.below(classes as u64) as usize;
                for _ in 0..1 + random.below(20) {
                    let length = 64 + random.below(u64::from(max_packets[class]) - 63) as u32;
                    if queues[class].is_empty() {
                        least[class] = behind[class];
                    }
                    queues[class].push_back(length);
                    scheduler.activate(class);
                }
            }
            for _ in 0..random.below(9) {
                let Some(class) = scheduler.select(&mut |class| queues[class].front().copied()) else {
                    break;
                };
                let length = queues[class].pop_front().expect("it has a head");
                scheduler.sent(class, length, queues[class].is_empty());
                for (number, weight) in weights.iter().enumerate() {
                    let mine = if number == class { f64::from(length) } else { 0.0 };
                    behind[number] += f64::from(*weight) / total * f64::from(length) - mine;
                    if !queues[number].is_empty() {
                        worst[number] = worst[number].max(behind[number] - least[number]);
                        least[number] = f64::min(least[number], behind[number]);
                    }
                }
            }
        }
        worst
    }

    #[test]
    fn no_class_falls_behind_its_share_by_more_than_the_papers_bound() {
        let mut random = Random::seeded(7);
        let mut closest = 0.0f64;
        for seed in 0..60 {
            let classes = 2 + random.below(40) as usize;
            let weights: Vec<u32> = (0..classes).map(|_| 1 << random.below(8)).collect();
            let max_packets: Vec<u32> = (0..classes).map(|_| 64 + random.below(1451) as u32).collect();
            let mut qfq = Qfq::new(&weights, &max_packets);
            let worst = worst_fair_index(&mut qfq, &weights, &max_packets, seed);
            let (total, largest) = (qfq.total_weight as f64, f64::from(*max_packets.iter().max().unwrap()));
            for (class, worst) in qfq.classes.iter().zip(worst) {
                // Theorem 3: B-WFI = 3 phi sigma + 2 phi L, with phi = weight / total and sigma in bytes of the link.
                let phi = class.weight as f64 / total;
                let sigma = (1u64 << class.group) as f64 / SCALE as f64 * total;
                let bound = 3.0 * phi * sigma + 2.0 * phi * largest;
                assert!(worst <= bound, "seed {seed}: {worst} bytes behind, allowed are {bound}");
                closest = closest.max(worst / bound);
            }
        }
        assert!(closest > 0.3, "the workloads come nowhere near the bound: {closest}");
    }

    #[test]
    fn deficit_round_robin_breaks_that_bound() {
        // One class with half of the weight against 32 others: it waits for a packet of each.
        let weights: Vec<u32> = core::iter::once(32).chain([1; 32]).collect();
        let max_packets = vec![1514; 33];
        let quanta: Vec<u32> = weights.iter().map(|weight| weight * 1514).collect();
        let worst = (0..4)
            .map(|seed| worst_fair_index(&mut Drr::new(quanta.clone()), &weights, &max_packets, seed)[0]);
        let bound = 3.0 * 0.5 * 2.0 * 2.0 * 1514.0 + 2.0 * 0.5 * 1514.0;
        assert!(worst.fold(0.0, f64::max) > bound);
    }
}
