//! From options to a scenario: every default filled in, every contradiction refused.

use crate::buffer::{self, Bottleneck, Buffer};
use crate::flows::{self, Catalogue, Files, Group};
use crate::options::Options;
use crate::topology::{self, DUMBBELL, Layout, MOST_LINKS, SizeLimit, Surroundings};
use crate::warmup::{self, Run, Warmup};
use crate::{holding, limit_of, link_files};
use aqm_core::input_error::InputError;
use aqm_core::link::Link;
use aqm_core::random::Random;
use aqm_core::spec::Spec;
use aqm_core::units::{Rate, Size, Span};
use aqm_path::kind::{self, KindSpec, Service};
use aqm_path::kinds::KINDS;
pub use aqm_sim::headers::FULL_IP_PACKET;
use aqm_sim::scenario::options::{OPTIONS, OptionSpec};
use aqm_sim::scenario::{Capacity, FlowGroup, Scenario};
use aqm_sim::switch::declaration::Info as ProgramInfo;
use aqm_sim::switch::programs::PROGRAMS;
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeSet;

/// A run has so many samples at most, unless they would be closer than [`SHORTEST_SAMPLE`].
pub const SAMPLES: u64 = 300;
/// The shortest time between two samples.
pub const SHORTEST_SAMPLE: Span = Span::from_millis(10);

const MILLISECOND_NS: u64 = 1_000_000;
/// The ports of the dumbbell.
const OF_DUMBBELL: [&str; 2] = ["bottleneck", "back"];
/// Ports among which the nearest is looked for.
const MOST_LISTED: usize = 30;

/// What a host brings beside the options.
#[non_exhaustive]
pub struct Host<'a> {
    /// The kinds of flow that it knows.
    pub known: &'a Catalogue,
    /// How it reads files.
    pub files: &'a dyn Files,
    /// A recorded link in place of a rate: its name among the inputs, and its mean rate.
    pub link_trace: Option<(&'a str, Rate)>,
    /// The names of replayed captures.
    pub captures: &'a [String],
    /// Flows that the host drives itself, in front of the others.
    pub own: Option<FlowGroup>,
    /// The programs of switches that it knows.
    pub programs: &'a [&'static ProgramInfo],
    /// The largest topology that it builds.
    pub limit: Option<SizeLimit<'a>>,
}

impl<'a> Host<'a> {
    /// One without recordings and flows of its own.
    pub fn new(known: &'a Catalogue, files: &'a dyn Files) -> Host<'a> {
        Host {
            known,
            files,
            link_trace: None,
            captures: &[],
            own: None,
            programs: PROGRAMS,
            limit: Some(SizeLimit { links: MOST_LINKS, lifted_by: "" }),
        }
    }
}

/// A scenario, and by which rules it is so.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Resolved {
    /// What is simulated; its discipline is empty where none was given.
    pub scenario: Scenario,
    /// Its flows, but those of the host.
    pub groups: Vec<Group>,
    /// The buffer of the bottleneck.
    pub buffer: Buffer,
    /// The time that is not measured.
    pub warmup: Warmup,
    /// The name of its topology, or that of the topology's file.
    pub topology: String,
}

/// Resolves the options of a path or of a topology.
///
/// # Errors
/// The option, its value, the problem and what is allowed.
///
/// ```
/// use aqm_scenario::flows::{Catalogue, NoFiles};
/// use aqm_scenario::options::Options;
/// use aqm_scenario::resolve::{Host, resolve};
/// let known = Catalogue::default();
/// let host = Host::new(&known, &NoFiles);
/// let options = Options::parse("rate 10mbit; rtt 40ms; aqm codel; flows 2*cubic").unwrap();
/// let scenario = resolve(&options, &host).unwrap().scenario;
/// assert_eq!((scenario.aqm.as_str(), scenario.warmup_ns), ("codel:rfc8289 limit 34p", 5_000_000_000));
/// assert_eq!(scenario.flows[0].start_ns, (0, 1_000_000_000));
/// ```
pub fn resolve(options: &Options, host: &Host<'_>) -> Result<Resolved, InputError> {
    let link = match link(options, host.files)? {
        None => {
            topology::implied_link(options.text("topology")).map_err(|error| error.of_option("topology"))?
        }
        link => link,
    };
    let (capacity, rate) = capacity(options, host, link.as_ref())?;
    let mut fields = Map::new();
    for option in OPTIONS.iter().filter(|option| option.has_field()) {
        fields.insert(option.field.to_owned(), value(option, options)?);
    }
    let number = |field: &str| fields[field].as_u64().unwrap_or_default();
    let (rtt, duration) = (Span::from_nanos(number("rtt_ns")), Span::from_nanos(number("duration_ns")));
    let overhead = number("overhead_bytes");
    let groups = groups(options, host)?;
    let of_flows: Vec<FlowGroup> = groups.iter().map(Group::group).collect::<Result<_, _>>()?;
    let rtts = of_flows.iter().filter_map(|group| group.rtt_ns).map(Span::from_nanos);
    let longest = rtts.max().unwrap_or(rtt).max(rtt);
    let latest = groups.iter().map(Group::latest_start_ns).max().unwrap_or(0);
    let reacts = host.own.is_some() || groups.iter().any(Group::reacts);
    let run = Run { duration, rtt: longest, reacts, latest_start: Span::from_nanos(latest) };
    let warmup_text = options.text("warmup");
    let warmup = warmup::resolve(warmup_text, &run).map_err(|error| error.of_option("warmup"))?;
    let bottleneck = Bottleneck {
        rate,
        is_recorded: host.link_trace.is_some(),
        rtt: longest,
        packet_bytes: u64::from(FULL_IP_PACKET) + overhead,
    };
    let buffer =
        buffer::resolve(options.text("buffer"), &bottleneck).map_err(|error| error.of_option("buffer"))?;
    let aqm = options.texts("aqm").next().map_or(Ok(String::new()), |text| {
        let spec = aqm(text, buffer.size, rate, options.is_given("buffer"));
        spec.map(|spec| spec.to_string()).map_err(|error| error.of_option("aqm"))
    })?;
    let Host { files, programs, limit, .. } = *host;
    let around = Surroundings { rate, rtt, files, programs, limit, link: link.as_ref() };
    // Stations need an access point: a dumbbell has none.
    let has_stations = link.as_ref().is_some_and(|link| !link.stations().is_empty());
    let topology = match options.text("topology") {
        topology::DUMBBELL if has_stations => topology::WIFI,
        text => text,
    };
    let layout = topology::read(topology, &around)?;
    let measure = ports(options, layout.as_ref())?;
    // A rate and a trace are the scenario's capacity.
    let shared = link.filter(|link| link.kind().service.is_shared()).map(|link| link.to_string());
    fields.insert("link".to_owned(), json!(shared));
    fields.insert("aqm".to_owned(), aqm.into());
    fields.insert("capacity".to_owned(), json!(capacity));
    fields.insert("warmup_ns".to_owned(), warmup.span.as_nanos().into());
    fields.insert("mser5".to_owned(), (warmup_text == warmup::MSER5).into());
    fields.insert("sample_ns".to_owned(), sample_ns(duration).into());
    fields.insert("measure".to_owned(), measure.into());
    fields.insert("captures".to_owned(), host.captures.into());
    let mut scenario = Scenario::from_json(Json::Object(fields))?;
    scenario.flows = host.own.iter().cloned().chain(of_flows).collect();
    if let Some(layout) = &layout {
        scenario.topology = Some(layout.topology());
        for group in &mut scenario.flows {
            place(group, layout)
                .map_err(|error| error.within(format!("'{}'", group.name)).of_option("flows"))?;
        }
    }
    scenario.check()?;
    let topology = layout.map_or_else(|| DUMBBELL.to_owned(), |layout| layout.name);
    Ok(Resolved { scenario, groups, buffer, warmup, topology })
}

/// The measured ports; none for that of the bottleneck.
fn ports(options: &Options, layout: Option<&Layout>) -> Result<Vec<String>, InputError> {
    let names = options.texts("measure").flat_map(|text| text.split(',')).map(str::trim);
    let given: Vec<String> = names.filter(|name| !name.is_empty()).map(str::to_owned).collect();
    if given.is_empty() {
        return Ok(layout.map_or(Vec::new(), |layout| layout.measure.clone()));
    }
    let known = layout.map_or_else(|| OF_DUMBBELL.map(str::to_owned).to_vec(), Layout::ports);
    let is_known: BTreeSet<&str> = known.iter().map(String::as_str).collect();
    for (number, name) in given.iter().enumerate() {
        let error = if !is_known.contains(name.as_str()) {
            InputError::unknown("port", name, known.iter().take(MOST_LISTED).map(String::as_str))
        } else if given[..number].contains(name) {
            InputError::value(name, "is given twice")
        } else {
            continue;
        };
        return Err(error.of_option("measure"));
    }
    Ok(given)
}

/// Gives a group the nodes where its flows begin and end: those that its globs match, or those of the topology.
fn place(group: &mut FlowGroup, layout: &Layout) -> Result<(), InputError> {
    for (key, nodes, usual) in
        [("from", &mut group.from, &layout.sources), ("to", &mut group.to, &layout.sinks)]
    {
        let chosen = if nodes.is_empty() { Ok(usual.clone()) } else { layout.choose(&nodes.join("|")) };
        *nodes = chosen.map_err(|error| error.within(key))?;
        if nodes.is_empty() {
            return Err(InputError::new("is missing: the topology has no default").within(key));
        }
    }
    Ok(())
}

/// The discipline of a queue that stands alone, and the rate of its link. A limit is the discipline's own.
///
/// # Errors
/// The option, its value, the problem and what is allowed.
pub fn queue(options: &Options) -> Result<(Spec, Rate), InputError> {
    let text = options.texts("aqm").next().unwrap_or_default();
    let spec = crate::discipline(text).map_err(|error| error.of_option("aqm"))?;
    Ok((spec, rate(options)?))
}

/// A discipline for a link with a buffer. It is built once, so that relations between its parameters are checked too.
///
/// # Errors
/// What is wrong with the text, or that its limit is another than the buffer that was given.
pub fn aqm(text: &str, buffer: Size, rate: Rate, is_buffer_given: bool) -> Result<Spec, InputError> {
    let spec = crate::discipline(text)?;
    if let Some(own) = limit_of(&spec).filter(|own| is_buffer_given && *own != buffer) {
        return Err(contradiction(text, own, buffer));
    }
    let spec = holding(spec, buffer)?;
    spec.build(Link::new(rate), Random::seeded(0))?;
    Ok(spec)
}

/// That a discipline has another limit than the buffer that was given.
pub fn contradiction(text: &str, limit: Size, buffer: Size) -> InputError {
    let problem = format!("'{text}' has limit {limit}, but the buffer is {buffer}: give one of them");
    InputError::new(problem).of_value(text)
}

/// The time between two samples of a run.
pub fn sample_ns(duration: Span) -> u64 {
    let even = duration.as_nanos() / SAMPLES / MILLISECOND_NS * MILLISECOND_NS;
    even.max(SHORTEST_SAMPLE.as_nanos())
}

/// The kind of the bottleneck's link, if one is given.
fn link(options: &Options, files: &dyn Files) -> Result<Option<KindSpec>, InputError> {
    let read = |text: &str| link_files::read(KindSpec::parse(text, KINDS)?, files);
    options.texts("link").next().map(read).transpose().map_err(|error| error.of_option("link"))
}

fn capacity(
    options: &Options,
    host: &Host<'_>,
    link: Option<&KindSpec>,
) -> Result<(Capacity, Rate), InputError> {
    let given = options.texts("rate").next();
    let refused =
        |link: &KindSpec, problem: &str| Err(InputError::value(&link.to_string(), problem).of_option("link"));
    match (link, link.map(KindSpec::capacity)) {
        (Some(link), Some(kind::Capacity::Rate(_))) if given.is_some() => {
            return refused(link, "has a rate of its own: leave the other out");
        }
        (Some(link), Some(kind::Capacity::Rate(_))) if host.link_trace.is_some() => {
            return refused(link, "has a rate of its own: leave the link trace out");
        }
        (_, Some(kind::Capacity::Rate(rate))) => {
            return Ok((Capacity::RateBps(rate.as_bits_per_sec()), rate));
        }
        (Some(link), _)
            if matches!(link.kind().service, Service::Opportunities) && host.link_trace.is_none() =>
        {
            return refused(link, "names no recording that is there");
        }
        (Some(link), _)
            if !matches!(link.kind().service, Service::Opportunities) && host.link_trace.is_some() =>
        {
            return refused(link, "is no recorded link: leave the link trace out");
        }
        _ => {}
    }
    match (host.link_trace, given) {
        (Some((name, mean)), None) => Ok((Capacity::Trace(name.to_owned()), mean)),
        (Some(_), Some(_)) => {
            Err(InputError::new("contradicts the link trace: give one of them").of_option("rate"))
        }
        (None, _) => {
            let own = if given.is_none() { own_rate(options, host)? } else { None };
            let rate = own.map_or_else(|| rate(options), Ok)?;
            Ok((Capacity::RateBps(rate.as_bits_per_sec()), rate))
        }
    }
}

/// The rate that the file of a topology gives its measured link, on which no link of the file depends.
fn own_rate(options: &Options, host: &Host<'_>) -> Result<Option<Rate>, InputError> {
    let Host { files, programs, limit, .. } = *host;
    let (rate, rtt) = (Rate::from_bits_per_sec(0), Span::ZERO);
    let around = Surroundings { rate, rtt, files, programs, limit, link: None };
    topology::own_rate(options.text("topology"), &around)
}

fn rate(options: &Options) -> Result<Rate, InputError> {
    let found = match options.texts("rate").next() {
        Some(text) => option("rate").read(text),
        None => Err(InputError::new("is missing: give the bottleneck's rate, as 10mbit, or a link trace")),
    };
    let bits = found.map_err(|error| error.of_option("rate"))?.as_u64();
    Ok(Rate::from_bits_per_sec(bits.unwrap_or_default()))
}

/// The value of an option's field, in base units.
fn value(option: &OptionSpec, options: &Options) -> Result<Json, InputError> {
    let text = options.text(option.name);
    if text.is_empty() {
        let missing = format!("is missing: give the {}", option.help);
        return Err(InputError::new(missing).of_option(option.name));
    }
    option.read(text).map_err(|error| error.of_option(option.name))
}

fn groups(options: &Options, host: &Host<'_>) -> Result<Vec<Group>, InputError> {
    let mut texts: Vec<&str> = options.texts("flows").collect();
    if texts.is_empty() && host.captures.is_empty() && host.own.is_none() {
        texts.push(options.text("flows"));
    }
    flows::parse_all(texts, host.known, host.files)
}

fn option(name: &str) -> &'static OptionSpec {
    aqm_sim::scenario::options::find(name).expect("it is declared")
}
