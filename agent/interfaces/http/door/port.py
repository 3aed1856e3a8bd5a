"""A port that is asked for, and one that is open."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

LOOPBACK = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Tls:
    """The files of a certificate and its key, for a port that other machines reach."""

    certificate: Path
    key: Path


@dataclass(frozen=True, slots=True)
class PortRequest:
    """A port to listen on (0: any that is free). `origin` is the public one where a proxy stands before it."""

    port: int
    address: str = LOOPBACK
    origin: str = ""
    tls: Tls | None = None


@dataclass(frozen=True, slots=True)
class OpenPort:
    """A port that is open: its `url`, a link that signs one browser in once, and the file with the token."""

    url: str
    open: str
    token_file: Path
    close: Callable[[], None]
