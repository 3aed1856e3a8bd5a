"""The requests to a model's server, and what is said of one that fails; the exchange itself is in `exchange`.

Parsing is left to the wires, retrying to `retry`.
"""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace

from agent.clock import Clock
from agent.errors import AgentError, Interrupted, Permanent, Retryable
from agent.llm.endpoint import Endpoint
from agent.llm.exchange import MAX_BYTES, ExchangeFailed, ExchangeFailure, HttpFault, HttpReply, Route, exchange
from agent.llm.failures import clean_message
from agent.llm.messages import Cancelled
from agent.texts import Sentence

_UNREACHED: frozenset[HttpFault] = frozenset({"refused", "offline", "connect", "certificate", "proxy"})
"""Faults before a connection: nothing was sent."""


class Unreached(Exception):
    """No connection was made, so nothing was sent; `failure` is the error to raise to the caller."""

    def __init__(self, failure: AgentError) -> None:
        super().__init__(failure.message)
        self.failure = failure


class Http:
    """A client for one model's server. Safe to use from several threads; keeps no connection between calls."""

    def __init__(self, endpoint: Endpoint, clock: Clock) -> None:
        self._endpoint = endpoint
        self._clock = clock

    def get(
        self, path: str, headers: Mapping[str, str], key: str, cancelled: Cancelled
    ) -> AbstractContextManager[HttpReply]:
        """Ask for `path` below the address; otherwise as `post`."""
        return self._send("GET", path, headers, b"", key, cancelled)

    def post(
        self, path: str, headers: Mapping[str, str], body: bytes, key: str, cancelled: Cancelled
    ) -> AbstractContextManager[HttpReply]:
        """Send `body` as JSON to `path` below the address; entering returns when the answer's head has arrived.

        Leaving closes the connection, even before the end of the answer. Raises `Interrupted` soon after `cancelled` is
        true, `Retryable` for a server that disconnects or is silent, `Permanent` for an error that a retry cannot
        solve, and `Unreached` around either of the two when no connection was made.
        """
        return self._send("POST", path, {"content-type": "application/json", **headers}, body, key, cancelled)

    @contextmanager
    def _send(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes, key: str, cancelled: Cancelled
    ) -> Iterator[HttpReply]:
        place = self._endpoint
        # Proxies are for other machines only: the environment's would be used for this machine, too.
        route = Route(f"{place.base_url}{path}", place.secure, place.timeout, proxies=not place.local)
        sent = {"accept": "text/event-stream, application/json", "accept-encoding": "identity"}
        sent |= {"user-agent": "vault-agent"} | dict(headers)
        try:
            with exchange(route, method, sent, body, cancelled, self._clock) as reply:
                yield replace(reply, pieces=self._pieces(reply.pieces, key))
        except ExchangeFailed as error:
            failure = self._failure(error.failed, key)
            raise Unreached(failure) if error.failed.fault in _UNREACHED else failure from None
        except Interrupted as error:
            raise Interrupted("the call of the model was cancelled") from error

    def _pieces(self, pieces: Iterator[bytes], key: str) -> Iterator[bytes]:
        try:
            yield from pieces
        except ExchangeFailed as error:
            raise self._failure(error.failed, key) from None

    def _failure(self, failed: ExchangeFailure, key: str) -> AgentError:
        place, why = self._endpoint.place, _clean_detail(failed, key)
        match failed.fault:
            case "refused" | "connect" | "offline":
                return self._not_reached(failed.fault, why)
            case "certificate":
                hint = "if it is your own server, name its certificate authority in the variable SSL_CERT_FILE"
                return Permanent("{place} cannot be trusted: {why}", hint=hint, place=place, why=why)
            case "proxy":
                hint = "check the variables HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY"
                return Permanent("the proxy on the way to {place} does not work", hint=hint, place=place)
            case "silent":
                hint = "a larger llm.timeout_seconds gives a slow model more time"
                return Retryable("{place} is silent: {why}", delay=0.0, hint=hint, place=place, why=why)
            case "broken":
                return Retryable(
                    "{place} broke the connection: {why}", delay=0.0, hint="try again later", place=place, why=why
                )
            case "too long":
                at = self._endpoint.section
                hint = "check that {at}.base_url is the address of a model server, or lower llm.max_output"
                sentence = Sentence("{place} sent more than {size} MB", place=place, size=MAX_BYTES // 1024 // 1024)
                return Permanent(sentence, hint=Sentence(hint, at=at))
            case "encoded":
                hint = "it was asked not to: check what stands between you and the server"
                return Permanent("{place} sent a compressed answer", hint=hint, place=place)
            case "bug":
                return Permanent(
                    "asking {place} failed: {why}", hint="please report this as a bug", place=place, why=why
                )

    def _not_reached(self, fault: HttpFault, why: str) -> AgentError:
        """The error when there is no way to the server, or nobody answers there."""
        place, url, at = self._endpoint.place, self._endpoint.base_url, self._endpoint.section
        if fault == "offline":
            hint = Sentence("are you online? The address is {url}", url=url)
            return Retryable("{place} cannot be found in the network", delay=0.0, hint=hint, place=place)
        if fault == "refused" and self._endpoint.local:
            hint = Sentence(
                "is the server running at {url}? {at}.base_url or {at}.preset would name another one", url=url, at=at
            )
            return Permanent("no model server answers at {place}", hint=hint, place=place)
        sentence = Sentence("{place} cannot be reached: {why}", place=place, why=why)
        hint = Sentence("check your network, and whether the server is running at {url}", url=url)
        return Retryable(sentence, delay=0.0, hint=hint)


def _clean_detail(failed: ExchangeFailure, key: str) -> str:
    """The detail; without the key, if it is another program's."""
    return failed.detail if isinstance(failed.detail, Sentence) else clean_message(failed.detail, key)
