"""A workflow suggested as a skill, its `SKILL.md`, and the note that offers it.

Finding workflows is left to `learner`; asking and what a yes does to `offers`.
"""

import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from hashlib import sha256

from agent.asking.note import kind_of
from agent.asking.proposal import Proposal, ProposalDraft, ProposedNote
from agent.dataclass import dataclass
from agent.escape import escape_line
from agent.markdown.note import Note
from agent.markdown.yaml_write import Value, is_list
from agent.texts import Language, text

TYPE = "skill-suggestion"
"""The type of a note that offered a skill in earlier versions; now it has the form of every proposal."""
_EXAMPLES = 3
_TOLD = 8
_MARKUP = re.compile(r"[<>`\[\]|*#\x00-\x1f]|%%|\$")


@dataclass(frozen=True, slots=True)
class WorkflowRun:
    """One run of the workflow; `path` is that of its session. `abouts` has the subject of each tool's use, empty if
    unknown."""

    run: str
    path: str
    task: str
    abouts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A workflow of `tools` found in the runs of `evidence`; `success_rate` is 0 to 1, `seconds` an average.

    `conditions` are some of its tasks. `changes` names the learned skill to extend; empty for a new skill, whose
    `name`, `description`, `patterns` (for triggers) and `body` are empty until it is written. `language` is that of
    its texts.
    """

    tools: tuple[str, ...]
    evidence: tuple[WorkflowRun, ...]
    success_rate: float
    seconds: float = 0.0
    conditions: tuple[str, ...] = ()
    changes: str = ""
    name: str = ""
    description: str = ""
    patterns: tuple[str, ...] = ()
    body: str = ""
    language: Language = "en"

    @property
    def support(self) -> int:
        """The number of its runs."""
        return len(self.evidence)

    @property
    def key(self) -> str:
        """The id of the workflow."""
        return workflow_key(self.tools)


def workflow_key(tools: Sequence[str]) -> str:
    """The id of a workflow: the first characters of the SHA-256 of its tools."""
    return sha256(",".join(tools).encode()).hexdigest()[:16]


def plain_body(suggestion: Suggestion) -> str:
    """The body of the skill, made from the traces without a model."""
    language = suggestion.language
    steps = []
    for number, tool in enumerate(suggestion.tools):
        seen = dict.fromkeys(_flat(each.abouts[number]) for each in suggestion.evidence if number < len(each.abouts))
        examples = [about for about in seen if about][:_EXAMPLES]
        about = text("skill_suggestion.semicolon", language).join(examples)
        before = text("skill_suggestion.as_before", language, about=about) if examples else ""
        steps.append(f"{number + 1}. `{tool}`{before}")
    parts = [
        f"# {suggestion.name}",
        suggestion.description,
        f"## {text('skill_suggestion.steps', language)}",
        "\n".join(steps),
        f"## {text('skill_suggestion.check', language)}",
        text("skill_suggestion.checks", language),
    ]
    return "\n\n".join(parts) + "\n"


def prompt_variables(suggestion: Suggestion) -> dict[str, str]:
    """The variables of `prompts/skill.md`, the prompt that asks a model for the skill."""
    tasks = [json.dumps(each.task[:300], ensure_ascii=False) for each in suggestion.evidence[-_TOLD:]]
    steps = [f"{number}. {tool}" for number, tool in enumerate(suggestion.tools, 1)]
    return {"tools": "\n".join(steps), "tasks": "\n".join(f"- {task}" for task in tasks)}


def compose_skill(suggestion: Suggestion, when: datetime) -> bytes:
    """The `SKILL.md` of a new learned skill."""
    # No tool signals: two of them are enough to activate a skill, and every run searches and reads.
    learned = text("skill_suggestion.learned", suggestion.language, support=suggestion.support)
    header: dict[str, Value] = {
        "name": suggestion.name,
        "description": suggestion.description,
        "metadata": {"sequence": ",".join(suggestion.tools)},
        "triggers": {"intent_patterns": list(suggestion.patterns)},
        "trigger_conditions": list(suggestion.conditions),
        "learned_from": _links(suggestion),
        "success_rate": round(suggestion.success_rate, 2),
        "version_history": [{"v1": f"{when:%Y-%m-%d}: {learned}"}],
    }
    unused = [("triggers", suggestion.patterns), ("trigger_conditions", suggestion.conditions)]
    header = {key: value for key, value in header.items() if (key, ()) not in unused}
    return Note.compose(header, suggestion.body.strip("\n") + "\n").data


def extend_skill(suggestion: Suggestion, data: bytes, when: datetime) -> bytes:
    """A learned skill with the longer workflow appended; all existing text stays.

    Raises `BadNote` if the header cannot be changed.
    """
    note, language = Note.parse(data), suggestion.language
    number = len(versions_of(note)) + 1
    metadata = note.header.get("metadata")
    known: dict[str, Value] = dict(metadata) if isinstance(metadata, Mapping) else {}
    steps = "\n".join(f"{place}. `{tool}`" for place, tool in enumerate(suggestion.tools, 1))
    since = text("skill_suggestion.since", language, number=number)
    addition = f"\n## {since}\n\n{text('skill_suggestion.lately', language)}\n\n{steps}\n"
    changed = note.with_key("metadata", {**known, "sequence": ",".join(suggestion.tools)})
    changed = changed.with_key("success_rate", round(suggestion.success_rate, 2))
    more = text("skill_suggestion.more", language, support=suggestion.support)
    changed = with_version(changed, more, when, _links(suggestion))
    return changed.with_body(changed.body.rstrip("\n") + "\n" + addition).data


def versions_of(note: Note) -> tuple[Value, ...]:
    """The versions in the header of a learned skill, the oldest first."""
    known = note.header.get("version_history")
    return tuple(known) if is_list(known) else ()


def with_version(note: Note, words: str, when: datetime, links: Sequence[Value] = ()) -> Note:
    """A learned skill with one more version in its header, and with further links to what it was learned from."""
    versions = versions_of(note)
    new: Mapping[str, Value] = {f"v{len(versions) + 1}": f"{when:%Y-%m-%d}: {words}"}
    note = note.with_key("version_history", [*versions, new])
    learned = dict.fromkeys((*note.strings("learned_from"), *map(str, links)))
    return note.with_key("learned_from", [*learned]) if links else note


def offer_draft(suggestion: Suggestion, draft: bytes, place: str, base: bytes | None) -> ProposalDraft:
    """The question that offers the skill at the path `place`; `base` is the skill as it is (None: it is new)."""
    language = suggestion.language
    question = "add" if suggestion.changes else "learn"
    seconds, steps = suggestion.seconds, " → ".join(f"`{tool}`" for tool in suggestion.tools)
    took = text("skill_suggestion.took", language, seconds=seconds) if seconds >= 1 else ""
    support, rate = suggestion.support, suggestion.success_rate
    runs = [
        f"- {_flat(each.task) or text('skill_suggestion.a_run', language)} ([[{each.path.removesuffix('.md')}]])"
        for each in suggestion.evidence
    ]
    return ProposalDraft(
        "skill_offer",
        suggestion.name,
        text(f"skill_suggestion.{question}", language, name=suggestion.changes or suggestion.name),
        text("skill_suggestion.seen", language, support=support, rate=rate, took=took, steps=steps),
        (ProposedNote(place, draft.decode(), base.decode() if base is not None else None),),
        ((text("skill_suggestion.where", language), "\n".join(runs)),),
        tuple(str(link) for link in _links(suggestion)),
        workflow_facts(suggestion),
        holds=text("skill_suggestion.holds", language, place=place),
    )


def workflow_facts(suggestion: Suggestion) -> dict[str, str]:
    """The facts of a workflow in the record of its offer."""
    return {"sequence": ",".join(suggestion.tools), "support": str(suggestion.support)}


def tools_of(offer: Proposal) -> tuple[str, ...]:
    """The workflow of an offer."""
    return tuple(offer.facts["sequence"].split(","))


def is_offer(note: Note) -> bool:
    """True for a note that offers a skill, also in the form of earlier versions."""
    return note.type == TYPE or kind_of(note) == "skill"


def _links(suggestion: Suggestion) -> list[Value]:
    return [f"[[{each.path.removesuffix('.md')}]]" for each in suggestion.evidence]


def _flat(raw: str) -> str:
    """Untrusted text as part of one line, without characters that make a box, a link or a fence."""
    return escape_line(" ".join(_MARKUP.sub(" ", raw).split()))[:120]
