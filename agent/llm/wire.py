"""What all wires share: a call is sent, tried again where that may help, and said differently where a server asks so.

A wire gives the body of its request and reads the answer; it knows nothing of retries, keys in errors, or sockets.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from agent.clock import Clock
from agent.errors import Retryable
from agent.llm.endpoint import Endpoint, Limit
from agent.llm.failures import Rejected, from_status, wait_asked
from agent.llm.http import Answer, Http, key_of
from agent.llm.messages import Json, Object, Reply
from agent.llm.provider import Cancelled, OnText
from agent.llm.retry import Handed, Jitter, tried

MOST_OF_AN_ERROR = 64 * 1024
MOST_DIALECTS = 3
"""How often in one try a request is said differently."""

_UNKNOWN_FIELD = re.compile(r"unknown|unrecogni[sz]ed|unexpected|unsupported|extra (inputs|fields)|not permitted", re.I)


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a server takes requests: the name of its limit, and the fields that it can do without."""

    limit: Limit
    optional: Mapping[str, Json]

    def after(self, said: str) -> "Dialect | None":
        """The dialect to try when a server refused this one with these words; None when they name nothing of it."""
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
    """One try of a call, for who reads its answer: `key` must not be shown, `handed` takes the text."""

    endpoint: Endpoint
    key: str
    handed: Handed


Write = Callable[[Dialect], Object]
Read = Callable[[Answer, Exchange], Reply]


class Wire:
    """One model's server; what it turned out not to take is remembered. May be used by several threads at once."""

    def __init__(self, endpoint: Endpoint, clock: Clock, jitter: Jitter, path: str, dialect: Dialect) -> None:
        self.endpoint = endpoint
        self._http = Http(endpoint, clock)
        self._clock = clock
        self._jitter = jitter
        self._path = path
        self._dialect = dialect

    def ask(
        self,
        headers: Callable[[str], Mapping[str, str]],
        write: Write,
        read: Read,
        on_text: OnText,
        cancelled: Cancelled,
    ) -> Reply:
        """The reply that `read` makes of the answer to what `write` gives; `headers` are made with the key.

        Raises what `Provider.chat` raises.
        """
        key = key_of(self.endpoint)
        handed = Handed(on_text)
        exchange = Exchange(self.endpoint, key, handed)

        def once(dialect: Dialect) -> Reply:
            body = json.dumps(write(dialect), ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
            told = headers(key) if key else {}
            with self._http.post(self._path, told, body, key, cancelled) as answer:
                if answer.status != 200:
                    raise self._refused(answer, key)
                return read(answer, exchange)

        def attempt() -> Reply:
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

        return tried(attempt, handed, self.endpoint.retries, self._clock, self._jitter, cancelled)

    def _refused(self, answer: Answer, key: str) -> Exception:
        try:
            body = answer.body(MOST_OF_AN_ERROR).decode("utf-8", "replace")
        except Retryable:
            body = ""  # the status says enough
        wait = wait_asked(answer.retry_after, self._clock.now())
        return from_status(self.endpoint, answer.status, body, wait=wait, location=answer.location, key=key)


def broken(endpoint: Endpoint, why: str) -> Retryable:
    """The error for an answer that cannot be read to its end."""
    return Retryable(f"{endpoint.place} gave an answer that {why}", delay=0.0, hint="try again later")
