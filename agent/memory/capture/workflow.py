"""What a run did, as entries: the workflow it followed, for learning from many of them, and a summary of the task.

Only runs that used tools have either. Which tools were used for what comes from the session's note, which is read by
whoever has the vault.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agent.clock import Clock
from agent.events.runs import TaskCompleted
from agent.memory.capture.conversation import ANSWERED, ASKED, entry_of, smart_truncate
from agent.memory.entry import Entry, EntryType, Scope

MOST = 40
"""Steps of a trace that are written out; of longer ones the first and the last."""
_ABOUT = 80
_SAID = {
    "en": {
        "task": "Task: ",
        "tools": "Tools: ",
        "result": "Result: ",
        "comma": ", ",
        "failed": " (failed)",
        "more": "… {} more …",
    },
    "zh": {
        "task": "任务：",
        "tools": "工具：",
        "result": "结果：",
        "comma": "、",
        "failed": "（失败）",
        "more": "…… 另有 {} 步 ……",
    },
}


@dataclass(frozen=True, slots=True)
class ToolUse:
    """One use of a tool: what it was about, in a few words, and whether it failed."""

    tool: str
    about: str = ""
    failed: bool = False


@dataclass(frozen=True, slots=True)
class RunTrace:
    """What the session's note says of a run. `untrusted` names where text from strangers came from that was before the
    model. `is_whole` is false where the note could not be read, and nothing is known."""

    steps: tuple[ToolUse, ...] = ()
    untrusted: tuple[str, ...] = ()
    is_whole: bool = True


def workflow_trace(event: TaskCompleted, trace: RunTrace, clock: Clock, language: str = "en") -> Entry | None:
    """The tools of a run in their order; None for a run without any.

    In the header, `slots.tools` holds their names with commas between them, `slots.seconds` how long the run took,
    `slots.outcome` how it ended. What each was about is left out once strangers had a say in it.
    """
    steps = trace.steps or tuple(ToolUse(tool) for tool in event.tools)
    if not steps:
        return None
    said = _SAID[language]
    lines = [f"{said['task']}{smart_truncate(event.task, ASKED)}", "", *_lines(steps, bool(trace.untrusted), said)]
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


def task_summary(event: TaskCompleted, answer: str, clock: Clock, language: str = "en") -> Entry | None:
    """What a task was, what it was done with, and what came out; None for a run without tools."""
    if not event.tools or not event.task.strip():
        return None
    said = _SAID[language]
    used = said["comma"].join(f"`{name}`" for name in dict.fromkeys(event.tools))
    parts = [f"{said['task']}{smart_truncate(event.task, ASKED)}", f"{said['tools']}{used}"]
    if answer.strip():
        parts.append(f"{said['result']}{smart_truncate(answer, ANSWERED)}")
    return entry_of(event, EntryType.AUTO_CAPTURE, "\n".join(parts), Scope.USER, "memory_capture", clock)


def _lines(steps: Sequence[ToolUse], bare: bool, said: Mapping[str, str]) -> list[str]:
    shown = [_line(number, step, bare, said) for number, step in enumerate(steps, 1)]
    if len(shown) <= MOST:
        return shown
    half = MOST // 2
    return [*shown[:half], said["more"].format(len(shown) - MOST), *shown[-half:]]


def _line(number: int, step: ToolUse, bare: bool, said: Mapping[str, str]) -> str:
    about = " ".join(step.about.split())[:_ABOUT].replace("`", "'")
    what = f": {about}" if about and not bare else ""
    return f"{number}. {step.tool}{what}{said['failed'] if step.failed else ''}"
