"""`kill -9` of `vault-agent ask` at random moments of a long run, each time taken up again, then the sums.

The model speaks from a script, so what the notes must say at the end is known before the first step. The harness keeps
its own flushed ledger: what was in history at each kill has to be in it for ever.
"""

import json
import os
import re
import signal
import subprocess
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from agent.app.open import open_workspace
from agent.clock import SystemClock
from agent.llm.messages import Assistant, ToolResult
from agent.loop.session import load_session
from agent.runs.registry import run_registry
from tests.stories.agents import call, command, environment, script, settings, tell
from tests.trust import checks
from tests.trust.ledger import Ledger
from tests.vaults import git, head, make_vault

CLOCK = SystemClock()
TASK = "keep my notes in order"
STEPS, WRITES = 40, 25
PATIENCE = 60.0
_CAPTURED = re.compile(r"^source: (?:conversation_capture|memory_capture)$", re.MULTILINE)
_MARKER = re.compile(r"MARK-\d+")


@dataclass(slots=True)
class Killed:
    """What a series of kills came to: `cut` of them came while the run went on, `before` before it had begun."""

    kills: int = 0
    cut: int = 0
    before: int = 0
    moments: list[str] = field(default_factory=list)


def replies(rng: Random) -> list[object]:
    """A run of `STEPS` replies, `WRITES` of them changing something, each with its mark; the last is an answer."""
    changing: list[object] = []
    for number in range(WRITES):
        mark = f"MARK-{number}"
        match rng.choice(["append", "append", "write", "edit", "move", "save"]):
            case "append":
                changing.append(call("vault_append", path=f"log/{rng.choice('ab')}.md", text=f"- {mark}"))
            case "write":
                changing.append(call("vault_write", path=f"new/{number}.md", content=f"# New\n\n{mark}\n"))
            case "edit":
                changing.append(call("vault_edit", path="plan.md", old=f"item {number};", new=f"{mark};"))
            case "move":
                changing.append(call("vault_move", path=f"old/{number}.md", to=f"moved/{mark}.md"))
            case "save":
                changing.append(call("memory_save", text=f"The person's word number {number} is {mark}."))
    whole = changing + [_reading(rng.randrange(3), number) for number in range(STEPS - WRITES - 1)]
    rng.shuffle(whole)
    return [*whole, "All is in order."]


def _reading(kind: int, number: int) -> object:
    """A call that changes nothing; a search differs from the others, as the same one again and again ends a run."""
    reading = (call("vault_read", path="tea.md"), call("search_vault", query=f"tea {number}"), call("vault_list"))
    return reading[kind]


def notes() -> dict[str, str]:
    """The vault before the run."""
    items = "".join(f"- item {number};\n" for number in range(WRITES))
    moving = {f"old/{number}.md": f"# Old {number}\n" for number in range(WRITES)}
    return {"plan.md": f"# Plan\n\n{items}", "tea.md": "# Tea\n\nGreen.\n", **moving}


def crash(folder: Path, kills: int, seed: str) -> Killed:
    """Kill one run `kills` times, let it finish, check; raises `AssertionError` on anything lost, doubled or left."""
    rng, total = Random(seed), Killed()
    own = settings(folder, script(folder / "script.json", *replies(rng)))
    root = make_vault(folder, notes()).place.root
    before, ledger = head(root), Ledger(folder / "ledger.jsonl")
    ledger.add("begun", TASK, commit=before)
    while total.kills < kills and _kill_once(root, own, ledger, rng, total):
        total.kills += 1
    outcome = _finish(root, own)
    ledger.add("finished", TASK, commit=head(root))
    check(root, folder, ledger, outcome)
    _undo(root, own, outcome, before)
    return total


def _words(root: Path) -> list[str]:
    """The command that goes on with the run, or begins it."""
    found = sorted((root / "sessions").rglob("*.md")) if (root / "sessions").exists() else []
    return ["--json", "ask", *(["--resume", found[0].relative_to(root).as_posix()] if found else [TASK])]


def _kill_once(root: Path, own: Mapping[str, str], ledger: Ledger, rng: Random, total: Killed) -> bool:
    """Start or resume the run and kill it at a random moment; False when it was over before that."""
    if _is_over(root):
        return False
    words = _words(root)
    complaints = root.parent / "ask.err"
    with (
        complaints.open("wb") as err,
        subprocess.Popen(
            command(root, *words), env=environment(own), stdout=subprocess.DEVNULL, stderr=err, start_new_session=True
        ) as process,
    ):
        moment = _wait_for_the_moment(root, rng, process)
        whole_group = rng.random() < 2 / 3  # else the git commands that it has started live on
        with suppress(ProcessLookupError):
            (os.killpg if whole_group else os.kill)(process.pid, signal.SIGKILL)
    assert "Traceback" not in complaints.read_text(), complaints.read_text()
    if process.returncode != -signal.SIGKILL:
        assert process.returncode == 0, complaints.read_text()
        return False
    total.moments.append(moment)
    total.before += "--resume" not in words
    total.cut += moment != "early"
    ledger.add("killed", f"{total.kills} {moment}", commit=head(root))
    return True


def _wait_for_the_moment(root: Path, rng: Random, process: "subprocess.Popen[bytes]") -> str:
    """Return at a random moment: while it starts, or somewhere around its n-th step or commit."""
    if rng.random() < 0.1:
        CLOCK.sleep(rng.uniform(0, 1.0))
        return "early"
    wanted, seen, last = rng.randint(1, 8), 0, _progress(root)
    deadline = CLOCK.monotonic() + PATIENCE
    while seen < wanted and process.poll() is None:
        assert CLOCK.monotonic() < deadline, "the run does not get on"
        CLOCK.sleep(0.0005)
        now = _progress(root)
        seen, last = seen + (now != last), now
    CLOCK.sleep(rng.choice([0.0, rng.uniform(0, 0.005), rng.uniform(0, 0.03), rng.uniform(0, 0.1)]))
    return f"step {wanted}"


def _progress(root: Path) -> tuple[bytes, tuple[int, ...]]:
    """The tip of the branch, and the size of the session's note."""
    sizes = [path.stat().st_size for path in (root / "sessions").rglob("*.md")]
    return (root / ".git/refs/heads/main").read_bytes(), tuple(sizes)


def _is_over(root: Path) -> bool:
    """True if the session's note says that the run has finished."""
    return any('"outcome": "finished"' in note.read_text() for note in (root / "sessions").rglob("*.md"))


def _finish(root: Path, own: Mapping[str, str]) -> dict[str, object]:
    """Let the run go to its end; its last document."""
    (note,) = (root / "sessions").rglob("*.md")
    if _is_over(root):  # it was killed after its last word; the next command commits what it left
        tell(root, own, "commit")
        return _told(note)
    found = json.loads(tell(root, own, *_words(root)))
    assert isinstance(found, dict)
    return found


def _told(note: Path) -> dict[str, object]:
    ends = re.findall(r"^%% vault-agent: end (\{.*\}) %%$", note.read_text(), re.MULTILINE)
    last = json.loads(ends[-1])
    return {"run": last["run"], "outcome": last["outcome"], "session": note.as_posix()}


def check(root: Path, folder: Path, ledger: Ledger, outcome: Mapping[str, object]) -> None:
    """All that must hold at the end."""
    assert outcome["outcome"] == "finished", outcome
    checks.check_sound(root)
    assert git(root, "status", "--porcelain") == ""
    for line in ledger.lines():
        git(root, "merge-base", "--is-ancestor", line.commit, "HEAD")
    assert marks(root) == Counter({f"MARK-{number}": 1 for number in range(WRITES)})
    check_transcript(root, folder)


def marks(root: Path) -> Counter[str]:
    """How often each mark stands in the notes or their names, aside from transcripts, memories of them, and MEMORY.md,
    which quotes its entries."""
    others = {".git", "sessions", "MEMORY.md"}
    paths = [path for path in root.rglob("*.md") if path.relative_to(root).parts[0] not in others]
    paths = [path for path in paths if not _CAPTURED.search(path.read_text("utf-8"))]
    texts = (f"{path.name}\n{body(path)}" for path in paths)
    return Counter(mark for text in texts for mark in _MARKER.findall(text))


def body(path: Path) -> str:
    """A note without its header, which may repeat its words as keywords."""
    text = path.read_text("utf-8")
    return text.split("\n---\n", 1)[-1] if text.startswith("---\n") else text


def check_transcript(root: Path, folder: Path) -> None:
    """One session, every call with its one result, none of them failed, nothing left open."""
    os.environ["VAULT_AGENT_HOME"] = str(folder / "home")
    vault = open_workspace(root).vault
    (note,) = (root / "sessions").rglob("*.md")
    session = load_session(vault, note.relative_to(root).as_posix())
    assert session.open_run is None and not session.open_calls
    calls = [call.id for said in session.history if isinstance(said, Assistant) for call in said.calls]
    results = [said for said in session.history if isinstance(said, ToolResult)]
    assert Counter(calls) == Counter(result.call for result in results) and len(set(calls)) == STEPS - 1
    assert not [result for result in results if result.failed]
    assert sum(isinstance(said, Assistant) for said in session.history) == STEPS
    assert not list(run_registry(vault).all()), "a run is open"


def _undo(root: Path, own: Mapping[str, str], outcome: Mapping[str, object], before: str) -> None:
    """One command takes the whole run back, and leaves the transcript and what is remembered of the person's words."""
    tell(root, own, "undo", "--run", str(outcome["run"]))
    changed = git(root, "diff", "--name-only", "-z", before, "HEAD").split("\0")[:-1]
    others = [path for path in changed if not path.startswith(("sessions/", "daily/"))]
    left = [path for path in others if not path.startswith("entries/") or "MARK-" in (root / path).read_text("utf-8")]
    assert left == [], left
    assert list((root / "sessions").rglob("*.md"))
