"""A source: something that can be searched, and read. Its values and its Protocol."""

from collections.abc import Sequence
from typing import Literal, Protocol, TypeAlias

from agent.dataclass import dataclass
from agent.llm.messages import Cancelled

Authority: TypeAlias = Literal[
    "own", "paper", "official", "encyclopaedia", "report", "blog", "news", "forum", "code", "page"
]
"""What a source is: the person's own notes, or by its address what stands there; `page` is any other one."""


@dataclass(frozen=True, slots=True)
class Lead:
    """Something that a search has found. `address` is a path in the vault, a path in a folder, or a URL; `source` the
    name of the source that can read it.

    `excerpt` is what the search itself shows of it, `date` the day that it gives (YYYY-MM-DD, empty for none). `text`
    is filled in if the search has read it already, with `origin` naming the stranger whose text it is (empty: the
    person's own).
    """

    address: str
    title: str = ""
    excerpt: str = ""
    date: str = ""
    authority: Authority = "page"
    source: str = ""
    text: str = ""
    origin: str = ""


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read of one source. `number` is its number in the report, from 1.

    `is_excerpt`: the source itself could not be read, and `text` is what a search engine shows of it. The other fields
    are as in `Lead`; `text` is never empty.
    """

    number: int
    address: str
    title: str
    text: str
    date: str = ""
    authority: Authority = "page"
    source: str = ""
    origin: str = ""
    is_excerpt: bool = False

    @property
    def is_public(self) -> bool:
        """True for a page of the web."""
        return self.address.startswith(("http://", "https://"))


class ResearchSource(Protocol):
    """Something that can be searched and read; safe to use from several threads.

    `is_public`: what is searched for leaves this machine. Both methods raise `ToolFailed` or `ToolRetry` where they get
    no answer, and `Interrupted` soon after `cancelled` is true.
    """

    @property
    def name(self) -> str:
        """The name, as the note says where was searched."""

    @property
    def is_public(self) -> bool: ...

    def search(self, query: str, most: int, cancelled: Cancelled) -> Sequence[Lead]:
        """At most so many leads, the best first."""

    def read(self, lead: Lead, cancelled: Cancelled) -> Lead:
        """The lead with its text and its origin."""
