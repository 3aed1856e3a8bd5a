"""A node host's tools without HTTP, with programs on PATH that only write down how they were called."""

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from agent.clock import SystemClock
from agent.config.directories import Directories
from agent.config.load import load_settings
from agent.interfaces.node.app import NodeApp, NodeCall
from agent.interfaces.node.calls import CallLog, NodeResponse
from agent.interfaces.node.catalog import node_tools
from agent.interfaces.node.folders import Folders
from agent.interfaces.node.programs import Runner
from agent.interfaces.node.tool import Desk

RECORDER = """#!{python}
import json, os, sys
held = "" if os.environ.get("QUIET") else sys.stdin.read()
with open({log!r}, "a") as log:
    log.write(json.dumps([os.path.basename(sys.argv[0]), *sys.argv[1:], held]) + "\\n")
for word in sys.argv[1:]:
    path = word.removeprefix("png:")
    if path.startswith({captures!r}):
        open(path, "wb").write(b"made")
print({prints!r})
sys.exit({code})
"""


@dataclass
class Office:
    """A desk with fake programs in `programs`, the only folder of PATH."""

    root: Path
    names: list[str] = field(default_factory=list)
    calls: int = 0

    @property
    def programs(self) -> Path:
        return self.root / "programs"

    @property
    def places(self) -> Directories:
        return Directories(self.root / "config", self.root / "cache", self.root / "state")

    def install(self, *names: str, prints: str = "", code: int = 0) -> None:
        """Put programs on PATH that write down their arguments and their input."""
        self.programs.mkdir(exist_ok=True)
        for name in names:
            path = self.programs / name
            made = {"python": sys.executable, "log": str(self.root / "called"), "prints": prints, "code": code}
            path.write_text(RECORDER.format(**made, captures=str(self.root / "state")))
            path.chmod(0o755)

    def called(self) -> list[list[str]]:
        """The programs that were called, with their arguments and their input."""
        log = self.root / "called"
        return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []

    def app(self, folders: str = "", stopped: Callable[[], bool] = lambda: False) -> NodeApp:
        """The host's tools; `folders` are open to it."""
        clock, state = SystemClock(), self.places.state / "node"
        closed = (self.places.config, self.places.state)
        desk = Desk(Runner(clock, stopped), Folders.named(folders, closed), state / "captures")
        settings = load_settings(environ={}).settings.node
        return NodeApp(node_tools(settings.tools), desk, CallLog(state / "calls", clock), clock)

    def ask(self, tool: str, folders: str = "", /, **arguments: Any) -> NodeResponse:
        """The answer to a call."""
        self.calls += 1
        app = self.app(folders)
        return app.answer(app.tools[tool], NodeCall(f"call-{self.calls}", arguments))

    def says(self, tool: str, folders: str = "", /, **arguments: Any) -> str:
        """The output of a call that must not fail."""
        answer = self.ask(tool, folders, **arguments)
        assert answer.status == 200, answer.document
        return str(answer.document["output"])

    def fails(self, tool: str, folders: str = "", /, **arguments: Any) -> tuple[str, str]:
        """The code and the hint of a call that must fail."""
        answer = self.ask(tool, folders, **arguments)
        assert answer.status >= 400, answer.document
        return str(answer.document["code"]), str(answer.document.get("hint", ""))


@pytest.fixture
def office(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Office]:
    """A desk in a session of X, without any program."""
    monkeypatch.setenv("PATH", str(tmp_path / "programs"))
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    yield Office(tmp_path)
