"""Entries about a run that used tools: its workflow, for learning from many of them, and a summary of its task.

Only runs that used tools have either. Which tools were used for what comes from the session's note, which is read by
whoever has the vault.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from agent.clock import Clock
from agent.events.runs import TaskCompleted
from agent.memory.capture.conversation import ANSWERED, ASKED, entry_of, smart_truncate
from agent.memory.entry import Entry, EntryType, Scope
from agent.texts import Language, text

MOST = 40
"""Steps of a trace that are written out; of longer ones the first and the last."""
_ABOUT = 80


@dataclass(frozen=True, slots=True)
class ToolUse:
    """One use of a tool: what it was about, in a few words, and whether it failed."""

    tool: str
    about: str = ""
    failed: bool = False


@dataclass(frozen=True, slots=True)
class RunTrace:
    """The steps of a run by its session's note. `untrusted` names where text from strangers came from that was before
    the model. `is_whole` is false where the note could not be read, and nothing is known."""

    steps: tuple[ToolUse, ...] = ()
    untrusted: tuple[str, ...] = ()
    is_whole: bool = True


def workflow_trace(event: TaskCompleted, trace: RunTrace, clock: Clock, language: Language = "en") -> Entry | None:
    """The tools of a run in their order; None for a run without any.

    In the header, `slots.tools` holds their names with commas between them, `slots.seconds` how long the run took,
    `slots.outcome` how it ended. What each was about is left out once strangers had a say in it.
    """
    steps = trace.steps or tuple(ToolUse(tool) for tool in event.tools)
    if not steps:
        return None
    lines = [
        f"{text('memory_turn.task', language)}{smart_truncate(event.task, ASKED)}",
        "",
        *_lines(steps, bool(trace.untrusted), language),
    ]
    names = ",".join(step.tool for step in steps)
    failed = sum(step.failed for step in steps)
    return entry_of(
        event,
        EntryType.WORKFLOW_TRACE,
        "\n".join(lines),
        Scope.USER,
        "workflow_trace",
        clock,
        tools=names,
        steps=str(len(steps)),
        failed=str(failed),
        seconds=f"{event.seconds:.1f}",
    )


def task_summary(event: TaskCompleted, answer: str, clock: Clock, language: Language = "en") -> Entry | None:
    """An entry with the task, the tools used and the result; None for a run without tools."""
    if not event.tools or not event.task.strip():
        return None
    used = text("memory_turn.comma", language).join(f"`{name}`" for name in dict.fromkeys(event.tools))
    parts = [
        f"{text('memory_turn.task', language)}{smart_truncate(event.task, ASKED)}",
        text("memory_turn.tools", language) + used,
    ]
    if answer.strip():
        parts.append(text("memory_turn.result", language) + smart_truncate(answer, ANSWERED))
    return entry_of(event, EntryType.AUTO_CAPTURE, "\n".join(parts), Scope.USER, "memory_capture", clock)


def _lines(steps: Sequence[ToolUse], bare: bool, language: Language) -> list[str]:
    shown = [_line(number, step, bare, language) for number, step in enumerate(steps, 1)]
    if len(shown) <= MOST:
        return shown
    half = MOST // 2
    return [*shown[:half], text("memory_turn.more", language, number=len(shown) - MOST), *shown[-half:]]


def _line(number: int, step: ToolUse, bare: bool, language: Language) -> str:
    about = " ".join(step.about.split())[:_ABOUT].replace("`", "'")
    what = f": {about}" if about and not bare else ""
    failed = text("memory_turn.failed", language) if step.failed else ""
    return f"{number}. {step.tool}{what}{failed}"
