"""Finds settings and files that could make git run a command in a repository, for a person to judge.

vault-agent never runs these commands (see `git`). This module reads files and asks git for its settings, which executes
nothing.
"""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from agent.dataclass import dataclass
from agent.errors import AgentError
from agent.git.repository import Place, common_folder
from agent.git.runner import Git

_KEYS = frozenset(
    {
        "core.fsmonitor",
        "core.pager",
        "core.editor",
        "core.sshcommand",
        "core.hookspath",
        "core.askpass",
        "core.gitproxy",
        "core.alternaterefscommand",
        "core.worktree",
        "core.attributesfile",
        "credential.helper",
        "diff.external",
        "gpg.program",
        "sequence.editor",
        "interactive.difffilter",
        "uploadpack.packobjectshook",
        "web.browser",
        "extensions.partialclone",
        "safe.directory",
        "include.path",
    }
)
"""Settings that name a command, or that make git read files from elsewhere."""

_PARTS = {
    "alias": frozenset({""}),
    "pager": frozenset({""}),
    "filter": frozenset({"clean", "smudge", "process"}),
    "diff": frozenset({"textconv", "command"}),
    "merge": frozenset({"driver"}),
    "credential": frozenset({"helper"}),
    "gpg": frozenset({"program", "defaultkeycommand"}),
    "remote": frozenset({"uploadpack", "receivepack", "vcs", "proxy"}),
    "submodule": frozenset({"update"}),
    "difftool": frozenset({"cmd", "path"}),
    "mergetool": frozenset({"cmd", "path"}),
    "browser": frozenset({"cmd", "path"}),
    "man": frozenset({"cmd", "path"}),
    "guitool": frozenset({"cmd"}),
    "trailer": frozenset({"command", "cmd"}),
    "tar": frozenset({"command"}),
    "hook": frozenset({"command"}),
    "includeif": frozenset({"path"}),
}
"""The same for settings with a name in the middle: section to last parts; an empty part means every setting."""

_MOST = 1 << 20
_DEEP = 200_000


@dataclass(frozen=True, slots=True)
class Executable:
    """Something that git could run: its kind, the command or path, and the file that names it."""

    key: str
    value: str
    where: str


def settings(git: Git) -> list[Executable]:
    """Every setting in the repository's own files: key (section and last part in lower case), value, file.

    The machine's own settings are left out: they are the person's and did not come with a vault.
    """
    command = ["config", "--list", "--show-scope", "--show-origin", "-z", "--includes"]
    fields = git.run(*command).decode("utf-8", "surrogateescape").split("\0")
    found: list[Executable] = []
    for scope, where, entry in zip(fields[0::3], fields[1::3], fields[2::3], strict=False):
        key, _, value = entry.partition("\n")
        if scope in {"local", "worktree"}:
            found.append(Executable(key, value, where.removeprefix("file:")))
    return found


def every_scope(git: Git, key: str) -> list[Executable]:
    """Every value of one setting in any file, the effective one last, without this program's own neutral values."""
    command = ["config", "--show-scope", "--show-origin", "-z", "--includes", "--get-all", key]
    fields = git.run(*command, ok=(0, 1)).decode("utf-8", "surrogateescape").split("\0")
    rows = zip(fields[0::3], fields[1::3], fields[2::3], strict=False)
    return [Executable(key, value, where.removeprefix("file:")) for scope, where, value in rows if scope != "command"]


def executables(git: Git, place: Place) -> list[Executable]:
    """Everything in this repository that could make git run a command or read outside; never raises for odd content."""
    found = [item for item in settings(git) if could_execute(item.key, item.value)]
    found += _hooks(place)
    found += _attributes(git, place)
    found += _stores(place)
    return found


def could_execute(key: str, value: str) -> bool:
    """True if a setting can name a command, or make git read files from elsewhere."""
    section, _, rest = key.partition(".")
    section, last = section.lower(), rest.rpartition(".")[2].lower()
    if section == "remote" and last in {"url", "pushurl"}:
        return value.startswith("ext::")
    if section == "submodule" and last == "update":
        return value.startswith("!")
    if key.lower() == "core.fsmonitor":
        return value.lower() not in {"", "false", "true", "0", "1", "no", "yes", "off", "on"}
    if key.lower() in _KEYS:
        return True
    parts = _PARTS.get(section, frozenset())
    return "" in parts or last in parts


def _hooks(place: Place) -> Iterator[Executable]:
    for folder in {place.gitdir / "hooks", common_folder(place.gitdir) / "hooks"}:
        for path in _listed(folder):
            if path.suffix != ".sample" and os.access(path, os.X_OK) and not path.is_dir():
                yield Executable(f"hook {path.name}", "a program", str(path))


def _attributes(git: Git, place: Place) -> Iterator[Executable]:
    """Lines in attribute files that name a filter, a diff or a merge driver."""
    try:
        listed = git.fields("ls-files", "-z", "--cached", "--others", "--deduplicate")
    except AgentError:
        listed = []
    names = [name for name in listed if name.rpartition("/")[2] == ".gitattributes"]
    files = {place.worktree / name for name in [".gitattributes", *names]}
    for path in sorted(
        {*files, place.gitdir / "info" / "attributes", common_folder(place.gitdir) / "info" / "attributes"}
    ):
        for number, line in enumerate(_text(path).splitlines(), 1):
            words = line.split()[1:] if not line.lstrip().startswith("#") else []
            for word in words:
                name, _, value = word.partition("=")
                if value and name in {"filter", "diff", "merge"}:
                    yield Executable(f"attribute {name}", value, f"{path}:{number}")


def _stores(place: Place) -> Iterator[Executable]:
    """Other repositories that git would read (submodules, nested, borrowed objects), and links out of the store."""
    alternates = place.gitdir / "objects" / "info" / "alternates"
    for line in _text(alternates).splitlines():
        yield Executable("alternate objects", line, str(alternates))
    if (place.worktree / ".gitmodules").exists():
        yield Executable("submodules", "git would run commands in them", str(place.worktree / ".gitmodules"))
    for name in ("HEAD", "config", "index", "objects", "refs", "logs", "info", "hooks", "vault-agent", "logs/HEAD"):
        path = place.gitdir / name
        if path.is_symlink():
            yield Executable("link in the repository", str(path.readlink()), str(path))
    for path in nested_repositories(place.worktree):
        yield Executable("repository inside", "its own settings count when git runs there", str(path))


def nested_repositories(worktree: Path) -> Iterator[Path]:
    """The folders below the work tree that git would treat as a repository, with or without a work tree."""
    looked_at = 0
    for folder, names, files in os.walk(worktree):
        looked_at += len(names) + len(files)
        if looked_at > _DEEP:
            return
        here = Path(folder)
        if here == worktree:
            names[:] = [name for name in names if name != ".git"]
            continue
        bare = "HEAD" in files and "objects" in names and "refs" in names
        if bare or ".git" in names or ".git" in files:
            yield here
            names.clear()


def _listed(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def _text(path: Path) -> str:
    """A small file's text, empty if there is none; links and pipes are never read."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return ""
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return ""
        return file.read(_MOST).decode("utf-8", "replace")
