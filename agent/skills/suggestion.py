"""A workflow worth keeping as a skill: the value, the `SKILL.md` it would become, and the note that asks about it.

The note is the person's; it counts only together with the record of it that is kept outside the vault, and only while
it still shows the very draft that was offered: both are `offers`' to check. Finding workflows is `learner`'s.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256

from agent.inert import escape, escape_line
from agent.markdown import verdict
from agent.markdown.fence import fenced
from agent.markdown.note import Note
from agent.markdown.values import Value
from agent.markdown.verdict import BOXES, REASON, above
from agent.skills.skill import FILE
from agent.skills.suggestion_texts import said
from agent.vault.folders import LEARNED

TYPE = "skill-suggestion"
_EXAMPLES = 3
_TOLD = 8
_MARKUP = re.compile(r"[<>`\[\]|*#\x00-\x1f]|%%|\$")


@dataclass(frozen=True, slots=True)
class Evidence:
    """One run that followed the workflow: its entry, the task, and what each tool was used on (empty: not known)."""

    run: str
    path: str
    task: str
    abouts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A workflow of `tools` that was followed by the runs of `evidence`; `success_rate` 0 to 1, `seconds` on average.

    `patterns`, `keywords` and `conditions` are triggers to propose. `changes` names the learned skill that it would
    extend; empty for a new one. `language` is that of its texts.
    """

    name: str
    description: str
    tools: tuple[str, ...]
    evidence: tuple[Evidence, ...]
    success_rate: float
    seconds: float = 0.0
    patterns: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()
    changes: str = ""
    language: str = "en"

    @property
    def support(self) -> int:
        """How many runs followed it."""
        return len(self.evidence)

    @property
    def key(self) -> str:
        """What tells it from others: the first characters of the SHA-256 of its tools."""
        return sha256(",".join(self.tools).encode()).hexdigest()[:16]


def plain_body(suggestion: Suggestion) -> str:
    """What to do, from the traces alone."""
    language = suggestion.language
    lines = [f"# {suggestion.name}", "", f"{suggestion.description}", "", f"## {said(language, 'steps')}", ""]
    for number, tool in enumerate(suggestion.tools):
        seen = dict.fromkeys(_flat(each.abouts[number]) for each in suggestion.evidence if number < len(each.abouts))
        examples = [about for about in seen if about][:_EXAMPLES]
        about = said(language, "semicolon").join(examples)
        lines.append(f"{number + 1}. `{tool}`" + (said(language, "as before", about=about) if examples else ""))
    return "\n".join([*lines, "", f"## {said(language, 'check')}", "", said(language, "checks"), ""])


def material(suggestion: Suggestion) -> dict[str, str]:
    """The variables of `prompts/skill.md`, with which a model is asked for the body instead."""
    told = [json.dumps(each.task[:300], ensure_ascii=False) for each in suggestion.evidence[-_TOLD:]]
    steps = [f"{number}. {tool}" for number, tool in enumerate(suggestion.tools, 1)]
    return {"name": suggestion.name, "tools": "\n".join(steps), "tasks": "\n".join(f"- {task}" for task in told)}


def compose_skill(suggestion: Suggestion, body: str, when: datetime) -> bytes:
    """The `SKILL.md` of a new learned skill."""
    # No tool signals: two of them are enough to call a skill up, and every run searches and reads.
    triggers: dict[str, Value] = {"intent_patterns": list(suggestion.patterns)}
    if suggestion.keywords:
        triggers["context_signals"] = {"keywords": list(suggestion.keywords)}
    header: dict[str, Value] = {
        "name": suggestion.name,
        "description": suggestion.description,
        "metadata": {"sequence": ",".join(suggestion.tools)},
        "triggers": triggers,
        "trigger_conditions": list(suggestion.conditions),
        "learned_from": _links(suggestion),
        "success_rate": round(suggestion.success_rate, 2),
        "version_history": [
            {"v1": f"{when:%Y-%m-%d}: {said(suggestion.language, 'learned', support=suggestion.support)}"}
        ],
    }
    unused = [("triggers", suggestion.patterns), ("trigger_conditions", suggestion.conditions)]
    header = {key: value for key, value in header.items() if (key, ()) not in unused}
    return Note.compose(header, body.strip("\n") + "\n").data


def extend_skill(suggestion: Suggestion, data: bytes, when: datetime) -> bytes:
    """A learned skill with the longer workflow added below what is there; nothing that a person wrote goes.

    Raises `BadNote` for a skill whose header cannot be changed.
    """
    note = Note.parse(data)
    history = note.header.get("version_history")
    versions: list[Value] = list(history) if isinstance(history, Sequence) and not isinstance(history, str) else []
    number = len(versions) + 1
    language = suggestion.language
    versions.append({f"v{number}": f"{when:%Y-%m-%d}: {said(language, 'more', support=suggestion.support)}"})
    metadata = note.header.get("metadata")
    known: dict[str, Value] = dict(metadata) if isinstance(metadata, Mapping) else {}
    steps = "\n".join(f"{place}. `{tool}`" for place, tool in enumerate(suggestion.tools, 1))
    addition = f"\n## {said(language, 'since', number=number)}\n\n{said(language, 'lately')}\n\n{steps}\n"
    learned = [*note.strings("learned_from"), *_links(suggestion)]
    changed = note.with_key("metadata", {**known, "sequence": ",".join(suggestion.tools)})
    changed = changed.with_key("learned_from", list(dict.fromkeys(learned)))
    changed = changed.with_key("success_rate", round(suggestion.success_rate, 2)).with_key("version_history", versions)
    return changed.with_body(changed.body.rstrip("\n") + "\n" + addition).data


def compose_note(suggestion: Suggestion, draft: bytes, number: str, when: datetime) -> bytes:
    """The note that asks whether this should become a skill; `number` is its id."""
    language, name = suggestion.language, suggestion.changes or suggestion.name
    place = f"{LEARNED}{suggestion.name}/{FILE}"
    seconds, steps = suggestion.seconds, " → ".join(f"`{tool}`" for tool in suggestion.tools)
    took = said(language, "took", seconds=seconds) if seconds >= 1 else ""
    runs = [
        f"- {_flat(each.task) or said(language, 'a run')} ([[{each.path.removesuffix('.md')}]])"
        for each in suggestion.evidence
    ]
    parts = [
        f"# {said(language, 'add?' if suggestion.changes else 'learn?', name=name)}",
        said(language, "seen", support=suggestion.support, rate=suggestion.success_rate, took=took, steps=steps),
        BOXES,
        REASON[language],
        said(language, "holds", place=place),
        f"## {said(language, 'where')}",
        "\n".join(runs),
        f"## {said(language, 'skill then' if suggestion.changes else 'skill')}",
        _shown(draft),
    ]
    header: dict[str, Value] = {
        "id": number,
        "type": TYPE,
        "created": when.replace(microsecond=0),
        "status": "pending",
        "skill": suggestion.name,
        "sequence": list(suggestion.tools),
        "support": suggestion.support,
        "evidence": _links(suggestion),
    }
    return Note.compose(header, "\n\n".join(parts) + "\n").data


def _shown(draft: bytes) -> str:
    """The draft as it stands in the note."""
    return fenced(escape(draft.decode("utf-8", "replace").rstrip()), "markdown")


def shows(note: bytes, draft: bytes) -> bool:
    """Whether the note still shows the draft that was offered."""
    return _shown(draft) in note.decode("utf-8", "replace").replace("\r\n", "\n")


def decision(data: bytes) -> bool | None:
    """As `verdict.decision`, of the part that asks."""
    return verdict.decision(above(Note.parse(data).body.replace("\r\n", "\n")))


def _links(suggestion: Suggestion) -> list[Value]:
    return [f"[[{each.path.removesuffix('.md')}]]" for each in suggestion.evidence]


def _flat(text: str) -> str:
    """Text of a task as part of a line: nothing in it can be a box, a link or a fence."""
    return escape_line(" ".join(_MARKUP.sub(" ", text).split()))[:120]
