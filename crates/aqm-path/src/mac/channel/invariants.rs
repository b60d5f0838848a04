//! What must hold on a channel at any time, checked by whoever runs it.

use super::sender::{Ppdu, Sender};
use super::{Air, Channel, Config, Outcome, Queue};
use aqm_core::units::{Span, Time};

impl Channel {
    /// What does not hold at `now`, in one line. Call it between any two calls.
    ///
    /// # Errors
    /// If airtimes do not add up, packets are neither delivered, dropped nor held, or an aggregate is larger than allowed.
    pub fn check(&self, now: Time) -> Result<(), String> {
        self.broken.clone().map_or(Ok(()), Err)?;
        self.check_airtime(now)?;
        self.check_packets()?;
        self.contention.check()?;
        self.check_ready()
    }

    /// The time of all transmissions is the time for which the medium was busy, and not more than there was.
    fn check_airtime(&self, now: Time) -> Result<(), String> {
        let medium = &self.account.medium;
        let begun = self.air.as_ref().map_or(Span::ZERO, |air| air.until.since(air.start));
        let of_air = |collided: bool| match &self.air {
            Some(air) if (air.sent.len() > 1) == collided => begun,
            _ => Span::ZERO,
        };
        let apart = self.account.alone + of_air(false) + medium.collisions;
        if apart != medium.busy {
            return Err(format!("airtimes add up to {apart}, but the medium was busy for {}", medium.busy));
        }
        let ahead = medium.last.since(now);
        if medium.busy > now.since(Time::ZERO) + ahead {
            return Err(format!("the medium was busy for {} by {now}", medium.busy));
        }
        Ok(())
    }

    /// What the MAC has taken is delivered, dropped or held.
    fn check_packets(&self) -> Result<(), String> {
        let on_air = self.air.iter().flat_map(|air| &air.sent);
        let on_air = on_air.flat_map(|one| &one.ppdu.mpdus).filter(|mpdu| !mpdu.received).count() as u64;
        let held: u64 = self.senders.iter().map(|sender| sender.held()).sum::<u64>() + on_air;
        let taken: u64 = self.senders.iter().map(|sender| sender.taken).sum();
        let dropped = self.account.dropped + self.dropped.len() as u64;
        let released = self.account.released;
        if taken != released + dropped + held {
            let rest = format!("{released} released, {dropped} dropped, {held} held");
            return Err(format!("the MAC took {taken} packets: {rest}"));
        }
        Ok(())
    }

    /// What stands ready is within the limits of aggregates, attempts and windows.
    fn check_ready(&self) -> Result<(), String> {
        let of = |sender: &Sender| sender.queue;
        let mut ready =
            self.senders.iter().flat_map(|one| one.hardware.iter().map(move |ppdu| (of(one), ppdu)));
        ready.try_for_each(|(queue, ppdu)| self.config.check_ppdu(queue, ppdu))
    }

    /// A burst begins: what it sends is within the limits, whether or not anybody checks while it lasts.
    pub(super) fn check_begun(&mut self) {
        let Some(air) = &self.air else { return };
        if let Err(what) = air
            .sent
            .iter()
            .try_for_each(|one| self.config.check_ppdu(self.senders[one.sender].queue, &one.ppdu))
        {
            self.broken.get_or_insert(what);
        }
    }

    /// It ends: it has lasted as long as its longest transmission, and several have collided.
    pub(super) fn check_ended(&mut self, air: &Air) {
        let longest = air.sent.iter().map(|one| one.airtime).max().unwrap_or(Span::ZERO);
        let collided = air.sent.iter().any(|one| one.outcome == Outcome::Collided);
        if air.until.since(air.start) != longest || collided != (air.sent.len() > 1) {
            let what = format!("a burst lasts {} for {longest} of air", air.until.since(air.start));
            self.broken.get_or_insert(what);
        }
    }
}

impl Config {
    fn check_ppdu(&self, queue: Queue, ppdu: &Ppdu) -> Result<(), String> {
        let aggregate = &ppdu.aggregate;
        let (count, mode) = (ppdu.mpdus.len(), aggregate.mode());
        let limits = self.limits_of(queue, mode);
        if count > usize::from(limits.mpdus_at(mode)) || usize::from(aggregate.mpdus()) != count {
            return Err(format!("an aggregate of {} has {count} MPDUs", aggregate.mpdus()));
        }
        if count > 1 && aggregate.airtime(&self.timing) > limits.time {
            return Err(format!("an aggregate takes {}", aggregate.airtime(&self.timing)));
        }
        if let Some(mpdu) = ppdu.mpdus.iter().find(|mpdu| mpdu.attempts > self.retries) {
            return Err(format!("MPDU {} was sent {} times", mpdu.sequence, mpdu.attempts));
        }
        let is_ordered = ppdu.mpdus.windows(2).all(|pair| pair[0].sequence < pair[1].sequence);
        let first = ppdu.mpdus.first().zip(ppdu.mpdus.last());
        let span = first.map_or(0, |(first, last)| last.sequence.saturating_sub(first.sequence));
        if !is_ordered || span >= u32::from(self.window) {
            return Err(format!("an aggregate spans {span} sequence numbers, or repeats one"));
        }
        Ok(())
    }
}
