"""Hostile connections, byte by byte, from an address of loopback that no honest visitor of a test has."""

import socket
import struct
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit

HOSTILE = "127.0.0.9"
PING, PONG, CONTINUATION, BINARY = 9, 10, 0, 2
_UPGRADE = (
    "GET /_stcore/stream HTTP/1.1\r\n{extra}Host: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: streamlit\r\n"
    "Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n"
)


@contextmanager
def connect(address: str, source: str = HOSTILE) -> Iterator[socket.socket]:
    """Provide a connection from `source`, which gives up on whatever takes over 30 seconds."""
    place = urlsplit(address)
    with socket.create_connection((place.hostname, place.port), 30, (source, 0)) as connection:
        yield connection


@contextmanager
def open_websocket(address: str, source: str = HOSTILE, *, said_to_be: str = "") -> Iterator[socket.socket]:
    """Open a websocket of the dashboard that sends frames as they are given; a proxy may say whose it is."""
    with connect(address, source) as connection:
        extra = f"X-Forwarded-For: {said_to_be}\r\n" if said_to_be else ""
        connection.sendall(_UPGRADE.format(host=urlsplit(address).netloc, extra=extra).encode())
        head = b""
        while b"\r\n\r\n" not in head:
            head += connection.recv(1)
        assert b" 101 " in head, head
        yield connection


def frame(opcode: int, content: bytes = b"", *, is_last: bool = True, is_deflated: bool = False) -> bytes:
    """Make a frame of a websocket, masked with nothing."""
    head = opcode | (0x80 if is_last else 0) | (0x40 if is_deflated else 0)
    size = len(content)
    length = struct.pack("!B", 128 | size) if size < 126 else struct.pack("!BH", 128 | 126, size)
    return bytes([head]) + length + bytes(4) + content


def deflate(message: bytes) -> bytes:
    """Make a message as permessage-deflate sends it, which refers to nothing before it."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -12)
    content = packer.compress(message) + packer.flush(zlib.Z_FULL_FLUSH)
    return frame(BINARY, content[:-4], is_deflated=True)


def send_for(connection: socket.socket, data: bytes, seconds: float, most: int) -> bool:
    """Send `data` again and again, and read nothing: for so long, or until so many bytes have gone. Whether the other
    end has closed before that.
    """
    sent, until = 0, time.monotonic() + seconds
    connection.settimeout(0.5)
    while sent < most and time.monotonic() < until:
        try:
            sent += connection.send(data)
        except TimeoutError:
            continue
        except OSError:
            return True
    return False


def is_closed(connection: socket.socket) -> bool:
    """Whether the other end has closed, of which nothing else has come."""
    try:
        return connection.recv(1, socket.MSG_DONTWAIT | socket.MSG_PEEK) == b""
    except BlockingIOError:
        return False
    except ConnectionError:
        return True


def closing_code(connection: socket.socket, seconds: float = 60.0) -> int:
    """Wait for a close frame's code; 0 where the connection ends without one, or none comes in time."""
    until, read = time.monotonic() + seconds, b""
    connection.settimeout(1.0)
    with suppress(ConnectionError):
        while time.monotonic() < until:
            try:
                piece = connection.recv(1 << 16)
            except TimeoutError:
                continue
            if not piece:
                break
            read += piece
            if code := _closing_code(read):
                return code
    return 0


def _closing_code(read: bytes) -> int:
    """Of whole frames from the server, one after another."""
    at = 0
    while at + 2 <= len(read):
        opcode, size, start = read[at] & 15, read[at + 1] & 127, at + 2
        if size >= 126:
            width = 2 if size == 126 else 8
            size, start = int.from_bytes(read[start : start + width], "big"), start + width
        if opcode == 8:
            return int.from_bytes(read[start : start + 2], "big")
        at = start + size
    return 0
