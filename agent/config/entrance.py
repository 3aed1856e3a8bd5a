"""Which requests may come in by a port of this machine: the check of host, origin and token for every server here.

A page on the web that makes its own name lead to this machine (DNS rebinding) sends that name as the host, and its
address as the origin; so both must be the server's own, exactly. What a server answers to who is refused is its own.
"""

import hmac
from collections.abc import Sequence
from typing import Literal, TypeAlias

from agent.dataclass import dataclass

Refusal: TypeAlias = Literal["host", "origin"]
LOCAL_NAMES = ("127.0.0.1", "localhost", "[::1]")
"""The names by which programs on this machine reach it."""


@dataclass(frozen=True, slots=True)
class Entrance:
    """The values of `Host` and `Origin` that are a server's own, in lower case; a browser writes an origin so."""

    hosts: frozenset[str]
    origins: frozenset[str]

    def refuses(self, hosts: Sequence[str], origins: Sequence[str]) -> Refusal | None:
        """Why a request with these headers may not come in; None if it may. A program sends no origin."""
        if len(hosts) != 1 or hosts[0].strip().lower() not in self.hosts:
            return "host"
        if len(origins) > 1 or any(each not in self.origins for each in origins):
            return "origin"
        return None


def local_entrance(port: int) -> Entrance:
    """The entrance of a server for programs on this machine, without TLS."""
    hosts = frozenset(f"{name}:{port}" for name in LOCAL_NAMES)
    return Entrance(hosts, frozenset(f"http://{host}" for host in hosts))


def bearer_token(authorization: Sequence[str]) -> str:
    """The token in the headers `Authorization`; empty without one, for another scheme, and for several headers."""
    if len(authorization) != 1:
        return ""
    scheme, _, token = authorization[0].strip().partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def is_token(candidate: str, token: str) -> bool:
    """True for the token itself; takes the same time for every wrong one."""
    return bool(candidate) and hmac.compare_digest(candidate.encode("utf-8", "replace"), token.encode())
