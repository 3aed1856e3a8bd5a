"""The web as a source: a search engine finds addresses, and pages are read as `web_fetch` reads them, by its rules.

No address is put together by a model: only what a person has named and what an engine has found is read, and no query
has a secret of this machine in it.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import islice

from agent.clock import Clock
from agent.config.masking import count_secrets
from agent.dataclass import dataclass
from agent.errors import ToolFailed
from agent.growth.research.engines import SearchEngine
from agent.growth.research.reading import Reading, authority_of
from agent.llm.messages import Cancelled
from agent.texts import Sentence, joined
from agent.tools.builtin.web import LIMITS, FetchLimits, WebNetwork, fetch_page

NAME = "web"
_LONGEST = 100_000
"""Characters of one page that are kept: a book's chapter, many times what a model is shown of it."""


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

    @property
    def name(self) -> str:
        return ", ".join(each.name for each in self.engines) or NAME

    @property
    def is_public(self) -> bool:
        return True

    def search(self, query: str, most: int, cancelled: Cancelled) -> Sequence[Reading]:
        """What the first engine that answers has found; raises `ToolFailed` with the reasons if none does."""
        if count_secrets(query, self.secrets()):
            raise ToolFailed(Sentence("the query has a secret of this machine in it; it was not sent"))
        failures = list[Sentence]()
        for engine in self.engines:
            try:
                found = engine.find(query, most, cancelled)
            except ToolFailed as error:
                failures.append(error.message)
                continue
            return [self._rated(each) for each in islice(found, most)]
        raise ToolFailed(joined(failures, "; ") if failures else Sentence("no search engine is configured"))

    def named_pages(self) -> Sequence[Reading]:
        """The pages that the person has named."""
        return [self._rated(Reading(each)) for each in self.named]

    def read(self, found: Reading, cancelled: Cancelled) -> Reading:
        """The page at an address; all of it is a stranger's."""
        page = fetch_page(found.address, self.clock, self.secrets(), cancelled, self.network, self.limits)
        text = page.content.text[:_LONGEST].strip()
        if not text:
            raise ToolFailed(Sentence("there is nothing to read there"))
        title = " ".join(page.content.title.split())[:200] or found.title
        return replace(found, title=title, date=page.content.date or found.date, text=text, origin=page.address)

    def _rated(self, found: Reading) -> Reading:
        return replace(found, authority=authority_of(found.address, self.topic))
