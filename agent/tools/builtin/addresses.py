"""Decides which addresses a tool may connect to: those of the public internet, not this machine or a private network.

A name is checked by the address that it resolves to, so that no spelling of `127.0.0.1` bypasses the check. Resolving
and connecting are left to `web`.
"""

import ipaddress
import socket
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

_CLOSED_V4 = tuple(
    (IPv4Network(network), why)
    for network, why in (
        ("0.0.0.0/8", "means this machine"),
        ("10.0.0.0/8", "is in a private network"),
        ("100.64.0.0/10", "is in a provider's inner network"),
        ("127.0.0.0/8", "is this machine"),
        ("168.63.129.16/32", "is a cloud's own service"),
        ("169.254.0.0/16", "is on the local link"),
        ("172.16.0.0/12", "is in a private network"),
        ("192.0.0.0/24", "is reserved"),
        ("192.0.2.0/24", "is for documentation"),
        ("192.88.99.0/24", "is a relay into other networks"),
        ("192.168.0.0/16", "is in a private network"),
        ("198.18.0.0/15", "is for measurements"),
        ("198.51.100.0/24", "is for documentation"),
        ("203.0.113.0/24", "is for documentation"),
        ("224.0.0.0/4", "is for many receivers"),
        ("240.0.0.0/4", "is reserved"),
    )
)
"""RFC 6890 and its successors, and the one public address at which a cloud serves its machines' secrets."""

_OPEN_V6 = IPv6Network("2000::/3")
"""All assigned global unicast addresses; mapped, compatible, NAT64, private and local addresses are outside."""

_CLOSED_V6 = tuple(
    (IPv6Network(network), why)
    for network, why in (
        ("2001::/23", "carries other protocols (Teredo among them)"),
        ("2001:db8::/32", "is for documentation"),
        ("2002::/16", "stands for an IPv4 address (6to4)"),
        ("3fff::/20", "is for documentation"),
    )
)
_ISATAP = frozenset({0x00005EFE, 0x02005EFE})
"""The third quarter of an IPv6 address whose last quarter is an IPv4 address in a private network (RFC 5214)."""


def refusal(address: str) -> str:
    """The reason not to connect to an address, in a few words; empty for a global unicast address."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return "is no plain address"
    return _refusal_v4(parsed) if isinstance(parsed, IPv4Address) else _refusal_v6(parsed)


def _refusal_v4(address: IPv4Address) -> str:
    return next((why for network, why in _CLOSED_V4 if address in network), "")


def _refusal_v6(address: IPv6Address) -> str:
    if address.scope_id is not None:
        return "is on the local link"
    if address not in _OPEN_V6:
        return "is not on the open internet"
    if (int(address) >> 32) & 0xFFFFFFFF in _ISATAP:
        return "stands for an IPv4 address (ISATAP)"
    return next((why for network, why in _CLOSED_V6 if address in network), "")


def is_ours(address: str) -> bool:
    """True if this machine has the address: a socket can only be bound to its own addresses."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.bind((address, 0))
    except OSError:
        return False
    return True
