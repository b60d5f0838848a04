//! Common code of classful disciplines: classes with a discipline in each, a scheduler that chooses among them, and a
//! limit on all of them together.

use super::priomap::{Priomap, ReadPriomap};
use super::sharing::{longer, longest, pushes_out};
use super::{Blueprint, BuildChild, Discipline, LIMIT, ProbeSpec, Traits, total};
use crate::backlog::Backlog;
use crate::cx::Cx;
use crate::link::Link;
use crate::packet::Packet;
use crate::params::{Child, Each, Kind, ParamError, ParamSpec, Params, PerClass, Preset, Value};
use crate::scheduler::Scheduler;
use crate::sent::Sent;
use crate::signal::DropReason;
use crate::stations::NextHop;
use crate::units::{Size, Time};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

pub(super) const CLASSES: ParamSpec = ParamSpec::new(
    "classes",
    Kind::Count,
    Value::Count(4),
    (1.0, 64.0),
    "Number of classes; packets of a higher class than the last belong to the last",
    "no reference has a number; the benchmarks of switches have 2 to 8",
);

pub(super) const CHILD: ParamSpec = ParamSpec::children(
    "child",
    "Discipline of each class; its limit is that of all classes unless given",
    "tc: pfifo in each class",
);

pub(super) const LIMIT_OF_ALL: ParamSpec = LIMIT
    .with_help("Limit of all classes together, in packets or bytes")
    .or_auto("the limits of the children together");

pub(super) const PROBES: &[ProbeSpec] =
    &[ProbeSpec { name: "busy_classes", unit: "classes", help: "Classes in which packets wait" }];

/// Traits of a scheduler with plain queues; children are asked whether they wake.
pub(crate) const TRAITS: Traits = Traits {
    wakes: false,
    ecn: false,
    drops_queued: true,
    reorders_flows: true,
    reorders_within_flow: false,
    quiet_packets: u64::MAX,
    flow_state_bytes: 0,
};

/// Shows the effect of weights.
pub(super) const HALVING: Preset = Preset {
    name: "halving",
    source: "each class twice the next, to show weights at work",
    values: &[("weight", Value::PerClass(PerClass::of(Each::Count, &[8, 4, 2, 1])))],
};

/// The parameter `weight`, one for each class.
pub(super) fn weights(params: &Params) -> Vec<u32> {
    per_class(params, params.per_class("weight"))
}

/// A number for each class: weight or quantum.
pub(super) fn per_class(params: &Params, numbers: &PerClass) -> Vec<u32> {
    (0..params.count("classes") as usize).map(|class| numbers.of_class(class) as u32).collect()
}

/// Most disciplines in one tree of children: nested brackets multiply.
const MAX_DISCIPLINES: u64 = 512;

/// What is asked of one class: where its child was given, and which it is.
pub(super) struct Inside {
    /// The name of the class in probes.
    pub(super) name: String,
    /// The parameter that names the child, and its number there if it names several.
    pub(super) param: (&'static str, Option<usize>),
    /// The child, with the limit of all classes unless it has its own.
    pub(super) spec: Child,
}

impl Inside {
    /// The child that was given as `spec`.
    pub(super) fn new(
        params: &Params,
        name: String,
        param: (&'static str, Option<usize>),
        spec: &Child,
    ) -> Inside {
        let mut spec = spec.clone();
        let inherits = spec.params.names().any(|name| name == "limit") && !spec.params.is_given("limit");
        if inherits && *params.get("limit") != Value::Auto {
            // A child whose limit cannot be that large keeps its own.
            let _ = spec.params.set("limit", params.get("limit").clone());
        }
        Inside { name, param, spec }
    }

    fn build(&self, link: &Link, build_child: BuildChild) -> Result<Box<dyn Discipline>, ParamError> {
        build_child(&self.spec, link).map_err(|error| self.refused(&error))
    }

    /// A refusal by the child, as one of the parameter that names it.
    fn refused(&self, error: &ParamError) -> ParamError {
        ParamError::of_child(self.param.0, self.param.1, error.of(self.spec.name))
    }
}

/// Which classes there are.
#[derive(Clone, Copy)]
pub(super) struct Layout {
    /// The classes that parameters ask for.
    pub(super) classes: fn(&Params) -> Vec<Inside>,
    /// The parameter that says how many.
    pub(super) counted: &'static str,
    /// How a packet's class is found; `None` if it is the one that the host gave it.
    pub(super) priomap: Option<ReadPriomap>,
    /// Whether every packet of a class has that number, but for those of the last.
    pub(super) by_class: bool,
    /// Whether a class has the packets of one station, or the last those of all higher ones; the class that the host gave
    /// does not matter.
    pub(super) by_station: bool,
}

/// One class for each of `classes`, by the list of `child`.
const BY_CLASS: Layout = Layout {
    classes: |params| each(params, "classes", "class"),
    counted: "classes",
    priomap: None,
    by_class: true,
    by_station: false,
};

/// A class for each that the parameter `counted` counts, by the list of `child`; probes have `name` and a number.
pub(super) fn each(params: &Params, counted: &str, name: &str) -> Vec<Inside> {
    let children = params.children("child");
    let of_class = |class: usize| {
        let place = class.min(children.len() - 1);
        Inside::new(params, format!("{name}_{class}"), ("child", Some(place + 1)), &children[place])
    };
    (0..params.count(counted) as usize).map(of_class).collect()
}

/// A scheduler over classes.
pub(super) struct Classful<S> {
    classes: Vec<Class>,
    scheduler: S,
    backlog: Backlog,
    limit: Size,
    pushout: bool,
    priomap: Option<Priomap>,
    link: Link,
    build_child: BuildChild,
    layout: Layout,
    /// Gives the scheduler new parameters.
    adopt: fn(&mut S, &Params),
    /// A child had packets but nothing to send, or its class was paused: it must be asked again.
    held_back: bool,
}

struct Class {
    inside: Inside,
    child: Box<dyn Discipline>,
    /// The head of the class: already taken from the child, since the scheduler asked for its length, but not yet
    /// sent.
    head: Option<Packet>,
    backlog: Backlog,
}

/// What the children hold together, if that can be added up.
fn parts_limit(classes: &[Class]) -> Option<Size> {
    let parts = classes.iter().map(|class| total(&class.inside.spec.params, &*class.child));
    let sum = |all: Size, part: Size| {
        let sum = all.with_count(all.count().saturating_add(part.count()));
        (all.with_count(part.count()) == part).then_some(sum)
    };
    parts.reduce(|all, part| sum(all?, part?)).flatten()
}

/// The limit of all classes; with `auto` there is none but those of the children.
fn limit(params: &Params) -> Size {
    params.size("limit").unwrap_or(Size::Packets(u64::MAX))
}

impl<S: Scheduler> Classful<S> {
    /// Classes by number, as the hosts give them.
    pub(super) fn new(
        blueprint: Blueprint<'_>,
        scheduler: S,
        adopt: fn(&mut S, &Params),
    ) -> Result<Classful<S>, ParamError> {
        Classful::of(BY_CLASS, blueprint, scheduler, adopt)
    }

    /// The classes of `layout`.
    pub(super) fn of(
        layout: Layout,
        blueprint: Blueprint<'_>,
        scheduler: S,
        adopt: fn(&mut S, &Params),
    ) -> Result<Classful<S>, ParamError> {
        let Blueprint { params, link, build_child, .. } = blueprint;
        let priomap = layout.priomap.map(|read| read(params)).transpose()?;
        let inside = params.disciplines_inside();
        if inside > MAX_DISCIPLINES {
            let problem = format!("stands for {inside} disciplines: allowed are {MAX_DISCIPLINES}");
            return Err(ParamError::relation("child", "", problem));
        }
        let mut classes = Vec::new();
        for inside in (layout.classes)(params) {
            let child = inside.build(link, build_child)?;
            classes.push(Class { inside, child, head: None, backlog: Backlog::default() });
        }
        let backlog = Backlog::default();
        Ok(Classful {
            classes,
            scheduler,
            backlog,
            limit: limit(params),
            pushout: pushes_out(params),
            priomap,
            link: *link,
            build_child,
            layout,
            adopt,
            held_back: false,
        })
    }

    /// Updates the count of a class after a call of its child.
    #[inline]
    fn count(&mut self, number: usize) {
        let class = &mut self.classes[number];
        let (before, after) = (class.backlog, class.holds());
        class.backlog = after;
        self.backlog.packets = self.backlog.packets + after.packets - before.packets;
        self.backlog.bytes = self.backlog.bytes + after.bytes - before.bytes;
    }

    /// Updates the counts of all classes: every child that was asked may have dropped.
    #[inline]
    fn count_all(&mut self) {
        let mut all = Backlog::default();
        for class in &mut self.classes {
            class.backlog = class.holds();
            all.packets += class.backlog.packets;
            all.bytes += class.backlog.bytes;
        }
        self.backlog = all;
    }

    /// A packet of class `number` arrives.
    #[inline]
    pub(super) fn enqueue_in(&mut self, number: usize, packet: Packet, cx: &mut Cx<'_>) {
        let full = self.backlog.would_exceed(self.limit, packet.length);
        if full && !self.make_room(number, packet.length, cx) {
            return cx.drop(packet, DropReason::Overlimit);
        }
        self.classes[number].child.enqueue(packet, cx);
        self.count(number);
        self.activate(number);
    }

    /// Drops packets of longer classes for one of `length` in class `number`; returns whether there is room now.
    #[cold]
    fn make_room(&mut self, number: usize, length: u32, cx: &mut Cx<'_>) -> bool {
        let fits = self.pushout && !Backlog::default().would_exceed(self.limit, length);
        while fits && self.backlog.would_exceed(self.limit, length) {
            let backlogs = self.classes.iter().map(|class| class.backlog);
            // A station that is the longest gives up a packet of its own, which its discipline chooses: a sparse flow passes.
            let own = (self.layout.by_station && self.classes[number].backlog.packets > 0).then_some(number);
            let Some(longer) = longer(backlogs, number, length, self.limit).or(own) else { return false };
            let before = self.backlog;
            if let Some(packet) = self.evict_from(longer, cx) {
                cx.drop(packet, DropReason::Overlimit);
            } else if self.backlog == before {
                return false;
            }
        }
        fits
    }

    fn evict_from(&mut self, number: usize, cx: &mut Cx<'_>) -> Option<Packet> {
        let class = &mut self.classes[number];
        // A head that waits outside is next to be sent: it goes last.
        let packet = class.child.evict(cx).or_else(|| class.head.take());
        self.count(number);
        packet
    }

    pub(super) fn scheduler(&self) -> &S {
        &self.scheduler
    }

    /// Gives the child of a class these values of the parameters that it has, or those that it was given if there are none.
    pub(super) fn change_child(
        &mut self,
        number: usize,
        values: &[(&str, Value)],
        cx: &mut Cx<'_>,
    ) -> Result<(), ParamError> {
        let class = &mut self.classes[number];
        let mut params = class.inside.spec.params.clone();
        let own: Vec<&str> = params.names().collect();
        for (name, value) in values.iter().filter(|(name, _)| own.contains(name)) {
            params.set(name, value.clone())?;
        }
        class.child.change(&params, cx)?;
        self.count(number);
        Ok(())
    }

    /// Tells the scheduler of every class with packets.
    pub(super) fn activate_all(&mut self) {
        (0..self.classes.len()).for_each(|number| self.activate(number));
    }

    pub(super) fn of_station(&self, station: u8) -> usize {
        usize::from(station).min(self.classes.len() - 1)
    }

    fn activate(&mut self, number: usize) {
        if self.classes[number].backlog.packets > 0 {
            self.scheduler.activate(number);
        }
    }

    fn longest(&self) -> Option<usize> {
        longest(self.classes.iter().map(|class| class.backlog), self.limit)
    }

    /// Drops from the longest classes until the limit is met.
    fn trim(&mut self, cx: &mut Cx<'_>) {
        while self.backlog.exceeds(self.limit) {
            let longest = self.longest().expect("what exceeds a limit is in a class");
            match self.evict_from(longest, cx) {
                Some(packet) => cx.drop(packet, DropReason::Reconfigured),
                None => self.classes[longest].child.purge(cx), // it holds back its packets
            }
            self.count(longest);
        }
    }

    /// Gives all children new parameters, or none of them.
    fn change_children(&mut self, params: &Params, cx: &mut Cx<'_>) -> Result<(), ParamError> {
        let wanted = (self.layout.classes)(params);
        let count = wanted.len();
        if count != self.classes.len() {
            return Err(ParamError::while_packets_wait(self.layout.counted, count));
        }
        for (class, inside) in self.classes.iter().zip(&wanted) {
            if class.inside.spec.name != inside.spec.name {
                let problem = "cannot become another discipline while packets may wait";
                return Err(ParamError::relation(inside.param.0, params.get(inside.param.0), problem));
            }
            inside.build(&self.link, self.build_child)?;
        }
        for (number, inside) in wanted.iter().enumerate() {
            if let Err(error) = self.classes[number].child.change(&inside.spec.params, cx) {
                for class in &mut self.classes[..number] {
                    let back = class.child.change(&class.inside.spec.params, cx);
                    back.expect("parameters were accepted before");
                }
                return Err(inside.refused(&error));
            }
        }
        self.classes.iter_mut().zip(wanted).for_each(|(class, inside)| class.inside = inside);
        Ok(())
    }
}

impl Class {
    #[inline]
    fn holds(&self) -> Backlog {
        let mut backlog = self.child.backlog();
        if let Some(head) = &self.head {
            backlog.packets += 1;
            backlog.bytes += u64::from(head.length);
        }
        backlog
    }

    /// The length of the next packet, which is taken from the child for this.
    #[inline]
    fn peek(&mut self, cx: &mut Cx<'_>) -> Option<u32> {
        if self.head.is_none() {
            self.head = self.child.dequeue(cx);
        }
        self.head.as_ref().map(|head| head.length)
    }

    /// The same if classes are paused, or some stations are asked for: `None` while the head must not be sent.
    fn peek_unpaused(&mut self, number: Option<u16>, cx: &mut Cx<'_>) -> Option<u32> {
        // All packets of the queue belong to this class: while that is paused, the law is not called either.
        if number.is_some_and(|number| cx.paused().contains(number)) {
            return None;
        }
        let length = self.peek(cx)?;
        let may_send = self.head.as_ref().is_some_and(|head| cx.may_send(head));
        may_send.then_some(length)
    }
}

/// The class whose turn it is among those that may send. A separate function, the same for any scheduler, so that a
/// dequeue of whatever comes next stays small.
#[cold]
fn select_restricted(
    scheduler: &mut dyn Scheduler,
    classes: &mut [Class],
    layout: &Layout,
    held_back: &mut bool,
    cx: &mut Cx<'_>,
) -> Option<usize> {
    // For the rest of an aggregate nobody's turn changes: that was decided with its first packet.
    let last = classes.len() - 1;
    match cx.next_hop() {
        NextHop::Station(station) if layout.by_station => {
            let number = usize::from(station).min(last);
            return classes[number].peek_unpaused(None, cx).map(|_| number);
        }
        NextHop::Among(stations) if layout.by_station => {
            let may = |number: usize| {
                if number < last { stations.contains(number as u8) } else { stations.any_from(last as u8) }
            };
            return scheduler
                .of_stations()?
                .select_among(&may, &mut |number| classes[number].peek_unpaused(None, cx));
        }
        _ => {}
    }
    // The last class holds the packets of all higher ones, too.
    let alike = if layout.by_class { classes.len() - 1 } else { 0 };
    scheduler.select(&mut |number| {
        let length = classes[number].peek_unpaused((number < alike).then_some(number as u16), cx);
        *held_back |= length.is_none();
        length
    })
}

impl<S: Scheduler + Send> Discipline for Classful<S> {
    #[inline]
    fn enqueue(&mut self, packet: Packet, cx: &mut Cx<'_>) {
        let number = match &self.priomap {
            None => usize::from(packet.class).min(self.classes.len() - 1),
            Some(priomap) => priomap.band(&packet),
        };
        self.enqueue_in(number, packet, cx);
    }

    #[inline]
    fn dequeue(&mut self, cx: &mut Cx<'_>) -> Option<Packet> {
        if self.held_back {
            self.held_back = false;
            self.activate_all();
        }
        let selected = if cx.is_unrestricted() {
            let (classes, held_back) = (&mut self.classes, &mut self.held_back);
            self.scheduler.select(&mut |number| {
                let class = &mut classes[number];
                let length = class.peek(cx);
                *held_back |= length.is_none() && class.child.backlog().packets > 0;
                length
            })
        } else {
            let layout = &self.layout;
            select_restricted(&mut self.scheduler, &mut self.classes, layout, &mut self.held_back, cx)
        };
        let packet = selected.and_then(|number| self.classes[number].head.take());
        self.count_all();
        let (number, packet) = (selected?, packet?);
        self.scheduler.sent(number, packet.length, self.classes[number].backlog.packets == 0);
        Some(packet)
    }

    /// The scheduler of stations accounts for it, and the child of its class learns of it.
    fn sent(&mut self, sent: &Sent, cx: &mut Cx<'_>) {
        let number = match self.layout {
            Layout { by_station: true, .. } => self.of_station(sent.station),
            Layout { by_class: true, .. } => usize::from(sent.class).min(self.classes.len() - 1),
            _ => return,
        };
        if self.layout.by_station {
            self.scheduler.charge(number, sent.airtime, sent.received);
        }
        self.classes[number].child.sent(sent, cx);
        self.count(number);
    }

    /// From the longest class.
    fn evict(&mut self, cx: &mut Cx<'_>) -> Option<Packet> {
        let longest = self.longest()?;
        self.evict_from(longest, cx)
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn parts_limit(&self) -> Option<Size> {
        parts_limit(&self.classes)
    }

    fn change(&mut self, params: &Params, cx: &mut Cx<'_>) -> Result<(), ParamError> {
        let priomap = self.layout.priomap.map(|read| read(params)).transpose()?;
        if priomap != self.priomap && self.backlog.packets > 0 {
            // Packets of one flow would overtake each other.
            let problem = "cannot change the bands of packets while some wait";
            return Err(ParamError::relation("priomap", params.get("priomap"), problem));
        }
        let changed = self.change_children(params, cx);
        self.count_all();
        changed?;
        self.priomap = priomap;
        self.limit = limit(params);
        self.pushout = pushes_out(params);
        (self.adopt)(&mut self.scheduler, params);
        // A scheduler that was replaced does not know who waits.
        self.held_back = true;
        self.trim(cx);
        Ok(())
    }

    fn purge(&mut self, cx: &mut Cx<'_>) {
        for number in 0..self.classes.len() {
            let class = &mut self.classes[number];
            if let Some(head) = class.head.take() {
                cx.drop(head, DropReason::Reconfigured);
            }
            class.child.purge(cx);
            self.count(number);
        }
        self.scheduler.clear();
    }

    fn next_wakeup(&self) -> Option<Time> {
        self.classes.iter().filter_map(|class| class.child.next_wakeup()).min()
    }

    fn on_wakeup(&mut self, cx: &mut Cx<'_>) {
        for number in 0..self.classes.len() {
            self.classes[number].child.on_wakeup(cx);
            self.count(number);
        }
    }

    /// Its own variables, then those of the children as `class_0.NAME`.
    fn probe(&self, now: Time, sink: &mut dyn FnMut(&str, f64)) {
        sink("busy_classes", self.classes.iter().filter(|class| class.backlog.packets > 0).count() as f64);
        for class in &self.classes {
            class.child.probe(now, &mut |name, value| sink(&format!("{}.{name}", class.inside.name), value));
        }
    }

    fn children(&self, visit: &mut dyn FnMut(&str, &dyn Discipline)) {
        self.classes.iter().for_each(|class| visit(&class.inside.name, &*class.child));
    }

    fn state_bytes(&self) -> usize {
        let inside = |class: &Class| size_of::<Class>() + class.child.state_bytes();
        size_of::<Classful<S>>() + self.classes.iter().map(inside).sum::<usize>()
    }
}
