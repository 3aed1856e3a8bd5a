"""Makes a vault here of one that exists on a remote, without `git clone`: no hook and no filter runs, and no file
leaves the folder.

Everything is made in a folder beside the new one and gets its name last, so that a clone that is cut off leaves no
vault: it would look as if a person had written or deleted the notes.
"""

import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp

from agent.clock import Clock
from agent.config.addresses import without_login
from agent.config.durable import flush_folder
from agent.dataclass import dataclass
from agent.errors import NotAVault, UserError
from agent.git.network import Network
from agent.git.object_ids import LINK, PROGRAM
from agent.git.objects import TreeEntry
from agent.git.receiving_sizes import check_sizes
from agent.git.repository import MARKER
from agent.git.runner import Git
from agent.vault.folders import AT_ROOT, AgentFolder
from agent.vault.held_back import HeldFile, add_held_back
from agent.vault.initialise import refuse
from agent.vault.options import Options
from agent.vault.provenance.foreign_record import FOREIGN_REF
from agent.vault.receiving.choice import held_of_clone, what_cannot_be_here
from agent.vault.store import Vault
from agent.vault.sync.rounds import NETWORK_SECONDS
from agent.vault.sync.setup import plain, set_remote, tried
from agent.vault.sync.sides import files_of
from agent.vault.sync.state import SyncedRemote, state_file

_HEADS = "refs/heads/"
_USUAL = ("main", "master")
_TOGETHER = 500
"""The most files that are read from git at once."""
_SUBMODULE = "160000"


@dataclass(frozen=True, slots=True)
class Clone:
    """A folder that is a vault now, with the remote that it came from, at a commit."""

    root: Path
    address: str
    name: str
    branch: str
    commit: str
    files: int


def clone(
    address: str,
    root: Path,
    state: Path,
    options: Options,
    *,
    name: str = "origin",
    branch: str = "",
    mine: bool = False,
    home_in: Callable[[bytes], AgentFolder] = lambda settings: AT_ROOT,
    step: Callable[[str], object] = lambda step: None,
    progress: Callable[[int, int], object] = lambda done, of: None,
) -> Clone:
    """Make `root`, a new or empty folder, a copy of the vault at an address; `state` has the vaults' private files.

    Unless only the person writes there (`mine`), what can act is held back (`vault.receiving`); `home_in` finds in the
    vault's settings where the agent's folders lie. Raises `UserError` or `NotAVault`, with nothing made, for a folder
    that cannot be used, for an address that cannot be read, that is empty or is no vault, and for more than may come.
    """
    root = root.resolve()
    _check_folder(root, state)
    address = plain(address)
    step("fetch")
    branches, width = _look(address, options)
    chosen = _branch(branches, branch, address)
    with _new_folder(root) as folder:
        git = _make_repository(folder, chosen, width, options)
        tracking = f"refs/remotes/{name}/{chosen}"
        wanted = [
            f"+{_HEADS}{chosen}:{tracking}",
            *([f"+{FOREIGN_REF}:{FOREIGN_REF}"] if FOREIGN_REF in branches else []),
        ]
        limits = replace(options.receiving, note=0) if mine else options.receiving

        def inspect(git: Git, new: Sequence[str], known: Sequence[str]) -> None:
            check_sizes(git, new, known, limits)

        network = Network(git, NETWORK_SECONDS * 5)
        tried(lambda: network.fetch(address, wanted, limits.fetch, inspect), address)
        commit = git.run("rev-parse", "--verify", tracking).decode().strip()
        files = files_of(git, commit)
        _check_files(files, address, root)
        held = tuple(_held(git, files, commit, mine, home_in))
        add_held_back(git.gitdir, held)
        apart = {each.path for each in held}
        set_remote(git, name, address, chosen)
        step("write")
        _write_files(git, folder, {path: entry for path, entry in files.items() if path not in apart}, progress)
        git.run("read-tree", commit)
        stdin = b"".join(path.encode("utf-8", "surrogateescape") + b"\0" for path in sorted(apart))
        git.run("update-index", "-z", "--skip-worktree", "--stdin", stdin=stdin)
        git.run("update-index", "-q", "--refresh", ok=(0, 1), drivers_off=True)
        git.run("update-ref", "-m", f"clone: from {without_login(address)}", "HEAD", commit)
    return Clone(root, address, name, chosen, commit, len(files))


def remember(vault: Vault, made: Clone, clock: Clock) -> SyncedRemote:
    """Keep a new clone in step with its remote from now on."""
    remote = SyncedRemote(made.name, made.address, made.branch).agrees(made.commit, clock.now())
    state_file(vault).put(remote)
    return remote


def _check_folder(root: Path, state: Path) -> None:
    refuse(root, state)
    with suppress(FileNotFoundError):
        if any(root.iterdir()):
            raise UserError(
                "{root} is not empty", hint="name a folder that is still free; nothing was changed", root=root
            )


def _look(address: str, options: Options) -> tuple[dict[str, str], int]:
    """The branches at the address, with `HEAD` and the record of foreign text among them, and the length of its ids;
    asked from a repository of its own."""
    with TemporaryDirectory(prefix="vault-agent-clone-") as folder:
        git = _make_repository(Path(folder), "main", 40, options)
        found = tried(lambda: Network(git).list_refs(address), address)
    asked = ("HEAD", FOREIGN_REF)
    branches = {ref.removeprefix(_HEADS): oid for ref, oid in found.items() if ref in asked or ref.startswith(_HEADS)}
    return branches, max(map(len, branches.values()), default=40)


def _branch(branches: Mapping[str, str], wanted: str, address: str) -> str:
    names = sorted(set(branches) - {"HEAD", FOREIGN_REF})
    plain_address = without_login(address)
    if not names:
        raise UserError(
            "there is nothing at {address} yet",
            hint="make a vault here and send it there: vault-agent init PATH, then vault-agent sync setup {address}",
            address=plain_address,
        )
    if wanted and wanted not in names:
        raise UserError(
            "{address} has no branch {branch}, but {names}",
            hint="leave out --branch, or name one of those",
            address=plain_address,
            branch=wanted,
            names=", ".join(names[:5]),
        )
    at_head = [name for name in names if branches[name] == branches.get("HEAD", "")]
    return wanted or next((name for name in (*_USUAL, *at_head) if name in (at_head or names)), names[0])


@contextmanager
def _new_folder(root: Path) -> Iterator[Path]:
    """A folder that gets the name of `root` at the end of the block, and is removed if the block fails."""
    root.parent.mkdir(parents=True, exist_ok=True)
    folder = Path(mkdtemp(prefix=f".{root.name[:100]}.vault-agent-", dir=root.parent))
    try:
        yield folder
        os.sync()
        folder.chmod(0o777 & ~_umask())
        with suppress(FileNotFoundError):
            root.rmdir()
        folder.rename(root)
        flush_folder(root.parent)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _umask() -> int:
    found = os.umask(0o077)
    os.umask(found)
    return found


def _make_repository(folder: Path, branch: str, width: int, options: Options) -> Git:
    git = Git(folder / ".git", folder, durable=options.durable, timeout=options.timeout_seconds)
    shape = "--object-format=sha256" if width == 64 else "--object-format=sha1"
    git.run("init", "-q", "--template=", shape, f"--initial-branch={branch}")
    return git


def _check_files(files: Mapping[str, TreeEntry], address: str, root: Path) -> None:
    if MARKER not in files:
        raise NotAVault(
            "what is at {address} is no vault: it has no {file}",
            hint="if you want it to be one: git clone {address} {root}, then vault-agent init {root}",
            address=without_login(address),
            file=MARKER,
            root=root,
        )


def _held(
    git: Git, files: Mapping[str, TreeEntry], commit: str, mine: bool, home_in: Callable[[bytes], AgentFolder]
) -> Iterator[HeldFile]:
    """What is held back of the files."""
    if mine:
        return what_cannot_be_here(files, commit)
    settings = git.objects([files[MARKER].oid])[0]
    return held_of_clone(files, commit, MARKER, home_in(settings.data if settings is not None else b""))


def _write_files(
    git: Git, folder: Path, files: Mapping[str, TreeEntry], progress: Callable[[int, int], object]
) -> None:
    """Write the files into an empty folder, byte for byte; links last, so that nothing is written through one."""
    rows = sorted(files.items(), key=lambda each: (each[1].mode == LINK, each[0]))
    made: set[Path] = {folder}
    for start in range(0, len(rows), _TOGETHER):
        batch = rows[start : start + _TOGETHER]
        found = _contents(git, [entry for _, entry in batch])
        for path, entry in batch:
            target = folder / path
            if target.parent not in made:
                target.parent.mkdir(parents=True, exist_ok=True)
                made.add(target.parent)
            _write(target, path, entry, found.get(entry.oid, b""))
        progress(min(start + _TOGETHER, len(rows)), len(rows))


def _contents(git: Git, entries: Sequence[TreeEntry]) -> dict[str, bytes]:
    oids = list(dict.fromkeys(entry.oid for entry in entries if entry.mode != _SUBMODULE))
    found = git.objects(oids) if oids else []
    return {oid: each.data for oid, each in zip(oids, found, strict=True) if each is not None}


def _write(target: Path, path: str, entry: TreeEntry, data: bytes) -> None:
    try:
        if entry.mode == _SUBMODULE:
            target.mkdir()
        elif entry.mode == LINK:
            target.symlink_to(os.fsdecode(data))
        else:
            mode = 0o777 if entry.mode == PROGRAM else 0o666
            descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode)
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
    except FileExistsError as error:
        raise UserError(
            "{path} and another file have one name on this disk, which ignores case",
            hint="rename one of them on another machine first",
            path=path,
        ) from error
