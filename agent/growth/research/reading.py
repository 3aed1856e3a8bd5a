"""What a research reads: where it is found, its text, and how much it counts by its address. The lists of hosts and the
orders of trust are in `configs/research.yaml`."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from typing import Literal, Protocol, TypeAlias, cast
from urllib.parse import urlsplit

import yaml

from agent.config.resources import resource
from agent.dataclass import dataclass
from agent.growth.topic_words import words_of
from agent.llm.messages import Cancelled

Authority: TypeAlias = Literal[
    "own", "paper", "official", "encyclopaedia", "report", "blog", "news", "forum", "code", "page"
]
"""What a source is: the person's own notes, or by its address what stands there; `page` is any other one."""
_SECOND = frozenset(("co", "com", "org", "net", "ac", "edu", "gov"))
"""Second parts of a name below which names are registered, as in example.co.uk."""
_LEAST = 4
"""The letters of a topic's word from which on a host of that name counts as its own."""


@dataclass(frozen=True, slots=True)
class Reading:
    """Something that a search has found, and its text once it was read. `address` is a path in the vault, a path in a
    folder, or a URL; `number` is its number in the report, from 1 (0: it was not read).

    `excerpt` is what the search shows of it, `date` the day that it gives (YYYY-MM-DD, empty for none). `text` is empty
    until it is read, and `origin` names the stranger whose text it is (empty: the person's own). `is_excerpt`: the
    source itself could not be read, and `text` is its excerpt.
    """

    address: str
    title: str = ""
    excerpt: str = ""
    date: str = ""
    authority: Authority = "page"
    text: str = ""
    origin: str = ""
    number: int = 0
    is_excerpt: bool = False

    @property
    def is_public(self) -> bool:
        """True for a page of the web."""
        return self.address.startswith(("http://", "https://"))

    @property
    def is_strong(self) -> bool:
        """True for a source whose word weighs by itself."""
        return self.authority in ("own", "paper", "official", "encyclopaedia")

    @property
    def house(self) -> str:
        """What stands behind it: the host of a page, or the note itself."""
        return _host(self.address) or self.address


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

    def search(self, query: str, most: int, cancelled: Cancelled) -> Sequence[Reading]:
        """At most so many findings, the best first; those with a text are read already."""

    def read(self, found: Reading, cancelled: Cancelled) -> Reading:
        """What was found, with its text and its origin."""


def authority_of(address: str, topic: str) -> Authority:
    """What stands at a URL. The host whose registered name is a word of the topic speaks for itself."""
    parts = _host(address).removeprefix("www.").split(".")
    for at in range(len(parts)):
        name = ".".join(parts[at:])
        for kind, names in _listed("hosts").items():
            if name in names or f".{name}" in names:
                return cast(Authority, kind)
    if parts[0] in _listed("parts")["blog"]:
        return "blog"
    registered = parts[-3] if len(parts) > 2 and parts[-2] in _SECOND else parts[-2] if len(parts) > 1 else ""
    return "official" if len(registered) >= _LEAST and registered in words_of(topic) else "page"


def ranked(found: Iterable[Reading], kind: str, per_host: int = 2) -> list[Reading]:
    """What was found with the most trusted first, as a kind of research orders it; beyond `per_host` of one host, the
    others come first, since two pages of one house are no two witnesses."""
    order = _listed("orders")[kind]
    known = list({each.address: each for each in found}.values())
    known.sort(key=lambda each: order.index(each.authority) if each.authority in order else len(order))
    counts: dict[str, int] = {}
    first: list[Reading] = []
    rest: list[Reading] = []
    for each in known:
        counts[each.house] = counts.get(each.house, 0) + 1
        (first if counts[each.house] <= per_host else rest).append(each)
    return first + rest


def _host(address: str) -> str:
    with suppress(ValueError):
        return urlsplit(address).hostname or ""
    return ""


@cache
def _listed(part: str) -> Mapping[str, Sequence[str]]:
    """The words of each list in a part of the file, by the name of the list; their order counts."""
    found = yaml.load((resource("configs") / "research.yaml").read_bytes(), yaml.CSafeLoader)
    return {name: str(words).split() for name, words in found[part].items()}
