"""What a day came to: facts and decisions, tools used, what was talked about; by rule, from its entries and its log.

Where it stands in the note is `daily`'s.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from agent.memory.daily import Logged
from agent.memory.entry import EntryType
from agent.memory.store import DayEntries, StoredEntry, with_offset
from agent.memory.understanding.clusters import clusters
from agent.memory.understanding.facts import spoken, statements
from agent.memory.understanding.similarity import wording
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
_TRACES = {EntryType.WORKFLOW_TRACE}


def day_summary(day: DayEntries, log: Sequence[Logged], language: str, least: float) -> str:
    """The summary as Markdown; empty where nothing happened. `least`: from which similarity on facts are the same."""
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
        (facts, list(_facts(entries, least))),
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


def _facts(entries: Sequence[StoredEntry], least: float) -> Iterator[str]:
    """What was stated, each thing once, with a link to where; the oldest first."""
    oldest = sorted(entries, key=lambda each: (with_offset(each.entry.created), each.entry.id))
    said = [(text, each) for each in oldest for text in _stated(each)]
    texts = [(number, wording(text)) for number, (text, _) in enumerate(said)]
    repeats = {other for _, others in clusters(texts, least) for other in others}
    for number, (text, each) in enumerate(said):
        if number not in repeats:
            yield f"{one_line(text)[:_LONGEST]} {each.link}"


def _stated(each: StoredEntry) -> Iterator[str]:
    if each.untrusted or each.entry.type in _TRACES:
        return
    explicit = each.entry.type in {EntryType.USER_EXPLICIT, EntryType.AUTO_FLUSH}
    yield from (text for text, _ in statements(spoken(each), any_form=explicit))
