"""The web as a source: a search engine finds addresses, and pages are read as `web_fetch` reads them, by its rules.

No address is put together by a model: only what a person has named and what an engine has found is read, and no query
has a secret of this machine in it. The engines are the person's choice, so their addresses may be on this machine.
Redirects are not followed and the environment's proxies are not asked, since a request holds a key. What they send is a
stranger's text. One that is asked too quickly (429: Brave's free plan takes one search a second) is asked again after
the time it names.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from html import unescape
from re import sub
from urllib.parse import urlencode

from agent.attachments.html.page_date import day_in
from agent.clock import Clock
from agent.config.growth_settings import EngineSettings, ResearchSettings
from agent.config.masking import count_secrets
from agent.config.secrets import reveal
from agent.dataclass import dataclass
from agent.errors import ConfigError, MissingKey, ToolFailed
from agent.growth.research.reading import Reading, authority_of
from agent.llm.endpoint import http_address
from agent.llm.exchange import ExchangeFailed, Route, exchange
from agent.llm.messages import Cancelled, Json, JsonObject, items, mapping, parsed, text
from agent.llm.retry import pause
from agent.llm.waits import wait_asked
from agent.texts import Sentence, joined
from agent.tools.builtin.web import LIMITS, FetchLimits, WebNetwork, fetch_page

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
_LONGEST_PAGE = 100_000
"""Characters of one page that are kept: a book's chapter, many times what a model is shown of it."""


@dataclass(frozen=True, slots=True)
class EngineCall:
    """A request to an engine: a POST, if it has a `body`."""

    url: str
    headers: Mapping[str, str]
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class SearchEngine:
    """One engine: `call` is the request for a query and a number of results; `results` are the keys in its answer, one
    below the other, of the list of results, `excerpt` and `days` those in a result of its excerpt and of its day.
    `section` has its settings, `needs` is what it refuses us without."""

    name: str
    section: str
    needs: str
    clock: Clock
    call: Callable[[str, int], EngineCall]
    results: Sequence[str] = ("results",)
    excerpt: str = "content"
    days: Sequence[str] = ("published_date",)

    def find(self, query: str, most: int, cancelled: Cancelled) -> Sequence[Reading]:
        """The results for a query; raises `ToolFailed` with what to do about it, and `Interrupted`."""
        call = self.call(query[:_QUERY], most)
        if http_address(call.url) is None:
            raise self._failed("{engine} was not asked: {setting} is no address", setting=f"{self.section}.base_url")
        for number in range(1, _TRIES + 1):
            answer = self._answer(call, cancelled)
            if not isinstance(answer, float):
                return self._found(answer)[:most]
            pause(answer if number < _TRIES else 0.0, self.clock, cancelled)
        raise self._refused(_TOO_MANY, Sentence("too many searches, {count} tries; try again later", count=_TRIES))

    def _found(self, answer: Json) -> Sequence[Reading]:
        for key in self.results:
            answer = mapping(answer).get(key)
        found: dict[str, Reading] = {}
        for each in map(self._reading, map(mapping, items(answer))):
            if http_address(each.address) is not None:
                found.setdefault(each.address, each)
        return tuple(found.values())

    def _reading(self, found: JsonObject) -> Reading:
        words = (unescape(sub(r"<[^<>]{0,200}>", "", text(found.get(key)))) for key in ("title", self.excerpt))
        title, excerpt = (" ".join(each.split()) for each in words)
        day = day_in(next(filter(None, (text(found.get(key)) for key in self.days)), ""))
        return Reading(text(found.get("url")).strip()[:2_000], title[:200], excerpt[:_EXCERPT], day)

    def _answer(self, call: EngineCall, cancelled: Cancelled) -> JsonObject | float:
        """The document that an engine answers, or the seconds after which it may be asked again."""
        headers = {"user-agent": "vault-agent", "accept": "application/json", "accept-encoding": "identity"}
        route = Route(call.url, call.url.startswith("https:"), TIMEOUT, _LONGEST)
        method, headers = "POST" if call.body else "GET", headers | dict(call.headers)
        try:
            with exchange(route, method, headers, call.body, cancelled, self.clock) as reply:
                if reply.status == _TOO_MANY:
                    return wait_asked(reply.retry_after, self.clock.now(), _LONGEST_PAUSE) or _PAUSE
                if reply.status != 200:
                    raise self._refused(reply.status, self._advice(reply.status))
                found = parsed(reply.body(_MOST_BYTES))
        except ExchangeFailed as error:
            fault = error.failed.fault
            raise self._failed("{engine} gave no answer ({fault}): {advice}", fault=fault, advice=self._check) from None
        except ValueError:
            found = None
        if not isinstance(found, dict):
            raise self._failed("{engine} did not answer as a search engine does: {advice}", advice=self._check)
        return found

    def _advice(self, status: int) -> Sentence:
        if status in _REFUSALS:
            return Sentence("it refuses us; check {setting}", setting=self.needs)
        if status in _USED_UP:
            return Sentence("what its plan allows is used up")
        return self._check if status < 500 else Sentence("it has a problem of its own; try again later")

    @property
    def _check(self) -> Sentence:
        return Sentence("check {setting}", setting=f"{self.section}.base_url")

    def _refused(self, status: int, advice: Sentence) -> ToolFailed:
        return self._failed("{engine} answered {status}: {advice}", status=status, advice=advice)

    def _failed(self, english: str, **values: object) -> ToolFailed:
        return ToolFailed(Sentence(english, engine=self.name, **values))


def engines_of(settings: ResearchSettings, clock: Clock) -> tuple[SearchEngine, ...]:
    """The engines that are configured, in their order."""
    found: list[SearchEngine] = []
    if base_url := settings.searxng.base_url:
        needs = "that `json` is among the formats in its settings"
        call = partial(_ask_searxng, base_url)
        found.append(SearchEngine("SearXNG", "research.searxng", needs, clock, call, days=("publishedDate",)))
    if settings.brave.api_key.reference:
        call, results, days = partial(_ask_brave, settings.brave), ("web", "results"), ("page_age", "age")
        needs = "research.brave.api_key"
        found.append(SearchEngine("Brave", "research.brave", needs, clock, call, results, "description", days))
    if settings.tavily.api_key.reference:
        call, needs = partial(_ask_tavily, settings.tavily), "research.tavily.api_key"
        found.append(SearchEngine("Tavily", "research.tavily", needs, clock, call))
    return tuple(found)


def _ask_searxng(base_url: str, query: str, most: int) -> EngineCall:
    return EngineCall(f"{_base(base_url)}/search?{urlencode({'q': query, 'format': 'json'})}", {})


def _ask_brave(settings: EngineSettings, query: str, most: int) -> EngineCall:
    words = urlencode({"q": query, "count": min(most, 20)})
    key = {"x-subscription-token": _key(settings, "Brave")}
    return EngineCall(f"{_base(settings.base_url)}/res/v1/web/search?{words}", key)


def _ask_tavily(settings: EngineSettings, query: str, most: int) -> EngineCall:
    headers = {"content-type": "application/json", "authorization": f"Bearer {_key(settings, 'Tavily')}"}
    body = json.dumps({"query": query, "max_results": min(most, 20)}).encode()
    return EngineCall(f"{_base(settings.base_url)}/search", headers, body)


def _base(url: str) -> str:
    return url.strip().rstrip("/")


def _key(settings: EngineSettings, name: str) -> str:
    try:
        return reveal(settings.api_key)
    except (MissingKey, ConfigError) as error:
        raise ToolFailed(Sentence("{engine} was not asked: {reason}", engine=name, reason=error)) from error


@dataclass(frozen=True, slots=True)
class WebSource:
    """The web, searched by the first of the `engines` that answers. `named` are the addresses that the person has
    named. `secrets` gives the values that nothing sent may contain."""

    topic: str
    engines: Sequence[SearchEngine]
    named: Sequence[str]
    clock: Clock
    secrets: Callable[[], Sequence[str]]
    network: WebNetwork
    limits: FetchLimits = LIMITS
    is_public: bool = True

    @property
    def name(self) -> str:
        return ", ".join(each.name for each in self.engines) or "web"

    def search(self, query: str, most: int, cancelled: Cancelled) -> Sequence[Reading]:
        """The results of the first engine that answers; raises `ToolFailed` with the reasons if none does."""
        if count_secrets(query, self.secrets()):
            raise ToolFailed(Sentence("the query has a secret of this machine in it; it was not sent"))
        failures = list[Sentence]()
        for engine in self.engines:
            try:
                found = engine.find(query, most, cancelled)
            except ToolFailed as error:
                failures.append(error.message)
                continue
            return [self._rated(each) for each in found]
        raise ToolFailed(joined(failures, "; ") if failures else Sentence("no search engine is configured"))

    def named_pages(self) -> Sequence[Reading]:
        """The pages that the person has named."""
        return [self._rated(Reading(each)) for each in self.named]

    def read(self, found: Reading, cancelled: Cancelled) -> Reading:
        """The page at an address; all of it is a stranger's."""
        page = fetch_page(found.address, self.clock, self.secrets(), cancelled, self.network, self.limits)
        text = page.content.text[:_LONGEST_PAGE].strip()
        if not text:
            raise ToolFailed(Sentence("there is nothing to read there"))
        title = " ".join(page.content.title.split())[:200] or found.title
        return replace(found, title=title, date=page.content.date or found.date, text=text, origin=page.address)

    def _rated(self, found: Reading) -> Reading:
        return replace(found, authority=authority_of(found.address, self.topic))
