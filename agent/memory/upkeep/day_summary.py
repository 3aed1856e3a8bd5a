"""The summary of a day from its entries and its log, where no model words it: what was stated, and what was asked.

Writing it to the note is left to `daily`.
"""

from collections.abc import Iterator, Sequence

from agent.memory.daily import Logged, cut
from agent.memory.entry import ANSWER, EntryType, with_offset
from agent.memory.store import DayEntries, StoredEntry
from agent.memory.understanding.seam import SourceText
from agent.memory.understanding.statements import facts_in
from agent.memory.upkeep.longterm import owner_words, repeats
from agent.texts import Language, text
from agent.vault.message import one_line

_MOST = 12
"""The most lines of each part: a summary should be short."""
_BEGUN = 3
"""The most tasks named of one conversation."""
_LONGEST = 200

_VERBATIM = {EntryType.USER_EXPLICIT, EntryType.AUTO_FLUSH}


def day_summary(day: DayEntries, log: Sequence[Logged], language: Language) -> str:
    """The summary as Markdown; empty if there is nothing to sum up."""
    entries = (*day.new, *day.again)
    parts = (("facts", list(_facts(entries))), ("talks", list(_talks(log, language))))
    if not any(items for _, items in parts):
        return ""
    rows = [f"## {text('memory_day.summary', language)}", ""]
    for heading, items in parts:
        if items:
            rows += [
                f"### {text(f'memory_day.{heading}', language)}",
                "",
                *(f"- {item}" for item in items[-_MOST:]),
                "",
            ]
    return "\n".join(rows).rstrip("\n") + "\n"


def _talks(log: Sequence[Logged], language: Language) -> Iterator[str]:
    """The conversations, each once: start time, first tasks, and the number of further ones."""
    by_time = sorted(log, key=lambda task: task.time)  # the log has a part for each place where something was asked
    for session in dict.fromkeys(task.session for task in by_time if task.session):
        tasks = [task for task in by_time if task.session == session]
        titles = list(dict.fromkeys(task.title for task in tasks))
        more = " " + text("memory_day.more", language, number=len(titles) - _BEGUN) if len(titles) > _BEGUN else ""
        yield f"{tasks[0].time} {' · '.join(titles[:_BEGUN])}{more} {session}"


def _facts(entries: Sequence[StoredEntry]) -> Iterator[str]:
    """The stated facts, and the answers with what was asked, each once, with a link to the entry; oldest first.
    What was replaced or withdrawn since is told by what took its place."""
    holding = (each for each in entries if not each.entry.superseded_by)
    oldest = sorted(holding, key=lambda each: (with_offset(each.entry.created), each.entry.id))
    stated = [(words, each) for each in oldest for words in _stated(each)]
    texts = [(number, words) for number, (words, _) in enumerate(stated)]
    again = {other for _, others in repeats(texts) for other in others}
    for number, (words, each) in enumerate(stated):
        if number not in again:
            yield f"{cut(one_line(words), _LONGEST)} {each.link}"


def _stated(each: StoredEntry) -> list[str]:
    if each.entry.source == ANSWER:
        return [each.entry.text]
    return [fact.text for fact in facts_in(SourceText(owner_words(each), each.entry.type in _VERBATIM))]
