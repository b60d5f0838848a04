"""A client of BMv2's Thrift services: TBinaryProtocol over TCP, multiplexed, with the calls that a control plane needs.

The format is that of Apache Thrift's "Thrift Binary protocol encoding" (strict). Services and their calls are declared
in BMv2's standard.thrift and simple_switch.thrift. What the switch sends is parsed without trust.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable, Sequence
from typing import Any

BOOL, BYTE, DOUBLE, I16, I32, I64, STRING, STRUCT, MAP, SET, LIST = 2, 3, 4, 6, 8, 10, 11, 12, 13, 14, 15
CALL, REPLY, EXCEPTION = 1, 2, 3
VERSION = 0x80010000
_NUMBERS = {BOOL: ">?", BYTE: ">b", DOUBLE: ">d", I16: ">h", I32: ">i", I64: ">q"}
# More than any register array here, or name: a reply beyond it is refused.
_MOST_ITEMS = 1 << 16
_MOST_BYTES = 1 << 16
_MOST_DEPTH = 16

# BmMatchParamType.
LPM, TERNARY = 1, 2


class SwitchError(Exception):
    """The switch refuses a call, or what it sends is no Thrift."""


class Argument:
    """A value with its type on the wire."""

    def __init__(self, kind: int, payload: bytes) -> None:
        self.kind = kind
        self.payload = payload


def i32(number: int) -> Argument:
    """Return a number of 32 bits."""
    return Argument(I32, struct.pack(">i", number))


def i64(number: int) -> Argument:
    """Return a number of 64 bits."""
    return Argument(I64, struct.pack(">q", number))


def binary(data: bytes) -> Argument:
    """Return bytes; Thrift does not tell them from a text."""
    return Argument(STRING, struct.pack(">i", len(data)) + data)


def text(words: str) -> Argument:
    """Return a text."""
    return binary(words.encode())


def record(fields: dict[int, Argument]) -> Argument:
    """Return a struct of numbered fields."""
    parts = (struct.pack(">bh", field.kind, number) + field.payload for number, field in fields.items())
    return Argument(STRUCT, b"".join(parts) + b"\0")


def items(kind: int, values: Sequence[Argument]) -> Argument:
    """Return a list of values of one kind."""
    return Argument(LIST, struct.pack(">bi", kind, len(values)) + b"".join(value.payload for value in values))


class Reader:
    """Reads values from a source of bytes, and no byte behind them."""

    def __init__(self, receive: Callable[[int], bytes]) -> None:
        self._receive = receive

    def number(self, kind: int) -> Any:
        """Return a number of a kind."""
        size = struct.calcsize(_NUMBERS[kind])
        return struct.unpack(_NUMBERS[kind], self._receive(size))[0]

    def bytes(self, count: int) -> bytes:
        """Return so many bytes."""
        if not 0 <= count <= _MOST_BYTES:
            raise SwitchError(f"a reply has a value of {count} bytes (allowed: up to {_MOST_BYTES})")
        return self._receive(count)

    def value(self, kind: int, depth: int = 0) -> Any:
        """Return a value of any kind: numbers, bytes, lists, and structs as dictionaries by field number."""
        if depth > _MOST_DEPTH:
            raise SwitchError(f"a reply nests deeper than {_MOST_DEPTH} levels")
        if kind in _NUMBERS:
            return self.number(kind)
        if kind == STRING:
            return self.bytes(self.number(I32))
        if kind == STRUCT:
            fields = {}
            while field := self.number(BYTE):
                number = self.number(I16)
                fields[number] = self.value(field, depth + 1)
            return fields
        if kind in (LIST, SET):
            inner, count = self.number(BYTE), self._count()
            return [self.value(inner, depth + 1) for _ in range(count)]
        if kind == MAP:
            key, inner, count = self.number(BYTE), self.number(BYTE), self._count()
            return [(self.value(key, depth + 1), self.value(inner, depth + 1)) for _ in range(count)]
        raise SwitchError(f"a reply has a value of unknown kind {kind}")

    def _count(self) -> int:
        count: int = self.number(I32)
        if not 0 <= count <= _MOST_ITEMS:
            raise SwitchError(f"a reply has a list of {count} values (allowed: up to {_MOST_ITEMS})")
        return count


class Switch:
    """A connection to a switch's Thrift server."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._sequence = 0

    @classmethod
    def connect(cls, port: int, *, host: str = "127.0.0.1", timeout: float = 30.0) -> Switch:
        """Connect to the server at a TCP port. Raises `OSError`."""
        connection = socket.create_connection((host, port), timeout=timeout)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return cls(connection)

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def call(self, service: str, name: str, *arguments: Argument) -> Any:
        """Call a function and return its result. Raises `SwitchError`, `OSError`."""
        self._sequence += 1
        head = struct.pack(">I", VERSION | CALL) + text(f"{service}:{name}").payload + i32(self._sequence).payload
        self._connection.sendall(head + record(dict(enumerate(arguments, 1))).payload)
        kind, given, sequence = self._head()
        result = Reader(self._receive).value(STRUCT)
        if kind == EXCEPTION:
            raise SwitchError(f"{name}: {result.get(1, b'refused').decode(errors='replace')}")
        if (kind, given, sequence) != (REPLY, name.encode(), self._sequence):
            raise SwitchError(f"{name}: a reply of kind {kind} to {given!r}, call {sequence}")
        if refusals := {number: value for number, value in result.items() if number}:
            raise SwitchError(f"{name}: refused, {refusals}")
        return result.get(0)

    def read(self, register: str, place: int) -> int:
        """Return a register's value."""
        return int(self.call("standard", "bm_register_read", i32(0), text(register), i32(place)))

    def read_all(self, register: str) -> list[int]:
        """Return the values of an array of registers."""
        return [int(value) for value in self.call("standard", "bm_register_read_all", i32(0), text(register))]

    def write(self, register: str, place: int, value: int) -> None:
        """Write a register."""
        self.call("standard", "bm_register_write", i32(0), text(register), i32(place), i64(value))

    def add_route(self, destination: bytes, prefix: int, next_hop: bytes, port: int) -> None:
        """Add an entry of table ``route``."""
        key = record({1: i32(LPM), 3: record({1: binary(destination), 2: i32(prefix)})})
        self._add("Enter.route", [key], "Enter.forward", [next_hop, port.to_bytes(2)], {})

    def add_class(self, source: tuple[bytes, bytes], destination: tuple[bytes, bytes], queue: int) -> None:
        """Add an entry of table ``classify``: each side as address and mask."""
        key = [
            record({1: i32(TERNARY), 4: record({1: binary(value), 2: binary(mask)})})
            for value, mask in (source, destination)
        ]
        self._add("Enter.classify", key, "Enter.set_queue", [queue.to_bytes(1)], {1: i32(1)})

    def mirror(self, session: int, port: int) -> None:
        """Let a clone session send to a port."""
        self.call("simple_switch", "mirroring_session_add", i32(session), record({1: i32(port)}))

    def set_rate(self, port: int, packets_per_second: int) -> None:
        """Limit each priority queue of a port; 0 is no limit."""
        self.call("simple_switch", "set_egress_queue_rate", i32(port), i64(packets_per_second))

    def _add(
        self, table: str, key: list[Argument], action: str, data: list[bytes], options: dict[int, Argument]
    ) -> None:
        values = items(STRING, [binary(value) for value in data])
        arguments = i32(0), text(table), items(STRUCT, key), text(action), values, record(options)
        self.call("standard", "bm_mt_add_entry", *arguments)

    def _head(self) -> tuple[int, bytes, int]:
        version, length = struct.unpack(">Ii", self._receive(8))
        if version & 0xFFFFFF00 != VERSION or not 0 <= length <= 1024:
            raise SwitchError(f"no strict Thrift reply: begins with {version:#x}")
        name = self._receive(length)
        return version & 0xFF, name, struct.unpack(">i", self._receive(4))[0]

    def _receive(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            part = self._connection.recv(count - len(data))
            if not part:
                raise SwitchError("the switch has closed the connection")
            data += part
        return data
