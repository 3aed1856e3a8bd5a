"""What a day came to: facts and decisions, tools used, what was talked about; by rule, from its entries and its log.

Where it stands in the note is `daily`'s.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from agent.memory.daily import Logged
from agent.memory.entry import EntryType
from agent.memory.store import DayEntries, StoredEntry, with_offset
from agent.memory.understanding.repeats import repeats
from agent.memory.understanding.rules import RULES
from agent.memory.understanding.seam import Source, Understanding
from agent.memory.upkeep.repeated_facts import owner_words
from agent.texts import Language
from agent.vault.write.message import one_line

_MOST = 12
"""Lines of each part: a summary is to be read at a glance."""
_BEGUN = 3
"""Tasks named of one conversation."""
_LONGEST = 200

_TITLES = {
    "en": ("Summary of the day", "Facts and decisions", "Tool use", "Key conversations", "New entries: {}"),
    "zh": ("当日总结", "事实与决策", "工具使用", "关键对话摘要", "新增记忆：{}"),
}
_MORE = {"en": "(and {} more)", "zh": "（另有 {} 条）"}
_KINDS = {
    EntryType.CHAT_TURN: {"en": "conversation", "zh": "对话"},
    EntryType.USER_EXPLICIT: {"en": "remembered", "zh": "记住的"},
    EntryType.AUTO_CAPTURE: {"en": "task", "zh": "任务"},
    EntryType.AUTO_FLUSH: {"en": "from a long conversation", "zh": "长对话摘录"},
    EntryType.WORKFLOW_TRACE: {"en": "workflow", "zh": "工作流程"},
}
_VERBATIM = {EntryType.USER_EXPLICIT, EntryType.AUTO_FLUSH}


def day_summary(
    day: DayEntries, log: Sequence[Logged], language: Language, understanding: Understanding = RULES
) -> str:
    """The summary as Markdown; empty where nothing happened."""
    entries = (*day.new, *day.again)
    if not entries and not log:
        return ""
    title, facts, tools, talks, count = _TITLES[language]
    kinds = Counter(_kind(each.entry.type, language) for each in day.new)
    total = [count.format(", ".join(f"{kind} × {number}" for kind, number in kinds.most_common()))]
    used = Counter[str]()
    for task in log:
        used.update(dict(task.tools))
    parts = (
        (facts, list(_facts(entries, understanding))),
        (tools, [", ".join(f"{tool} × {number}" for tool, number in used.most_common())] if used else []),
        (talks, list(_talks(log, language))),
    )
    rows = [f"## {title}", "", *([*total, ""] if day.new else [])]
    for heading, items in parts:
        if items:
            rows += [f"### {heading}", "", *(f"- {item}" for item in items[-_MOST:]), ""]
    return "\n".join(rows).rstrip("\n") + "\n"


def _kind(kind: EntryType, language: str) -> str:
    return _KINDS[kind][language] if kind in _KINDS else kind.value.replace("_", " ")


def _talks(log: Sequence[Logged], language: str) -> Iterator[str]:
    """The conversations, each once: when and with what it began, and how much more was said in it."""
    for session in dict.fromkeys(task.session for task in log if task.session):
        said = [task for task in log if task.session == session]
        titles = list(dict.fromkeys(task.title for task in said))
        more = f" {_MORE[language].format(len(titles) - _BEGUN)}" if len(titles) > _BEGUN else ""
        yield f"{said[0].time} {' · '.join(titles[:_BEGUN])}{more} {session}"


def _facts(entries: Sequence[StoredEntry], understanding: Understanding) -> Iterator[str]:
    """The facts that were stated, each once, with a link to where; the oldest first."""
    oldest = sorted(entries, key=lambda each: (with_offset(each.entry.created), each.entry.id))
    sources = [Source(owner_words(each), each.entry.type in _VERBATIM) for each in oldest]
    stated = zip(oldest, understanding.facts(sources), strict=True)
    said = [(fact.text, each) for each, facts in stated for fact in facts]
    texts = [(number, text) for number, (text, _) in enumerate(said)]
    again = {other for _, others in repeats(texts, understanding) for other in others}
    for number, (text, each) in enumerate(said):
        if number not in again:
            yield f"{one_line(text)[:_LONGEST]} {each.link}"
