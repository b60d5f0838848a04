//! Medium access: who may send on a shared channel, when, and how long it takes.
//!
//! Wi-Fi is IEEE 802.11-2020 with the rates of HT, VHT and HE.

pub mod airtime;
