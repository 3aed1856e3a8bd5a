"""Pushes of a stranger with things that no editor makes: names, kinds, rules, times and people, written into the remote
as raw objects; and the judge who says, without asking the program, what of them may be on the disk."""

import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from agent.vault.health.status import status
from agent.vault.history.find import commits
from agent.vault.options import Options
from agent.vault.receiving.held_now import held_files
from agent.vault.sync.cloning import clone
from agent.vault.sync.distance import distances
from agent.vault.sync.round import RoundEnd
from tests.remotes import git_as
from tests.vault.sync.machines import Machine, two_machines

CANARY = "CANARY-7731: nobody else reads this\n"
ITEMS = 50
"""Strange things in one push."""
_NOTES = (
    b"note %d.md",
    b"caf\xe9 %d.md",
    b"\xff\xfe%d.md",
    b"%d \xe6\x97\xa5.md",
    b"e\xcc\x81 %d.md",
    b"\xc3\xa9 %d.md",
)
_STRANGE = (b"a\x07 %d.md", b"n\nl %d.md", b"%d\\x.md", b"C: %d.md", b"\x1b[31m%d.md", b"~%d.md", b".vault-agent-%d")
_ACTS = (
    *(b".obsidian/plugins/p%d/main.js", b".claude/%d.json", b"%d.sh", b"sub%d/CLAUDE.md", b"s%d/AGENTS.override.md"),
    *(b".vscode/%d.json", b"%d.html", b"Makefile%d", b".envrc%d", b"d%d/.cursorrules", b"%d.svg", b".x%d/hooks.md"),
)
_IGNORED = (b"private/%d.md", b"private/in/%d.md", b"PRIVATE/%d.md", b"x%d.secret")
_RULES = (b"", b"!private/\n!private/**\n!*.secret\n", b"*\n", None)
_WHEN = ("253402300800 +0000", "-9000000000 +0100", "1764000000 +9999", "99999999999999999 -0000", "0 -1200")
_WHO = (b"", b"Ann\xe9 <a\xff>", b"\xe6\x97\xa5 <x@y>", b"A" * 3000 + b" <a>", b"a\x1b[31m <a>", b"<> <<>>")


@dataclass(slots=True)
class World:
    """A vault here that others push to, with a file that is kept out of git; `silent`, `held` and `ignored` (here) are
    what was pushed, by the judge's word, and `good` the notes that must have come."""

    machine: Machine
    random: Random
    number: int = 0
    good: dict[str, str] = field(default_factory=dict)
    silent: dict[bytes, bytes] = field(default_factory=dict)
    held: set[bytes] = field(default_factory=set)
    ignored: set[bytes] = field(default_factory=set)


def world(folder: Path, seed: int) -> World:
    """A new world."""
    _, machine = two_machines(folder, {"tea.md": "# Tea\n", ".gitignore": "private/\n*.secret\n"})
    for path in ("private/diary.md", "private/in/1.md", "x1.secret", "deep/key.secret"):
        machine.write(path, CANARY)
    machine.synced()
    return World(machine, Random(seed))


def push(here: World) -> None:
    """Some strange things and one good note, in one to three commits."""
    parts = here.random.randint(1, 2)
    for _ in range(parts):
        entries: dict[bytes, tuple[str, bytes] | None] = dict(_item(here) for _ in range(ITEMS // parts))
        _commit(here, entries)
    here.number += 1
    here.good[f"good {here.number}.md"] = text = f"this is good {here.number}\n"
    _commit(here, {f"good {here.number}.md".encode(): ("100644", text.encode())})


def _item(here: World) -> tuple[bytes, tuple[str, bytes] | None]:
    random, number = here.random, here.random.randint(1, 40)
    data = b"strange %d\n" % random.randint(0, 99)
    match random.choice(("note", "note", "strange", "acts", "acts", "ignored", "program", "link", "module", "rules")):
        case "note":
            path = random.choice(_NOTES) % number
            here.silent[path] = data
            return path, ("100644", data)
        case "program":
            path = b"p%d.md" % number
            here.held.add(path)
            return path, ("100755", data)
        case "link":
            path = b"l%d.md" % number
            here.held.add(path)
            return path, ("120000", b"/etc/passwd")
        case "module":
            path = b"m%d" % number
            here.held.add(path)
            return path, ("160000", data)
        case "rules":
            rules = random.choice(_RULES)
            path = random.choice((b".gitignore", b"private/.gitignore", b"deep/.gitignore"))
            return path, None if rules is None else ("100644", rules)
        case kind:
            path = random.choice({"strange": _STRANGE, "acts": _ACTS, "ignored": _IGNORED}[kind]) % number
            (here.ignored if kind == "ignored" else here.held).add(path)
            return path, ("100644", data)


def _commit(here: World, entries: dict[bytes, tuple[str, bytes] | None]) -> None:
    """A commit with these entries (None: removed) on top of the remote's, by anybody at any time."""
    remote, random = here.machine.remote, here.random
    index = {"GIT_INDEX_FILE": str(remote / "strange-index")}
    _git(remote, "read-tree", "main", more=index)
    rows, parent = b"", _git(remote, "rev-parse", "main")
    for path, entry in entries.items():
        mode, oid = "0", "0" * len(parent)
        if entry is not None:
            mode, data = entry
            oid = "1" * len(parent) if mode == "160000" else _git(remote, "hash-object", "-w", "--stdin", data=data)
        rows += f"{mode} {oid}\t".encode() + path + b"\0"
    _git(remote, "update-index", "-z", "--index-info", data=rows, more=index)
    tree = _git(remote, "write-tree", "--missing-ok", more=index)
    who, when = (random.choice(_WHO) or b"Eve <e@x>"), (random.choice(_WHEN)).encode()
    raw = b"tree %s\nparent %s\nauthor %s %s\ncommitter %s %s\n\n\xff strange\n"
    data = raw % (tree.encode(), parent.encode(), who, when, who, when)
    commit = _git(remote, "hash-object", "-w", "--literally", "-t", "commit", "--stdin", data=data)
    _git(remote, "update-ref", "refs/heads/main", commit)


def _git(remote: Path, *args: str, data: bytes = b"", more: dict[str, str] | None = None) -> str:
    command = ["git", "-C", str(remote), *args]
    done = subprocess.run(command, input=data, capture_output=True, env={**os.environ, **(more or {})}, check=False)
    assert not done.returncode, (args, done.stderr)
    return done.stdout.decode("utf-8", "surrogateescape").strip()


def check(here: World) -> list[str]:
    """Sync, look at everything, and name what is wrong."""
    machine, vault = here.machine, here.machine.vault
    report = machine.sync()
    if report.end is not RoundEnd.SYNCED:
        return [f"sync ends as {report.end}: {report.trouble}"]
    found = _of_disk(here, machine.root)
    machine.write("mine.md", f"my own {here.number}\n")
    if machine.sync().end is not RoundEnd.SYNCED:
        found.append("what is written here is not sent")
    found += [each.path for each in vault.changed_files()]
    is_told = status(vault).last is not None and commits(vault) and any(True for _ in distances(vault, 0))
    found += [] if is_told else ["no status"]
    vault.provenance.look()
    held = {os.fsencode(each.path) for each in held_files(vault)}
    on_remote = set(os.fsencode(path) for path in vault.git.fields("ls-tree", "-r", "-z", "--name-only", "HEAD"))
    found += [f"{path!r} is held back and not named" for path in here.held & on_remote - held]
    blobs = git_as(machine.remote, "Eve", "rev-list", "--objects", "--all", "--no-object-names")
    return found + (["what is ignored here was published"] if vault.content_id(CANARY.encode()) in blobs else [])


def check_clone(here: World, folder: Path) -> list[str]:
    """Clone what is there, and name what is wrong with it."""
    clone(str(here.machine.remote), folder / "vault", folder / "state", Options(durable=False))
    return _of_disk(here, folder / "vault", is_new=True)


def _of_disk(here: World, root: Path, *, is_new: bool = False) -> list[str]:
    found = [f"{path} did not come" for path, text in here.good.items() if _read(root, path.encode()) != text.encode()]
    found += [f"{path!r} did not come" for path, data in here.silent.items() if _read(root, path) is None]
    private = set() if is_new else {b"private/in/1.md", b"x1.secret"}
    away = here.held if is_new else (here.held | here.ignored) - private
    found += [f"{path!r} is on the disk" for path in away if os.path.lexists(os.fsencode(root) + b"/" + path)]
    found += [f"{path!r} was overwritten" for path in private if _read(root, path) != CANARY.encode()]
    return found


def _read(root: Path, path: bytes) -> bytes | None:
    try:
        return Path(os.fsdecode(os.fsencode(root) + b"/" + path)).read_bytes()
    except OSError:
        return None
