"""Where a research works: all of its searches, readings and calls of a model go through here.

Each is counted before it is made, written down when it is done, and told to whoever watches. A source that does not
answer is left out, and a model that does not answer is not asked again: the research goes on with what it has.
"""

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, field
from typing import Literal, cast

from agent.context.budget import Count, window_of
from agent.context.prompt import VaultReader, fill
from agent.dataclass import dataclass
from agent.errors import AgentError, Interrupted, LimitReached, ToolFailed, ToolRetry
from agent.events.growth import ResearchStep
from agent.growth.research.budget import CallBudget, CallShare
from agent.growth.research.passages import fitted, without_reference_marks
from agent.growth.research.record import ResearchRecord, key_of
from agent.growth.research.source import Authority, Lead, Reading, ResearchSource
from agent.llm.messages import Cancelled, Json, Request, System, User, items, mapping
from agent.llm.messages import text as words_of_json
from agent.loop.agent import Models
from agent.texts import Language, text, translated
from agent.tools.taint import frame

_RESULTS = 10
"""Leads of one search."""
_SAFETY, _FOLDER = "safety", "research"
"""The prompt with what always holds, and the folder of those of research."""
_LEAST_ROOM = 1_200
_SHARE_OF_WINDOW = 0.6
"""The part of a model's budget for the texts of sources in one question to it."""

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class ResearchDesk:
    """The desk of one research; may be used by several threads.

    `models` is None where no model is configured. `readings` are what was read, by number; `failures` the addresses and
    searches that gave nothing, each with the reason. `trouble` is why no model is asked any more. `asked` counts the
    answers of models in this attempt.
    """

    topic: str
    record: ResearchRecord
    budget: CallBudget
    models: Models | None
    count: Count
    read: VaultReader
    note_language: Language
    cancelled: Cancelled
    publish: Callable[[object], object]
    readings: dict[int, Reading] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    trouble: AgentError | None = None
    asked: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def language(self) -> str:
        """The language of what models write, as prompts name it."""
        return text("prompt.language", self.note_language)

    @property
    def thinks(self) -> bool:
        """True while a model can be asked."""
        return self.models is not None and self.trouble is None

    def search(self, source: ResearchSource, query: str, share: CallShare) -> list[Lead]:
        """What a source finds for a query; nothing if it fails. Raises `BudgetSpent` and `Interrupted`."""
        query = " ".join(query.split())
        key = key_of("search", source.name, query)
        self._begin(key, share, "search", f"{source.name}: {query}")
        try:
            if not source.is_public:  # costs nothing, and what is forgotten meanwhile must not come back
                return list(source.search(query, _RESULTS, self.cancelled))
            found = self.record.once(key, lambda: _rows(source.search(query, _RESULTS, self.cancelled)))
        except (ToolFailed, ToolRetry) as error:
            self._fail(f"{source.name}: {query}", error)
            return []
        return [_lead(mapping(each)) for each in items(found)]

    def open(self, source: ResearchSource, lead: Lead, share: CallShare) -> Reading | None:
        """What stands at a lead, with its number; what was read before is not read again. Of a page that cannot be
        read, what the search engine shows of it; None if that is nothing. Raises `BudgetSpent` and `Interrupted`."""
        key = key_of("read", lead.address)
        if lead.text:
            return self._numbered(lead)
        if not self.record.has(key):
            self._begin(key, share, "read", lead.address)
        try:
            if not source.is_public:
                return self._numbered(source.read(lead, self.cancelled))
            found = self.record.once(key, lambda: cast(Json, asdict(source.read(lead, self.cancelled))))
        except (ToolFailed, ToolRetry) as error:
            self._fail(lead.address, error)
            return self._numbered(lead, is_excerpt=True) if lead.excerpt else None
        return self._numbered(_lead(mapping(found)))

    def listing(self, source: ResearchSource, rows: str, share: CallShare) -> Reading | None:
        """The structure of a folder as a source of its own. Raises `BudgetSpent` and `Interrupted`."""
        self._begin(key_of("list", source.name), share, "read", source.name)
        title = text("research.structure", self.note_language)
        return self._numbered(Lead(".", title, authority="code", source=source.name, text=rows, origin=source.name))

    def ask(self, prompt: str, *, fast: bool = False, **values: str) -> str:
        """A model's answer to the prompt of this name; empty if none can be asked. Raises `Interrupted`."""
        if self.models is None or self.trouble is not None:
            return ""
        whole = fill(f"{_FOLDER}/{prompt}", self.read, **values)
        self._tell("ask", prompt)
        provider = self.models.fast if fast else self.models.main
        request = Request((System(fill(_SAFETY)), User(whole)), max_output=window_of(provider.model).reserve)

        def answer() -> Json:
            reply = provider.chat(request, cancelled=self.cancelled)
            with self._lock:
                self.asked += 1
            return reply.message.text

        try:
            return words_of_json(self.record.once(key_of("ask", provider.model.name, whole), answer)).strip()
        except Interrupted:
            raise
        except AgentError as error:
            logger.info("research goes on without a model: %s", error)
            self.trouble = self.trouble or error
            return ""

    @property
    def is_over_the_limit(self) -> bool:
        """True if no model is asked any more because of what it would cost."""
        return isinstance(self.trouble, LimitReached)

    def shown(self, readings: Sequence[Reading], query: str) -> str:
        """The sources for a model, framed, each with its number, and cut to what fits its window."""
        texts = {each.number: without_reference_marks(each.text) for each in readings}
        parts = fitted(texts, f"{self.topic} {query}", self._room())
        return "\n\n".join(_framed(each, parts[each.number]) for each in readings)

    def _room(self) -> int:
        """The characters of sources that one question to the model may hold."""
        if self.models is None:
            return _LEAST_ROOM
        tokens = max(window_of(self.models.main.model).budget * _SHARE_OF_WINDOW, 200)
        sample = " ".join(each.text[:2_000] for each in list(self.readings.values())[:4]) or self.topic
        return max(int(tokens * len(sample) / max(self.count(sample), 1)), _LEAST_ROOM)

    def _numbered(self, lead: Lead, *, is_excerpt: bool = False) -> Reading:
        """The reading of a lead; its number is the one that it had in an earlier attempt, or a new one."""
        with self._lock:
            known = next((each for each in self.readings.values() if each.address == lead.address), None)
        if known is not None:
            return known

        words = lead.excerpt if is_excerpt else lead.text
        origin = lead.origin or (lead.address if is_excerpt else "")
        reading = Reading(
            self.record.number_of(lead.address),
            lead.address,
            lead.title,
            words,
            lead.date,
            lead.authority,
            lead.source,
            origin,
            is_excerpt,
        )
        with self._lock:
            return self.readings.setdefault(reading.number, reading)

    def _begin(self, key: str, share: CallShare, what: Literal["search", "read"], subject: str) -> None:
        if self.cancelled():
            raise Interrupted("stopped by you")
        self.budget.begin(key, share)
        self._tell(what, subject)

    def _tell(self, what: Literal["search", "read", "ask"], subject: str) -> None:
        self.publish(
            ResearchStep(self.record.run, what, subject, len(self.readings), self.budget.used, self.budget.most)
        )

    def _fail(self, what: str, error: ToolFailed | ToolRetry) -> None:
        logger.info("research: %s: %s", what, error.message)
        with self._lock:
            self.failures.setdefault(what, translated(error.message, self.note_language))


def _framed(reading: Reading, words: str) -> str:
    named = f"[{reading.number}] {reading.title or reading.address}" + (f", {reading.date}" if reading.date else "")
    if reading.origin:
        return f"Source {frame(words, named)}"
    return f"Source {named} (the person's own note):\n{words}"


def _rows(leads: Sequence[Lead]) -> Json:
    """The leads as they are written down."""
    return [cast(Json, asdict(each)) for each in leads]


def _lead(found: Mapping[str, Json]) -> Lead:
    names = ("address", "title", "excerpt", "date", "authority", "source", "text", "origin")
    address, title, excerpt, date, authority, source, words, origin = (words_of_json(found.get(name)) for name in names)
    return Lead(address, title, excerpt, date, cast(Authority, authority or "page"), source, words, origin)
