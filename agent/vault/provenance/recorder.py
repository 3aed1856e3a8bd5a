"""Updates the record: finds the commits that are new since the last update and records their files.

Most updates find only commits that this program has just made, recognised from the end of the reflog without git. These
are stored only in memory, because the next process reads the same end again. All others are sorted commit by commit.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from agent.config.receiving_limits import ReceivingLimits
from agent.dataclass import dataclass
from agent.git.identities import AGENT
from agent.git.repository import Place, common_folder, head_commit, is_id, packed_refs, read_text
from agent.git.runner import Git
from agent.lazy import later
from agent.vault.provenance.database import ArrivedBlob, Database
from agent.vault.provenance.foreign_record import ForeignRecord
from agent.vault.provenance.marks import name_mark, new_marks
from agent.vault.provenance.new_commits import (
    Brought,
    NewCommit,
    brought,
    files_in,
    files_of,
    new_commits,
    texts,
)
from agent.vault.provenance.reflog import Maker, ReflogStep, makers, other_reflogs, parse_steps, read_reflog
from agent.vault.provenance.remotes import RemoteAnswers, addresses, plain_address

if TYPE_CHECKING:
    from agent.git.receiving_sizes import has_too_much
else:  # most vaults have no remote
    has_too_much = later("agent.git.receiving_sizes", "has_too_much")

_REMOTE = "refs/remotes/"
_FETCHED = re.compile(r"([0-9a-f]{40,64})\t[^\t]*\t(?:.* of )?(.*)")
MANY = 2_000
"""Maximum number of foreign commits in one update that are recorded one by one.

With more, such as a clone of a long history, only the files of the newest versions are recorded, and no signatures;
and, one by one, the commits of which the shared record says that they are foreign.
"""
FEW = 300
"""The same at the first update, of a history without signatures: who has made a vault of an old repository waits."""
_KEPT_TIPS = 200
_KEPT_STEPS = 500
_READ_AT_ONCE = 200
_LONGEST_COMMIT = 100_000
"""Bytes of a commit whose header is looked at."""
_LINE = 256
"""Bytes at the end of a reflog that identify its last state."""
_HEAD_LOG = "head log"
_REFERENCES = "references"
_TIPS = "tips"
_TOO_LARGE = "too large"


@dataclass(frozen=True, slots=True)
class References:
    """The commits of a repository's references.

    `head`: the commit of HEAD (empty: none). `remotes`: the remote-tracking branches with their commits. `fetched`: the
    commits of the last fetch with the addresses that they came from.
    """

    head: str
    remotes: Mapping[str, str]
    fetched: Mapping[str, str]

    @property
    def tips(self) -> tuple[str, ...]:
        """All these commits, each once."""
        return tuple(dict.fromkeys(filter(None, (self.head, *self.remotes.values(), *self.fetched))))


def references(gitdir: Path, common: Path) -> References:
    """The present references; one that is being written, or cannot be read, is left out until the next call."""
    packed = packed_refs(common)
    remotes = {name: oid for name, oid in packed.items() if name.startswith(_REMOTE)}
    folder = common / "refs" / "remotes"
    for path in folder.rglob("*") if folder.is_dir() else ():
        text = read_text(path)
        if is_id(text):
            remotes[_REMOTE + path.relative_to(folder).as_posix()] = text
    return References(head_commit(gitdir, common), dict(sorted(remotes.items())), _fetched(gitdir))


def _fetched(gitdir: Path) -> dict[str, str]:
    found = (_FETCHED.fullmatch(line) for line in read_text(gitdir / "FETCH_HEAD").split("\n"))
    return {each[1]: each[2] for each in found if each}


@dataclass(slots=True)
class Recorder:
    """Updates the record of one vault. `journalled` returns the commits that the write journal still lists."""

    place: Place
    git: Git
    database: Database
    journalled: Callable[[], Iterable[str]]
    limits: ReceivingLimits = ReceivingLimits()
    _recent: set[str] = field(default_factory=set)
    _watched: list[Path] = field(default_factory=list)
    _common: Path = field(init=False)

    def __post_init__(self) -> None:
        self._common = common_folder(self.place.gitdir)

    def stamp(self) -> object:
        """The `stat` values of the files and folders that change whenever a reference moves.

        A replaced reference changes its folder.
        """
        if not self._watched:
            gitdir, common = self.place.gitdir, self._common
            self._watched = [gitdir / "HEAD", gitdir / "logs" / "HEAD", gitdir / "FETCH_HEAD", common / "packed-refs"]
            for top in (common / "refs" / "remotes", common / "refs" / "heads"):
                self._watched += [top, *(path for path in (top.rglob("*") if top.is_dir() else ()) if path.is_dir())]
        return tuple(map(_look, self._watched))

    def update(self, answers: RemoteAnswers, foreign: ForeignRecord) -> None:
        """Record new commits, of which `foreign` may know more; durable when this returns."""
        # In this order: git writes the log before it moves the reference, so every tip has its log entry.
        now = self._within_limits(references(self.place.gitdir, self._common))
        log = read_reflog(self.place.gitdir / "logs" / "HEAD")
        self._watched = []
        tips_now = _as_text(now)
        before = self.database.fact(_REFERENCES)
        steps = _steps_since(self.database.fact(_HEAD_LOG), log)
        if before == tips_now and steps is not None and self._are_ours(steps, now.head):
            self._recent = {step.new for step in steps}
            if len(steps) < _KEPT_STEPS:
                return
        with self.database.transaction():
            self._sort(now, answers, parse_steps(log), foreign, first_time=before is None)
            tips = [*now.tips, *(self.database.fact(_TIPS) or "").split()]
            recorded = " ".join(list(dict.fromkeys(tips))[:_KEPT_TIPS])
            self.database.remember({_REFERENCES: tips_now, _HEAD_LOG: _end_of(log), _TIPS: recorded})
        self._recent = set()

    def program_commits(self, ids: Sequence[str]) -> set[str]:
        """The commits that this program made on this machine."""
        known = self.database.makers(ids)
        ours = {id for id, maker in known.items() if maker is Maker.PROGRAM} | self._recent.intersection(ids)
        if len(ours) == len(ids):
            return ours
        # a person's commit that this program has made again, in a purge or a squash, is in the journal too
        return ours | (set(self.journalled()).intersection(ids) - known.keys())

    def rewrite(self, made: Mapping[str, str]) -> None:
        """Copy the maker of each commit to the one that replaces it (old id to new), so that none is recorded twice."""
        old = list(made)
        ours, known = self.program_commits(old), self.database.makers(old)
        makers = {id: Maker.PROGRAM if id in ours else known.get(id, Maker.UNKNOWN) for id in old}
        self.database.add_commits({made[id]: maker for id, maker in makers.items()})

    def sign_earlier(self, key: str) -> int:
        """Record which of the commits that have arrived are signed with this key; returns their number."""
        return self._add_signers(self.database.unsigned_commits(), frozenset({key}))

    def _add_signers(self, commits: Sequence[str], keys: frozenset[str]) -> int:
        module = import_module("agent.vault.provenance.new_commits")  # mostly nothing has arrived
        found = module.signers(self.git, commits, keys, self.database.path.parent)
        self.database.add_signers(found)
        return len(found)

    def _is_signed(self, commits: Sequence[NewCommit]) -> bool:
        """True if one of these commits has a signature, whosever it is."""
        found = self.git.small_objects([commit.id for commit in commits], _LONGEST_COMMIT, "commit")
        return any(b"\ngpgsig" in data.partition(b"\n\n")[0] for data in found.values())

    def _within_limits(self, now: References) -> References:
        """The references without those whose new commits are too much to be read, as a fetch by hand may bring them."""
        known = (self.database.fact(_TIPS) or "").split()
        new = [oid for oid in dict.fromkeys((*now.remotes.values(), *now.fetched)) if oid not in {*known, now.head}]
        if not new:
            return now
        known_too_large = set((self.database.fact(_TOO_LARGE) or "").split())
        checked = [oid for oid in new if oid not in known_too_large]
        large = {oid for oid in checked if has_too_much(self.git, oid, (*known, now.head), self.limits)}
        if large:
            self.database.remember({_TOO_LARGE: " ".join(sorted(large | known_too_large)[-_KEPT_TIPS:])})
        large |= known_too_large
        return References(
            now.head,
            {name: oid for name, oid in now.remotes.items() if oid not in large},
            {oid: address for oid, address in now.fetched.items() if oid not in large},
        )

    def _are_ours(self, steps: Sequence[ReflogStep], head: str) -> bool:
        """True if HEAD has moved only through commits of this program since, each on top of the one before."""
        last = (self.database.fact(_TIPS) or "").split(" ")[0]
        for step in steps:
            if step.maker is not Maker.PROGRAM or step.old.strip("0") != last.strip("0"):
                return False
            last = step.new
        return last == head

    def _sort(
        self,
        now: References,
        answers: RemoteAnswers,
        steps: Sequence[ReflogStep],
        foreign: ForeignRecord,
        *,
        first_time: bool,
    ) -> None:
        """Separate this machine's own commits from foreign ones, and record both. On a machine that begins with a copy
        of the history, a commit whose foreign lines are not known is nobody's own."""
        known = (self.database.fact(_TIPS) or "").split()
        new = new_commits(self.git, now.tips, known)
        claims = {commit.id: commit.claim for commit in new if commit.claim}
        self.database.add_claims(claims)
        unknown = {id for id, row in claims.items() if first_time and not foreign.knows(row)}
        parents = {commit.id: commit.parents for commit in new}
        others_logs = (parse_steps(read_reflog(path)) for path in other_reflogs(self.place.gitdir, self._common))
        made = makers([steps, *others_logs], parents, first_time=first_time)
        made |= dict.fromkeys(self.journalled(), Maker.PROGRAM)
        made |= self.database.makers([commit.id for commit in new])
        own = {commit.id: made[commit.id] for commit in new if commit.id in made and commit.is_made_by(made[commit.id])}
        own = {id: maker for id, maker in own.items() if id not in unknown}
        seen = self.database.arrived_commits([commit.id for commit in new])
        seen |= {id for id, maker in made.items() if maker is Maker.UNKNOWN}
        others = [commit for commit in new if commit.id not in own and commit.id not in seen]
        sources = self._sources(now, known, bool(others))
        if first_time:
            earlier = self._were_here(others, sources, steps) - unknown
            own |= dict.fromkeys(earlier, Maker.PROGRAM)  # maker unknown by now: their trailers are believed
            others = [commit for commit in others if commit.id not in earlier]
        is_long = len(others) > MANY or (first_time and len(others) > FEW and not self._is_signed(others))
        if not is_long:
            self._add_signers([commit.id for commit in others], answers.keys)
        else:
            self._record_trees([commit for commit in new if commit.id in own], sources, now)
            others = [commit for commit in others if commit.claim or commit.id in foreign.commits][:MANY]
        own |= self._record(others, sources, now, steps)
        self.database.add_commits(own)

    def _sources(self, now: References, known: Sequence[str], wanted: bool) -> Mapping[str, tuple[str, ...]]:
        """The addresses of the remotes that have each new commit, or of the last fetch."""
        if not wanted:
            return {}
        configured = addresses(self.git)
        found: dict[str, list[str]] = {}
        tips: dict[str, list[str]] = {}
        for name, oid in now.remotes.items():
            remote = next((each for each in configured if name.startswith(f"refs/remotes/{each}/")), None)
            tips.setdefault(configured.get(remote or "", name), []).append(oid)
        for address, oids in tips.items():
            for commit in new_commits(self.git, oids, known):
                found.setdefault(commit.id, []).append(address)
        for oid, address in now.fetched.items():
            for commit in new_commits(self.git, [oid], known):
                found.setdefault(commit.id, [plain_address(address)])
        return {id: tuple(each) for id, each in found.items()}

    def _were_here(
        self, others: Sequence[NewCommit], sources: Mapping[str, tuple[str, ...]], steps: Sequence[ReflogStep]
    ) -> set[str]:
        """At the first update: the commits that no remote has, and that are older than what this program has made here,
        or than the reflog: what lies in a repository when it becomes a vault is its person's."""
        if steps and steps[0].cloned_from:
            return set()
        made = next((step for step in steps if step.earlier_maker is Maker.PROGRAM), steps[0] if steps else None)
        older = [commit.id for commit in others[:1]] if made is None else [made.old] if made.old.strip("0") else []
        return {commit.id for commit in new_commits(self.git, older, ())} - sources.keys() if older else set()

    def _record(
        self,
        others: Sequence[NewCommit],
        sources: Mapping[str, tuple[str, ...]],
        now: References,
        steps: Sequence[ReflogStep],
    ) -> dict[str, Maker]:
        """Record what foreign commits brought; returns those that only repeat this machine's own commits."""
        steps = steps[-_KEPT_STEPS:]
        replayed = {step.new for step in steps if step.is_replay}
        replaced = self._replaced(steps, now.head) if not replayed.isdisjoint(each.id for each in others) else set()
        repeated: dict[str, Maker] = {}
        for commit, changes in files_of(self.git, list(reversed(others)), self.place.prefix):
            files = list(brought(self.git, changes))
            new = [each for each in files if commit.id not in replayed or (each.path, each.patch) not in replaced]
            if files and not new:
                repeated[commit.id] = Maker.PROGRAM if commit.author == (AGENT.name, AGENT.email) else Maker.PERSON
            for each in new:
                self.database.add_arrival(_arrival(each, commit.id, commit.author[0], sources), each.marks)
        return repeated

    def _replaced(self, steps: Sequence[ReflogStep], head: str) -> set[tuple[str, str]]:
        """The changes of this machine's own commits that a rebase has replaced by new ones."""
        made = [step.new for step in steps if step.maker is not Maker.UNKNOWN]
        lost = new_commits(self.git, made, [head]) if head else []
        own = [commit for commit in lost if commit.id in made and commit.author == commit.committer]
        found = files_of(self.git, own, self.place.prefix)
        return {(each.path, each.patch) for _, changes in found for each in brought(self.git, changes)}

    def _record_trees(self, own: Sequence[NewCommit], sources: Mapping[str, tuple[str, ...]], now: References) -> None:
        """Record the differences of the newest versions from the last update, except those that own commits wrote."""
        last = (self.database.fact(_TIPS) or "").split(" ")[0]
        old = files_in(self.git, last, self.place.prefix) if last else {}
        written = files_of(self.git, own[:MANY], self.place.prefix)
        changes = [change for _, found in written for change in found]
        mine = {change.after.oid for change in changes if change.after is not None} | set(old.values())
        under = {(each.path, each.before.oid): None for each in changes if each.before and each.before.oid not in mine}
        files = [*under, *(each for tip in now.tips for each in files_in(self.git, tip, self.place.prefix).items())]
        named = [each for each in dict.fromkeys(files) if each[1] not in mine]
        tip = now.head or now.tips[0]
        for at in range(0, len(named), _READ_AT_ONCE):
            part = named[at : at + _READ_AT_ONCE]
            contents = texts(self.git, [*part, *((path, old[path]) for path, _ in part if path in old)])
            for path, oid in part:
                name = name_mark(path) if path not in old else None
                marks = new_marks(contents.get(oid, b""), [contents.get(old.get(path, ""), b"")])
                each = Brought(path, old.get(path), oid, (*marks, *([name] if name is not None else [])))
                self.database.add_arrival(_arrival(each, tip, "", sources), each.marks)


def _arrival(file: Brought, commit: str, author: str, sources: Mapping[str, tuple[str, ...]]) -> ArrivedBlob:
    return ArrivedBlob(0, file.path, file.before, file.after, commit, sources.get(commit, ()), author)


def _steps_since(end: str | None, log: bytes) -> list[ReflogStep] | None:
    """The steps of a reflog after its former end; None if it was rewritten since."""
    size, _, digest = (end or "").partition(" ")
    if not size.isdecimal() or int(size) > len(log) or sha256(log[: int(size)][-_LINE:]).hexdigest() != digest:
        return None
    return parse_steps(log[int(size) :])


def _end_of(log: bytes) -> str:
    return f"{len(log)} {sha256(log[-_LINE:]).hexdigest()}"


def _as_text(now: References) -> str:
    return json.dumps([dict(now.remotes), dict(now.fetched)], sort_keys=True)


def _look(path: Path) -> tuple[str, int, int, int]:
    try:
        found = path.stat()
    except OSError:
        return str(path), 0, 0, 0
    return str(path), found.st_mtime_ns, found.st_size, found.st_ino
