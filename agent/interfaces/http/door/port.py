"""A port that is asked for, and whether it is free, the hosts and origins that are its own, and a port that is open."""

import socket
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

from agent.config.entrance import Entrance
from agent.dataclass import dataclass
from agent.errors import UserError, os_reason

LOOPBACK = "127.0.0.1"
_THIS_MACHINE = {LOOPBACK, "::1"}
_EVERY_ADDRESS = {"0.0.0.0", "::"}


@dataclass(frozen=True, slots=True)
class Tls:
    """The files of a certificate and its key, for a port that other machines reach."""

    certificate: Path
    key: Path


@dataclass(frozen=True, slots=True)
class PortRequest:
    """A port to listen on (0: any that is free). `origin` is the public one, where the server has another name for its
    readers: that of a proxy, or of this machine."""

    port: int
    address: str = LOOPBACK
    origin: str = ""
    tls: Tls | None = None

    def check(self) -> None:
        """Raise `UserError` for a port by which other machines would come in unencrypted or unknown."""
        is_here = self.address in _THIS_MACHINE
        if not is_here and not (self.tls or self.origin):
            raise UserError(
                "other machines may only come in through TLS",
                hint="give --certificate and --key, or the --proxy that has them",
            )
        if self.address in _EVERY_ADDRESS and not self.origin:
            raise UserError(
                "the name by which other machines reach this one is needed",
                hint="add it as --proxy https://NAME:PORT, or listen on one address only",
            )
        if self.origin and not _is_origin(self.origin):
            raise UserError("{origin} is no origin", hint="such as https://vault.example.org", origin=self.origin)


def bound_socket(wanted: PortRequest) -> socket.socket:
    """A socket with the port that was asked for; raises `UserError` if it is taken or may not be used."""
    wanted.check()
    found = socket.socket(socket.AF_INET6 if ":" in wanted.address else socket.AF_INET, socket.SOCK_STREAM)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((wanted.address, wanted.port))
    except OSError as error:
        found.close()
        raise UserError(
            "port {port} cannot be opened: {reason}",
            hint="give another one with --port, or 0 for any that is free",
            port=wanted.port,
            reason=os_reason(error),
        ) from None
    return found


@dataclass(frozen=True, slots=True)
class OpenPort:
    """A port that is open: its `url`, a link that signs one browser in once, and the file with the token."""

    url: str
    open: str
    token_file: Path
    close: Callable[[], None]


@dataclass(frozen=True, slots=True)
class Listener:
    """Where requests come in: by which names, at which port (0: none), and whether the server's readers reach it by
    TLS."""

    entrance: Entrance
    port: int = 0
    is_secure: bool = False


def listener_of(wanted: PortRequest, port: int) -> Listener:
    """The listener of a port that was asked for; `port` is the one that it got."""
    if wanted.origin:
        origin = wanted.origin.lower()
        entrance = Entrance(frozenset({origin.partition("://")[2]}), frozenset({origin}))
        return Listener(entrance, port, origin.startswith("https:"))
    scheme, default = ("https", 443) if wanted.tls else ("http", 80)
    name = bracketed(wanted.address)
    names = {name, "localhost", LOOPBACK} if wanted.address in _THIS_MACHINE else {name}
    hosts = {f"{each}:{port}" for each in names} | (names if port == default else set())
    entrance = Entrance(frozenset(hosts), frozenset(f"{scheme}://{host}" for host in hosts))
    return Listener(entrance, port, scheme == "https")


def bracketed(address: str) -> str:
    """The address as it stands in a URL."""
    return f"[{address}]" if ":" in address else address


def _is_origin(text: str) -> bool:
    """True for a scheme and a host, with or without a port; without TLS only for a name of this machine."""
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError:
        return False
    if not parts.hostname or text != f"{parts.scheme}://{parts.netloc}" or "@" in parts.netloc:
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in {*_THIS_MACHINE, "localhost"})
