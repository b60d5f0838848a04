"""Which side of a capture is the home, and captures that have each packet twice, or little of it."""

from __future__ import annotations

import lzma
from pathlib import Path

import pytest
from conftest import script
from shared import CASES, needed

from aqmlab import diagnosis
from aqmlab.diagnosis.home import home
from aqmlab.vocabulary.errors import InputError

EDITS = script("capture_edits")
SAME = ["plain-eth.pcap", "pppoe.pcap", "pppoe-vlan.pcap", "ppp9.pcap", "obsolete.pcapng", "any-nat.pcap"]
DOWNLOADS = ["down-cgnat.pcap", "down-public.pcap", "down-anonymised.pcap"]
# Source, destination, ports, bytes, and whether it opens with a SYN.
Row = tuple[str, str, int, int, int, bool]


def _home(*rows: Row) -> tuple[set[str], str, bool]:
    columns = dict(
        zip(
            ("source", "destination", "source_port", "destination_port", "bytes"),
            zip(*(row[:5] for row in rows), strict=True),
            strict=True,
        )
    )
    found = home({name: list(column) for name, column in columns.items()}, [n for n, row in enumerate(rows) if row[5]])
    return set(found.addresses), found.why, found.is_guessed


@pytest.mark.parametrize(
    ("rows", "addresses", "why"),
    [
        # A server of a test network (RFC 5737) is no home.
        ([("198.51.100.7", "192.168.1.2", 443, 50001, 10**6, False)], {"192.168.1.2"}, "private addresses"),
        ([("2001:db8::7", "fd00::2", 443, 50001, 10**6, False)], {"fd00::2"}, "private addresses"),
        # Of a carrier's NAT (RFC 6598), also beside a private address.
        ([("9.9.9.9", "100.70.1.2", 443, 50001, 10**6, False)], {"100.70.1.2"}, "addresses behind a carrier's NAT"),
        ([("100.70.1.1", "192.168.1.2", 443, 50001, 10**6, False)], {"192.168.1.2"}, "private addresses"),
        # Public addresses: a SYN counts before ports.
        ([("84.10.20.30", "9.9.9.9", 5201, 50001, 100, True)], {"84.10.20.30"}, "who opens connections"),
        ([("9.9.9.9", "84.10.20.30", 443, 50001, 10**6, False)], {"84.10.20.30"}, "the ports of servers"),
        # Ports that say nothing: all connections have one end in common.
        (
            [
                ("9.9.9.9", "84.10.20.30", 6881, 6881, 10**6, False),
                ("9.9.9.8", "84.10.20.30", 6882, 6881, 10**6, False),
            ],
            {"84.10.20.30"},
            "the address that all connections have in common",
        ),
        ([("84.10.20.30", "9.9.9.9", 6881, 6881, 10**6, False)], {"84.10.20.30"}, "who sends first"),
        # A discovery on the LAN decides nothing.
        (
            [
                ("192.168.1.2", "239.255.255.250", 50000, 1900, 10**3, False),
                ("9.9.9.9", "84.10.20.30", 443, 50001, 10**6, False),
            ],
            {"84.10.20.30"},
            "the ports of servers",
        ),
        # IPv6 without private addresses beside IPv4 with a NAT.
        (
            [
                ("9.9.9.9", "192.168.1.2", 443, 50001, 10**6, False),
                ("2620:fe::9", "2a02:1::2", 443, 50001, 10**3, False),
            ],
            {"192.168.1.2", "2a02:1::2"},
            "private addresses",
        ),
    ],
)
def the_home_is_known_by_the_best_evidence_there_is(rows: list[Row], addresses: set[str], why: str) -> None:
    found, says, is_guessed = _home(*rows)
    assert found == addresses
    assert says.startswith(why)
    assert is_guessed == (why not in ("private addresses", "addresses behind a carrier's NAT"))


@pytest.mark.parametrize("name", [*SAME, *DOWNLOADS])
def a_capture_means_the_same_in_every_link_layer(name: str, tmp_path: Path) -> None:
    path = needed(CASES / "captures" / f"{name}.xz")
    capture = tmp_path / name
    capture.write_bytes(lzma.decompress(path.read_bytes()))
    found = diagnosis.diagnose(str(capture))
    direction, other = (found.down, found.up) if name in DOWNLOADS else (found.up, found.down)
    assert (direction.rate_bps.value or 0) / 1e6 == pytest.approx(9.92, abs=0.02)
    assert direction.bloat_ms.value == pytest.approx(105, abs=2)
    assert direction.buffer_ms.value == pytest.approx(120, abs=2)
    assert (direction.buffer_bytes.value or 0) / 1e3 == pytest.approx(149, abs=3)
    assert (direction.pattern, direction.losses.packets, other.connections) == ("tail drop", 255, 0)


def headers_that_are_cut_off_are_refused_with_what_to_do(tmp_path: Path) -> None:
    # An IPv4 header, the ports of TCP, and no more.
    data = bytes([0x45, 0, 5, 220, 0, 0, 0, 0, 64, 6, 0, 0, 192, 168, 1, 2, 9, 9, 9, 9, 200, 0, 1, 187])
    section = bytes.fromhex("0a0d0d0a1c0000004d3c2b1a01000000ffffffffffffffff1c000000")
    interface = bytes.fromhex("01000000140000006500000000000000") + bytes.fromhex("14000000")
    packets = [EDITS.Packet(number * 1000, data, 1500) for number in range(10)]
    path = tmp_path / "cut.pcapng"
    path.write_bytes(EDITS.joined(section + interface, packets))
    with pytest.raises(InputError, match=r"TCP headers of 10 of 10 packets are cut off .* record 128 bytes"):
        diagnosis.diagnose(str(path))
