"""`web_fetch`: reads one public page, and connects to nothing else; `fetch_page` is the same for the program itself.

The host of a URL is resolved once, every address is checked by `addresses`, and the connection uses exactly that
address; each redirect repeats this. No proxy, cookie, key or setting of the environment is used. The result is
untrusted text: `charset` and `page` make it readable, and `ToolOutput.untrusted` taints the run.
"""

import re
import socket
import threading
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import field
from queue import Empty
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import unquote, unquote_plus

from agent.clock import Clock
from agent.config.masking import count_secrets
from agent.dataclass import dataclass
from agent.errors import Interrupted, ToolFailed, ToolRetry
from agent.lazy import later
from agent.llm.messages import Cancelled, JsonObject
from agent.texts import Sentence
from agent.tools.arguments import schema, text
from agent.tools.builtin.addresses import is_ours, refusal
from agent.tools.tool import RunContext, Tool, ToolOutput
from agent.tools.wrappers import ThreadedCall

if TYPE_CHECKING:
    import ssl

    import httpx

    from agent.attachments.html.charset import decode
    from agent.attachments.html.page import ReadablePage, read_page
    from agent.llm.exchange import certificates
else:
    certificates = later("agent.llm.exchange", "certificates")
    decode = later("agent.attachments.html.charset", "decode")
    ReadablePage = later("agent.attachments.html.page", "ReadablePage")
    read_page = later("agent.attachments.html.page", "read_page")

Resolve: TypeAlias = Callable[[str, int], Sequence[str]]
"""Function from (host, port) to the host's addresses, as text; raises `OSError` if there are none."""
Dial: TypeAlias = Callable[[str, int], tuple[str, int]]
"""Function from (address, port) to the actual target of the connection; tests return a local server."""

AGENT = "Mozilla/5.0 (compatible; vault-agent)"
_PORTS = {"http": 80, "https": 443}
_REDIRECTS = frozenset((301, 302, 303, 307, 308))
_LONGEST_URL = 2_048
_TRIED = 3
"""The most addresses of one host that are tried in turn."""
_LOOK = 0.1
_PLAIN_TYPE = re.compile(r"[a-z0-9][a-z0-9.+-]{0,40}/[a-z0-9][a-z0-9.+-]{0,80}")
_HOST = re.compile(rb"(?:[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63}){0,50}\.?|[0-9a-f:.]{2,45})")
_PAGES = frozenset(("text/html", "application/xhtml+xml"))
_TEXTS = frozenset(("application/json", "application/xml", "application/yaml", "application/x-yaml"))

_DESCRIPTION = "Read a public web page or text file, with its links."
_PARAMETERS = schema("url", url={"type": "string"})


def resolve(host: str, port: int) -> Sequence[str]:
    """The addresses of a host from the system's resolver, in its order."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
    return tuple(dict.fromkeys(str(entry[4][0]) for entry in found))


def identity_route(address: str, port: int) -> tuple[str, int]:
    """The address and port, unchanged."""
    return address, port


@dataclass(frozen=True, slots=True)
class WebNetwork:
    """The functions to resolve and reach hosts; `trust` verifies certificates (None: the store included in httpx)."""

    resolve: Resolve = resolve
    dial: Dial = identity_route
    trust: "ssl.SSLContext | None" = None


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """The limits of one fetch: `seconds` in total, with redirects; `size` in bytes after decompression."""

    seconds: float = 20.0
    size: int = 5 << 20
    redirects: int = 5


NETWORK = WebNetwork()
LIMITS = FetchLimits()


@dataclass(frozen=True, slots=True)
class WebPage:
    """A page that was read: its last address, after redirects, and its text. All of it is a stranger's. `is_cut`:
    longer than the limit, and the rest was not read."""

    address: str
    content: "ReadablePage"
    is_cut: bool = False


def web_tools(
    clock: Clock, secrets: Callable[[], Sequence[str]], network: WebNetwork = NETWORK, limits: FetchLimits = LIMITS
) -> tuple[Tool, ...]:
    """The tool `web_fetch`. `secrets` gives the values that no URL may contain."""

    def perform(arguments: JsonObject, context: RunContext) -> ToolOutput:
        url = text(arguments, "url").strip()
        found = fetch_page(url, clock, secrets(), context.cancelled, network, limits)
        whole = found.content.text.strip() or "(nothing to read there)"
        note = f"\n[longer than {limits.size >> 20} MB: the rest was not read]" if found.is_cut else ""
        return ToolOutput(f"{found.address}\n\n{whole}{note}", untrusted=found.address)

    tool = Tool(
        "web_fetch", _DESCRIPTION, _PARAMETERS, perform, frozenset({"web"}), readonly=True, egress=True, timeout=30.0
    )
    return (tool,)


def fetch_page(
    url: str,
    clock: Clock,
    secrets: Sequence[str],
    cancelled: Cancelled,
    network: WebNetwork,
    limits: FetchLimits,
) -> WebPage:
    """The page at a URL that has none of the `secrets` in it, read in a separate thread: neither a slow server nor a
    slow resolver blocks the caller.

    Raises `ToolRetry` for a URL that is not allowed, `ToolFailed` for any other failure, and `Interrupted`.
    """
    _check_leak(url, secrets)
    visit = _Visit(network, limits)
    deadline = clock.monotonic() + limits.seconds
    call = ThreadedCall(lambda: visit.fetch(url), "web")
    try:
        while True:
            with suppress(Empty):
                return call.result(_LOOK)
            if cancelled():
                raise Interrupted("web_fetch was cancelled")
            if clock.monotonic() >= deadline:
                raise ToolFailed(Sentence("no whole answer came within {seconds} s", seconds=f"{limits.seconds:g}"))
    finally:
        visit.stop()


def _check_leak(url: str, secrets: Sequence[str]) -> None:
    """Raise `ToolFailed` for a URL with a secret in it, in any percent-encoding."""
    forms = {url, unquote(url), unquote_plus(url), unquote(unquote(url))}
    if any(count_secrets(form, secrets) for form in forms):
        raise ToolFailed(Sentence("the address has a secret of this machine in it; it was not sent"))


@dataclass(slots=True)
class _Visit:
    """One fetch with its redirects. `stop` closes its connections, from any thread."""

    network: WebNetwork
    limits: FetchLimits
    stopped: bool = False
    _mutex: threading.Lock = field(default_factory=threading.Lock)
    _sockets: list[socket.socket] = field(default_factory=list)
    _transports: "list[httpx.HTTPTransport]" = field(default_factory=list)

    def stop(self) -> None:
        """Close the connections, so that a thread waiting for one ends."""
        with self._mutex:
            self.stopped = True
            for each in self._sockets:
                with suppress(OSError):
                    each.shutdown(socket.SHUT_RDWR)
                each.close()
            self._sockets.clear()

    def fetch(self, url: str) -> WebPage:
        """The page at a URL; raises `ToolRetry` for a URL that is not allowed, `ToolFailed` for any other failure."""
        import httpx

        try:
            target = _checked(httpx.URL(url))
            for _ in range(self.limits.redirects + 1):
                response = self._ask(target)
                try:
                    if response.status_code not in _REDIRECTS or "location" not in response.headers:
                        return self._page(response, target)
                    target = _checked(target.join(response.headers["location"]))
                finally:
                    response.close()
        except httpx.InvalidURL as error:
            raise ToolRetry(
                Sentence("this is not an address of a web page; give a whole one, with https://")
            ) from error
        except (httpx.HTTPError, OSError, UnicodeError, ValueError) as error:
            raise ToolFailed(Sentence("the page could not be read: {reason}", reason=_plainly(error))) from error
        finally:
            for transport in self._transports:
                transport.close()
        raise ToolFailed(Sentence("the server sent us on more than {count} times", count=self.limits.redirects))

    def _ask(self, target: "httpx.URL") -> "httpx.Response":
        """The response, its body unread, of the first address of the host that can be reached."""
        import httpx

        host, port = target.raw_host.decode("ascii"), _PORTS[target.scheme]
        addresses = self._addresses(host, port)
        for address in addresses[:_TRIED]:
            if self.stopped:
                break
            try:
                return self._connect(target, host, address, port)
            except (httpx.ConnectError, httpx.ConnectTimeout) as error:
                reason = _plainly(error)
        raise ToolFailed(Sentence("{host} could not be reached: {reason}", host=host, reason=reason))

    def _addresses(self, host: str, port: int) -> Sequence[str]:
        """Every address of the host; raises `ToolFailed` if one of them is not on the public internet."""
        try:
            addresses = self.network.resolve(host, port)
        except (OSError, UnicodeError) as error:
            raise ToolFailed(Sentence("there is no host {host}", host=host)) from error
        for address in addresses:
            why = refusal(address) or ("is this machine's own" if is_ours(address) else "")
            if why:
                raise ToolFailed(f"{host} is not on the open internet: its address {ascii(address)[1:-1]} {why}")
        if not addresses:
            raise ToolFailed(Sentence("there is no host {host}", host=host))
        return addresses

    def _connect(self, target: "httpx.URL", host: str, address: str, port: int) -> "httpx.Response":
        import httpx

        where, at = self.network.dial(address, port)
        wait = min(self.limits.seconds, 10.0)
        headers = {
            "Host": target.netloc.decode("ascii"),
            "User-Agent": AGENT,
            "Accept": "text/html,text/*;q=0.9,application/json;q=0.9",
            "Accept-Encoding": "gzip",
            "Connection": "close",
        }
        extensions = {
            "timeout": {"connect": wait, "read": wait, "write": wait, "pool": wait},
            "sni_hostname": host,
            "trace": self._trace,
        }
        request = httpx.Request("GET", target.copy_with(host=where, port=at), headers=headers, extensions=extensions)
        trust = self.network.trust or certificates(environment=False)
        transport = httpx.HTTPTransport(verify=trust, trust_env=False)
        self._transports.append(transport)
        response = transport.handle_request(request)
        response.request = request
        return response

    def _trace(self, event: str, info: dict[str, object]) -> None:
        """Duplicate the socket of each new connection, so that `stop` can close it."""
        if event != "connection.connect_tcp.complete":
            return
        stream = info["return_value"]
        connected = stream.get_extra_info("socket")  # type: ignore[attr-defined]  # httpcore's stream, untyped here
        with self._mutex:
            if self.stopped:
                connected.shutdown(socket.SHUT_RDWR)
            else:
                self._sockets.append(connected.dup())

    def _page(self, response: "httpx.Response", target: "httpx.URL") -> WebPage:
        if response.status_code != 200:
            raise ToolFailed(
                Sentence("{host} answered {status}", host=target.raw_host.decode("ascii"), status=response.status_code)
            )
        kind, _, rest = response.headers.get("content-type", "").lower().partition(";")
        kind = kind.strip() or "text/plain"
        if kind not in _PAGES and not _is_text(kind):
            named = kind if _PLAIN_TYPE.fullmatch(kind) else Sentence("of an unknown kind")
            raise ToolFailed(Sentence("what is there is {kind}; web_fetch reads pages and text only", kind=named))
        data = self._body(response)
        cut = len(data) > self.limits.size
        charset = re.search(r"charset\s*=\s*[\"']?([\w.:-]{1,40})", rest)
        whole = decode(data[: self.limits.size], charset[1] if charset else "")
        page = ReadablePage(whole)
        if kind in _PAGES or re.match(r"\s*(?:<!doctype html|<html)", whole, re.IGNORECASE):
            page = read_page(whole, str(target), lambda: self.stopped)
        return WebPage(str(target), page, cut)

    def _body(self, response: "httpx.Response") -> bytes:
        """The decompressed body, at most one byte more than the limit."""
        encoding = response.headers.get("content-encoding", "identity").strip().lower()
        raw = response.iter_raw()
        if encoding in ("gzip", "x-gzip"):
            raw = _unzipped(raw, self.limits.size + 1)
        elif encoding not in ("identity", ""):
            raise ToolFailed(Sentence("the server packs its answer in a way that it was not asked for"))
        body = bytearray()
        for piece in raw:
            body += piece
            if len(body) > self.limits.size or self.stopped:
                break
        return bytes(body[: self.limits.size + 1])


def _unzipped(raw: Iterator[bytes], most: int) -> Iterator[bytes]:
    """The body decompressed piece by piece, so that a small body cannot expand to a huge one at once."""
    unpacker = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    try:
        for piece in raw:
            waiting = piece
            while waiting and not unpacker.eof:
                yield unpacker.decompress(waiting, most)
                waiting = unpacker.unconsumed_tail
            if unpacker.eof:
                return
    except zlib.error as error:
        raise ToolFailed(Sentence("what the server packed cannot be unpacked")) from error


def _checked(url: "httpx.URL") -> "httpx.URL":
    """The URL, if it is allowed; raises `ToolRetry` with the reason if it is not."""
    if url.scheme not in _PORTS or not url.raw_host:
        raise ToolRetry(Sentence("only pages at http:// and https:// can be read"))
    if not _HOST.fullmatch(url.raw_host):
        raise ToolRetry(Sentence("the address has no proper name of a host in it"))
    if url.userinfo:
        raise ToolRetry(Sentence("an address with a name or a password in it is not asked for"))
    if url.port not in (None, _PORTS[url.scheme]):
        port, scheme = _PORTS[url.scheme], url.scheme
        raise ToolRetry(
            Sentence("only the usual port can be asked for, {port} with {scheme}", port=port, scheme=scheme)
        )
    if len(str(url)) > _LONGEST_URL:
        raise ToolRetry(Sentence("the address is longer than {count} characters", count=f"{_LONGEST_URL:,}"))
    return url.copy_with(fragment=None)


def _is_text(kind: str) -> bool:
    return kind.startswith("text/") or kind in _TEXTS or kind.endswith(("+json", "+xml"))


def _plainly(error: BaseException) -> Sentence:
    """The reason for a failed connection in fixed words: a server's own message is untrusted text."""
    wording = f"{error} {error.__cause__}".lower()
    for sign, words in (
        ("certificate", Sentence("its certificate is not good")),
        ("ssl", Sentence("no secure connection could be made")),
        ("refused", Sentence("it refused the connection")),
        ("timed out", Sentence("it did not answer in time")),
        ("timeout", Sentence("it did not answer in time")),
        ("unreachable", Sentence("there is no way to it")),
    ):
        if sign in wording or sign in type(error).__name__.lower():
            return words
    return Sentence("the connection broke")
