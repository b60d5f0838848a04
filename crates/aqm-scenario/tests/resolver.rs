//! Whatever options say, they are refused in one line, or their scenario is written and read alike.
//!
//! `EXECUTIONS=1000000 SEED=2 cargo test -p aqm-scenario --test resolver -- --nocapture` tries more.

use aqm_core::random::Random;
use aqm_scenario::flows::{Catalogue, NoFiles};
use aqm_scenario::options::{Options, of_a_path};
use aqm_scenario::resolve::{Host, resolve};
use aqm_sim::scenario::Scenario;

const EXECUTIONS: u64 = 20_000;
/// After so many a line says how far it is.
const REPORTED: u64 = 100_000;
const WORDS: [&str; 24] = [
    "10mbit",
    "40ms",
    "2*cubic",
    "1*voip",
    ":rtt=",
    ":start=",
    ":ecn=classic",
    ":name=",
    "1bdp",
    "200ms",
    "64kb",
    "1000p",
    "auto",
    "mser5",
    "pie target 5ms",
    "codel",
    "fq_codel",
    "limit",
    "=",
    "*",
    ":",
    "..",
    "0",
    "99999999999999999999",
];

/// The texts of the tables that all doors share.
fn entries() -> Vec<Vec<(String, String)>> {
    let tables =
        [include_str!("../../../tests/doors/right.json"), include_str!("../../../tests/doors/wrong.json")];
    let texts = |value: &serde_json::Value| -> Vec<String> {
        let one = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
        value.as_array().map_or_else(|| vec![one(value)], |values| values.iter().map(one).collect())
    };
    tables
        .iter()
        .flat_map(|table| {
            serde_json::from_str::<Vec<serde_json::Map<String, serde_json::Value>>>(table).unwrap()
        })
        .map(|entry| {
            let pairs = entry
                .iter()
                .flat_map(|(name, value)| texts(value).into_iter().map(|text| (name.clone(), text)));
            pairs.collect()
        })
        .collect()
}

fn mutate(text: &mut String, random: &mut Random) {
    let place = text.floor_char_boundary(random.below(text.len() as u64 + 1) as usize);
    let end = text.ceil_char_boundary((place + random.below(4) as usize).min(text.len()));
    match random.below(3) {
        0 => text.insert_str(place, WORDS[random.below(WORDS.len() as u64) as usize]),
        1 => text.replace_range(place..end, ""),
        _ => {
            let character = char::from_u32(random.below(0x250) as u32).unwrap_or('x');
            text.replace_range(place..end, &character.to_string());
        }
    }
}

#[test]
fn any_options_are_refused_in_one_line_or_their_scenario_reads_alike() {
    let given = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let executions = given("EXECUTIONS").unwrap_or(EXECUTIONS);
    let (entries, names): (_, Vec<_>) = (entries(), of_a_path().map(|option| option.name).collect());
    let (known, mut random) = (Catalogue::default(), Random::seeded(given("SEED").unwrap_or(1)));
    let (mut resolved, mut refused) = (0_u64, 0_u64);
    for number in 1..=executions {
        if number % REPORTED == 0 {
            println!("{number} executions: {resolved} resolved, {refused} refused");
        }
        let mut pairs = entries[random.below(entries.len() as u64) as usize].clone();
        for _ in 0..random.below(3) {
            let number = random.below(pairs.len() as u64) as usize;
            mutate(&mut pairs[number].1, &mut random);
        }
        if random.below(4) == 0 {
            let name = names[random.below(names.len() as u64) as usize];
            pairs.push((name.to_owned(), WORDS[random.below(WORDS.len() as u64) as usize].to_owned()));
        }
        let mut options = Options::default();
        let given = pairs.iter().try_for_each(|(name, text)| options.give(name, text));
        let host = Host::new(&known, &NoFiles);
        match given.and_then(|()| resolve(&options, &host)) {
            Ok(found) => {
                let json = found.scenario.json();
                assert_eq!(
                    Scenario::from_json(json.clone()).as_ref(),
                    Ok(&found.scenario),
                    "{pairs:?}: {json}"
                );
                // Printed flows are the flows that were written.
                let mut again = Options::default();
                for (name, text) in pairs.iter().filter(|(name, _)| name != "flows") {
                    again.give(name, text).unwrap();
                }
                for group in &found.groups {
                    again.give("flows", &group.short()).unwrap();
                }
                assert_eq!(
                    resolve(&again, &host).map(|found| found.scenario).as_ref(),
                    Ok(&found.scenario),
                    "{pairs:?}"
                );
                resolved += 1;
            }
            Err(error) => {
                let line = error.to_string();
                let has_lines = pairs.iter().any(|(_, text)| text.contains('\n'));
                assert!(has_lines || !line.contains('\n'), "{pairs:?}: {line}");
                refused += 1;
            }
        }
    }
    println!("{resolved} resolved, {refused} refused");
    assert!(
        resolved > executions / 10 && refused > executions / 10,
        "{resolved} resolved, {refused} refused"
    );
}
