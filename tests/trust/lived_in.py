"""A vault that was lived in, and what damage does to one file of its machine: for promise 19.

`Home` is made once: runs with a scripted model, an approval, a question, skills, a forgetting, an index of now and one
of the past, a write that waits. A trial puts it back, damages one file and runs commands.
"""

import io
import json
import random
import re
import shutil
from collections.abc import Callable, Sequence
from contextlib import closing, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

from agent.app.open import open_workspace
from agent.background.inbox.answer_log import LoggedAnswer
from agent.background.inbox.queue import request_queue
from agent.interfaces.cli.main import main
from agent.vault.change import Create, Stamp
from agent.vault.transaction import Order
from agent.workspace.search_index import open_index
from tests.daemon.house import prose
from tests.stories.agents import call, furnish, script
from tests.vaults import git, write

QUERIES = ("amber river", "tag:garden", "path:note-3.md tea", "after:2026-01-01 tea")
COMMANDS: tuple[tuple[str, ...], ...] = (
    ("status",),
    ("search", "tea"),
    ("recall", "what about tea?"),
    ("ask", "what about tea?"),
    ("log",),
    ("approvals",),
    ("questions",),
    ("skills", "list"),
    ("skills", "suggest"),
    ("metrics",),
    ("memory", "report"),
    ("doctor",),
    ("doctor", "--fix"),
)
HARMS = (
    *("zero page", "random page", "flip", "empty", "half", "last byte", "garbage", "folder", "remove"),
    *("claims", "nested", "numbers"),
)
"""`claims`: a count of billions at some place, such as that of entries; `nested`: JSON a hundred thousand deep;
`numbers`: all numbers are beyond what any of them can be."""
SKILL = "---\nname: brewing\ndescription: How tea is made. Use when somebody asks for it.\n---\n# Brewing\n\n1. Boil.\n"


@dataclass(frozen=True)
class Ran:
    """What one command did; `text` is all that it printed."""

    words: tuple[str, ...]
    code: int
    text: str

    def check(self) -> None:
        """Raises `AssertionError` for a bug, or a refusal that does not say what to do."""
        assert self.code in (0, 1, 2, 75), self
        assert "Traceback" not in self.text and "this is a bug" not in self.text, self
        assert self.code != 2 or "hint:" in self.text, self


@dataclass(frozen=True)
class Home:
    """The vault and the machine as they were, in `kept`, and as they are, in `folder`."""

    folder: Path
    kept: Path

    @property
    def root(self) -> Path:
        return self.folder / "vault"

    def files(self, of: str) -> list[str]:
        """Every file of the machine's `cache` or `state`, by its path below the machine's folder."""
        home = self.kept / "home"
        return sorted(str(path.relative_to(home)) for path in (home / of).rglob("*") if path.is_file())

    def put_back(self) -> None:
        for name in ("home", "vault"):
            shutil.rmtree(self.folder / name, ignore_errors=True)
            shutil.copytree(self.kept / name, self.folder / name, symlinks=True)

    def damaged(self, name: str, kind: str, chance: random.Random) -> None:
        """Put everything back but for one damaged file of the machine."""
        self.put_back()
        harm(self.folder / "home" / name, kind, chance)

    def run(self, *words: str) -> Ran:
        """A command of the command line, in this process."""
        out = io.StringIO()
        with redirect_stdout(out), redirect_stderr(out):
            code = main(["--vault", str(self.root), *words])
        return Ran(words, code, out.getvalue())

    def answers(self) -> list[tuple[list[str], bool]]:
        """What each question finds, and whether the answer is said to be degraded."""
        found = []
        for text in QUERIES:
            said = json.loads(self.run("search", text, "--json").text)
            found.append(([hit["path"] for hit in said["hits"]], bool(said["degraded"])))
        return found


def furnished(folder: Path, put: Callable[[str, str], None]) -> Home:
    """Make the vault and live in it; the machine's settings are put into this process's environment."""
    said = folder / "script.json"
    root = furnish(folder, put, said)
    for number in range(6):
        day = f"---\ndate: 2026-0{number + 1}-03\ntags: [garden]\n---\n"
        write(root / f"note-{number}.md", f"{day}# Note {number}\n\ntea {prose(str(number))}\n")
    write(root / "clip.md", "---\nsource: https://news.example/1\n---\n# News\n\nread this page\n")
    write(root / "skills/brewing/SKILL.md", SKILL)
    git(root, "add", "-A")
    git(root, "commit", "-qm", "Notes")
    home = Home(folder, folder / "kept")
    talk = {"text": "Tea is in the cupboard."}
    for reply in (
        talk,
        call("vault_write", path="rules/tea.md", content="# Rule\n\nAlways tea.\n"),
        call("human_ask", question="Which tea?"),
        call("vault_read", path="clip.md"),
        call("vault_append", path="note-1.md", text="A line from the page that was read."),
    ):
        script(said, call("vault_read", path="clip.md"), reply, talk)
        home.run("ask", "please see to the tea")
    script(said, *[talk] * 10)
    for words in (
        ("search", "tea"),
        ("skills", "list"),
        ("skills", "review", "brewing"),
        ("remember", "Anna drinks green tea in the morning."),
        ("remember", "The locker code of the swimming pool is 4711."),
        ("search", "tea", "--as-of", "HEAD"),
        ("recall", "tea"),
    ):
        home.run(*words)
    entries = sorted(str(path.relative_to(root)) for path in (root / "entries").rglob("*locker*.md"))
    home.run("forget", *entries[:1], "--yes")
    home.run("ask", "what about tea?")
    home.run("search", "tea")
    workspace = open_workspace(root)
    given = LoggedAnswer("note-1.md", "key", workspace.clock.now().timestamp())
    request_queue(workspace.vault).save((), (given,))
    write(workspace.daemon_state, json.dumps({"pid": 1, "waiting": 0}))
    workspace.vault.writer.queue.put(
        Order(workspace.clock.new_id(), (Create("queued.md", b"kept\n"),), "a write", Stamp("human"))
    )
    with closing(open_index(workspace)) as index:
        index.search("tea", 1)
    for name in ("home", "vault"):
        shutil.copytree(folder / name, home.kept / name, symlinks=True)
    return home


def harm(path: Path, kind: str, chance: random.Random) -> None:
    """Damage one file; it is replaced and not written over, as another process may have mapped it."""
    data = bytearray(path.read_bytes())
    path.unlink()
    page = min(4096, len(data))
    at = chance.randrange(0, len(data), 4096) if data else 0
    match kind:
        case "remove":
            return
        case "folder":
            path.mkdir()
            return
        case "claims" | "nested" | "numbers":
            data = bytearray(overstated(bytes(data), kind, at, chance))
        case "zero page":
            data[at : at + page] = bytes(len(data[at : at + page]))
        case "random page":
            data[at : at + page] = chance.randbytes(len(data[at : at + page]))
        case "flip" if data:
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        case "garbage":
            data += chance.randbytes(100)
        case _:
            del data[{"empty": 0, "half": len(data) // 2}.get(kind, max(len(data) - 1, 0)) :]
    path.write_bytes(data)


def overstated(data: bytes, kind: str, at: int, chance: random.Random) -> bytes:
    """The bytes of a file that claims more than it has."""
    if kind == "claims":
        return data[:at] + b"\xff" * 4 * chance.randrange(1, 4) + data[at + 4 :]
    if kind == "nested":
        return data[:1] * 2 + b'{"a":[' * 100_000
    return re.sub(rb"\d+(?:\.\d+)?", lambda _: chance.choice((b"1e999", b"9" * 300, b"-1")), data)


def some(chance: random.Random, count: int) -> Sequence[tuple[str, ...]]:
    """So many of the commands, in any order; all of them when there are not more."""
    return chance.sample(COMMANDS, min(count, len(COMMANDS)))
