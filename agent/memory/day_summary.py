"""What a day came to: facts and decisions, tools used, what was talked about; by rule, from its entries and its log.

Where it stands in the note is `daily`'s.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from agent.memory.clusters import clusters
from agent.memory.daily import Logged
from agent.memory.entry import EntryType
from agent.memory.facts import spoken, statements
from agent.memory.kept import Kept
from agent.memory.likeness import wording
from agent.vault.write.message import one_line

_MOST = 12
"""Lines of each part: a summary is to be read at a glance."""
_LONGEST = 200

_TITLES = {
    "en": ("Summary of the day", "Facts and decisions", "Tool use", "Key conversations", "{0} entries: {1}"),
    "zh": ("当日总结", "事实与决策", "工具使用", "关键对话摘要", "{0} 条记忆：{1}"),
}
_TRACES = {EntryType.WORKFLOW_TRACE}


def day_summary(entries: Sequence[Kept], log: Sequence[Logged], language: str, least: float) -> str:
    """The summary as Markdown; empty where nothing happened. `least`: from which similarity on facts are the same."""
    if not entries and not log:
        return ""
    title, facts, tools, talks, count = _TITLES[language]
    kinds = Counter(each.entry.type.value for each in entries)
    total = [count.format(len(entries), ", ".join(f"{kind} × {number}" for kind, number in sorted(kinds.items())))]
    used = Counter[str]()
    for task in log:
        used.update(dict(task.tools))
    parts = (
        (facts, list(_facts(entries, least))),
        (tools, [", ".join(f"{tool} × {number}" for tool, number in used.most_common())] if used else []),
        (talks, [f"{task.time} {task.title} {task.session}".rstrip() for task in log if task.session]),
    )
    rows = [f"## {title}", "", *(total if entries else []), *([""] if entries else [])]
    for heading, items in parts:
        if items:
            rows += [f"### {heading}", "", *(f"- {item}" for item in items[-_MOST:]), ""]
    return "\n".join(rows).rstrip("\n") + "\n"


def _facts(entries: Sequence[Kept], least: float) -> Iterator[str]:
    """What was stated, each thing once, with a link to where; the oldest first."""
    said = [(text, each) for each in reversed(entries) for text in _stated(each)]
    texts = [(number, wording(text)) for number, (text, _) in enumerate(said)]
    repeats = {other for _, others in clusters(texts, least) for other in others}
    for number, (text, each) in enumerate(said):
        if number not in repeats:
            yield f"{one_line(text)[:_LONGEST]} {each.link}"


def _stated(each: Kept) -> Iterator[str]:
    if each.untrusted or each.entry.type in _TRACES:
        return
    explicit = each.entry.type in {EntryType.USER_EXPLICIT, EntryType.AUTO_FLUSH}
    yield from (text for text, _ in statements(spoken(each), any_form=explicit))
