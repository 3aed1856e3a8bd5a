"""A model's answer with one to three proposals, as typed values: YAML, read without aliases and tags.

What is missing or cannot be used is named in `problems`, so that the model can be asked once more. Asking is left to
`mutations`.
"""

import re
from collections.abc import Iterator, Mapping

from agent.dataclass import dataclass
from agent.errors import BadNote
from agent.escape import escape, escape_line
from agent.markdown.title import clipped
from agent.markdown.yaml_read import parse_header
from agent.markdown.yaml_write import Value, is_list
from agent.skills.variants.variant import VariantKind

MOST = 3
LONGEST_BODY = 12_000
"""The most characters of instructions that a model may write."""
_LONGEST_WORDS = 600
_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})[ \t]*(?:ya?ml)?[ \t]*\n(.*?)^[ \t]*\1[ \t]*$", re.MULTILINE | re.DOTALL)
_KINDS: Mapping[str, VariantKind] = {
    **dict.fromkeys(("a", "parameter", "参数", "参数微调"), "parameter"),
    **dict.fromkeys(("b", "order", "顺序", "顺序重组"), "order"),
    **dict.fromkeys(("c", "step", "步骤", "步骤替换"), "step"),
    **dict.fromkeys(("d", "strategy", "策略", "全新策略"), "strategy"),
}
_NAMES = {
    "kind": ("kind", "type", "类型"),
    "change": ("change", "改变", "改动"),
    "reason": ("reason", "why", "理由", "原因"),
    "risk": ("risk", "risks", "风险"),
    "verification": ("verification", "verify", "验证"),
    "instructions": ("instructions", "body", "指令", "正文"),
}
_LISTS = ("proposals", "mutations", "方案", "突变方案")


@dataclass(frozen=True, slots=True)
class MutationProposal:
    """One proposal: what it claims to be, what changes and why, and the whole new instructions."""

    claims: VariantKind
    change: str
    reason: str
    risk: str
    verification: str
    body: str


@dataclass(frozen=True, slots=True)
class MutationAnswer:
    """The proposals that can be used, and what is wrong with the others, in sentences for the model."""

    proposals: tuple[MutationProposal, ...]
    problems: tuple[str, ...] = ()


def parse_proposals(reply: str) -> MutationAnswer:
    """The proposals in a model's reply: a code block of YAML, or the whole reply."""
    found = _FENCE.search(f"{reply.strip()}\n")
    try:
        fields = {entry.key: entry.value for entry in parse_header(found[2] if found else reply, 1)}
    except BadNote as error:
        return MutationAnswer((), (f"line {error.line}: {error.message}",))
    listed = next((value for key in _LISTS if is_list(value := fields.get(key))), None)
    if not is_list(listed) or not listed:
        return MutationAnswer((), ("there is no list `proposals` in it",))
    problems: list[str] = []
    proposals = [made for number, each in enumerate(listed[:MOST], 1) for made in _proposal(number, each, problems)]
    return MutationAnswer(tuple(proposals), tuple(problems))


def _proposal(number: int, value: Value, problems: list[str]) -> Iterator[MutationProposal]:
    if not isinstance(value, Mapping):
        problems.append(f"proposal {number} is no mapping")
        return
    given = {name: next((value[key] for key in keys if key in value), None) for name, keys in _NAMES.items()}
    kind = _KINDS.get(str(given["kind"] or "").strip().casefold().partition(" ")[0].rstrip(".:"))
    words = {name: _words(given[name]) for name in ("change", "reason", "risk", "verification")}
    body = given["instructions"]
    text = body.strip("\n").rstrip() if isinstance(body, str) else ""
    missing = [name for name in ("change", "reason", "risk", "verification") if not words[name]]
    wrong = [f"proposal {number} has no {', '.join(missing)}"] if missing else []
    if kind is None:
        wrong.append(f"proposal {number}: the kind is A, B, C or D")
    if problem := _body_problem(text):
        wrong.append(f"proposal {number}: instructions {problem}")
    problems += wrong
    if kind is not None and not wrong:
        yield MutationProposal(kind, words["change"], words["reason"], words["risk"], words["verification"], text)


def _body_problem(text: str) -> str:
    """Why a text cannot be the instructions of a skill; empty if it can."""
    if not text.strip():
        return "are missing: give the whole new text"
    if len(text) > LONGEST_BODY:
        return f"have {len(text):,} characters; at most {LONGEST_BODY:,} are allowed"
    if text.lstrip().startswith("---"):
        return "begin with a header; give only what stands below it"
    return "have control or invisible characters" if escape(text) != text else ""


def _words(value: Value) -> str:
    """A text on one line without markup that acts."""
    flat = " ".join(str(value).split()) if isinstance(value, str | int | float) else ""
    return clipped(escape_line(flat).replace("%%", "% %"), _LONGEST_WORDS)
