//! Flow specs: `COUNT*KIND[:key=value]...`, as in `10*newreno:rtt=20ms:start=2s`.
//!
//! - [`Catalogue`]: the kinds of flow that a host knows; [`Key`] their keys.
//! - `number`, `distribution` and `quantity`: the notation of values.
//! - [`Files`]: how the files that a spec names are read.
//! - [`Group`]: a spec, resolved: what the simulator gets, and the same as text.

mod catalogue;
mod distribution;
mod files;
mod key;
mod number;
mod quantity;
mod renamed;
mod tree;

pub use catalogue::{Catalogue, Kind, Profiles, RFC, Transport};
pub use files::{Files, NoFiles};
pub use key::{Key, WITHOUT_BOUND, written};
pub use renamed::{RENAMED, Renamed};
pub use tree::Tree;

use aqm_core::input_error::InputError;
use aqm_core::params::{Value, did_you_mean};
use aqm_sim::scenario::FlowGroup;
use aqm_sim::transport::PROFILES;
use aqm_sim::transport::socket::{self, SOCKET};
use number::Read;
pub(crate) use number::whole_within;
use serde_json::json;
use std::fmt;

/// The most flows of a group.
pub const LARGEST_COUNT: u64 = 100_000;

/// The longest spec.
const LONGEST: usize = 100_000;

/// Flows with the same settings, every key resolved.
#[derive(Clone)]
pub struct Group {
    /// How many flows.
    pub count: u32,
    kind: Kind,
    transport: Transport,
    /// Each key that applies, and its value if it has one.
    values: Vec<(Key, Option<Read>)>,
    /// Keys whose value is another than the default of kind, transport and profile.
    differing: Vec<&'static str>,
    /// Whether its name was given.
    is_named: bool,
}

/// Reads the flow specs of a scenario. Groups have different names: of two without one, the second has a number.
///
/// # Errors
/// As [`parse`]; and if a name is given twice.
///
/// ```
/// use aqm_scenario::flows::{Catalogue, NoFiles, parse_all};
/// let groups = parse_all(["1*cubic", "2*cubic:rtt=20ms"], &Catalogue::default(), &NoFiles).unwrap();
/// assert_eq!(groups[1].short(), "2*cubic:name=cubic-2:rtt=20ms");
/// ```
pub fn parse_all<'a>(
    texts: impl IntoIterator<Item = &'a str>,
    known: &Catalogue,
    files: &dyn Files,
) -> Result<Vec<Group>, InputError> {
    let mut groups: Vec<Group> = Vec::new();
    for text in texts {
        let mut group = parse(text, known, files)?;
        group.set_apart(&groups).map_err(|error| error.within(format!("'{text}'")).of_option("flows"))?;
        groups.push(group);
    }
    Ok(groups)
}

/// Reads a flow spec.
///
/// # Errors
/// The option `flows`, the spec, the key, the value, what is allowed and the nearest name.
///
/// ```
/// use aqm_scenario::flows::{Catalogue, NoFiles, parse};
/// let known = Catalogue::default();
/// let group = parse("2*cbr:rate=3mbit:packet=1000b", &known, &NoFiles).unwrap();
/// assert_eq!(group.group().unwrap().start_ns, (0, 1_000_000_000));
/// assert_eq!(group.short(), "2*cbr:rate=3mbit:packet=1000b");
/// let error = parse("2*cubic:rrt=20ms", &known, &NoFiles).unwrap_err();
/// assert!(error.to_string().starts_with("flows: '2*cubic:rrt=20ms': unknown key 'rrt', did you mean 'rtt'?"));
/// ```
pub fn parse(text: &str, known: &Catalogue, files: &dyn Files) -> Result<Group, InputError> {
    if text.len() > LONGEST {
        let problem = format!("a spec of {} characters is too long: allowed are {LONGEST}", text.len());
        return Err(InputError::new(problem).of_option("flows"));
    }
    read(text, known, files).map_err(|error| error.within(format!("'{text}'")).of_option("flows"))
}

fn read(text: &str, known: &Catalogue, files: &dyn Files) -> Result<Group, InputError> {
    let mut parts = text.split(':').map(str::trim);
    let (count, kind) = head(parts.next().unwrap_or_default(), known)?;
    let given = given(parts, &kind, known)?;
    let of = |name: &str| given.iter().find(|(key, _)| *key == name).map(|(_, value)| *value);
    let carrier = known.unaliased(of("transport").unwrap_or(kind.usual().name()));
    let transport =
        kind.carrier(carrier).ok_or_else(|| not_among("transport", carrier, kind.transports()))?;
    let keys = kind.keys(Some(transport));
    if let Some((name, _)) =
        given.iter().find(|(name, _)| *name != "transport" && !keys.iter().any(|key| key.name == *name))
    {
        let over =
            if kind.source().0 == "bulk" { String::new() } else { format!(" over {}", transport.name()) };
        return Err(
            InputError::new(format!("'{name}' means nothing for {}{over}", kind.name())).of_value(name)
        );
    }
    let words: Vec<&str> = PROFILES.iter().map(|profile| profile.name).collect();
    let chosen: Vec<(&str, &str)> =
        given.iter().filter(|(name, _)| transport.has_profile(name)).copied().collect();
    if let Some((key, name)) = chosen.iter().find(|(_, name)| !words.contains(name)) {
        return Err(not_among(key, name, words));
    }
    let profiles = Profiles { all: of(catalogue::PROFILE).unwrap_or(RFC), groups: &chosen };
    let mut segment = 0;
    let mut values = Vec::new();
    let mut differing = Vec::new();
    // A size in packets counts segments, whose length is another key's.
    if let Some(key) = keys.iter().find(|key| key.name == "mss") {
        let usual = kind.default(key, transport, &profiles);
        if let Some(text) = of("mss").or(usual.as_deref()) {
            let read = quantity::read(key, text, 0, files).map_err(|error| error.within("mss"))?;
            segment = read.value.json().as_u64().unwrap_or_default();
        }
    }
    for key in keys {
        let usual = kind.default(&key, transport, &profiles);
        let read =
            |text: &str| quantity::read(&key, text, segment, files).map_err(|error| error.within(key.name));
        let value = match (key.name, of(key.name)) {
            // It may be given by another name.
            ("transport", _) => Some(read(transport.name())?),
            (_, Some(text)) => {
                let value = read(text)?;
                let usual = usual.as_deref().map(read).transpose()?;
                if usual.as_ref() != Some(&value) {
                    differing.push(key.name);
                }
                Some(value)
            }
            (_, None) => usual.as_deref().map(read).transpose()?,
        };
        if key.name == "transport" && transport.name() != kind.usual().name() {
            differing.push(key.name);
        }
        values.push((key, value));
    }
    if profiles.all != RFC {
        differing.push(catalogue::PROFILE);
    }
    let is_named = of("name").is_some();
    let group = Group { count, kind, transport, values, differing, is_named };
    group.check(known, of("window"))?;
    Ok(group)
}

/// Reads `COUNT*KIND`.
fn head(text: &str, known: &Catalogue) -> Result<(u32, Kind), InputError> {
    let (count, name) = match text.split_once('*') {
        None => ("1", text),
        Some((_, name)) if name.contains('*') => {
            return Err(InputError::new("write COUNT*KIND[:key=value]..., as in 10*newreno:rtt=20ms"));
        }
        Some((count, name)) => (count.trim(), name),
    };
    let name = name.trim().to_lowercase();
    let kind = known.kind(&name).ok_or_else(|| {
        let kinds = known.kinds();
        InputError::unknown("kind", known.unaliased(&name), kinds.iter().map(Kind::name))
    })?;
    match number::whole(count) {
        Some(number @ 1..=LARGEST_COUNT) => Ok((number as u32, kind)),
        _ => {
            let problem = format!("count '{count}' is not a whole number from 1 to {LARGEST_COUNT}");
            Err(InputError::new(problem).of_value(count).allowing([format!("1 to {LARGEST_COUNT}")]))
        }
    }
}

/// How a group of flows is given a direction.
const DIRECTION: &str = "flows go where their ends say, as from=home:to=server up an asymmetric line";

/// Reads `key=value`, each key once, of any kind of flow.
fn given<'a>(
    parts: impl Iterator<Item = &'a str>,
    kind: &Kind,
    known: &Catalogue,
) -> Result<Vec<(&'a str, &'a str)>, InputError> {
    let mut given: Vec<(&str, &str)> = Vec::new();
    let own: Vec<&str> = kind.keys(None).iter().map(|key| key.name).chain(["transport"]).collect();
    for part in parts {
        let (name, value) =
            part.split_once('=').map_or((part, ""), |(name, value)| (name.trim(), value.trim()));
        if value.is_empty() {
            return Err(InputError::value(part, "is not key=value"));
        }
        let is_known = |name: &str| {
            own.contains(&name)
                || known.kinds().iter().any(|other| other.keys(None).iter().any(|key| key.name == name))
        };
        if !own.contains(&name)
            && let Some(error) = renamed::answered(name, value, is_known)
        {
            return Err(error);
        }
        if !is_known(name) {
            // Those of one paper's senders alone are not offered.
            let is_of_papers = |name: &&str| kind.sockets().iter().any(|info| info.has(name));
            let offered = own.iter().copied().filter(|name| !is_of_papers(name));
            let error = InputError::unknown("key", name, offered);
            let is_direction = ["dir", "direction"].contains(&name);
            return Err(if is_direction { error.noting(DIRECTION) } else { error });
        }
        if given.iter().any(|(other, _)| *other == name) {
            return Err(InputError::value(name, "is given twice"));
        }
        given.push((name, value));
    }
    Ok(given)
}

fn not_among(key: &str, name: &str, known: Vec<&str>) -> InputError {
    let hint = did_you_mean(name, known.iter().copied());
    let problem = format!("{key} '{name}' is not one of {}{hint}", known.join(", "));
    InputError::new(problem).of_value(name).near(name, known.into_iter())
}

impl Group {
    /// The name of its kind.
    pub fn kind(&self) -> &'static str {
        self.kind.name()
    }

    /// What carries it.
    pub fn transport(&self) -> Transport {
        self.transport
    }

    /// Its name in metrics.
    pub fn name(&self) -> &str {
        self.text("name").unwrap_or(self.kind.name())
    }

    /// Gives it a name that no other group has.
    ///
    /// # Errors
    /// If its name was given, and another group has it.
    pub fn set_apart(&mut self, others: &[Group]) -> Result<(), InputError> {
        let is_taken = |name: &str| others.iter().any(|other| other.name() == name);
        let own = self.name().to_owned();
        if !is_taken(&own) {
            return Ok(());
        }
        if self.is_named {
            return Err(InputError::new(format!("another group has the name '{own}'")).of_value(&own));
        }
        let free = (2_u64..).map(|number| format!("{own}-{number}")).find(|name| !is_taken(name));
        let free = free.expect("there are more numbers than groups");
        let place =
            self.values.iter_mut().find(|(key, _)| key.name == "name").expect("every group has a name");
        place.1 = Some(Read { value: free.as_str().into(), text: free });
        self.differing.push("name");
        Ok(())
    }

    /// Whether it reacts to the network.
    pub fn reacts(&self) -> bool {
        !matches!(self.transport, Transport::Udp)
    }

    /// When the last of its flows has started, in nanoseconds.
    pub fn latest_start_ns(&self) -> u64 {
        let (_, latest, spacing) = self.starts();
        latest.saturating_add(spacing.saturating_mul(u64::from(self.count) - 1))
    }

    /// Every key that has a value, and the value as it is written.
    pub fn texts(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.values.iter().filter_map(|(key, value)| Some((key.name, value.as_ref()?.text.as_str())))
    }

    /// The value of a key, as it is written.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.texts().find(|(key, _)| *key == name).map(|(_, text)| text)
    }

    /// The group with the keys alone whose value is not the default; reading it gives the same group.
    pub fn short(&self) -> String {
        self.write(|key, _| self.differing.contains(&key.name))
    }

    /// Its transport in a scenario: the form, and the settings by field.
    pub fn transport_tree(&self) -> Tree {
        let (form, field) = self.transport.form();
        let name = (!field.is_empty()).then(|| (field.to_owned(), Tree::from(self.transport.name())));
        Tree::one(form, Tree::Table(name.into_iter().chain(self.fields(&self.transport.keys())).collect()))
    }

    /// Its sockets in a scenario, of which only what differs from the defaults is written; none without.
    pub fn socket_tree(&self) -> Option<Tree> {
        let differs = |info: &&&socket::Info| self.differing.iter().any(|key| info.has(key));
        let info = self.kind.sockets().iter().find(differs)?;
        let own: Vec<Key> =
            info.keys.iter().filter(|key| self.differing.contains(&key.name)).map(Key::from).collect();
        let rules = self.fields(&own).into_iter().flat_map(|(_, rules)| match rules {
            Tree::Table(rules) => rules,
            _ => Vec::new(),
        });
        Some(Tree::one(SOCKET, info.name).and(Tree::Table(rules.collect())))
    }

    /// Its source in a scenario: the form, and the settings by field if it has any.
    pub fn source_tree(&self) -> Tree {
        let (form, constants) = self.kind.source();
        let constants = constants.iter().map(|(name, value)| {
            let value = if let Value::Flag(on) = value { (*on).into() } else { value.to_string().into() };
            ((*name).to_owned(), value)
        });
        let settings: Vec<(String, Tree)> =
            self.fields(&self.kind.own_keys()).into_iter().chain(constants).collect();
        if settings.is_empty() { form.into() } else { Tree::one(form, Tree::Table(settings)) }
    }

    /// The group as the simulator takes it; nodes of a topology are as written.
    ///
    /// # Errors
    /// If the simulator refuses a relation between its values.
    pub fn group(&self) -> Result<FlowGroup, InputError> {
        let value = |name: &str| self.value(name).map_or(serde_json::Value::Null, |value| value.json());
        let nodes = |name: &str| -> Vec<&str> {
            self.text(name).map_or(Vec::new(), |text| text.split('|').collect())
        };
        let mut group = json!({
            "count": self.count,
            "name": value("name"),
            "start_ns": value("start"),
            "spacing_ns": value("spacing"),
            "rtt_ns": value("rtt"),
            "class": value("class"),
            "dscp": value("dscp"),
            "from": nodes("from"),
            "to": nodes("to"),
            "transport": self.transport_tree().json(),
            "source": self.source_tree().json(),
        });
        if let Some(socket) = self.socket_tree() {
            group[SOCKET] = socket.json();
        }
        FlowGroup::from_json(group).map_err(|error| error.of_option("flows"))
    }

    /// Earliest and latest start, and how much later each starts than the one before, in nanoseconds.
    pub fn starts(&self) -> (u64, u64, u64) {
        let start = self.value("start").map(Tree::json);
        let at = |index: usize| start.as_ref().and_then(|start| start[index].as_u64()).unwrap_or_default();
        let spacing = self.value("spacing").and_then(|spacing| spacing.json().as_u64()).unwrap_or_default();
        (at(0), at(1), spacing)
    }

    /// The value of a key as a scenario has it.
    pub fn value(&self, name: &str) -> Option<&Tree> {
        self.values.iter().find(|(key, _)| key.name == name)?.1.as_ref().map(|read| &read.value)
    }

    /// The values of keys by field; the rules of a group are a table.
    fn fields(&self, keys: &[Key]) -> Vec<(String, Tree)> {
        let mut fields: Vec<(String, Tree)> = Vec::new();
        for key in keys {
            let value = self.value(key.name).cloned().unwrap_or(Tree::Leaf(serde_json::Value::Null));
            match (key.field.split_once('.'), fields.last_mut()) {
                (None, _) => fields.push((key.field.clone(), value)),
                (Some((group, rule)), Some((last, Tree::Table(rules)))) if last == group => {
                    rules.push((rule.to_owned(), value));
                }
                (Some((group, rule)), _) => fields.push((group.to_owned(), Tree::one(rule, value))),
            }
        }
        fields
    }

    fn write(&self, wanted: impl Fn(&Key, &str) -> bool) -> String {
        let pairs = self.values.iter().filter_map(|(key, value)| {
            let text = &value.as_ref()?.text;
            wanted(key, text).then(|| format!(":{}={text}", key.name))
        });
        format!("{}*{}{}", self.count, self.kind(), pairs.collect::<String>())
    }

    /// Refuses what is missing, and values that exclude each other.
    fn check(&self, known: &Catalogue, window: Option<&str>) -> Result<(), InputError> {
        let is = |name: &str, word: &str| self.text(name) == Some(word);
        for name in self.kind.must() {
            if let Some((key, None)) = self.values.iter().find(|(key, _)| key.name == *name) {
                let allowed = key.allowed();
                let problem = format!("{} needs {name}=, {allowed}", self.kind());
                return Err(InputError::new(problem).allowing([allowed]));
            }
        }
        let transport = self.transport.name();
        for (name, only) in self.transport.only() {
            if only.iter().any(|word| is(name, word)) {
                continue;
            }
            let value = self.text(name).unwrap_or_default();
            let is_choice = self.values.iter().any(|(key, _)| key.name == *name && !key.words.is_empty());
            let hint = if is_choice { takers(name, value, known) } else { String::new() };
            let problem = format!("{transport} takes {name}={} only{hint}", only.join(" or "));
            return Err(InputError::new(problem).of_value(value).near(value, only.iter().copied()));
        }
        let of_sockets = self.kind.sockets().iter().flat_map(|info| info.relations);
        for relation in self.transport.relations().chain(of_sockets) {
            let ((name, word), (other, wanted)) = (relation.given, relation.needs);
            if is(name, word) && !is(other, wanted) {
                let what = if word == "on" { name.to_owned() } else { format!("{name}={word}") };
                return Err(InputError::new(format!("{what} needs {other}={wanted}")));
            }
        }
        let number = |name: &str| self.value(name)?.json().as_u64();
        if let (Some(buffer), Some(segment)) = (number("buffer"), number("segment"))
            && buffer < 2 * segment
        {
            let buffer = self.text("buffer").unwrap_or_default();
            return Err(InputError::new(format!("buffer={buffer} must hold two segments")).of_value(buffer));
        }
        if let (Some(bytes), Some(mss), Some(window)) = (number("window"), number("mss"), window)
            && bytes < mss
        {
            let segment = self.text("mss").unwrap_or_default();
            let problem = format!("window={window} is below a segment of {segment}");
            return Err(InputError::new(problem).of_value(window));
        }
        Ok(())
    }
}

/// Which transports take a word of a key that another does not.
fn takers(name: &str, word: &str, known: &Catalogue) -> String {
    let takes = |one: &Transport| {
        let has = one.only().iter().any(|(key, _)| *key == name);
        if has { one.only().iter().any(|(key, words)| *key == name && words.contains(&word)) } else { true }
    };
    let takers: Vec<&str> = known.transports().iter().filter(|one| takes(one)).map(Transport::name).collect();
    format!("; {word} is for {}", takers.join(" and "))
}

impl fmt::Debug for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Group({self})")
    }
}

impl fmt::Display for Group {
    /// Writes the group with every key that applies, defaults included; reading it gives the same group.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            &self.write(|key, _| !self.transport.has_profile(key.name) || self.differing.contains(&key.name)),
        )
    }
}
