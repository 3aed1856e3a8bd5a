"""The settings of memory: automatic capture and recall, retention times, and limits. Part of `settings.Settings`."""

from typing import Annotated, Literal

from agent.config.values import Range
from agent.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class MemorySettings:
    """Settings of memory; each automatic behaviour has a switch."""

    auto_recall: bool
    """Add memories about a task, and passages of notes, to the model's prompt when the task begins: at most as many as
    `context.memories`. Default true."""

    capture: Literal["facts", "off"]
    """What is saved of a conversation: each fact that a person states as one entry, and the workflow of a task that
    used several tools; or nothing. Default facts: the session's note has every word."""

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
    `upkeep`, and stands in `profile/31-preferences.md`. Default true."""

    evening: Annotated[int, Range(0, 23, "o'clock")]
    """The hour of the evening: a quarter past it the day's note gets the day in a few lines, and what the agent has
    written without being asked is committed, in one commit. Default 22."""

    floor: Literal["off", "normal", "strict"]
    """Give a task only the passages that are likely to help: at a probability of .45 (normal) or .6 (strict). Default
    normal; `context --explain` says when nothing was given."""

    small_talk: bool
    """Recall also for greetings, thanks, a yes or a "go on". Default false: no memory is relevant to them."""

    refresh_every: Annotated[int, Range(1, 1_000, "steps")]
    """Steps between two recalls in a run. Default 3."""

    refresh_tokens: Annotated[int, Range(0, 100_000, "tokens")]
    """Tokens that one recall during a run may add. Default 500."""

    refresh_seconds: Annotated[float, Range(0.01, 60, "seconds")]
    """The maximum time of one recall during a run, in seconds. Default 0.2."""

    fact_days: Annotated[int, Range(1, 100_000, "days")]
    """Time for which a fact is recalled after it was last said, in days. Default 365."""

    chat_turn_user_days: Annotated[int, Range(1, 100_000, "days")]
    """Time for which a person's chat turns are recalled, in days. Default 30."""

    chat_turn_chat_days: Annotated[int, Range(1, 100_000, "days")]
    """The same for a group's chat turns. Default 14: they hold more noise."""

    auto_capture_days: Annotated[int, Range(1, 100_000, "days")]
    """Time for which summaries of tasks, and entries saved before a compaction, are recalled, in days. Default 90."""

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


@dataclass(frozen=True, slots=True)
class ProfileSettings:
    """What the agent may write about its person by itself."""

    sensitive: Literal["ask", "yes", "no"]
    """Whether the agent may note what the person says of their health, of other people and of where they belong.
    Default `ask`: it asks once, in a note in `questions/`, and writes nothing of it before the answer."""
