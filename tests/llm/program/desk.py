"""A machine on which the three programs are fakes, and the events with which the real ones answer."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent.clock import SystemClock
from agent.llm.endpoint import Endpoint
from agent.llm.messages import Model
from agent.llm.program.provider import ProgramModel

FAKE = Path(__file__).parent / "fake_program.py"
COMMANDS = {"claude-code": "claude", "codex": "codex", "gemini-cli": "gemini"}
NAMES = tuple(COMMANDS)


def said(name: str, *pieces: str) -> list[object]:
    """The events of a program that answers with these pieces of text."""
    whole = "".join(pieces)
    match name:
        case "claude-code":
            init = {"type": "system", "subtype": "init", "tools": [], "mcp_servers": [], "plugins": [], "skills": []}
            deltas = [
                {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": each}}
                for each in pieces
            ]
            message = {"type": "message_start", "message": {"model": "claude-x", "content": []}}
            usage = {"input_tokens": 11, "cache_read_input_tokens": 100, "output_tokens": 5}
            end = {"type": "result", "subtype": "success", "is_error": False, "result": whole, "usage": usage}
            stream = [{"type": "stream_event", "event": each} for each in (message, *deltas)]
            answer = {"type": "assistant", "message": {"content": [{"type": "text", "text": whole}]}}
            return [init, *stream, answer, end]
        case "codex":
            items = [{"id": str(n), "type": "agent_message", "text": each} for n, each in enumerate(pieces)]
            done = [{"type": "item.completed", "item": each} for each in items]
            usage = {"input_tokens": 111, "cached_input_tokens": 100, "output_tokens": 5}
            begin: list[object] = [{"type": "thread.started", "thread_id": "x"}, {"type": "turn.started"}]
            return [*begin, *done, {"type": "turn.completed", "usage": usage}]
        case _:
            messages = [{"type": "message", "role": "assistant", "content": each, "delta": True} for each in pieces]
            stats = {"input_tokens": 111, "cached": 100, "output_tokens": 5, "tool_calls": 0}
            asked = {"type": "message", "role": "user", "content": "what was asked"}
            first: list[object] = ["a remark", {"type": "init", "model": "gemini-x"}, asked]
            return [*first, *messages, {"type": "result", "status": "success", "stats": stats}]


@dataclass(frozen=True)
class Desk:
    """A folder of programs, and a home without any settings of theirs."""

    bin: Path
    home: Path

    def answers(self, *events: object, **script: object) -> None:
        """What the next calls of a program get."""
        (self.bin / "script.json").write_text(json.dumps({"events": events, **script}))

    @property
    def started(self) -> list[dict[str, Any]]:
        """How the programs were started, the last one last."""
        file = self.bin / "started.jsonl"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def install(folder: Path) -> Desk:
    """Lay the fakes under `folder`."""
    desk = Desk(folder / "bin", folder / "home")
    desk.bin.mkdir()
    desk.home.mkdir()
    for command in COMMANDS.values():
        file = desk.bin / command
        file.write_text(f"#!{sys.executable}\n{FAKE.read_text()}")
        file.chmod(0o755)
    return desk


def model(name: str, of: str = "default", timeout: float = 60.0) -> ProgramModel:
    """The model behind a program."""
    place = Endpoint(f"program://{name}", Model(of, 128_000, 4_000), timeout=timeout)
    return ProgramModel(place, SystemClock(), len, lambda: 0.5)
