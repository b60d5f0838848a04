//! Medium access: who may send on a shared channel, when, and how long it takes.
//!
//! Wi-Fi is IEEE 802.11-2020 with the rates of DSSS, OFDM, HT, VHT and HE. Nothing here has a clock: each part is told
//! the time, and says when it is to be asked next.

pub mod airtime;
pub mod ampdu;
pub mod aql;
pub mod block_ack;
pub mod channel;
pub mod edca;
pub mod errors;
pub mod rates;
