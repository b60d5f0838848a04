//! A device under supervision: whatever its kind, it keeps the rules of bursts, or the run says which it broke.

use super::burst::{Air, Device, Frame, Next, Outcome, Queues, Transmitted, Whom};
use aqm_core::sent::Sent;
use aqm_core::stations::Stations;
use aqm_core::units::{Span, Time};
use std::collections::BTreeMap;

/// A device, what it has taken, and what it has in the air.
pub struct Supervised {
    device: Box<dyn Device>,
    /// Packets that it has taken and not yet sent, by their numbers.
    taken: BTreeMap<u32, Frame>,
    /// The burst in the air; packets that arrive are the host's from its beginning on.
    burst: Vec<Transmitted>,
    /// When the burst in the air ends.
    until: Time,
    /// When the device is to be asked again.
    due: Option<Time>,
    /// Time in the air so far.
    busy: Span,
    pulled: u64,
    delivered: u64,
    lost: u64,
    requeued: u64,
    broken: Option<String>,
}

/// The queues, seen by the supervisor.
struct Watched<'a> {
    queues: &'a mut dyn Queues,
    taken: &'a mut BTreeMap<u32, Frame>,
    pulled: &'a mut u64,
    lost: &'a mut u64,
    broken: &'a mut Option<String>,
}

impl Queues for Watched<'_> {
    fn pull(&mut self, port: u32, whom: Whom) -> Option<Frame> {
        let frame = self.queues.pull(port, whom)?;
        *self.pulled += 1;
        self.taken.insert(frame.id, frame);
        Some(frame)
    }

    fn waiting(&self, port: u32) -> u64 {
        self.queues.waiting(port)
    }

    fn waiting_for(&self, port: u32, station: u8) -> u64 {
        self.queues.waiting_for(port, station)
    }

    fn next_station(&mut self, port: u32, among: Stations) -> Option<u8> {
        self.queues.next_station(port, among)
    }

    fn sent(&mut self, port: u32, sent: &Sent) {
        self.queues.sent(port, sent);
    }

    fn lose(&mut self, frame: Frame) {
        match self.taken.remove(&frame.id) {
            Some(own) if own == frame => {
                *self.lost += 1;
                self.queues.lose(frame);
            }
            _ => {
                let what = format!("it gives up packet {}, which it does not have", frame.id);
                self.broken.get_or_insert(what);
            }
        }
    }
}

impl Supervised {
    /// A device that has sent nothing yet.
    pub fn new(device: Box<dyn Device>) -> Supervised {
        Supervised {
            device,
            taken: BTreeMap::new(),
            burst: Vec::new(),
            until: Time::ZERO,
            due: None,
            busy: Span::ZERO,
            pulled: 0,
            delivered: 0,
            lost: 0,
            requeued: 0,
            broken: None,
        }
    }

    /// When the device is to be asked next, if it does not only wait for ports.
    pub fn due(&self) -> Option<Time> {
        self.due
    }

    /// Whether a burst is in the air.
    pub fn is_sending(&self, now: Time) -> bool {
        now < self.until
    }

    /// Whether packets of one flow may arrive in another order.
    pub fn reorders(&self) -> bool {
        self.device.reorders()
    }

    /// How many packets the device has lost for good by now: those of the burst in the air are not lost yet.
    pub fn lost(&self) -> u64 {
        self.lost - self.burst.iter().filter(|sent| sent.outcome == Outcome::Lost).count() as u64
    }

    /// The packets that are neither in a queue nor on the wire: taken, or in a burst that will not deliver them.
    pub fn inside(&self) -> impl Iterator<Item = &Frame> {
        let kept = self.burst.iter().filter(|sent| sent.outcome != Outcome::Delivered);
        self.taken.values().chain(kept.map(|sent| &sent.frame))
    }

    /// Whether it hears of every packet that comes, and says itself what became of transmissions.
    pub fn takes_ahead(&self) -> bool {
        self.device.takes_ahead()
    }

    /// Who has used the air, if stations share it.
    pub fn air(&self) -> Option<Air<'_>> {
        self.device.air()
    }

    /// A port has something to send.
    pub fn ready(&mut self, port: u32, now: Time, queues: &mut dyn Queues) {
        let Supervised { device, taken, pulled, lost, broken, .. } = self;
        device.ready(port, now, &mut Watched { queues, taken, pulled, lost, broken });
    }

    /// The burst that has ended by now: what became of its packets, in order. The host puts those that are requeued back to the
    /// front of their queues (the last first, so that they keep their order) before it asks what is next.
    pub fn ended(&mut self, now: Time) -> Vec<Transmitted> {
        if now < self.until { Vec::new() } else { std::mem::take(&mut self.burst) }
    }

    /// What next? The packets of a burst that will be delivered are the host's from now on.
    pub fn next(&mut self, now: Time, queues: &mut dyn Queues) -> (Next, &[Transmitted]) {
        let mut sent = Vec::new();
        let Supervised { device, taken, pulled, lost, broken, .. } = self;
        let mut watched = Watched { queues, taken, pulled, lost, broken };
        let next = device.next(now, &mut watched, &mut sent);
        if let Err(what) = self.follow(next, sent, now) {
            self.broken.get_or_insert(what);
        }
        (next, &self.burst)
    }

    /// The host has seen it break a rule.
    pub fn breaks(&mut self, what: &str) {
        self.broken.get_or_insert_with(|| what.to_owned());
    }

    /// Enters the answer of the device.
    fn follow(&mut self, next: Next, sent: Vec<Transmitted>, now: Time) -> Result<(), String> {
        self.due = match next {
            Next::Idle => None,
            Next::WaitUntil(at) => Some(at),
            Next::Burst { end, .. } => Some(end),
        };
        if now < self.until {
            return Err(format!("it was asked at {now}, within a burst until {}", self.until));
        }
        match next {
            Next::Burst { start, end } => return self.begin(start, end, sent, now),
            _ if !sent.is_empty() => return Err("it sends packets in no burst".to_owned()),
            Next::WaitUntil(at) if at <= now => return Err(format!("it waits until {at}, which is over")),
            Next::Idle if !self.taken.is_empty() => {
                return Err(format!("it is idle with {} packets that it has taken", self.taken.len()));
            }
            Next::Idle | Next::WaitUntil(_) => {}
        }
        Ok(())
    }

    fn begin(&mut self, start: Time, end: Time, sent: Vec<Transmitted>, now: Time) -> Result<(), String> {
        if start < now || end <= start {
            return Err(format!("a burst from {start} to {end} cannot begin at {now}"));
        }
        if sent.is_empty() && !self.device.takes_ahead() {
            return Err("a burst has no packets".to_owned());
        }
        let (mut before, mut airtime) = (start, Span::ZERO);
        for one in &sent {
            let id = one.frame.id;
            if self.taken.remove(&id) != Some(one.frame) {
                return Err(format!("a burst has packet {id}, which is not there to be sent"));
            }
            if one.out < before || one.out > end {
                return Err(format!("packet {id} is out at {}, not between {before} and {end}", one.out));
            }
            if one.attempts == 0 {
                return Err(format!("packet {id} was sent without an attempt"));
            }
            before = one.out;
            airtime += one.airtime;
            match one.outcome {
                Outcome::Delivered => self.delivered += 1,
                Outcome::Lost => self.lost += 1,
                Outcome::Requeued => self.requeued += 1,
            }
        }
        let length = end.since(start);
        self.burst = sent;
        self.until = end;
        self.busy += length;
        if airtime > length {
            return Err(format!("packets had {airtime} in a burst of {length}"));
        }
        Ok(())
    }

    /// What must hold at any time, whatever the kind.
    ///
    /// # Errors
    /// What does not hold.
    pub fn check(&self, now: Time) -> Result<(), String> {
        if let Some(what) = &self.broken {
            return Err(what.clone());
        }
        let (settled, there) = (self.delivered + self.lost + self.requeued, self.taken.len() as u64);
        if self.pulled != settled + there {
            let pulled = self.pulled;
            return Err(format!(
                "it took {pulled} packets, but {settled} were settled and {there} are there"
            ));
        }
        let in_air = self.busy.saturating_sub(self.until.since(now));
        if in_air > now.since(Time::ZERO) {
            return Err(format!("it has been sending for {in_air} at {now}"));
        }
        if let Some(due) = self.due.filter(|due| *due < now) {
            return Err(format!("it was to be asked at {due}, and was not"));
        }
        self.device.check(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One queue of numbered packets.
    struct Numbers(Vec<u32>);

    impl Queues for Numbers {
        fn pull(&mut self, port: u32, _whom: Whom) -> Option<Frame> {
            Some(Frame { id: self.0.pop()?, port, station: 0, length: 1000 })
        }

        fn waiting(&self, _port: u32) -> u64 {
            self.0.len() as u64
        }

        fn waiting_for(&self, port: u32, station: u8) -> u64 {
            if station == 0 { self.waiting(port) } else { 0 }
        }

        fn next_station(&mut self, port: u32, among: Stations) -> Option<u8> {
            (self.waiting(port) > 0 && among.contains(0)).then_some(0)
        }

        fn sent(&mut self, _port: u32, _sent: &Sent) {}

        fn lose(&mut self, _frame: Frame) {}
    }

    /// A device that does what a test says.
    struct Says(fn(Time, &mut dyn Queues, &mut Vec<Transmitted>) -> Next);

    impl Device for Says {
        fn ready(&mut self, _port: u32, _now: Time, _queues: &mut dyn Queues) {}

        fn next(&mut self, now: Time, queues: &mut dyn Queues, sent: &mut Vec<Transmitted>) -> Next {
            (self.0)(now, queues, sent)
        }
    }

    /// A device that sends packets alone, with something wrong in the burst.
    struct Spoilt(fn(&mut Vec<Transmitted>));

    impl Device for Spoilt {
        fn ready(&mut self, _port: u32, _now: Time, _queues: &mut dyn Queues) {}

        fn next(&mut self, now: Time, queues: &mut dyn Queues, sent: &mut Vec<Transmitted>) -> Next {
            let next = alone(now, queues, sent);
            (self.0)(sent);
            next
        }
    }

    fn millis(number: u64) -> Time {
        Time::ZERO + Span::from_millis(number)
    }

    /// The next packet in a burst of its own, of a millisecond.
    fn alone(now: Time, queues: &mut dyn Queues, sent: &mut Vec<Transmitted>) -> Next {
        let Some(frame) = queues.pull(0, Whom::Any) else { return Next::Idle };
        let (end, airtime) = (now + Span::from_millis(1), Span::from_millis(1));
        sent.push(Transmitted { frame, out: end, airtime, attempts: 1, outcome: Outcome::Delivered });
        Next::Burst { start: now, end }
    }

    /// What a check says after three questions, one at each end.
    fn verdict(says: fn(Time, &mut dyn Queues, &mut Vec<Transmitted>) -> Next) -> Result<(), String> {
        let (mut device, mut queue) = (Supervised::new(Box::new(Says(says))), Numbers(vec![3, 2, 1]));
        let mut now = Time::ZERO;
        device.ready(0, now, &mut queue);
        for _ in 0..3 {
            device.next(now, &mut queue);
            device.check(now)?;
            now = device.due().unwrap_or(now + Span::from_millis(1)).max(now);
            for sent in device.ended(now).iter().rev().filter(|sent| sent.outcome == Outcome::Requeued) {
                queue.0.push(sent.frame.id);
            }
        }
        device.check(now)
    }

    #[test]
    fn a_device_that_keeps_the_rules_is_left_alone() {
        assert_eq!(verdict(alone), Ok(()));
        let requeues = verdict(|now, queues, sent| {
            let next = alone(now, queues, sent);
            sent.iter_mut().for_each(|one| one.outcome = Outcome::Requeued);
            next
        });
        assert_eq!(requeues, Ok(()));
    }

    #[test]
    fn a_device_that_breaks_a_rule_is_caught() {
        /// Changes the packets of a burst.
        type Spoil = fn(&mut Vec<Transmitted>);
        let spoilt: [(&str, Spoil); 8] = [
            ("has no packets", |sent| sent.clear()),
            ("not there to be sent", |sent| sent.push(sent[0])),
            ("not there to be sent", |sent| sent[0].frame.id += 7),
            ("not there to be sent", |sent| sent[0].frame.length += 1),
            ("not between", |sent| sent[0].out += Span::from_nanos(1)),
            ("not between", |sent| sent[0].out = Time::ZERO + Span::from_secs(9)),
            ("without an attempt", |sent| sent[0].attempts = 0),
            ("in a burst of", |sent| sent[0].airtime += Span::from_nanos(1)),
        ];
        for (says, spoil) in spoilt {
            let (mut device, mut queue) = (Supervised::new(Box::new(Spoilt(spoil))), Numbers(vec![1]));
            device.next(Time::ZERO, &mut queue);
            let verdict = device.check(Time::ZERO).expect_err(says);
            assert!(verdict.contains(says), "{verdict}");
        }
        /// Says what is next.
        type Say = fn(Time, &mut dyn Queues, &mut Vec<Transmitted>) -> Next;
        let statements: [(&str, Say); 6] = [
            ("it sends packets in no burst", |now, queues, sent| {
                alone(now, queues, sent);
                Next::Idle
            }),
            ("it sends packets in no burst", |now, queues, sent| {
                alone(now, queues, sent);
                Next::WaitUntil(now + Span::from_millis(1))
            }),
            ("which is over", |now, _, _| Next::WaitUntil(now)),
            ("it is idle with 1 packets", |_, queues, _| {
                queues.pull(0, Whom::Any);
                Next::Idle
            }),
            ("cannot begin", |now, queues, sent| {
                alone(now, queues, sent);
                Next::Burst { start: now, end: now }
            }),
            ("cannot begin", |now, queues, sent| {
                alone(now, queues, sent);
                Next::Burst { start: now + Span::from_millis(2), end: now + Span::from_millis(1) }
            }),
        ];
        for (says, fault) in statements {
            let verdict = verdict(fault).expect_err(says);
            assert!(verdict.contains(says), "{verdict}");
        }
    }

    #[test]
    fn a_device_that_is_not_asked_when_it_wants_to_be_is_noticed() {
        let mut device = Supervised::new(Box::new(Says(alone)));
        let mut queue = Numbers(vec![1]);
        device.next(Time::ZERO, &mut queue);
        assert_eq!((device.is_sending(Time::ZERO), device.check(millis(1))), (true, Ok(())));
        assert!(device.check(millis(2)).unwrap_err().contains("and was not"));
        // Within a burst it is not asked.
        let mut queue = Numbers(vec![1, 2]);
        let mut device = Supervised::new(Box::new(Says(alone)));
        device.next(Time::ZERO, &mut queue);
        device.next(Time::from_nanos(5), &mut queue);
        assert!(device.check(Time::from_nanos(5)).unwrap_err().contains("within a burst"));
    }
}
