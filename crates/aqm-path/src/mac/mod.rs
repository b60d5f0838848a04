//! Medium access: who may send on a shared channel, when, and how long it takes.
//!
//! Wi-Fi is IEEE 802.11-2020 with the rates of DSSS, OFDM, HT, VHT and HE. Nothing here has a clock: each part is given
//! the time, and answers when it is due next.
//!
//! - [`rates`]: which rates there are; [`airtime`]: how long frames and gaps are.
//! - [`ampdu`]: aggregation; [`block_ack`]: what is sent again, and the reorder buffer; [`errors`]: what is lost.
//! - [`category`]: access categories; [`edca`]: contention for the medium.
//! - [`aql`]: how much airtime a device may hold.
//! - [`channel`]: one channel made of these, with its sums and its checks; [`link`]: the kind of link that it is.
//!
//! What it leaves out: hidden stations, capture, OFDMA, several users at once, several links, roaming, fading, rate
//! control, power save.

pub mod airtime;
pub mod ampdu;
pub mod aql;
pub mod block_ack;
pub mod category;
pub mod channel;
pub mod edca;
pub mod errors;
pub mod link;
pub mod rates;
