"""The note of a variant, `skills/mutations/<skill>-<number>.md`: what it changes and why, and its instructions.

What is valid is decided by the record of its trial (`trial_records`), not by the note.
"""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import get_args

from agent.markdown.blocks import format_fenced
from agent.markdown.note import Note
from agent.markdown.values import Value
from agent.skills.variants.variant import EARLY_USES, TRIAL_USES, TrialPlan, Variant, VariantKind, VariantStatus
from agent.texts import Language, text
from agent.vault.folders import MUTATIONS
from agent.vault.history.line_diff import line_diff

TYPE = "skill_variant"
_BODY = re.compile(r"^(`{3,})markdown\n(.*?)^\1[ \t]*$", re.MULTILINE | re.DOTALL)


def variant_path(skill: str, number: int) -> str:
    """The path of a variant's note, in the agent's folder."""
    return f"{MUTATIONS}{skill}-{number}.md"


def compose_variant(variant: Variant, before: str, skill_path: str, history: str, language: Language) -> bytes:
    """The note of a variant on trial; `before` are the skill's own instructions, `skill_path` is that of its note and
    `history` that of its uses."""
    header: dict[str, Value] = {
        "type": TYPE,
        "skill": variant.skill,
        "skill_note": f"[[{skill_path.removesuffix('.md')}]]",
        "number": variant.number,
        "kind": variant.kind,
        **({"experimental": True} if variant.is_experimental else {}),
        "status": variant.status,
        "started": variant.started.replace(microsecond=0) if variant.started else None,
        "gain": variant.plan.gain,
        "tolerance": variant.plan.tolerance,
    }
    diff = line_diff(before.strip().encode(), variant.body.strip().encode(), context=1)[2:]
    parts = [
        f"# {text('variant.title', language, skill=variant.skill, number=variant.number)}",
        variant.change,
        format_fenced("\n".join(diff), "diff"),
        *_sections(variant, history, language),
        f"## {text('variant.body', language)}",
        format_fenced(variant.body.strip(), "markdown"),
    ]
    kept = {key: value for key, value in header.items() if value is not None}
    return Note.compose(kept, "\n\n".join(parts) + "\n").data


def _sections(variant: Variant, history: str, language: Language) -> Iterator[str]:
    plan, place = variant.plan, history.removesuffix(".md")
    judged = text(
        "variant.judged", language, uses=TRIAL_USES, early=EARLY_USES, gain=plan.gain, tolerance=plan.tolerance,
        history=place,
    )  # fmt: skip
    for key, words in (
        ("reason", variant.reason),
        ("risk", variant.risk),
        ("verification", "\n\n".join(filter(None, (variant.verification, judged)))),
    ):
        if words:
            yield f"## {text(f'variant.{key}', language)}\n\n{words}"


def parse_variant(path: str, data: bytes) -> Variant | None:
    """The variant in a note; None if it is none, or a part of it is missing or cannot be."""
    note = Note.parse(data)
    body = note.body.replace("\r\n", "\n")
    found = list(_BODY.finditer(body))
    header = note.header
    number, skill, kind = header.get("number"), note.string("skill"), note.string("kind")
    status = note.string("status")
    plan = _plan(header)
    if note.type != TYPE or not found or plan is None or skill is None or not isinstance(number, int):
        return None
    if kind not in get_args(VariantKind) or status not in get_args(VariantStatus):
        return None
    last = found[-1]
    line = note.body_line + body.count("\n", 0, last.start(2))
    words = _words(body)
    return Variant(
        skill,
        number,
        next(each for each in get_args(VariantKind) if each == kind),
        last[2].strip("\n"),
        plan,
        words,
        "",
        "",
        "",
        next(each for each in get_args(VariantStatus) if each == status),
        _time(header.get("started")),
        _time(header.get("ended")),
        note.string("why") or "",
        path=path,
        body_line=line,
    )


def with_end(data: bytes, variant: Variant, words: str, language: Language) -> bytes:
    """The note with the present status of its variant, and what became of it, in `words`; raises `BadNote`."""
    note = Note.parse(data).with_key("status", variant.status)
    if variant.ended is not None:
        note = note.with_key("ended", variant.ended.replace(microsecond=0))
    note = note.with_key("why", variant.why) if variant.why else note
    heading = f"## {text('variant.became', language)}"
    head, _, _ = note.body.partition(f"\n{heading}\n")
    return note.with_body(f"{head.rstrip()}\n\n{heading}\n\n{words}\n").data


def with_status(variant: Variant, status: VariantStatus, when: datetime, why: str) -> Variant:
    """The variant with another status from now on, for this reason."""
    return replace(variant, status=status, ended=when, why=why)


def _words(body: str) -> str:
    """The paragraph below the title: what changes."""
    return next((part.strip() for part in body.split("\n\n") if part.strip() and not part.lstrip().startswith("#")), "")


def _plan(header: Mapping[str, Value]) -> TrialPlan | None:
    found = [header.get(key) for key in ("gain", "tolerance")]
    gain, tolerance = (float(each) if isinstance(each, int | float) and math.isfinite(each) else 0.0 for each in found)
    return TrialPlan(gain, tolerance) if 0 < gain < 1 and 0 < tolerance < 1 else None


def _time(value: Value) -> datetime | None:
    return value if isinstance(value, datetime) and value.tzinfo is not None else None
