//! UDP packets to the far end: `flood SECONDS BYTES FLOWS [PACKETS]`, for `benches/live.py`. `BYTES` are those of an IP
//! packet, each flow has a port of its own, and `PACKETS` are sent in a second: as many as one core can unless given.

#![allow(clippy::disallowed_methods, reason = "it sends for a while of real time")]

use std::net::UdpSocket;
use std::thread;
use std::time::{Duration, Instant};

/// Bytes of headers of IP and UDP.
const HEADERS: usize = 28;
/// The clock is looked at once in so many packets.
const ROUND: usize = 64;
/// So long it waits where it has sent enough.
const PAUSE: Duration = Duration::from_micros(200);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [seconds, bytes, flows, most @ ..] = arguments.as_slice() else {
        return Err("flood SECONDS BYTES FLOWS [PACKETS]".into());
    };
    let (seconds, most) = (seconds.parse()?, most.first().map_or(Ok(f64::INFINITY), |most| most.parse())?);
    let payload = vec![0; bytes.parse::<usize>()?.saturating_sub(HEADERS)];
    let far = std::env::var("AQMLAB_FAR")?;
    let sockets: Vec<UdpSocket> = (0..flows.parse::<u16>()?)
        .map(|_| {
            let socket = UdpSocket::bind("0.0.0.0:0")?;
            socket.connect((far.as_str(), 9))?;
            Ok(socket)
        })
        .collect::<Result<_, std::io::Error>>()?;
    let mut next = sockets.iter().cycle();
    let (start, mut sent) = (Instant::now(), 0.0);
    loop {
        let elapsed = start.elapsed().as_secs_f64();
        if elapsed >= seconds {
            return Ok(());
        }
        if sent > elapsed * most {
            thread::sleep(PAUSE);
            continue;
        }
        sent += ROUND as f64;
        for socket in next.by_ref().take(ROUND) {
            // Nobody listens there, which may be reported, and the interface may be full.
            let _ = socket.send(&payload);
        }
    }
}
