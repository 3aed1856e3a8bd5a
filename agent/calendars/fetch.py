"""Requests for calendars: one at a time, limited in size and time, to the host that the person has named and no other.

No proxy, cookie or key of the environment is used. An address may let everybody in who knows it, so no message has it.
"""

import zlib
from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from agent.calendars.reading import UnreadableCalendar
from agent.clock import Clock
from agent.dataclass import dataclass
from agent.lazy import later
from agent.llm.endpoint import is_public, is_this_machine
from agent.texts import Sentence

if TYPE_CHECKING:
    import httpx

    from agent.llm.exchange import certificates
else:
    certificates = later("agent.llm.exchange", "certificates")

MOST_BYTES = 5 << 20
SECONDS = 20.0
_REDIRECTS = 5
_WAIT = 10.0


@dataclass(frozen=True, slots=True)
class CalendarAnswer:
    """A server's answer: its status, the headers by small names, the body, and the address that gave it at last."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    url: str


@dataclass(frozen=True, slots=True)
class CalendarNetwork:
    """Asks one server, with a login if there is one. `trust_file` has certificates to trust; empty: the usual ones."""

    clock: Clock
    user: str = ""
    password: str = ""
    trust_file: str = ""

    def ask(
        self, method: str, url: str, headers: Mapping[str, str] | None = None, body: str = "", most: int = MOST_BYTES
    ) -> CalendarAnswer:
        """The answer; redirects are followed as long as they stay with the host. Raises `UnreadableCalendar`."""
        import httpx

        deadline = self.clock.monotonic() + SECONDS
        host = urlsplit(url).hostname or ""
        trust = httpx.create_ssl_context(self.trust_file) if self.trust_file else certificates(environment=False)
        login = httpx.BasicAuth(self.user, self.password) if self.user else None
        try:
            with httpx.Client(verify=trust, trust_env=False, timeout=_WAIT, auth=login) as client:
                for _ in range(_REDIRECTS + 1):
                    self._check(url)
                    answer = self._once(client, method, url, headers or {}, body, most, deadline)
                    wants = answer.headers.get("www-authenticate", "").lower()
                    if answer.status == 401 and self.user and "digest" in wants:
                        client.auth = httpx.DigestAuth(self.user, self.password)
                        answer = self._once(client, method, url, headers or {}, body, most, deadline)
                    if answer.status not in (301, 302, 303, 307, 308) or "location" not in answer.headers:
                        return answer
                    url = same_host(url, answer.headers["location"], host)
        except (httpx.HTTPError, httpx.InvalidURL, OSError, zlib.error, UnicodeError, ValueError) as error:
            raise UnreadableCalendar(_reason(error, host)) from error
        raise UnreadableCalendar(Sentence("{host} sends on and on", host=host))

    def _once(
        self,
        client: "httpx.Client",
        method: str,
        url: str,
        headers: Mapping[str, str],
        body: str,
        most: int,
        deadline: float,
    ) -> CalendarAnswer:
        data, sent = bytearray(), {**headers, "accept-encoding": "identity"}  # a small packed answer may be a huge one
        with client.stream(method, url, headers=sent, content=body.encode() or None) as response:
            packing = response.headers.get("content-encoding", "").lower()
            if packing not in ("", "identity", "gzip"):
                raise UnreadableCalendar(Sentence("its answer is packed in a way that is not read here"))
            unpacked = zlib.decompressobj(zlib.MAX_WBITS | 16) if packing == "gzip" else None
            for piece in response.iter_raw():  # of no size: a slow server would fill one for hours
                data += unpacked.decompress(piece, most + 1) if unpacked is not None else piece
                if len(data) > most:
                    size = Sentence("it is larger than {size} MB", size=most >> 20)
                    raise UnreadableCalendar(size)
                if self.clock.monotonic() > deadline:
                    raise UnreadableCalendar(
                        Sentence("no whole answer came within {seconds} s", seconds=f"{SECONDS:g}")
                    )
            return CalendarAnswer(
                response.status_code, {k.lower(): v for k, v in response.headers.items()}, bytes(data), url
            )

    def _check(self, url: str) -> None:
        """Raise `UnreadableCalendar` for a connection over which others could read along."""
        parts = urlsplit(url)
        has_login = self.user or parts.username
        if parts.scheme == "http" and (is_public(url) or (has_login and not is_this_machine(parts.hostname or ""))):
            raise UnreadableCalendar(
                Sentence("{host} has no TLS, so others could read along: use https", host=parts.hostname)
            )


def same_host(base: str, location: str, host: str) -> str:
    """The address that a server names, if it is on the host or one beside it; a login is not taken elsewhere.

    Raises `UnreadableCalendar`.
    """
    try:
        target = urljoin(base, location)
        parts = urlsplit(target)
    except ValueError as error:
        raise UnreadableCalendar(Sentence("{host} names an address that is none", host=host)) from error
    named, parent = parts.hostname or "", host.partition(".")[2]
    is_beside = parent.count(".") >= 1 and named.endswith(f".{parent}") and not host.replace(".", "").isdigit()
    is_downgrade = urlsplit(base).scheme == "https" and parts.scheme != "https"
    if (named != host and not is_beside) or is_downgrade or parts.scheme not in ("http", "https"):
        other = Sentence("{host} sends on to {other}; set that address if it is right", host=host, other=named[:80])
        raise UnreadableCalendar(other)
    return target


def _reason(error: Exception, host: str) -> Sentence:
    wording = f"{type(error).__name__} {error} {error.__cause__}".lower()
    for sign, english in (
        ("certificate", "the certificate of {host} is not good"),
        ("refused", "{host} refused the connection"),
        ("timeout", "{host} did not answer in time"),
        ("timed out", "{host} did not answer in time"),
        ("name or service", "there is no host {host}"),
        ("nodename", "there is no host {host}"),
        ("name resolution", "there is no host {host}"),
    ):
        if sign in wording:
            return Sentence(english, host=host)
    return Sentence("the connection to {host} broke", host=host)
