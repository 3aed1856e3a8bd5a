"""How much a source counts, by the host of its address; the lists are in `configs/research.yaml`."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from urllib.parse import urlsplit

import yaml

from agent.config.resources import resource
from agent.growth.research.kinds import ResearchKind
from agent.growth.research.source import Authority, Lead
from agent.growth.topic_words import words_of

_SECOND = frozenset(("co", "com", "org", "net", "ac", "edu", "gov"))
"""Second parts of a name below which names are registered, as in example.co.uk."""
_LEAST = 4
"""The letters of a topic's word from which on a host of that name counts as its own."""


def authority_of(address: str, topic: str) -> Authority:
    """What stands at a URL. The host whose registered name is a word of the topic speaks for itself."""
    host = (urlsplit(address).hostname or "").removeprefix("www.")
    listed = _listed()
    parts = host.split(".")
    for at in range(len(parts)):
        found = listed.get(".".join(parts[at:])) or listed.get("." + ".".join(parts[at:]))
        if found is not None:
            return found
    if _registered(parts) in {word for word in words_of(topic) if len(word) >= _LEAST}:
        return "blog" if parts[0] in _words("blog_parts") else "official"
    if parts[0] in _words("blog_parts"):
        return "blog"
    return "page"


def ranked(leads: Iterable[Lead], kind: ResearchKind, per_host: int = 2) -> list[Lead]:
    """The leads with the most trusted first, as a kind of research orders them; beyond `per_host` of one host, the
    others come first, since two pages of one house are no two witnesses."""
    order = _order(kind)
    known = list({each.address: each for each in leads}.values())
    known.sort(key=lambda each: order.index(each.authority) if each.authority in order else len(order))
    counts: dict[str, int] = {}
    first: list[Lead] = []
    rest: list[Lead] = []
    for each in known:
        host = urlsplit(each.address).hostname or each.address
        counts[host] = counts.get(host, 0) + 1
        (first if counts[host] <= per_host else rest).append(each)
    return first + rest


def is_strong(authority: Authority) -> bool:
    """True for a source whose word weighs by itself."""
    return authority in ("paper", "official", "encyclopaedia")


def _registered(parts: Sequence[str]) -> str:
    if len(parts) < 2:
        return ""
    return parts[-3] if len(parts) > 2 and parts[-2] in _SECOND else parts[-2]


@cache
def _file() -> Mapping[str, object]:
    found = yaml.load((resource("configs") / "research.yaml").read_bytes(), yaml.CSafeLoader)
    assert isinstance(found, Mapping)
    return found


@cache
def _listed() -> Mapping[str, Authority]:
    hosts = _file()["hosts"]
    assert isinstance(hosts, Mapping)
    return {name: kind for kind, names in hosts.items() for name in str(names).split()}


@cache
def _order(kind: ResearchKind) -> Sequence[str]:
    orders = _file()["orders"]
    assert isinstance(orders, Mapping)
    return tuple(map(str, orders[kind]))


@cache
def _words(key: str) -> frozenset[str]:
    return frozenset(str(_file()[key]).split())
