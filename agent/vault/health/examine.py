"""Checks of one vault's repository, with safe repairs on request.

No function here raises for what it finds. `probe` checks the machine, `note_checks` the notes, `repair` mends.

Checks that git has every object that the history needs; what was found whole before is not walked again.

A walk over a long history takes many seconds. After one that found all, the tips are recorded with the packs and the
loose objects of that moment. The next check compares those files with their checksums, which is quick and says more
than a walk, and walks what is new. When one of them is gone or damaged, the whole history is walked.
"""

import json
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from agent.clock import time_on_clock
from agent.config import durable
from agent.dataclass import dataclass
from agent.errors import GitFailed, Permanent, Retryable
from agent.git.hazards import hazards
from agent.git.object_ids import hasher
from agent.git.repository import blocked, branch, common_folder, is_id, read_text
from agent.git.runner import Git
from agent.json_value import parse_json
from agent.texts import Sentence, joined
from agent.vault.health import repair
from agent.vault.health.probe import Check, bad, disk, guarded, ok, warn
from agent.vault.health.trust import Executable, executables
from agent.vault.receiving.held_now import held_files
from agent.vault.store import Vault

MOST_LOOSE = 20_000
"""The most loose objects that are recorded: with more, the next check walks everything."""
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class WholeHistory:
    """A history that was whole: the commits of its references, and the names of its packs and loose objects."""

    tips: tuple[str, ...]
    packs: tuple[str, ...]
    loose: tuple[str, ...]


def check_objects(vault: Vault, git: Git) -> None:
    """Raise `GitFailed` with what `git fsck` says if an object is missing or damaged, `Retryable` after the time limit
    of `git`."""
    record, folder = vault.private_folder / "whole-history.json", common_folder(vault.place.gitdir) / "objects"
    now, known = _present(git, folder), _load(record)
    is_known = known is not None and not (folder / "info" / "alternates").exists() and _is_whole(git, folder, known)
    excluded = known.tips if known is not None and is_known else ()
    try:
        walk = ("rev-list", "--objects", "--quiet", "--all", "--indexed-objects", "--stdin")
        git.run(*walk, stdin="".join(f"^{tip}\n" for tip in excluded).encode())
    except GitFailed:
        record.unlink(missing_ok=True)
        git.run("fsck", "--connectivity-only", "--no-dangling", "--no-progress")
        return
    if now != known and len(now.loose) <= MOST_LOOSE:
        durable.replace(record, json.dumps(asdict(now)))


def _present(git: Git, folder: Path) -> WholeHistory:
    """What there is now. In this order: what the tips need was there before them, and git packs before it deletes."""
    tips = git.run("for-each-ref", "--format=%(objectname)").decode().split()
    tips += git.run("rev-parse", "--verify", "-q", "HEAD", ok=(0, 1, 128)).decode().split()
    names = (path.parent.name + path.name for path in folder.glob("[0-9a-f][0-9a-f]/*"))
    loose = sorted(filter(is_id, names))
    packs = sorted(path.name for path in (folder / "pack").glob("*") if path.suffix in {".pack", ".idx"})
    return WholeHistory(tuple(sorted(set(tips))), tuple(packs), tuple(loose))


def _load(record: Path) -> WholeHistory | None:
    """The record of the last check; None if it is missing or damaged."""
    try:
        found = parse_json(record.read_text("utf-8"))
        tips, packs, loose = (tuple(map(str, found[name])) for name in ("tips", "packs", "loose"))
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return WholeHistory(tips, packs, loose)


def _is_whole(git: Git, folder: Path, known: WholeHistory) -> bool:
    """True if all that was there at the last check still is, byte by byte."""
    try:
        if not all(_has_checksum(folder / "pack" / name, git.width) for name in known.packs):
            return False
        packed = [oid for oid in known.loose if not _is_loose(folder / oid[:2] / oid[2:], oid)]
        asked = "".join(f"{oid}\n" for oid in packed).encode()
        return not packed or b" missing\n" not in git.run("cat-file", "--batch-check", stdin=asked)
    except (OSError, zlib.error):
        return False


def _has_checksum(path: Path, width: int) -> bool:
    """True if a pack, or the index of one, ends in the checksum of its other bytes."""
    size = width // 2
    left = path.stat().st_size - size
    hashed = hasher(width)
    with path.open("rb") as file:
        while left > 0 and (data := file.read(min(left, _CHUNK))):
            hashed.update(data)
            left -= len(data)
        return left == 0 and file.read() == hashed.digest()


def _is_loose(path: Path, oid: str) -> bool:
    """True if an object is there and is what its name says; False if it is not there. Raises `zlib.error`."""
    try:
        data = zlib.decompress(path.read_bytes())
    except FileNotFoundError:
        return False
    hashed = hasher(len(oid))
    hashed.update(data)
    if hashed.hexdigest() != oid:
        raise zlib.error("another object")
    return True


FIX = "vault-agent doctor --fix"
FSCK_SECONDS = 30.0
_ANEW = Sentence(
    "your notes are whole; if neither a remote nor a copy of .git has the history, begin a new one: "
    "mv .git ../damaged.git, then vault-agent init ."
)
_LOGGED = 20
"""Rows at the end of git's log of a branch in which its last commit is looked for."""
_ID = re.compile(r"(?:[0-9a-f]{40}|[0-9a-f]{64})")


def repository(vault: Vault, *, fix: bool) -> list[Check]:
    """The checks that git can read what it needs, that nothing blocks it, and that nothing is unfinished."""
    checks = guarded("disk", lambda: [disk("disk", vault.place.root)])
    checks += guarded("HEAD", lambda: _head(vault))
    checks += guarded("pipes", lambda: _pipes(vault))
    checks += _repairable(vault, fix)
    return checks + guarded("objects", lambda: _objects(vault))


def repairs(vault: Vault) -> list[Check]:
    """What `repository` would repair with `fix`; changes nothing."""
    return [check for check in _repairable(vault, fix=False) if check.next == FIX]


def _repairable(vault: Vault, fix: bool) -> list[Check]:
    checks = guarded("index", lambda: _index(vault, fix))
    checks += guarded("locks", lambda: _locks(vault, fix))
    checks += guarded("unfinished", lambda: _unfinished(vault, fix))
    return checks + guarded("temporaries", lambda: _temporaries(vault, fix))


def _head(vault: Vault) -> Iterator[Check]:
    gitdir = vault.place.gitdir
    name = branch(gitdir)
    text = (gitdir / "HEAD").read_text("utf-8", "replace").strip()
    if name is None and not _ID.fullmatch(text):
        yield bad("HEAD", "{path} is damaged", next=_mend_head(gitdir), path=gitdir / "HEAD")
        return
    reason = blocked(gitdir)
    if reason:
        yield warn("repository", "{reason}: writes wait until that is over", next="git status", reason=Sentence(reason))
    found = vault.git.objects(["HEAD"])[0]
    if found is not None:
        yield ok("HEAD", "{name} at {commit}", name=name or Sentence("no branch"), commit=found.oid[:12])
    elif name is not None and (gitdir / name).exists():
        yield bad("HEAD", "{name} names a commit that is not there", next=_mend_branch(vault, name), name=name)
    else:
        yield warn("HEAD", "there is no commit yet", next="vault-agent commit")


def _mend_branch(vault: Vault, name: str) -> str:
    """The command that gives a branch the last commit that it is known to have had, and that is there."""
    common = common_folder(vault.place.gitdir)
    rows = read_text(common / "logs" / name).splitlines()[-_LOGGED:]
    ids = [row.split(" ", 2)[1] for row in reversed(rows) if row.count(" ") > 1]
    found = (each for each in vault.git.objects(ids) if each is not None and each.kind == "commit") if ids else ()
    commit = next(iter(found), None)
    return "git reflog" if commit is None else f"echo {commit.oid} > '{common / name}'"


def _mend_head(gitdir: Path) -> str:
    heads = gitdir / "refs" / "heads"
    names = (
        [path.relative_to(heads).as_posix() for path in heads.rglob("*") if path.is_file()] if heads.is_dir() else []
    )
    here = names[0] if len(names) == 1 else "main"
    return f"echo 'ref: refs/heads/{here}' > '{gitdir / 'HEAD'}'"


def _pipes(vault: Vault) -> Iterator[Check]:
    found = list(hazards(vault.place.gitdir, vault.place.worktree))
    for each in found:
        if each.pattern:
            yield bad("pattern", str(each), next=each.hint)
            continue
        what = Sentence("{path} is not a file: git would wait for it for ever", path=each.path)
        yield bad("pipe", what, next=Sentence("rm '{path}'", path=each.path))
    if not found:
        yield ok("pipes", "none where git reads")


def _index(vault: Vault, fix: bool) -> Iterator[Check]:
    try:
        vault.git.run("ls-files", "--cached", "-z")
    except (GitFailed, Permanent) as error:
        if not fix:
            yield bad("index", error.message, next=FIX)
            return
        broken_index = repair.rebuild_index(vault)
        yield ok("index", "fixed: made anew from HEAD; the unreadable one is kept as {kept}", kept=broken_index)
        return
    yield ok("index", "readable")


def _locks(vault: Vault, fix: bool) -> Iterator[Check]:
    now = vault.clock.now().timestamp()
    found = repair.locks(vault)
    for lock in found:
        age = now - time_on_clock(vault.clock, lock.lstat().st_mtime)
        if fix and repair.move_lock(vault, lock):
            yield ok("lock", "fixed: {path} was dead ({age:.0f} s old) and is moved aside", path=lock, age=age)
        else:
            what = Sentence(
                "{path} is {age:.0f} s old; a git command is at work, or one was killed", path=lock, age=age
            )
            yield warn("lock", what, next=FIX)
    litter = repair.litter(vault)
    if litter and fix:
        yield ok(
            "leftovers",
            "fixed: removed {count} working files in {gitdir}",
            count=repair.remove_litter(vault),
            gitdir=vault.place.gitdir,
        )
    elif litter:
        yield warn(
            "leftovers",
            "{count} of our working files are left in {gitdir}",
            next=FIX,
            count=len(litter),
            gitdir=vault.place.gitdir,
        )
    if not found and not litter:
        yield ok("locks", "none")


def _unfinished(vault: Vault, fix: bool) -> Iterator[Check]:
    writer = vault.writer
    before = len(writer.journal.unfinished()) + writer.queue.count()
    if fix and before:
        vault.settle()
    open_now, waiting = len(writer.journal.unfinished()), writer.queue.count()
    if open_now + waiting < before:
        yield ok("unfinished", "fixed: {count} changes were finished", count=before - open_now - waiting)
    if open_now:
        yield warn(
            "unfinished",
            "changes that a crash cut off: {count}; the next write finishes them",
            next=FIX,
            count=open_now,
        )
    if waiting:
        yield warn(
            "queue",
            "changes that wait: {count}; {reason}",
            next=FIX,
            count=waiting,
            reason=Sentence(blocked(vault.place.gitdir) or "the next write makes them"),
        )
    failed = writer.queue.failed()
    if failed:
        lines = tuple(f"{path}: {reason}" for path, reason in failed.items())
        yield warn("queue", "{count} changes could not be carried out and are kept", lines, count=len(failed))
    if not before and not failed:
        yield ok("unfinished", "nothing")


def _temporaries(vault: Vault, fix: bool) -> Iterator[Check]:
    found = repair.temporaries(vault)
    if found and fix:
        removed, copies = repair.clear_temporaries(vault)
        if removed:
            done = "fixed: removed {count}; kept as {paths}" if copies else "fixed: removed {count}; git had all of it"
            yield ok("temporaries", done, count=len(removed), paths=joined(copies, ", "))
        found = [path for path in found if path not in removed]
    if found:
        what = f"left among the notes: {len(found)}"
        yield warn("temporaries", what, tuple(found), FIX)
    elif not fix:
        yield ok("temporaries", "none")


def _objects(vault: Vault) -> Iterator[Check]:
    place = vault.place
    git = Git(place.gitdir, place.worktree, timeout=FSCK_SECONDS)
    try:
        check_objects(vault, git)
    except Retryable:
        yield warn(
            "objects",
            "not checked to the end in {seconds:.0f} s",
            next="git fsck --connectivity-only",
            seconds=FSCK_SECONDS,
        )
    except GitFailed as error:
        lines = (line for line in error.stderr.strip().splitlines() if not line.startswith("warning: core."))
        yield bad("objects", "git fsck finds damage", (*lines, _ANEW), "git fsck --full")
    else:
        yield ok("objects", "git fsck finds nothing missing")


def held(vault: Vault) -> list[Check]:
    """The check for files that came from elsewhere and are held back."""

    def found() -> Iterator[Check]:
        files = held_files(vault)
        if files:
            lines = tuple(f"{ascii(each.path)[1:-1]}: {each.reason}, {each.state}" for each in files)
            what = Sentence("{count} files came from elsewhere and are held back", count=len(files))
            yield warn("received", what, lines, "vault-agent trust")

    return guarded("received", found)


def trust(vault: Vault, own_hooks: Iterable[str], is_own: Callable[[Executable], bool]) -> list[Check]:
    """The check for commands that git could run here for a person, without the hooks and settings of this program."""
    mine = {f"hook {name}" for name in own_hooks}

    def dangers() -> list[Executable]:
        return [item for item in executables(vault.git, vault.place) if item.key not in mine and not is_own(item)]

    return guarded("trust", lambda: _trust(dangers()))


def _trust(found: Sequence[Executable]) -> Iterator[Check]:
    if not found:
        yield ok("trust", "nothing in the repository could run a command")
        return
    lines = tuple(f"{item.key} = {item.value}  ({item.where})" for item in found)
    what = Sentence(
        "{count} things could run a command; vault-agent never runs these, git in your terminal would", count=len(found)
    )
    yield warn("trust", what, lines)


def template(vault: Vault, files: Iterable[str]) -> list[Check]:
    """The check for missing template files; a person may have removed them on purpose."""
    root = vault.place.root
    gone = [path for path in files if not (root / path).exists()]
    if not gone:
        return [ok("template", "every file is here")]
    what = Sentence("{count} files are not here; `vault-agent init PATH --restore` lays them again", count=len(gone))
    return [ok("template", what, tuple(gone))]
