"""The settings of memory: what is captured and recalled by itself, how long it stays, how much of it is given.

`settings.Settings` takes this in beside the others.
"""

from dataclasses import dataclass
from typing import Annotated

from agent.config.values import Range


@dataclass(frozen=True, slots=True)
class MemorySettings:
    """Each automatic behaviour has its switch; the numbers are those of the memory plan."""

    auto_recall: bool
    """Put what is known about a task before the model when it begins. Default true."""

    auto_capture: bool
    """Keep a summary and the workflow of tasks that used tools. Default true."""

    capture_messages: bool
    """Keep each turn of a conversation as one entry. Default true."""

    capture_group: bool
    """In a group chat, keep a second entry that belongs to the chat. Default true."""

    refresh: bool
    """Recall again during a long run. Default true."""

    lifecycle: bool
    """Once a day, archive what has expired, merge what says the same, shorten old days. Default true."""

    long_term: bool
    """Move facts that came up again and again into MEMORY.md. Default true."""

    max_recalls: Annotated[int, Range(0, 100, "memories")]
    """Memories given to a task. Default 8: more are seldom read by a model, wherever they stand."""

    small_talk: bool
    """Recall for greetings, thanks, a yes or a "go on", too. Default false: nothing that is known belongs to them."""

    refresh_every: Annotated[int, Range(1, 1_000, "steps")]
    """Steps between two recalls in a run. Default 3."""

    refresh_tokens: Annotated[int, Range(0, 100_000, "tokens")]
    """Tokens that one such recall may add. Default 500."""

    refresh_seconds: Annotated[float, Range(0.01, 60, "seconds")]
    """How long one may take, in seconds. Default 0.2."""

    llm_summary: bool
    """Have the fast model summarise long turns for capture, and tell repetitions, contradictions and facts that rules
    cannot. Default false: it costs a call for each turn, each entry like another one, and each upkeep."""

    summary_above: Annotated[int, Range(1, 1_000_000, "characters")]
    """Turns longer than this are shortened or summarised, in characters. Default 200."""

    dedupe: Annotated[float, Range(0, 1)]
    """Jaccard similarity from which on a chat turn is an earlier one with something added. Default 0.80."""

    chat_merge: Annotated[float, Range(0, 1)]
    """The same for chat turns of one hour. Default 0.70."""

    chat_turn_user_days: Annotated[int, Range(1, 100_000, "days")]
    """How long a person's chat turns are recalled, in days. Default 30."""

    chat_turn_chat_days: Annotated[int, Range(1, 100_000, "days")]
    """The same for a group's. Default 14: more noise."""

    auto_capture_days: Annotated[int, Range(1, 100_000, "days")]
    """How long summaries of tasks are recalled, in days; what was kept before a compaction, too. Default 90."""

    workflow_trace_days: Annotated[int, Range(1, 100_000, "days")]
    """How long traces of workflows are recalled, in days. Default 180."""

    lifecycle_entries: Annotated[int, Range(1, 1_000_000, "entries")]
    """Entries of a day from which on the lifecycle runs at once. Default 200."""

    daily_keep_days: Annotated[int, Range(1, 100_000, "days")]
    """How long a day's note is kept in full, in days; then its summary stays. Default 30."""

    memory_kilobytes: Annotated[int, Range(1, 10_000, "kilobytes")]
    """The size that MEMORY.md is kept under, in kilobytes. Default 50."""

    facts_times: Annotated[int, Range(2, 1_000, "times")]
    """How often a fact comes up before it is moved into MEMORY.md. Default 3."""

    facts_days: Annotated[int, Range(1, 100_000, "days")]
    """Within how many days. Default 30."""
