//! The receivers of rate-based senders: which marked packets they answer with a notification.

use aqm_core::units::{Span, Time};

/// The notification point of a flow (figure 6): at most one notification in an interval.
#[derive(Clone, Copy, Debug)]
pub struct Receiver {
    thinning: Thinning,
    /// From when the next marked packet is answered.
    open: Time,
    marked: u32,
}

/// Which marked packets are answered.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Thinning {
    /// The first in each such interval; the paper's is 50 us.
    Interval(Span),
    /// One of so many.
    Every(u32),
}

impl Receiver {
    /// Has answered nothing yet.
    pub fn new(thinning: Thinning) -> Receiver {
        Receiver { thinning, open: Time::ZERO, marked: 0 }
    }

    /// A packet has come in, marked CE or not; whether the sender is notified.
    pub fn on_packet(&mut self, marked: bool, now: Time) -> bool {
        if !marked {
            return false;
        }
        match self.thinning {
            Thinning::Interval(interval) => {
                let due = now >= self.open;
                if due {
                    self.open = now + interval;
                }
                due
            }
            Thinning::Every(number) => {
                self.marked += 1;
                let due = self.marked == number;
                if due {
                    self.marked = 0;
                }
                due
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(micros: u64) -> Time {
        Time::ZERO + Span::from_micros(micros)
    }

    #[test]
    fn a_receiver_notifies_once_in_fifty_microseconds_or_by_every_51st_mark() {
        let mut receiver = Receiver::new(Thinning::Interval(Span::from_micros(50)));
        let sent: Vec<u64> = (0..200).filter(|at| receiver.on_packet(*at >= 7, us(*at))).collect();
        assert_eq!(sent, [7, 57, 107, 157]);
        let mut receiver = Receiver::new(Thinning::Every(51));
        let sent: Vec<u64> = (1..200).filter(|at| receiver.on_packet(true, us(*at))).collect();
        assert_eq!(sent, [51, 102, 153]);
    }
}
