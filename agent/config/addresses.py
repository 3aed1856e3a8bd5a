"""Addresses in a text without what opens a door: logins, and the keys of services that have them in their address.

What is shown of an address is what is known to be harmless (`without_keys`), as each service hides its key in a place
of its own. What is masked wherever it stands (`keys_in`) is less: only parts that are certainly a login or a key, and
that are no words which a text may have.
"""

import re
from collections.abc import Iterator

from agent.dataclass import dataclass

HIDDEN = "***"
_ADDRESS = re.compile(r"(?<![A-Za-z0-9+.-])([A-Za-z][A-Za-z0-9+.-]*)://([^\s\"'<>`]+)")
_LOGIN = re.compile(r"(?<=://)(?:[^/\s?#]*:(?!\d*(?:[/?#\s]|\Z))\S*@|[^/?#\s]*@)")
"""All up to the last @ of the host's part; of a password with a slash in it, up to the last one of the address."""
_REST = re.compile(r"([^/?#]*)([^?#]*)(\?[^#]*|)(#.*|)", re.DOTALL)
_WEB = {"http", "https", "ws", "wss"}
_PLAIN = {*_WEB, "ssh", "git", "git+ssh", "sftp", "ftp", "ftps", "file", "smtp", "smtps", "imap", "imaps", "socks5",
          "socks5h", "socks4", "unix", "obsidian"}  # fmt: skip
"""The schemes of addresses that have a host after `://`; of any other one nothing is known."""
_WITH_NAMES = {"ssh", "git", "git+ssh", "sftp"}
"""Schemes whose login without a password is the name of a user."""
_HARMLESS = {"api-version", "format", "lang", "language", "limit", "page", "region", "v", "version", "wait"}
_SECRET = re.compile(r"(?i).*(?:token|key|secret|sig|signature|passw(?:or)?d|pwd|auth)")
_WORD = re.compile(r"[^\W\d_]{0,15}|\d{0,8}|[^\W_]{0,7}")
_BETWEEN = re.compile(r"[-_.~+,]")
_SHOWN_SEGMENTS = {
    "hooks.slack.com": 1,
    "discord.com": 2,
    "discordapp.com": 2,
    "open.feishu.cn": 4,
    "open.larksuite.com": 4,
    "api.telegram.org": 0,
    "oapi.dingtalk.com": 2,
    "api.dingtalk.com": 2,
    "qyapi.weixin.qq.com": 3,
    "webhook.office.com": 0,
    "chat.googleapis.com": 0,
    "maker.ifttt.com": 0,
    "hooks.zapier.com": 0,
    "hc-ping.com": 0,
    "api.day.app": 0,
    "sctapi.ftqq.com": 0,
    "ntfy.sh": 0,
}
"""The first parts of the path that may be shown, by host; the rest is a key."""


@dataclass(frozen=True, slots=True)
class _Parts:
    """An address in its parts, each with the sign before it but for the login; joined they are the address."""

    scheme: str
    login: str
    host: str
    path: str
    query: str
    fragment: str

    @property
    def name(self) -> str:
        """The host without its port, in lower case."""
        return re.sub(r":\d*\Z", "", self.host).lower()

    @property
    def visible_segments(self) -> int | None:
        """The parts of the path that may be shown for a service that is known; None for any other."""
        known = (most for host, most in _SHOWN_SEGMENTS.items() if self.name == host or self.name.endswith(f".{host}"))
        return next(known, None)


def without_login(text: str) -> str:
    """The text without the logins and tokens that stand before the hosts of its addresses."""
    return _LOGIN.sub("", text)


def without_keys(text: str) -> str:
    """The text with `***` for everything in its addresses that may be a login or a key."""
    return _ADDRESS.sub(lambda found: _masked(_parsed(found)), text) if "://" in text else text


def keys_in(text: str) -> Iterator[str]:
    """The logins and keys in the addresses of a text, as they stand there and decoded."""
    for found in _ADDRESS.finditer(text) if "://" in text else ():
        for key in filter(None, _keys(_parsed(found))):
            yield from {key, _decoded(key)}


def _parsed(found: re.Match[str]) -> _Parts:
    whole = found[0]
    start = len(found[1]) + 3
    login = _LOGIN.search(whole, start - 3)
    after = login.end() if login else start
    parts = _REST.match(whole, after)
    assert parts is not None  # it matches any text
    return _Parts(found[1].lower(), login[0][:-1] if login else "", *parts.groups())


def _masked(parts: _Parts) -> str:
    if parts.scheme not in _PLAIN:
        return f"{parts.scheme}://{HIDDEN}"
    is_name = parts.scheme in _WITH_NAMES and ":" not in parts.login
    login = f"{parts.login if is_name else HIDDEN}@" if parts.login else ""
    if parts.scheme not in _WEB:
        return f"{parts.scheme}://{login}{parts.host}{parts.path}{_masked_query(parts.query)}{parts.fragment}"
    fragment = parts.fragment if _is_plain(parts.fragment[1:]) else f"#{HIDDEN}"
    return f"{parts.scheme}://{login}{parts.host}{_masked_path(parts)}{_masked_query(parts.query)}{fragment}"


def _masked_path(parts: _Parts) -> str:
    segments, most = parts.path.split("/")[1:], parts.visible_segments
    visible = segments if most is None else segments[:most]
    rest = [HIDDEN] if any(segments[len(visible) :]) else segments[len(visible) :]
    return "".join(f"/{each if _is_plain(each) else HIDDEN}" for each in visible) + "".join(f"/{each}" for each in rest)


def _is_plain(segment: str) -> bool:
    """True for words and short numbers, as people name things; not for what a machine has drawn."""
    return all(_WORD.fullmatch(word) for word in _BETWEEN.split(_decoded(segment)))


def _decoded(part: str) -> str:
    from urllib.parse import unquote  # 5 ms to import, which `--help` saves

    return unquote(part) if "%" in part else part


def _masked_query(query: str) -> str:
    fields = [each.partition("=") for each in query[1:].split("&")] if query else []
    masked = (
        f"{name}{sign}{value if not value or name.lower() in _HARMLESS else HIDDEN}" if sign else HIDDEN
        for name, sign, value in fields
    )
    return "?" * bool(query) + "&".join(masked)


def _keys(parts: _Parts) -> Iterator[str]:
    name, _, password = parts.login.partition(":")
    if parts.login and not (parts.scheme in _WITH_NAMES and not password):
        yield f"{parts.login}@{parts.host}"
        if not (password or name).isalpha():
            yield from (password or name, parts.login)
    most = parts.visible_segments
    if most is not None:
        hidden = parts.path.split("/")[1 + most :]
        yield from (each for each in ("/".join(hidden), *hidden) if not _is_plain(each))
    for field in parts.query[1:].split("&"):
        key, _, value = field.partition("=")
        if _SECRET.fullmatch(key) or (most is not None and key.lower() not in _HARMLESS):
            yield value
