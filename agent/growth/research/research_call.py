"""What is asked of a research, how much it may do, and what came of it."""

from collections.abc import Callable, Mapping
from dataclasses import field
from datetime import date
from types import MappingProxyType
from typing import Literal, TypeAlias, get_args

from agent.dataclass import dataclass
from agent.growth.research.findings import Confidence, ResearchFindings
from agent.growth.research.folder_source import FolderSource
from agent.growth.research.reading import Reading
from agent.llm.messages import Cancelled, never
from agent.tools.builtin.web import LIMITS as PAGE_LIMITS
from agent.tools.builtin.web import NETWORK, FetchLimits, WebNetwork
from agent.vault.change import Request

ResearchKind: TypeAlias = Literal["fact", "topic", "repository", "deep"]
KINDS: tuple[ResearchKind, ...] = get_args(ResearchKind)
ResearchEnd: TypeAlias = Literal["done", "nothing", "limit", "stopped", "no_model"]
"""How a research ended: whole; with nothing found; because of the limits of spend; stopped by its person or its
deadline; or without the model, which did not answer."""


@dataclass(frozen=True, slots=True)
class KindLimits:
    """What one kind of research may do. `calls`: searches and readings of a source, together. `questions`: the parts of
    its outline; `share`: the calls for one of them, before gaps are looked at; `searches`: searches of the web among
    them; `at_once`: researchers at a time. `has_critic`: a critic looks for contradictions and gaps."""

    calls: int
    questions: int
    share: int
    searches: int = 1
    at_once: int = 1
    has_critic: bool = False


LIMITS: Mapping[ResearchKind, KindLimits] = MappingProxyType(
    {
        "fact": KindLimits(5, 1, 5),
        "topic": KindLimits(20, 4, 4),
        "repository": KindLimits(15, 1, 15),
        "deep": KindLimits(50, 6, 6, searches=2, at_once=4, has_critic=True),
    }
)
"""The calls are those of the seed. Of a topic's 20 and a deep research's 50, four and fourteen are left for gaps."""


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
    limits: FetchLimits = PAGE_LIMITS
    anew: bool = False


@dataclass(frozen=True, slots=True)
class Research:
    """What came of a research. `requests` put it into the note at `path`, and what is remembered of it into memory.

    `short` is the report in a few sentences with their sources, and `text` what was found, as Markdown. Of at most
    `most` searches and readings `calls` were made, and models have answered `asked` times. `strangers` are the sources
    of text that is not the person's. `run` is the account of its `money` (US dollars). `why` says why it is not whole,
    `remarks` how it was done, such as without the web. `learns`: its conclusion and its methods are kept, too. After
    the requests are committed, `done` deletes what was kept for going on. `checked` is the day of an earlier check that
    answers it; None if it was looked up now.
    """

    end: ResearchEnd
    path: str
    sources: tuple[Reading, ...]
    findings: ResearchFindings
    confidence: Confidence
    text: str
    most: int
    calls: int = 0
    asked: int = 0
    money: float = 0.0
    run: str = ""
    short: str = ""
    requests: tuple[Request, ...] = ()
    strangers: tuple[str, ...] = ()
    learns: bool = False
    is_plain: bool = False
    is_resumed: bool = False
    why: str = ""
    remarks: tuple[str, ...] = ()
    done: Callable[[], object] = field(default=lambda: None, compare=False)
    checked: date | None = None
