"""A QUIC stack in Python as a kind of flow: aioquic, with its handshake and its TLS, in the simulator's time.

pip install aioquic && python docs/examples/aioquic_flow.py
"""

from __future__ import annotations

import datetime
import math
import os
import ssl
import threading
from collections import deque
from contextlib import AbstractContextManager, contextmanager
from random import Random
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from aioquic import tls
from aioquic.buffer import Buffer
from aioquic.quic import connection, events, packet
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.connection import QuicConnection
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding

import aqmlab

if TYPE_CHECKING:
    from collections.abc import Iterator

# aioquic takes connection ids and TLS's nonces from the system. While an end is at work, its modules get them from the
# run; runs may be in threads beside each other.
_at_work = threading.local()


def _urandom(count: int) -> bytes:
    source: Random | None = getattr(_at_work, "random", None)
    return os.urandom(count) if source is None else source.randbytes(count)


for module in (connection, packet, tls):
    vars(module)["os"] = SimpleNamespace(urandom=_urandom)


@contextmanager
def _drawing(source: Random) -> Iterator[None]:
    _at_work.random = source
    try:
        yield
    finally:
        _at_work.random = None


def _certificate() -> tuple[x509.Certificate, Ed25519PrivateKey]:
    """Return the server's certificate: signatures of Ed25519 have one length and nothing random."""
    key = Ed25519PrivateKey.from_private_bytes(bytes(32))
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "server.example")])
    made = x509.CertificateBuilder(name, name, key.public_key(), 1)
    made = made.not_valid_before(datetime.datetime(2020, 1, 1)).not_valid_after(datetime.datetime(2120, 1, 1))
    alternative = x509.SubjectAlternativeName([x509.DNSName("server.example")])
    return made.add_extension(alternative, critical=False).sign(key, None), key


CERTIFICATE, KEY = _certificate()
ADDRESS = ("192.0.2.1", 443)
# Bytes that a sending stream is ahead of what is acknowledged.
AHEAD = 400_000
# Bytes of the headers of IP and UDP.
HEADERS = 28


class Aioquic(aqmlab.Transport):
    """QUIC by aioquic: real packets, handshake and encryption."""

    # As quinn's key of this name; ``packet`` every stack has.
    params = {"streams": "1 1..100"}

    streams: int
    packet: int
    #: aioquic has ``reno`` too.
    control = "cubic"

    def __init__(self) -> None:
        self.quic: QuicConnection | None = None
        self.leaving: deque[bytes] = deque()
        self.is_open = False
        # What its application has for each stream, and what was handed over of that.
        each, more = divmod(self.size or 0, self.streams)
        self.wanted = [math.inf if self.size is None else each + (number < more) for number in range(self.streams)]
        self.written = [0] * self.streams
        self.turn = 0

    def receive(self, datagram: bytes, ecn: int, now: int) -> None:
        """Hand a datagram over; the first makes the server."""
        with self._works():
            if self.quic is None:
                first = packet.pull_quic_header(Buffer(data=datagram), host_cid_length=8)
                self.quic = self._server(first.destination_cid)
            self.quic.receive_datagram(datagram, ADDRESS, now / 1e9)
        self._go_on(now)

    def send(self, now: int) -> bytes | None:
        """Send what aioquic has, which begins with the client's handshake."""
        if self.role == "client" and self.quic is None and now >= self.start:
            with self._works():
                self.quic = self._client()
                self.quic.connect(ADDRESS, now / 1e9)
            self._go_on(now)
        return self.leaving.popleft() if self.leaving else None

    def deadline(self) -> int | None:
        """Return aioquic's timer, in whole nanoseconds."""
        timer = self.quic.get_timer() if self.quic else None
        return None if timer is None else math.ceil(timer * 1e9)

    def on_timer(self, now: int) -> None:
        """Let aioquic do what is due."""
        if self.quic is not None:
            with self._works():
                # Not a rounding error before its timer.
                self.quic.handle_timer(max(now / 1e9, self.quic.get_timer() or 0.0))
            self._go_on(now)

    def write(self, count: int, now: int) -> None:
        """Have so much more to send, one stream after the other."""
        self.wanted[self.turn] += count
        self.turn = (self.turn + 1) % self.streams
        if self.quic is not None:
            self._go_on(now)

    def _go_on(self, now: int) -> None:
        """Take what has happened, write, and fetch what is to be sent."""
        assert self.quic is not None
        while (event := self.quic.next_event()) is not None:
            if isinstance(event, events.HandshakeCompleted):
                self.is_open = True
            elif isinstance(event, events.StreamDataReceived):
                self.delivered += len(event.data)
        if self.role == "client" and self.is_open:
            self._write()
        with self._works():
            self.leaving.extend(datagram for datagram, _ in self.quic.datagrams_to_send(now / 1e9))
        # It writes them to its log alone.
        recovery = self.quic._loss
        self.window = recovery.congestion_window
        self.rtt = round(recovery._rtt_smoothed * 1e9) or None

    def _write(self) -> None:
        """Keep each stream ahead of what is acknowledged, or write all that there is."""
        assert self.quic is not None
        for number, (wanted, written) in enumerate(zip(self.wanted, self.written, strict=True)):
            identity = 4 * number
            stream = self.quic._streams.get(identity)
            acknowledged = stream.sender._buffer_start if stream else 0
            count = int(min(acknowledged + AHEAD, wanted)) - written
            is_all = written + count == wanted
            if count > AHEAD // 4 or (count > 0 and is_all):
                self.written[number] += count
                # An application that writes over time may always go on.
                self.quic.send_stream_data(identity, bytes(count), end_stream=is_all and self.size != 0)

    def _client(self) -> QuicConnection:
        trusted = CERTIFICATE.public_bytes(Encoding.PEM)
        return QuicConnection(
            configuration=self._configured(
                is_client=True, server_name="server.example", cadata=trusted, verify_mode=ssl.CERT_REQUIRED
            )
        )

    def _server(self, destination: bytes) -> QuicConnection:
        configuration = self._configured(is_client=False, certificate=CERTIFICATE, private_key=KEY)
        return QuicConnection(configuration=configuration, original_destination_connection_id=destination)

    def _configured(self, **settings: Any) -> QuicConfiguration:
        return QuicConfiguration(
            alpn_protocols=["bulk"],
            congestion_control_algorithm=self.control,
            max_datagram_size=self.packet - HEADERS,
            **settings,
        )

    def _works(self) -> AbstractContextManager[None]:
        return _drawing(self.random)


if __name__ == "__main__":
    kind = aqmlab.register_transport(Aioquic)
    flows = [f"1*{kind}", "1*cubic"]
    result = aqmlab.compare(rate="10mbit", rtt="40ms", flows=flows, aqm=["fifo", "fq_codel"], seeds=2, duration="10s")
    print(result.runs.select("aqm", "seed", "class.aioquic.goodput_mbit", "class.cubic.goodput_mbit"))
