//! Which qdisc of a [`Listing`] is meant, and what it is with those below it.

use super::kinds;
use super::listing::{Form, Listing, Place, Qdisc, major, minor};
use super::translation::Translation;
use super::{children, link, parse, refused};
use aqm_core::input_error::InputError;
use aqm_core::registry;
use aqm_core::spec::Spec;
use std::cell::Cell;
use std::collections::BTreeSet;

/// Most qdiscs that a message lists.
const MOST_LISTED: usize = 8;
/// Qdiscs that give each transmit queue of a card one of its own.
const PER_QUEUE: [&str; 2] = ["mq", "mqprio"];
/// Qdiscs that shape, delay or lose what a single queue holds: here the link does.
const AROUND: [&str; 4] = ["htb", "hfsc", "tbf", "netem"];
/// Most qdiscs of a tree, also of one that names itself as its parent.
const LARGEST: usize = 2048;
/// As many as a kernel allows (qdisc_graft()), with room for what a text alone has.
const DEEPEST: usize = 16;

/// What is known of a text.
struct Tree<'a> {
    listing: &'a Listing,
    /// How many more qdiscs may be read.
    left: Cell<usize>,
    /// How many are above the one that is read.
    depth: Cell<usize>,
}

/// Translates the qdisc that `wanted` names, or the root.
pub(super) fn translate(listing: &Listing, wanted: Option<&str>) -> Result<Translation, InputError> {
    let tree = Tree { listing, left: Cell::new(LARGEST), depth: Cell::new(0) };
    if listing.qdiscs.is_empty() {
        return Err(InputError::new(
            "tc: the text has no qdisc: give 'tc qdisc add dev DEV root KIND ...' or what tc qdisc show prints",
        ));
    }
    let candidates = match wanted {
        Some(name) => named(listing, name)?,
        None => roots(listing)?,
    };
    let mut found = tree.different(&candidates)?;
    if found.len() > 1 {
        let names = list(&candidates);
        return Err(InputError::new(format!(
            "tc: which is meant? {names}: end the text with 'use' and a handle or device, as 'use {}'",
            hint(candidates[0])
        )));
    }
    let mut translation = found.remove(0);
    if candidates.len() > 1 {
        translation.notes.push(format!(
            "{} equal qdiscs are one here: {}",
            candidates.len(),
            list(&candidates)
        ));
    }
    Ok(translation)
}

fn hint(qdisc: &Qdisc) -> &str {
    if qdisc.place == Place::Root && !qdisc.device.is_empty() { &qdisc.device } else { &qdisc.handle }
}

fn list(qdiscs: &[&Qdisc]) -> String {
    let mut names: Vec<String> = qdiscs.iter().take(MOST_LISTED).map(|qdisc| qdisc.name()).collect();
    if qdiscs.len() > MOST_LISTED {
        names.push(format!("{} more", qdiscs.len() - MOST_LISTED));
    }
    names.join(", ")
}

/// The roots; devices without a queue only where nothing else is. A lone qdisc below one that is not there counts.
fn roots(listing: &Listing) -> Result<Vec<&Qdisc>, InputError> {
    let mut found: Vec<&Qdisc> = listing.qdiscs.iter().filter(|qdisc| qdisc.place == Place::Root).collect();
    if found.iter().any(|qdisc| qdisc.kind != "noqueue") {
        found.retain(|qdisc| qdisc.kind != "noqueue");
    }
    if found.is_empty() {
        found = listing.qdiscs.iter().filter(|qdisc| qdisc.place != Place::Ingress).collect();
    }
    if found.is_empty() {
        return Err(InputError::new(
            "tc: the text has an ingress hook alone, where nothing queues: a redirect to an ifb device has a root there",
        ));
    }
    Ok(found)
}

/// The qdiscs of a handle, place or device.
fn named<'a>(listing: &'a Listing, name: &str) -> Result<Vec<&'a Qdisc>, InputError> {
    let is_meant = |qdisc: &&Qdisc| {
        qdisc.handle == name
            || matches!(&qdisc.place, Place::Under(parent) if parent == name)
            || (qdisc.device == name && qdisc.place == Place::Root)
    };
    let found: Vec<&Qdisc> = listing.qdiscs.iter().filter(is_meant).collect();
    if found.is_empty() {
        let all: Vec<&Qdisc> = listing.qdiscs.iter().collect();
        return Err(InputError::new(format!(
            "tc: no qdisc has the handle or device '{name}': the text has {}",
            list(&all)
        )));
    }
    Ok(found)
}

impl Tree<'_> {
    /// A qdisc with everything below it.
    fn whole(&self, qdisc: &Qdisc) -> Result<Translation, InputError> {
        let (left, depth) = (self.left.get(), self.depth.get());
        if left == 0 || depth == DEEPEST {
            let name = qdisc.name();
            return Err(InputError::new(format!(
                "tc: {name} is below itself, or in a tree of more than {LARGEST} qdiscs or {DEEPEST} levels"
            )));
        }
        self.left.set(left - 1);
        self.depth.set(depth + 1);
        let translation = translated(self, qdisc);
        self.depth.set(depth);
        translation
    }

    /// The translations of qdiscs that differ.
    fn different(&self, qdiscs: &[&Qdisc]) -> Result<Vec<Translation>, InputError> {
        let (mut found, mut seen) = (Vec::new(), BTreeSet::new());
        for qdisc in qdiscs {
            let translation = self.whole(qdisc)?;
            if seen.insert(translation.spec.to_string()) {
                found.push(translation);
            }
        }
        Ok(found)
    }
}

fn translated(tree: &Tree<'_>, qdisc: &Qdisc) -> Result<Translation, InputError> {
    let kind = &*qdisc.kind;
    let mut translation = if PER_QUEUE.contains(&kind) {
        per_queue(tree, qdisc)?
    } else if AROUND.contains(&kind) {
        around(tree, qdisc)?
    } else if children::has_children(kind) {
        classful(tree, qdisc)?
    } else {
        single(qdisc)?
    };
    if !qdisc.stab.is_empty() {
        let table = qdisc.stab.join(" ");
        translation
            .notes
            .push(format!("stab {table} belongs to the link: --overhead has the bytes around a packet"));
    }
    Ok(translation)
}

/// The discipline of a name, as Linux has it where there is such a preset.
fn plain(spec: &str) -> Result<Spec, InputError> {
    let parsed = Spec::parse(spec)?;
    match parsed.info.preset("linux") {
        Some(preset) if !spec.contains(':') => Ok(Spec::of(parsed.info, preset)),
        _ => Ok(parsed),
    }
}

/// A qdisc without classes.
fn single(qdisc: &Qdisc) -> Result<Translation, InputError> {
    let Some(kind) = kinds::find(&qdisc.kind) else { return Err(unknown(&qdisc.kind)) };
    let given = parse::read(kind, &qdisc.words, qdisc.form).map_err(|error| error.within("tc"))?;
    let mut spec = plain(kind.spec)?;
    for (param, text) in given.params() {
        spec.set_text(param, text).map_err(|error| InputError::from(error).within(kind.name).within("tc"))?;
    }
    let mut notes = given.notes();
    if qdisc.form != Form::Command && (kind.name == "red" || kind.name == "choke") {
        let is_exact = given.params().any(|(param, _)| param == "w");
        if !is_exact {
            notes.push(format!(
                "{}: tc prints weight and probability with -d only: they are the defaults here",
                kind.name
            ));
        }
    }
    Ok(Translation { spec, notes })
}

fn unknown(kind: &str) -> InputError {
    if let Some(message) = refused::nearest(kind) {
        return InputError::new(message).of_value(kind);
    }
    if registry::find(kind).is_some() {
        let problem =
            format!("tc has no qdisc '{kind}', the laboratory has: give it without tc's words before it");
        return InputError::new(problem).of_value(kind);
    }
    let names = || kinds::KINDS.iter().map(|kind| kind.name);
    InputError::unknown("qdisc", kind, names()).within("tc")
}

/// The one discipline in all queues of a card.
fn per_queue(tree: &Tree<'_>, qdisc: &Qdisc) -> Result<Translation, InputError> {
    let below = tree.listing.below(qdisc);
    let name = qdisc.name();
    let mut found = tree.different(&below)?;
    match found.len() {
        0 => Err(InputError::new(format!(
            "tc: {name} has a qdisc for each queue of the card, and the text has none of them: add their lines"
        ))),
        1 => {
            let mut translation = found.remove(0);
            translation
                .notes
                .push(format!("{name}: a link has one queue here, as each of the card's {}", below.len()));
            Ok(translation)
        }
        _ => Err(InputError::new(format!(
            "tc: {name} has different queues: {}: end the text with 'use' and one of them, as 'use {}'",
            list(&below),
            match &below[0].place {
                Place::Under(parent) => parent,
                _ => &below[0].handle,
            }
        ))),
    }
}

/// What a shaper or netem has inside; its rate and delay are the link's.
fn around(tree: &Tree<'_>, qdisc: &Qdisc) -> Result<Translation, InputError> {
    let name = qdisc.name();
    let (below, leaves) = (tree.listing.below(qdisc), tree.listing.leaves(qdisc));
    let places: BTreeSet<&str> = below
        .iter()
        .filter_map(|child| match &child.place {
            Place::Under(parent) => Some(&**parent),
            _ => None,
        })
        .chain(leaves.iter().map(|class| &*class.handle))
        .collect();
    if places.len() > 1 {
        let places: Vec<&str> = places.into_iter().take(MOST_LISTED).collect();
        return Err(InputError::new(format!(
            "tc: {name} has several classes ({}), each with a rate: drr comes closest, with a quantum and a discipline for \
             each class, on a link of the whole rate",
            places.join(", ")
        )));
    }
    let link = link::options(qdisc, leaves.first().copied())?;
    let Some(child) = below.first() else {
        if matches!(&*qdisc.kind, "tbf" | "netem") || leaves.is_empty() {
            return Err(InputError::new(format!("tc: {name} is no discipline: {link}")));
        }
        // tc-htb(8): a class without a qdisc has a FIFO of the device's queue length.
        let spec = plain("fifo")?;
        return Ok(Translation { spec, notes: vec![format!("{name}: {link}")] });
    };
    let mut translation = tree.whole(child)?;
    translation.notes.push(format!("{name}: {link}"));
    Ok(translation)
}

/// A classful qdisc, its classes in the order of their handles.
fn classful(tree: &Tree<'_>, qdisc: &Qdisc) -> Result<Translation, InputError> {
    let below = tree.listing.below(qdisc);
    let leaves = tree.listing.leaves(qdisc);
    let mut base = single(qdisc)?;
    if below.is_empty() && leaves.is_empty() {
        return Ok(base);
    }
    let name = qdisc.name();
    let bands = matches!(&*qdisc.kind, "prio" | "ets").then(|| base.spec.params.count("bands"));
    let places = children::places(&below, &leaves, bands);
    let counted = if bands.is_some() { String::new() } else { format!(" classes {}", places.len()) };
    let own = children::parameters(qdisc, &places, &leaves)
        .map_err(|problem| InputError::new(format!("tc: {name}: {problem}")))?;
    let mut text = format!("{}{counted}{own}", base.spec);
    for place in &places {
        let child = below
            .iter()
            .find(|child| matches!(&child.place, Place::Under(parent) if minor(parent) == *place));
        let child = match child {
            Some(child) => tree.whole(child)?,
            None => Translation { spec: plain("fifo")?, notes: Vec::new() },
        };
        text += &format!(" child [{}]", child.spec);
        base.notes.extend(child.notes);
    }
    base.spec = Spec::parse(&text).map_err(|error| InputError::new(format!("tc: {name}: {error}")))?;
    base.notes.push(match bands {
        Some(_) => format!("{name}: filters are not read: the band follows from a packet's DSCP"),
        None => format!(
            "{name}: filters are not read: a flow's class= says its class, 0 for {:x}:{:x}",
            major(&qdisc.handle),
            places[0]
        ),
    });
    Ok(base)
}
