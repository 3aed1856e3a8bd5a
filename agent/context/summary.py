"""The form of a session's summary, and one by rule, for when no model writes it: from what was said and done itself.

What is summarised, and when, is left to `compaction`.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from agent.context.budget import Count
from agent.context.shorten import shorten
from agent.llm.messages import Assistant, Context, Message, ToolCall, ToolResult, User
from agent.markdown.preferences import preferences
from agent.texts import Language

SOURCE = "summary"
"""The source of the message that holds a summary."""
_FIELDS = ("goal", "decisions", "completed", "pending", "constraints")
_LABELS = {
    "en": ("User goal", "Key decisions", "Completed", "Pending", "Constraints"),
    "zh": ("用户目标", "关键决策", "已完成", "待完成", "重要约束"),
}
NONE = {"en": "none", "zh": "无"}
_HEADS = {"en": "[Session summary - up to {at}]", "zh": "[会话摘要 - 截至 {at}]"}
_COLON = {"en": ": ", "zh": "："}
_JOINT = {"en": "; ", "zh": "；"}
_HEAD = re.compile(r"^\[(?:Session summary|会话摘要)[^\]\n]*\]\s*", re.IGNORECASE)
_LINE = re.compile(r"^\W*({})\W*?[:：]\s*(.*)$".format("|".join(label for both in _LABELS.values() for label in both)))
_WEIGHTS = {"goal": 0.25, "decisions": 0.2, "completed": 0.25, "pending": 0.1, "constraints": 0.2}
"""The parts of the room that the five get at least; what one does not need, the next may have."""
_SHORT = 160
_ARGUMENTS = ("path", "query", "url", "to", "question", "text")
"""What of a call's arguments says what it was about, the most telling first."""


@dataclass(frozen=True, slots=True)
class Summary:
    """The five things that a summary says, each in the order in which they were said."""

    goal: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()
    completed: tuple[str, ...] = ()
    pending: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()

    def written(self, at: datetime, language: Language, room: int, count: Count) -> str:
        """The summary in its form, in at most `room` tokens: of each thing the newest, of the goal the first."""
        head = headed("", at, language)
        lines: list[str] = []
        left, weights = room - count(head), dict(_WEIGHTS)
        for name, label in zip(_FIELDS, _LABELS[language], strict=True):
            share = int(left * weights[name] / sum(weights.values()))
            weights.pop(name)
            start = f"{label}{_COLON[language]}"
            said = _newest(getattr(self, name), share - count(start) - 2, name == "goal", language, count)
            lines.append(start + said)
            left -= count(lines[-1]) + 1
        return shorten("\n".join([head, *lines]), room, count)


def headed(text: str, at: datetime, language: Language) -> str:
    """A summary's text under its head line; one that brings its own gets ours."""
    head = _HEADS[language].format(at=at.strftime("%Y-%m-%d %H:%M"))
    body = _HEAD.sub("", text.strip()).strip()
    return f"{head}\n{body}" if body else head


def form(language: Language) -> str:
    """The five lines that a model is asked to fill in."""
    return "\n".join(f"{label}{_COLON[language]}…" for label in _LABELS[language])


def by_rule(messages: Sequence[Message]) -> Summary:
    """What was wanted, said and done in these messages, taken from them word for word; earlier summaries go into it.

    What tools gave back is left out: it may be anybody's text.
    """
    failed = {message.call for message in messages if isinstance(message, ToolResult) and message.failed}
    summary = Summary()
    for message in messages:
        match message:
            case Context(text, source) if source == SOURCE:
                summary = _with_earlier(summary, text)
            case User(text, sender):
                named = f"{sender}: " if sender else ""
                goal = summary.goal or (_brief(named + text, 4 * _SHORT),)
                pending = (*summary.pending, _brief(named + text))
                summary = replace(
                    summary,
                    goal=goal,
                    pending=pending,
                    constraints=_more(summary.constraints, [named + wish for wish in preferences(text)]),
                )
            case Assistant(text, calls) if calls:
                said = (_first_sentence(text),) if text.strip() else ()
                done = tuple(_done(call, call.id in failed) for call in calls)
                summary = replace(
                    summary, decisions=_more(summary.decisions, said), completed=_more(summary.completed, done)
                )
            case Assistant(text) if text.strip():
                summary = replace(summary, pending=())
            case _:
                pass
    return summary


def _with_earlier(summary: Summary, text: str) -> Summary:
    """With what an earlier summary says; one that does not keep to the form counts as a decision."""
    found = {match[1]: match[2].strip() for line in text.splitlines() if (match := _LINE.match(line))}
    if not found:
        return replace(summary, decisions=(*summary.decisions, _brief(_HEAD.sub("", text), 4 * _SHORT)))
    said: dict[str, tuple[str, ...]] = {}
    for number, name in enumerate(_FIELDS):
        value = next((found[labels[number]] for labels in _LABELS.values() if labels[number] in found), "")
        said[name] = () if value.casefold() in {"", *NONE.values()} else (value,)
    return Summary(**said)


def _newest(items: Iterable[str], room: int, from_start: bool, language: Language, count: Count) -> str:
    ordered = list(dict.fromkeys(items))
    if not ordered:
        return NONE[language]
    kept = ordered[:1] if from_start else ordered[-1:]
    if not from_start:
        for item in reversed(ordered[:-1]):
            if count(_JOINT[language].join([item, *kept])) > room:
                break
            kept.insert(0, item)
    return " ".join(shorten(_JOINT[language].join(kept), max(room, 0), count).split()) or NONE[language]


def _more(before: tuple[str, ...], added: Iterable[str]) -> tuple[str, ...]:
    return (*before, *(_brief(text) for text in added))


def _done(call: ToolCall, failed: bool) -> str:
    about = next((str(call.arguments[name]) for name in _ARGUMENTS if call.arguments.get(name)), "")
    said = f"{call.name} {_brief(about, 80)}".strip()
    return f"{said} (failed)" if failed else said


def _first_sentence(text: str) -> str:
    return _brief(re.split(r"(?<=[.!?。！？])\s|\n", text.strip(), maxsplit=1)[0])


def _brief(text: str, most: int = _SHORT) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= most else flat[: most - 1] + "…"
