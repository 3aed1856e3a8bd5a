"""The format of a session's summary, and a summary by rule from the messages themselves, without a model.

Choosing the messages and the time is left to `compaction`.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from agent.context.budget import Count, shorten
from agent.dataclass import dataclass
from agent.llm.messages import Assistant, Context, Message, ToolCall, ToolResult, User
from agent.markdown.preferences import preferences
from agent.markdown.title import clipped
from agent.texts import Language, in_all_languages, text

SOURCE = "summary"
"""The source of the message that holds a summary."""
_FIELDS = ("goal", "decisions", "completed", "pending", "constraints")
_WEIGHTS = {"goal": 0.25, "decisions": 0.2, "completed": 0.25, "pending": 0.1, "constraints": 0.2}
"""The least part of the room for each of the five lists; unused room goes to the next."""
_SHORT = 160
_ARGUMENTS = ("path", "query", "url", "to", "question", "text")
"""The arguments that describe a call, the most specific first."""


@dataclass(frozen=True, slots=True)
class Summary:
    """The five lists of a summary, each in the order of the conversation."""

    goal: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()
    completed: tuple[str, ...] = ()
    pending: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()

    def format(self, at: datetime, language: Language, room: int, count: Count) -> str:
        """The summary as text, in at most `room` tokens: the newest items of each list, but the first goal."""
        head = with_head("", at, language)
        lines: list[str] = []
        left, weights = room - count(head), dict(_WEIGHTS)
        for name in _FIELDS:
            share = int(left * weights[name] / sum(weights.values()))
            weights.pop(name)
            start = _label(name, language)
            content = _newest(getattr(self, name), share - count(start) - 2, name == "goal", language, count)
            lines.append(start + content)
            left -= count(lines[-1]) + 1
        return shorten("\n".join([head, *lines]), room, count)


def with_head(summary: str, at: datetime, language: Language) -> str:
    """A summary's text under our head line, which replaces its own head line."""
    head = text("session_summary.head", language, at=at.strftime("%Y-%m-%d %H:%M"))
    body = _without_head(summary.strip()).strip()
    return f"{head}\n{body}" if body else head


def empty_form(language: Language) -> str:
    """The five lines that a model must fill in."""
    return "\n".join(f"{_label(name, language)}…" for name in _FIELDS)


def summarise_by_rule(messages: Sequence[Message]) -> Summary:
    """The summary of these messages in their own words, with the earlier summaries among them.

    Results of tools are left out: their text may be untrusted.
    """
    failed = {message.call for message in messages if isinstance(message, ToolResult) and message.failed}
    summary = Summary()
    for message in messages:
        match message:
            case Context(words, source) if source == SOURCE:
                summary = _with_earlier(summary, words)
            case User(words, sender):
                named = f"{sender}: " if sender else ""
                goal = summary.goal or (_brief(named + words, 4 * _SHORT),)
                pending = (*summary.pending, _brief(named + words))
                summary = replace(
                    summary,
                    goal=goal,
                    pending=pending,
                    constraints=_more(summary.constraints, [named + wish for wish in preferences(words)]),
                )
            case Assistant(words, calls) if calls:
                decided = (_first_sentence(words),) if words.strip() else ()
                done = tuple(_done(call, call.id in failed) for call in calls)
                summary = replace(
                    summary, decisions=_more(summary.decisions, decided), completed=_more(summary.completed, done)
                )
            case Assistant(words) if words.strip():
                summary = replace(summary, pending=())
            case _:
                pass
    return summary


def _with_earlier(summary: Summary, earlier: str) -> Summary:
    """The summary combined with an earlier one; an earlier one in another format becomes a decision."""
    labels = {label: name for name in _FIELDS for label in in_all_languages(f"session_summary.{name}")}
    pattern = re.compile(rf"^\W*({'|'.join(labels)})\W*?[:：]\s*(.*)$")
    found = {labels[match[1]]: match[2].strip() for line in earlier.splitlines() if (match := pattern.match(line))}
    if not found:
        return replace(summary, decisions=(*summary.decisions, _brief(_without_head(earlier), 4 * _SHORT)))
    empty = {"", *in_all_languages("session_summary.none")}
    return Summary(**{name: () if value.casefold() in empty else (value,) for name, value in found.items()})


def _without_head(summary: str) -> str:
    """A summary's text without its head line, in any language."""
    beginnings = (re.escape(head.partition(" - ")[0]) for head in in_all_languages("session_summary.head"))
    return re.sub(rf"^(?:{'|'.join(beginnings)})[^\]\n]*\]\s*", "", summary, flags=re.IGNORECASE)


def _label(name: str, language: Language) -> str:
    return text(f"session_summary.{name}", language) + text("session_summary.colon", language)


def _newest(items: Iterable[str], room: int, from_start: bool, language: Language, count: Count) -> str:
    ordered = list(dict.fromkeys(items))
    none, joint = text("session_summary.none", language), text("session_summary.joint", language)
    if not ordered:
        return none
    newest = ordered[:1] if from_start else ordered[-1:]
    if not from_start:
        for item in reversed(ordered[:-1]):
            if count(joint.join([item, *newest])) > room:
                break
            newest.insert(0, item)
    return " ".join(shorten(joint.join(newest), max(room, 0), count).split()) or none


def _more(before: tuple[str, ...], added: Iterable[str]) -> tuple[str, ...]:
    return (*before, *(_brief(each) for each in added))


def _done(call: ToolCall, failed: bool) -> str:
    about = next((str(call.arguments[name]) for name in _ARGUMENTS if call.arguments.get(name)), "")
    line = f"{call.name} {_brief(about, 80)}".strip()
    return f"{line} (failed)" if failed else line


def _first_sentence(words: str) -> str:
    return _brief(re.split(r"(?<=[.!?。！？])\s|\n", words.strip(), maxsplit=1)[0])


def _brief(words: str, most: int = _SHORT) -> str:
    return clipped(" ".join(words.split()), most)
