"""The network of one customer, by which visitors share limits."""

from functools import lru_cache
from ipaddress import ip_address, ip_network


@lru_cache(maxsize=10_000)
def network_of(address: str) -> str:
    """Return the network of one customer: an IPv6 address's /64, an IPv4 address itself, also where it is written
    as IPv6 (`::ffff:192.0.2.1`). Another text is a customer of its own.
    """
    try:
        found = ip_address(address)
    except ValueError:
        return address
    if found.version == 6:
        found = found.ipv4_mapped or found
    return str(found) if found.version == 4 else str(ip_network((int(found), 64), strict=False))
