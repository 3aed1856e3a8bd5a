"""The common part of all wires: sends a call, retries it if useful, and adapts to the fields that a server accepts.

Each kind of server has an `Api` with the request's body and the answer's parser; an `Api` contains no retries, no keys
in errors and no sockets.
"""

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import chain

from agent.clock import Clock
from agent.dataclass import dataclass
from agent.errors import Permanent, Retryable
from agent.llm.attempt import Attempt, SpendAccount, Unmetered
from agent.llm.endpoint import Endpoint, Limit
from agent.llm.exchange import HttpReply
from agent.llm.failures import Rejected, clean_message, from_page, from_status, is_page, wait_asked
from agent.llm.fields import items, mapping, parsed, text
from agent.llm.http import Http, Unreached
from agent.llm.messages import Json, JsonObject, Reply, Request, ToolSpec, Usage
from agent.llm.model_key import key_of
from agent.llm.plain_turns import REFUSED
from agent.llm.provider import Cancelled, Model, OnText, ignore, never
from agent.llm.retry import CountedText, Jitter, OnRetry, ignore_retry, with_retries
from agent.llm.stream_assembly import StreamAssembly
from agent.llm.turns import counted_texts, taken_ids
from agent.texts import Sentence

MOST_OF_AN_ERROR = 64 * 1024
MOST_DIALECTS = 3
"""The most changes of dialect in one attempt."""

_UNKNOWN_FIELD = re.compile(r"unknown|unrecogni[sz]ed|unexpected|unsupported|extra (inputs|fields)|not permitted", re.I)


@dataclass(frozen=True, slots=True)
class Dialect:
    """The request fields for one server: the name of its limit, and the optional fields to send; `plain` for one whose
    template refuses a system message, or calls and their results."""

    limit: Limit
    optional: Mapping[str, Json]
    plain: bool = False

    def after(self, said: str) -> "Dialect | None":
        """The dialect to try after a server refused this one with the message `said`; None if no field of it is
        named."""
        if not self.plain and REFUSED.search(said):
            return replace(self, plain=True)
        if self.limit == "max_tokens" and "max_completion_tokens" in said:
            return replace(self, limit="max_completion_tokens")
        if self.limit == "max_completion_tokens" and re.search(r"\bmax_completion_tokens\b", said):
            return replace(self, limit="max_tokens")
        refused = {name for name in self.optional if re.search(rf"\b{re.escape(name)}\b", said)}
        if not refused and "stream_options" in self.optional and "include_usage" in said:
            refused = {"stream_options"}
        if not refused and self.optional and _UNKNOWN_FIELD.search(said):
            refused = set(self.optional)
        if not refused:
            return None
        return replace(self, optional={name: value for name, value in self.optional.items() if name not in refused})


@dataclass(frozen=True, slots=True)
class Exchange:
    """One attempt of a call, for the parser of its answer: `key` must not be shown, `handed` receives the text."""

    endpoint: Endpoint
    key: str
    handed: CountedText


@dataclass(frozen=True, slots=True)
class Api:
    """The request and answer format of a kind of server: `path` below its address, `headers` made from the key.

    `tool` is one tool in the format of `body`; `read` parses an answer, and raises `Retryable` for a broken one.
    `dialect` is the one to begin with.
    """

    path: str
    headers: Callable[[str], Mapping[str, str]]
    body: Callable[[Endpoint, Request, Dialect], JsonObject]
    tool: Callable[[ToolSpec], JsonObject]
    read: Callable[[HttpReply, StreamAssembly, Exchange], None]
    dialect: Callable[[Endpoint], Dialect]


class Wire(ABC):
    """A `Provider`: one model on a server with the format `api`. Fields that the server refused are remembered.

    `count` returns the tokens of a text, for servers that do not report the usage.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        clock: Clock,
        count: Callable[[str], int],
        jitter: Jitter,
        on_retry: OnRetry = ignore_retry,
    ) -> None:
        self._api = self.api()
        self._dialect = self._api.dialect(endpoint)
        self._endpoint = endpoint
        self._http = Http(endpoint, clock)
        self._clock = clock
        self._count = count
        self._jitter = jitter
        self._on_retry = on_retry

    @abstractmethod
    def api(self) -> Api:
        """The format of this kind of server."""

    @property
    def model(self) -> Model:
        return self._endpoint.model

    def chat(self, request: Request, on_text: OnText = ignore, cancelled: Cancelled = never) -> Reply:
        """The model's reply; see `Provider.chat`."""
        return self.chat_on(Unmetered(self._count), request, on_text, cancelled)

    def chat_on(self, account: SpendAccount, request: Request, on_text: OnText, cancelled: Cancelled) -> Reply:
        """The reply of `chat`, with each request first reserved on `account` and then counted there."""
        key = key_of(self._endpoint)
        handed = CountedText(on_text)
        exchange = Exchange(self._endpoint, key, handed)

        def once(dialect: Dialect) -> Reply:
            told = self._api.body(self._endpoint, request, dialect)
            body = json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
            headers = self._api.headers(key) if key else {}
            with account.attempt(request) as attempt:
                try:
                    with self._http.post(self._api.path, headers, body, key, cancelled) as answer:
                        if answer.status != 200:
                            attempt.refused = 300 <= answer.status < 500
                            raise self._refused(answer, key)
                        answer = self._without_page(answer, key, attempt)
                        return self._reply(request, answer, exchange, attempt)
                except Unreached as error:
                    attempt.unsent = True
                    raise error.failure from None

        def several() -> Reply:
            dialect = self._dialect
            for _ in range(MOST_DIALECTS):
                try:
                    reply = once(dialect)
                except Rejected as error:
                    other = dialect.after(error.said)
                    if other is None or handed.characters:
                        raise
                    dialect = other
                else:
                    self._dialect = dialect
                    return reply
            return once(dialect)

        retries, pausing = self._endpoint.retries, self._on_retry
        return with_retries(several, handed, retries, self._clock, self._jitter, cancelled, pausing)

    def models(self, cancelled: Cancelled = never) -> tuple[str, ...]:
        """The names of the models that the server offers, empty if it does not list them; one try, without costs.

        Raises as `chat` does.
        """
        key = key_of(self._endpoint)
        try:
            with self._http.get("/models", self._api.headers(key) if key else {}, key, cancelled) as answer:
                if answer.status in (404, 405):
                    return ()
                if answer.status != 200:
                    raise self._refused(answer, key)
                body = answer.body()
        except Unreached as error:
            raise error.failure from None
        try:
            rows = items(mapping(parsed(body)).get("data"))
        except ValueError as error:
            raise Permanent(
                "{place} answers, but not as a model server does",
                hint="check that {at}.base_url is the address of a model server",
                place=self._endpoint.place,
                at=self._endpoint.section,
            ) from error
        names = (text(mapping(row).get("id")) for row in rows)
        return tuple(clean_message(name, key) for name in names if name)

    def _reply(self, request: Request, answer: HttpReply, exchange: Exchange, attempt: Attempt) -> Reply:
        gathered = StreamAssembly(exchange.handed, attempt)
        try:
            self._api.read(answer, gathered, exchange)
        finally:
            attempt.reported, attempt.final = gathered.usage, gathered.whole_usage
        message, stop = gathered.finish(taken_ids(request.messages), self._clock.new_id)
        used = attempt.used(Usage(self._input(request), request.max_output))
        return Reply(message, used, stop, gathered.model or self._endpoint.model.name)

    def _input(self, request: Request) -> int:
        """The tokens of a request, by our own count."""
        tools = [json.dumps(self._api.tool(tool), ensure_ascii=False) for tool in request.tools]
        return sum(map(self._count, counted_texts(request.messages) + tools))

    def _without_page(self, answer: HttpReply, key: str, attempt: Attempt) -> HttpReply:
        """The answer unchanged; raises `Permanent` for a web page, such as the login page of a proxy."""
        beginning = next((piece for piece in answer.pieces if piece.strip()), b"")
        whole = replace(answer, pieces=chain([beginning], answer.pieces))
        if not is_page(answer.content_type, beginning):
            return whole
        attempt.refused = True
        raise from_page(self._endpoint, whole.body(MOST_OF_AN_ERROR).decode("utf-8", "replace"), key)

    def _refused(self, answer: HttpReply, key: str) -> Exception:
        try:
            body = answer.body(MOST_OF_AN_ERROR).decode("utf-8", "replace")
        except Retryable:
            body = ""  # the status is enough
        wait = wait_asked(answer.retry_after, self._clock.now())
        return from_status(self._endpoint, answer.status, body, wait=wait, location=answer.location, key=key)


def broken_reply(endpoint: Endpoint, why: str) -> Retryable:
    """The error for an answer that is cut off or cannot be parsed."""
    return Retryable(
        "{place} gave an answer that {why}", delay=0.0, hint="try again later", place=endpoint.place, why=Sentence(why)
    )
