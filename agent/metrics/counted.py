"""What one event adds to the metrics: pure functions from an event to numbers by family and name."""

from collections.abc import Iterator
from typing import TypeAlias

from agent.events.growth import PatternDetected
from agent.events.notices import NotificationSent, NotificationSuppressed
from agent.events.runs import (
    MemoryCaptured,
    MemoryFlushed,
    MemoryRecalled,
    NodeToolCalled,
    ProfileSelected,
    TaskCompleted,
    ToolCallFailed,
    ToolCompleted,
)
from agent.events.types import JobEnded
from agent.metrics.durations import SUM, bucket_of
from agent.metrics.names import JOBS, event_name
from agent.metrics.recent import COMPACTIONS, FLUSH_KNOWN, FLUSH_SAVED, NODE_DENIED
from agent.metrics.totals import NODE, RECALL

FINISHED = "finished"
"""The outcome of a run with an answer."""
Numbers: TypeAlias = Iterator[tuple[str, str, float]]
"""Families, names and what is added to each."""


def numbers_of(event: object) -> Numbers:
    """What an event adds to its day."""
    is_of_job = isinstance(event, TaskCompleted) and event.job
    yield "events", JOBS if is_of_job else event_name(type(event).__name__), 1
    match event:
        case ToolCompleted(tool=tool):
            yield "used", tool, 1
        case ToolCallFailed(tool=tool, denied=denied):
            yield from (("used", tool, 1), ("failed", tool, 1))
            if denied:
                yield "denied", tool, 1
        case TaskCompleted():
            yield from _of_job(event) if is_of_job else _of_run(event)
        case MemoryFlushed(saved=saved, known=known):
            yield from (("sums", "flush_saved", saved), ("sums", "flush_known", known))
        case MemoryRecalled():
            yield from _of_recall(event)
        case MemoryCaptured():
            yield from _of_capture(event)
        case _:
            yield from _of_the_rest(event)


def _of_the_rest(event: object) -> Numbers:
    match event:
        case ProfileSelected(profile=profile):
            yield "profiles", profile, 1
        case NodeToolCalled(tool=tool, status=status, seconds=seconds):
            yield "node_calls", f"{tool} {status}", 1
            yield from duration(f"{NODE}{tool}", seconds)
        case JobEnded(outcome=outcome):
            yield "job_statuses", outcome, 1
        case NotificationSent(channel=channel):
            yield "notices_sent", channel, 1
        case NotificationSuppressed(decision=decision):
            yield "notices_suppressed", decision, 1
        case PatternDetected(kind=kind):
            yield "patterns", kind, 1
        case _:
            pass


def recent_numbers_of(event: object) -> Numbers:
    """What an event adds to the counts that are kept with their time."""
    match event:
        case MemoryFlushed(saved=saved, known=known):
            yield from ((COMPACTIONS, "", 1), (FLUSH_SAVED, "", saved), (FLUSH_KNOWN, "", known))
        case NodeToolCalled(status="denied", permission=permission):
            yield NODE_DENIED, permission, 1
        case _:
            pass


def duration(family: str, seconds: float) -> Numbers:
    """What a duration adds to its family."""
    yield from ((family, bucket_of(seconds), 1), (family, SUM, seconds))


def _of_run(event: TaskCompleted) -> Numbers:
    yield "outcomes", event.outcome, 1
    yield "sums", "input_tokens", event.input_tokens
    yield "sums", "output_tokens", event.output_tokens
    if event.given and event.used is not None and event.outcome == FINISHED:
        yield "sums", "answers_given", 1
        yield "sums", "answers_used", bool(event.used)


def _of_job(event: TaskCompleted) -> Numbers:
    yield "job_outcomes", event.outcome, 1
    yield "sums", "job_input_tokens", event.input_tokens
    yield "sums", "job_output_tokens", event.output_tokens


def _of_recall(event: MemoryRecalled) -> Numbers:
    yield "modes", event.mode, 1
    yield "sums", "recall_hits", bool(event.found)
    yield "sums", "recall_degraded", bool(event.degraded)
    yield from duration(RECALL, event.seconds)


def _of_capture(event: MemoryCaptured) -> Numbers:
    yield "sums", "entries_saved", event.saved - event.superseding
    yield "sums", "entries_superseding", event.superseding
    yield "sums", "entries_known", event.known
    yield "sums", "entries_refused", event.refused
    yield "sums", "capture_problems", bool(event.problem)
    if event.tokens:
        yield "sums", "counted_entries", event.saved
        yield "sums", "entry_tokens", event.tokens
