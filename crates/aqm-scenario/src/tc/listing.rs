//! What a text of tc lists: qdiscs and classes, each with its place and its words. Commands are carried out on the list:
//! `replace` takes the place of what was there, `change` adds words, `del` takes away.

use aqm_core::input_error::InputError;
use std::collections::BTreeSet;

/// Most qdiscs, and most classes: a card with hundreds of transmit queues has fewer.
const MOST: usize = 1024;

/// Where a qdisc or class is attached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// At the device.
    Root,
    /// In a class or qdisc, by its handle.
    Under(String),
    /// Where packets come in; nothing queues there.
    Ingress,
}

/// Whose words these are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// A command: what it leaves out is tc's default.
    Command,
    /// A line that tc printed: a flag that it leaves out is off.
    Printed,
    /// tc's JSON: the same, and no number was rounded.
    Json,
}

/// A qdisc.
#[derive(Clone, Debug)]
pub(super) struct Qdisc {
    pub(super) kind: String,
    /// `8001:`, or empty.
    pub(super) handle: String,
    /// Empty where the text does not say it.
    pub(super) device: String,
    pub(super) place: Place,
    pub(super) words: Vec<String>,
    /// tc-stab(8): what a packet's size becomes.
    pub(super) stab: Vec<String>,
    pub(super) form: Form,
}

/// A class of a classful qdisc.
#[derive(Clone, Debug)]
pub(super) struct Class {
    pub(super) kind: String,
    /// `1:10`.
    pub(super) handle: String,
    pub(super) device: String,
    /// The handle above it.
    pub(super) parent: String,
    pub(super) words: Vec<String>,
}

/// Everything that a text lists.
#[derive(Clone, Debug, Default)]
pub(super) struct Listing {
    pub(super) qdiscs: Vec<Qdisc>,
    pub(super) classes: Vec<Class>,
}

/// What a command does to the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    Add,
    Change,
    Delete,
    Show,
}

impl Qdisc {
    /// How messages name it: `cake 8001: of eth0`.
    pub(super) fn name(&self) -> String {
        let handle = if self.handle.is_empty() { String::new() } else { format!(" {}", self.handle) };
        let device = if self.device.is_empty() { String::new() } else { format!(" of {}", self.device) };
        match &self.place {
            Place::Under(parent) => format!("{}{handle} under {parent}{device}", self.kind),
            _ => format!("{}{handle}{device}", self.kind),
        }
    }
}

impl Listing {
    /// Puts a qdisc in its place, as a command with this verb does.
    pub(super) fn put(&mut self, verb: Verb, qdisc: Qdisc) {
        let same_place = |other: &Qdisc| other.device == qdisc.device && other.place == qdisc.place;
        match verb {
            Verb::Show => {}
            Verb::Delete => self.delete(&qdisc),
            Verb::Change => {
                match self.qdiscs.iter_mut().find(|other| same_place(other) && other.kind == qdisc.kind) {
                    Some(before) => before.words.extend(qdisc.words),
                    None => self.qdiscs.push(qdisc),
                }
            }
            Verb::Add => {
                if qdisc.form == Form::Command {
                    self.qdiscs.retain(|other| !same_place(other));
                }
                self.qdiscs.push(qdisc);
            }
        }
    }

    /// Takes a qdisc away, and with the root what is below it.
    fn delete(&mut self, gone: &Qdisc) {
        let is_root = gone.place == Place::Root;
        self.qdiscs.retain(|other| {
            other.device != gone.device
                || if is_root { other.place == Place::Ingress } else { other.place != gone.place }
        });
        if is_root {
            self.classes.retain(|class| class.device != gone.device);
        }
    }

    /// The qdiscs directly below `above`: in its classes, or in the classes of these.
    pub(super) fn below(&self, above: &Qdisc) -> Vec<&Qdisc> {
        self.qdiscs
            .iter()
            .filter(|other| other.device == above.device)
            .filter(
                |other| matches!(&other.place, Place::Under(parent) if major(parent) == major(&above.handle)),
            )
            .collect()
    }

    /// The classes of `above` that have none below them.
    pub(super) fn leaves(&self, above: &Qdisc) -> Vec<&Class> {
        let is_own = |class: &&Class| {
            class.device == above.device
                && class.kind == above.kind
                && major(&class.handle) == major(&above.handle)
        };
        let parents: BTreeSet<&str> =
            self.classes.iter().filter(is_own).map(|class| &*class.parent).collect();
        self.classes.iter().filter(is_own).filter(|class| !parents.contains(&*class.handle)).collect()
    }

    /// Refuses a text with more than a machine has.
    pub(super) fn check_size(&self) -> Result<(), InputError> {
        let most = self.qdiscs.len().max(self.classes.len());
        if most > MOST {
            Err(InputError::new(format!("tc: the text has {most} qdiscs or classes: allowed are {MOST}")))
        } else {
            Ok(())
        }
    }
}

/// The part of a handle before the colon, as a number; qdiscs that nobody named are 0.
pub(super) fn major(handle: &str) -> u32 {
    u32::from_str_radix(handle.split(':').next().unwrap_or_default(), 16).unwrap_or(0)
}

/// The part after the colon, as a number.
pub(super) fn minor(handle: &str) -> u32 {
    u32::from_str_radix(handle.split(':').nth(1).unwrap_or_default(), 16).unwrap_or(0)
}
