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
from agent.growth.research.authority import authority_of
from agent.growth.research.engines import SearchEngine
from agent.growth.research.source import Lead
from agent.llm.messages import Cancelled
from agent.texts import Sentence, joined
from agent.tools.builtin.web import LIMITS, FetchLimits, WebNetwork, fetch_page

NAME = "web"
_LONGEST = 100_000
"""Characters of one page that are kept: a book's chapter, many times what a model is shown of it."""


@dataclass(frozen=True, slots=True)
class WebSource:
    """The web, searched by the first of the `engines` that answers. `stated` are the addresses that the person has
    named: they are the first leads of each search. `secrets` gives the values that nothing sent may contain."""

    topic: str
    engines: Sequence[SearchEngine]
    stated: Sequence[str]
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

    def search(self, query: str, most: int, cancelled: Cancelled) -> Sequence[Lead]:
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

    def leads(self) -> Sequence[Lead]:
        """The pages that the person has named."""
        return [self._rated(Lead(each)) for each in self.stated]

    def read(self, lead: Lead, cancelled: Cancelled) -> Lead:
        """The page at the address of a lead; all of it is a stranger's."""
        found = fetch_page(lead.address, self.clock, self.secrets(), cancelled, self.network, self.limits)
        text = found.content.text[:_LONGEST].strip()
        if not text:
            raise ToolFailed(Sentence("there is nothing to read there"))
        title = " ".join(found.content.title.split())[:200] or lead.title
        return replace(lead, title=title, date=found.content.date or lead.date, text=text, origin=found.address)

    def _rated(self, lead: Lead) -> Lead:
        return replace(lead, authority=authority_of(lead.address, self.topic), source=self.name)
