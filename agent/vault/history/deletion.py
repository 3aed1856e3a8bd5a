"""Deletes for good what purges have taken out of the history: the only place from which objects of git are deleted.

What goes are the commits that a purge has replaced, objects with the forgotten text, all that leads to either, and what
only such commits have. Everything else stays, whether something leads to it or not. No other program may be at work on
the repository meanwhile. Each step can be repeated: after a kill, the same call does the rest.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field
from pathlib import Path

from agent.config.durable import holder, process_lock
from agent.dataclass import dataclass
from agent.errors import LockHeld
from agent.git.delete_objects import delete_objects, existing
from agent.git.index_lock import git_processes_in
from agent.git.objects import parents_in, parse_tree, tree_in
from agent.git.reference_logs import (
    all_ids,
    drop_entries,
    logged_ids,
    reached_ids,
    references,
    worktree_folders,
)
from agent.git.repository import read_text
from agent.git.runner import Git, GitObject
from agent.texts import Sentence
from agent.vault.history.commit_index import drop_index
from agent.vault.history.holders import holders_of
from agent.vault.history.purge import BACKUP, BUNDLES, RESCUES, check_possible
from agent.vault.history.purged import Purged, load_purged, save_purged
from agent.vault.layout import DAEMON_LOCK
from agent.vault.store import Vault

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


SECONDS = 3_600.0
"""The time limit of one git command that reads all objects."""
_REMOTES = "refs/remotes/"


@dataclass(frozen=True, slots=True)
class Deleted:
    """`objects`: how many objects were deleted; `references`: the deleted references, by full name.

    `remaining`: what still has commits or texts that were purged, in words.
    """

    objects: int = 0
    references: tuple[str, ...] = ()
    remaining: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Plan:
    """What is to be deleted: objects and references. `missing`: purged commits that are not here any more."""

    objects: frozenset[str]
    references: tuple[str, ...]
    missing: frozenset[str]
    purged: Purged
    still_reachable: frozenset[str]
    """Purged commits that something still leads to."""


def says_nothing(data: bytes) -> bool:
    """False: no object is looked for by its bytes."""
    return False


def delete_purged(vault: Vault, quotes: Callable[[bytes], bool] = says_nothing) -> Deleted:
    """Delete what purges have replaced, and what nothing leads to and `quotes` accepts.

    Raises `LockHeld` while another program is at work on the repository, `UserError` while it is not free, `GitFailed`
    if objects are missing in it; then nothing is deleted.
    """
    git = Git(vault.git.gitdir, vault.git.worktree, durable=vault.options.durable, timeout=SECONDS)
    with _exclusive(vault):
        check_possible(vault)
        plan = _plan_deletion(vault, git, quotes)
        save_purged(vault, plan.purged)
        _drop_references(vault, git, plan.references)
        drop_entries(git, plan.objects | plan.missing, quotes)
        _check_git(vault)
        delete_objects(git, plan.objects)
        drop_index(vault)
        return Deleted(len(plan.objects), plan.references, tuple(_remaining(vault, git, plan)))


def was_purged(vault: Vault) -> bool:
    """True if something was purged in this vault, deleted for good or not."""
    if load_purged(vault) != Purged():
        return True
    return bool(vault.git.run("for-each-ref", "--count=1", "--format=%(refname)", BACKUP))


def check_exclusive(vault: Vault) -> None:
    """Raise `LockHeld`, which names it, if a daemon or a git process is at work on the repository."""
    daemon = holder(vault.private_folder / DAEMON_LOCK)
    if daemon is not None:
        raise LockHeld(
            "the daemon is at work on this vault (process {process}), so nothing can be deleted for good",
            hint="stop it (Ctrl-C where it runs, or: kill {process}), then repeat the command",
            process=daemon,
        )
    _check_git(vault)


def _check_git(vault: Vault) -> None:
    for folder in worktree_folders(vault.git):
        pointer = read_text(folder / "gitdir")
        worktree = Path(pointer).parent if pointer else vault.place.worktree
        for process in git_processes_in(folder, worktree):
            raise LockHeld(
                "git is at work on this repository (process {process}), so nothing can be deleted for good",
                hint="let it end, then repeat the command",
                process=process,
            )


@contextmanager
def _exclusive(vault: Vault) -> Iterator[None]:
    """Keep all other programs from writing to the repository; raises `LockHeld`."""
    check_exclusive(vault)
    lock = vault.private_folder / DAEMON_LOCK
    with (
        process_lock(lock, vault.clock, 0.0, "the daemon is at work on this vault"),
        vault.writer.exclusive(),
        vault.writer.index_lock(vault.clock.new_id()),
    ):
        _check_git(vault)
        yield


def _plan_deletion(vault: Vault, git: Git, quotes: Callable[[bytes], bool]) -> _Plan:
    known, named, every = load_purged(vault), references(git), all_ids(git)
    backups = [name for name in named if name.startswith(BACKUP)]
    loose = [name for name in named if name.startswith((BACKUP, RESCUES, _REMOTES))]
    commits = known.commits | _unrecorded(git, [name for name in backups if named[name] not in known.commits])
    graph = load_graph(git, every - reached_ids(git, loose), quotes)
    gone = graph.leading_to(commits | known.objects | graph.quoting)
    dropped = tuple(name for name in loose if name.startswith(BACKUP) or named[name] in gone)
    keep = logged_ids(git) | {named[name] for name in loose if name not in dropped}
    remotes = {name for name in dropped if name.startswith(_REMOTES)}
    remotes |= {name for name in known.remotes if name not in named and _is_configured(git, name)}
    return _Plan(
        frozenset(gone | graph.only_below(commits, gone, keep)),
        dropped,
        commits - every,
        Purged(commits, known.objects | graph.quoting, frozenset(remotes)),
        frozenset((commits & every) - graph.below.keys()),
    )


def _unrecorded(git: Git, backups: Collection[str]) -> frozenset[str]:
    """The commits that only these backups have: of purges that kept no record of them, or lost it."""
    if not backups:
        return frozenset()
    others = (f"--exclude={BACKUP}*", f"--exclude={_REMOTES}*", "--all")
    return frozenset(git.run("rev-list", *backups, "--not", *others).decode().split())


def _is_configured(git: Git, reference: str) -> bool:
    names = (name.partition(".")[2].rpartition(".")[0] for name in git.config_names() if name.startswith("remote."))
    return any(reference.startswith(f"{_REMOTES}{name}/") for name in names)


def _drop_references(vault: Vault, git: Git, names: Collection[str]) -> None:
    """Delete references, in one step, and the bundles that belong to them."""
    if not names:
        return
    orders = "".join(f"option no-deref\0delete {name}\0\0" for name in names)
    git.run("update-ref", "-z", "--stdin", stdin=orders.encode("utf-8", "surrogateescape"))
    for name in names:
        if name.startswith(RESCUES):
            token = name.removeprefix(RESCUES)
            for bundle in (vault.private_folder / BUNDLES).glob(f"*-{token}.bundle"):
                bundle.unlink(missing_ok=True)


def _remaining(vault: Vault, git: Git, plan: _Plan) -> Iterator[str]:
    if plan.still_reachable:
        yield from holders_of(git, plan.still_reachable) or (Sentence("a work tree of this repository"),)
    if existing(git, plan.objects):
        yield Sentence("objects in packs that are marked to be kept, or of another repository (git count-objects -v)")
    rescues = {name.removeprefix(RESCUES) for name in references(git) if name.startswith(RESCUES)}
    for bundle in sorted((vault.private_folder / BUNDLES).glob("*.bundle")):
        if bundle.stem[len("2026-01-01-") :] not in rescues:
            yield Sentence("{path}, perhaps: an older history", path=bundle)
    for name in sorted(plan.purged.remotes):
        yield Sentence(
            "{remote}, until a vault-agent sync has replaced its branch; then repeat this",
            remote=name.removeprefix(_REMOTES),
        )
