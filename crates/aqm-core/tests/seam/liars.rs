//! Disciplines that break their contract: shell and host must notice.

use super::{PLAIN, info, spec};
use crate::common::rig::Rig;
use aqm_core::backlog::Backlog;
use aqm_core::choices;
use aqm_core::cx::Cx;
use aqm_core::discipline::{Blueprint, Built, Discipline, Info};
use aqm_core::packet::{Ecn, Packet};
use aqm_core::params::{ParamError, ParamSpec, Params};
use aqm_core::queue::Fifo;
use aqm_core::signal::DropReason;
use aqm_core::units::Time;
use std::collections::VecDeque;

choices! {
    /// What is wrong with a liar.
    enum Lie {
        Forgets = "forgets",
        Invents = "invents",
        Shrinks = "shrinks",
        MarksAll = "marks all",
        ClearsCe = "clears CE",
        Reorders = "reorders",
        DropsInside = "drops inside",
        Stalls = "stalls",
        WakesUnasked = "wakes unasked",
    }
}

const PARAMS: &[ParamSpec] = &[ParamSpec::choice::<Lie>("lie", "What is wrong with it", "none")];
static LIAR: Info = info("liar", PARAMS, PLAIN, |Blueprint { params, .. }| -> Built {
    Ok(Box::new(Liar { lie: params.choice("lie"), queue: VecDeque::new() }))
});

struct Liar {
    lie: Lie,
    queue: VecDeque<Packet>,
}

impl Discipline for Liar {
    fn enqueue(&mut self, mut packet: Packet, cx: &mut Cx<'_>) {
        match self.lie {
            Lie::Forgets if packet.cookie == 2 => return,
            Lie::Invents if packet.cookie == 2 => self.queue.push_back(Packet::new(0, 0, 1000)),
            Lie::Shrinks => packet.length -= 1,
            Lie::MarksAll => packet.ecn = Ecn::Ce,
            Lie::ClearsCe => packet.ecn = Ecn::NotEct,
            Lie::DropsInside if packet.cookie == 2 => {
                let oldest = self.queue.pop_front().expect("two packets wait");
                cx.drop(oldest, DropReason::Overlimit);
            }
            _ => {}
        }
        self.queue.push_back(packet);
    }

    fn dequeue(&mut self, _cx: &mut Cx<'_>) -> Option<Packet> {
        match self.lie {
            Lie::Reorders => self.queue.pop_back(),
            Lie::Stalls => None,
            _ => self.queue.pop_front(),
        }
    }

    fn backlog(&self) -> Backlog {
        let bytes = self.queue.iter().map(|packet| u64::from(packet.length)).sum();
        Backlog { packets: self.queue.len() as u64, bytes }
    }

    fn change(&mut self, _params: &Params, _cx: &mut Cx<'_>) -> Result<(), ParamError> {
        Ok(())
    }

    fn purge(&mut self, cx: &mut Cx<'_>) {
        self.queue.drain(..).for_each(|packet| cx.drop(packet, DropReason::Reconfigured));
    }

    fn next_wakeup(&self) -> Option<Time> {
        (self.lie == Lie::WakesUnasked).then_some(Time::MAX)
    }

    fn state_bytes(&self) -> usize {
        size_of::<Liar>()
    }
}

/// Four packets of one flow, one of them with CE.
fn tempt(lie: Lie) {
    let mut liar = spec(&LIAR);
    liar.set_text("lie", lie.word()).expect("the lie is declared");
    let mut rig = Rig::new(&liar, 1);
    for ecn in [Ecn::NotEct, Ecn::Ect0, Ecn::Ce, Ecn::NotEct] {
        rig.arrive(1, 1000, ecn);
    }
    rig.drain();
}

#[test]
#[should_panic = "breaks conservation: 3 packets (3000 B) arrived, but 0 (0 B) departed, 0 (0 B) were dropped and 2"]
fn a_forgotten_packet_is_detected() {
    tempt(Lie::Forgets);
}

#[test]
#[should_panic = "breaks conservation"]
fn an_invented_packet_is_detected() {
    tempt(Lie::Invents);
}

#[test]
#[should_panic = "breaks conservation"]
fn a_packet_that_shrank_is_detected() {
    tempt(Lie::Shrinks);
}

#[test]
#[should_panic = "(flow, length, ecn, arrival)"]
fn a_mark_past_the_context_is_detected() {
    tempt(Lie::MarksAll);
}

#[test]
#[should_panic = "(flow, length, ecn, arrival)"]
fn a_cleared_mark_is_detected() {
    tempt(Lie::ClearsCe);
}

#[test]
#[should_panic = "leave in the wrong order"]
fn overtaking_within_a_flow_is_detected() {
    tempt(Lie::Reorders);
}

#[test]
#[should_panic = "was queued and dropped: declare drops_queued"]
fn a_drop_that_the_traits_rule_out_is_detected() {
    tempt(Lie::DropsInside);
}

#[test]
#[should_panic = "no wake-up is asked for"]
fn a_queue_that_stalls_is_detected() {
    tempt(Lie::Stalls);
}

#[test]
#[should_panic = "wakes against its traits"]
fn a_wake_up_that_the_traits_rule_out_is_detected() {
    tempt(Lie::WakesUnasked);
}

#[test]
#[should_panic = "is beyond the limit 1p"]
fn a_queue_beyond_its_limit_is_detected() {
    struct Boundless(Fifo);
    impl Discipline for Boundless {
        fn enqueue(&mut self, packet: Packet, _cx: &mut Cx<'_>) {
            self.0.push(packet);
        }
        fn dequeue(&mut self, _cx: &mut Cx<'_>) -> Option<Packet> {
            self.0.pop()
        }
        fn backlog(&self) -> Backlog {
            self.0.backlog()
        }
        fn change(&mut self, _params: &Params, _cx: &mut Cx<'_>) -> Result<(), ParamError> {
            Ok(())
        }
        fn purge(&mut self, cx: &mut Cx<'_>) {
            self.0.purge(cx);
        }
        fn state_bytes(&self) -> usize {
            0
        }
    }
    const PARAMS: &[ParamSpec] = &[aqm_core::discipline::LIMIT];
    static BOUNDLESS: Info =
        info("boundless", PARAMS, PLAIN, |_| -> Built { Ok(Box::new(Boundless(Fifo::default()))) });
    let mut spec = spec(&BOUNDLESS);
    spec.set_text("limit", "1p").unwrap();
    let mut rig = Rig::new(&spec, 1);
    rig.arrive(1, 1000, Ecn::NotEct);
    rig.arrive(1, 1000, Ecn::NotEct);
}
