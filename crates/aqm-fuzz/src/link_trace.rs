//! Whatever a link trace holds, it is refused in one line or repeats as it says.

use aqm_core::units::{Span, Time};
use aqm_io::link_trace::LinkTrace;

pub(crate) fn run(bytes: &[u8]) {
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
