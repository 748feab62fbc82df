"""Find the network of a visitor's address, because limits are shared by all addresses of one customer."""

from functools import lru_cache
from ipaddress import ip_address, ip_network


@lru_cache(maxsize=10_000)
def network_of(address: str) -> str:
    """Return the network that belongs to one customer: the /64 of an IPv6 address, or an IPv4 address itself.

    An IPv4 address that is written as IPv6 (`::ffff:192.0.2.1`) counts as IPv4. Text that is not an address is returned
    unchanged.
    """
    try:
        found = ip_address(address)
    except ValueError:
        return address
    if found.version == 6:
        found = found.ipv4_mapped or found
    return str(found) if found.version == 4 else str(ip_network((int(found), 64), strict=False))
