"""Objects that no reference leads to, with the objects that each of them names, and what follows from deleting some.

An object may be deleted only together with all objects that name it: what stays is then complete.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import field

from agent.dataclass import dataclass
from agent.vault.history.commit_bytes import parents_in, tree_in
from agent.vault.plumbing.git import Git, GitObject
from agent.vault.plumbing.objects import parse_tree

_TOGETHER = 500
_SUBMODULE = b"160000 "


@dataclass(frozen=True, slots=True)
class ObjectGraph:
    """Objects by id: `below` has the ids that each one names, `quoting` those whose bytes were asked for."""

    below: Mapping[str, tuple[str, ...]]
    quoting: frozenset[str] = frozenset()
    above: Mapping[str, list[str]] = field(init=False)

    def __post_init__(self) -> None:
        above: dict[str, list[str]] = {}
        for oid, named in self.below.items():
            for each in named:
                above.setdefault(each, []).append(oid)
        object.__setattr__(self, "above", above)

    def leading_to(self, objects: Iterable[str]) -> set[str]:
        """These objects, and all that lead to one of them."""
        return self._closure(self.below.keys() & set(objects), self.above)

    def only_below(self, commits: Iterable[str], gone: Collection[str], keep: Iterable[str]) -> set[str]:
        """The objects that only these commits lead to, and that are not `gone` already.

        What one of `keep`, or an object of the graph beside these, leads to is not among them.
        """
        found = self._closure(self.below.keys() & set(commits), self.below).difference(gone)
        others = (self.below.keys() - found) | (found & set(keep))
        return found - self._closure(others.difference(gone), self.below)

    def _closure(self, start: Collection[str], links: Mapping[str, Collection[str]]) -> set[str]:
        found, waiting = set(start), list(start)
        while waiting:
            for each in links.get(waiting.pop(), ()):
                if each in self.below and each not in found:
                    found.add(each)
                    waiting.append(each)
        return found


def all_ids(git: Git) -> set[str]:
    """The ids of all objects that the repository can read."""
    return set(
        git.run("cat-file", "--batch-all-objects", "--unordered", "--batch-check=%(objectname)").decode().split()
    )


def load_graph(git: Git, ids: Collection[str], quotes: Callable[[bytes], bool]) -> ObjectGraph:
    """The graph of these objects; `quotes` says of an object's bytes whether its id is `quoting`."""
    below, quoting, wanted = dict[str, tuple[str, ...]](), set[str](), sorted(ids)
    for start in range(0, len(wanted), _TOGETHER):
        for item in git.objects(wanted[start : start + _TOGETHER]):
            if item is not None:
                below[item.oid] = _named(item)
                if quotes(item.data):
                    quoting.add(item.oid)
    return ObjectGraph(below, frozenset(quoting))


def _named(item: GitObject) -> tuple[str, ...]:
    """The ids that an object names; not those of submodules, which are in other repositories."""
    match item.kind:
        case "commit":
            return (tree_in(item.data), *parents_in(item.data))
        case "tag":
            return (item.data.partition(b"\n")[0].removeprefix(b"object ").decode(),)
        case "tree":
            size = len(item.oid) // 2
            records = parse_tree(item.data, len(item.oid)).values()
            return tuple(record[-size:].hex() for record in records if not record.startswith(_SUBMODULE))
    return ()
