//! The kinds of flow and the transports that a host knows, with the keys of each and their defaults.

use super::key::{Key, written};
use aqm_core::params::Value;
use aqm_sim::rate_control::{self, RATE_CONTROLS, RATE_SENDER};
use aqm_sim::stack;
use aqm_sim::traffic::{BULK, COMMON, KINDS, Over, SourceKind};
use aqm_sim::transport::socket;
use aqm_sim::transport::{self, CONTROLS, GROUPS, PROFILES, Relation, UDP, profile_values, tcp_keys};

/// The key that chooses a profile for all keys of TCP.
pub(super) const PROFILE: &str = "profile";

/// The default profile.
pub const RFC: &str = "rfc";

/// What carries the data.
#[derive(Clone, Copy)]
pub enum Transport {
    /// UDP.
    Udp,
    /// TCP with this congestion control.
    Tcp(&'static transport::Info),
    /// A rate-based sender.
    Rate(&'static rate_control::Info),
    /// A real transport.
    Stack(&'static stack::Info),
}

impl Transport {
    /// Its name in flow specs.
    pub fn name(&self) -> &'static str {
        match self {
            Transport::Udp => "udp",
            Transport::Tcp(info) => info.name,
            Transport::Rate(info) => info.name,
            Transport::Stack(info) => info.name,
        }
    }

    /// Its form in a scenario, and the field there that has its name.
    pub fn form(&self) -> (&'static str, &'static str) {
        match self {
            Transport::Udp => ("udp", ""),
            Transport::Tcp(_) => ("tcp", "congestion_control"),
            Transport::Rate(_) => ("rate", "rate_control"),
            Transport::Stack(_) => ("stack", "stack"),
        }
    }

    /// What it is, in a few words.
    pub fn summary(&self) -> &'static str {
        match self {
            Transport::Udp => "UDP: nothing reacts",
            Transport::Tcp(info) => info.summary,
            Transport::Rate(info) => info.summary,
            Transport::Stack(info) => info.summary,
        }
    }

    /// Another name for it, or nothing.
    pub fn alias(&self) -> &'static str {
        if let Transport::Tcp(info) = self { info.alias } else { "" }
    }

    /// Its own keys.
    pub fn keys(&self) -> Vec<Key> {
        let lists: Vec<&'static [_]> = match self {
            Transport::Udp => vec![UDP],
            Transport::Tcp(info) => tcp_keys(info).collect(),
            Transport::Rate(info) => vec![RATE_SENDER, info.params],
            Transport::Stack(info) => vec![info.params],
        };
        lists.into_iter().flatten().map(Key::from).collect()
    }

    /// Its defaults for keys, where they differ from the declared ones.
    pub fn sets(&self) -> &'static [(&'static str, &'static str)] {
        match self {
            Transport::Tcp(info) => info.sets,
            Transport::Rate(info) => info.sets,
            _ => &[],
        }
    }

    /// Keys that it limits to these values.
    pub fn only(&self) -> &'static [(&'static str, &'static [&'static str])] {
        if let Transport::Tcp(info) = self { info.only } else { &[] }
    }

    /// Keys that a flow of it needs.
    pub fn must(&self) -> &'static [&'static str] {
        if let Transport::Tcp(info) = self { info.must } else { &[] }
    }

    /// Values of its keys that need values of others.
    pub fn relations(&self) -> impl Iterator<Item = &'static Relation> {
        let tcp = if let Transport::Tcp(info) = self { Some(*info) } else { None };
        tcp.into_iter().flat_map(transport::relations)
    }

    /// Whether it takes this value of a key.
    fn takes(&self, key: &str, value: &str) -> bool {
        self.only().iter().all(|(name, values)| *name != key || values.contains(&value))
    }

    /// Whether a key chooses the profile of its keys, of all or of a group.
    pub(super) fn has_profile(&self, key: &str) -> bool {
        let is_group = || GROUPS.iter().any(|group| group.name == key);
        matches!(self, Transport::Tcp(_)) && (key == PROFILE || is_group())
    }

    /// The values that a profile sets for its keys.
    pub fn of_profile(&self, name: &str) -> Vec<(&'static str, String)> {
        let Transport::Tcp(info) = self else { return Vec::new() };
        profile_values(info, name)
            .map(|(key, value)| (*key, written(value)))
            .filter(|(key, value)| self.takes(key, value))
            .collect()
    }
}

/// The profiles of a flow: of all keys of TCP, and of the groups that have another.
#[derive(Clone, Copy, Debug, Default)]
pub struct Profiles<'a> {
    /// That of keys outside of groups, and of groups that have no other.
    pub all: &'a str,
    /// Groups and their profiles.
    pub groups: &'a [(&'a str, &'a str)],
}

impl<'a> Profiles<'a> {
    /// One profile for all keys.
    pub fn one(name: &'a str) -> Profiles<'a> {
        Profiles { all: name, groups: &[] }
    }

    /// That of a key.
    fn of(&self, key: &str) -> &'a str {
        let own =
            key.split_once('.').and_then(|(group, _)| self.groups.iter().find(|(name, _)| *name == group));
        own.map_or(self.all, |(_, profile)| profile)
    }
}

/// A kind of flow: a transport with bulk data, or a source over one of several.
#[derive(Clone)]
pub struct Kind {
    /// Its source, unless it is bulk data.
    source: Option<&'static SourceKind>,
    /// What may carry it, the default first.
    transports: Vec<Transport>,
    /// Sockets that its connections may have over TCP.
    sockets: Vec<&'static socket::Info>,
}

impl Kind {
    /// Its declaration, unless it is bulk data.
    pub fn declared(&self) -> Option<&'static SourceKind> {
        self.source
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        self.source.map_or_else(|| self.transports[0].name(), |source| source.name)
    }

    /// Its source's form in a scenario, and the fields there beside those of its keys.
    pub fn source(&self) -> (&'static str, &'static [(&'static str, Value)]) {
        self.source.map_or(("bulk", &[]), |source| (source.form, source.constants))
    }

    /// Keys that must be given.
    pub fn must(&self) -> &'static [&'static str] {
        self.source.map_or_else(|| self.transports[0].must(), |source| source.must)
    }

    /// The names of what may carry it, in the order of listings.
    pub fn transports(&self) -> Vec<&'static str> {
        self.transports.iter().map(Transport::name).collect()
    }

    /// What carries it by default.
    pub fn usual(&self) -> Transport {
        let name = self.source.map_or_else(|| self.transports[0].name(), |source| source.transport);
        self.carrier(name).unwrap_or(self.transports[0])
    }

    /// What may carry it, by name.
    pub fn carrier(&self, name: &str) -> Option<Transport> {
        self.transports.iter().copied().find(|one| one.name() == name)
    }

    /// The keys of its source.
    pub fn own_keys(&self) -> Vec<Key> {
        self.source.map_or(BULK, |source| source.keys).iter().map(Key::from).collect()
    }

    /// Its keys over one transport, or over any.
    pub fn keys(&self, over: Option<Transport>) -> Vec<Key> {
        let transports = over.map_or_else(|| self.transports.clone(), |one| vec![one]);
        let mut keys: Vec<Key> = COMMON.iter().map(Key::from).collect();
        if self.transports.len() > 1 {
            let about = "transport of the data";
            keys.push(Key::choice("transport", self.transports(), self.usual().name(), about));
        }
        keys.extend(self.own_keys());
        if transports.iter().any(|one| matches!(one, Transport::Tcp(_))) {
            let words: Vec<&str> = PROFILES.iter().map(|profile| profile.name).collect();
            let about = "whose TCP: sets the defaults of its keys and of the groups below";
            keys.push(Key::choice(PROFILE, words.clone(), RFC, about));
            for group in GROUPS {
                keys.push(Key::choice(group.name, words.clone(), RFC, group.summary));
            }
        }
        for key in transports.iter().flat_map(Transport::keys) {
            if !keys.iter().any(|known| known.name == key.name) {
                keys.push(key);
            }
        }
        if transports.iter().any(|one| matches!(one, Transport::Tcp(_))) {
            keys.extend(self.sockets.iter().flat_map(|info| info.keys).map(Key::from));
        }
        keys
    }

    /// Sockets that its connections may have over TCP.
    pub fn sockets(&self) -> &[&'static socket::Info] {
        &self.sockets
    }

    /// The default of a key over a transport in profiles; `None` where there is none.
    pub fn default(&self, key: &Key, over: Transport, profiles: &Profiles<'_>) -> Option<String> {
        let of = |pairs: &[(&str, &str)]| {
            pairs.iter().find(|(name, _)| *name == key.name).map(|(_, value)| (*value).to_owned())
        };
        let special = match key.name {
            name if over.has_profile(name) => Some(profiles.all.to_owned()),
            "transport" => Some(over.name().to_owned()),
            "name" => Some(self.name().to_owned()),
            _ => None,
        };
        self.source
            .and_then(|source| of(source.defaults))
            .or(special)
            .or_else(|| of(over.sets()))
            .or_else(|| {
                over.of_profile(profiles.of(key.name))
                    .into_iter()
                    .rfind(|(name, _)| *name == key.name)
                    .map(|(_, value)| value)
            })
            .or_else(|| key.default.clone())
    }
}

/// What a host knows beside the simulator's own lists.
#[derive(Clone, Default)]
pub struct Catalogue {
    rate_controls: Vec<&'static rate_control::Info>,
    stacks: Vec<&'static stack::Info>,
    sockets: Vec<&'static socket::Info>,
}

impl Catalogue {
    /// With further rate controls and real transports.
    ///
    /// ```
    /// let known = aqm_scenario::flows::Catalogue::default();
    /// assert_eq!(known.kind("cbr").unwrap().usual().name(), "udp");
    /// assert!(known.kind("quinn").is_none());
    /// ```
    pub fn new(
        rate_controls: impl IntoIterator<Item = &'static rate_control::Info>,
        stacks: impl IntoIterator<Item = &'static stack::Info>,
    ) -> Catalogue {
        Catalogue {
            rate_controls: rate_controls.into_iter().collect(),
            stacks: stacks.into_iter().collect(),
            sockets: Vec::new(),
        }
    }

    /// The same with sockets of flows over TCP.
    #[must_use]
    pub fn with_sockets(mut self, sockets: &[&'static socket::Info]) -> Catalogue {
        self.sockets.extend(sockets);
        self
    }

    /// Sockets of flows over TCP.
    pub fn sockets(&self) -> &[&'static socket::Info] {
        &self.sockets
    }

    /// Every transport, in the order of listings.
    pub fn transports(&self) -> Vec<Transport> {
        let rated = RATE_CONTROLS.iter().chain(&self.rate_controls).map(|info| Transport::Rate(info));
        let tcp = CONTROLS.iter().map(|info| Transport::Tcp(info));
        let real = self.stacks.iter().map(|info| Transport::Stack(info));
        std::iter::once(Transport::Udp).chain(tcp).chain(rated).chain(real).collect()
    }

    /// Every kind of flow, in the order of listings.
    pub fn kinds(&self) -> Vec<Kind> {
        let all = self.transports();
        let bulk = all.iter().filter(|one| !matches!(one, Transport::Udp));
        let kind = |source, transports| Kind { source, transports, sockets: self.sockets.clone() };
        let bulk = bulk.map(|one| kind(None, vec![*one]));
        let sources = KINDS.iter().flat_map(|kinds| kinds.iter());
        let carried = sources.map(|source| kind(Some(source), carriers(source, &all)));
        bulk.chain(carried).collect()
    }

    /// The kind of this name, or of this other name for it.
    pub fn kind(&self, name: &str) -> Option<Kind> {
        let name = self.unaliased(name);
        self.kinds().into_iter().find(|kind| kind.name() == name)
    }

    /// The name that a transport is listed by.
    pub(super) fn unaliased<'a>(&self, name: &'a str) -> &'a str {
        let known = CONTROLS.iter().find(|info| !info.alias.is_empty() && info.alias == name);
        known.map_or(name, |info| info.name)
    }
}

/// What may carry a kind of flow, in the order of listings.
fn carriers(source: &SourceKind, all: &[Transport]) -> Vec<Transport> {
    let both_ways =
        source.constants.iter().any(|(name, value)| *name == "both_ways" && *value == Value::Flag(true));
    let fits = |one: &&Transport| match (source.over, one) {
        (Over::Udp | Over::Any, Transport::Udp) => true,
        (Over::Tcp | Over::Reacting | Over::Any, Transport::Tcp(info)) => info.carries,
        (Over::Reacting, Transport::Rate(_) | Transport::Stack(_)) => true,
        (Over::Any, Transport::Stack(info)) => info.writes && !both_ways,
        _ => false,
    };
    all.iter().filter(fits).copied().collect()
}
