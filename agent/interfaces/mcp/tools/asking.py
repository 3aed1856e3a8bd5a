"""A task for the vault's own agent, which runs under the policy for programs.

A process of its own gives the task to the daemon, or does it where there is none: the server itself stays small.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import IO, Any

from agent.errors import ToolFailed
from agent.json_value import parse_json
from agent.llm.messages import JsonObject
from agent.loop.outcome import RunOutcome
from agent.loop.session import load_session
from agent.tools import arguments
from agent.tools.note_access import check_readable
from agent.tools.tool import Cited, RunContext, ToolOutput
from agent.workspace.workspace import Workspace

_SOURCES = 12
_PROGRESS = "progress"
"""The key of what `ask-for-program` tells on standard error."""
_LOOK = 0.1
"""Seconds between two looks at whether the task is still wanted."""


def ask_agent(workspace: Workspace, call: JsonObject, context: RunContext) -> ToolOutput:
    """The agent's answer; what the program has read from strangers taints its run."""
    session = arguments.text(call, "session")
    if session:
        session = check_readable(session if session.endswith(".md") else f"{session}.md")
    task = arguments.text(call, "task").strip()
    ended = _run(workspace, {"task": task, "session": session, "untrusted": "; ".join(context.taint.sources)}, context)
    if not ended["ok"]:
        message, hint = (str(ended["error"][name]) for name in ("message", "hint"))
        raise ToolFailed(f"the agent could not do it: {message}", hint=hint)
    untrusted = "; ".join(load_session(workspace.vault, str(ended["session"])).untrusted)
    used = tuple(Cited(each["path"], (each["lines"][0], each["lines"][1])) for each in ended["used"])
    return ToolOutput("\n".join(_lines(ended, used)), used, tuple(ended["commits"]), untrusted)


def _run(workspace: Workspace, asked: JsonObject, context: RunContext) -> dict[str, Any]:
    """The document of the run; raises `ToolFailed` if there is none, as when nobody wants it any more."""
    root = str(workspace.vault.place.root)
    words = [sys.executable, "-P", "-m", "agent", "--vault", root, "--json", "ask-for-program", context.channel]
    reads, writes = os.pipe()
    with os.fdopen(writes, "wb") as wanted:
        with os.fdopen(reads, "rb") as incoming:
            process = subprocess.Popen(
                words, stdin=incoming, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
            )
        with suppress(BrokenPipeError):  # it has ended: its document says why
            wanted.write(json.dumps(asked).encode() + b"\n")
            wanted.flush()
        with process, ThreadPoolExecutor(2, "vault-agent-asked") as readers:
            assert process.stdout is not None and process.stderr is not None
            out = readers.submit(process.stdout.read)
            said = readers.submit(_follow, process.stderr, context.progress)
            while True:
                try:
                    process.wait(_LOOK)
                    break
                except subprocess.TimeoutExpired:
                    if context.cancelled():
                        wanted.close()  # it stops the run
    try:
        found: dict[str, Any] = parse_json(out.result())
    except ValueError as error:
        raise ToolFailed(f"the agent ended without an answer: {said.result() or process.returncode}") from error
    return found


def _follow(lines: IO[bytes], tell: Callable[[str], object]) -> str:
    """Pass on what the run does, until there is no more; returns the last line that says something else."""
    last = ""
    for line in lines:
        text = line.decode("utf-8", "replace").strip()
        try:
            told = parse_json(text)[_PROGRESS]
        except (ValueError, LookupError, TypeError):
            last = text or last
            continue
        tell(str(told))
    return last


def _lines(ended: Mapping[str, Any], used: Sequence[Cited]) -> Iterator[str]:
    yield str(ended["answer"]) or "(no answer)"
    yield ""
    outcome = RunOutcome(ended["outcome"])
    if outcome.waits:
        yield f"It waits for the person, who decides in {ended['waits_for']}; then the agent goes on by itself."
    elif outcome is not RunOutcome.FINISHED:
        yield f"It ended early ({outcome.value}): {ended['reason']}"
    if ended["queued"]:
        yield f"What it changed waits to be written: {ended['queued']}"
    if used:
        yield f"Sources: {', '.join([*dict.fromkeys(each.path for each in used)][:_SOURCES])}"
    yield f"Session: {ended['session']}"
