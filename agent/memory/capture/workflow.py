"""The entry about a run that used tools: a workflow trace, from which skills are learned.

The caller reads the steps of the run from the session note.
"""

from collections.abc import Sequence

from agent.clock import Clock
from agent.dataclass import dataclass
from agent.events.runs import TaskCompleted
from agent.memory.capture.conversation import ASKED, entry_of, smart_truncate
from agent.memory.capture.facts import Utterance
from agent.memory.entry import Entry, EntryType, Scope
from agent.texts import Language, text

MOST = 40
"""The most steps of a trace that are listed; a longer one shows its first and last steps."""
_ABOUT = 80


@dataclass(frozen=True, slots=True)
class ToolUse:
    """One use of a tool: its subject in a few words, and True if it failed."""

    tool: str
    about: str = ""
    failed: bool = False


@dataclass(frozen=True, slots=True)
class RunTrace:
    """The steps of a run, and what its person said in it and before, from its session note.

    `untrusted`: the sources of untrusted text that the model has read. `is_whole`: false if the note could not be read,
    so that the steps are unknown. `task_type` is the kind of task that a skill has recognised, empty if none has.
    """

    steps: tuple[ToolUse, ...] = ()
    untrusted: tuple[str, ...] = ()
    is_whole: bool = True
    said: tuple[Utterance, ...] = ()
    task_type: str = ""


def workflow_trace(event: TaskCompleted, trace: RunTrace, clock: Clock, language: Language = "en") -> Entry | None:
    """The tools of a run in their order; None for a run without tools.

    In the header, `slots.tools` has the tool names, separated by commas, `slots.seconds` the duration and
    `slots.outcome` the outcome. The subjects of the steps are left out if the model has read untrusted text.
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
