//! The inputs that a scenario names: captures and link traces, parsed once and shared by all runs, real transports, and
//! what a host adds to the lists of this crate.

use crate::extension::Extension;
use crate::observer;
use crate::rate_control::{RATE_CONTROLS, RateSender};
use crate::stack::{self, Stack, StackConfig, TransportSpec};
use crate::switch::program::ProgramSpec;
use crate::switch::programs::PROGRAMS;
use crate::traffic::conversations::{self, Conversation};
use crate::transport::Tcp;
use crate::transport::socket::SocketConfig;
use aqm_core::input_error::InputError;
use aqm_io::capture::Capture;
use aqm_io::input_error::InputError as FileError;
use aqm_io::link_trace::LinkTrace;
use aqm_path::kind::KindSpec;
use aqm_path::kinds::KINDS;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

/// Captures, link traces and real transports by the names that scenarios use. Cheap to clone: parsed data are shared.
#[derive(Clone, Default)]
pub struct Inputs {
    captures: BTreeMap<String, Arc<Recording>>,
    link_traces: BTreeMap<String, LinkTrace>,
    stacks: BTreeMap<&'static str, Arc<dyn Stack>>,
    extensions: Vec<&'static Extension>,
}

/// A capture, and its conversations once they are needed.
#[derive(Debug)]
struct Recording {
    capture: Arc<Capture>,
    conversations: OnceLock<Vec<Conversation>>,
}

impl Inputs {
    /// Adds a capture, or replaces the one of that name.
    pub fn add_capture(&mut self, name: &str, capture: Arc<Capture>) {
        let recording = Recording { capture, conversations: OnceLock::new() };
        self.captures.insert(name.to_owned(), Arc::new(recording));
    }

    /// Adds a link trace, or replaces the one of that name.
    pub fn add_link_trace(&mut self, name: &str, trace: LinkTrace) {
        self.link_traces.insert(name.to_owned(), trace);
    }

    /// Adds a real transport, or replaces the one of that name.
    ///
    /// # Errors
    /// If its declaration lacks a key that every stack has, or has one twice.
    pub fn add_stack(&mut self, stack: Arc<dyn Stack>) -> Result<(), InputError> {
        stack::check(stack.info())?;
        self.stacks.insert(stack.info().name, stack);
        Ok(())
    }

    /// Adds to the lists of this crate.
    pub fn add_extension(&mut self, extension: &'static Extension) {
        self.extensions.push(extension);
    }

    /// The rate control that a scenario names, with the values of its keys.
    pub(crate) fn rate_sender(&self, named: &TransportSpec) -> Result<RateSender, InputError> {
        let added = self.extensions.iter().map(|extension| extension.rate_controls);
        let known: Vec<_> = std::iter::once(RATE_CONTROLS).chain(added).flatten().copied().collect();
        RateSender::of(named, &known)
    }

    /// The sockets that a group of flows over `tcp` names.
    pub(crate) fn socket(&self, named: &TransportSpec, tcp: &Tcp) -> Result<SocketConfig, InputError> {
        let known: Vec<_> = self.extensions.iter().flat_map(|extension| extension.sockets).copied().collect();
        SocketConfig::of(named, &known, tcp)
    }

    /// The kind of link that a scenario names, with its parameters.
    pub(crate) fn link_kind(&self, text: &str) -> Result<KindSpec, InputError> {
        let added = self.extensions.iter().map(|extension| extension.link_kinds);
        let known: Vec<_> = std::iter::once(KINDS).chain(added).flatten().copied().collect();
        KindSpec::parse(text, &known)
    }

    /// The program of a switch that a scenario names, with its parameters.
    pub(crate) fn program(&self, text: &str) -> Result<ProgramSpec, InputError> {
        let added = self.extensions.iter().map(|extension| extension.programs);
        let known: Vec<_> = std::iter::once(PROGRAMS).chain(added).flatten().copied().collect();
        ProgramSpec::parse_among(text, &known)
    }

    /// The observer that a scenario names.
    pub(crate) fn observer(&self, name: &str) -> Result<&'static observer::Info, InputError> {
        let added = || self.extensions.iter().flat_map(|extension| extension.observers);
        added().copied().find(|info| info.name == name).ok_or_else(|| {
            let names = added().map(|info| info.name);
            InputError::unknown("observer", name, names).of_option("observe")
        })
    }

    /// The stack that a scenario names, with the values of its keys.
    pub(crate) fn stack_config(&self, named: &TransportSpec) -> Result<StackConfig, InputError> {
        let Some(stack) = self.stacks.get(named.name.as_str()) else {
            return Err(InputError::unknown("stack", &named.name, self.stacks.keys().copied()));
        };
        StackConfig::new(stack, named)
    }

    pub(crate) fn capture(&self, name: &str) -> Result<&Capture, FileError> {
        Ok(&self.recording(name)?.capture)
    }

    /// The conversations of a capture: at least one.
    pub(crate) fn conversations(&self, name: &str) -> Result<&[Conversation], FileError> {
        let recording = self.recording(name)?;
        match recording.conversations.get_or_init(|| conversations::of_capture(&recording.capture)).as_slice()
        {
            [] => Err(FileError::new(name, "holds no TCP connection with data")),
            found => Ok(found),
        }
    }

    /// The link trace of this name.
    ///
    /// # Errors
    /// If there is none, with those that there are.
    pub fn link_trace(&self, name: &str) -> Result<&LinkTrace, FileError> {
        self.link_traces.get(name).ok_or_else(|| missing(name, "link trace", &self.link_traces))
    }

    fn recording(&self, name: &str) -> Result<&Recording, FileError> {
        self.captures.get(name).map(Arc::as_ref).ok_or_else(|| missing(name, "capture", &self.captures))
    }
}

fn missing<T>(name: &str, what: &str, given: &BTreeMap<String, T>) -> FileError {
    let names: Vec<&str> = given.keys().map(String::as_str).collect();
    let others = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    FileError::new(
        name,
        format!("the scenario names this {what}, but it is not among the inputs (given: {others})"),
    )
}
