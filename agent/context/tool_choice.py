"""Chooses the tools that are described to the model for a whole run: all of them, as long as there is room.

A tool that is not described is not used: of ordinary tasks about notes, more than half lacked one among the seven that
fitted them best. With more tools than there is room for, `tool_search` finds those that are not described. Registering
tools and permissions are left to `tools`.
"""

import re
from collections.abc import Callable, Collection, Sequence
from typing import TypeAlias

from agent.context.budget import Count
from agent.context.tokens import count_tool
from agent.dataclass import dataclass
from agent.index.analysis import terms
from agent.llm.messages import ToolSpec

Score: TypeAlias = Callable[[Sequence[str], str], Sequence[float]]
"""The fit of each text to a task, from 0 to 1."""

TOOL_SEARCH = "tool_search"
"""The tool that finds the others and has them described."""
CORE = frozenset(
    (
        *("search_vault", "vault_read", "vault_write", "vault_edit", "vault_append", "vault_move"),
        *("memory_recall", "memory_save", "human_ask", "skill_show", TOOL_SEARCH),
    )
)
"""The tools that are always described: nearly every task about notes needs some of them."""
SELDOM = frozenset(
    (
        *("list_profile_files", "read_profile", "write_profile", "create_profile", "search_profile"),
        *("get_profile_summary", "delete_profile"),
    )
)
"""The tools that are the first to be left out: few tasks need them, and what they find is given unasked."""
_NAMES = re.compile(r"[a-z]+(?:_[a-z]+)+")
_NAME = 2.0
"""The weight of a word in the tool's name, relative to one in its description."""
_IN_ENGLISH = (
    (r"https?://|www\.|网页|网址|网站|链接|上网|抓取|下载", "web fetch url page"),
    (r"搜索|搜一下|查找|找到|找出|寻找|检索|哪里|哪篇|有没有", "search find"),
    (r"写下|写入|写一|新建|创建|生成|起草|草稿|保存", "write create new note"),
    (r"修改|改成|改为|更新|替换|编辑|更正|删掉|勾选", "edit change replace"),
    (r"添加|加上|追加|补充|记录|加到|加一", "append add"),
    (r"移动|移到|重命名|改名|归档|挪到", "move rename"),
    (r"读|看看|查看|打开|内容|总结|概括|摘要", "read open note"),
    (r"列出|列表|有哪些|多少篇|目录|文件夹", "list folder"),
    (r"记住|记得|记忆|回忆|以前|上次|曾经", "memory remember recall save"),
    (r"运行|执行|命令|脚本|程序", "shell run program command"),
    (r"问我|询问|确认", "ask human question"),
    (r"截图|截屏|屏幕|桌面", "screen capture picture"),
    (r"录音|麦克风", "audio record microphone"),
    (r"剪贴板|剪切板|粘贴", "clipboard"),
    (r"应用|软件|启动", "open app application"),
    (r"研究|调查|分头|委派|子任务", "delegate task"),
)
"""Tools are described in English; these are the English words for terms in Chinese tasks, and for addresses."""
_HINTS = tuple((re.compile(pattern), words) for pattern, words in _IN_ENGLISH)


@dataclass(frozen=True, slots=True)
class ToolRoom:
    """The most tools that are described, and the tokens that they may take; `count` counts those of a text."""

    most: int
    tokens: int
    count: Count

    def holds(self, specs: Sequence[ToolSpec]) -> bool:
        """True if all of these may be described."""
        return len(specs) <= self.most and sum(count_tool(spec, self.count) for spec in specs) <= self.tokens


def choose_tools(
    task: str, specs: Sequence[ToolSpec], score: Score | None, room: ToolRoom, needed: Collection[str] = ()
) -> tuple[ToolSpec, ...]:
    """The tools to describe for a task: all, in their order, if there is room for them.

    Otherwise all but those of `SELDOM`, if there is room for them; else those of `CORE` and the `needed` ones, in their
    order and whatever their size. Then those that the task names and the best fitting ones while there is room.
    `tool_search` is left out when there is nothing left to find. The same input always gives the same result.
    """
    others = tuple(spec for spec in specs if spec.name != TOOL_SEARCH)
    if room.holds(others):
        return others
    chosen = [spec for spec in specs if spec.name not in SELDOM or spec.name in needed]
    if not room.holds(chosen):
        chosen = [spec for spec in specs if spec.name in CORE or spec.name in needed]
    words = set(_NAMES.findall(task))
    for spec in sorted(rank_tools(task, specs, score), key=lambda spec: spec.name not in words):
        if spec not in chosen and room.holds([*chosen, spec]):
            chosen.append(spec)
    return tuple(chosen)


def rank_tools(task: str, specs: Sequence[ToolSpec], score: Score | None) -> tuple[ToolSpec, ...]:
    """The tools in the order of their fit to a task, the best first.

    Ranked by the words that a tool shares with the task, and by `score` if given; equal ones in the order of `specs`.
    """
    ranks = dict(zip((spec.name for spec in specs), _fits(task, specs, score), strict=True))
    return tuple(sorted(specs, key=lambda spec: -ranks[spec.name]))


def _fits(task: str, specs: Sequence[ToolSpec], score: Score | None) -> list[float]:
    by_words = _shared(task, specs)
    if score is None or not specs:
        return by_words
    by_meaning = list(score([f"{_spoken(spec.name)}: {spec.description}" for spec in specs], task))
    top = max(by_words, default=0.0) or 1.0
    return [words / top + max(meaning, 0.0) for words, meaning in zip(by_words, by_meaning, strict=True)]


def _shared(task: str, specs: Sequence[ToolSpec]) -> list[float]:
    """The weight of the words that each tool shares with the task; a word of many tools has a low weight."""
    hints = " ".join(words for pattern, words in _HINTS if pattern.search(task))
    asked = set(terms(f"{task} {hints}"))
    names = [set(terms(_spoken(spec.name))) for spec in specs]
    texts = [name | set(terms(spec.description)) for name, spec in zip(names, specs, strict=True)]
    weight = {word: 1 / max(sum(word in text for text in texts), 1) for word in asked}
    return [
        sum(weight[word] * (_NAME if word in name else 1.0) for word in sorted(asked & text))
        for name, text in zip(names, texts, strict=True)
    ]


def _spoken(name: str) -> str:
    return name.replace("_", " ")
