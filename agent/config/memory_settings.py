"""The settings of memory: automatic capture and recall, retention times, and limits. Part of `settings.Settings`."""

from typing import Annotated, Literal

from agent.config.values import Range
from agent.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class MemorySettings:
    """Settings of memory; each automatic behaviour has a switch."""

    auto_recall: bool
    """Add memories about a task to the model's prompt when the task begins. Default true."""

    auto_capture: bool
    """Save the workflow of each task that used several tools; with `capture: turns` also a summary. Default true."""

    capture: Literal["facts", "turns", "off"]
    """What is saved of a conversation: each fact that a person states as one entry, each turn as one entry, or nothing.
    Default facts: the session's note has every word."""

    capture_group: bool
    """In a group chat, save a second entry that belongs to the chat. Default true."""

    refresh: bool
    """Recall again during a long run. Default true."""

    lifecycle: bool
    """Once a day, archive expired entries, merge duplicates, shorten old daily notes. Default true."""

    long_term: bool
    """Move facts that were repeated often into MEMORY.md. Default true."""

    learn_from_edits: bool
    """Whether what you change in text that the agent wrote within a day before counts for what it believes you prefer:
    style, corrections, and what you leave out. It is looked at once a day, with the lifecycle or a task
    `learn_from_history`, and stands in `profile/31-preferences.md`. Default true."""

    max_recalls: Annotated[int, Range(0, 100, "memories")]
    """Memories added to a task's prompt. Default 8: models seldom use more, at any position in the prompt."""

    floor: Literal["off", "normal", "strict"]
    """Give a task no memories unless one is likely to help: at a probability of .25 (normal) or .4 (strict). Default
    normal; `context --explain` says when nothing was given."""

    ask_for_words: bool
    """Ask the fast model for other words of a question that the memories may answer, when the first search is unsure.
    Default false: it costs a short call, about a second, before the run begins. Questions in other words than the
    answer was told in are answered far more often."""

    small_talk: bool
    """Recall also for greetings, thanks, a yes or a "go on". Default false: no memory is relevant to them."""

    refresh_every: Annotated[int, Range(1, 1_000, "steps")]
    """Steps between two recalls in a run. Default 3."""

    refresh_tokens: Annotated[int, Range(0, 100_000, "tokens")]
    """Tokens that one recall during a run may add. Default 500."""

    refresh_seconds: Annotated[float, Range(0.01, 60, "seconds")]
    """The maximum time of one recall during a run, in seconds. Default 0.2."""

    llm_summary: bool
    """Use the fast model to summarise long turns for capture, and to find repetitions, contradictions and facts that
    rules miss. Default false: it costs one call per turn, per entry similar to another, and per lifecycle run."""

    summary_above: Annotated[int, Range(1, 1_000_000, "characters")]
    """Turns longer than this are shortened or summarised, in characters. Default 200."""

    dedupe: Annotated[float, Range(0, 1)]
    """The minimum Jaccard similarity for a chat turn to count as an earlier one with additions. Default 0.80."""

    chat_merge: Annotated[float, Range(0, 1)]
    """The same for chat turns of one hour. Default 0.70."""

    fact_days: Annotated[int, Range(1, 100_000, "days")]
    """Time for which a fact is recalled after it was last said, in days. Default 365."""

    chat_turn_user_days: Annotated[int, Range(1, 100_000, "days")]
    """Time for which a person's chat turns are recalled, in days. Default 30."""

    chat_turn_chat_days: Annotated[int, Range(1, 100_000, "days")]
    """The same for a group's chat turns. Default 14: they hold more noise."""

    auto_capture_days: Annotated[int, Range(1, 100_000, "days")]
    """Time for which summaries of tasks, and entries saved before a compaction, are recalled, in days. Default 90."""

    workflow_trace_days: Annotated[int, Range(1, 100_000, "days")]
    """Time for which workflow traces are recalled, in days. Default 180."""

    lifecycle_entries: Annotated[int, Range(1, 1_000_000, "entries")]
    """The number of entries in a day at which the lifecycle runs at once. Default 200."""

    daily_keep_days: Annotated[int, Range(1, 100_000, "days")]
    """Time for which a daily note is kept in full, in days; then only its summary stays. Default 30."""

    memory_kilobytes: Annotated[int, Range(1, 10_000, "kilobytes")]
    """The maximum size of MEMORY.md, in kilobytes. Default 50."""

    facts_times: Annotated[int, Range(2, 1_000, "times")]
    """The number of repetitions before a fact is moved into MEMORY.md. Default 3."""

    facts_days: Annotated[int, Range(1, 100_000, "days")]
    """The number of days within which these repetitions are counted. Default 30."""
