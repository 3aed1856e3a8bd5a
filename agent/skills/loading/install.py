"""Installs skills from a folder or a repository: checks them and copies them into the vault in one commit.

None of their files is run or made executable, and they are not trusted until a person has reviewed them.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path

from agent.dataclass import dataclass
from agent.errors import BadPath, UserError
from agent.skills.loading.files import LARGEST, MOST_FILES, RESERVED, BadFolder, folder_names, list_files, read_file
from agent.skills.reading.skill import FILE, SkillProblem, SkillSource
from agent.skills.reading.skill_file import FILE_BYTES, SkillFolder, parse_skill
from agent.vault.change import Stamp
from agent.vault.fetched import Fetched, fetched, is_address
from agent.vault.folders import SKILLS
from agent.vault.store import Vault
from agent.vault.worktree.paths import check

MOST = 200
"""The most skills per call."""
_DEPTH = 5
_FOLDERS = 5_000
_NAMED = 20
"""The most skills of the source listed in the error for a missing one."""


@dataclass(frozen=True, slots=True)
class Installable:
    """A skill that can be installed: its name, its files by path in its folder, and its folder in the source."""

    name: str
    files: Mapping[str, bytes]
    found: str


@dataclass(frozen=True, slots=True)
class Installed:
    """The names of the installed skills, the commit (None: queued), and the problems of skipped skills and files."""

    names: tuple[str, ...]
    commit: str | None
    queued: str | None
    problems: tuple[SkillProblem, ...]


@dataclass(frozen=True, slots=True)
class SourceFolder:
    """A folder with a `SKILL.md`: its path in the source, the sizes of its files, the paths of links and special files,
    and the function that reads files."""

    folder: str
    sizes: Mapping[str, int]
    strange: tuple[str, ...]
    read: Callable[[list[str]], dict[str, bytes]]


def install(vault: Vault, source: str, wanted: Iterable[str] = ()) -> Installed:
    """Copy the skills of a folder or repository (all, or those `wanted` by name) into the vault's `skills/`.

    Raises `UserError` if the source has no skill or lacks a wanted one, or if the vault already has one of that name.
    """
    is_bare_repository = (Path(source) / "HEAD").is_file() and (Path(source) / "objects").is_dir()
    if is_address(source) or is_bare_repository:
        with fetched(source) as repository:
            return _install(vault, source, _in_repository(repository), frozenset(wanted))
    root = Path(source)
    if not root.is_dir():
        raise UserError(
            "{source} is no folder, and no address of a repository",
            hint="give a folder, or an address such as https://example.org/skills.git",
            source=source,
        )
    return _install(vault, source, _in_folder(root.resolve()), frozenset(wanted))


def _install(
    vault: Vault, source: str, folders: Iterable[SourceFolder | SkillProblem], wanted: frozenset[str]
) -> Installed:
    offered: dict[str, Installable] = {}
    problems: list[SkillProblem] = []
    others: list[str] = []
    for each in folders:
        if isinstance(each, SkillProblem):
            problems.append(each)
        elif wanted and (name := each.folder.rpartition("/")[2]) not in wanted:
            others.append(ascii(name)[1:-1])
        else:
            skill, found = _offered(each)
            problems += found
            if skill is not None and skill.name in offered:
                first = offered[skill.name].found
                problems.append(SkillProblem(skill.found, 1, f"{first} has the same name; left out"))
            elif skill is not None:
                offered[skill.name] = skill
    missing = wanted - offered.keys()
    if missing or not offered:
        there = ", ".join(sorted([*offered, *others])[:_NAMED])
        raise UserError(
            "there is no skill {names} in {source} that can be used{why}"
            if missing
            else "there is no skill with a {file} in {source} that can be used{why}",
            hint="skills there: {there}" if there else "a skill is a folder with a {file}",
            source=source,
            names=", ".join(sorted(missing)),
            why=f": {problems[0].path}: {problems[0].reason}" if problems else "",
            there=there,
            file=FILE,
        )
    taken = sorted(offered.keys() & set(folder_names(vault.place.root, vault.home.at(SKILLS))))
    if taken:
        raise UserError(
            "the vault has {taken} already; nothing was installed",
            hint="move {skills}{first} away first, or name the skills you want with --skill",
            taken=", ".join(taken),
            skills=vault.home.at(SKILLS),
            first=taken[0],
        )
    names = tuple(sorted(offered))
    body = f"From {' '.join(source.split())[:500]}\n\nNot reviewed yet: vault-agent skills review NAME"
    stamp = Stamp("agent", tool="skills_install")
    with vault.transaction(f"skills(install): {', '.join(names)}", stamp, body=body) as change:
        for name in names:
            for path, data in sorted(offered[name].files.items()):
                change.create(vault.home.at(f"{SKILLS}{name}/{path}"), data)
    return Installed(names, change.outcome.commit, change.outcome.queued, tuple(problems))


def _offered(found: SourceFolder) -> tuple[Installable | None, tuple[SkillProblem, ...]]:
    """The skill in a folder (None if it cannot be used), and its problems."""
    where = f"{found.folder}/{FILE}"
    name = found.folder.rpartition("/")[2]
    problems = [SkillProblem(where, 1, f"{path} is a link or no file, and left out") for path in found.strange]
    reason = _too_much(found)
    if name in RESERVED:
        reason = f"{name} is a folder of the agent's own; rename the skill"
    if reason:
        return None, (*problems, SkillProblem(where, 1, reason))
    offered: list[str] = []
    for path in found.sizes:
        try:
            check(f"{SKILLS}{name}/{path}")
        except BadPath as error:
            problems.append(SkillProblem(where, 1, f"{ascii(path)[1:-1]} is left out: {error.message}"))
            continue
        offered.append(path)
    data = found.read([FILE])[FILE]
    beside = tuple(path for path in offered if path != FILE)
    read = parse_skill(data, SkillFolder(name, SkillSource.VAULT, where, beside))
    problems += read.problems
    if read.skill is None:
        return None, tuple(problems)
    return Installable(read.skill.name, {FILE: data, **found.read(list(beside))}, found.folder), tuple(problems)


def _too_much(found: SourceFolder) -> str:
    if len(found.sizes) > MOST_FILES:
        return f"it has more than {MOST_FILES} files"
    if sum(found.sizes.values()) > LARGEST:
        return f"it is larger than {LARGEST // (1 << 20)} MB together"
    if found.sizes[FILE] > FILE_BYTES:
        return f"{FILE} has {found.sizes[FILE]:,} bytes; at most {FILE_BYTES:,} are allowed"
    return ""


def _in_folder(root: Path) -> Iterable[SourceFolder | SkillProblem]:
    """The skills in a local folder: the folder itself, or else those in the folders below it."""
    waiting = [("", 0)]
    seen = 0
    while waiting and seen < _FOLDERS:
        inside, depth = waiting.pop(0)
        seen += 1
        if not (root / inside / FILE).is_file():
            waiting += [(f"{inside}/{name}".strip("/"), depth + 1) for name in folder_names(root, inside)] * (
                depth < _DEPTH
            )
            continue
        folder = f"{root.name}/{inside}".rstrip("/")
        try:
            found = list_files(root, inside)
        except (BadFolder, OSError) as error:
            yield SkillProblem(f"{folder}/{FILE}", 1, str(error))
            continue
        sizes = {file.path: file.size for file in found.files}
        if FILE in sizes:
            yield SourceFolder(folder, sizes, found.strange, partial(_read_files, root, inside, sizes))
        else:
            yield SkillProblem(f"{folder}/{FILE}", 1, f"{FILE} is a link; links are not followed")


def _read_files(root: Path, folder: str, sizes: Mapping[str, int], paths: list[str]) -> dict[str, bytes]:
    try:
        return {path: read_file(root, folder, path, sizes[path]) for path in paths}
    except (BadFolder, OSError) as error:
        raise UserError(
            "{name} cannot be read: {error}", hint="try again", name=folder or root.name, error=error
        ) from error


def _in_repository(repository: Fetched) -> Iterable[SourceFolder | SkillProblem]:
    """The skills in a repository; of nested folders with a `SKILL.md`, the outermost is the skill."""
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
            yield SkillProblem(folder, 1, f"only the first {MOST} skills are looked at")
            return
        start = f"{folder}/" if folder else ""
        inside = {
            path.removeprefix(start): blob.size for path, blob in repository.files.items() if path.startswith(start)
        }
        sizes = {path: size for path, size in inside.items() if not any(p.startswith(".") for p in path.split("/"))}
        not_files = tuple(path.removeprefix(start) for path in repository.not_files if path.startswith(start))
        yield SourceFolder(folder or _named(repository), sizes, not_files, partial(_read_blobs, repository, start))


def _named(repository: Fetched) -> str:
    """The name in the header of a skill at the top of a repository, which has no folder name to compare."""
    data = repository.read([FILE]).get(FILE, b"")
    line = next((row for row in data.splitlines()[:100] if row.startswith(b"name:")), b"name:skill")
    return line.partition(b":")[2].strip().strip(b"\"'").decode("utf-8", "replace").rpartition("/")[2] or "skill"


def _read_blobs(repository: Fetched, start: str, paths: list[str]) -> dict[str, bytes]:
    found = repository.read([start + path for path in paths])
    return {path.removeprefix(start): data for path, data in found.items()}
