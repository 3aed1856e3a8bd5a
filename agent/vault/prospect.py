"""What `initialise` would find in a folder, without a change to it: for a person who decides whether to go on.

A folder without a repository is looked at through an empty one in a temporary folder, so that git's own rules say which
files it would follow.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory

from agent.clock import Clock
from agent.dataclass import dataclass
from agent.git.identities import Person as Person
from agent.git.identities import person
from agent.git.repository import MARKER, Place, locate
from agent.git.runner import Git
from agent.texts import Language
from agent.vault.folders import AT_ROOT, INBOX, AgentFolder
from agent.vault.initialise import refuse, refuse_repository, taken_folders
from agent.vault.options import Options
from agent.vault.worktree.files import Files
from agent.vault.worktree.survey import Dirty, DirtyKind, dirty
from agent.vault.write.left_out import left_out

_CODE = (
    *("pyproject.toml", "setup.py", "package.json", "Cargo.toml", "go.mod", "pom.xml", "build.gradle", "composer.json"),
    *("Gemfile", "CMakeLists.txt", "Makefile", "mix.exs", "Package.swift", "deno.json"),
)
"""Files at the top of a source checkout."""
_SOURCES = (
    *(".c", ".cc", ".cpp", ".cs", ".go", ".h", ".java", ".js", ".kt", ".php", ".py", ".rb", ".rs", ".scala", ".swift"),
    *(".ts", ".tsx", ".vue"),
)
"""Endings of source files."""


@dataclass(frozen=True, slots=True)
class Prospect:
    """A folder before it is a vault.

    `files`: the person's files that would be the first commit of a new repository, with `megabytes` in all.
    `left_out`: new files that would not be committed, with the reason. `drafts`: what is not committed in an existing
    repository, without what is staged. `taken`: their folders with names that the agent uses, with the number of files;
    `home`: where the agent's would lie; `own_inboxes`: folders of theirs for incoming notes that are none of the
    agent's. `code`: files that say that this is a source checkout; it and `taken` are empty for a vault. `person`: how
    their commits would be signed. `adds`: the files that it would be given, `language`: that of their words.
    `commits_edits`: the daemon would commit the person's own edits.
    """

    root: Path
    was_vault: bool
    new_repository: bool
    person: Person
    files: int = 0
    megabytes: float = 0.0
    left_out: Mapping[str, str] = field(default_factory=dict)
    drafts: tuple[str, ...] = ()
    staged: int = 0
    taken: Mapping[str, int] = field(default_factory=dict)
    home: AgentFolder = AT_ROOT
    own_inboxes: Mapping[str, int] = field(default_factory=dict)
    code: tuple[str, ...] = ()
    adds: tuple[str, ...] = ()
    language: Language = "en"
    commits_edits: bool = True

    @property
    def has_work(self) -> bool:
        """True if there is something of the person's in the folder or its repository."""
        return bool(self.files or self.left_out or self.drafts or self.staged or self.taken or self.code)


def look_at(root: Path, ignore: bytes, state: Path, clock: Clock, options: Options) -> Prospect:
    """What there is in a folder that may become a vault; raises as `initialise` does, and changes nothing."""
    root = root.resolve()
    refuse(root, state)
    found = locate(root, adopting=True)
    if found is not None:
        refuse_repository(found)
    if found is not None or not root.is_dir():
        return _look(root, found, clock, options)
    with TemporaryDirectory(prefix="vault-agent-") as scratch:
        place = Place(root, Path(scratch) / ".git", root)
        Git(place.gitdir, root).run("init", "-q", "--template=", "--initial-branch=main")
        (place.gitdir / "info").mkdir(exist_ok=True)
        (place.gitdir / "info/exclude").write_bytes(ignore)
        return _look(root, place, clock, options, new=True)


def _look(root: Path, place: Place | None, clock: Clock, options: Options, *, new: bool = False) -> Prospect:
    was_vault = (root / MARKER).is_file()
    if place is None:
        with TemporaryDirectory(prefix="vault-agent-") as scratch:
            git = Git(Path(scratch), Path(scratch))
            return Prospect(root, was_vault, new_repository=True, person=person(git), home=options.home)
    git = Git(place.gitdir, place.worktree, timeout=options.timeout_seconds)
    changed = dirty(git, place)
    out = left_out(git, Files(root, clock, durable=False), options, changed)
    mine = [item for item in changed if item.path not in out]
    staged = [item for item in mine if item.kind in {DirtyKind.STAGED, DirtyKind.UNMERGED}]
    drafts = [item for item in mine if item not in staged]
    return Prospect(
        root,
        was_vault,
        new_repository=new,
        person=person(git),
        files=len(drafts) if new else 0,
        megabytes=_megabytes(root, drafts) if new else 0.0,
        left_out=out if new else {},
        drafts=() if new else tuple(item.path for item in drafts),
        staged=len(staged),
        taken={} if was_vault else taken_folders(root, options.home),
        home=options.home,
        own_inboxes={} if was_vault or not options.home.path else taken_folders(root, AT_ROOT, INBOX),
        code=() if was_vault else _signs_of_code(git, place, drafts),
    )


def _signs_of_code(git: Git, place: Place, new: list[Dirty]) -> tuple[str, ...]:
    """Files that projects have at their top, here or at the top of the repository; else the number of source files, if
    they are more than the notes."""
    tops = dict.fromkeys((place.worktree, place.root))
    marks = tuple(name for top in tops for name in _CODE if (top / name).is_file())
    if marks:
        return marks
    names = [*git.fields("ls-files", "-z", *place.pathspec), *(item.path for item in new)]
    endings = Counter(PurePath(name).suffix.lower() for name in names)
    sources = sum(endings[ending] for ending in _SOURCES)
    return (f"{sources} source files",) if sources > endings[".md"] else ()


def _megabytes(root: Path, items: list[Dirty]) -> float:
    return sum((root / item.path).lstat().st_size for item in items) / 1_000_000
