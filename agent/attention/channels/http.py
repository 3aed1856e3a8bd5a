"""The one door to HTTP for channels: a request with an answer of one piece, and what is said of one that fails.

Bounded in time and size, cancellable, with TLS verified; redirects are not followed and the environment's proxies are
not asked, since addresses and headers hold keys. No message holds a key, nor more of an address than its host.
"""

import json
from collections.abc import Mapping
from urllib.parse import urlsplit

from agent.clock import Clock
from agent.dataclass import dataclass
from agent.errors import AgentError, ConfigError, Interrupted, PerhapsDone, Permanent, Retryable, UserError
from agent.llm.endpoint import http_address
from agent.llm.exchange import MAX_BYTES, ExchangeFailed, ExchangeFailure, Route, exchange
from agent.llm.failures import clean_message, error_message, is_page
from agent.llm.messages import Cancelled, JsonObject, mapping, parsed
from agent.llm.waits import wait_asked
from agent.texts import Sentence

TIMEOUT = 15.0
"""The longest silence of a service in seconds, unless the request itself waits for something."""
_LONGEST = 45.0
"""The longest time of an exchange in seconds, beyond what the request itself waits."""
_MOST_BYTES = 1024 * 1024
_LONGEST_WAIT = 24 * 3600.0
"""The longest pause in seconds that a service may ask for."""
JSON_TYPE = {"content-type": "application/json; charset=utf-8"}
"""The header of a request with a JSON document."""


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """A whole answer; `wait` are the seconds that it asks us to wait, 0 if it does not."""

    status: int
    content_type: str
    body: bytes
    wait: float

    @property
    def document(self) -> JsonObject:
        """The body as a JSON object; empty if it is none."""
        try:
            return mapping(parsed(self.body))
        except ValueError:
            return {}

    @property
    def is_success(self) -> bool:
        """True for a status of success with an answer that is no web page."""
        return 200 <= self.status < 300 and not self.is_page

    @property
    def is_page(self) -> bool:
        """True for a web page, such as the login page of a network."""
        return is_page(self.content_type, self.body[:100])


@dataclass(frozen=True, slots=True)
class ChannelService:
    """A channel's service. `address` and `key` are the settings that a message tells the person to check; `secrets` are
    values that no message may hold. `timeout`: seconds of silence allowed."""

    address: str
    key: str
    clock: Clock
    secrets: tuple[str, ...] = ()
    timeout: float = TIMEOUT

    def ask(
        self,
        method: str,
        url: str,
        cancelled: Cancelled,
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes = b"",
        waits: float = 0.0,
        most: int = _MOST_BYTES,
    ) -> HttpAnswer:
        """The answer, whatever its status; `waits`: seconds that the service may be silent since we asked it to wait.
        Of a body with more than `most` bytes, so many are read.

        Raises `Retryable`, `Permanent`, and `Interrupted` soon after `cancelled` is true.
        """
        place = self._place(url)
        all_headers = {"user-agent": "vault-agent", "accept-encoding": "identity"} | dict(headers or {})
        longest = max(most, MAX_BYTES) + 1
        route = Route(url, url.startswith("https:"), self.timeout + waits, _LONGEST + waits, most=longest)
        try:
            with exchange(route, method, all_headers, body, cancelled, self.clock) as reply:
                wait = wait_asked(reply.retry_after, self.clock.now(), _LONGEST_WAIT)
                return HttpAnswer(reply.status, reply.content_type, reply.body(most), wait)
        except ExchangeFailed as error:
            raise self._failure(error.failed, place) from None
        except Interrupted as error:
            raise Interrupted("the wait for {place} was cancelled", place=place) from error

    def post(
        self,
        url: str,
        document: object,
        cancelled: Cancelled,
        headers: Mapping[str, str] | None = None,
        *,
        waits: float = 0.0,
    ) -> HttpAnswer:
        """The answer to a JSON document, whatever its status; as `ask`."""
        json_headers = JSON_TYPE | dict(headers or {})
        return self.ask("POST", url, cancelled, headers=json_headers, body=json_body(document), waits=waits)

    def refusal(self, url: str, answer: HttpAnswer, words: str = "", *, wait: float = 0.0) -> AgentError:
        """The error for an answer that is no success; `words` and `wait` are what the service says in its own form."""
        place, status = self._place(url), answer.status
        reason = self.clean(words) or self.clean(error_message(answer.body[:5_000].decode("utf-8", "replace"), ""))
        problem = Sentence("{place} answered {status}", place=place, status=status)
        problem = Sentence("{problem}: {words}", problem=problem, words=reason) if reason else problem
        delay = max(answer.wait, wait)
        if status == 429 or delay:
            return Retryable(problem, delay=delay, hint="it asks for a pause; the message is sent again after it")
        if status >= 500:
            return PerhapsDone(
                problem, delay=delay, hint="the service is out of order: the message is sent again later"
            )
        if status in (401, 403):
            return UserError(problem, hint=Sentence("the service refuses the key: check {key}", key=self.key))
        if 300 <= status < 400:
            hint = Sentence("redirects are not followed, to keep the key here: check {address}", address=self.address)
            return Permanent("{place} sends us on to another address", hint=hint, place=place)
        if answer.is_page:
            return Retryable(
                "{place} sent a web page instead of an answer",
                delay=60.0,
                hint="log in to your network in a web browser; the message is sent again later",
                place=place,
            )
        hint = Sentence("check {address} and {key}", address=self.address, key=self.key)
        return Permanent(problem, hint=hint)

    def not_understood(self, url: str) -> AgentError:
        """The error for an answer that is a success but not the service's: it proves nothing."""
        hint = Sentence("is {address} the address of this service?", address=self.address)
        return Permanent("{place} did not answer as this service does", hint=hint, place=self._place(url))

    def clean(self, words: str) -> str:
        """A service's words as one short line, without secrets."""
        for secret in self.secrets:
            words = clean_message(words, secret)
        return clean_message(words, "")

    @staticmethod
    def _place(url: str) -> str:
        parts = urlsplit(url)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"

    def _failure(self, failed: ExchangeFailure, place: str) -> AgentError:
        why: str = failed.detail if isinstance(failed.detail, Sentence) else self.clean(failed.detail)
        match failed.fault:
            case "refused" | "connect" | "offline":
                hint = Sentence("check your network and {address}", address=self.address)
                return Retryable("{place} cannot be reached: {why}", delay=0.0, hint=hint, place=place, why=why)
            case "certificate":
                return untrusted(place, why)
            case "silent":
                return PerhapsDone("{place} is silent: {why}", delay=0.0, hint="try again later", place=place, why=why)
            case "broken":
                return PerhapsDone(
                    "{place} broke the connection: {why}", delay=0.0, hint="try again later", place=place, why=why
                )
            case "too long" | "encoded" | "proxy" | "bug":
                hint = Sentence("is {address} the address of this service?", address=self.address)
                return Permanent("{place} gave an answer that cannot be used", hint=hint, place=place)


def untrusted(place: str, why: str) -> Permanent:
    """The error for a server whose certificate cannot be verified."""
    return Permanent(
        "{place} cannot be trusted: {why}",
        hint="if it is your own server, name its certificate authority in the variable SSL_CERT_FILE",
        place=place,
        why=why,
    )


def json_body(document: object) -> bytes:
    """A JSON document as the body of a request."""
    return json.dumps(document, ensure_ascii=False).encode("utf-8", "replace")


def checked_url(text: str, setting: str) -> str:
    """`text` as the address of a service; raises `ConfigError`, without the address, as it may hold a key."""
    if http_address(text) is None:
        raise ConfigError(
            "{setting} is not an address of a service",
            hint="set it to one such as {example}",
            setting=setting,
            example="https://example.org/hooks/notes",
        )
    return text
