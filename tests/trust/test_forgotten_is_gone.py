"""Promise 18: what is told, recalled, repeated by the model, logged and summed up, then forgotten for good, is nowhere
any more: not in the vault, its history, the state or the cache of this machine; killed half-way, too."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from agent.app.open import open_workspace
from agent.clock import SystemClock
from agent.interfaces.cli.main import main
from agent.interfaces.cli.terminal.editor import open_history
from agent.loop.session import load_session, sessions
from agent.vault.layout import CHAT_HISTORY
from tests.stories.agents import script
from tests.trust.forks import PROJECT
from tests.vaults import git, make_vault, write

ENGLISH = (
    "The {0} for the boat is behind the {1} in the cellar",
    "My cousin {0} lives with {1} in the old mill",
    "I'm allergic to {0} and to {1} syrup",
)
CHINESE = ("船的钥匙在地下室的{0}{1}后面", "我的表姐{0}和{1}住在旧磨坊里", "我对{0}和{1}过敏")
ANSWERS = (
    "Noted: {0}.",
    "I have written down that {0}, as you asked.",
    "{0}. I will keep it in mind.",
    "好的，记住了：{0}。",
)
FOR_GOOD = ("--purge", "--for-good", "--yes")
HAN = "龘靐齉爩鱻麤龗灪吁籱爨癵驫麣纞虋讟钃鸜麷鞻韽"


def canaries(rng: Random, chinese: bool) -> list[str]:
    """Two words that stand nowhere else."""
    if chinese:
        return ["".join(rng.sample(HAN, 3)) for _ in range(2)]
    return ["".join(rng.choice("bdfgklmnprstvz") + rng.choice("aeiou") for _ in range(4)) for _ in range(2)]


def furnish(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty vault on a machine of its own, whose model speaks from a script."""
    monkeypatch.setenv("VAULT_AGENT_HOME", str(folder / "home"))
    monkeypatch.setenv("VAULT_AGENT_GIT__DURABLE", "false")
    monkeypatch.setenv("VAULT_AGENT_LLM__WIRE", "scripted")
    monkeypatch.setenv("VAULT_AGENT_LLM__SCRIPT", str(folder / "script.json"))
    root = make_vault(folder, {"mine.md": "# Mine\n\nThe boat is blue.\n"}).place.root
    monkeypatch.chdir(root)
    return root


def told(root: Path, rng: Random, chinese: bool) -> tuple[str, list[str]]:
    """A statement that was told, asked for, repeated by the model and remembered, with its canaries."""
    words = canaries(rng, chinese)
    statement = rng.choice(CHINESE if chinese else ENGLISH).format(*words)
    answers = rng.sample(ANSWERS, 3)
    asked = (f"{statement}.", "Where was it again?", f"Remember that {statement}")
    for task, answer in zip(asked, answers, strict=True):
        script(root.parent / "script.json", answer.format(statement))
        assert main(["ask", task]) == 0
        open_history(typed_in(root)).append_string(f"{task}\nand more")
    return statement, words


def typed_in(root: Path) -> Path:
    """The file in which the chats of this vault keep what a person typed."""
    return open_workspace(root).vault.private_folder / CHAT_HISTORY


def forget(root: Path, statement: str, rng: Random) -> None:
    """Forget it with its history; now and then the process is killed on the way, and the next one goes on."""
    if rng.random() < 0.4:
        command = [sys.executable, "-m", "agent", "forget", statement, *FOR_GOOD]
        environment = {**os.environ, "PYTHONPATH": str(PROJECT)}
        with subprocess.Popen(command, cwd=root, env=environment, stdout=-3, stderr=-3, start_new_session=True) as ran:
            SystemClock().sleep(rng.uniform(0.3, 2.0))
            if ran.poll() is None:
                os.killpg(ran.pid, signal.SIGKILL)
        assert main(["status"]) in {0, 1}
    assert main(["forget", statement, *FOR_GOOD]) in {0, 2}, "2: it was finished before"


def files(root: Path, home: Path) -> Iterator[tuple[str, bytes]]:
    """The files of the vault and of this machine, each with its name before its bytes; not what git keeps."""
    for folder in (root, home):
        for parent, _, names in os.walk(folder):
            if ".git" not in Path(parent).parts:
                yield from ((f"{parent}/{name}", name.encode() + (Path(parent) / name).read_bytes()) for name in names)


def places(root: Path, home: Path) -> Iterator[tuple[str, bytes]]:
    """Everything that could hold a word: files and their names, and all that git keeps, packed or not."""
    yield from files(root, home)
    objects = ["git", "cat-file", "--batch-all-objects", "--batch"]
    yield "an object of git", subprocess.run(objects, cwd=root, capture_output=True, check=True).stdout
    yield "the index", git(root, "-c", "core.quotepath=off", "ls-files").encode()
    for path in (root / ".git").rglob("*"):
        if path.is_file():
            yield str(path), path.name.encode() + path.read_bytes()


def left(root: Path, home: Path, words: list[str]) -> list[tuple[str, str]]:
    spelled = {word: (word.encode(), word.encode("unicode-escape")) for word in words}
    return [
        (where, word)
        for where, data in places(root, home)
        for word, forms in spelled.items()
        if any(form in data.lower() for form in forms)
    ]


@pytest.mark.parametrize("secrets", [2, pytest.param(200, marks=pytest.mark.chaos)])
def test_nothing_is_left_of_what_was_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, secrets: int) -> None:
    rng = Random(f"forgotten {secrets}")
    for batch in range(0, secrets, 20):
        folder = tmp_path / str(batch)
        folder.mkdir()
        with monkeypatch.context() as here:
            root = furnish(folder, here)
            known = [told(root, rng, number % 2 == 1) for number in range(min(20, secrets))]
            stays = told(root, rng, chinese=False)
            assert main(["memory", "run"]) == 0
            written = "\n".join(path.read_text("utf-8") for path in root.rglob("*.md"))
            assert all(word in written for _, words in (*known, stays) for word in words)
            for statement, _ in known:
                forget(root, statement, rng)
            canary = [word for _, words in known for word in words]
            assert left(root, folder / "home", canary) == []
            vault = open_workspace(root).vault
            assert all(load_session(vault, path).history for path in sessions(vault)), "sessions can still be read"
            assert stays[1][0] in (root / "MEMORY.md").read_text("utf-8") + "".join(
                path.read_text("utf-8") for path in (root / "entries").rglob("*.md")
            )
            assert main(["search", stays[1][0]]) == 0
            assert "error" not in git(root, "fsck", "--strict", "--no-dangling")


def test_a_session_whose_other_words_spell_it_again_loses_it_in_the_history_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = furnish(tmp_path, monkeypatch)
    known = ("船的钥匙在地下室的龘靐齉后面", "船的钥匙在地下室的龘爩鱻后面", "我的表姐靐龗齉住在旧磨坊里")
    assert all(main(["remember", statement]) == 0 for statement in known)
    given = ", ".join(f'["{path.relative_to(root)}", 16, 16]' for path in sorted((root / "entries").rglob("*.md")))
    session = root / "sessions/2026/11/2026-11-21-a-talk-5n7f9a.md"
    write(session, f'---\ntype: session\n---\n%% vault-agent: context {{"given": [["mine.md", 1, 1], {given}]}} %%\n')
    assert main(["commit"]) == 0
    assert main(["forget", known[0], *FOR_GOOD]) == 0
    assert left(root, tmp_path / "home", ["龘靐齉"]) == []


def test_a_session_note_that_is_not_redacted_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = furnish(tmp_path, monkeypatch)
    statement, words = told(root, Random(1), chinese=False)
    monkeypatch.setattr("agent.memory.forgetting.places.record_without", lambda data, said: data)
    assert main(["forget", statement, "--yes"]) == 0
    assert any("sessions/" in where for where, _ in left(root, tmp_path / "home", words))
    write(root / "mine.md", "# Mine\n")
