//! A session without cryptography: TLS's messages by their usual lengths, with the transport parameters in them, and packets
//! that are as long as if they were encrypted.

use quinn_proto::crypto::{
    AeadKey, ClientConfig, CryptoError, ExportKeyingMaterialError, HandshakeTokenKey, HeaderKey, HmacKey,
    KeyPair, Keys, PacketKey, ServerConfig, Session, UnsupportedVersion,
};
use quinn_proto::{
    ConnectError, ConnectionId, Side, TransportError, transport_parameters::TransportParameters,
};
use std::any::Any;
use std::sync::Arc;

/// The tag of AES-GCM and ChaCha20-Poly1305, and the sample of header protection (RFC 9001).
const TAG_BYTES: usize = 16;
const SAMPLE_BYTES: usize = 16;
/// A message of TLS has a type and a length of three bytes in front.
const HEAD_BYTES: usize = 4;
/// Usual bytes of TLS 1.3's messages, with a chain of two certificates on elliptic curves: ClientHello without transport
/// parameters, ServerHello, the server's others, Finished.
const CLIENT_HELLO: usize = 220;
const SERVER_HELLO: usize = 90;
const CERTIFICATES: usize = 1900;
const FINISHED: usize = 36;

/// The configuration of both sides.
pub(crate) struct Null;

impl ClientConfig for Null {
    fn start_session(
        self: Arc<Self>,
        _version: u32,
        _server_name: &str,
        params: &TransportParameters,
    ) -> Result<Box<dyn Session>, ConnectError> {
        Ok(Box::new(NullSession::new(Side::Client, params)))
    }
}

impl ServerConfig for Null {
    fn initial_keys(&self, _version: u32, _id: &ConnectionId) -> Result<Keys, UnsupportedVersion> {
        Ok(keys())
    }

    fn retry_tag(&self, _version: u32, _id: &ConnectionId, _packet: &[u8]) -> [u8; TAG_BYTES] {
        [0; TAG_BYTES]
    }

    fn start_session(self: Arc<Self>, _version: u32, params: &TransportParameters) -> Box<dyn Session> {
        Box::new(NullSession::new(Side::Server, params))
    }
}

/// A message that a side still has to write, and whether keys follow it.
struct Message {
    bytes: usize,
    params: Vec<u8>,
    then_keys: bool,
}

/// One side of the handshake: it writes after what it has read.
struct NullSession {
    side: Side,
    own: Vec<u8>,
    peer: Option<TransportParameters>,
    /// What was read of a message that is not complete.
    partial: Vec<u8>,
    /// Messages read.
    read: u32,
    writes: std::collections::VecDeque<Message>,
}

impl NullSession {
    fn new(side: Side, params: &TransportParameters) -> NullSession {
        let mut own = Vec::new();
        params.write(&mut own);
        let mut session =
            NullSession { side, own, peer: None, partial: Vec::new(), read: 0, writes: Default::default() };
        if side == Side::Client {
            session.write(CLIENT_HELLO, true, false);
        }
        session
    }

    fn write(&mut self, bytes: usize, says_params: bool, then_keys: bool) {
        let params = if says_params { self.own.clone() } else { Vec::new() };
        self.writes.push_back(Message { bytes, params, then_keys });
    }

    /// A message is complete.
    fn on_message(&mut self, params: &[u8]) -> Result<(), TransportError> {
        self.read += 1;
        if !params.is_empty() {
            self.peer = Some(TransportParameters::read(self.side, &mut &params[..])?);
        }
        match (self.side, self.read) {
            // ClientHello: the answer, then all the rest with the keys of the handshake.
            (Side::Server, 1) => {
                self.write(SERVER_HELLO, false, true);
                self.write(CERTIFICATES, true, true);
            }
            // ServerHello: nothing to say, but keys to use.
            (Side::Client, 1) => self.write(0, false, true),
            (Side::Client, 2) => self.write(FINISHED, false, true),
            _ => {}
        }
        Ok(())
    }
}

impl Session for NullSession {
    fn initial_keys(&self, _id: &ConnectionId, _side: Side) -> Keys {
        keys()
    }

    fn handshake_data(&self) -> Option<Box<dyn Any>> {
        None
    }

    fn peer_identity(&self) -> Option<Box<dyn Any>> {
        None
    }

    fn early_crypto(&self) -> Option<(Box<dyn HeaderKey>, Box<dyn PacketKey>)> {
        None
    }

    fn early_data_accepted(&self) -> Option<bool> {
        None
    }

    fn is_handshaking(&self) -> bool {
        self.read < 2 || !self.writes.is_empty()
    }

    fn read_handshake(&mut self, bytes: &[u8]) -> Result<bool, TransportError> {
        self.partial.extend_from_slice(bytes);
        while self.partial.len() >= HEAD_BYTES {
            let [params, a, b, c] = [0, 1, 2, 3].map(|at| usize::from(self.partial[at]));
            let end = HEAD_BYTES + (a << 16 | b << 8 | c);
            if self.partial.len() < end {
                break;
            }
            let message: Vec<u8> = self.partial.drain(..end).collect();
            self.on_message(&message[HEAD_BYTES..HEAD_BYTES + params])?;
        }
        Ok(false)
    }

    fn transport_parameters(&self) -> Result<Option<TransportParameters>, TransportError> {
        Ok(self.peer)
    }

    fn write_handshake(&mut self, out: &mut Vec<u8>) -> Option<Keys> {
        let Message { bytes, params, then_keys } = self.writes.pop_front()?;
        if bytes > 0 {
            let body = params.len() + bytes - HEAD_BYTES;
            out.extend([params.len() as u8, (body >> 16) as u8, (body >> 8) as u8, body as u8]);
            out.extend(&params);
            out.resize(out.len() + body - params.len(), 0);
        }
        then_keys.then(keys)
    }

    fn next_1rtt_keys(&mut self) -> Option<KeyPair<Box<dyn PacketKey>>> {
        Some(keys().packet)
    }

    fn is_valid_retry(&self, _id: &ConnectionId, _header: &[u8], _payload: &[u8]) -> bool {
        true
    }

    fn export_keying_material(
        &self,
        _output: &mut [u8],
        _label: &[u8],
        _context: &[u8],
    ) -> Result<(), ExportKeyingMaterialError> {
        Err(ExportKeyingMaterialError)
    }
}

fn keys() -> Keys {
    Keys {
        header: KeyPair { local: Box::new(Null), remote: Box::new(Null) },
        packet: KeyPair { local: Box::new(Null), remote: Box::new(Null) },
    }
}

impl HeaderKey for Null {
    fn decrypt(&self, _offset: usize, _packet: &mut [u8]) {}

    fn encrypt(&self, _offset: usize, _packet: &mut [u8]) {}

    fn sample_size(&self) -> usize {
        SAMPLE_BYTES
    }
}

impl PacketKey for Null {
    fn encrypt(&self, _number: u64, _packet: &mut [u8], _header: usize) {}

    fn decrypt(
        &self,
        _number: u64,
        _header: &[u8],
        payload: &mut bytes::BytesMut,
    ) -> Result<(), CryptoError> {
        let content = payload.len().checked_sub(TAG_BYTES).ok_or(CryptoError)?;
        payload.truncate(content);
        Ok(())
    }

    fn tag_len(&self) -> usize {
        TAG_BYTES
    }

    fn confidentiality_limit(&self) -> u64 {
        u64::MAX
    }

    fn integrity_limit(&self) -> u64 {
        u64::MAX
    }
}

impl HandshakeTokenKey for Null {
    fn aead_from_hkdf(&self, _random: &[u8]) -> Box<dyn AeadKey> {
        Box::new(Null)
    }
}

impl AeadKey for Null {
    fn seal(&self, data: &mut Vec<u8>, _context: &[u8]) -> Result<(), CryptoError> {
        data.resize(data.len() + TAG_BYTES, 0);
        Ok(())
    }

    fn open<'a>(&self, data: &'a mut [u8], _context: &[u8]) -> Result<&'a mut [u8], CryptoError> {
        let content = data.len().checked_sub(TAG_BYTES).ok_or(CryptoError)?;
        Ok(&mut data[..content])
    }
}

/// What reset tokens are made with: connection ids differ, and so must they.
pub(crate) struct Hash;

impl HmacKey for Hash {
    fn sign(&self, data: &[u8], signature: &mut [u8]) {
        // FNV-1a, a byte for each byte.
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        for (at, byte) in signature.iter_mut().enumerate() {
            for value in data.iter().copied().chain([at as u8]) {
                hash = (hash ^ u64::from(value)).wrapping_mul(0x0100_0000_01b3);
            }
            *byte = (hash >> 32) as u8;
        }
    }

    fn signature_len(&self) -> usize {
        32
    }

    fn verify(&self, data: &[u8], signature: &[u8]) -> Result<(), CryptoError> {
        let mut expected = vec![0; signature.len()];
        self.sign(data, &mut expected);
        if expected == signature { Ok(()) } else { Err(CryptoError) }
    }
}
