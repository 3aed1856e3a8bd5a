"""What is asked of a research, and what came of it."""

from collections.abc import Callable, Iterable
from dataclasses import field
from datetime import date
from typing import Literal, TypeAlias

from agent.dataclass import dataclass
from agent.growth.research.findings import Confidence, ResearchFindings
from agent.growth.research.folder_source import FolderSource
from agent.growth.research.kinds import ResearchKind
from agent.growth.research.source import Reading
from agent.growth.research.statements import FoundMethod
from agent.llm.messages import Cancelled, never
from agent.tools.builtin.web import LIMITS, NETWORK, FetchLimits, WebNetwork
from agent.vault.change import Request

ResearchEnd: TypeAlias = Literal["done", "nothing", "limit", "stopped", "no_model"]
"""How a research ended: whole; with nothing found; because of the limits of spend; stopped by its person or its
deadline; or without the model, which did not answer."""


@dataclass(frozen=True, slots=True)
class ResearchCall:
    """What is asked for. `folders` are named by the person; `path` is the note (empty: one named after the topic).

    `job` and `spend` are as in `loop.records`, and `network` is how hosts are reached, `limits` those of each page.
    `anew`: a fact is looked up also if it was checked before.
    """

    topic: str
    kind: ResearchKind = "topic"
    folders: tuple[FolderSource, ...] = ()
    path: str = ""
    job: str = ""
    spend: float | None = None
    cancelled: Cancelled = never
    network: WebNetwork = NETWORK
    limits: FetchLimits = LIMITS
    anew: bool = False


@dataclass(frozen=True, slots=True)
class Research:
    """What came of a research. `requests` put it into the note at `path`, and what is remembered of it into memory.

    `short` is the report in a few sentences with their sources, and `text` what was found, as Markdown. Of at most
    `most` searches and readings `calls` were made, and models have answered `asked` times. `strangers` are the sources
    of text that is not the person's. `run` is the account of its `money` (US dollars). `why` says why it is not whole.
    After the requests are committed, `done` deletes what was kept for going on. `checked` is the day of an earlier
    check that answers it; None if it was looked up now. `remarks` say how it was done, such as without the web.
    """

    end: ResearchEnd
    path: str
    sources: tuple[Reading, ...]
    calls: int
    most: int
    asked: int
    money: float
    run: str
    short: str
    text: str
    findings: ResearchFindings
    confidence: Confidence
    requests: tuple[Request, ...] = ()
    strangers: tuple[str, ...] = ()
    methods: tuple[FoundMethod, ...] = ()
    is_plain: bool = True
    is_resumed: bool = False
    why: str = ""
    done: Callable[[], object] = field(default=lambda: None, compare=False)
    checked: date | None = None
    remarks: tuple[str, ...] = ()


def source_documents(sources: Iterable[Reading]) -> list[dict[str, object]]:
    """The sources as an interface shows them."""
    return [
        {
            "number": each.number,
            "title": each.title,
            "address": each.address,
            "kind": each.authority,
            "date": each.date or None,
            "excerpt": each.is_excerpt,
            "untrusted": bool(each.origin),
        }
        for each in sources
    ]
