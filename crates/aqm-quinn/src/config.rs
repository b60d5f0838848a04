//! Settings of both ends, with every random number from the run.

use crate::choices::Control;
use crate::null::{self, Null};
use aqm_core::random::Random;
use aqm_sim::headers::UDP_HEADERS;
use aqm_sim::stack::PACKET;
use aqm_sim::transport::Values;
use quinn_proto::congestion::{ControllerFactory, CubicConfig, NewRenoConfig};
use quinn_proto::{
    ClientConfig, ConnectionId, ConnectionIdGenerator, EndpointConfig, MtuDiscoveryConfig, NoneTokenStore,
    ServerConfig, TimeSource, TransportConfig, ValidationTokenConfig, VarInt,
};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// The UDP payload that every path carries (RFC 9000), and the usual of Ethernet.
const LEAST_MTU: u16 = 1200;
const ETHERNET_MTU: u16 = 1472;
/// Bytes of a connection id: the crate's default.
const ID_BYTES: usize = 8;

/// What an end draws from.
pub(crate) struct Seeds {
    seed: [u8; 32],
    ids: Random,
    /// The id that a client gives the server before it knows its own.
    first: [u8; ID_BYTES],
}

/// The seeds of an end.
pub(crate) fn seeds(random: &mut Random) -> Seeds {
    let mut seed = [0; 32];
    seed.chunks_exact_mut(8).for_each(|chunk| chunk.copy_from_slice(&random.next_u64().to_le_bytes()));
    Seeds { seed, ids: Random::seeded(random.next_u64()), first: random.next_u64().to_le_bytes() }
}

/// Transport settings as a flow's keys say; the rest is the crate's default.
pub(crate) fn transport(values: &Values) -> Arc<TransportConfig> {
    let mut config = TransportConfig::default();
    let factory: Arc<dyn ControllerFactory + Send + Sync> = match values.choice("cc") {
        Control::NewReno => Arc::new(NewRenoConfig::default()),
        Control::Cubic => Arc::new(CubicConfig::default()),
    };
    let credit = values.bytes("credit").map_or(0, |bytes| bytes.as_u64() as u32);
    config
        .congestion_controller_factory(factory)
        .max_concurrent_uni_streams(values.count("streams").into())
        .stream_receive_window(VarInt::from_u32(credit))
        .mtu_discovery_config(values.flag("mtud").then(|| {
            let mut discovery = MtuDiscoveryConfig::default();
            discovery.upper_bound(payload(values));
            discovery
        }));
    Arc::new(config)
}

/// The largest UDP payload.
fn payload(values: &Values) -> u16 {
    let packet = values.bytes(PACKET.name).map_or(0, |bytes| bytes.as_u64() as u16);
    packet.saturating_sub(UDP_HEADERS).max(LEAST_MTU)
}

/// Settings of an endpoint.
pub(crate) fn endpoint(values: &Values, seeds: &Seeds) -> Arc<EndpointConfig> {
    let mut config = EndpointConfig::new(Arc::new(null::Hash));
    let random = seeds.ids.clone();
    config
        .rng_seed(Some(seeds.seed))
        .cid_generator(move || Box::new(Ids(random.clone())))
        .max_udp_payload_size(payload(values).max(ETHERNET_MTU))
        .expect("it is in range");
    Arc::new(config)
}

/// Settings of a client.
pub(crate) fn client(transport: &Arc<TransportConfig>, seeds: &Seeds) -> ClientConfig {
    let mut config = ClientConfig::new(Arc::new(Null));
    let first = seeds.first;
    config
        .transport_config(Arc::clone(transport))
        .token_store(Arc::new(NoneTokenStore))
        .initial_dst_cid_provider(Arc::new(move || ConnectionId::new(&first)));
    config
}

/// Settings of a server. It gives no tokens for later connections: there are none.
pub(crate) fn server(transport: &Arc<TransportConfig>) -> Arc<ServerConfig> {
    let mut config = ServerConfig::new(Arc::new(Null), Arc::new(Null));
    let mut tokens = ValidationTokenConfig::default();
    tokens.sent(0);
    config
        .transport_config(Arc::clone(transport))
        .validation_token_config(tokens)
        .time_source(Arc::new(Epoch));
    Arc::new(config)
}

/// Connection ids, one after the other as drawn.
struct Ids(Random);

impl ConnectionIdGenerator for Ids {
    fn generate_cid(&mut self) -> ConnectionId {
        ConnectionId::new(&self.0.next_u64().to_le_bytes())
    }

    fn cid_len(&self) -> usize {
        ID_BYTES
    }

    fn cid_lifetime(&self) -> Option<Duration> {
        None
    }
}

/// The calendar stands still: only tokens ask for it.
struct Epoch;

impl TimeSource for Epoch {
    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH
    }
}
