"""Search engines of the web: SearXNG, Brave and Tavily. Each is a request and the leads in its answer.

They are the person's choice, so their addresses may be on this machine. Redirects are not followed and the
environment's proxies are not asked, since a request holds a key. What they send is a stranger's text. An engine that
is asked too quickly (429: Brave's free plan takes one search a second) is asked again after the time it names.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import unescape
from re import sub
from urllib.parse import urlencode

from agent.attachments.html.page_date import day_in
from agent.clock import Clock
from agent.config.growth_settings import EngineSettings, ResearchSettings
from agent.config.secrets import reveal
from agent.dataclass import dataclass
from agent.errors import ConfigError, MissingKey, ToolFailed
from agent.growth.research.source import Lead
from agent.llm.endpoint import http_address
from agent.llm.exchange import ExchangeFailed, Route, exchange
from agent.llm.messages import Cancelled, Json, JsonObject, items, mapping, parsed, text
from agent.llm.retry import pause
from agent.llm.waits import wait_asked
from agent.texts import Sentence

TIMEOUT = 15.0
"""The longest silence of an engine, in seconds."""
_LONGEST = 30.0
_MOST_BYTES = 2 << 20
_EXCERPT = 2_000
"""The most characters of an excerpt: Tavily gives paragraphs."""
_QUERY = 400
"""The longest query that Brave and Tavily take."""
_TRIES, _PAUSE, _LONGEST_PAUSE = 3, 1.1, 8.0
"""How often an engine is asked that says "too many", and the seconds between: what it names, at most the last."""
_TOO_MANY = 429
_REFUSALS = frozenset((401, 403, 422))
"""Statuses for a key that does not count; Brave answers 422 for one that it does not know."""
_USED_UP = frozenset((402, 432, 433))
"""Statuses for a plan that is used up: 432 and 433 are Tavily's."""


@dataclass(frozen=True, slots=True)
class EngineCall:
    """A request to an engine."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class SearchEngine:
    """One engine: `call` is the request for a query and a number of results, `results` the leads in its answer.
    `section` has its settings, `needs` is what it refuses us without."""

    name: str
    section: str
    needs: str
    clock: Clock
    call: Callable[[str, int], EngineCall]
    results: Callable[[JsonObject], Iterator[Lead]]

    def find(self, query: str, most: int, cancelled: Cancelled) -> Sequence[Lead]:
        """The leads for a query; raises `ToolFailed` with what to do about it, and `Interrupted`."""
        asked = self.call(query[:_QUERY], most)
        if http_address(asked.url) is None:
            raise self._not_asked()
        for _ in range(_TRIES - 1):
            found = self._answer(asked, cancelled)
            if not isinstance(found, float):
                break
            pause(found, self.clock, cancelled)
        else:
            found = self._answer(asked, cancelled)
        if isinstance(found, float):
            too_many = Sentence("too many searches, {count} tries; try again later", count=_TRIES)
            raise self._answered(_TOO_MANY, too_many)
        leads: dict[str, Lead] = {}
        for each in self.results(found):
            if each.address.startswith(("http://", "https://")):
                leads.setdefault(each.address, each)
        return tuple(leads.values())[:most]

    def _answer(self, asked: EngineCall, cancelled: Cancelled) -> JsonObject | float:
        """The document that an engine answers, or the seconds after which it may be asked again."""
        headers = {"user-agent": "vault-agent", "accept": "application/json", "accept-encoding": "identity"}
        headers |= dict(asked.headers)
        route = Route(asked.url, asked.url.startswith("https:"), TIMEOUT, _LONGEST)
        try:
            with exchange(route, asked.method, headers, asked.body, cancelled, self.clock) as reply:
                if reply.status == _TOO_MANY:
                    return wait_asked(reply.retry_after, self.clock.now(), _LONGEST_PAUSE) or _PAUSE
                if reply.status != 200:
                    raise self._answered(reply.status, self._advice(reply.status))
                found = parsed(reply.body(_MOST_BYTES))
        except ExchangeFailed as error:
            raise self._silent(error.failed.fault) from None
        except ValueError as error:
            raise self._no_engine() from error
        if not isinstance(found, dict):
            raise self._no_engine()
        return found

    def _not_asked(self) -> ToolFailed:
        setting = f"{self.section}.base_url"
        said = Sentence("{engine} was not asked: {setting} is no address", engine=self.name, setting=setting)
        return ToolFailed(said)

    def _answered(self, status: int, advice: Sentence) -> ToolFailed:
        said = Sentence("{engine} answered {status}: {advice}", engine=self.name, status=status, advice=advice)
        return ToolFailed(said)

    def _silent(self, fault: str) -> ToolFailed:
        advice = self._check()
        said = Sentence("{engine} gave no answer ({fault}): {advice}", engine=self.name, fault=fault, advice=advice)
        return ToolFailed(said)

    def _no_engine(self) -> ToolFailed:
        said = Sentence(
            "{engine} did not answer as a search engine does: {advice}", engine=self.name, advice=self._check()
        )
        return ToolFailed(said)

    def _advice(self, status: int) -> Sentence:
        if status in _REFUSALS:
            return Sentence("it refuses us; check {setting}", setting=self.needs)
        if status in _USED_UP:
            return Sentence("what its plan allows is used up")
        return self._check() if status < 500 else Sentence("it has a problem of its own; try again later")

    def _check(self) -> Sentence:
        return Sentence("check {setting}", setting=f"{self.section}.base_url")


def engines_of(settings: ResearchSettings, clock: Clock) -> tuple[SearchEngine, ...]:
    """The engines that are configured, in their order."""
    found = [_searxng(settings.searxng.base_url, clock)] if settings.searxng.base_url else []
    found += [_brave(settings.brave, clock)] if settings.brave.api_key.reference else []
    found += [_tavily(settings.tavily, clock)] if settings.tavily.api_key.reference else []
    return tuple(found)


def _searxng(base_url: str, clock: Clock) -> SearchEngine:
    def call(query: str, most: int) -> EngineCall:
        return EngineCall("GET", f"{_base(base_url)}/search?{urlencode({'q': query, 'format': 'json'})}", {})

    def results(document: JsonObject) -> Iterator[Lead]:
        return (
            _lead(each, "url", "title", "content", text(each.get("publishedDate")))
            for each in map(mapping, items(document.get("results")))
        )

    return SearchEngine(
        "SearXNG", "research.searxng", "that `json` is among the formats in its settings", clock, call, results
    )


def _brave(settings: EngineSettings, clock: Clock) -> SearchEngine:
    def call(query: str, most: int) -> EngineCall:
        words = urlencode({"q": query, "count": min(most, 20)})
        key = {"x-subscription-token": _key(settings, "Brave")}
        return EngineCall("GET", f"{_base(settings.base_url)}/res/v1/web/search?{words}", key)

    def results(document: JsonObject) -> Iterator[Lead]:
        found = items(mapping(document.get("web")).get("results"))
        for each in map(mapping, found):
            yield _lead(each, "url", "title", "description", text(each.get("page_age")) or text(each.get("age")))

    return SearchEngine("Brave", "research.brave", "research.brave.api_key", clock, call, results)


def _tavily(settings: EngineSettings, clock: Clock) -> SearchEngine:
    def call(query: str, most: int) -> EngineCall:
        headers = {"content-type": "application/json", "authorization": f"Bearer {_key(settings, 'Tavily')}"}
        body = json.dumps({"query": query, "max_results": min(most, 20)}).encode()
        return EngineCall("POST", f"{_base(settings.base_url)}/search", headers, body)

    def results(document: JsonObject) -> Iterator[Lead]:
        return (
            _lead(each, "url", "title", "content", text(each.get("published_date")))
            for each in map(mapping, items(document.get("results")))
        )

    return SearchEngine("Tavily", "research.tavily", "research.tavily.api_key", clock, call, results)


def _lead(found: Mapping[str, Json], address: str, title: str, excerpt: str, date: str) -> Lead:
    words = (unescape(sub(r"<[^<>]{0,200}>", "", text(found.get(key)))) for key in (title, excerpt))
    named, shown = (" ".join(each.split()) for each in words)
    return Lead(text(found.get(address)).strip()[:2_000], named[:200], shown[:_EXCERPT], day_in(date))


def _base(url: str) -> str:
    return url.strip().rstrip("/")


def _key(settings: EngineSettings, name: str) -> str:
    try:
        return reveal(settings.api_key)
    except (MissingKey, ConfigError) as error:
        raise ToolFailed(Sentence("{engine} was not asked: {reason}", engine=name, reason=error)) from error
