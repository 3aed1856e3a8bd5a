"""Skills brought in from a folder or a repository: checked, copied into the vault in one commit, and not yet trusted.

Nothing that comes with them is run, and no file becomes a program. Whoever wants to use one looks at it first
(`reviewed`).
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from agent.errors import BadPath, UserError
from agent.skills import tree
from agent.skills.library import FOLDER, RESERVED
from agent.skills.read_skill import FILE_BYTES, Where, read_skill
from agent.skills.skill import FILE, Problem, Source
from agent.vault.change import Stamp
from agent.vault.fetched import Fetched, fetched, is_address
from agent.vault.store import Vault
from agent.vault.worktree.paths import check

MOST = 200
"""Skills that one call installs."""
_DEPTH = 5
_FOLDERS = 5_000
_NAMED = 20
"""So many of the skills that are there are named where the wanted one is not."""


@dataclass(frozen=True, slots=True)
class Offered:
    """A skill that can be installed: its name, its files by path in its folder, and where it was found."""

    name: str
    files: Mapping[str, bytes]
    found: str


@dataclass(frozen=True, slots=True)
class Installed:
    """What came of it: the names, the commit (None: waiting), what was left out and why."""

    names: tuple[str, ...]
    commit: str | None
    queued: str | None
    problems: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class Found:
    """A folder with a `SKILL.md`: its path in the source, the sizes of its files, what is no plain file, and how to
    read them."""

    folder: str
    sizes: Mapping[str, int]
    strange: tuple[str, ...]
    read: Callable[[list[str]], dict[str, bytes]]


def install(vault: Vault, source: str, wanted: Iterable[str] = ()) -> Installed:
    """Copy the skills in a folder or a repository (all, or those `wanted` by name) into the vault's `skills/`.

    Raises `UserError` where there are none, where one of them is there already, or is not in the source.
    """
    address = is_address(source)
    if not address and (Path(source) / "HEAD").is_file() and (Path(source) / "objects").is_dir():
        address = True  # a bare repository
    if address:
        with fetched(source) as repository:
            return _install(vault, source, _in_repository(repository), frozenset(wanted))
    root = Path(source)
    if not root.is_dir():
        raise UserError(
            f"{source} is no folder, and no address of a repository",
            hint="give a folder, or an address such as https://example.org/skills.git",
        )
    return _install(vault, source, _in_folder(root.resolve()), frozenset(wanted))


def _install(vault: Vault, source: str, found: Iterable[Found | Problem], wanted: frozenset[str]) -> Installed:
    offered: dict[str, Offered] = {}
    problems: list[Problem] = []
    beside: list[str] = []
    for each in found:
        if isinstance(each, Problem):
            problems.append(each)
            continue
        name = each.folder.rpartition("/")[2]
        if wanted and name not in wanted:
            beside.append(ascii(name)[1:-1])
            continue
        skill, flaws = _offered(each)
        problems += flaws
        if skill is not None and skill.name in offered:
            problems.append(Problem(skill.found, 1, f"{offered[skill.name].found} has the same name; left out"))
        elif skill is not None:
            offered[skill.name] = skill
    missing = wanted - offered.keys()
    if missing or not offered:
        what = f"no skill {', '.join(sorted(missing))}" if missing else f"no skill with a {FILE}"
        why = f": {problems[0].path}: {problems[0].reason}" if problems else ""
        there = sorted([*offered, *beside])[:_NAMED]
        hint = f"skills there: {', '.join(there)}" if there else f"a skill is a folder with a {FILE}"
        raise UserError(f"there is {what} in {source} that can be used{why}", hint=hint)
    taken = sorted(set(offered) & set(tree.names(vault.place.root, FOLDER)))
    if taken:
        raise UserError(
            f"the vault has {', '.join(taken)} already; nothing was installed",
            hint=f"move {FOLDER}/{taken[0]} away first, or name the skills you want with --skill",
        )
    names = tuple(sorted(offered))
    body = f"From {' '.join(source.split())[:500]}\n\nNot reviewed yet: vault-agent skills review NAME"
    stamp = Stamp("agent", tool="skills_install")
    with vault.transaction(f"skills(install): {', '.join(names)}", stamp, body=body) as change:
        for name in names:
            for path, data in sorted(offered[name].files.items()):
                change.create(f"{FOLDER}/{name}/{path}", data)
    return Installed(names, change.outcome.commit, change.outcome.queued, tuple(problems))


def _offered(found: Found) -> tuple[Offered | None, tuple[Problem, ...]]:
    """The skill in a folder, if it can be used; and what is wrong with it."""
    where = f"{found.folder}/{FILE}"
    name = found.folder.rpartition("/")[2]
    problems = [Problem(where, 1, f"{path} is a link or no file, and left out") for path in found.strange]
    reason = _too_much(found)
    if name in RESERVED:
        reason = f"{name} is a folder of the agent's own; rename the skill"
    if reason:
        return None, (*problems, Problem(where, 1, reason))
    kept: list[str] = []
    for path in found.sizes:
        try:
            check(f"{FOLDER}/{name}/{path}")
        except BadPath as error:
            problems.append(Problem(where, 1, f"{ascii(path)[1:-1]} is left out: {error.message}"))
            continue
        kept.append(path)
    data = found.read([FILE])[FILE]
    beside = tuple(path for path in kept if path != FILE)
    read = read_skill(data, Where(name, Source.VAULT, where, beside))
    problems += read.problems
    if read.skill is None:
        return None, tuple(problems)
    return Offered(read.skill.name, {FILE: data, **found.read(list(beside))}, found.folder), tuple(problems)


def _too_much(found: Found) -> str:
    if len(found.sizes) > tree.MOST_FILES:
        return f"it has more than {tree.MOST_FILES} files"
    if sum(found.sizes.values()) > tree.LARGEST:
        return f"it is larger than {tree.LARGEST // (1 << 20)} MB together"
    if found.sizes[FILE] > FILE_BYTES:
        return f"{FILE} has {found.sizes[FILE]:,} bytes; at most {FILE_BYTES:,} are allowed"
    return ""


def _in_folder(root: Path) -> Iterable[Found | Problem]:
    """The skills in a folder of this machine: itself, or what lies in it."""
    waiting = [("", 0)]
    seen = 0
    while waiting and seen < _FOLDERS:
        inside, depth = waiting.pop(0)
        seen += 1
        if not (root / inside / FILE).is_file():
            waiting += [(f"{inside}/{name}".strip("/"), depth + 1) for name in tree.names(root, inside)] * (
                depth < _DEPTH
            )
            continue
        folder = f"{root.name}/{inside}".rstrip("/")
        try:
            found = tree.listing(root, inside)
        except (tree.BadFolder, OSError) as error:
            yield Problem(f"{folder}/{FILE}", 1, str(error))
            continue
        sizes = {file.path: file.size for file in found.files}
        if FILE in sizes:
            yield Found(folder, sizes, found.strange, _reader(root, inside, sizes))
        else:
            yield Problem(f"{folder}/{FILE}", 1, f"{FILE} is a link; links are not followed")


def _reader(root: Path, folder: str, sizes: Mapping[str, int]) -> Callable[[list[str]], dict[str, bytes]]:
    def read(paths: list[str]) -> dict[str, bytes]:
        try:
            return {path: tree.read(root, folder, path, sizes[path]) for path in paths}
        except (tree.BadFolder, OSError) as error:
            raise UserError(f"{folder or root.name} cannot be read: {error}", hint="try again") from error

    return read


def _in_repository(repository: Fetched) -> Iterable[Found | Problem]:
    """The skills in a repository: of folders within one another, the outermost is the skill."""
    folders = sorted(
        (path.rpartition("/")[0] for path in repository.files if path.rpartition("/")[2] == FILE),
        key=lambda folder: folder.count("/") if folder else -1,
    )
    taken: list[str] = []
    for folder in folders:
        if any(not other or folder.startswith(f"{other}/") for other in taken):
            continue
        taken.append(folder)
        if len(taken) > MOST:
            yield Problem(folder, 1, f"only the first {MOST} skills are looked at")
            return
        start = f"{folder}/" if folder else ""
        inside = {
            path.removeprefix(start): blob.size for path, blob in repository.files.items() if path.startswith(start)
        }
        sizes = {path: size for path, size in inside.items() if not any(p.startswith(".") for p in path.split("/"))}
        strange = tuple(path.removeprefix(start) for path in repository.not_files if path.startswith(start))
        yield Found(folder or _named(repository), sizes, strange, _blobs(repository, start))


def _named(repository: Fetched) -> str:
    """The name that a skill at the top of a repository gives itself: there is no folder to compare it with."""
    data = repository.read([FILE]).get(FILE, b"")
    line = next((row for row in data.splitlines()[:100] if row.startswith(b"name:")), b"name:skill")
    return line.partition(b":")[2].strip().strip(b"\"'").decode("utf-8", "replace").rpartition("/")[2] or "skill"


def _blobs(repository: Fetched, start: str) -> Callable[[list[str]], dict[str, bytes]]:
    def read(paths: list[str]) -> dict[str, bytes]:
        found = repository.read([start + path for path in paths])
        return {path.removeprefix(start): data for path, data in found.items()}

    return read
