//! What a packet meets behind a queue: the device that sends it, the medium that stations share, the wire, and the meter
//! that counts. Nothing here has a clock, a socket or a thread: the simulator and the live link tell the time.
#![forbid(unsafe_code)]

pub mod device;
pub mod kind;
pub mod mac;
pub mod medium;
pub mod wire;
