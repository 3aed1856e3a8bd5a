"""The system calls of one durable change, as `strace` saw them, and the order that makes a change durable."""

import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from agent.vault.options import Options
from tests.trust.forks import PROJECT
from tests.vaults import make_vault

TRACED = "openat,open,creat,fsync,fdatasync,rename,renameat,renameat2,link,linkat,truncate,write"
SCRIPT = """
import sys
from pathlib import Path
from agent.clock import SystemClock
from agent.vault.change import Stamp
from agent.vault.store import open_vault
from agent.vault.options import Options
from tests.trust.plants import plant
if len(sys.argv) > 3:
    plant(sys.argv[3], setattr)
vault = open_vault(Path(sys.argv[1]), Path(sys.argv[2]), SystemClock(), Options())
with vault.transaction("agent(notes): one", Stamp("agent", "r1")) as transaction:
    transaction.append("notes/one.md", b"a line\\n")
assert transaction.outcome.commit
print("acked", flush=True)
"""
_LINE = re.compile(r"^(\d+)\s+(.*)$")
_RESUMED = re.compile(r"^<\.\.\. (\w+) resumed>(.*)$")


@dataclass(frozen=True, slots=True)
class Call:
    """One finished call; `began` and `ended` are line numbers of the record."""

    name: str
    text: str
    began: int
    ended: int


def record(folder: Path, bug: str = "") -> tuple[Path, list[Call]]:
    """The vault's root and every traced call that succeeded while one note was changed."""
    vault = make_vault(folder, {"notes/one.md": "# One\n"}, options=Options())
    root, out = vault.place.root, folder / "calls.txt"
    script = [sys.executable, "-c", SCRIPT, str(root), str(folder / "state"), *([bug] if bug else [])]
    command = ["strace", "-f", "-y", "-s", "400", "-o", str(out), "-e", f"trace={TRACED}", *script]
    subprocess.run(command, cwd=PROJECT, check=True, capture_output=True, timeout=120)
    return root, parse(out.read_text("utf-8", "replace").splitlines())


def parse(lines: list[str]) -> list[Call]:
    """Calls in the order in which they ended; those cut in two by another process's are put together."""
    begun: dict[str, tuple[int, str]] = {}
    calls = []
    for number, line in enumerate(lines):
        match = _LINE.match(line)
        if match is None:
            continue
        process, text = match.groups()
        began = number
        if text.endswith("<unfinished ...>"):
            begun[process] = (number, text.removesuffix("<unfinished ...>"))
            continue
        resumed = _RESUMED.match(text)
        if resumed and process in begun:
            began, first = begun.pop(process)
            text = first + resumed.group(2)
        name, _, rest = text.partition("(")
        if re.search(r"\) += \d", rest):
            calls.append(Call(name, text, began, number))
    return calls


def check_order(root: Path, calls: list[Call]) -> None:
    """Each step is over before the next one begins; raises `AssertionError` with the two steps that are not so."""
    note, git = f"{root}/notes", f"{root}/.git"
    steps: list[tuple[str, Callable[[Call], bool]]] = [
        ("the journal is flushed", lambda c: _is_sync(c, "/journal.jsonl>")),
        ("the temporary file is flushed", lambda c: _is_sync(c, f"<{note}/.vault-agent-")),
        (
            "it is exchanged with the note",
            lambda c: c.name == "renameat2" and '"one.md"' in c.text and "EXCHANGE" in c.text,
        ),
        ("the folder is flushed", lambda c: _is_sync(c, f"<{note}>")),
        ("the objects are flushed", lambda c: _is_sync(c, f"<{git}/objects/")),
        (
            "the branch moves",
            lambda c: c.name.startswith("rename") and ".lock" in c.text and "refs/heads/main" in c.text,
        ),
        ("it is acknowledged", lambda c: c.name == "write" and '"acked' in c.text),
    ]
    spans = [(name, [call for call in calls if wanted(call)]) for name, wanted in steps]
    for name, found in spans:
        assert found, f"never: {name}"
    for (name, before), (later, after) in zip(spans, spans[1:], strict=False):
        assert before[0].ended < after[0].began, f"{later} before {name}"
    branch = spans[5][1][0]
    objects = spans[4][1]
    index = [c for c in calls if c.name.startswith("rename") and f'"{git}/index"' in c.text]
    assert index, "never: the shared index is renamed into place"
    assert spans[3][1][0].ended < index[0].began and index[-1].ended < branch.began, (
        "the index is not changed in between"
    )
    assert not [c for c in objects if c.ended > branch.began and c.began < spans[6][1][0].began], "an object comes late"
    flushed = [
        c for c in calls if _is_sync(c, f"<{git}/refs/heads/main.lock>") or _is_sync(c, f"<{git}/refs/heads/main>")
    ]
    assert flushed and flushed[0].ended < branch.began, "the branch's new value is not flushed"


def check_opened(root: Path, calls: list[Call]) -> None:
    """No file of the vault is opened for writing, other than temporary ones."""
    opened = re.compile(rf"= \d+<{re.escape(str(root))}/([^>]+)>$")
    temporaries = 0
    for call in calls:
        match = opened.search(call.text)
        if call.name not in {"openat", "open", "creat"} or match is None or match.group(1).startswith(".git/"):
            continue
        if call.name == "creat" or any(flag in call.text for flag in ("O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC")):
            assert match.group(1).rpartition("/")[2].startswith(".vault-agent-"), call.text
            temporaries += 1
    assert temporaries, "no temporary file was seen: this record says nothing"


def _is_sync(call: Call, name: str) -> bool:
    return call.name in {"fsync", "fdatasync"} and name in call.text
