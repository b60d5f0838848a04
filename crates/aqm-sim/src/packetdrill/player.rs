//! Plays a script against a sender: the peer, the application and the clock.

use super::application::Application;
use super::host::Host;
use super::problem::{Problem, Refusal};
use super::script::{Action, Call, Codepoints, Packet, Script, TcpOptions, When};
use super::variables;
use crate::transport::{Acknowledgment, MAX_SACK_BLOCKS, Sender, flags};
use aqm_core::packet::Ecn;
use aqm_core::random::Random;
use aqm_core::units::{Span, Time};
use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write as _;

/// The most segments and timers of a script: one that asks for more is refused.
const MOST_STEPS: u32 = 1_000_000;

/// A segment that was sent.
#[derive(Clone, Debug)]
struct Sent {
    at: Time,
    seq: u64,
    payload: u64,
    flags: u8,
    ack: Option<u64>,
    ecn: Ecn,
    options: TcpOptions,
}

/// How far the connection is.
#[derive(Clone, Debug)]
enum Stage {
    Closed,
    Listening,
    /// A SYN was sent, or answered, then; the peer's options are known if it was answered.
    Opening {
        at: Time,
        peer: Option<(Packet, bool)>,
    },
    Open,
}

/// When data that are outstanding were sent, and whether only once.
#[derive(Clone, Copy, Debug)]
struct Outstanding {
    end: u64,
    at: Time,
    once: bool,
    sacked: bool,
}

struct Player<'a> {
    script: &'a Script,
    host: Host,
    now: Time,
    /// When the event before was.
    before: Time,
    stage: Stage,
    sender: Option<Sender>,
    application: Application,
    /// Segments that no line has expected yet.
    sent: VecDeque<Sent>,
    outstanding: BTreeMap<u64, Outstanding>,
    /// The peer's next sequence number, its window, and how that is scaled.
    receive_next: u64,
    window: u64,
    wscale: u8,
    offered_mss: u32,
    mss: u64,
    sack: bool,
    /// With timestamps: the last one of the peer.
    peer_stamp: Option<u32>,
    /// Our first timestamp, and when it was sent.
    stamp: (u32, Time),
    /// AccECN's counter (RFC 9768).
    ce_bytes: u32,
    /// When a corked socket sends what it holds.
    corked_until: Option<Time>,
    descriptor: i64,
    /// The application has closed; then whether FIN was sent.
    closing: bool,
    fin_sent: bool,
    known: BTreeMap<String, f64>,
    steps: u32,
}

/// Plays `script` of `file`. Everything must come as it says.
pub(super) fn play(file: &str, script: &Script) -> Result<(), Problem> {
    let mut player = Player::new(script);
    let mut last = 1;
    for event in &script.events {
        last = event.line;
        player.event(event.when, &event.action).map_err(|refusal| refusal.at(file, event.line))?;
    }
    if script.options.complete
        && let Some(sent) = player.sent.front()
    {
        return Err(Problem::new(file, last, format!("after this, no line expects {}", shown(sent))));
    }
    Ok(())
}

impl<'a> Player<'a> {
    fn new(script: &'a Script) -> Player<'a> {
        Player {
            script,
            host: Host::new(script.options.tcp.as_deref()),
            now: Time::ZERO,
            before: Time::ZERO,
            stage: Stage::Closed,
            sender: None,
            application: Application::default(),
            sent: VecDeque::new(),
            outstanding: BTreeMap::new(),
            receive_next: 0,
            window: 0,
            wscale: 0,
            offered_mss: 0,
            mss: 1,
            sack: false,
            peer_stamp: None,
            stamp: (0, Time::ZERO),
            ce_bytes: 0,
            corked_until: None,
            descriptor: -1,
            closing: false,
            fin_sent: false,
            known: BTreeMap::new(),
            steps: 0,
        }
    }

    fn event(&mut self, when: When, action: &Action) -> Result<(), Refusal> {
        let (first, last) = match when {
            When::At(first, last) => (Time::ZERO + first, Time::ZERO + last),
            When::After(first, last) => (self.before + first, self.before + last),
            When::Any => (self.before, Time::ZERO + Span::from_secs(10_000_000)),
        };
        if let Action::Expect(packet) = action {
            return self.expect(packet, first, last);
        }
        if first < self.now {
            return Err(format!("{} is over: it is {} already", seconds(first), seconds(self.now)).into());
        }
        self.advance(first)?;
        (self.now, self.before) = (first, first);
        match action {
            Action::Inject(packet) => self.inject(packet)?,
            Action::Call(call) => self.call(call)?,
            Action::Check(code) => {
                let (sender, offered_mss) = (&self.sender, self.offered_mss);
                let info = sender.as_ref().map(|sender| (sender.tcp_info(), sender.losses()));
                let look_up = |name: &str| {
                    let (info, losses) = info.as_ref()?;
                    variables::value(name, info, *losses, offered_mss)
                };
                code.run(&mut self.known, &look_up)?;
            }
            Action::Shell(commands) => {
                for command in commands {
                    self.host.run(command).map_err(Refusal::into_unsupported)?;
                }
            }
            Action::Expect(_) => {}
        }
        self.pump()
    }

    /// Timers that are due before `until` fire.
    fn advance(&mut self, until: Time) -> Result<(), Refusal> {
        while let Some(due) = self.next_timer().filter(|due| *due < until) {
            self.fire(due)?;
        }
        Ok(())
    }

    /// When something happens without an event of the script.
    fn next_timer(&self) -> Option<Time> {
        let sender = self.sender.as_ref()?;
        let paced = if self.host.passing { sender.paced_until(self.now) } else { None };
        [sender.deadline(), paced, self.corked_until].into_iter().flatten().min()
    }

    fn fire(&mut self, due: Time) -> Result<(), Refusal> {
        self.now = self.now.max(due);
        self.step()?;
        if self.corked_until.is_some_and(|at| at <= self.now) {
            self.corked_until = None;
            self.application.flush();
        }
        if let Some(sender) = &mut self.sender {
            sender.on_timer(self.now);
        }
        self.pump()
    }

    fn step(&mut self) -> Result<(), Refusal> {
        self.steps += 1;
        if self.steps > MOST_STEPS {
            return Err(Refusal::unsupported(format!("more than {MOST_STEPS} segments and timers")));
        }
        Ok(())
    }

    /// Everything is sent that may be sent now.
    fn pump(&mut self) -> Result<(), Refusal> {
        if !self.host.passing {
            return Ok(());
        }
        loop {
            let Some(sender) = &mut self.sender else { return Ok(()) };
            let (una, next) = sender.extent();
            let bytes = self.application.hand_over(una, next, self.mss);
            if bytes > 0 {
                sender.write(bytes);
            }
            let Some(segment) = sender.poll(self.now) else { break };
            self.step()?;
            let (seq, payload) = (segment.seq, u64::from(segment.payload));
            if payload == 0 {
                self.emit(seq.wrapping_add(1), 0, segment.flags, segment.ecn);
                continue;
            }
            let again = self.outstanding.get(&seq).copied();
            let sacked = again.is_some_and(|sent| sent.sacked);
            let once = again.is_none();
            self.outstanding.insert(seq, Outstanding { end: seq + payload, at: self.now, once, sacked });
            if once {
                self.application.on_sent(seq + payload, payload, self.mss);
            }
            let mut bits = segment.flags;
            if segment.cwr {
                bits |= flags::CWR;
            }
            if self.closing && !self.fin_sent && seq + payload == self.application.written() {
                (bits, self.fin_sent) = (bits | flags::FIN, true);
            }
            self.emit(1 + seq, payload, bits, segment.ecn);
        }
        self.finish();
        let Some(sender) = &self.sender else { return Ok(()) };
        let (una, next) = sender.extent();
        if !self.application.is_held(una, next) {
            self.corked_until = None;
        } else if self.corked_until.is_none() {
            // Linux lets it go when its probe timer expires (tcp_check_probe_timer).
            self.corked_until = Some(self.now + sender.tcp_info().rto);
        }
        Ok(())
    }

    /// FIN alone, if everything was sent before the application closed.
    fn finish(&mut self) {
        let Some(sender) = &self.sender else { return };
        let written = self.application.written();
        if self.closing && !self.fin_sent && sender.extent().1 == written {
            self.fin_sent = true;
            self.emit(1 + written, 0, flags::FIN | flags::ACK, Ecn::NotEct);
        }
    }

    /// A segment leaves.
    fn emit(&mut self, seq: u64, payload: u64, bits: u8, ecn: Ecn) {
        let ack = (bits & flags::ACK != 0).then_some(self.receive_next);
        let options = TcpOptions {
            timestamp: self.peer_stamp.map(|peer| (self.our_stamp(), peer)),
            ..TcpOptions::default()
        };
        self.sent.push_back(Sent { at: self.now, seq, payload, flags: bits, ack, ecn, options });
    }

    fn our_stamp(&self) -> u32 {
        let ticks = self.now.since(self.stamp.1).as_nanos() / self.script.options.tick.as_nanos();
        self.stamp.0.wrapping_add(ticks as u32)
    }

    /// An acknowledgment without data: `seq` is what comes next.
    fn acknowledge(&mut self) {
        let next = self.sender.as_ref().map_or(0, |sender| sender.extent().1);
        self.emit(1 + next + u64::from(self.fin_sent), 0, flags::ACK, Ecn::NotEct);
    }

    fn call(&mut self, call: &Call) -> Result<(), Refusal> {
        match call {
            Call::Connect if matches!(self.stage, Stage::Closed) => {
                self.stage = Stage::Opening { at: self.now, peer: None };
                let ecn = if self.host.ecn().0 { flags::ECE | flags::CWR } else { 0 };
                let options = self.host.options(None);
                self.send_syn(flags::SYN | ecn, None, options);
            }
            Call::Connect => return Err("there is a connection already".into()),
            Call::Listen => self.stage = Stage::Listening,
            Call::Accept(descriptor) => {
                if !matches!(self.stage, Stage::Open) {
                    return Err("there is no connection to accept".into());
                }
                self.descriptor = *descriptor;
            }
            Call::Write { bytes, more, ends_record } => {
                if self.closing {
                    return Err("the connection is closed for writing".into());
                }
                self.application.write(*bytes, *more, *ends_record);
            }
            Call::Close(descriptor) if *descriptor == self.descriptor || self.descriptor < 0 => {
                self.closing = true;
                self.application.flush();
            }
            Call::Close(_) => {}
            Call::Shutdown => {
                self.closing = true;
                self.application.flush();
            }
            Call::SetMss(mss) => self.host.mss = Some(*mss),
            Call::GetMss(mss) => {
                let own =
                    if self.sender.is_some() { self.mss } else { u64::from(self.host.mss.unwrap_or(536)) };
                if own != u64::from(*mss) {
                    return Err(format!("TCP_MAXSEG is {own}").into());
                }
            }
            Call::Nodelay(on) => {
                self.application.nodelay = *on;
                if *on {
                    self.application.flush();
                }
            }
            Call::Cork(on) => {
                self.application.cork = *on;
                if !*on {
                    self.application.flush();
                }
            }
            Call::SetControl(name) => self.host.set_control(name).map_err(Refusal::into_unsupported)?,
            Call::Nothing => {}
        }
        Ok(())
    }

    /// A SYN, or a SYN-ACK.
    fn send_syn(&mut self, bits: u8, ack: Option<u64>, mut options: TcpOptions) {
        if options.timestamp.is_some() {
            options.timestamp = Some((0, self.peer_stamp.unwrap_or(0)));
        }
        self.offered_mss = options.mss.unwrap_or(0);
        let (seq, payload, ecn) = (0, 0, Ecn::NotEct);
        self.sent.push_back(Sent { at: self.now, seq, payload, flags: bits, ack, ecn, options });
    }

    /// A segment of the peer arrives.
    fn inject(&mut self, packet: &Packet) -> Result<(), Refusal> {
        let empty = TcpOptions::default();
        let options = packet.options.as_ref().unwrap_or(&empty);
        match (self.stage.clone(), packet.flags & flags::SYN != 0) {
            (Stage::Listening, true) => {
                self.receive_next = packet.seq + 1;
                self.peer_stamp = options.timestamp.map(|(value, _)| value);
                let asks = packet.flags & flags::ECE != 0;
                let ecn = asks && self.host.ecn().1;
                let ours = self.host.options(Some(options));
                self.stage = Stage::Opening { at: self.now, peer: Some((packet.clone(), ecn)) };
                let bits = flags::SYN | flags::ACK | if ecn { flags::ECE } else { 0 };
                self.send_syn(bits, Some(self.receive_next), ours);
                Ok(())
            }
            (Stage::Opening { at, peer: None }, true) => {
                self.receive_next = packet.seq + 1;
                self.peer_stamp = options.timestamp.map(|(value, _)| value);
                let ecn = self.host.ecn().0 && packet.flags & flags::ECE != 0;
                self.open(packet, at, ecn)?;
                self.acknowledge();
                Ok(())
            }
            (Stage::Opening { at, peer: Some((syn, ecn)) }, false) if packet.ack == Some(1) => {
                self.open(&syn, at, ecn)?;
                self.receive(packet, options)
            }
            (Stage::Open, false) => self.receive(packet, options),
            _ => Err("this segment does not belong to the connection as it is".into()),
        }
    }

    /// The handshake that began at `at` is over: the peer's SYN or SYN-ACK was `syn`.
    fn open(&mut self, syn: &Packet, at: Time, ecn: bool) -> Result<(), Refusal> {
        let empty = TcpOptions::default();
        let theirs = syn.options.as_ref().unwrap_or(&empty);
        let tcp =
            self.host.connection(theirs, ecn).map_err(|error| Refusal::unsupported(error.to_string()))?;
        let common = self.host.options(Some(theirs));
        self.mss = u64::from(tcp.mss());
        self.sack = common.sack_permitted;
        self.wscale = theirs.wscale.unwrap_or(0);
        self.window = syn.window.unwrap_or(65_535);
        if common.timestamp.is_none() {
            self.peer_stamp = None;
        }
        // A handshake in no time says nothing about the round trip.
        let tcp = if self.now > at { tcp.with("handshake", "on")? } else { tcp.opened() };
        let mut sender = Sender::new(&tcp, Random::seeded(1));
        sender.set_sysctls(self.host.sysctls);
        sender.set_peer_window(self.window);
        sender.on_syn_answered(at, self.now);
        self.sender = Some(sender);
        self.stage = Stage::Open;
        Ok(())
    }

    /// A segment of the open connection arrives.
    fn receive(&mut self, packet: &Packet, options: &TcpOptions) -> Result<(), Refusal> {
        if let (Some(_), Some((value, _))) = (self.peer_stamp, options.timestamp) {
            self.peer_stamp = Some(value);
        }
        self.ce_bytes = options.ce_bytes.unwrap_or(self.ce_bytes);
        if packet.flags & flags::RST != 0 {
            return Err(Refusal::unsupported("a reset is not modelled".to_owned()));
        }
        let window = packet.window.map_or(self.window, |window| window << self.wscale);
        let changes = std::mem::replace(&mut self.window, window) != window;
        let fin = packet.flags & flags::FIN != 0;
        if let (Some(ack), Some(sender)) = (packet.ack, &mut self.sender) {
            sender.set_peer_window(window);
            self.application.on_ack();
            let (una, next) = sender.extent();
            if ack.saturating_sub(1) > next + u64::from(self.fin_sent) {
                return Ok(()); // RFC 9293 section 3.10.7.4: it acknowledges what was not sent, and is dropped
            }
            // FIN takes a number after the data.
            let ack = ack.saturating_sub(1).min(if self.fin_sent { next } else { u64::MAX });
            // RFC 5681 section 2: what a duplicate acknowledgment is.
            let duplicate = packet.payload == 0 && !fin && !changes;
            let blocks: Vec<(u64, u64)> = if self.sack {
                options
                    .sack
                    .iter()
                    .map(|&(start, end)| (start.saturating_sub(1), end.saturating_sub(1)))
                    .collect()
            } else {
                Vec::new()
            };
            if ack > una || duplicate || !blocks.is_empty() {
                let echo = match options.timestamp {
                    Some((_, echo)) if self.peer_stamp.is_some() => {
                        let ticks = u64::from(echo.wrapping_sub(self.stamp.0));
                        let sent = self.stamp.1 + self.script.options.tick * ticks;
                        sent.min(self.now)
                    }
                    _ => self.first_sent(ack, &blocks),
                };
                self.on_ack(ack, &blocks, echo, packet.flags & flags::ECE != 0);
            }
        }
        if packet.payload > 0 || fin {
            if packet.seq == self.receive_next {
                self.receive_next += packet.payload + u64::from(fin);
            }
            // What arrives after a pause is acknowledged at once (tcp_event_data_recv).
            self.pump()?;
            self.acknowledge();
        }
        Ok(())
    }

    fn on_ack(&mut self, ack: u64, blocks: &[(u64, u64)], echo: Time, ece: bool) {
        let mut report =
            Acknowledgment { ack, echo, ece, report: self.ce_bytes, ..Acknowledgment::default() };
        for &(start, end) in blocks {
            // What is below the acknowledgment number was reported twice (RFC 2883): it changes nothing here.
            let (Some(start), Some(end)) = (start.checked_sub(ack), end.checked_sub(ack)) else { continue };
            if usize::from(report.sack_count) < MAX_SACK_BLOCKS
                && let (Ok(start), Ok(end)) = (u32::try_from(start), u32::try_from(end))
            {
                report.sack[usize::from(report.sack_count)] = (start, end);
                report.sack_count += 1;
            }
        }
        while let Some(first) = self.outstanding.first_entry().filter(|first| first.get().end <= ack) {
            first.remove();
        }
        for &(start, end) in blocks {
            for (_, sent) in self.outstanding.range_mut(start..end.max(start)) {
                sent.sacked |= sent.end <= end;
            }
        }
        if let Some(sender) = &mut self.sender {
            sender.on_ack(&report, self.now);
        }
    }

    /// Without timestamps: when the first of the segments was sent that are newly known to have arrived. Now, if one of them
    /// was sent more than once (RFC 6298 section 3).
    fn first_sent(&self, ack: u64, blocks: &[(u64, u64)]) -> Time {
        let news = |sent: &&Outstanding| !sent.sacked;
        let acked = || self.outstanding.range(..ack).map(|(_, sent)| sent).filter(|sent| sent.end <= ack);
        if acked().next().is_some() {
            if acked().any(|sent| !sent.once) {
                return self.now;
            }
            if let Some(first) = acked().find(news) {
                return first.at;
            }
        }
        let mut sacked = blocks.iter().flat_map(|&(start, end)| {
            let inside = self.outstanding.range(start..end.max(start)).map(|(_, sent)| sent);
            inside.filter(move |sent| sent.end <= end)
        });
        sacked.find(|sent| !sent.sacked && sent.once).map_or(self.now, |sent| sent.at)
    }

    /// `packet` is to be sent between `first` and `last`.
    fn expect(&mut self, packet: &Packet, first: Time, last: Time) -> Result<(), Refusal> {
        let options = &self.script.options;
        let share = first.since(self.before).as_nanos().saturating_mul(options.tolerance_share) / 100_000;
        let tolerance = options.tolerance.max(Span::from_nanos(share));
        let latest = last + tolerance;
        let mut sent_to = None;
        loop {
            while self.sent.is_empty() {
                match self.next_timer().filter(|due| *due <= latest) {
                    Some(due) => self.fire(due)?,
                    None => return Err(self.nothing_sent(last).into()),
                }
            }
            let Some(sent) = self.sent.pop_front() else { continue };
            if sent_to.is_none() {
                self.before = self.now.max(sent.at);
            }
            self.compare(packet, &sent, sent_to)?;
            if sent.at + tolerance < first || sent.at > latest {
                return Err(format!("{}, not at {}", shown(&sent), seconds(first)).into());
            }
            let end = sent.seq + sent.payload;
            if end >= packet.seq + packet.payload {
                return Ok(());
            }
            sent_to = Some(end);
        }
    }

    /// `sent`, which continues at `sent_to`, is (part of) `packet`.
    fn compare(&mut self, packet: &Packet, sent: &Sent, sent_to: Option<u64>) -> Result<(), Refusal> {
        let end = packet.seq + packet.payload;
        let wanted = sent_to.unwrap_or(packet.seq);
        let whole = sent.seq == packet.seq && sent.payload == packet.payload;
        let part = sent.seq == wanted && sent.seq + sent.payload <= end && sent.payload > 0;
        if !whole && (self.script.options.strict || !part) {
            return Err(format!("{}, not {}", shown(sent), wanted_shown(packet)).into());
        }
        // CWR is on the first part, FIN on the last.
        let is_last = sent.seq + sent.payload == end;
        let mut bits = packet.flags;
        if sent_to.is_some() {
            bits &= !flags::CWR;
        }
        if !is_last {
            bits &= !flags::FIN;
        }
        if sent.flags != bits {
            return Err(format!("{}, not with {}", shown(sent), flags_shown(bits)).into());
        }
        if packet.ack.is_some() && sent.ack != packet.ack {
            let ack = sent.ack.map_or_else(|| "nothing".to_owned(), |ack| ack.to_string());
            return Err(format!("{} acknowledges {ack}", shown(sent)).into());
        }
        let ecn = match packet.ecn {
            None => true,
            Some(Codepoints::Capable) => matches!(sent.ecn, Ecn::Ect0 | Ecn::Ect1),
            Some(Codepoints::Exactly(ecn)) => sent.ecn == ecn,
        };
        if !ecn {
            return Err(format!("{} has the ECN field {:?}", shown(sent), sent.ecn).into());
        }
        let Some(options) = &packet.options else { return Ok(()) };
        let sent_options = &sent.options;
        if sent.flags & flags::SYN != 0 {
            if let Some((value, _)) = options.timestamp {
                // The script's first timestamp stands for ours.
                self.stamp = (value, sent.at);
            }
            for (name, ours, theirs) in [
                ("sackOK", sent_options.sack_permitted, options.sack_permitted),
                ("wscale", sent_options.wscale.is_some(), options.wscale.is_some()),
                ("TS", sent_options.timestamp.is_some(), options.timestamp.is_some()),
            ] {
                if ours != theirs {
                    let has = if ours { "has" } else { "lacks" };
                    return Err(format!("{} {has} {name}", shown(sent)).into());
                }
            }
            if sent_options.mss != options.mss {
                return Err(format!("{} has mss {}", shown(sent), sent_options.mss.unwrap_or(0)).into());
            }
        } else if let (Some((value, echo)), Some((ours, our_echo))) =
            (options.timestamp, sent_options.timestamp)
        {
            let slack = self.script.options.tolerance.as_nanos() / self.script.options.tick.as_nanos();
            if u64::from(value.abs_diff(ours)) > slack || echo != our_echo {
                return Err(format!("{} has TS val {ours} ecr {our_echo}", shown(sent)).into());
            }
        } else if sent_options.timestamp.is_some() != options.timestamp.is_some() {
            let has = if sent_options.timestamp.is_some() { "has" } else { "lacks" };
            return Err(format!("{} {has} TS", shown(sent)).into());
        }
        Ok(())
    }

    fn nothing_sent(&self, last: Time) -> String {
        let mut text = format!("nothing is sent until {}", seconds(last));
        if let Some(due) = self.next_timer() {
            let _ = write!(text, "; the next timer is due at {}", seconds(due));
        }
        text
    }
}

fn seconds(time: Time) -> String {
    format!("{:.6} s", time.as_secs_f64())
}

/// `sent`, as a script would expect it.
fn shown(sent: &Sent) -> String {
    let flags = flags_shown(sent.flags);
    let end = sent.seq + sent.payload;
    format!("sent {flags} {}:{end}({}) at {}", sent.seq, sent.payload, seconds(sent.at))
}

fn wanted_shown(packet: &Packet) -> String {
    let flags = flags_shown(packet.flags);
    format!("{flags} {}:{}({})", packet.seq, packet.seq + packet.payload, packet.payload)
}

fn flags_shown(bits: u8) -> String {
    let letters = [
        (flags::FIN, 'F'),
        (flags::SYN, 'S'),
        (flags::RST, 'R'),
        (flags::ECE, 'E'),
        (flags::CWR, 'W'),
        (flags::ACK, '.'),
    ];
    letters.iter().filter(|(bit, _)| bits & bit != 0).map(|(_, letter)| letter).collect()
}
