//! The schema of an experiment file (TOML).

use super::{DRAFT, any_of, array, described, object_of, of_type, positive, text, words};
use crate::flows::{Catalogue, Transport, Tree};
use aqm_sim::scenario::options::{Form, OPTIONS, OptionSpec};

const QUANTITY: &str = r"^\s*[0-9]+(\.[0-9]+)?\s*[A-Za-z]+\s*$";
const SHARE: &str = r"^\s*[0-9]+(\.[0-9]+)?\s*%?\s*$";
const PACKETS: &str = r"^\s*[0-9]+\s*p?\s*$";
const NAMES: &str = r"^[a-z_]+(\s*,\s*[a-z_]+)*$";
const SWEEP: &str = "options or values, each with its values: a list, a table of names and values, or text as \
                     '5ms,20ms' or '1ms..20ms*8'; values that belong together are a table under each name";

/// The schema of an experiment file, for a host that knows these kinds of flow.
///
/// ```
/// use aqm_scenario::{flows::Catalogue, schema};
/// let schema = schema::experiment(&Catalogue::default()).json();
/// assert_eq!(schema["properties"]["rtt"]["anyOf"][0]["type"], "string");
/// assert_eq!(schema["required"][0], "aqm");
/// ```
pub fn experiment(known: &Catalogue) -> Tree {
    let options = || Tree::table(OPTIONS.iter().map(|one| (one.name, option(one, known))));
    let swept_options = Tree::table(OPTIONS.iter().map(|one| (one.name, swept(values(one, known)))));
    // A value may be empty: a name that stands for nothing.
    let texts = of_type("object", [("additionalProperties", of_type("string", []))]);
    let sweep =
        of_type("object", [("properties", swept_options), ("additionalProperties", swept(Tree::table([])))]);
    let tables = Tree::table([
        ("values", described("values of $names in the options and in the topology's file").and(texts)),
        ("sweep", described(SWEEP).and(sweep)),
    ]);
    let quick = "values for a quick run; of a sweep of named points, the names of those that it runs";
    let quick = described(quick).and(of_type(
        "object",
        [("properties", options().and(tables.clone())), ("additionalProperties", false.into())],
    ));
    let design = described("all combinations of what is swept (grid), or a sample of N points")
        .and(of_type("string", [("pattern", r"^(grid|(latin|sobol)\*[0-9]+)$".into())]));
    let flag = of_type("boolean", []).and(described("compare although the AQMs' limits differ"));
    let title = of_type("string", []).and(described("title of the report"));
    let properties = Tree::table([("title", title), ("allow_unequal_buffers", flag)])
        .and(tables)
        .and(Tree::table([("design", design), ("quick", quick)]))
        .and(options());
    Tree::table([("$schema", DRAFT.into()), ("title", "An experiment of aqmlab".into())])
        .and(object_of(properties, vec!["aqm".into()]))
}

/// Values of a swept name: a text, a list, or a table.
fn swept(value: Tree) -> Tree {
    let several = of_type("array", [("minItems", 1.into()), ("uniqueItems", true.into())]);
    let named = of_type("object", [("minProperties", 1.into()), ("additionalProperties", value.clone())]);
    any_of([text(), several.and(Tree::one("items", value)), named])
}

fn option(option: &OptionSpec, known: &Catalogue) -> Tree {
    let default = (!option.default.is_empty()).then(|| ("default", option.default.into()));
    described(option.help).and(Tree::table(default)).and(values(option, known))
}

/// A value of an option, or several where it takes them.
fn values(option: &OptionSpec, known: &Catalogue) -> Tree {
    let one = value(option, known);
    if option.is_many { any_of([one.clone(), array(one, [("minItems", 1.into())])]) } else { one }
}

/// One value of an option; a `$name` may replace any part of it.
fn value(option: &OptionSpec, known: &Catalogue) -> Tree {
    let listed = option.words();
    match option.form {
        Form::Text | Form::File | Form::Loss | Form::Reorder | Form::Slots | Form::Link => text(),
        Form::Count => any_of([positive(), of_type("string", [("pattern", "^[0-9]+$".into())]), a_name()]),
        Form::Flows => any_of(pattern(&flow_pattern(known))),
        Form::Names => any_of(pattern(NAMES)),
        Form::Switch(_) | Form::Choice(_) => any_of([words(listed), a_name()]),
        form => {
            let notation = match form {
                Form::Share => SHARE,
                Form::Packets => PACKETS,
                _ => QUANTITY,
            };
            let instead = (!listed.is_empty()).then(|| words(listed));
            any_of(instead.into_iter().chain(pattern(notation)))
        }
    }
}

fn flow_pattern(known: &Catalogue) -> String {
    let mut names: Vec<&str> = known.kinds().iter().map(|kind| kind.name()).collect();
    names.extend(known.transports().iter().map(Transport::alias).filter(|alias| !alias.is_empty()));
    format!(r"^\s*([0-9]+\s*\*)?\s*({})\s*(:[^:=]+=[^:]+)*$", names.join("|"))
}

fn pattern(pattern: &str) -> [Tree; 2] {
    [of_type("string", [("pattern", pattern.into())]), a_name()]
}

fn a_name() -> Tree {
    of_type("string", [("pattern", r"\$[a-z_]".into())])
}
