//! The applications at both ends: one writes, the other reads.

use bytes::Bytes;
use quinn_proto::{Connection, Dir, StreamEvent, StreamId, VarInt};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Whether all is done. Both ends of a flow know it as soon as the writer does: the packet that would say so may be lost, and
/// quinn-proto holds it back where congestion control has data wait.
#[derive(Clone, Default)]
pub(crate) struct Finished(Arc<AtomicBool>);

impl Finished {
    fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// What the ends of a connection do with its streams.
pub(crate) trait Work: Send {
    /// The handshake is over.
    fn on_connected(&mut self, connection: &mut Connection);

    /// Something has happened to a stream.
    fn on_stream(&mut self, event: StreamEvent, connection: &mut Connection, now: Instant);

    /// Whether all is done: what ends the connection then is no failure.
    fn is_done(&self) -> bool;

    /// The application has so many bytes more to send.
    fn write(&mut self, _bytes: u64, _connection: &mut Connection) {}

    /// Nothing more is to be done: what was written is given up.
    fn stop(&mut self, _connection: &mut Connection) {}

    /// Payload read.
    fn delivered(&self) -> u64 {
        0
    }
}

/// What is written; nobody looks at it.
static ZEROS: [u8; 1 << 16] = [0; 1 << 16];

/// Writes payload to streams, as much as they take.
pub(crate) struct Writer {
    /// Streams, and what is left to write to each; none for no end.
    streams: Vec<(StreamId, Option<u64>)>,
    /// The shares that they will have.
    shares: Vec<Option<u64>>,
    unfinished: usize,
    /// Whether the application writes more, one stream after the other.
    goes_on: bool,
    turn: usize,
    done: Finished,
}

impl Writer {
    /// Spreads `size` over `streams`; the first have a byte more if it does not come out even. Of 0 bytes the application
    /// writes more.
    pub(crate) fn new(size: Option<u64>, streams: u32, done: Finished) -> Writer {
        let (streams, size) = (u64::from(streams), size);
        let share = |number| size.map(|size| size / streams + u64::from(number < size % streams));
        let shares: Vec<_> = (0..streams).map(share).collect();
        Writer {
            streams: Vec::new(),
            unfinished: shares.len(),
            shares,
            goes_on: size == Some(0),
            turn: 0,
            done,
        }
    }

    /// Writes to a stream what it takes.
    fn fill(&mut self, number: usize, connection: &mut Connection) {
        let Some((id, left)) = self.streams.get_mut(number) else { return };
        let mut stream = connection.send_stream(*id);
        while left.is_none_or(|left| left > 0) {
            let room = left.map_or(ZEROS.len(), |left| ZEROS.len().min(left as usize));
            match stream.write_chunks(&mut [Bytes::from_static(&ZEROS[..room])]) {
                Ok(written) if written.bytes > 0 => {
                    *left = left.map(|left| left - written.bytes as u64);
                }
                // It is full, or the connection is over.
                _ => return,
            }
        }
        if !self.goes_on {
            // Already finished, or over: nothing is left to do.
            let _ = stream.finish();
        }
    }
}

impl Work for Writer {
    fn on_connected(&mut self, connection: &mut Connection) {
        for share in std::mem::take(&mut self.shares) {
            if let Some(id) = connection.streams().open(Dir::Uni) {
                self.streams.push((id, share));
            }
        }
        (0..self.streams.len()).for_each(|number| self.fill(number, connection));
    }

    fn on_stream(&mut self, event: StreamEvent, connection: &mut Connection, now: Instant) {
        match event {
            StreamEvent::Writable { id } => {
                if let Some(number) = self.streams.iter().position(|(known, _)| *known == id) {
                    self.fill(number, connection);
                }
            }
            StreamEvent::Finished { .. } if self.unfinished > 0 => {
                self.unfinished -= 1;
                if self.unfinished == 0 {
                    self.done.set();
                    connection.close(now, VarInt::from_u32(0), Bytes::new());
                }
            }
            _ => {}
        }
    }

    fn is_done(&self) -> bool {
        self.done.is_set()
    }

    fn write(&mut self, bytes: u64, connection: &mut Connection) {
        let number = self.turn;
        self.turn = (number + 1) % (self.streams.len() + self.shares.len()).max(1);
        // Streams are open, or will be.
        let open = self.streams.get_mut(number).map(|(_, left)| left);
        if let Some(left) = open.or_else(|| self.shares.get_mut(number)) {
            *left = left.map(|left| left + bytes);
        }
        self.fill(number, connection);
    }

    fn stop(&mut self, connection: &mut Connection) {
        for (id, _) in std::mem::take(&mut self.streams) {
            // One that is acknowledged is gone already.
            let _ = connection.send_stream(id).reset(VarInt::from_u32(0));
        }
        (self.unfinished, self.shares) = (0, Vec::new());
        self.done.set();
    }
}

/// Reads what has come, at once.
pub(crate) struct Reader {
    delivered: u64,
    done: Finished,
}

impl Reader {
    pub(crate) fn new(done: Finished) -> Reader {
        Reader { delivered: 0, done }
    }

    fn read(&mut self, id: StreamId, connection: &mut Connection) {
        let mut stream = connection.recv_stream(id);
        let Ok(mut chunks) = stream.read(true) else { return };
        while let Ok(Some(chunk)) = chunks.next(usize::MAX) {
            self.delivered += chunk.bytes.len() as u64;
        }
        // What is to be sent is asked for after every call.
        let _ = chunks.finalize();
    }
}

impl Work for Reader {
    fn on_connected(&mut self, _: &mut Connection) {}

    fn on_stream(&mut self, event: StreamEvent, connection: &mut Connection, _: Instant) {
        match event {
            StreamEvent::Opened { dir } => {
                while let Some(id) = connection.streams().accept(dir) {
                    self.read(id, connection);
                }
            }
            StreamEvent::Readable { id } => self.read(id, connection),
            _ => {}
        }
    }

    fn is_done(&self) -> bool {
        self.done.is_set()
    }

    fn delivered(&self) -> u64 {
        self.delivered
    }
}
