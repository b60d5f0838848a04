//! ns-3's own tests of its queue discs, in our words: packets in, and what becomes of them. The suites are
//! `src/traffic-control/test/*-test-suite.cc` and `src/test/ns3tc/*-queue-disc-test-suite.cc` of commit 140646449a33 of
//! July 2026; numbers and names of tests are theirs.
//!
//! [`table::SUITES`] has a row for each of them: a test here, a unit test of a law, or the reason why there is none.
//! `INSTA_UPDATE=always cargo test -p aqm-core --test ns3` writes the table, with its counts, into `snapshots/`.

#[path = "../common/mod.rs"]
mod common;

mod ared;
mod bands;
mod cobalt;
mod codel;
mod fifo;
mod flows;
mod marking;
mod pie;
mod played;
mod red;
mod table;
