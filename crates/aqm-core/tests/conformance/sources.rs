//! Presets against their sources: `sources/presets.csv` of the crate under test has what each source gives, and every parameter of every
//! preset of every discipline must have a row there and agree with it.

use crate::common::{FACTS, every_preset};
use aqm_core::params::Value;
use aqm_core::spec::Spec;
use std::collections::BTreeSet;

const HEADER: &str = "discipline,preset,parameter,value,source,instead";

/// One row: what the source of some presets gives some parameters.
struct Fact {
    disciplines: String,
    presets: String,
    parameters: String,
    value: String,
    source: String,
    /// The value that the presets have instead, and why.
    instead: Option<(String, String)>,
}

impl Fact {
    fn all() -> Vec<Fact> {
        let mut lines = FACTS.lines().filter(|line| !line.starts_with('#'));
        assert_eq!(lines.next(), Some(HEADER));
        lines.map(Fact::read).collect()
    }

    fn read(line: &str) -> Fact {
        let fields: [String; 6] =
            fields(line).try_into().unwrap_or_else(|_| panic!("not six fields: {line}"));
        let [disciplines, presets, parameters, value, source, instead] = fields;
        assert!(!source.is_empty(), "no source: {line}");
        let instead = (!instead.is_empty()).then(|| {
            let (value, why) = instead.split_once(": ").unwrap_or_else(|| panic!("no reason: {line}"));
            (value.to_owned(), why.to_owned())
        });
        Fact { disciplines, presets, parameters, value, source, instead }
    }

    fn is_about(&self, spec: &Spec, parameter: &str) -> bool {
        let among = |list: &str, name: &str| list == "*" || list.split('|').any(|one| one == name);
        among(&self.disciplines, spec.info.name)
            && among(&self.presets, spec.preset.name)
            && among(&self.parameters, parameter)
    }

    /// The value that presets are to have.
    fn expected(&self) -> &str {
        self.instead.as_ref().map_or(&self.value, |(value, _)| value)
    }
}

/// The fields of a line of CSV, quoted ones without their quotes.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut quoted = false;
    for letter in line.chars() {
        match letter {
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            _ => fields.last_mut().expect("there is one").push(letter),
        }
    }
    assert!(!quoted, "a quote is open: {line}");
    fields
}

/// `text` as a value of `parameter`.
fn read(spec: &Spec, parameter: &str, text: &str) -> Result<Value, String> {
    let mut spec = spec.clone();
    spec.set_text(parameter, text).map_err(|error| error.to_string())?;
    Ok(spec.params.get(parameter).clone())
}

#[test]
fn every_preset_agrees_with_its_source_in_every_parameter() {
    let facts = Fact::all();
    let (mut wrong, mut used) = (Vec::new(), BTreeSet::new());
    for spec in every_preset() {
        for (parameter, is) in spec.params.iter() {
            // A later row takes the place of an earlier one.
            let fact = facts.iter().enumerate().rev().find(|(_, fact)| fact.is_about(&spec, parameter.name));
            let Some((number, fact)) = fact else {
                wrong.push(format!("{}:{} {}: no row", spec.info.name, spec.preset.name, parameter.name));
                continue;
            };
            used.insert(number);
            let (name, preset, of) = (spec.info.name, spec.preset.name, parameter.name);
            let (expected, source) = (fact.expected(), &fact.source);
            let agrees = |text: &str| read(&spec, of, text).map(|value| value == *is);
            match agrees(expected) {
                Err(error) => wrong.push(format!("{name}:{preset} {of}: {error}")),
                Ok(false) => wrong.push(format!("{name}:{preset} {of}: {is}, not {expected} ({source})")),
                Ok(true) => {}
            }
            if fact.instead.is_some() && agrees(&fact.value) == Ok(true) {
                wrong.push(format!("{name}:{preset} {of}: {is} is the source's value, and no exception"));
            }
        }
    }
    let idle = facts.iter().enumerate().filter(|(number, _)| !used.contains(number));
    wrong.extend(idle.map(|(_, fact)| {
        format!("no preset needs the row {},{},{}", fact.disciplines, fact.presets, fact.parameters)
    }));
    assert!(wrong.is_empty(), "{} of presets.csv:\n{}", wrong.len(), wrong.join("\n"));
}
