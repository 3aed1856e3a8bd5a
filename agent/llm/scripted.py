"""A model that answers from a script, for tests and for trying things out without a provider.

The format of a script is left to `script`. The position in the script is computed from the request's messages and not
stored, so that a killed run can resume. Without a script it repeats the person's last message.
"""

import re
import threading
from collections import deque
from collections.abc import Sequence
from pathlib import Path

from agent.clock import Clock, SystemClock
from agent.errors import AgentError, Interrupted, MissingKey, Permanent, Retryable
from agent.llm.messages import (
    Assistant,
    Cancelled,
    Message,
    Model,
    OnText,
    Reply,
    Request,
    System,
    ToolCall,
    Usage,
    User,
    ignore,
    never,
)
from agent.llm.script import AFTER, MODEL, ScriptedReply, load_script

_KEPT = 1_000
_SLICE = 0.1
_PIECES = re.compile(r"\S{1,12}\s*|\s+")
_OURS = re.compile(r"([a-z][0-9]*)-([0-9]{1,6})-[0-9]{1,4}")
_ERRORS: dict[str, type[AgentError]] = {
    "retryable": Retryable,
    "permanent": Permanent,
    "key": MissingKey,
    "interrupted": Interrupted,
}


class Scripted:
    """A `Provider` that answers from a script. Keeps the last 1,000 requests in `requests`; waits use `clock`."""

    def __init__(
        self,
        lines: Sequence[ScriptedReply] = (),
        *,
        after: str | None = AFTER,
        model: Model = MODEL,
        clock: Clock | None = None,
    ) -> None:
        self._lines = tuple(lines)
        self._tasks = sorted({line.task for line in lines if line.task and not line.when})
        self._standing = frozenset(line.text for line in lines if line.when)
        self._after = after
        self._model = model
        self._clock = clock or SystemClock()
        self._mutex = threading.Lock()
        self._raised: dict[tuple[int, int], int] = {}
        self.requests: deque[Request] = deque(maxlen=_KEPT)

    @property
    def model(self) -> Model:
        return self._model

    @classmethod
    def load(cls, path: Path | str, *, clock: Clock | None = None) -> "Scripted":
        """The script in a file, an empty script for an empty path; raises `ConfigError` that names the error in it."""
        if not str(path):
            return cls(clock=clock)
        script = load_script(Path(path))
        return cls(script.lines, after=script.after, model=script.model, clock=clock)

    def chat(self, request: Request, on_text: OnText = ignore, cancelled: Cancelled = never) -> Reply:
        """The reply for this position in the conversation; raises the script's errors."""
        self.requests.append(request)
        if cancelled():
            raise Interrupted("the call was cancelled")
        line, mark = self._next(request)
        self._wait(line.seconds, cancelled)
        _stream(line, on_text, cancelled)
        calls = tuple(
            ToolCall(f"{mark}-{number}", call.tool, call.arguments, call.problem)
            for number, call in enumerate(line.calls, 1)
        )
        said = "".join(line.chunks) or line.text
        usage = line.usage or Usage(_characters(request) // 4 + 1, len(said) // 4 + 8 * len(calls) + 1)
        return Reply(Assistant(said, calls), usage, line.stop or ("tools" if calls else "end"), self._model.name)

    def _next(self, request: Request) -> tuple[ScriptedReply, str]:
        """The next reply, and the prefix for the ids of its calls."""
        messages = request.messages
        replies = sum(isinstance(message, Assistant) for message in messages)
        last = next((m.text for m in reversed(messages) if not isinstance(m, System)), "")
        for number, line in enumerate(self._lines):
            if line.when and line.when in last and not self._raises(line, (number, replies)):
                return line, f"w-{replies}"
        if not self._lines:
            return ScriptedReply(_request(messages)), f"s-{replies}"
        task, since = self._task(messages)
        mark = f"t{self._tasks.index(task)}" if task else "s"
        order = [line for line in self._lines if not line.when and line.task == task]
        place = self._place(since, mark)
        for number, line in _errors_at(order, place):
            self._raises(line, (number, place))
        due = [line for line in order if line.error is None]
        if place < len(due):
            return due[place], f"{mark}-{place}"
        if self._after is None:
            raise Permanent("the script has no more replies", hint="add replies to it, or set `after`")
        return ScriptedReply(self._after), f"{mark}-{place}"

    def _task(self, messages: Sequence[Message]) -> tuple[str, Sequence[Message]]:
        """The name of the current order of replies, and the messages since it began."""
        for index in range(len(messages) - 1, -1, -1):
            message = messages[index]
            if isinstance(message, User):
                for task in self._tasks:
                    if task in message.text:
                        return task, messages[index:]
        return "", messages

    def _place(self, messages: Sequence[Message], mark: str) -> int:
        """The number of replies of the order that were given, counted from the ids of calls: they work even after a
        summary has replaced the earlier messages."""
        place = 0
        for message in messages:
            if not isinstance(message, Assistant):
                continue
            found = _OURS.fullmatch(message.calls[0].id) if message.calls else None
            if found is None:
                place += message.text not in self._standing
            elif found[1] == mark:
                place = int(found[2]) + 1
        return place

    def _raises(self, line: ScriptedReply, key: tuple[int, int]) -> bool:
        """Raise the reply's error unless it was raised often enough; True if it was, False for a reply without an
        error."""
        if line.error is None:
            return False
        with self._mutex:
            so_far = self._raised.get(key, 0)
            self._raised[key] = so_far + 1
        if line.times == 0 or so_far < line.times:
            raise _ERRORS[line.error](line.message or f"the script says: {line.error}")
        return True

    def _wait(self, seconds: float, cancelled: Cancelled) -> None:
        while seconds > 0:
            self._clock.sleep(min(seconds, _SLICE))
            seconds -= _SLICE
            if cancelled():
                raise Interrupted("the call was cancelled")


def _stream(line: ScriptedReply, on_text: OnText, cancelled: Cancelled) -> None:
    for piece in line.chunks or _PIECES.findall(line.text):
        if cancelled():
            raise Interrupted("the call was cancelled")
        on_text(piece)


def _errors_at(order: Sequence[ScriptedReply], place: int) -> list[tuple[int, ScriptedReply]]:
    """The errors just before the reply at this position, each with its index in the order."""
    found: list[tuple[int, ScriptedReply]] = []
    replies = 0
    for number, line in enumerate(order):
        if line.error is not None and replies == place:
            found.append((number, line))
        replies += line.error is None
    return found


def _request(messages: Sequence[Message]) -> str:
    """A person's last message."""
    return next((m.text for m in reversed(messages) if isinstance(m, User)), "")


def _characters(request: Request) -> int:
    return sum(len(message.text) for message in request.messages)
