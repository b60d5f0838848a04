//! Whatever the file of a link holds, a trace or a station's rates over time: it is refused in one line, or repeats as it says.

use aqm_core::units::{Span, Time};
use aqm_io::link_trace::LinkTrace;
use aqm_path::kind::KindSpec;
use aqm_path::kinds::KINDS;

pub(crate) fn run(bytes: &[u8]) {
    trace(bytes);
    rates(&String::from_utf8_lossy(bytes));
}

/// The link that has read its file is written with the rates in it, and read alike.
fn rates(content: &str) {
    let named = KindSpec::parse("wifi stations [walker=rates(fuzz)]", KINDS).expect("its form is right");
    match named.with_files(&mut |name| Ok((name.to_owned(), content.to_owned()))) {
        Ok(link) => {
            let written = link.to_string();
            let again = KindSpec::parse(&written, KINDS).unwrap_or_else(|error| panic!("{written}: {error}"));
            assert_eq!(again.to_string(), written);
        }
        Err(error) => assert!(!error.to_string().contains('\n'), "{error}"),
    }
}

fn trace(bytes: &[u8]) {
    match LinkTrace::parse("fuzz", bytes) {
        Ok(trace) => {
            let opportunities = trace.opportunities_ms().len();
            assert!(trace.period() > Span::ZERO);
            let mut cursor = trace.cursor();
            let first: Vec<Time> = (0..opportunities).map(|_| cursor.next_opportunity()).collect();
            for time in first {
                assert_eq!(cursor.next_opportunity(), time + trace.period());
            }
            let mut skipped = trace.cursor();
            let end = Time::ZERO + trace.period() * 2;
            assert_eq!(skipped.skip_to(end), trace.count_between(Time::ZERO, end));
            trace.mean_rate();
        }
        Err(error) => assert!(!error.to_string().contains('\n')),
    }
}
