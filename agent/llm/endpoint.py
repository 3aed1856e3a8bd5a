"""The endpoint of a model: the address, limits and dialect that a wire needs.

`presets` builds it from the settings; it holds a reference to the key, not the key.
"""

from collections.abc import Mapping
from dataclasses import field
from ipaddress import ip_address
from typing import Literal, TypeAlias
from urllib.parse import SplitResult, urlsplit

from agent.config.secrets import Secret
from agent.config.values import quote_for_message
from agent.dataclass import dataclass
from agent.errors import ConfigError
from agent.llm.messages import Json, Model

Limit: TypeAlias = Literal["max_tokens", "max_completion_tokens"]
"""The name of the field for the longest answer on OpenAI-compatible servers."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A model on a server.

    `timeout`: seconds of silence allowed. `retries`: further attempts of a call. `limit`: the name of the field for the
    longest answer. `effort`: how much the model thinks, empty for its own default. `extra`: request fields for this
    model, left out after a server has refused them; `fields`: those that the person has set, always sent. `is_guess`:
    the model's window is not known, so the server is asked for it. For messages: `section` has the settings of the
    server and its key, `model_section` those of the model and its window.
    """

    base_url: str
    model: Model
    key: Secret = Secret("")
    timeout: float = 120.0
    retries: int = 4
    limit: Limit = "max_tokens"
    extra: Mapping[str, Json] = field(default_factory=dict)
    effort: str = ""
    fields: Mapping[str, Json] = field(default_factory=dict)
    is_guess: bool = False
    section: str = "llm"
    model_section: str = "llm"

    @property
    def place(self) -> str:
        """The server's scheme, host and port, for error messages."""
        parts = urlsplit(self.base_url)
        return f"{parts.scheme}://{parts.netloc}"

    @property
    def name(self) -> str:
        """The model and its server, which together are one origin of thinking and of limits."""
        return f"{self.model.name} at {self.base_url}"

    @property
    def secure(self) -> bool:
        """True if the connection uses TLS."""
        return self.base_url.startswith("https:")

    @property
    def local(self) -> bool:
        """True if the server is on this machine."""
        return is_this_machine(urlsplit(self.base_url).hostname or "")

    @property
    def hosted(self) -> bool:
        """True if the server is not on this machine nor in a private network."""
        return is_public(self.base_url)


def is_this_machine(host: str) -> bool:
    """True for a host name or an address of this machine itself."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def is_public(url: str) -> bool:
    """True if the host of an address is neither this machine nor one of a private network."""
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_global
    except ValueError:
        return "." in host and not is_this_machine(host) and not host.endswith((".local", ".lan", ".internal"))


def http_address(text: str) -> SplitResult | None:
    """The parts of an address that a request can be sent to; None for any other text."""
    try:
        parts = urlsplit(text)
        host, _ = parts.hostname, parts.port
        (host or "").encode("idna")
    except ValueError:
        return None
    is_usable = bool(host) and parts.scheme in ("http", "https") and text.isprintable() and " " not in text
    return parts if is_usable else None


def base_url(text: str, section: str = "llm") -> str:
    """`text` as a server's address without a trailing slash; raises `ConfigError` for an invalid address, which names
    the settings `section`."""
    example = "http://127.0.0.1:11434/v1"
    parts = http_address(text)
    if parts is None:
        raise ConfigError(
            "{section}.base_url is not a server's address: {text}",
            hint="set it to one such as {example}",
            section=section,
            text=_safe(text),
            example=example,
        )
    if "@" in parts.netloc:
        raise ConfigError(
            "{section}.base_url must not hold a name or password",
            hint="put the key into {section}.api_key, as env:NAME",
            section=section,
        )
    if parts.query or parts.fragment or text.endswith(("?", "#")):
        raise ConfigError(
            "{section}.base_url must end with its path: {text}",
            hint="set it to one such as {example}",
            section=section,
            text=_safe(text),
            example=example,
        )
    return text.rstrip("/")


def _safe(text: str) -> str:
    """An address for an error message, without anything that may be a password."""
    return quote_for_message(text) if "@" not in text and "?" not in text else "(not shown: it may hold a secret)"
