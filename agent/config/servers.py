"""The MCP servers of `tools.servers`, by their names: how each is started or reached. Of the machine, never of a vault.

A secret is given by reference (`env:NAME`, `keyring:NAME`, `file:PATH`) and looked up when the server is started.
"""

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import field
from urllib.parse import urlsplit

from agent.config.masking import SHORTEST
from agent.config.named_entries import NamedEntry, entries_of, home_path
from agent.config.secrets import Secret
from agent.dataclass import dataclass
from agent.errors import ConfigError
from agent.texts import Sentence

_KEY = "tools.servers"
FIELDS = ("command", "args", "env", "cwd", "url", "headers", "token", "seconds", "off")
"""What one may have. `type`, which other programs write, says nothing that is not known."""
_SECRET = re.compile(r"(?i).*(?:token|key|secret|passw(?:or)?d|auth(?:orization)?|credentials?|cookie)")
_SECONDS = 60.0
_LONGEST = 3600.0


@dataclass(frozen=True, slots=True)
class ServerConfig:
    """One server: a `command` with its arguments, or an address.

    `environment` and `headers` are values, or references to secrets, by name; `token` is sent as a bearer token.
    `folder` is the working folder of the command, empty for the person's home. `seconds`: the longest time of a call.
    """

    name: str
    command: tuple[str, ...] = ()
    url: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    token: str = ""
    folder: str = ""
    seconds: float = _SECONDS

    @property
    def place(self) -> str:
        """What is started, or the host that is reached, for people: without arguments, which may hold a secret."""
        return self.command[0] if self.command else urlsplit(self.url).netloc.rpartition("@")[2]


def parse_servers(text: str) -> tuple[ServerConfig, ...]:
    """The servers in the JSON of `tools.servers` that are not off; raises `ConfigError` with the key that is wrong."""
    return tuple(filter(None, map(_server, entries_of(_KEY, text))))


def _server(entry: NamedEntry) -> ServerConfig | None:
    if entry.fields.keys() == {""}:  # a text alone: an address or a command
        value = entry.text("")
        entry = NamedEntry(_KEY, entry.name, {"url" if "://" in value.partition(" ")[0] else "command": value})
    entry.refuse_others((*FIELDS, "type"))
    if entry.truth("off"):
        return None
    command, url = tuple(_command(entry)), entry.text("url")
    if bool(command) == bool(url):
        hint = "a server on this machine has a command, one elsewhere a url"
        raise ConfigError("{key} needs either a command or a url", hint=hint, key=entry.key)
    environment, headers, token = entry.mapping("env"), entry.mapping("headers"), entry.text("token")
    _refuse_keys(entry, "env", environment)
    _refuse_keys(entry, "headers", headers)
    _refuse_keys(entry, "", {"token": token} if token else {})
    if url:
        _check_address(entry, url)
    return ServerConfig(
        entry.name, command, url, environment, headers, token, home_path(entry.text("cwd")), _seconds(entry)
    )


def _command(entry: NamedEntry) -> Iterator[str]:
    try:
        words = shlex.split(entry.text("command"))
    except ValueError as error:
        raise ConfigError("{key}.command has a quote that is not closed", key=entry.key) from error
    yield from (home_path(each) for each in (*words, *entry.words("args")))


def _refuse_keys(entry: NamedEntry, field: str, values: Mapping[str, str]) -> None:
    for name, value in values.items():
        if _SECRET.fullmatch(name) and Secret(value).is_literal and len(value) >= SHORTEST:
            raise ConfigError(
                "{key} holds a key itself",
                hint="name its place instead: env:NAME, keyring:NAME or file:PATH",
                key=".".join(filter(None, (entry.key, field, name))),
            )


def _check_address(entry: NamedEntry, url: str) -> None:
    try:
        parts = urlsplit(url)
        is_usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_usable = False
    if not is_usable:
        raise entry.wrong("url", Sentence("an address such as https://example.org/mcp"))


def _seconds(entry: NamedEntry) -> float:
    try:
        found = float(entry.text("seconds") or _SECONDS)
    except ValueError:
        found = 0.0
    if not 1 <= found <= _LONGEST:
        raise entry.wrong("seconds", Sentence("a number from 1 to 3,600"))
    return found
