"""The entries of a finished run, composed in the same way for all channels.

A turn of the conversation, a summary and the workflow of a run that used tools. Data flow decides what of it: answers
of runs that did not finish are no facts; once strangers' text was before the model, nothing that a model said is kept
without a person's yes (`memory_save` asks for it), only the person's own words and which tools were used. Telling new
from known is `dedupe`'s, writing is `keeping`'s.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from agent.clock import Clock
from agent.config.memory_settings import MemorySettings
from agent.events.runs import TaskCompleted
from agent.memory.capture.conversation import Summarise, Turns, chat_turns
from agent.memory.capture.workflow import RunTrace, task_summary, workflow_trace
from agent.memory.entry import Entry
from agent.texts import Language

FINISHED = "finished"
_PAUSED = frozenset(("needs_approval", "question_asked"))
"""Such a run goes on, and is kept when it is over."""
_LABEL_ALONE = re.compile(r"[^:：]*(?:: |：)\s*")


@dataclass(frozen=True, slots=True)
class CaptureConfig:
    """The settings and functions that captures need: what long turns are summarised by (None: nothing), what covers up
    secrets, and what gives, for each run, how to take out of a text what is to be forgotten. `thinks`: answers are a
    model's own words; without one they are quotations of notes, and nothing new. `language` is that of the labels in an
    entry."""

    settings: MemorySettings
    clock: Clock
    masked: Callable[[str], str]
    remembering: Callable[[], Callable[[str], str]]
    summarise: Summarise | None = None
    thinks: bool = True
    language: Language = "en"


def is_captured(event: TaskCompleted) -> bool:
    """True for a run that may be captured: not one that goes on, nor a sub-run, which belongs to its parent."""
    return event.outcome not in _PAUSED and "." not in event.run


def entries_of_run(event: TaskCompleted, trace: RunTrace, config: CaptureConfig) -> tuple[Entry, ...]:
    """The entries of a run, none where everything is switched off or nothing is worth it."""
    if not is_captured(event):
        return ()
    settings, clock = config.settings, config.clock
    event = replace(event, task=config.masked(event.task), answer=config.masked(event.answer))
    is_answer = event.outcome == FINISHED and config.thinks and trace.is_whole and not trace.untrusted
    answer = event.answer if is_answer else ""
    found: list[Entry | None] = []
    if settings.capture_messages:
        summarise = config.summarise if settings.llm_summary and is_answer else None
        turns = Turns(settings.capture_group, settings.summary_above, summarise, config.language)
        found += chat_turns(event, answer, clock, turns)
    if settings.auto_capture and event.tools:
        found += [task_summary(event, answer, clock, config.language) if is_answer else None]
        traced = workflow_trace(event, trace, clock, config.language)
        found += [replace(traced, untrusted=trace.untrusted) if traced else None]
    entries = [entry for entry in found if entry is not None]
    remembered = config.remembering() if entries else str
    return tuple(kept for entry in entries if (kept := _without_forgotten(entry, remembered)) is not None)


def _without_forgotten(entry: Entry, remembered: Callable[[str], str]) -> Entry | None:
    """The entry without what its person wanted forgotten; None when nothing is left but labels."""
    lines = [remembered(line) for line in entry.text.splitlines()]
    if lines == entry.text.splitlines():
        return entry
    left = [line for line in lines if line.strip() and not _LABEL_ALONE.fullmatch(line)]
    return replace(entry, text="\n".join(left)) if left else None
