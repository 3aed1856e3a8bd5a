"""The common part of all wires: sends a call, retries it if useful, and adapts to the fields that a server accepts.

Each kind of server has an `Api` with the request's body and the answer's parser; an `Api` contains no retries, no keys
in errors and no sockets.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import chain

from agent.clock import Clock
from agent.dataclass import dataclass
from agent.errors import Permanent, Retryable, UserError
from agent.llm.answer_text import Attempt, IncomingText, SpendAccount, Unmetered, reasons_in_text
from agent.llm.dialect import Dialect
from agent.llm.endpoint import Endpoint
from agent.llm.exchange import HttpReply
from agent.llm.failures import Rejected, TooLong, clean_message, from_page, from_status, is_page
from agent.llm.http import Http, Unreached
from agent.llm.known_models import ModelMemory
from agent.llm.limits import cut_remark, is_cut, served_window
from agent.llm.messages import (
    Cancelled,
    JsonObject,
    Model,
    OnText,
    Reply,
    Request,
    ToolSpec,
    Usage,
    ignore,
    items,
    mapping,
    never,
    parsed,
    text,
)
from agent.llm.model_key import key_of
from agent.llm.retry import CountedText, Jitter, OnRetry, ignore_retry, with_retries
from agent.llm.sse import ServerEvent
from agent.llm.stream_assembly import StreamAssembly
from agent.llm.thinking import own_thinking
from agent.llm.turns import counted_texts, taken_ids, without_images
from agent.llm.waits import wait_asked, wait_in_words, wait_until_reset
from agent.texts import Sentence

MOST_OF_AN_ERROR = 64 * 1024
MOST_DIALECTS = 5
"""The most changes of dialect in one attempt."""


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

    `count` returns the tokens of a text, for servers that do not report the usage; `memory` has what was learned of
    models before.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        clock: Clock,
        count: Callable[[str], int],
        jitter: Jitter,
        on_retry: OnRetry = ignore_retry,
        memory: ModelMemory | None = None,
    ) -> None:
        self._api = self.api()
        self._memory = memory or ModelMemory(None, clock)
        self._limits: Model | None = None
        """The model with the window that its server has told; None until it was asked."""
        self._reasons_in_text = reasons_in_text(endpoint.model.name)
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
        return self._endpoint.model if self._limits is None else self._limits

    @property
    def url(self) -> str:
        """The server's address."""
        return self._endpoint.base_url

    def learn_window(self, cancelled: Cancelled = never) -> None:
        """Ask the server for the model's window, if that is not known; one try, before the first call."""
        if self._limits is None:
            window = self._memory.window(self._endpoint.name)
            if not window and self._endpoint.is_guess:
                try:
                    key = key_of(self._endpoint)
                except UserError:
                    return  # the call itself will say it
                headers = self._api.headers(key) if key else {}
                window = served_window(self._endpoint, headers, key, self._clock, cancelled)
                self._memory.learn(self._endpoint.name, window if self._endpoint.hosted else 0)
            model = self._endpoint.model
            fits = window and (self._endpoint.is_guess or window < model.window)
            self._limits = model.with_window(window) if fits else model

    def chat(self, request: Request, on_text: OnText = ignore, cancelled: Cancelled = never) -> Reply:
        """The model's reply; see `Provider.chat`."""
        return self.chat_on(Unmetered(self._count), request, on_text, cancelled)

    def chat_on(self, account: SpendAccount, request: Request, on_text: OnText, cancelled: Cancelled) -> Reply:
        """The reply of `chat`, with each request first reserved on `account` and then counted there."""
        key = key_of(self._endpoint)
        self.learn_window(cancelled)
        handed = CountedText(on_text)
        exchange = Exchange(self._endpoint, key, handed)
        request = own_thinking(request, self._endpoint.name)
        request = account.affordable(replace(request, max_output=self.model.room(request.max_output)))

        def once(dialect: Dialect) -> Reply:
            fitted = dialect.fitted(request)
            if not self._endpoint.model.sees:
                fitted = replace(fitted, messages=without_images(fitted.messages))
            fields = {**self._api.body(self._endpoint, fitted, dialect), **self._endpoint.fields}
            body = json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
            headers = self._api.headers(key) if key else {}
            with account.attempt(fitted) as attempt:
                try:
                    with self._http.post(self._api.path, headers, body, key, cancelled) as answer:
                        if answer.status != 200:
                            attempt.refused = 300 <= answer.status < 500
                            raise self._refused(answer, key)
                        answer = self._without_page(answer, key, attempt)
                        return self._reply(fitted, answer, exchange, attempt)
                except Unreached as error:
                    attempt.unsent = True
                    raise error.failure from None

        def several() -> Reply:
            tried = [self._dialect]
            for _ in range(MOST_DIALECTS):
                try:
                    return self._accepted(tried[-1], once(tried[-1]))
                except Rejected as error:
                    other = tried[-1].after(error.refusal)
                    if other is None or other in tried or handed.characters:
                        raise
                    tried.append(other)
            return self._accepted(tried[-1], once(tried[-1]))

        retries, pausing = self._endpoint.retries, self._on_retry
        try:
            return with_retries(several, handed, retries, self._clock, self._jitter, cancelled, pausing)
        except TooLong as error:
            self._shrink_window(error.window, lasts=self._endpoint.hosted)
            raise

    def _accepted(self, dialect: Dialect, reply: Reply) -> Reply:
        """The reply, with a remark if the model cannot use tools; what the server accepts is remembered."""
        self._dialect = dialect.lasting
        if "tools" not in dialect.without or not self._memory.tell_once(self._endpoint.name, "tools"):
            return reply
        remark = Sentence("{model} cannot use tools, so it only answers from what it is given", model=self.model.name)
        return replace(reply, remarks=(*reply.remarks, remark))

    def _shrink_window(self, window: int, *, lasts: bool) -> None:
        if window and window < self.model.window:
            self._limits = self.model.with_window(window)
            self._memory.learn(self._endpoint.name, window if lasts else 0)

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
        tools, may_call = frozenset(tool.name for tool in request.tools), request.may_call
        answer_text = IncomingText(self._reasons_in_text, bool(tools))
        gathered = StreamAssembly(exchange.handed, attempt, answer=answer_text)
        try:
            self._api.read(answer, gathered, exchange)
        finally:
            attempt.reported, attempt.final = gathered.usage, gathered.whole_usage
        message, stop = gathered.finish(taken_ids(request.messages), self._clock.new_id, tools, may_call=may_call)
        self._reasons_in_text |= answer_text.reasoned
        message = replace(message, thinking_by=self._endpoint.name) if message.thinking else message
        used = attempt.used(Usage(self._input(request), request.max_output))
        remarks = self._remark_on_cut(request, attempt.reported)
        return Reply(message, used, stop, gathered.model or self._endpoint.model.name, remarks)

    def _remark_on_cut(self, request: Request, reported: Usage | None) -> tuple[Sentence, ...]:
        """The remark, made once, on a server that has read only a part of the request; further requests fit into
        that."""
        read = reported.input if reported is not None else 0
        if self._endpoint.hosted or not is_cut(self._texts(request), read):
            return ()
        self._shrink_window(read, lasts=False)
        is_new = self._memory.tell_once(self._endpoint.name, "cut")
        return (cut_remark(self._endpoint, read, self._input(request)),) if is_new else ()

    def _input(self, request: Request) -> int:
        """The tokens of a request, by our own count."""
        return sum(map(self._count, self._texts(request)))

    def _texts(self, request: Request) -> list[str]:
        tools = [json.dumps(self._api.tool(tool), ensure_ascii=False) for tool in request.tools]
        return counted_texts(request.messages) + tools

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
        now = self._clock.now()
        asked = (wait_asked(answer.retry_after, now), wait_in_words(body), wait_until_reset(answer.limits, now))
        wait = next(filter(None, asked), 0.0)
        return from_status(self._endpoint, answer.status, body, wait=wait, location=answer.location, key=key)


def body_data(body: bytes, endpoint: Endpoint) -> JsonObject:
    """The answer that came without a stream; raises `Retryable` if it is no JSON."""
    try:
        return mapping(parsed(body))
    except ValueError:
        raise broken_reply(endpoint, "is not JSON") from None


def event_data(event: ServerEvent, endpoint: Endpoint) -> JsonObject:
    """The data of an event of a stream; empty if it has none, or marks the end. Raises `Retryable` if it is no JSON."""
    if event.data.strip() in ("", "[DONE]"):
        return {}
    try:
        return mapping(parsed(event.data))
    except ValueError:
        raise broken_reply(endpoint, "has a piece that is not JSON") from None


def check_whole(endpoint: Endpoint, *, has_begun: bool, has_ended: bool) -> None:
    """Raise `Retryable` for a stream that has sent nothing, or has no end."""
    if not has_begun:
        raise broken_reply(endpoint, "is empty")
    if not has_ended:
        raise broken_reply(endpoint, "ends in the middle")


def broken_reply(endpoint: Endpoint, why: str) -> Retryable:
    """The error for an answer that is cut off or cannot be parsed."""
    return Retryable(
        "{place} gave an answer that {why}", delay=0.0, hint="try again later", place=endpoint.place, why=Sentence(why)
    )
