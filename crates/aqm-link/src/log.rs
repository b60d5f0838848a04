//! The record of every call into a discipline: what the discipline saw, when, and what it decided.
//!
//! A log is a sequence of rows of [`ROW_BYTES`] bytes, little-endian. What a log says of a packet stands where it
//! arrives; later rows name it by its number. Calls are `arrive`, `depart` (a packet was taken), `nothing` (none was)
//! and `wake`; `drop` and `mark` are decisions, behind the arrival or before the row of any other call in which they
//! were made. [`replay`] makes the same calls again, and a discipline that is a function of its calls and its seed writes
//! the same log, byte by byte.

use crate::config::{Line, LinkError};
use aqm_core::packet::{Ecn, Packet, TcpView};
use aqm_core::signal::{DropPoint, DropReason, Emission, MarkReason, Observer};
use aqm_core::units::Time;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::Path;

/// Bytes of a row.
pub const ROW_BYTES: usize = 56;

/// The kind of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum RowKind {
    Arrive = 0,
    Depart = 1,
    Nothing = 2,
    Wake = 3,
    Drop = 4,
    Mark = 5,
}

/// A log that is being written. After the first error it writes nothing more.
pub(crate) struct Log<W: Write> {
    to: W,
    pub(crate) rows: u64,
    pub(crate) failed: Option<io::Error>,
}

impl Log<BufWriter<File>> {
    /// A log in a new file.
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        Ok(Log::new(BufWriter::with_capacity(1 << 18, File::create(path)?)))
    }
}

impl<W: Write> Log<W> {
    fn new(to: W) -> Log<W> {
        Log { to, rows: 0, failed: None }
    }

    /// A packet arrives; the call into the discipline follows.
    pub(crate) fn arrive(&mut self, packet: &Packet, now: Time) {
        let mut row = row(RowKind::Arrive, now, number(packet));
        row[8..16].copy_from_slice(&packet.flow.to_le_bytes());
        row[20..24].copy_from_slice(&packet.length.to_le_bytes());
        row[24..28].copy_from_slice(&packet.source.to_le_bytes());
        row[28..32].copy_from_slice(&packet.destination.to_le_bytes());
        row[42..44].copy_from_slice(&packet.class.to_le_bytes());
        (row[46], row[47], row[48]) = (packet.dscp, packet.ecn as u8, packet.protocol);
        if let Some(tcp) = &packet.tcp {
            row[32..36].copy_from_slice(&tcp.seq.to_le_bytes());
            row[36..40].copy_from_slice(&tcp.ack.to_le_bytes());
            row[40..42].copy_from_slice(&tcp.payload.to_le_bytes());
            (row[49], row[50]) = (tcp.flags, 1 | u8::from(tcp.has_sack) << 1);
        }
        self.put(&row);
    }

    /// The discipline was asked for a packet.
    pub(crate) fn dequeued(&mut self, packet: Option<&Packet>, now: Time) {
        let row =
            packet.map_or_else(|| row(RowKind::Nothing, now, 0), |it| row(RowKind::Depart, now, number(it)));
        self.put(&row);
    }

    /// The discipline was woken.
    pub(crate) fn woken(&mut self, now: Time) {
        self.put(&row(RowKind::Wake, now, 0));
    }

    /// It dropped a packet.
    pub(crate) fn dropped(&mut self, packet: &Packet, reason: DropReason, now: Time) {
        let mut row = row(RowKind::Drop, now, number(packet));
        row[45] = reason as u8;
        self.put(&row);
    }

    /// It marked a packet.
    pub(crate) fn marked(&mut self, packet: &Packet, reason: MarkReason, now: Time) {
        let mut row = row(RowKind::Mark, now, number(packet));
        row[45] = reason as u8;
        self.put(&row);
    }

    /// Writes what is still buffered.
    pub(crate) fn finish(&mut self) {
        if let Err(error) = self.to.flush() {
            self.failed.get_or_insert(error);
        }
    }

    fn put(&mut self, row: &[u8; ROW_BYTES]) {
        if self.failed.is_some() {
            return;
        }
        match self.to.write_all(row) {
            Ok(()) => self.rows += 1,
            Err(error) => self.failed = Some(error),
        }
    }
}

/// The number of a packet: how many arrived before it. The lower half of its cookie is its place.
fn number(packet: &Packet) -> u32 {
    (packet.cookie >> 32) as u32
}

fn row(kind: RowKind, now: Time, number: u32) -> [u8; ROW_BYTES] {
    let mut row = [0; ROW_BYTES];
    row[..8].copy_from_slice(&now.as_nanos().to_le_bytes());
    row[16..20].copy_from_slice(&number.to_le_bytes());
    row[44] = kind as u8;
    row
}

/// Where a replay parts from its log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Replayed {
    /// Calls that were made again.
    pub calls: u64,
    /// The first row, counted from zero, that the discipline did not repeat.
    pub parts_at: Option<u64>,
}

/// Makes the calls of a log again, on a discipline as `line` says with the same seed, and compares every row.
///
/// # Errors
/// The log cannot be read, or the line cannot be built.
pub fn replay(line: &Line, name: &str, seed: u64, path: &Path) -> Result<Replayed, LinkError> {
    let unread = |error| LinkError::machine(&path.display().to_string(), &error);
    let mut from = BufReader::new(File::open(path).map_err(unread)?);
    let mut qdisc = line.discipline(name, seed)?;
    let mut rewriter = Rewriter { log: Log::new(Vec::new()), now: Time::ZERO };
    // Rows that were read and not yet repeated.
    let (mut awaited, mut row) = (Vec::new(), [0; ROW_BYTES]);
    let mut replayed = Replayed { calls: 0, parts_at: None };
    let mut compared = 0;
    while read_row(&mut from, &mut row).map_err(unread)? {
        let is_call = row[44] <= RowKind::Wake as u8;
        if is_call {
            replayed.calls += 1;
            let now = Time::from_nanos(u64::from_le_bytes(bytes(&row, 0)));
            rewriter.now = now;
            if row[44] == RowKind::Arrive as u8 {
                // Its decisions follow it: those of the last call are complete.
                let packet = arrived(&row);
                rewriter.log.arrive(&packet, now);
                qdisc.enqueue(packet, now, &mut rewriter);
            } else if row[44] == RowKind::Wake as u8 {
                qdisc.wake(now, &mut rewriter);
                rewriter.log.woken(now);
            } else {
                let packet = qdisc.dequeue(now, &mut rewriter);
                rewriter.log.dequeued(packet.as_ref(), now);
            }
        }
        awaited.extend_from_slice(&row);
        let common = awaited.len().min(rewriter.log.to.len());
        if let Some(at) = (0..common).find(|at| awaited[*at] != rewriter.log.to[*at]) {
            replayed.parts_at = Some(compared + (at / ROW_BYTES) as u64);
            return Ok(replayed);
        }
        compared += (common / ROW_BYTES) as u64;
        awaited.drain(..common);
        rewriter.log.to.drain(..common);
    }
    if awaited.len() + rewriter.log.to.len() > 0 {
        replayed.parts_at = Some(compared);
    }
    Ok(replayed)
}

/// Reads one row; false at the end. A row that was cut off counts as the end.
fn read_row(from: &mut impl Read, row: &mut [u8; ROW_BYTES]) -> io::Result<bool> {
    match from.read_exact(row) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

fn bytes<const N: usize>(row: &[u8], at: usize) -> [u8; N] {
    *row[at..].first_chunk().expect("a row is longer")
}

fn arrived(row: &[u8; ROW_BYTES]) -> Packet {
    let number = u32::from_le_bytes(bytes(row, 16));
    let tcp = TcpView {
        seq: u32::from_le_bytes(bytes(row, 32)),
        ack: u32::from_le_bytes(bytes(row, 36)),
        payload: u16::from_le_bytes(bytes(row, 40)),
        flags: row[49],
        has_sack: row[50] & 2 != 0,
    };
    Packet {
        source: u32::from_le_bytes(bytes(row, 24)),
        destination: u32::from_le_bytes(bytes(row, 28)),
        tcp: (row[50] & 1 != 0).then_some(tcp),
        class: u16::from_le_bytes(bytes(row, 42)),
        dscp: row[46],
        ecn: [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce][usize::from(row[47] & 3)],
        protocol: row[48],
        ..Packet::new(
            u64::from(number) << 32,
            u64::from_le_bytes(bytes(row, 8)),
            u32::from_le_bytes(bytes(row, 20)),
        )
    }
}

/// Writes the decisions of a replay.
struct Rewriter {
    log: Log<Vec<u8>>,
    now: Time,
}

impl Observer for Rewriter {
    fn on_drop(&mut self, packet: Packet, reason: DropReason, _point: DropPoint) {
        self.log.dropped(&packet, reason, self.now);
    }

    fn on_mark(&mut self, packet: &Packet, reason: MarkReason) {
        self.log.marked(packet, reason, self.now);
    }

    fn on_emit(&mut self, _emission: Emission) {}
}
