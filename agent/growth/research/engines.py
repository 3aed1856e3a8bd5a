"""Search engines of the web: SearXNG, Brave and Tavily. Each is a request and the leads in its answer.

They are the person's choice, so their addresses may be on this machine. Redirects are not followed and the
environment's proxies are not asked, since a request holds a key. What they send is a stranger's text.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import unescape
from re import sub
from urllib.parse import urlencode

from agent.clock import Clock
from agent.config.research_settings import EngineSettings, ResearchSettings
from agent.config.secrets import reveal
from agent.errors import ConfigError, MissingKey, ToolFailed
from agent.growth.research.source import Lead
from agent.llm.endpoint import http_address
from agent.llm.exchange import ExchangeFailed, Route, exchange
from agent.llm.fields import items, mapping, parsed, text
from agent.llm.messages import Json, JsonObject
from agent.llm.provider import Cancelled
from agent.tools.builtin.page_date import day_in

TIMEOUT = 15.0
"""The longest silence of an engine, in seconds."""
_LONGEST = 30.0
_MOST_BYTES = 2 << 20
_EXCERPT = 2_000
"""The most characters of an excerpt: Tavily gives paragraphs."""
_QUERY = 400
"""The longest query that Brave and Tavily take."""


@dataclass(frozen=True, slots=True)
class EngineCall:
    """A request to an engine."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class SearchEngine:
    """One engine: `call` is the request for a query and a number of results, `results` the leads in its answer."""

    name: str
    clock: Clock
    call: Callable[[str, int], EngineCall]
    results: Callable[[JsonObject], Iterator[Lead]]

    def find(self, query: str, most: int, cancelled: Cancelled) -> Sequence[Lead]:
        """The leads for a query; raises `ToolFailed` and `Interrupted`."""
        asked = self.call(query[:_QUERY], most)
        if http_address(asked.url) is None:
            raise ToolFailed(f"{self.name}: its address in the settings is none")
        headers = {"user-agent": "vault-agent", "accept": "application/json", "accept-encoding": "identity"}
        route = Route(asked.url, asked.url.startswith("https:"), TIMEOUT, _LONGEST)
        try:
            with exchange(
                route, asked.method, headers | dict(asked.headers), asked.body, cancelled, self.clock
            ) as reply:
                if reply.status != 200:
                    raise ToolFailed(f"{self.name} answered {reply.status}{_advice(self.name, reply.status)}")
                document = mapping(parsed(reply.body(_MOST_BYTES)))
        except ExchangeFailed as error:
            raise ToolFailed(f"{self.name} gave no answer: {error.failed.fault}") from None
        except ValueError as error:
            raise ToolFailed(f"{self.name} did not answer as a search engine does") from error
        found = (each for each in self.results(document) if each.address.startswith(("http://", "https://")))
        return tuple({each.address: each for each in found}.values())[:most]


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

    return SearchEngine("SearXNG", clock, call, results)


def _brave(settings: EngineSettings, clock: Clock) -> SearchEngine:
    def call(query: str, most: int) -> EngineCall:
        words = urlencode({"q": query, "count": min(most, 20)})
        key = {"x-subscription-token": _key(settings, "Brave")}
        return EngineCall("GET", f"{_base(settings.base_url)}/res/v1/web/search?{words}", key)

    def results(document: JsonObject) -> Iterator[Lead]:
        found = items(mapping(document.get("web")).get("results"))
        for each in map(mapping, found):
            yield _lead(each, "url", "title", "description", text(each.get("page_age")) or text(each.get("age")))

    return SearchEngine("Brave", clock, call, results)


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

    return SearchEngine("Tavily", clock, call, results)


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
        raise ToolFailed(f"{name} was not asked: {error.message}") from error


def _advice(name: str, status: int) -> str:
    if status in (401, 403):
        return ": it refuses us (its key; with SearXNG, `json` among its formats)"
    return ": too many searches" if status == 429 else ""
