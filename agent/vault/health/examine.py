"""Checks of one vault and its repository, with safe repairs on request.

No function here raises for what it finds. `probe` checks the machine, `repair` has the repairs.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from agent.errors import AgentError, GitFailed, Retryable
from agent.markdown.note import Note
from agent.vault.health import repair
from agent.vault.health.probe import Check, bad, disk, guarded, ok, warn
from agent.vault.health.status import conflict_copies
from agent.vault.health.trust import Executable, executables
from agent.vault.plumbing.git import Git
from agent.vault.plumbing.hazards import hazards
from agent.vault.plumbing.repository import blocked, branch
from agent.vault.store import Vault

FIX = "vault-agent doctor --fix"
FSCK_SECONDS = 30.0
_ID = re.compile(r"(?:[0-9a-f]{40}|[0-9a-f]{64})")


def repository(vault: Vault, *, fix: bool) -> list[Check]:
    """The checks that git can read what it needs, that nothing blocks it, and that nothing is unfinished."""
    checks = guarded("disk", lambda: [disk("disk", vault.place.root)])
    checks += guarded("HEAD", lambda: _head(vault))
    checks += guarded("pipes", lambda: _pipes(vault))
    checks += guarded("index", lambda: _index(vault, fix))
    checks += guarded("locks", lambda: _locks(vault, fix))
    checks += guarded("unfinished", lambda: _unfinished(vault, fix))
    checks += guarded("temporaries", lambda: _temporaries(vault, fix))
    return checks + guarded("objects", lambda: _objects(vault))


def _head(vault: Vault) -> Iterator[Check]:
    gitdir = vault.place.gitdir
    name = branch(gitdir)
    text = (gitdir / "HEAD").read_text("utf-8", "replace").strip()
    if name is None and not _ID.fullmatch(text):
        yield bad("HEAD", f"{gitdir / 'HEAD'} is damaged", next=_mend_head(gitdir))
        return
    reason = blocked(gitdir)
    if reason:
        yield warn("repository", f"{reason}: writes wait until that is over", next="git status")
    found = vault.git.objects(["HEAD"])[0]
    if found is not None:
        yield ok("HEAD", f"{name or 'no branch'} at {found.oid[:12]}")
    elif name is not None and (gitdir / name).exists():
        yield bad("HEAD", f"{name} names a commit that is not there", next="git reflog")
    else:
        yield warn("HEAD", "there is no commit yet", next="vault-agent commit")


def _mend_head(gitdir: Path) -> str:
    heads = gitdir / "refs" / "heads"
    names = (
        [path.relative_to(heads).as_posix() for path in heads.rglob("*") if path.is_file()] if heads.is_dir() else []
    )
    name = names[0] if len(names) == 1 else "main"
    return f"echo 'ref: refs/heads/{name}' > '{gitdir / 'HEAD'}'"


def _pipes(vault: Vault) -> Iterator[Check]:
    found = list(hazards(vault.place.gitdir, vault.place.worktree))
    for each in found:
        if each.pattern:
            yield bad("pattern", str(each), next=each.hint)
            continue
        what = f"{each.path} is not a file: git would wait for it for ever"
        yield bad("pipe", what, next=f"rm '{each.path}'")
    if not found:
        yield ok("pipes", "none where git reads")


def _index(vault: Vault, fix: bool) -> Iterator[Check]:
    try:
        vault.git.run("ls-files", "--cached", "-z")
    except GitFailed as error:
        if not fix:
            yield bad("index", error.message, next=FIX)
            return
        kept = repair.rebuild_index(vault)
        yield ok("index", f"fixed: made anew from HEAD; the unreadable one is kept as {kept}")
        return
    yield ok("index", "readable")


def _locks(vault: Vault, fix: bool) -> Iterator[Check]:
    now = vault.clock.now().timestamp()
    found = repair.locks(vault)
    for lock in found:
        age = now - lock.lstat().st_mtime
        if fix and repair.move_lock(vault, lock):
            yield ok("lock", f"fixed: {lock} was dead ({age:.0f} s old) and is moved aside")
        else:
            what = f"{lock} is {age:.0f} s old; a git command is at work, or one was killed"
            yield warn("lock", what, next=FIX)
    litter = repair.litter(vault)
    if litter and fix:
        yield ok("leftovers", f"fixed: removed {repair.remove_litter(vault)} working files in {vault.place.gitdir}")
    elif litter:
        yield warn("leftovers", f"{len(litter)} of our working files are left in {vault.place.gitdir}", next=FIX)
    if not found and not litter:
        yield ok("locks", "none")


def _unfinished(vault: Vault, fix: bool) -> Iterator[Check]:
    writer = vault.writer
    before = len(writer.journal.unfinished()) + writer.queue.count()
    if fix and before:
        vault.settle()
    open_now, waiting = len(writer.journal.unfinished()), writer.queue.count()
    if open_now + waiting < before:
        yield ok("unfinished", f"fixed: {before - open_now - waiting} changes were finished")
    if open_now:
        yield warn("unfinished", f"a crash left {open_now} changes unfinished; the next write finishes them", next=FIX)
    if waiting:
        yield warn("queue", f"{waiting} changes wait: {blocked(vault.place.gitdir) or 'for the next write'}", next=FIX)
    failed = writer.queue.failed()
    if failed:
        lines = tuple(f"{path}: {reason}" for path, reason in failed.items())
        yield warn("queue", f"{len(failed)} changes could not be carried out and are kept", lines)
    if not before and not failed:
        yield ok("unfinished", "nothing")


def _temporaries(vault: Vault, fix: bool) -> Iterator[Check]:
    found = repair.temporaries(vault)
    if found and fix:
        removed, copies = repair.clear_temporaries(vault)
        if removed:
            kept = f"; kept as {', '.join(copies)}" if copies else "; git had all of it"
            yield ok("temporaries", f"fixed: removed {len(removed)}{kept}")
        found = [path for path in found if path not in removed]
    if found:
        what = f"{len(found)} temporary files are left among the notes"
        yield warn("temporaries", what, tuple(found), FIX)
    elif not fix:
        yield ok("temporaries", "none")


def _objects(vault: Vault) -> Iterator[Check]:
    place = vault.place
    git = Git(place.gitdir, place.worktree, timeout=FSCK_SECONDS)
    try:
        git.run("fsck", "--connectivity-only", "--no-dangling", "--no-progress")
    except Retryable:
        yield warn("objects", f"not checked to the end in {FSCK_SECONDS:.0f} s", next="git fsck --connectivity-only")
    except GitFailed as error:
        lines = tuple(error.stderr.strip().splitlines())
        yield bad("objects", "git fsck finds damage", lines, "git fsck --full")
    else:
        yield ok("objects", "git fsck finds nothing missing")


def notes(vault: Vault) -> list[Check]:
    """The checks that every note can be read and every id is unique, and the list of conflict copies."""
    return guarded("notes", lambda: _notes(vault)) + guarded("conflicts", lambda: _conflicts(vault))


def _notes(vault: Vault) -> Iterator[Check]:
    bad: list[str] = []
    odd: list[str] = []
    ids: defaultdict[str, list[str]] = defaultdict(list)
    paths = vault.note_paths()
    for path in paths:
        try:
            data = vault.read(path)
        except (AgentError, OSError) as error:
            odd.append(f"{path}: {error}")
            continue
        note = Note.parse(data or b"")
        if note.problem is not None:
            bad.append(f"{path}:{note.problem.line}: {note.problem.message}")
        elif note.id:
            ids[note.id].append(path)
    twice = [f"{name}: {', '.join(where)}" for name, where in ids.items() if len(where) > 1]
    yield from _listed("notes", "have a header that cannot be read; their text still can", bad)
    yield from _listed("files", "cannot be read as notes", odd)
    yield from _listed("ids", "stand in more than one note; get and forget ask which one is meant", twice)
    if not bad and not odd:
        yield ok("notes", f"{len(paths)} can be read")


def _conflicts(vault: Vault) -> Iterator[Check]:
    yield from _listed(
        "conflicts", "copies hold versions that could not be merged; compare, then delete them", conflict_copies(vault)
    )


def _listed(name: str, what: str, lines: Sequence[str]) -> Iterator[Check]:
    if lines:
        yield warn(name, f"{len(lines)} {what}", tuple(lines))


def trust(vault: Vault, own_hooks: Iterable[str] = ()) -> list[Check]:
    """The check for commands that git could run here for a person; `own_hooks` are the hooks of this program."""
    mine = {f"hook {name}" for name in own_hooks}
    return guarded("trust", lambda: _trust([e for e in executables(vault.git, vault.place) if e.key not in mine]))


def _trust(found: Sequence[Executable]) -> Iterator[Check]:
    if not found:
        yield ok("trust", "nothing in the repository could run a command")
        return
    lines = tuple(f"{item.key} = {item.value}  ({item.where})" for item in found)
    what = f"{len(found)} things could run a command; vault-agent never runs these, git in your terminal would"
    yield warn("trust", what, lines)


def template(vault: Vault, files: Iterable[str]) -> list[Check]:
    """The check for missing template files; a person may have removed them on purpose."""
    root = vault.place.root
    gone = [path for path in files if not (root / path).exists()]
    if not gone:
        return [ok("template", "every file is here")]
    what = f"{len(gone)} files are not here; `vault-agent init PATH --restore` lays them again"
    return [ok("template", what, tuple(gone))]
