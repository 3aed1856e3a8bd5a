"""A task for the vault's own agent, which runs under the policy for programs: the process that gives it to the daemon,
or does it where there is none, and the wait for its answer.

No wait is long: many programs give up after a minute, also those that are told of progress. It ends before that with
the name of the session, and the run goes on; a call with that session alone waits on.
"""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import field
from tempfile import TemporaryFile
from threading import Thread
from typing import IO, TypeAlias

from agent.clock import Clock, in_machine_seconds
from agent.dataclass import dataclass
from agent.errors import ToolFailed, ToolRetry
from agent.json_value import parse_json
from agent.llm.messages import Cancelled, JsonObject, items, mapping, text
from agent.loop.outcome import RunOutcome
from agent.loop.records import Closed
from agent.loop.session import load_session
from agent.runs.registry import run_registry
from agent.tools import arguments
from agent.tools.note_access import check_readable
from agent.tools.tool import RunContext, ToolOutput, ignore_progress
from agent.workspace.workspace import Workspace

PATIENCE = 40.0
"""Seconds of one wait: the official TypeScript client gives up after 60, and so do programs built on it."""
_SOURCES = 12
_LOOK = 0.1
"""Seconds between two looks at whether there is an answer, and whether it is still wanted."""
_ENDS = 5.0
"""Seconds in which the last that it says is read, once it has ended."""
_KEPT = 16
"""Tasks that have ended and that nobody has asked for; of older ones, the answer is read in their note."""
_WAITED, _KEPT_ON = b"wait\n", b"keep\n"
"""What `ask-for-program` is told: whether the run stops when this process ends."""


@dataclass(slots=True, eq=False)
class AskedTask:
    """A task at work in a process of its own. `session` is the path of its note, empty before it has one; `tell` is
    told what it does."""

    id: str
    clock: Clock
    process: "subprocess.Popen[bytes]"
    document: IO[bytes]
    session: str = ""
    tell: Callable[[str], object] = ignore_progress
    _last: str = ""
    _reader: Thread = field(init=False)

    @classmethod
    def begin(cls, workspace: Workspace, channel: str, asked: JsonObject) -> "AskedTask":
        """Begin a task for a program; `asked` is what `ask-for-program` reads."""
        root = str(workspace.vault.place.root)
        words = [sys.executable, "-P", "-m", "agent", "--vault", root, "--json", "ask-for-program", channel]
        document = TemporaryFile()  # noqa: SIM115 - it is closed with the task
        pipe = subprocess.PIPE
        process = subprocess.Popen(words, stdin=pipe, stdout=document, stderr=pipe, start_new_session=True)
        task = cls(workspace.clock.new_id(), in_machine_seconds(workspace.clock), process, document)
        task._send(json.dumps(asked).encode() + b"\n")
        task._reader = Thread(target=task._follow, name="vault-agent-asked", daemon=True)
        task._reader.start()
        return task

    @property
    def name(self) -> str:
        """What a program calls it by: its session, or before there is one, its id."""
        return self.session or self.id

    def wait(self, seconds: float, cancelled: Cancelled, tell: Callable[[str], object]) -> bool:
        """True once it has ended; False if it goes on without being waited for. It is stopped once it is `cancelled`,
        or when this process ends meanwhile."""
        self.tell, until = tell, self.clock.monotonic() + seconds
        self._send(_WAITED)
        while True:
            try:
                self.process.wait(_LOOK)
                return True
            except subprocess.TimeoutExpired:
                if cancelled():
                    self._stop()
                elif self.clock.monotonic() >= until:
                    self._send(_KEPT_ON)
                    return False

    def result(self) -> JsonObject:
        """The document of the run that has ended; raises `ToolFailed` if there is none."""
        self._reader.join(_ENDS)
        try:
            self.document.seek(0)
            return mapping(parse_json(self.document.read()))
        except ValueError as error:
            why = self._last or self.process.returncode
            raise ToolFailed(f"the agent ended without an answer: {why}") from error
        finally:
            self.close()

    def close(self) -> None:
        """Leave the run to itself: it is stopped if it is waited for just now, else it goes on."""
        self._stop()
        self.document.close()

    def _send(self, line: bytes) -> None:
        assert self.process.stdin is not None
        with suppress(BrokenPipeError, ValueError):  # it has ended, or was stopped: its document says why
            self.process.stdin.write(line)
            self.process.stdin.flush()

    def _stop(self) -> None:
        assert self.process.stdin is not None
        with suppress(BrokenPipeError):
            self.process.stdin.close()

    def _follow(self) -> None:
        """Pass on what the run does, until there is no more; the last line that says something else is kept."""
        assert self.process.stderr is not None
        with self.process.stderr as lines:
            for line in lines:
                row = line.decode("utf-8", "replace").strip()
                try:
                    found = mapping(parse_json(row))
                except ValueError:
                    found = {}
                if "progress" not in found:
                    self._last = row or self._last
                    continue
                self.session = self.session or text(found.get("session"))
                self.tell(text(found["progress"]))
        self.process.wait()


AskedTasks: TypeAlias = dict[str, AskedTask]
"""The tasks of one server by their ids, until their answers were given."""


def ask_agent(workspace: Workspace, tasks: AskedTasks, call: JsonObject, context: RunContext) -> ToolOutput:
    """The agent's answer, or how to wait on for it; what the program has read from strangers taints its run."""
    task, session = (arguments.text(call, name).strip() for name in ("task", "session"))
    asked = next((each for each in [*tasks.values()] if session in {each.id, each.session} - {""}), None)
    if not task and not session:
        raise ToolRetry("say in task what to do; or name a session without a task, to wait for its answer")
    if asked is not None and task and asked.process.poll() is None:
        raise ToolRetry(f"{session} is still at work: call ask with this session alone, and then give it the task")
    if asked is None or task:
        path = check_readable(session if session.endswith(".md") else f"{session}.md") if session else ""
        if not task:
            return _from_note(workspace, path, context)
        request: JsonObject = {"task": task, "session": path, "untrusted": "; ".join(context.taint.sources)}
        asked = AskedTask.begin(workspace, context.channel, request)
        for old in [each for each in [*tasks.values()] if each.process.poll() is not None][:-_KEPT]:
            tasks.pop(old.id).close()
        tasks[asked.id] = asked
    if not asked.wait(PATIENCE, context.cancelled, context.progress):
        return _at_work(asked.name)
    tasks.pop(asked.id, None)
    return _answer(workspace, asked.result())


def _at_work(name: str) -> ToolOutput:
    where = f"The answer will stand in {name}. " if name.endswith(".md") else ""
    how = f"To wait for it, call ask with this session and without a task.\nSession: {name}"
    return ToolOutput(f"The agent is still at work, and goes on whether or not you wait. {where}{how}")


def _answer(workspace: Workspace, ended: JsonObject) -> ToolOutput:
    """What has come of a run by its document; raises `ToolFailed` for one that failed."""
    if not ended.get("ok"):
        error = mapping(ended.get("error"))
        raise ToolFailed(f"the agent could not do it: {text(error.get('message'))}", hint=text(error.get("hint")))
    used = dict.fromkeys(text(mapping(each).get("path")) for each in items(ended["used"]))
    lines = [
        *_lines(*(text(ended[name]) for name in ("answer", "outcome", "reason", "waits_for"))),
        *([f"What it changed waits to be written: {queued}"] if (queued := text(ended["queued"])) else []),
        *([f"Sources: {', '.join([*used][:_SOURCES])}"] if used else []),
    ]
    return _output(workspace, text(ended["session"]), lines)


def _from_note(workspace: Workspace, path: str, context: RunContext) -> ToolOutput:
    """What has come of the last run of a session that another process has begun, by its note."""
    vault, marks, clock = workspace.vault, run_registry(workspace.vault), in_machine_seconds(workspace.clock)
    until = clock.monotonic() + PATIENCE
    session = load_session(vault, path)
    while marks.is_held(session.id):
        if context.cancelled() or clock.monotonic() >= until:
            return _at_work(session.path)
        clock.sleep(_LOOK)
    session = load_session(vault, session.path, session.id)
    began, mark = session.last_run, marks.get(session.id)
    run = began.run if began else ""
    texts = [each.text for each in session.model_messages(run)]
    closed = [each for each in session.of_run(run) if isinstance(each, Closed)] or [Closed(run, "interrupted")]
    waits_for = mark.waits_for if mark else ""
    lines = _lines("".join(texts[-1:]), closed[-1].outcome, closed[-1].reason, waits_for)
    return _output(workspace, session.path, [*lines])


def _output(workspace: Workspace, path: str, lines: list[str]) -> ToolOutput:
    untrusted = "; ".join(load_session(workspace.vault, path).untrusted)
    return ToolOutput("\n".join([*lines, f"Session: {path}"]), untrusted=untrusted)


def _lines(answer: str, ended: str, reason: str, waits_for: str) -> Iterator[str]:
    yield answer or "(no answer)"
    yield ""
    outcome = RunOutcome(ended)
    if outcome.waits:
        yield f"It waits for the person, who decides in {waits_for}; then the agent goes on by itself."
    elif outcome is not RunOutcome.FINISHED:
        yield f"It ended early ({outcome.value}): {reason}"
