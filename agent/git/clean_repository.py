"""A temporary repository that has another one's objects and refs, and none of its settings.

git cannot be told to leave out a repository's own configuration, and there is no complete list of the settings that
name a command or a server. A transfer therefore happens in a repository that has no settings: it borrows the objects
of the vault's repository and begins with the same refs. What has arrived is taken over only after git has checked it,
so that a transfer that is killed leaves no lock and no half of a pack in the vault's repository.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from agent.config.durable import flush_folder
from agent.dataclass import dataclass
from agent.git.index_lock import CLEAN
from agent.git.repository import common_folder, is_id, packed_refs, read_text
from agent.git.runner import Git

_OLD_SECONDS = 86_400
"""Age in seconds from which on the folder of another transfer counts as left over: a killed process left it."""
_LIST = ("for-each-ref", "--format=%(objectname) %(refname)")


@dataclass(frozen=True, slots=True)
class CleanRepository:
    """The temporary repository: its folder, its refs at the start, and `git` for the vault's repository."""

    folder: Path
    refs: Mapping[str, str]
    git: Git

    @property
    def gitdir(self) -> Path:
        return self.folder / "git"

    @property
    def worktree(self) -> Path:
        return self.folder / "empty"

    def hand_over(self) -> None:
        """Move the new objects to the vault's repository, then set its refs that differ, all of them or none.

        Raises `GitFailed` if one of these refs has changed in the vault's repository meanwhile.
        """
        after = self._refs_now()
        changed = {ref: oid for ref, oid in after.items() if self.refs.get(ref) != oid}
        if not changed:
            return
        self._move_objects()
        zero = "0" * self.git.width
        rows = (f"update {ref}\0{oid}\0{self.refs.get(ref, zero)}\0" for ref, oid in changed.items())
        stdin = "".join(rows).encode("utf-8", "surrogateescape")
        self.git.run("update-ref", "--stdin", "-z", "-m", "fetch", stdin=stdin)

    def new_tips(self) -> list[str]:
        """The objects of the references that differ from those at the start."""
        return [oid for ref, oid in self._refs_now().items() if self.refs.get(ref) != oid]

    def size(self) -> int:
        """The bytes of the objects that were written here."""
        files = (self.gitdir / "objects").rglob("*")
        return sum(path.stat().st_size for path in files if path.is_file())

    def _refs_now(self) -> dict[str, str]:
        """The refs here: those of the start, and over them the files that git has written since."""
        files = ((path.relative_to(self.gitdir), path) for path in (self.gitdir / "refs").rglob("*") if path.is_file())
        written = {str(name): read_text(path) for name, path in files if path.suffix != ".lock"}
        return {**packed_refs(self.gitdir), **{ref: oid for ref, oid in written.items() if is_id(oid)}}

    def _move_objects(self) -> None:
        """Each file to the same place in the vault's repository; the index of a pack comes after its pack."""
        source, target = self.gitdir / "objects", common_folder(self.git.gitdir) / "objects"
        files = [path for path in source.glob("*/*") if len(path.parent.name) == 2 or path.parent.name == "pack"]
        wanted = [path for path in files if not path.name.startswith("tmp_") and path.suffix != ".keep"]
        for path in sorted(wanted, key=lambda each: (each.suffix == ".idx", each.suffix != ".pack")):
            place = target / path.relative_to(source)
            place.parent.mkdir(exist_ok=True)
            if not place.exists():
                path.rename(place)
        if self.git.durable:
            for folder in {path.parent.name for path in wanted}:
                flush_folder(target / folder)
            flush_folder(target)


@contextmanager
def clean_repository(git: Git, address: str, *, with_refs: bool) -> Iterator[CleanRepository]:
    """A temporary repository with the objects of `git`'s repository, inside the block; its refs only if asked for.

    It lies in the same file system, so that objects can be moved. Its folder is inside the vault's, and the address is
    that of its remote: so the person's own settings for repositories in a folder or with such a remote are in force.
    """
    common = common_folder(git.gitdir)
    (common / "vault-agent").mkdir(exist_ok=True, mode=0o700)
    folder = Path(tempfile.mkdtemp(dir=common / "vault-agent", prefix=CLEAN.rpartition("/")[2]))
    try:
        _remove_old(folder)
        made = CleanRepository(folder, refs_of(git) if with_refs else {}, git)
        _fill(made, common, address)
        yield made
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def refs_of(git: Git) -> dict[str, str]:
    """The object of each ref, by full name."""
    rows = git.run(*_LIST).decode("utf-8", "surrogateescape").splitlines()
    return {ref: oid for oid, _, ref in (row.partition(" ") for row in rows)}


def _fill(made: CleanRepository, common: Path, address: str) -> None:
    gitdir = made.gitdir
    for name in ("objects/info", "objects/pack", "refs"):
        (gitdir / name).mkdir(parents=True)
    made.worktree.mkdir()
    (gitdir / "HEAD").write_text("ref: refs/heads/none\n")
    (gitdir / "config").write_bytes(_settings(made.git.width, address))
    rows = "".join(f"{oid} {ref}\n" for ref, oid in made.refs.items())
    (gitdir / "packed-refs").write_bytes(rows.encode("utf-8", "surrogateescape"))
    (gitdir / "objects/info/alternates").write_bytes(_quoted(os.fsencode(common / "objects")) + b"\n")
    with suppress(FileNotFoundError):
        shutil.copyfile(common / "shallow", gitdir / "shallow", follow_symlinks=False)


def _settings(width: int, address: str) -> bytes:
    """All settings of the repository: its format, and where its remote is."""
    remote = b'[remote "own"]\n\turl = ' + _quoted(os.fsencode(address)) + b"\n"
    if width == 40:
        return b"[core]\n\trepositoryFormatVersion = 0\n" + remote
    return b"[core]\n\trepositoryFormatVersion = 1\n[extensions]\n\tobjectFormat = sha256\n" + remote


def _quoted(value: bytes) -> bytes:
    """A value in quotes, as git reads it in its settings and in its list of borrowed folders."""
    for plain, escaped in ((b"\\", b"\\\\"), (b'"', b'\\"'), (b"\n", b"\\n")):
        value = value.replace(plain, escaped)
    return b'"' + value + b'"'


def _remove_old(new: Path) -> None:
    now = new.stat().st_mtime
    for folder in new.parent.glob(f"{CLEAN.rpartition('/')[2]}*"):
        with suppress(OSError):
            if now - folder.stat().st_mtime > _OLD_SECONDS:
                shutil.rmtree(folder, ignore_errors=True)
