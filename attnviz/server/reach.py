"""The addresses at which visitors find the server. They are printed at the start, the first also as a QR code."""

import io
import socket
import struct
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import ip_address

import segno

from attnviz.server.settings import Settings
from attnviz.server.telemetry import Say

_EVERY = {"0.0.0.0": socket.AF_INET, "::": socket.AF_INET6}  # all addresses of the machine
# Of documentation, which no machine has: to connect a UDP socket sends nothing, and says which address would be used.
_NOWHERE = {socket.AF_INET: "192.0.2.1", socket.AF_INET6: "2001:db8::1"}
_SIOCGIFADDR = 0x8915  # Linux: an interface's IPv4 address
_WHITE_ON_BLACK, _AS_BEFORE = "\x1b[97;40m", "\x1b[0m"  # a terminal's own colours may be the other way round


@dataclass(frozen=True)
class Reach:
    """The addresses that visitors can open, the most likely first, and a note about them."""

    addresses: tuple[str, ...] = ()
    note: str = ""
    is_for_others: bool = True


def announce(settings: Settings, say: Say) -> None:
    """Print the addresses and a QR code if standard output is a terminal; otherwise write them into the log."""
    found = reach(settings)
    if sys.stdout.isatty():
        sys.stdout.write("\n".join(("", *terminal_lines(found), "")))
        sys.stdout.flush()
    else:
        say("reachable", addresses=found.addresses, note=found.note)


def reach(settings: Settings) -> Reach:
    """Return the addresses of a server with these settings."""
    if settings.public_address:
        return Reach((settings.public_root,))
    names = tuple(host for host in settings.hosts if not host.startswith("*"))
    if settings.proxies or (settings.is_local and settings.hosts):
        return Reach(
            note="Visitors open the address of the proxy before this server. Please set public_address to print it."
        )
    if settings.hosts and not names and "*" not in settings.hosts:
        return Reach(
            note=f"Visitors open a name of {', '.join(settings.hosts)}. Please set public_address to print it."
        )
    if not settings.is_local:
        return _network_reach(settings, names)
    note = "Only this machine reaches it. To let others in, set host: --host 0.0.0.0 (docs/how-to/hosting.md)."
    return Reach((_address(settings, settings.host),), note, is_for_others=False)


def _network_reach(settings: Settings, names: tuple[str, ...]) -> Reach:
    """Return addresses with the host names that the settings allow, or with the machine's own addresses without any."""
    own = own_addresses(_EVERY[settings.host]) if settings.host in _EVERY else (settings.host,)
    if not own:
        note = (
            "This machine is not in a network now. In a network, others reach it at its address there, port "
            f"{settings.port}."
        )
        return Reach(tuple(_address(settings, name) for name in names), note)
    foreign = [name for name in names if _is_address(name) and name not in own]
    note = ""
    if foreign:
        note = (
            f"hosts has {', '.join(foreign)}, which is not an address of this machine; {', '.join(own)} is. Unless a "
            "router passes it on, set hosts to the machine's own."
        )
    return Reach(tuple(_address(settings, name) for name in names or own), note)


def _address(settings: Settings, host: str) -> str:
    scheme, usual = ("https", 443) if settings.is_tls else ("http", 80)
    host = f"[{host}]" if ":" in host and not host.startswith("[") else host
    return f"{scheme}://{host}" + ("" if settings.port == usual else f":{settings.port}") + settings.base_path


def _is_address(name: str) -> bool:
    with suppress(ValueError):
        return bool(ip_address(name.strip("[]")))
    return False


def own_addresses(family: socket.AddressFamily) -> tuple[str, ...]:
    """Return the machine's network addresses without loopback, the one with the default route first."""
    found = dict.fromkeys((*_outgoing_addresses(family), *_interface_addresses(family)))
    return tuple(one for one in found if not (ip_address(one).is_loopback or ip_address(one).is_link_local))


def _outgoing_addresses(family: socket.AddressFamily) -> Iterator[str]:
    with socket.socket(family, socket.SOCK_DGRAM) as probe, suppress(OSError):  # no way out
        probe.connect((_NOWHERE[family], 9))
        yield probe.getsockname()[0]


def _interface_addresses(family: socket.AddressFamily) -> Iterator[str]:
    """Yield this machine's addresses: on Linux one for each network interface, elsewhere those of its host name."""
    if family == socket.AF_INET and sys.platform == "linux":
        from fcntl import ioctl

        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            for _, name in socket.if_nameindex():
                with suppress(OSError):  # an interface without an address
                    yield socket.inet_ntoa(ioctl(probe, _SIOCGIFADDR, struct.pack("256s", name.encode()))[20:24])
        return
    with suppress(OSError):
        yield from (str(one[4][0]) for one in socket.getaddrinfo(socket.gethostname(), None, family))


def terminal_lines(found: Reach) -> Iterator[str]:
    """Yield the lines that a terminal shows: addresses, a QR code, and the note."""
    if found.addresses and not found.is_for_others:
        yield f"attnviz is at {found.addresses[0]}"
    elif found.addresses:
        yield f"Students open {found.addresses[0]}"
        yield from _qr_code(found.addresses[0])
    if others := found.addresses[1:]:
        yield f"or, from another network of this machine, {' or '.join(others)}"
    if found.note:
        yield found.note


def _qr_code(address: str) -> Iterator[str]:
    drawn = io.StringIO()
    segno.make(address, error="m").terminal(out=drawn, border=4, compact=True)
    yield from (f"{_WHITE_ON_BLACK}{line}{_AS_BEFORE}" for line in drawn.getvalue().splitlines())
