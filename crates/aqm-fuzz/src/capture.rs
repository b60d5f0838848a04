//! Whatever a capture file holds, reading it ends with packets or one line that says why not.

use crate::path;
use aqm_io::capture::Capture;

pub(crate) fn run(bytes: &[u8]) {
    path::check("fuzz", bytes, None);
    match Capture::parse("fuzz", bytes) {
        Ok(capture) => {
            assert!(capture.packets().is_sorted_by_key(|packet| packet.time));
            let counted: u64 = capture.flows().iter().map(|flow| flow.packets).sum();
            assert_eq!(counted, capture.packets().len() as u64);
            capture.summary().to_string();
            assert!(capture.warnings().iter().all(|warning| !warning.contains('\n')));
        }
        Err(error) => assert!(!error.to_string().contains('\n')),
    }
}
