"""Finds the references and repositories that still contain the commits of a purge; checks for a complete history."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from agent.dataclass import dataclass
from agent.errors import UserError
from agent.git.repository import Place, branch, common_folder
from agent.git.runner import Git

_TOGETHER = 100
_PARTIAL = r"^(remote\..*\.(promisor|partialclonefilter)|extensions\.partialclone)$"

Changes = Callable[[Sequence[str]], Mapping[str, Collection[bytes]]]
"""Commits to the paths that would change in each."""


@dataclass(frozen=True, slots=True)
class Holders:
    """`here`: references of this repository other than the current branch; `remote`: remote-tracking references."""

    here: tuple[str, ...]
    remote: tuple[str, ...]


def check_complete(git: Git) -> None:
    """Raise `UserError` if commits or files are missing here: a rewritten history would lose them for good."""
    if git.run("rev-parse", "--is-shallow-repository").strip() == b"true":
        raise UserError(
            "this is a shallow clone: the commits before its oldest ones are not here, so its history cannot be "
            "written anew",
            hint="git fetch --unshallow, then repeat the command",
        )
    if git.run("config", "--name-only", "--get-regexp", _PARTIAL, ok=(0, 1)).strip():
        raise UserError(
            "this is a partial clone: old versions of notes are not here, so its history cannot be written anew",
            hint="make a whole clone (git clone without --filter), and repeat the command there",
        )
    grafts = common_folder(git.gitdir) / "info" / "grafts"
    if grafts.exists() and grafts.stat().st_size:
        raise UserError(
            "{grafts} gives commits other parents than they have, so the history cannot be written anew",
            hint="git replace --convert-graft-file, then repeat the command",
            grafts=grafts,
        )


def holders(
    git: Git,
    place: Place,
    rows: Mapping[str, Sequence[str]],
    paths: Sequence[str],
    changes: Changes,
    backups: Sequence[str],
) -> Holders:
    """The other holders of the commits in `rows` (each with its parents), or of other commits with the removed text.

    The `backups` of earlier purges are named without a look into them: they may hold it, and there may be many.
    """
    oldest = [commit for commit, parents in rows.items() if rows.keys().isdisjoint(parents)]
    current = branch(place.gitdir)
    elsewhere = _elsewhere(git, paths, changes, backups)
    listed = dict.fromkeys(name for name in _containing(git, [*oldest, *elsewhere]) if name != current)
    listed |= dict.fromkeys(backups)
    here = [name for name in listed if not name.startswith("refs/remotes/")]
    here += [name for name, commit in (*stashed(git), *detached(git)) if _has_any(git, commit, rows, elsewhere)]
    here += _notes(git, rows)
    alternates = common_folder(git.gitdir) / "objects" / "info" / "alternates"
    here += [f"{alternates}: {line}" for line in _lines(alternates.read_bytes() if alternates.exists() else b"")]
    return Holders(tuple(dict.fromkeys(here)), tuple(name for name in listed if name.startswith("refs/remotes/")))


def holders_of(git: Git, commits: Collection[str]) -> list[str]:
    """The references, stashes and detached work trees that lead to one of these commits."""
    listed = git.run(
        "rev-list", "--no-walk", "--parents", "--stdin", stdin="".join(f"{each}\n" for each in commits).encode()
    )
    rows = {row[0]: row[1:] for row in map(str.split, _lines(listed))}
    oldest = [commit for commit, parents in rows.items() if rows.keys().isdisjoint(parents)]
    found = dict.fromkeys(_containing(git, oldest))
    others = (*stashed(git), *detached(git))
    return [*found, *(name for name, commit in others if _has_any(git, commit, rows, ()))]


def _elsewhere(git: Git, paths: Sequence[str], changes: Changes, backups: Sequence[str]) -> list[str]:
    """The commits outside the current branch and the backups whose files contain text to be removed."""
    if not paths:
        return []
    passed_by = [f"--exclude={name}" for name in backups]
    found = _lines(git.run("rev-list", *passed_by, "--all", "--full-history", "--not", "HEAD", "--", *paths))
    return [commit for commit, changed in changes(found).items() if changed] if found else []


def _containing(git: Git, commits: Sequence[str]) -> Iterator[str]:
    for start in range(0, len(commits), _TOGETHER):
        asked = [f"--contains={commit}" for commit in commits[start : start + _TOGETHER]]
        yield from _lines(git.run("for-each-ref", "--format=%(refname)", *asked))


def stashed(git: Git) -> Iterator[tuple[str, str]]:
    """All stashes except the last, which is a reference."""
    if git.objects(["refs/stash"])[0] is None:
        return
    rows = _lines(git.run("log", "--walk-reflogs", "--format=%H", "refs/stash", "--", ok=(0, 128)))
    yield from ((f"stash@{{{number}}}", commit) for number, commit in enumerate(rows) if number)


def detached(git: Git) -> Iterator[tuple[str, str]]:
    """The commits of the work trees that are on no branch."""
    for block in git.run("worktree", "list", "--porcelain").decode("utf-8", "surrogateescape").split("\n\n"):
        fields = dict(line.partition(" ")[::2] for line in block.splitlines())
        if "detached" in fields:
            yield f"the work tree {fields['worktree']}", fields["HEAD"]


def _has_any(git: Git, commit: str, rows: Collection[str], elsewhere: Collection[str]) -> bool:
    reached = set(_lines(git.run("rev-list", commit, "--", ok=(0, 128))))
    return not reached.isdisjoint(rows) or not reached.isdisjoint(elsewhere)


def _notes(git: Git, rows: Collection[str]) -> Iterator[str]:
    """The references of `git notes` with a person's note about one of the commits."""
    for name in _lines(git.run("for-each-ref", "--format=%(refname)", "refs/notes/")):
        listed = _lines(git.run("notes", f"--ref={name}", "list", ok=(0, 1, 128)))
        if any(line.rpartition(" ")[2] in rows for line in listed):
            yield name


def _lines(out: bytes) -> list[str]:
    return out.decode("utf-8", "surrogateescape").splitlines()
