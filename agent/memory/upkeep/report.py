"""The report of an upkeep: what was done to which notes and why, in the daily note and for the command line."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

_SHOWN = 10
"""Names listed of each kind; the rest are counted."""


@dataclass(frozen=True, slots=True)
class UpkeepReport:
    """What an upkeep does. Links to notes, but `added`, `doubted` and `memory_archived`, which are facts in words.

    `archived` have expired, `merged` are (the one that stays, those that it takes the place of), `shortened` are days,
    `memory_merged` counts lines of MEMORY.md, `too_large` says that it is still over its size.
    """

    archived: tuple[str, ...] = ()
    merged: tuple[tuple[str, tuple[str, ...]], ...] = ()
    shortened: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    doubted: tuple[str, ...] = ()
    memory_merged: int = 0
    memory_archived: tuple[str, ...] = ()
    too_large: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether there was nothing to do."""
        return not any((*self.counts.values(), self.memory_merged, self.memory_archived))

    @property
    def counts(self) -> Mapping[str, int]:
        """How many of each."""
        return {
            "archived": len(self.archived),
            "merged": sum(len(others) for _, others in self.merged),
            "shortened": len(self.shortened),
            "added": len(self.added),
            "doubted": len(self.doubted),
        }


_WORDS = {
    "en": {
        "title": "Memory upkeep",
        "archived": "expired, now in the archive ({0}): {1}",
        "merged": "the same as another entry, now in the archive ({0}): {1}",
        "shortened": "old days shortened to their summary, their log is in the history ({0}): {1}",
        "added": "came up again and again, now in [[MEMORY]] ({0}): {1}",
        "doubted": "disagrees with [[MEMORY]] and waits there to be checked ({0}): {1}",
        "memory_merged": "lines of [[MEMORY]] merged with others like them: {0}",
        "memory_archived": "lines of [[MEMORY]] now in the archive, as it had grown too large ({0}): {1}",
        "too_large": "[[MEMORY]] is larger than memory.memory_kilobytes, and the rest of it is yours",
        "undo": "all of this is one commit, which `vault-agent log` names and `vault-agent undo` takes back",
        "more": "and {0} more",
    },
    "zh": {
        "title": "记忆整理",
        "archived": "{0} 条已过期，移入归档：{1}",
        "merged": "{0} 条与其他记忆内容相同，移入归档：{1}",
        "shortened": "{0} 天较早的日志只保留总结，全文在历史记录中：{1}",
        "added": "{0} 条反复出现的事实写入了 [[MEMORY]]：{1}",
        "doubted": "{0} 条事实与 [[MEMORY]] 不一致，等待确认：{1}",
        "memory_merged": "[[MEMORY]] 中有 {0} 行与相近的行合并",
        "memory_archived": "[[MEMORY]] 过大，{0} 行移入归档：{1}",
        "too_large": "[[MEMORY]] 超过 memory.memory_kilobytes，其余都是你写的内容",
        "undo": "以上是一次提交：`vault-agent log` 显示编号，`vault-agent undo` 可以撤销",
        "more": "另有 {0} 条",
    },
}


def report_title(language: str) -> str:
    """The heading of the report."""
    return _WORDS[language]["title"]


def report_lines(report: UpkeepReport, language: str) -> Iterator[str]:
    """The report, line by line."""
    words = _WORDS[language]
    merged = [f"{' '.join(others)} → {into}" for into, others in report.merged]
    lists: Sequence[tuple[str, Sequence[str], int]] = (
        ("archived", report.archived, len(report.archived)),
        ("merged", merged, report.counts["merged"]),
        ("shortened", report.shortened, len(report.shortened)),
        ("added", report.added, len(report.added)),
        ("doubted", report.doubted, len(report.doubted)),
        ("memory_archived", report.memory_archived, len(report.memory_archived)),
    )
    for name, items, count in lists:
        if items:
            more = [words["more"].format(len(items) - _SHOWN)] if len(items) > _SHOWN else []
            yield words[name].format(count, "; ".join([*items[:_SHOWN], *more]))
    if report.memory_merged:
        yield words["memory_merged"].format(report.memory_merged)
    if report.too_large:
        yield words["too_large"]
    if not report.is_empty:
        yield words["undo"]
