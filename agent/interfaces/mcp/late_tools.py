"""The tools that only programs have, and that are loaded when they are called: a task for the vault's own agent, which
runs under the policy for programs; what the agent does at its time, and what waits for it and for its person.

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

from agent.clock import in_clock_zone
from agent.errors import ToolFailed, ToolRetry, UserError
from agent.json_value import parse_json
from agent.llm.messages import JsonObject
from agent.loop.outcome import RunOutcome
from agent.loop.session import load_session
from agent.runs.job_upkeep import job_shelf, owed_now, record_here
from agent.runs.kinds import pending_decisions
from agent.runs.open_requests import asked_in
from agent.runs.waiting_questions import waiting_questions
from agent.schedule.job import Job
from agent.schedule.triggers import format_trigger
from agent.tools import arguments
from agent.tools.note_access import check_readable
from agent.tools.text_origin import text_origin_of
from agent.tools.tool import Cited, RunContext, ToolOutput
from agent.vault.folders import INBOX
from agent.workspace.schedule_switch import schedule_switch
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
    return ToolOutput("\n".join(_lines(ended, used)), used, bool(ended["commits"]), untrusted)


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
            sentence = parse_json(text)[_PROGRESS]
        except (ValueError, LookupError, TypeError):
            last = text or last
            continue
        tell(str(sentence))
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


_TIMES, _SHOWN = 3, 200


def list_jobs(workspace: Workspace, call: JsonObject, context: RunContext) -> ToolOutput:
    """The jobs, or one of them with its text."""
    origin, shelf, name = text_origin_of(workspace.vault), job_shelf(workspace).load(), arguments.text(call, "id")
    shown = shelf.jobs
    if name:
        try:
            shown = (shelf.find(name),)
        except UserError as error:
            known = ", ".join(each.id for each in shelf.jobs) or "none"
            raise ToolRetry(f"{error.message}; the jobs are: {known}") from error
    lines = [line for job in shown for line in _job_lines(workspace, job)]
    lines += ["", shown[0].text] if name else [f"{each.path} cannot run: {each.message}" for each in shelf.problems]
    sources = (origin.source(job.path, workspace.vault.read(job.path) or b"") for job in shown)
    return ToolOutput("\n".join(lines) or "there are no jobs", untrusted=next(filter(None, sources), ""))


def _job_lines(workspace: Workspace, job: Job) -> Iterator[str]:
    record = record_here(workspace, job)
    status = "stopped by its failures" if record.is_stopped else job.status
    yield f"{job.name}: {job.title} ({status}; {', '.join(map(format_trigger, job.triggers))}; {job.path})"
    yield from (f"  warning: {each}" for each in job.warnings)
    if job.status == "active" and not record.is_stopped:
        times = [f"{each.at:%Y-%m-%d %H:%M %z}" for each in job.coming(workspace.clock.now(), _TIMES)]
        yield f"  next: {', '.join(times) or 'when something happens'}"
    if record.last_run_at is not None:
        last = in_clock_zone(record.last_run_at, workspace.clock.now())
        yield f"  last: {last:%Y-%m-%d %H:%M} {record.last_run_status}"


def list_inbox(workspace: Workspace, call: JsonObject, context: RunContext) -> ToolOutput:
    """The requests that wait for the agent, and what waits for the person."""
    stopped = schedule_switch(workspace).line
    lines = [*filter(None, [stopped]), *_requests(workspace), *_decisions(workspace), *_questions(workspace)]
    lines += _owed(workspace)
    shown = lines[:_SHOWN] + ([f"and {len(lines) - _SHOWN} more"] if len(lines) > _SHOWN else [])
    return ToolOutput("\n".join(shown) or "nothing waits")


def _requests(workspace: Workspace) -> Iterator[str]:
    for path in workspace.vault.note_paths(workspace.vault.home.at(INBOX)):
        for asked in asked_in(workspace, path):
            yield f"request to the agent in {path}: {' '.join(asked.text.split())[:200]}"


def _decisions(workspace: Workspace) -> Iterator[str]:
    for each in pending_decisions(workspace):
        yield f"waits for the person's yes or no: {each.name} ({each.kind.replace('_', ' ')}), in {each.path}"


def _owed(workspace: Workspace) -> Iterator[str]:
    for each in owed_now(workspace):
        again = f"; tried again {each.again:%Y-%m-%d %H:%M %z}" if each.again else ""
        yield f"was due {each.planned:%Y-%m-%d %H:%M %z} and is not done: {each.job.id} ({each.reason}{again})"


def _questions(workspace: Workspace) -> Iterator[str]:
    for each in waiting_questions(workspace):
        yield f"waits for the person's answer: {' '.join(each.text.split())[:200]} ({each.path})"
