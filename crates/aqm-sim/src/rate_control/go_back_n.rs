//! Go-back-N, as RoCE's NICs do it (InfiniBand 9.7; Guo et al., SIGCOMM 2016, section 4.1): a receiver takes packets in order
//! only. On a gap it names the packet that it expects (NAK), and the sender goes on from there. It acknowledges the packet
//! that ends the transfer; if that acknowledgment stays away, the sender goes back by itself.
//!
//! Packets are numbered by the offset of their payload. Between the gap and the first packet that is sent again the receiver
//! repeats its NAK at most once in an interval, as DCQCN's authors do in their ns-3 code: the NAK may be lost too. What comes
//! twice is acknowledged no more often than that, so that a sender that went back too far goes forward again.

use aqm_core::units::{Span, Time};

/// What both ends keep to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// From the last packet of a transfer until the sender goes back, unless it is acknowledged.
    pub timeout: Span,
    /// Least time from one NAK to the next while the same packet is missing.
    pub repeat: Span,
}

/// What a receiver answers: all bytes before the offset have arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Nothing is known to be missing.
    Ack(u64),
    /// Something was sent behind it, and it was not.
    Nak(u64),
}

/// A packet to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Where its payload begins.
    pub offset: u64,
    /// Bytes.
    pub payload: u32,
    /// Whether it ends the transfer.
    pub last: bool,
}

/// How often a sender went back, and what that cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rewinds {
    /// Times that a NAK sent it back.
    pub naks: u64,
    /// Times that it went back by itself.
    pub timeouts: u64,
    /// Packets sent again.
    pub retransmissions: u64,
}

/// The sender of one transfer.
#[derive(Clone, Debug)]
pub struct Sender {
    /// `None`: nothing is sent again.
    settings: Option<Settings>,
    size: u64,
    /// Offset of the next packet, of the first that is not acknowledged, and behind the last that was ever sent.
    next: u64,
    acked: u64,
    end: u64,
    /// When it goes back by itself, [`Time::MAX`] for never.
    deadline: Time,
    /// Since the last look.
    pub rewinds: Rewinds,
}

impl Sender {
    /// Of `size` bytes, or without end; without settings nothing is sent again.
    pub fn new(size: Option<u64>, settings: Option<Settings>) -> Sender {
        let size = size.unwrap_or(u64::MAX);
        Sender { settings, size, next: 0, acked: 0, end: 0, deadline: Time::MAX, rewinds: Rewinds::default() }
    }

    /// Whether there is a packet to send.
    pub fn has_more(&self) -> bool {
        self.next < self.size
    }

    /// Whether there is nothing left to send nor to wait for.
    pub fn is_done(&self) -> bool {
        !self.has_more() && (self.settings.is_none() || self.acked == self.size)
    }

    /// The next packet has at most `most` bytes of payload.
    pub fn peek(&self, most: u32) -> Option<Piece> {
        let payload = u64::from(most).min(self.size - self.next) as u32;
        let last = self.next + u64::from(payload) == self.size;
        self.has_more().then_some(Piece { offset: self.next, payload, last })
    }

    /// That packet is sent.
    pub fn on_sent(&mut self, piece: Piece, now: Time) {
        self.rewinds.retransmissions += u64::from(piece.offset < self.end);
        self.next = piece.offset + u64::from(piece.payload);
        self.end = self.end.max(self.next);
        if let Some(settings) = self.settings.filter(|_| piece.last) {
            self.deadline = now + settings.timeout;
        }
    }

    /// When [`on_timer`](Sender::on_timer) has something to do.
    pub fn deadline(&self) -> Time {
        self.deadline
    }

    /// Nothing was heard of the end of the transfer: goes back.
    pub fn on_timer(&mut self) {
        self.deadline = Time::MAX;
        self.rewinds.timeouts += 1;
        self.next = self.acked;
    }

    /// The receiver says how far it is. What it cannot have received changes nothing, nor what is out of date.
    pub fn on_answer(&mut self, answer: Answer) {
        let (Answer::Ack(expected) | Answer::Nak(expected)) = answer;
        if self.settings.is_none() || expected < self.acked || expected > self.end {
            return;
        }
        self.acked = expected;
        self.next = self.next.max(expected);
        if matches!(answer, Answer::Nak(_)) && expected < self.next {
            self.rewinds.naks += 1;
            self.next = expected;
        }
        // The timer stands for the end of the transfer alone.
        if self.has_more() || self.acked == self.size {
            self.deadline = Time::MAX;
        }
    }
}

/// The receiver of one transfer.
#[derive(Clone, Debug)]
pub struct Receiver {
    repeat: Span,
    expected: u64,
    /// From when it may answer again about the packet that it expects.
    open: Time,
}

impl Receiver {
    /// Has received nothing.
    pub fn new(settings: Settings) -> Receiver {
        Receiver { repeat: settings.repeat, expected: 0, open: Time::ZERO }
    }

    /// Bytes that have arrived in order.
    pub fn delivered(&self) -> u64 {
        self.expected
    }

    /// A packet has come in; what is answered.
    pub fn on_packet(&mut self, piece: Piece, now: Time) -> Option<Answer> {
        if piece.offset == self.expected {
            self.expected += u64::from(piece.payload);
            self.open = Time::ZERO;
            return piece.last.then_some(Answer::Ack(self.expected));
        }
        let known = piece.offset < self.expected;
        if now < self.open && !(known && piece.last) {
            return None;
        }
        self.open = now + self.repeat;
        Some(if known { Answer::Ack(self.expected) } else { Answer::Nak(self.expected) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETTINGS: Settings = Settings { timeout: Span::from_micros(1000), repeat: Span::from_micros(500) };

    fn us(micros: u64) -> Time {
        Time::ZERO + Span::from_micros(micros)
    }

    fn piece(offset: u64) -> Piece {
        Piece { offset, payload: 100, last: offset == 400 }
    }

    /// A sender of five packets that has sent all of them, the last at 5 us.
    fn sent() -> Sender {
        let mut sender = Sender::new(Some(500), Some(SETTINGS));
        (0..5).for_each(|number| sender.on_sent(sender.peek(100).unwrap(), us(number + 1)));
        sender
    }

    #[test]
    fn packets_in_order_need_no_answer_but_the_last() {
        let (mut sender, mut receiver) = (sent(), Receiver::new(SETTINGS));
        let answers: Vec<_> = (0..5).filter_map(|at| receiver.on_packet(piece(at * 100), us(at))).collect();
        assert_eq!(answers, [Answer::Ack(500)]);
        assert!(!sender.is_done());
        sender.on_answer(answers[0]);
        assert!(sender.is_done());
        assert_eq!((sender.deadline(), sender.rewinds), (Time::MAX, Rewinds::default()));
    }

    #[test]
    fn a_gap_is_told_once_in_an_interval_and_at_once_where_another_opens() {
        let mut receiver = Receiver::new(SETTINGS);
        assert_eq!(receiver.on_packet(piece(100), us(0)), Some(Answer::Nak(0)));
        assert_eq!(receiver.on_packet(piece(200), us(499)), None);
        assert_eq!(receiver.on_packet(piece(300), us(500)), Some(Answer::Nak(0)));
        assert_eq!(receiver.on_packet(piece(0), us(501)), None);
        assert_eq!(receiver.on_packet(piece(200), us(502)), Some(Answer::Nak(100)));
        assert_eq!(receiver.delivered(), 100);
    }

    #[test]
    fn a_nak_sends_the_sender_back_and_everything_behind_it_again() {
        let mut sender = sent();
        sender.on_answer(Answer::Nak(200));
        assert_eq!(sender.deadline(), Time::MAX);
        let mut again = Vec::new();
        while let Some(piece) = sender.peek(100) {
            sender.on_sent(piece, us(9));
            again.push(piece.offset);
        }
        assert_eq!(again, [200, 300, 400]);
        assert_eq!(sender.rewinds, Rewinds { naks: 1, timeouts: 0, retransmissions: 3 });
        assert_eq!(sender.deadline(), us(1009));
    }

    #[test]
    fn without_an_answer_to_the_last_packet_the_sender_goes_back_to_what_it_knows() {
        let mut sender = sent();
        assert_eq!(sender.deadline(), us(1005));
        sender.on_answer(Answer::Nak(300));
        (0..2).for_each(|_| sender.on_sent(sender.peek(100).unwrap(), us(6)));
        sender.on_timer();
        assert_eq!(sender.peek(100), Some(piece(300)));
        assert_eq!(sender.rewinds.timeouts, 1);
    }

    #[test]
    fn what_comes_twice_tells_a_sender_that_went_back_too_far() {
        let mut sender = sent();
        let mut receiver = Receiver::new(SETTINGS);
        (0..4).for_each(|at| assert_eq!(receiver.on_packet(piece(at * 100), us(at)), None));
        sender.on_timer();
        let again = sender.peek(100).unwrap();
        sender.on_sent(again, us(1006));
        let answer = receiver.on_packet(again, us(1007)).unwrap();
        assert_eq!(answer, Answer::Ack(400));
        sender.on_answer(answer);
        assert_eq!(sender.peek(100), Some(piece(400)));
    }

    #[test]
    fn the_end_is_acknowledged_as_often_as_it_comes() {
        let mut receiver = Receiver::new(SETTINGS);
        assert_eq!((0..5).filter_map(|at| receiver.on_packet(piece(at * 100), us(at))).count(), 1);
        assert_eq!(receiver.on_packet(piece(400), us(6)), Some(Answer::Ack(500)));
        assert_eq!(receiver.on_packet(piece(400), us(7)), Some(Answer::Ack(500)));
    }

    #[test]
    fn answers_that_cannot_be_and_old_ones_change_nothing() {
        let mut sender = sent();
        sender.on_answer(Answer::Nak(200));
        for answer in [Answer::Nak(100), Answer::Ack(100), Answer::Ack(501), Answer::Nak(u64::MAX)] {
            sender.on_answer(answer);
        }
        assert_eq!(sender.peek(100), Some(piece(200)));
        let mut open_loop = Sender::new(Some(500), None);
        open_loop.on_sent(open_loop.peek(500).unwrap(), us(0));
        open_loop.on_answer(Answer::Nak(0));
        assert!(open_loop.is_done());
    }
}
