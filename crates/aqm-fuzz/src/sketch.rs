//! Whatever is counted, a sketch of the count-min family never says less than was counted, the conservative one no more
//! than the plain one, and none keeps anything when cleared.

use aqm_core::params::Choice;
use aqm_core::sketch::{Sketch, SketchKind, of_kind};
use arbitrary::Arbitrary;
use std::collections::BTreeMap;

#[derive(Arbitrary, Debug)]
pub(crate) struct Run {
    width: u8,
    depth: u8,
    calls: Vec<Call>,
}

#[derive(Arbitrary, Debug)]
enum Call {
    Add { key: u8, value: u16 },
    Query { key: u64 },
    Clear,
}

pub(crate) fn run(run: Run) {
    let mut sketches: Vec<Box<dyn Sketch>> =
        SketchKind::ALL.iter().map(|kind| of_kind(*kind, run.width.into(), run.depth.into())).collect();
    let bytes: Vec<usize> = sketches.iter().map(|sketch| sketch.bytes()).collect();
    let mut counted: BTreeMap<u64, u64> = BTreeMap::new();
    let mut all = 0;
    for call in run.calls {
        match call {
            Call::Add { key, value } => {
                let key = u64::from(key);
                for sketch in &mut sketches {
                    let before = sketch.query(key);
                    assert_eq!(sketch.add(key, value.into()), before);
                }
                *counted.entry(key).or_default() += u64::from(value);
                all += u64::from(value);
            }
            Call::Query { key } => {
                let counts: Vec<u64> = sketches.iter().map(|sketch| sketch.query(key)).collect();
                let exact = counted.get(&key).copied().unwrap_or(0);
                assert!(
                    exact <= counts[1] && counts[1] <= counts[0] && counts[0] <= all,
                    "{counts:?} for {exact}"
                );
                assert!(counts[2] <= all, "{counts:?} of {all}");
            }
            Call::Clear => {
                sketches.iter_mut().for_each(|sketch| sketch.clear());
                counted.clear();
                all = 0;
                assert!(sketches.iter().all(|sketch| sketch.query(7) == 0));
            }
        }
    }
    for (key, exact) in &counted {
        assert!(sketches[..2].iter().all(|sketch| sketch.query(*key) >= *exact));
    }
    assert!(sketches.iter().map(|sketch| sketch.bytes()).eq(bytes));
}
