"""Eight programs write one note at once, each in a server of its own, while its person saves it in an editor.

Nothing that was acknowledged, and nothing that the person has saved, is lost: it is in the note, in a conflict copy, or
in the history.
"""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from agent.clock import SystemClock
from tests.interfaces.mcp.programs import RawClient, base_in, raw_client
from tests.stories.agents import furnish
from tests.vaults import git, git_beside

PROGRAMS, WRITES, SAVES = 8, 3, 12
PATH = "shared.md"


def test_nothing_is_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = furnish(tmp_path, monkeypatch.setenv)
    (root / PATH).write_text("# Shared\n\n## Log\n\nbegin\n")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "begin")
    with ThreadPoolExecutor(PROGRAMS + 1) as pool:
        programs = [pool.submit(work, tmp_path, root, number) for number in range(PROGRAMS)]
        saved = pool.submit(edit, root / PATH).result()
        written = [line for each in programs for line in each.result()]
    git_beside(root, "add", "-A")
    git_beside(root, "commit", "-qm", "the end", "--allow-empty")
    kept = {line.lstrip("+ ") for line in git(root, "log", "-p", "--no-color", "--format=").splitlines()}
    assert len(written) == PROGRAMS * WRITES
    assert [line for line in (*written, *saved) if line not in kept] == []
    assert "<<<<<<<" not in (root / PATH).read_text()
    assert git(root, "fsck", "--no-dangling").strip() == ""
    actors = set(git(root, "log", "--format=%(trailers:key=Vault-Actor,valueonly)").split())
    assert {f"mcp:program-{number}" for number in range(PROGRAMS)} <= actors


def work(folder: Path, root: Path, number: int) -> list[str]:
    """The lines that one program was told are written: it appends, adds to a section, and replaces what it has read."""
    done: list[str] = []
    with raw_client(folder, root, "--as", f"program {number}") as client:
        client.begin("program")
        for turn in range(WRITES):
            line = f"line {turn} of program {number}"
            if turn == 0:
                insist(client, {"append": line})
            elif turn == 1:
                insist(client, {"append": line, "heading": "Log"})
            else:
                replace(client, line)
            done.append(line)
    return done


def insist(client: RawClient, given: dict[str, object]) -> None:
    """Call until it is done: another process may hold the lock for longer than the server waits."""
    for _ in range(50):
        result = call(client, "write", given)
        if not result["isError"]:
            return
    raise AssertionError(result)


def replace(client: RawClient, line: str) -> None:
    """Read, and write the whole note with the line, until nobody has changed it meanwhile."""
    for _ in range(200):
        said = call(client, "read", {})["content"][0]["text"]
        text = said.partition(":\n\n")[2]
        result = call(client, "write", {"content": f"{text}\n{line}\n", "base": base_in(said)})
        if not result["isError"]:
            return
    raise AssertionError(result)


def call(client: RawClient, tool: str, given: dict[str, object]) -> dict[str, list[dict[str, str]]]:
    found: dict[str, list[dict[str, str]]] = client.ask(
        "tools/call", {"name": tool, "arguments": {"path": PATH, **given}}
    )["result"]
    return found


def edit(path: Path) -> list[str]:
    """The lines that the person has saved: the editor loads the note, takes its time, and writes it back whole."""
    saved: list[str] = []
    for number in range(SAVES):
        text = path.read_text()
        SystemClock().sleep(0.05)
        line = f"save {number} of the person"
        draft = path.with_name(f".{path.name}.swp")
        draft.write_text(f"{text.rstrip()}\n{line}\n")
        draft.replace(path)
        saved.append(line)
        SystemClock().sleep(0.3)
    return saved
