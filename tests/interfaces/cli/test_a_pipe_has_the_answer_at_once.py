"""Whoever reads `ask` from a pipe has the whole answer while what is remembered of it is still being written."""

import json
import signal
import subprocess
from pathlib import Path

import pytest

from tests.stories.agents import command, environment, furnish, script, settings

KEEPS = "You keep the memory of one person."
SAID = "My sister Mara lives in Porto."


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return furnish(tmp_path, monkeypatch.setenv)


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_the_answer_ends_before_what_is_remembered_is_written(
    root: Path, tmp_path: Path, options: tuple[str, ...]
) -> None:
    slow = settings(tmp_path, script(tmp_path / "s.json", {"text": "[]", "when": KEEPS, "seconds": 60}, "Noted."))
    words = command(root, *options, "ask", SAID)
    with subprocess.Popen(
        words, env=environment(slow), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as run:
        assert run.stdout is not None
        answer = run.stdout.read()
        assert run.poll() is None, "the reader of the conversation is still at work"
        run.send_signal(signal.SIGINT)
        run.send_signal(signal.SIGINT)
        run.kill()
    assert (json.loads(answer)["answer"] if options else answer.strip()) == "Noted."
