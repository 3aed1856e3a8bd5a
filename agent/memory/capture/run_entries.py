"""The entries of a finished run, the same for all channels: the facts that its person stated.

If the model has read untrusted text, none of its words are stored without a person's approval (`memory_save` asks for
it), only the person's own words.
Comparison with known entries is left to `dedupe`, writing to `writer`.
"""

import re
from collections.abc import Callable
from dataclasses import replace

from agent.clock import Clock
from agent.config.memory_settings import MemorySettings
from agent.dataclass import dataclass
from agent.events.runs import TaskCompleted
from agent.memory.capture.facts import fact_entries
from agent.memory.capture.run_trace import RunTrace
from agent.memory.entry import Entry
from agent.texts import Language

FINISHED = "finished"
_PAUSED = frozenset(("needs_approval", "question_asked"))
"""Outcomes of a run that will continue; it is stored when it ends."""
_LABEL_ALONE = re.compile(r"[^:：]*(?:: |：)\s*")


@dataclass(frozen=True, slots=True)
class CaptureConfig:
    """The settings and functions for capturing runs.

    `masked`: covers secrets in a text. `remembering`: gives, for each run, the function that removes forgotten text.
    `language`: the language of the labels. `count`: the tokens of a text, for the figures. `waits`: true for a run
    whose conversation a model will read, so that new facts wait for it.
    """

    settings: MemorySettings
    clock: Clock
    masked: Callable[[str], str]
    remembering: Callable[[], Callable[[str], str]]
    language: Language = "en"
    count: Callable[[str], int] | None = None
    waits: Callable[[TaskCompleted, RunTrace], bool] = lambda event, trace: False


def is_captured(event: TaskCompleted) -> bool:
    """True if the run is to be captured: it is over, and not a sub-run (its parent is captured)."""
    return event.outcome not in _PAUSED and "." not in event.run


def entries_of_run(event: TaskCompleted, trace: RunTrace, config: CaptureConfig) -> tuple[Entry, ...]:
    """The entries of a run; none if capture is switched off, or the run was interrupted and may go on."""
    if not is_captured(event) or event.outcome == "interrupted":
        return ()
    settings, clock = config.settings, config.clock
    if settings.capture == "off":
        return ()
    event = replace(event, task=config.masked(event.task))
    said = tuple(replace(each, text=config.masked(each.text)) for each in trace.said)
    found = fact_entries(event, said, clock, group=settings.capture_group)
    slots = {"task_type": trace.task_type} if trace.task_type else {}
    entries = [replace(entry, slots={**entry.slots, **slots}) for entry in found]
    remembered = config.remembering() if entries else str
    return tuple(kept for entry in entries if (kept := _without_forgotten(entry, remembered)) is not None)


def _without_forgotten(entry: Entry, remembered: Callable[[str], str]) -> Entry | None:
    """The entry without forgotten text; None when only labels remain."""
    lines = [remembered(line) for line in entry.text.splitlines()]
    if lines == entry.text.splitlines():
        return entry
    left = [line for line in lines if line.strip() and not _LABEL_ALONE.fullmatch(line)]
    return replace(entry, text="\n".join(left)) if left else None
