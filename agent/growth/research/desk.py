"""Where a research works: all of its searches, readings and calls of a model go through here.

Each is counted before it is made, and shown to whoever watches. A source that does not answer is left out, and a model
that does not answer is not asked again: the research goes on with what it has.
"""

import threading
from collections.abc import Iterable, Sequence
from dataclasses import field, replace
from itertools import islice
from typing import Literal, TypeAlias

from agent.context.budget import window_of
from agent.context.prompt import fill
from agent.dataclass import dataclass
from agent.errors import AgentError, Interrupted, ToolFailed, ToolRetry
from agent.events.growth import ResearchStep
from agent.growth.research.calls import CallShare, ResearchCalls
from agent.growth.research.findings import ResearchCall
from agent.growth.research.own_sources import FolderSource, VaultSource
from agent.growth.research.reading import Reading, fitted, ranked, without_reference_marks
from agent.growth.research.web_source import WebSource
from agent.llm.messages import Request, System, User
from agent.loop.agent import Models
from agent.runs.service import RunService
from agent.texts import Language, text, translated
from agent.tools.taint import frame

_RESULTS = 10
"""The most results of one search."""
_SAFETY, _FOLDER = "safety", "research"
"""The prompt with what always holds, and the folder of those of research."""
_LEAST_ROOM = 1_200
_SHARE_OF_WINDOW = 0.6
"""The part of a model's budget for the texts of sources in one question to it."""

ResearchSource: TypeAlias = VaultSource | FolderSource | WebSource
"""Something that can be searched and read, safe to use from several threads. `is_public`: what is searched for leaves
this machine. Both raise `ToolFailed` or `ToolRetry` where they get no answer, and `Interrupted` soon after a stop."""


@dataclass(slots=True)
class ResearchDesk:
    """The desk of one research, the `call`; may be used by several threads.

    `own` are the person's sources, `web` is the web (None: it is not searched; `is_offline`: because the settings or
    the policy do not allow it). `models` is None where no model is configured. `readings` are what was read, by number;
    `failures` the addresses and searches that gave nothing, each with the reason. `trouble` is why no model is asked
    any more. `asked` counts the answers of models.
    """

    runs: RunService
    call: ResearchCall
    calls: ResearchCalls
    own: Sequence[ResearchSource]
    web: WebSource | None
    is_offline: bool
    models: Models | None
    readings: dict[int, Reading] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    trouble: AgentError | None = None
    asked: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def topic(self) -> str:
        """The topic of the research."""
        return self.call.topic

    @property
    def language(self) -> Language:
        """The language of the note."""
        return self.runs.workspace.settings.vault.language

    @property
    def thinks(self) -> bool:
        """True while a model can be asked."""
        return self.models is not None and self.trouble is None

    def search(self, source: ResearchSource, query: str, share: CallShare) -> Sequence[Reading]:
        """The results of a source for a query; none if it fails, or the calls are used up. Raises `Interrupted`."""
        query = " ".join(query.split())
        key = ("search", source.name, query)
        if not self._begin(key, share, "search", f"{source.name}: {query}"):
            return ()
        try:
            return self.calls.once(key, lambda: source.search(query, _RESULTS, self.call.cancelled))
        except (ToolFailed, ToolRetry) as error:
            self._fail(f"{source.name}: {query}", error)
            return ()

    def open(self, source: ResearchSource, found: Reading, share: CallShare) -> Reading | None:
        """What was found, with its text and its number; what was read before is not read again. Of a page that cannot
        be read, what the search engine shows of it; None if that is nothing, or the calls are used up. Raises
        `Interrupted`."""
        key = ("read", found.address)
        if found.text:
            return self._numbered(found)
        if not self.calls.is_done(key) and not self._begin(key, share, "read", found.address):
            return None
        try:
            (reading,) = self.calls.once(key, lambda: (source.read(found, self.call.cancelled),))
            return self._numbered(reading)
        except (ToolFailed, ToolRetry) as error:
            self._fail(found.address, error)
        if not found.excerpt:
            return None
        return self._numbered(replace(found, text=found.excerpt, origin=found.address, is_excerpt=True))

    def read_web(
        self, queries: Iterable[str], share: CallShare, most: int | None = None, *, named: bool = True
    ) -> list[Reading]:
        """At most so many pages: those that the person has named, if they are wanted (`named`), and those that the
        engines find, the most trusted ones first. Raises `Interrupted`."""
        web = self.web
        if web is None:
            return []
        found = [each for query in queries for each in self.search(web, query, share)] if web.engines else []
        pages = [*(web.named_pages() if named else ()), *ranked(found, self.call.kind)]
        return list(islice(filter(None, (self.open(web, each, share) for each in pages)), most))

    def ask(self, prompt: str, **values: str) -> str:
        """A model's answer to the prompt of this name, which is about the topic; empty if none can be asked. Raises
        `Interrupted`."""
        if self.models is None or self.trouble is not None:
            return ""
        reader = self.runs.workspace.vault.own_version_of
        whole = fill(f"{_FOLDER}/{prompt}", reader, topic=self.topic, **values)
        self._show("ask", prompt)
        provider = self.models.main
        request = Request((System(fill(_SAFETY)), User(whole)), max_output=window_of(provider.model).reserve)
        try:
            reply = provider.chat(request, cancelled=self.call.cancelled)
        except Interrupted:
            raise
        except AgentError as error:
            self.trouble = self.trouble or error
            return ""
        with self._lock:
            self.asked += 1
        return reply.message.text.strip()

    def write(self, prompt: str, **values: str) -> str:
        """The same, in the language of the vault, which the prompt names."""
        return self.ask(prompt, language=text("prompt.language", self.language), **values)

    def framed(self, readings: Sequence[Reading], query: str) -> str:
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
        return max(int(tokens * len(sample) / max(self.runs.agent.count(sample), 1)), _LEAST_ROOM)

    def _numbered(self, found: Reading) -> Reading:
        """The reading with its number; as it was read first."""
        number = self.calls.number_of(found.address)
        with self._lock:
            return self.readings.setdefault(number, replace(found, number=number))

    def _begin(self, key: tuple[str, ...], share: CallShare, what: Literal["search", "read"], subject: str) -> bool:
        if self.call.cancelled():
            raise Interrupted("stopped by you")
        is_allowed = self.calls.begin(key, share)
        if is_allowed:
            self._show(what, subject)
        return is_allowed

    def _show(self, what: Literal["search", "read", "ask"], subject: str) -> None:
        calls = self.calls
        self.runs.bus.publish(ResearchStep(calls.run, what, subject, len(self.readings), calls.used, calls.most))

    def _fail(self, what: str, error: ToolFailed | ToolRetry) -> None:
        with self._lock:
            self.failures.setdefault(what, translated(error.message, self.language))


def _framed(reading: Reading, words: str) -> str:
    named = f"[{reading.number}] {reading.title or reading.address}" + (f", {reading.date}" if reading.date else "")
    if reading.origin:
        return f"Source {frame(words, named)}"
    return f"Source {named} (the person's own note):\n{words}"
