//! Values, children and their refusals.

use super::*;
use crate::spec::read_child;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

const CHILD: ParamSpec = ParamSpec::children("child", "Discipline of each class", "none");
const WEIGHT: ParamSpec = ParamSpec::new(
    "weight",
    Kind::PerClass(Each::Count),
    Value::PerClass(PerClass::of(Each::Count, &[1])),
    (1.0, 100.0),
    "Share of each class",
    "none",
);

fn refusal(declared: &ParamSpec, text: &str) -> String {
    declared.parse(text, read_child).unwrap_err().to_string()
}

#[test]
fn every_number_of_a_list_is_checked() {
    let Ok(Value::PerClass(weights)) = WEIGHT.parse("4,2,1", read_child) else { panic!("it is a list") };
    assert_eq!((weights.as_slice(), weights.of_class(1), weights.of_class(7)), (&[4, 2, 1][..], 2, 1));
    assert_eq!(
        refusal(&WEIGHT, "4,101,1"),
        "parameter 'weight': '4,101,1' is out of range: allowed is 1 to 100 for each class, separated by commas"
    );
    for text in ["", "1,", "1;2", "1, 2", "1b"] {
        assert!(refusal(&WEIGHT, text).contains("is not a whole number"), "{text}");
    }
    let of_every_class = ["1"; MOST_CLASSES].join(",");
    assert!(WEIGHT.parse(&of_every_class, read_child).is_ok());
    let error = refusal(&WEIGHT, &format!("{of_every_class},1"));
    assert!(error.ends_with("has 65 numbers: allowed are 64"), "{error}");
}

#[test]
fn children_are_read_with_presets_parameters_and_children_of_their_own() {
    let text = "[codel:linux target 10ms ecn] [drr child [fifo limit 5p] child [red] quantum 3000b]";
    let Ok(Value::Children(children)) = CHILD.parse(text, read_child) else { panic!("{text} is refused") };
    let shown: Vec<_> = children.iter().map(Child::to_string).collect();
    let second = "drr:linux child [fifo:tail limit 5p] child [red:floyd] quantum 3000b";
    assert_eq!(shown, ["codel:linux target 10ms ecn", second]);
    let canonical = Value::Children(children).to_string();
    assert_eq!(CHILD.parse(&canonical, read_child).unwrap().to_string(), canonical);
}

#[test]
fn a_named_child_is_one_discipline() {
    const HIGH: ParamSpec = ParamSpec::child("high", "codel", "What serves new flows", "none");
    assert_eq!(HIGH.default.to_string(), "[codel]");
    assert_eq!(HIGH.parse("[ pie ]", read_child).unwrap().to_string(), "[pie:rfc8033]");
    let two = refusal(&HIGH, "[codel] [fifo]");
    assert_eq!(two, "parameter 'high': '2 disciplines' are too many: allowed are 1");
    assert!(refusal(&HIGH, "[codell]").starts_with("high: unknown discipline 'codell', did you mean"));
}

#[test]
fn the_error_of_a_child_names_its_place_and_parameter() {
    let error = refusal(&CHILD, "[fifo] [codel tarjet 10ms]");
    let expected = "child 2: codel: parameter 'tarjet' is unknown, did you mean 'target'?";
    assert!(error.starts_with(expected), "{error}");
    let error = refusal(&CHILD, "[drr child [fifo] child [pie target -1s]]");
    assert!(error.starts_with("child 1: drr child 2: pie: parameter 'target': '-1s'"), "{error}");
    assert!(refusal(&CHILD, "[codell]").contains("did you mean 'codel'?"));
    assert!(refusal(&CHILD, "[codel limit]").contains("parameter 'limit' needs a value"));
    let empty = "child 2: the brackets are empty: write child [codel target 10ms]";
    assert_eq!(refusal(&CHILD, "[fifo] [ ]"), empty);
    let open = "parameter 'child': '[fifo' has a '[' without its ']'";
    assert_eq!(refusal(&CHILD, "[fifo"), open);
    let many = refusal(&CHILD, &"[fifo] ".repeat(65));
    assert_eq!(many, "parameter 'child': '65 disciplines' are too many: allowed are 64");
}

#[test]
fn children_without_brackets_are_refused_with_the_right_notation() {
    let error = refusal(&CHILD, "codel:linux/target=10ms,fifo");
    let expected = "parameter 'child': 'codel:linux/target=10ms,fifo' is not in brackets: \
                    write child [codel:linux target 10ms] child [fifo]";
    assert_eq!(error, expected);
    let nothing = "parameter 'child': '' is not in brackets: write child [codel target 10ms]";
    assert_eq!(refusal(&CHILD, "").replace("parameter 'child' is", "parameter 'child': '' is"), nothing);
}
